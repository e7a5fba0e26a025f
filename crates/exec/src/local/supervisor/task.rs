//! One task as its supervisor sees it.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Instant;

use nix::unistd::Pid;
use pinnace_core::plan::MetricRule;

use super::output::Output;
use crate::contract::{Level, Phase, PhaseName, TaskSpec};
use crate::local::journal::now_micros;
use crate::runner::channel::Ending;
use crate::sandbox::TaskFolder;
use crate::sandbox::cgroup::TaskGroup;

/// What a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Its turn.
    Queued,
    /// Its sandbox.
    Preparing,
    /// The shell of its start hooks and command.
    Running,
    /// The shell of its exit hooks.
    Hooks,
    /// The end of the time for which a failed task is kept.
    Kept,
    /// The end of its first process.
    Finishing,
    /// The outputs of its role to be collected.
    Collecting,
    /// Nothing.
    Ended,
}

/// Why a task is being ended before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    Stopped,
    TimedOut,
}

/// A work folder that a task has found.
#[derive(Debug)]
pub(super) struct Lodging {
    pub(super) work: PathBuf,
    /// Whether the task has a folder of its own, with a link to it.
    pub(super) is_shown: bool,
}

#[derive(Debug)]
pub(super) struct Task {
    pub(super) spec: TaskSpec,
    pub(super) folder: TaskFolder,
    pub(super) state: State,
    pub(super) level: Level,
    pub(super) pid: Option<Pid>,
    pub(super) channel: Option<OwnedFd>,
    pub(super) marks: Option<OwnedFd>,
    pub(super) marks_partial: Vec<u8>,
    pub(super) output: Output,
    pub(super) group: TaskGroup,
    /// Sockets that hold its ports, see [`super::parking`].
    pub(super) held_ports: Vec<OwnedFd>,
    pub(super) phases: Vec<Phase>,
    /// When it got its process.
    pub(super) started: Instant,
    /// When the current phase began.
    current: Option<(PhaseName, u64)>,
    pub(super) ending: Option<Ending>,
    pub(super) reached_command: bool,
    /// The first exit hook that failed and counts.
    pub(super) hook_failure: Option<(PhaseName, i32)>,
    pub(super) failed_in: Option<PhaseName>,
    pub(super) start_failure: Option<String>,
    /// Why its role's outputs are not where they belong.
    pub(super) collect_failure: Option<String>,
    pub(super) reason: Option<Reason>,
    pub(super) killed: bool,
    pub(super) cpu_micros: u64,
    /// If it has the sandbox of other tasks: the CPU time that they have used.
    pub(super) moved_in: Option<u64>,
    /// Where its work folder is while it may be left to another.
    pub(super) lodging: Option<Lodging>,
    /// Whether its sandbox is for another task.
    pub(super) is_vacant: bool,
    /// Counts up when a timer is no longer meant.
    pub(super) timer_epoch: u32,
}

impl Task {
    pub(super) fn new(
        spec: TaskSpec,
        folder: TaskFolder,
        held_ports: Vec<OwnedFd>,
        log_bytes: u64,
        metrics: &[MetricRule],
    ) -> Self {
        Self {
            output: Output::new(folder.path(), log_bytes, metrics),
            spec,
            folder,
            state: State::Queued,
            level: Level::Plain,
            pid: None,
            channel: None,
            marks: None,
            marks_partial: Vec::new(),
            group: TaskGroup::default(),
            held_ports,
            phases: Vec::new(),
            started: Instant::now(),
            current: Some((PhaseName::Queued, now_micros())),
            ending: None,
            reached_command: false,
            hook_failure: None,
            failed_in: None,
            start_failure: None,
            collect_failure: None,
            reason: None,
            killed: false,
            cpu_micros: 0,
            moved_in: None,
            lodging: None,
            is_vacant: false,
            timer_epoch: 0,
        }
    }

    /// Ends the current phase and begins another, or none.
    pub(super) fn turn_to(&mut self, next: Option<PhaseName>, exit_code: Option<i32>) {
        let now = now_micros();
        if let Some((name, start)) = self.current.take() {
            self.phases.push(Phase {
                name,
                start,
                end: now,
                exit_code,
            });
        }
        self.current = next.map(|name| (name, now));
    }

    /// What the task does now.
    pub(super) fn phase(&self) -> Option<&PhaseName> {
        self.current.as_ref().map(|(name, _)| name)
    }
}
