//! Plain lines for pipes and files: what tasks write goes to standard output, each line behind the name of its
//! task; what becomes of them goes to standard error.

use std::collections::BTreeMap;
use std::time::Instant;

use pinnace_control::control::News;
use pinnace_control::folder::StateFolder;
use pinnace_control::job::{Job, JobId};
use pinnace_core::lifecycle::{Input, TaskAttempt};
use pinnace_exec::local::Layout;
use pinnace_exec::log::Stream;
use pinnace_exec::{Event, Happening, PhaseName, TaskId};

use super::Show;
use super::follow::{Follower, printable};
use super::glance::Glance;
use super::viewer::PACE;
use crate::moment::span;
use crate::terminal;

/// With more tasks than this, only failures and retries are told of, and the logs are left to `pinnace logs`.
pub(crate) const MOST_TALKATIVE_TASKS: usize = 100;

/// So many bytes of lines are held before they are printed.
const MOST_HELD: usize = 64 << 10;

/// Plain lines.
#[derive(Debug)]
pub(crate) struct Plain {
    job: JobId,
    folder: StateFolder,
    /// Tasks that run, and their logs.
    logs: BTreeMap<(u32, TaskId), Follower>,
    /// When they were last looked at.
    looked: Option<Instant>,
    talkative: bool,
    quiet: bool,
}

impl Plain {
    pub(crate) fn new(job: &Job, folder: StateFolder, quiet: bool) -> Self {
        Self {
            job: job.id.clone(),
            folder,
            logs: BTreeMap::new(),
            looked: None,
            talkative: job.state.tasks().count() <= MOST_TALKATIVE_TASKS,
            quiet,
        }
    }

    fn tell(&self, text: &str) {
        if !self.quiet {
            terminal::talk(&format!("{text}\n"));
        }
    }

    fn pump(&mut self, key: &(u32, TaskId), last: bool) {
        let Some(follower) = self.logs.get_mut(key) else {
            return;
        };
        let start = format!("{} | ", key.1);
        let mut text = String::new();
        follower.lines(last, |line| {
            text.extend([start.as_str(), &printable(line), "\n"]);
            if text.len() >= MOST_HELD {
                terminal::print(&text);
                text.clear();
            }
        });
        if !text.is_empty() {
            terminal::print(&text);
        }
    }

    fn pump_all(&mut self, last: bool) {
        let keys: Vec<(u32, TaskId)> = self.logs.keys().cloned().collect();
        for key in keys {
            self.pump(&key, last);
        }
    }
}

impl Show for Plain {
    fn line(&self) -> fn(&Job, &News) -> Option<String> {
        match self.quiet {
            true => |_, _| None,
            false => line,
        }
    }

    fn wants_glances(&self) -> bool {
        false
    }

    fn on_event(&mut self, launch: u32, event: &Event) {
        match &event.what {
            Happening::Started { task, .. } => {
                let layout = Layout::new(self.folder.launch(&self.job, launch));
                let follower = Follower::new(&layout.logs(task), Stream::All);
                self.logs.insert((launch, task.clone()), follower);
            }
            Happening::Phase { task, phase } if self.talkative => match phase {
                PhaseName::Queued | PhaseName::Sandbox | PhaseName::Kept => {}
                PhaseName::Staging
                | PhaseName::Before { .. }
                | PhaseName::Command
                | PhaseName::After { .. }
                | PhaseName::Collecting => {
                    self.tell(&format!("{task}: {phase}"));
                }
            },
            Happening::Note { task, text } => self.tell(&format!("{task}: {text}")),
            Happening::Kept { task, .. } => self.tell(&format!(
                "{task}: failed, and kept for debugging: `pinnace shell {} {task}`",
                self.job
            )),
            Happening::Exited { report } => {
                self.pump(&(launch, report.task.clone()), true);
                let failed = !report.succeeded() && !report.stopped;
                if self.talkative || failed {
                    let took: u64 = report
                        .phases
                        .iter()
                        .map(|phase| phase.end.saturating_sub(phase.start))
                        .sum();
                    let how = match (report.stopped, report.exit_code) {
                        (true, _) if report.killed => {
                            "killed, as it did not end when told to,".to_owned()
                        }
                        (true, _) => "stopped".to_owned(),
                        (false, 0) => "succeeded".to_owned(),
                        // No program has ended with the code that stands for it.
                        _ if report.start_failure.is_some() => {
                            "failed before the command".to_owned()
                        }
                        (false, code) => format!("failed with exit code {code}"),
                    };
                    self.tell(&format!(
                        "{}: {how} after {}",
                        report.task,
                        span(took / 1000)
                    ));
                }
                self.logs.remove(&(launch, report.task.clone()));
            }
            _ => {}
        }
    }

    fn say(&mut self, text: &str) {
        terminal::talk(&format!("{text}\n"));
    }

    fn refresh(&mut self, _: Option<Glance>) {
        if self.looked.is_none_or(|last| last.elapsed() >= PACE) {
            self.pump_all(false);
            self.looked = Some(Instant::now());
        }
    }

    fn end(&mut self) {
        self.pump_all(true);
    }
}

/// What became of a task that is tried again or lost, of a job that cannot begin.
fn line(job: &Job, news: &News) -> Option<String> {
    let name = |task: &TaskAttempt| job.engine_task(task.task).to_string();
    let input = match news {
        News::Told { .. } => return None,
        News::Waits { why } => return Some(format!("waiting for a place: {why}")),
        News::Heard { input, .. } => input,
    };
    match input {
        Input::TaskLost { task } => Some(format!(
            "{}: lost; nobody knows what came of it",
            name(task)
        )),
        Input::LaunchFailed { verdict, .. } | Input::PlaceRefused { verdict, .. } => {
            Some(verdict.reason())
        }
        Input::TaskExited { task, .. } => {
            let view = job.state.task(task.task)?;
            let record = view.history.last()?;
            (record.attempt == task.attempt).then(|| {
                format!(
                    "{}: {} ({}); {}",
                    name(task),
                    record.decision.rule.words(),
                    record.verdict.phrase(),
                    super::verdict::budget(view.budget)
                )
            })
        }
        _ => None,
    }
}
