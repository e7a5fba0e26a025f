//! The events of an attempt on disk.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::Layout;
use crate::contract::{Event, Happening};

/// Appends events.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    next: u64,
    buffer: Vec<u8>,
}

impl Journal {
    /// A new journal; fails if there is one, because an attempt is carried out once.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        Ok(Self {
            file,
            next: 1,
            buffer: Vec::new(),
        })
    }

    pub(super) fn add(&mut self, what: Happening) {
        let event = Event {
            seq: self.next,
            at: now_micros() / 1000,
            what,
        };
        // Only maps with keys that are no strings cannot be written; there is none.
        if serde_json::to_writer(&mut self.buffer, &event).is_ok() {
            self.buffer.push(b'\n');
            self.next += 1;
        }
    }

    /// Writes what was added; true if there was something.
    pub(super) fn flush(&mut self) -> io::Result<bool> {
        if self.buffer.is_empty() {
            return Ok(false);
        }
        self.file.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(true)
    }
}

/// Microseconds since 1970.
pub(crate) fn now_micros() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// A place between two events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cursor(u64);

/// The events since a cursor, and the cursor behind them. Without an attempt there are none.
pub fn observe(folder: &Path, since: Cursor) -> io::Result<(Vec<Event>, Cursor)> {
    let mut file = match File::open(Layout::new(folder).events()) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Vec::new(), since)),
        Err(error) => return Err(error),
    };
    file.seek(SeekFrom::Start(since.0))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let mut events = Vec::new();
    let mut at = since.0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if line.last() != Some(&b'\n') {
            break;
        }
        events.push(serde_json::from_slice(line)?);
        at += line.len() as u64;
    }
    Ok((events, Cursor(at)))
}
