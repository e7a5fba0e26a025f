//! What the processes that move data tell the supervisor: lines of JSON through a pipe.

use std::cell::RefCell;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;

use serde::{Deserialize, Serialize};

use super::stage::Staged;
use crate::contract::Collected;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Tell {
    /// Something that a person should know.
    Note(String),
    /// How far a transfer has come.
    Transfer {
        /// What is moved.
        what: String,
        /// Bytes.
        done: u64,
        /// Bytes, if known.
        total: Option<u64>,
    },
    /// All is ready.
    Staged(Box<Staged>),
    /// All that could be done is done.
    Collected(Vec<Collected>),
    /// It cannot be done.
    Failed(String),
}

/// The near end of the pipe.
#[derive(Debug)]
pub(crate) struct Teller {
    pipe: Option<RefCell<File>>,
}

impl Teller {
    /// Tells the process at the other end.
    pub(crate) fn to(pipe: OwnedFd) -> Self {
        Self {
            pipe: Some(RefCell::new(File::from(pipe))),
        }
    }

    /// Tells nobody.
    pub(crate) fn silent() -> Self {
        Self { pipe: None }
    }

    /// Tells one thing. Whoever does not listen any more is dead.
    pub(crate) fn tell(&self, what: &Tell) {
        if let (Some(pipe), Ok(mut line)) = (&self.pipe, serde_json::to_vec(what)) {
            line.push(b'\n');
            let _ = pipe.borrow_mut().write_all(&line);
        }
    }

    /// Tells how far a transfer has come.
    pub(crate) fn transfer(&self, what: &str, done: u64, total: Option<u64>) {
        let what = what.to_owned();
        self.tell(&Tell::Transfer { what, done, total });
    }

    /// Tells a person something.
    pub(crate) fn note(&self, text: impl Into<String>) {
        self.tell(&Tell::Note(text.into()));
    }
}
