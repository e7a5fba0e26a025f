//! What goes into the machine and what comes out.

use serde::{Deserialize, Serialize};

use super::task::{TaskAttempt, Time};
use crate::exit::Verdict;

/// What is placed and launched together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Group {
    /// All tasks of this attempt of the job.
    Gang(u32),
    /// One task.
    Task(TaskAttempt),
}

/// Something that happened. In JSON every input has its name under `input`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "input",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Input {
    /// The scheduler has a place for the group.
    Placed {
        /// Which group.
        group: Group,
    },
    /// The scheduler has no place for the group, or not in time.
    PlaceRefused {
        /// Which group.
        group: Group,
        /// Why.
        verdict: Verdict,
    },
    /// The engine could not start the group: nothing of it runs, and nothing of it will.
    LaunchFailed {
        /// Which group.
        group: Group,
        /// Why.
        verdict: Verdict,
    },
    /// The engine has the task and prepares it.
    TaskPreparing {
        /// Which attempt.
        task: TaskAttempt,
    },
    /// The task runs.
    TaskStarted {
        /// Which attempt.
        task: TaskAttempt,
    },
    /// The task has ended: nothing of it runs, and nothing of it will.
    TaskExited {
        /// Which attempt.
        task: TaskAttempt,
        /// What came of it.
        verdict: Verdict,
    },
    /// The task is gone for sure, and nobody knows what came of it.
    TaskLost {
        /// Which attempt.
        task: TaskAttempt,
    },
    /// The engine has accepted to end the task.
    KillAccepted {
        /// Which attempt.
        task: TaskAttempt,
    },
    /// The task is being ended.
    TaskEnding {
        /// Which attempt.
        task: TaskAttempt,
    },
    /// The scheduler takes the group's place away.
    Preempted {
        /// Which group.
        group: Group,
    },
    /// Someone asks for the job to stop.
    Stop {
        /// Without grace.
        force: bool,
    },
    /// A timer that was asked for has come due.
    TimerFired {
        /// Which timer.
        timer: Timer,
    },
}

/// Something to wake up for. Timers need not be cancelled: one that is no longer wanted is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Timer {
    /// The next attempt of the job after this one begins.
    JobRetry(u32),
    /// The next attempt of the task after this one begins.
    TaskRetry(TaskAttempt),
    /// The time of this attempt of the job is up.
    TimeLimit(u32),
}

/// Why a task is ended before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum KillReason {
    /// The job was stopped on request.
    StopAsked,
    /// The fate of the job is decided.
    AttemptOver,
    /// Its place is needed by others.
    Preempted,
    /// The time of the job is up.
    TimeLimit,
}

/// Something to be done. In JSON every effect has its name under `effect`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(
    tag = "effect",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Effect {
    /// Ask the scheduler for a place for the group.
    Place {
        /// Which group.
        group: Group,
    },
    /// The group needs no place any more; if it has just got one, that is free again.
    Withdraw {
        /// Which group.
        group: Group,
    },
    /// Start the group in its place.
    Launch {
        /// Which group.
        group: Group,
    },
    /// End the task.
    Kill {
        /// Which attempt.
        task: TaskAttempt,
        /// Why.
        reason: KillReason,
        /// Without grace.
        force: bool,
    },
    /// The place of the task is free again.
    Release {
        /// Which attempt.
        task: TaskAttempt,
    },
    /// Wake the job up.
    ScheduleTimer {
        /// When.
        at: Time,
        /// What for.
        timer: Timer,
    },
    /// The job has ended; its outcome is in the state.
    Finish {
        /// Its exit code.
        code: i32,
    },
}
