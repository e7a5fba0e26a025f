//! The output and the errors of a command, as they are written.

use std::fs;
use std::path::{Path, PathBuf};

use super::file::LogFile;
use super::order::{self, Entry, Side};
use super::read::{STDERR, STDOUT};

/// An order of this size is shortened if it can be.
const LONG_ORDER: u64 = 256 << 10;

/// Writes both streams, each to its own file, and keeps their order.
#[derive(Debug)]
pub(crate) struct Pair {
    stdout: LogFile,
    stderr: LogFile,
    /// See [`order`].
    order: LogFile,
    order_path: PathBuf,
    /// At this size the order is looked through next.
    order_bound: u64,
    last: Option<Side>,
}

impl Pair {
    pub(crate) fn new(logs: &Path, bound: u64) -> Self {
        let file = |name| LogFile::new(logs.join(name), bound);
        let order_path = logs.join(order::FILE_NAME);
        Self {
            stdout: file(STDOUT),
            stderr: file(STDERR),
            order: LogFile::new(order_path.clone(), u64::MAX),
            order_path,
            order_bound: LONG_ORDER,
            last: None,
        }
    }

    pub(crate) fn append(&mut self, side: Side, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if self.last == Some(side.other()) {
            let end = self.file(side.other()).end();
            self.add(Entry::Run {
                side: side.other(),
                end,
            });
        }
        self.last = Some(side);
        if let Some((at, inode)) = self.file(side).append(bytes) {
            self.add(Entry::Rotated { side, at, inode });
        }
    }

    /// Whether nothing was ever written.
    pub(crate) fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    /// Why a log is incomplete.
    pub(crate) fn failures(&self) -> impl Iterator<Item = String> {
        [&self.stdout, &self.stderr, &self.order]
            .into_iter()
            .filter_map(LogFile::failure)
    }

    fn file(&mut self, side: Side) -> &mut LogFile {
        match side {
            Side::Stdout => &mut self.stdout,
            Side::Stderr => &mut self.stderr,
        }
    }

    fn add(&mut self, entry: Entry) {
        self.order.append(entry.to_string().as_bytes());
        if self.order.end() >= self.order_bound {
            let size = self.shorten();
            self.order_bound = (2 * size).max(LONG_ORDER);
        }
    }

    /// Replaces the order by what is still needed of it; a failure leaves it as it is. Gives its size.
    pub(super) fn shorten(&mut self) -> u64 {
        let size = self.order.end();
        let mut new_path = self.order_path.clone().into_os_string();
        new_path.push(".new");
        let Ok(text) = fs::read_to_string(&self.order_path) else {
            return size;
        };
        let text = order::shortened(&text);
        if fs::write(&new_path, &text).is_err() || fs::rename(&new_path, &self.order_path).is_err()
        {
            return size;
        }
        self.order = LogFile::new(self.order_path.clone(), u64::MAX);
        text.len() as u64
    }
}
