//! Plain lines for pipes and files: what tasks write goes to standard output, each line behind the name of its
//! task; what becomes of them goes to standard error.

use std::collections::BTreeMap;

use pinnace_control::control::News;
use pinnace_control::folder::StateFolder;
use pinnace_control::job::Job;
use pinnace_core::lifecycle::{Input, TaskAttempt};
use pinnace_exec::local::Layout;
use pinnace_exec::log::Stream;
use pinnace_exec::{Happening, PhaseName, TaskId};

use super::Show;
use super::follow::{Follower, printable};
use crate::moment::span;
use crate::terminal;

/// With more tasks than this, only failures and retries are told of, and the logs are left to `pinnace logs`.
pub(crate) const MOST_TALKATIVE_TASKS: usize = 100;

/// So many bytes of lines are held before they are printed.
const MOST_HELD: usize = 64 << 10;

/// Plain lines.
#[derive(Debug)]
pub(crate) struct Plain {
    folder: StateFolder,
    /// Tasks that run, and their logs.
    logs: BTreeMap<(u32, TaskId), Follower>,
    talkative: bool,
    quiet: bool,
}

impl Plain {
    pub(crate) fn new(job: &Job, folder: StateFolder, quiet: bool) -> Self {
        Self {
            folder,
            logs: BTreeMap::new(),
            talkative: job.state.tasks().count() <= MOST_TALKATIVE_TASKS,
            quiet,
        }
    }

    fn tell(&self, text: &str) {
        if !self.quiet {
            terminal::talk(&format!("{text}\n"));
        }
    }

    fn on_event(&mut self, job: &Job, launch: u32, what: &Happening) {
        match what {
            Happening::Started { task, .. } => {
                let layout = Layout::new(self.folder.launch(&job.id, launch));
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
                job.id
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
                        (true, _) => "stopped".to_owned(),
                        (false, 0) => "succeeded".to_owned(),
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

    fn on_input(&self, job: &Job, input: &Input) {
        let name = |task: &TaskAttempt| job.engine_task(task.task).to_string();
        match input {
            Input::TaskLost { task } => {
                self.tell(&format!(
                    "{}: lost; nobody knows what came of it",
                    name(task)
                ));
            }
            Input::LaunchFailed { verdict, .. } | Input::PlaceRefused { verdict, .. } => {
                self.tell(&verdict.reason());
            }
            Input::TaskExited { task, .. } => {
                let again = job
                    .state
                    .task(task.task)
                    .and_then(|view| Some((view.history.last()?.clone(), view)))
                    .filter(|(record, _)| record.attempt == task.attempt);
                if let Some((record, view)) = again {
                    let budget = super::verdict::budget(view.budget);
                    self.tell(&format!(
                        "{}: {} ({}); {}",
                        name(task),
                        record.decision.rule.words(),
                        record.verdict.phrase(),
                        budget
                    ));
                }
            }
            _ => {}
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
}

impl Show for Plain {
    fn update(&mut self, job: &Job, news: &[News]) {
        for one in news {
            match one {
                News::Event { launch, event } => self.on_event(job, *launch, &event.what),
                News::Heard { input, .. } => self.on_input(job, input),
                News::Waits { why } => self.tell(&format!("waiting for a place: {why}")),
            }
        }
        let keys: Vec<(u32, TaskId)> = self.logs.keys().cloned().collect();
        for key in keys {
            self.pump(&key, false);
        }
    }

    fn end(&mut self, _: &Job) {
        let keys: Vec<(u32, TaskId)> = self.logs.keys().cloned().collect();
        for key in keys {
            self.pump(&key, true);
        }
    }

    fn say(&mut self, text: &str) {
        terminal::talk(&format!("{text}\n"));
    }
}
