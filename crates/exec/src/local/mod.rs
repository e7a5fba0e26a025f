//! The local engine: tasks as processes of this machine, looked after by a supervisor per attempt.
//!
//! An attempt has a folder. In it lie:
//!
//! | file | what it is |
//! | --- | --- |
//! | `attempt.json` | what to run, written by [`launch`] |
//! | `lock` | locked by the supervisor and by every task: free means that all are dead |
//! | `supervisor.json` | the supervisor's [`Identity`], with its control groups |
//! | `events.jsonl` | what happened, one [`Event`] per line; only ever appended to |
//! | `control.sock` | where the supervisor takes requests |
//! | `shared/` | what all tasks see, read-only: `peers.json`, keys |
//! | `tasks/ROLE-INDEX/` | a task's logs, its `work`, and while it runs its `changes` |
//! | `data/`, `outputs.json` | snapshots of code, what was fetched; what became of the outputs |
//! | `memory/`, `tmp/` | if they are needed: where tasks keep changes in memory; temporary files |
//!
//! A report is part of the event that tells of a task's end. One line is one `write`, and a line
//! without its end is no event, so there is no need for a file per report.

mod adopt;
mod client;
mod foreground;
mod identity;
mod journal;
mod layout;
mod shell;
mod ssh;
pub mod supervisor;

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

pub use adopt::{Adoption, adopt, clean, collected};
pub use client::{
    Expected, Handle, LaunchError, Launcher, News, Watch, expect_launch, launch, launch_expected,
    start_ahead, stop,
};
pub use foreground::{Wish, carry_out};
pub use identity::Identity;
pub(crate) use journal::now_micros;
pub use journal::{Cursor, observe};
pub use layout::Layout;
pub use shell::{Entry, enter};
pub use supervisor::remove_folder;

#[cfg(doc)]
use crate::contract::Event;

/// Writes a file so that it is there whole or not at all, also when several write it at once.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let mut name = path.as_os_str().to_owned();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    name.push(format!(".{}.{number}", std::process::id()));
    fs::write(&name, bytes)?;
    fs::rename(&name, path)
}
