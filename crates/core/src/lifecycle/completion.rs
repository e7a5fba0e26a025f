//! When the fate of an attempt of a job is decided.

use serde::{Deserialize, Serialize};

use super::task::TaskId;
use crate::plan::Completion;

/// What decided the fate of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trigger {
    /// What came true.
    pub condition: Condition,
    /// The task that made it so, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
}

/// What can decide the fate of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Condition {
    /// So many tasks of a role have failed.
    MinFailed {
        /// How many have.
        failed: u32,
        /// How many it takes.
        min_failed: u32,
    },
    /// So many tasks of a role have succeeded.
    MinSucceeded {
        /// How many have.
        succeeded: u32,
        /// How many it takes.
        min_succeeded: u32,
    },
    /// All tasks have ended and nothing else came true.
    AllCompleted {
        /// How many tasks there are.
        total: u32,
    },
    /// The job was stopped on request.
    StopAsked,
    /// The time of the attempt is up.
    TimeLimit,
    /// The place of the gang was taken away.
    Preempted,
    /// There is no place for the gang.
    PlaceRefused,
    /// The engine could not start the gang.
    LaunchFailed,
}

impl Condition {
    /// The sentence that clients of OpenPAI know, where it has one.
    pub fn message(&self) -> String {
        match self {
            Condition::MinFailed { failed, min_failed } => format!(
                "FailedTaskCount {failed} has reached MinFailedTaskCount {min_failed} in the TaskRole"
            ),
            Condition::MinSucceeded {
                succeeded,
                min_succeeded,
            } => format!(
                "SucceededTaskCount {succeeded} has reached MinSucceededTaskCount {min_succeeded} in the TaskRole"
            ),
            Condition::AllCompleted { total } => format!(
                "CompletedTaskCount {total} has reached TotalTaskCount {total} and no user specified conditions in \
                 FrameworkAttemptCompletionPolicy have ever been triggered"
            ),
            Condition::StopAsked => "the job was stopped on request".to_owned(),
            Condition::TimeLimit => "the time limit of the job has passed".to_owned(),
            Condition::Preempted => "the place of the job was taken away".to_owned(),
            Condition::PlaceRefused => "there is no place for the job".to_owned(),
            Condition::LaunchFailed => "the engine could not start the job".to_owned(),
        }
    }
}

/// How many tasks have ended for good, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tally {
    pub(super) succeeded: u32,
    pub(super) failed: u32,
}

impl Tally {
    /// Counts a task that has ended for good. The condition that this makes true, if any, decides:
    /// tasks are counted one at a time and in the order of their ends, so the first condition to
    /// come true is the one whose task ended earliest.
    pub(super) fn count(&mut self, policy: Completion, succeeded: bool) -> Option<Condition> {
        if succeeded {
            self.succeeded += 1;
            let min_succeeded = policy.min_succeeded.filter(|minimum| *minimum >= 1)?;
            (self.succeeded >= min_succeeded).then_some(Condition::MinSucceeded {
                succeeded: self.succeeded,
                min_succeeded,
            })
        } else {
            self.failed += 1;
            let min_failed = policy.min_failed.filter(|minimum| *minimum >= 1)?;
            (self.failed >= min_failed).then_some(Condition::MinFailed {
                failed: self.failed,
                min_failed,
            })
        }
    }
}
