//! The runtime logs of tasks that had nothing else to say, in one file.
//!
//! A folder and a file for each of thousands of short tasks that succeed in silence would cost more than the tasks. What their
//! runtime logs would say lies in `runtime.log` beside the folders of the others, each line behind its task's name.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::read::RUNTIME;

/// Stands between the name of a task and its line.
const BETWEEN: &str = "\t";

/// Writes the file.
#[derive(Debug)]
pub(crate) struct QuietLog {
    path: PathBuf,
    file: Option<File>,
    buffer: Vec<u8>,
}

impl QuietLog {
    /// In the folder of all tasks.
    pub(crate) fn new(tasks: &Path) -> Self {
        Self {
            path: tasks.join(RUNTIME),
            file: None,
            buffer: Vec::new(),
        }
    }

    /// Adds what the runtime log of a task would have, which is lines.
    pub(crate) fn add(&mut self, task: &str, lines: &[u8]) {
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            self.buffer.extend_from_slice(task.as_bytes());
            self.buffer.extend_from_slice(BETWEEN.as_bytes());
            self.buffer.extend_from_slice(line);
        }
    }

    /// Writes what was added.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(
                OpenOptions::new()
                    .append(true)
                    .create(true)
                    .mode(0o600)
                    .open(&self.path)?,
            ),
        };
        file.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}

/// What the file has of a task without a runtime log of its own, whose logs would lie in `logs`.
pub(super) fn read(logs: &Path) -> io::Result<Vec<u8>> {
    let (Some(tasks), Some(name)) = (logs.parent(), logs.file_name()) else {
        return Ok(Vec::new());
    };
    let bytes = match std::fs::read(tasks.join(RUNTIME)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let start = [name.as_encoded_bytes(), BETWEEN.as_bytes()].concat();
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    Ok(lines
        .filter_map(|line| line.strip_prefix(&*start))
        .flatten()
        .copied()
        .collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::{LogReader, Stream, tail};
    use super::*;

    #[test]
    fn a_task_without_a_folder_has_its_lines() {
        let tasks = tempfile::tempdir().unwrap();
        let mut log = QuietLog::new(tasks.path());
        log.add("worker-1", b"a\nb\n");
        log.add("worker-11", b"c\n");
        log.flush().unwrap();
        log.add("worker-2", b"d\n");
        log.flush().unwrap();
        for (name, expected) in [
            ("worker-1", &b"a\nb\n"[..]),
            ("worker-11", b"c\n"),
            ("worker-3", b""),
        ] {
            let logs = tasks.path().join(name);
            assert_eq!(tail(&logs, Stream::Runtime, u64::MAX).unwrap(), expected);
            let mut reader = LogReader::from_start(&logs, Stream::Runtime);
            let (mut buffer, mut seen) = ([0; 3], Vec::new());
            loop {
                match reader.read(&mut buffer).unwrap() {
                    0 => break,
                    count => seen.extend_from_slice(&buffer[..count]),
                }
            }
            assert_eq!(seen, expected);
        }
        assert_eq!(
            tail(&tasks.path().join("worker-1"), Stream::Runtime, 2).unwrap(),
            b"b\n"
        );
    }

    #[test]
    fn a_runtime_log_of_its_own_is_read_alone() {
        let tasks = tempfile::tempdir().unwrap();
        let logs = tasks.path().join("worker-1");
        std::fs::create_dir(&logs).unwrap();
        std::fs::write(logs.join(RUNTIME), "own\n").unwrap();
        assert_eq!(tail(&logs, Stream::Runtime, 99).unwrap(), b"own\n");
    }
}
