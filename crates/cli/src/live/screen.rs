//! The live view on a terminal: a line per task, drawn again as things happen.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use pinnace_control::control::{self, News};
use pinnace_control::folder::StateFolder;
use pinnace_control::job::Job;
use pinnace_control::view::{Facts, task_of};
use pinnace_core::lifecycle::{RoleProgress, Shown};
use pinnace_exec::local::Layout;
use pinnace_exec::log::Stream;
use pinnace_exec::{Happening, TaskId};
use unicode_width::UnicodeWidthChar as _;

use super::follow::{Follower, printable};
use super::{Show, word};
use crate::moment::span;
use crate::terminal;

/// The view is drawn at most so often.
const PACE: Duration = Duration::from_millis(80);

/// Lines of the terminal that are left to what stood there before.
const MARGIN: usize = 4;

struct Live {
    facts: Facts,
    log: Follower,
    last_line: String,
}

/// The live view.
pub(crate) struct Screen {
    folder: StateFolder,
    tasks: HashMap<TaskId, Live>,
    waits: Option<String>,
    says: Option<String>,
    /// How many lines the last drawing has.
    drawn: usize,
    last: Option<Instant>,
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Screen")
            .field("drawn", &self.drawn)
            .finish_non_exhaustive()
    }
}

impl Screen {
    pub(crate) fn new(folder: StateFolder) -> Self {
        Self {
            folder,
            tasks: HashMap::new(),
            waits: None,
            says: None,
            drawn: 0,
            last: None,
        }
    }

    fn draw(&mut self, job: &Job) {
        let (width, height) = terminal_size::terminal_size()
            .map_or((100, 30), |(width, height)| {
                (usize::from(width.0), usize::from(height.0))
            });
        let lines = self.lines(job, height.saturating_sub(MARGIN).max(4));
        let mut text = self.rewind();
        for line in &lines {
            let _ = writeln!(text, "{}", cut(line, width.saturating_sub(1)));
        }
        self.drawn = lines.len();
        self.last = Some(Instant::now());
        terminal::talk(&text);
    }

    /// Goes back to where the last drawing began, and clears from there.
    fn rewind(&mut self) -> String {
        match std::mem::take(&mut self.drawn) {
            0 => String::new(),
            lines => format!("\u{1b}[{lines}A\u{1b}[J"),
        }
    }

    fn lines(&self, job: &Job, room: usize) -> Vec<String> {
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
        let mut lines = vec![head];
        lines.extend(
            self.waits
                .iter()
                .map(|why| format!("  waiting for a place: {why}")),
        );
        let count = state.tasks().count();
        if count <= room {
            lines.extend(state.tasks().map(|task| {
                self.task_line(&job.engine_task(task.id), task.shown, task.retries.total)
            }));
        } else {
            lines.extend(state.progress().map(|role| role_line(&role)));
            let failed = state.tasks().filter(|task| task.shown == Shown::Failed);
            let left = room.saturating_sub(lines.len());
            lines.extend(failed.take(left).map(|task| {
                self.task_line(&job.engine_task(task.id), task.shown, task.retries.total)
            }));
        }
        lines.extend(self.says.clone());
        lines
    }

    fn task_line(&self, task: &TaskId, state: Shown, attempt: u32) -> String {
        let mut line = format!("  {:<14} {:<9}", task.to_string(), word(state));
        if attempt > 0 {
            let _ = write!(line, " attempt {}", attempt + 1);
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
        if !live.last_line.is_empty() {
            let _ = write!(line, "  {}", live.last_line);
        }
        line
    }

    fn on_event(&mut self, job: &Job, launch: u32, event: &pinnace_exec::Event) {
        let Some(task) = task_of(event) else { return };
        if matches!(event.what, Happening::Started { .. }) || !self.tasks.contains_key(task) {
            let layout = Layout::new(self.folder.launch(&job.id, launch));
            let live = Live {
                facts: Facts::default(),
                log: Follower::new(&layout.logs(task), Stream::All),
                last_line: String::new(),
            };
            self.tasks.insert(task.clone(), live);
        }
        if let Some(live) = self.tasks.get_mut(task) {
            live.facts.learn(event);
            if let Happening::Kept { .. } = event.what {
                self.says = Some(format!(
                    "{task} failed and is kept: pinnace shell {} {task}",
                    job.id
                ));
            }
            if let Happening::Exited { .. } = event.what {
                live.read(true);
            }
        }
    }
}

impl Live {
    fn read(&mut self, last: bool) {
        let line = &mut self.last_line;
        self.log.lines(last, |text| {
            if !text.trim().is_empty() {
                *line = printable(text).replace('\t', " ");
            }
        });
    }
}

impl Show for Screen {
    fn update(&mut self, job: &Job, news: &[News]) {
        for one in news {
            match one {
                News::Event { launch, event } => self.on_event(job, *launch, event),
                News::Waits { why } => self.waits = Some(why.clone()),
                News::Heard { .. } => self.waits.clone_from(&job.waits),
            }
        }
        if self.last.is_some_and(|last| last.elapsed() < PACE) {
            return;
        }
        for live in self.tasks.values_mut() {
            if live.facts.report.is_none() {
                live.read(false);
            }
        }
        self.draw(job);
    }

    fn end(&mut self, _: &Job) {
        // The page of the verdict takes its place.
        terminal::talk(&self.rewind());
    }

    fn say(&mut self, text: &str) {
        self.says = Some(text.to_owned());
    }
}

fn role_line(role: &RoleProgress<'_>) -> String {
    let mut line = format!("  {:<14} {} tasks:", role.role, role.total);
    for (count, what) in [
        (role.waiting, "waiting"),
        (role.running, "running"),
        (role.ending, "ending"),
        (role.succeeded, "succeeded"),
        (role.failed, "failed"),
        (role.stopped, "stopped"),
    ] {
        if count > 0 {
            let _ = write!(line, " {count} {what}");
        }
    }
    line
}

/// At most so many columns.
fn cut(line: &str, width: usize) -> String {
    let mut left = width;
    let fits = |char: &char| match char.width().unwrap_or(0) {
        wide if wide > left => false,
        wide => {
            left -= wide;
            true
        }
    };
    line.chars().take_while(fits).collect()
}
