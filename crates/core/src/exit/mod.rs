//! Why a task ended: from what was observed to a row of the exit table.
//!
//! [`classify`] takes an [`ExitReport`] (facts) and gives a [`Verdict`] (meaning). The rows are those
//! of OpenPAI's exit table, in its order, and the first row with a matching pattern wins; see
//! `docs/exit-codes.md`. What follows from a verdict is the business of [`crate::lifecycle`].

mod log;
mod pattern;
mod report;
mod table;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

pub use pattern::classify;
pub use report::{EngineReason, ExitReport, Part, Status};
pub use table::{Causer, Kind, ROWS, Row, Stage};

/// Codes that other parts of Pinnace speak of by name.
pub mod code {
    /// The task or job did what it should.
    pub const SUCCEEDED: i32 = 0;
    /// Taken away from outside, for instance to make room for a more important job.
    pub const REMOVED: i32 = -101;
    /// Someone asked for the job to stop.
    pub const STOP_ASKED: i32 = -210;
    /// The fate of the job was decided while the task still ran.
    pub const ATTEMPT_OVER: i32 = -220;
    /// Someone asked for the task to go.
    pub const TASK_UNWANTED: i32 = -230;
    /// The machine, or the supervisor of the task, was lost.
    pub const NODE_LOST: i32 = -1001;
    /// The time limit has passed.
    pub const TIME_LIMIT: i32 = -1004;
    /// The gang did not get all of its places in time.
    pub const GANG_TIMEOUT: i32 = 251;
    /// A failure that no row knows.
    pub const UNKNOWN_FAILURE: i32 = 255;
}

/// What an ending says about trying again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Behaviour {
    /// No failure.
    Success,
    /// The same again may well work.
    Transient,
    /// The same again may work once others are out of the way.
    TransientConflict,
    /// The same again fails again.
    Permanent,
    /// Nobody can say.
    Unknown,
}

impl Behaviour {
    /// Every behaviour.
    pub const ALL: [Behaviour; 5] = [
        Behaviour::Success,
        Behaviour::Transient,
        Behaviour::TransientConflict,
        Behaviour::Permanent,
        Behaviour::Unknown,
    ];

    /// The name that OpenPAI's clients know.
    pub fn name(self) -> &'static str {
        match self {
            Behaviour::Success | Behaviour::Unknown => "UNKNOWN",
            Behaviour::Transient => "TRANSIENT",
            Behaviour::TransientConflict => "TRANSIENT_CONFLICT",
            Behaviour::Permanent => "PERMANENT",
        }
    }

    /// How OpenPAI's clients name what is done about it.
    pub fn reaction(self) -> &'static str {
        match self {
            Behaviour::Success | Behaviour::Permanent => "NEVER_RETRY",
            Behaviour::Transient => "ALWAYS_RETRY",
            Behaviour::TransientConflict => "ALWAYS_BACKOFF_RETRY",
            Behaviour::Unknown => "RETRY_TO_MAX",
        }
    }
}

/// What an ending means. Small, because every attempt of every task keeps one; the words come from
/// the row of its code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// The code of the exit table, or the real code when only a fallback row knows it.
    pub code: i32,
    /// What it says about trying again.
    pub behaviour: Behaviour,
    /// How the process ended, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<Status>,
    /// The log line that decided, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matched: Option<String>,
    /// The engine's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Verdict {
    /// The verdict of a code alone.
    pub fn of(code: i32) -> Self {
        Verdict {
            code,
            behaviour: Row::of(code).behaviour,
            exit: None,
            matched: None,
            message: None,
        }
    }

    /// Whether the task or job did what it should.
    pub fn is_success(&self) -> bool {
        self.behaviour == Behaviour::Success
    }

    /// The row of the exit table; a fallback row when none has this code.
    pub fn row(&self) -> &'static Row {
        Row::of(self.code)
    }

    /// The short name of what happened.
    pub fn phrase(&self) -> &'static str {
        self.row().phrase
    }

    /// What happened, for people.
    pub fn reason(&self) -> String {
        let mut reason = self.row().reason.to_owned();
        match self.exit {
            Some(Status::Code(code)) if code != 0 => {
                let _ = write!(reason, " (exit code {code})");
            }
            Some(Status::Signal(signal)) => {
                let _ = write!(reason, " (signal {signal})");
            }
            _ => {}
        }
        if let Some(message) = &self.message {
            let _ = write!(reason, ": {message}");
        }
        reason
    }

    /// What to do about it, for people; empty after success.
    pub fn solution(&self) -> &'static str {
        self.row().solution
    }

    /// All that can be said of it.
    pub fn explain(&self) -> Explanation<'_> {
        let row = self.row();
        Explanation {
            code: self.code,
            phrase: row.phrase,
            kind: row.kind,
            stage: row.stage,
            causer: row.causer,
            behaviour: self.behaviour,
            reason: self.reason(),
            solution: row.solution,
            exit: self.exit,
            matched: self.matched.as_deref(),
        }
    }
}

/// All that can be said of an ending, for people and clients.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation<'a> {
    /// The code.
    pub code: i32,
    /// The short name of what happened.
    pub phrase: &'static str,
    /// Whose success or failure it is.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// When it happened.
    pub stage: Stage,
    /// Who has to change something.
    pub causer: Causer,
    /// What it says about trying again.
    pub behaviour: Behaviour,
    /// What happened, for people.
    pub reason: String,
    /// What to do about it, for people; empty after success.
    pub solution: &'static str,
    /// How the process ended, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<Status>,
    /// The log line that decided, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched: Option<&'a str>,
}

/// The page of all exit codes, `docs/exit-codes.md`.
pub fn reference() -> String {
    let mut page = String::from(include_str!("reference.txt"));
    for row in &ROWS {
        let _ = writeln!(
            page,
            "| {} | `{}` | {} | {} |",
            row.code,
            row.phrase,
            row.behaviour_in_words(),
            row.reason
        );
    }
    page
}
