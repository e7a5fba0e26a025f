//! One task of a job, and how its attempts are named.

use serde::{Deserialize, Serialize};

use super::retry::{Decision, Retries};
use super::state::State;
use crate::exit::Verdict;

/// A point in time, in milliseconds since 1970 UTC.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Time(pub u64);

impl Time {
    /// So many milliseconds later.
    #[must_use]
    pub fn after(self, milliseconds: u64) -> Time {
        Time(self.0.saturating_add(milliseconds))
    }

    /// Milliseconds since then; 0 if the clock was set back meanwhile.
    pub fn since(self, earlier: Time) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// A task of a job: the position of its role in the plan, and its index in the role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskId {
    /// The position of the role in the plan, from 0.
    pub role: u32,
    /// The number of the task in its role, from 0.
    pub index: u32,
}

/// One attempt of one task in one attempt of its job. Engines tell apart what they run by this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskAttempt {
    /// The attempt of the job: how often the job was tried again before.
    pub job_attempt: u32,
    /// The task.
    #[serde(flatten)]
    pub task: TaskId,
    /// How often the task was tried again before, in this attempt of the job.
    pub attempt: u32,
}

/// When the things happened that happen once in an attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Times {
    /// It began to wait for a place.
    pub started: Time,
    /// It got a place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placed: Option<Time>,
    /// It began to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran: Option<Time>,
    /// Its fate was decided while something of it still ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<Time>,
    /// Nothing of it ran any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Time>,
}

impl Times {
    pub(super) fn starting(now: Time) -> Self {
        Times {
            started: now,
            ..Times::default()
        }
    }

    /// How long it ran, in milliseconds; 0 if it never did.
    pub fn ran_for(&self) -> u64 {
        match (self.ran, self.ended) {
            (Some(ran), Some(ended)) => ended.since(ran),
            _ => 0,
        }
    }
}

/// An attempt of a task that was followed by another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskRecord {
    /// Its number.
    pub attempt: u32,
    /// What came of it.
    pub verdict: Verdict,
    /// Why it was tried again.
    pub decision: Decision,
    /// When.
    pub times: Times,
}

/// A task's part of the job's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Task {
    pub(super) id: TaskId,
    pub(super) state: State,
    pub(super) times: Times,
    #[serde(default, skip_serializing_if = "Retries::is_none")]
    pub(super) retries: Retries,
    /// Written once per attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) outcome: Option<Verdict>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) decision: Option<Decision>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) history: Vec<TaskRecord>,
}

impl Task {
    /// Older records are dropped, so that a task that is tried again without end stays small.
    pub(super) const MOST_RECORDS: usize = 20;

    pub(super) fn new(id: TaskId, now: Time) -> Self {
        Task {
            id,
            state: State::AttemptCreationPending,
            times: Times::starting(now),
            retries: Retries::default(),
            outcome: None,
            decision: None,
            history: Vec::new(),
        }
    }

    /// The name of the current attempt.
    pub(super) fn attempt(&self, job_attempt: u32) -> TaskAttempt {
        TaskAttempt {
            job_attempt,
            task: self.id,
            attempt: self.retries.total,
        }
    }

    /// When the next attempt begins, if one is awaited.
    pub(super) fn retry_at(&self) -> Option<Time> {
        let decision = self.decision.filter(|decision| decision.again)?;
        Some(self.times.ended?.after(decision.delay_ms))
    }
}
