//! The live view on a terminal, drawn again as things happen.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};
use pinnace_control::control::{self, News};
use pinnace_control::folder::StateFolder;
use pinnace_control::job::Job;
use pinnace_control::view::{Facts, task_of};
use pinnace_core::lifecycle::Shown;
use pinnace_exec::local::Layout;
use pinnace_exec::log::{Stream, tail};
use pinnace_exec::{Happening, TaskId};
use unicode_width::UnicodeWidthStr as _;

use super::follow::printable;
use super::picture::{Picture, cut};
use super::transfer::Transfers;
use super::{Show, word};
use crate::moment::span;
use crate::terminal;

/// The view is drawn at most so often.
const PACE: Duration = Duration::from_millis(80);

/// So much of the end of a log holds its last line, or as much of it as any terminal shows.
const LAST_BYTES: u64 = 4 << 10;

/// What the engine told of a task's latest attempt.
#[derive(Debug)]
struct Live {
    facts: Facts,
    logs: PathBuf,
}

/// The live view.
#[derive(Debug)]
pub(crate) struct Screen {
    folder: StateFolder,
    tasks: HashMap<TaskId, Live>,
    says: Option<String>,
    transfers: Transfers,
    /// The columns of each line of the last drawing.
    drawn: Vec<usize>,
    last: Option<Instant>,
    _silence: Silence,
}

impl Screen {
    pub(crate) fn new(folder: StateFolder) -> Self {
        Self {
            folder,
            tasks: HashMap::new(),
            says: None,
            transfers: Transfers::default(),
            drawn: Vec::new(),
            last: None,
            _silence: Silence::begin(),
        }
    }

    fn draw(&mut self, job: &Job) {
        let (width, height) = size();
        let picture = self.picture(job);
        let lines = picture.lines(height, |task, shown| self.task_line(job, task, shown));
        let mut text = self.rewind(width);
        for line in &lines {
            let line = cut(line, width.saturating_sub(1));
            self.drawn.push(line.width());
            let _ = writeln!(text, "{line}");
        }
        self.last = Some(Instant::now());
        terminal::talk(&text);
    }

    /// Goes back to where the last drawing began, and clears from there. A terminal that has become narrower
    /// since has broken its lines.
    fn rewind(&mut self, width: usize) -> String {
        let rows = |columns: usize| columns.div_ceil(width.max(1)).max(1);
        match self.drawn.drain(..).map(rows).sum() {
            0_usize => String::new(),
            rows => format!("\r\u{1b}[{rows}A\u{1b}[J"),
        }
    }

    fn picture<'a>(&self, job: &'a Job) -> Picture<'a> {
        let state = &job.state;
        let mut head = format!(
            "{} {} {}",
            job.id,
            word(state.shown()),
            span(control::now().since(state.submitted()))
        );
        if state.retries().total > 0 {
            let _ = write!(head, ", attempt {}", state.retries().total + 1);
        }
        let waits = job.waits.as_ref();
        let waits = waits.map(|why| format!("  waiting for a place: {why}"));
        Picture {
            head,
            notes: waits
                .into_iter()
                .chain(self.transfers.lines())
                .chain(self.says.clone())
                .collect(),
            roles: state.progress().collect(),
            tasks: state
                .tasks()
                .map(|task| (job.engine_task(task.id), task.shown))
                .collect(),
        }
    }

    fn task_line(&self, job: &Job, task: &TaskId, state: Shown) -> String {
        let mut line = format!("  {:<14} {:<9}", task.to_string(), word(state));
        let retries = job
            .task_of_engine(task)
            .and_then(|id| job.state.task(id))
            .map_or(0, |task| task.retries.total);
        if retries > 0 {
            let _ = write!(line, " attempt {}", retries + 1);
        }
        let Some(live) = self.tasks.get(task) else {
            return line;
        };
        if let Some(report) = &live.facts.report {
            let took: u64 = report
                .phases
                .iter()
                .map(|phase| phase.end.saturating_sub(phase.start))
                .sum();
            let _ = write!(line, " {:>7}", span(took / 1000));
        } else if let (Some(phase), Some(since)) = (&live.facts.phase, live.facts.phase_since) {
            let _ = write!(
                line,
                " {:>7} {phase}",
                span(control::now().0.saturating_sub(since))
            );
        }
        if let Some(last) = last_line(&live.logs) {
            let _ = write!(line, "  {last}");
        }
        line
    }

    fn on_event(&mut self, job: &Job, launch: u32, event: &pinnace_exec::Event) {
        match &event.what {
            Happening::Transfer { what, done, total } => {
                self.transfers.learn(what, *done, *total);
            }
            Happening::Started { .. } | Happening::Exited { .. } => self.transfers.clear(),
            _ => {}
        }
        let Some(task) = task_of(event) else { return };
        if matches!(event.what, Happening::Started { .. }) || !self.tasks.contains_key(task) {
            let layout = Layout::new(self.folder.launch(&job.id, launch));
            let live = Live {
                facts: Facts::default(),
                logs: layout.logs(task),
            };
            self.tasks.insert(task.clone(), live);
        }
        if let Some(live) = self.tasks.get_mut(task) {
            live.facts.learn(event);
        }
        if let Happening::Kept { .. } = event.what {
            self.says = Some(format!(
                "{task} failed and is kept: pinnace shell {} {task}",
                job.id
            ));
        }
    }
}

impl Show for Screen {
    fn update(&mut self, job: &Job, news: &[News]) {
        for one in news {
            if let News::Event { launch, event } = one {
                self.on_event(job, *launch, event);
            }
        }
        if self.last.is_none_or(|last| last.elapsed() >= PACE) {
            self.draw(job);
        }
    }

    fn end(&mut self, _: &Job) {
        // The page of the verdict takes its place.
        let (width, _) = size();
        terminal::talk(&self.rewind(width));
    }

    fn say(&mut self, text: &str) {
        self.says = Some(text.to_owned());
        self.last = None;
    }
}

fn size() -> (usize, usize) {
    terminal_size::terminal_size().map_or((100, 30), |(width, height)| {
        (usize::from(width.0), usize::from(height.0))
    })
}

/// The last line of a log that says something, also while it is being written.
fn last_line(logs: &Path) -> Option<String> {
    let bytes = tail(logs, Stream::All, LAST_BYTES).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.rsplit('\n').map(printable);
    let line = lines.find(|line| !line.trim().is_empty())?;
    Some(line.replace('\t', " "))
}

/// Keeps what is typed off the screen while a view is drawn on it.
#[derive(Debug)]
struct Silence {
    before: Option<Termios>,
}

impl Silence {
    fn begin() -> Self {
        let stdin = std::io::stdin();
        let before = tcgetattr(&stdin).ok();
        if let Some(mut silent) = before.clone() {
            silent.local_flags.remove(LocalFlags::ECHO);
            let _ = tcsetattr(&stdin, SetArg::TCSANOW, &silent);
        }
        Self { before }
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = tcsetattr(std::io::stdin(), SetArg::TCSANOW, before);
        }
    }
}
