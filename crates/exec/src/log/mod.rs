//! What tasks say, on disk: append-only files of bounded size, readable while they are written, free
//! of secrets.
//!
//! A task's `logs` folder holds `stdout`, `stderr`, `order` (in which order both came, if there is anything to tell) and
//! `runtime.log` (what hooks say, in OpenPAI's line format). A file that has grown to its bound is renamed to `NAME.1`,
//! and the former `NAME.1` is gone. A file appears with its first byte. Short tasks that succeed in silence share one
//! `runtime.log` beside the folders of the others, and have no folder.

mod combined;
mod file;
mod forms;
mod lines;
mod order;
mod pair;
mod quiet;
mod read;
mod scrub;

pub(crate) use file::LogFile;
pub use lines::civil;
pub(crate) use lines::{Lines, prefix};
pub(crate) use order::Side;
pub(crate) use pair::Pair;
pub(crate) use quiet::QuietLog;
pub(crate) use read::RUNTIME;
pub use read::{LogReader, Stream, tail};
pub(crate) use scrub::{Scrubber, Stencil};

/// Values shorter than this are not scrubbed: they would blot out half of any text.
pub const SHORTEST_SECRET: usize = 4;
