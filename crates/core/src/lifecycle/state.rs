//! The nine states that jobs and tasks go through.

use serde::{Deserialize, Serialize};

use crate::exit::code::{ATTEMPT_OVER, STOP_ASKED, SUCCEEDED};

/// Where the current attempt of a job or task stands. The names are those that clients know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum State {
    /// Waits for a place.
    AttemptCreationPending,
    /// Has a place and was handed to the engine, which has not been heard of since.
    AttemptCreationRequested,
    /// The engine has it and prepares it.
    AttemptPreparing,
    /// The command, or a step around it, runs; for a job: of at least one task.
    AttemptRunning,
    /// Its fate is decided, and the engine is to end it.
    AttemptDeletionPending,
    /// The engine has accepted to end it.
    AttemptDeletionRequested,
    /// It is being ended.
    AttemptDeleting,
    /// Nothing of the attempt runs, and nothing of it ever will.
    AttemptCompleted,
    /// There will be no other attempt.
    Completed,
}

use State::{
    AttemptCompleted, AttemptCreationPending, AttemptCreationRequested, AttemptDeleting,
    AttemptDeletionPending, AttemptDeletionRequested, AttemptPreparing, AttemptRunning, Completed,
};

impl State {
    /// All states, in the order of a life.
    pub const ALL: [State; 9] = [
        AttemptCreationPending,
        AttemptCreationRequested,
        AttemptPreparing,
        AttemptRunning,
        AttemptDeletionPending,
        AttemptDeletionRequested,
        AttemptDeleting,
        AttemptCompleted,
        Completed,
    ];

    /// The states that may follow.
    pub fn successors(self) -> &'static [State] {
        match self {
            AttemptCreationPending => &[AttemptCreationRequested, AttemptCompleted],
            AttemptCreationRequested => &[AttemptPreparing, AttemptDeleting, AttemptCompleted],
            AttemptPreparing => &[
                AttemptRunning,
                AttemptDeletionPending,
                AttemptDeleting,
                AttemptCompleted,
            ],
            AttemptRunning => &[AttemptDeletionPending, AttemptDeleting, AttemptCompleted],
            AttemptDeletionPending => {
                &[AttemptDeletionRequested, AttemptDeleting, AttemptCompleted]
            }
            AttemptDeletionRequested => &[AttemptDeleting, AttemptCompleted],
            AttemptDeleting => &[AttemptCompleted],
            AttemptCompleted => &[AttemptCreationPending, Completed],
            Completed => &[],
        }
    }

    /// Whether the engine may have something of the attempt.
    pub fn is_live(self) -> bool {
        (AttemptCreationRequested..=AttemptDeleting).contains(&self)
    }

    /// Whether the engine has been told to end the attempt.
    pub fn is_being_ended(self) -> bool {
        (AttemptDeletionPending..=AttemptDeleting).contains(&self)
    }

    /// The word for users, as OpenPAI has it; `code` is the decided exit code, if any.
    pub fn shown(self, code: Option<i32>) -> Shown {
        match self {
            AttemptCreationPending | AttemptCreationRequested | AttemptPreparing => Shown::Waiting,
            AttemptRunning => Shown::Running,
            AttemptDeletionPending
            | AttemptDeletionRequested
            | AttemptDeleting
            | AttemptCompleted => match code {
                Some(STOP_ASKED | ATTEMPT_OVER) => Shown::Stopping,
                _ => Shown::Running,
            },
            Completed => Shown::ended(code),
        }
    }

    /// The word for users about this one attempt, whether or not another follows.
    pub fn shown_attempt(self, code: Option<i32>) -> Shown {
        match self {
            AttemptCompleted => Shown::ended(code),
            _ => self.shown(code),
        }
    }
}

/// A state in a word for users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Shown {
    /// Does not run yet.
    Waiting,
    /// Runs, or is tried again soon.
    Running,
    /// Is being stopped.
    Stopping,
    /// Did what it should.
    Succeeded,
    /// Was stopped.
    Stopped,
    /// Failed.
    Failed,
}

impl Shown {
    fn ended(code: Option<i32>) -> Self {
        match code {
            Some(SUCCEEDED) => Shown::Succeeded,
            Some(STOP_ASKED | ATTEMPT_OVER) => Shown::Stopped,
            _ => Shown::Failed,
        }
    }
}
