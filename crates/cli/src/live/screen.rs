//! The live view on a terminal, drawn again as things happen.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pinnace_control::control::{self, News};
use pinnace_control::folder::StateFolder;
use pinnace_control::job::{Job, JobId};
use pinnace_control::view::{Facts, task_of};
use pinnace_exec::local::Layout;
use pinnace_exec::log::{Stream, tail};
use pinnace_exec::{Event, Happening, TaskId};
use unicode_width::UnicodeWidthStr as _;

use super::follow::printable;
use super::glance::{Glance, TaskGlance};
use super::picture::{Picture, cut};
use super::transfer::Transfers;
use super::{Show, word};
use crate::interrupt::Resumes;
use crate::moment::span;
use crate::terminal::{self, Silence};

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
    job: JobId,
    folder: StateFolder,
    glance: Option<Glance>,
    tasks: HashMap<TaskId, Live>,
    says: Option<String>,
    transfers: Transfers,
    /// The columns of each line of the last drawing.
    drawn: Vec<usize>,
    last: Option<Instant>,
    silence: Silence,
    resumes: Resumes,
}

impl Screen {
    pub(crate) fn new(
        job: &JobId,
        folder: StateFolder,
        silence: Silence,
        resumes: Resumes,
    ) -> Self {
        Self {
            job: job.clone(),
            folder,
            glance: None,
            tasks: HashMap::new(),
            says: None,
            transfers: Transfers::default(),
            drawn: Vec::new(),
            last: None,
            silence,
            resumes,
        }
    }

    fn draw(&mut self) {
        if self.resumes.take() {
            // Others have written below the last drawing, and have set the terminal as they like it.
            self.silence.keep();
            self.drawn.clear();
        }
        let Some(glance) = &self.glance else { return };
        let (width, height) = size();
        let picture = self.picture(glance);
        let lines = picture.lines(height, |task| self.task_line(task));
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

    fn picture<'a>(&self, glance: &'a Glance) -> Picture<'a> {
        let mut head = format!(
            "{} {} {}",
            glance.id,
            word(glance.state),
            span(control::now().since(glance.submitted))
        );
        if glance.retries > 0 {
            let _ = write!(head, ", attempt {}", glance.retries + 1);
        }
        let waits = glance.waits.as_ref();
        let waits = waits.map(|why| format!("  waiting for a place: {why}"));
        Picture {
            head,
            notes: waits
                .into_iter()
                .chain(self.transfers.lines())
                .chain(self.says.clone())
                .collect(),
            roles: &glance.roles,
            tasks: &glance.tasks,
        }
    }

    fn task_line(&self, task: &TaskGlance) -> String {
        let mut line = format!("  {:<14} {:<9}", task.id.to_string(), word(task.state));
        if task.retries > 0 {
            let _ = write!(line, " attempt {}", task.retries + 1);
        }
        let Some(live) = self.tasks.get(&task.id) else {
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
}

impl Show for Screen {
    fn line(&self) -> fn(&Job, &News) -> Option<String> {
        |_, _| None
    }

    fn wants_glances(&self) -> bool {
        true
    }

    fn on_event(&mut self, launch: u32, event: &Event) {
        match &event.what {
            Happening::Transfer { what, done, total } => {
                self.transfers.learn(what, *done, *total);
            }
            Happening::Started { .. } | Happening::Exited { .. } => self.transfers.clear(),
            _ => {}
        }
        let Some(task) = task_of(event) else { return };
        if matches!(event.what, Happening::Started { .. }) || !self.tasks.contains_key(task) {
            let layout = Layout::new(self.folder.launch(&self.job, launch));
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
                self.job
            ));
        }
    }

    fn say(&mut self, text: &str) {
        self.says = Some(text.to_owned());
        self.last = None;
    }

    fn refresh(&mut self, glance: Option<Glance>) {
        self.glance = glance.or(self.glance.take());
        if self.last.is_none_or(|last| last.elapsed() >= PACE) {
            self.draw();
        }
    }

    fn end(&mut self) {
        // The page of the verdict takes its place.
        let (width, _) = size();
        terminal::talk(&self.rewind(width));
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
