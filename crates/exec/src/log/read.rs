//! Reads logs, also while they are written and rotated.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::file::rotated;

/// One of the logs of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Stream {
    /// What the command writes to its standard output.
    Stdout,
    /// What the command writes to its standard error.
    Stderr,
    /// Both, as they came.
    All,
    /// What hooks say, and when the command started and ended.
    Runtime,
}

impl Stream {
    /// The name of its file.
    pub fn file_name(self) -> &'static str {
        match self {
            Stream::Stdout => "stdout",
            Stream::Stderr => "stderr",
            Stream::All => "all",
            Stream::Runtime => "runtime.log",
        }
    }
}

/// Reads a log from its oldest byte, or from its end, and goes on when there is more.
#[derive(Debug)]
pub struct LogReader {
    path: PathBuf,
    file: Option<File>,
}

impl LogReader {
    /// Starts at the oldest byte that is kept.
    pub fn from_start(logs: &Path, stream: Stream) -> Self {
        let path = logs.join(stream.file_name());
        let file = File::open(rotated(&path)).ok();
        Self { path, file }
    }

    /// Starts so many bytes before the end of the current file, or at its start.
    pub fn from_end(logs: &Path, stream: Stream, bytes: u64) -> io::Result<Self> {
        let path = logs.join(stream.file_name());
        let file = match File::open(&path) {
            Ok(mut file) => {
                let size = file.metadata()?.len();
                file.seek(SeekFrom::Start(size.saturating_sub(bytes)))?;
                Some(file)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        Ok(Self { path, file })
    }

    /// Reads what is there now; 0 means that there is nothing more for the moment.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(file) = &mut self.file {
                let count = file.read(buffer)?;
                if count > 0 {
                    return Ok(count);
                }
            }
            // At the end of a file that is no longer the current one, the next one follows.
            let next = match File::open(&self.path) {
                Ok(next) => next,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
                Err(error) => return Err(error),
            };
            if let Some(file) = &mut self.file {
                if file.metadata()?.ino() == next.metadata()?.ino() {
                    return Ok(0);
                }
                // It may have grown between the last read and its rotation.
                let count = file.read(buffer)?;
                if count > 0 {
                    return Ok(count);
                }
            }
            self.file = Some(next);
        }
    }
}

/// The last bytes of a log, at most so many, the rotated file included.
pub fn tail(logs: &Path, stream: Stream, bytes: u64) -> io::Result<Vec<u8>> {
    let path = logs.join(stream.file_name());
    let mut found = Vec::new();
    let mut wanted = bytes;
    for path in [path.clone(), rotated(&path)] {
        if wanted == 0 {
            break;
        }
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        let size = file.metadata()?.len();
        file.seek(SeekFrom::Start(size.saturating_sub(wanted)))?;
        let mut part = Vec::new();
        file.take(wanted).read_to_end(&mut part)?;
        wanted -= part.len() as u64;
        part.append(&mut found);
        found = part;
    }
    Ok(found)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::LogFile;
    use super::*;

    #[test]
    fn a_reader_follows_over_a_rotation() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = LogFile::new(folder.path().join("stdout"), 8);
        let mut reader = LogReader::from_start(folder.path(), Stream::Stdout);
        let mut buffer = [0; 64];
        let mut seen = Vec::new();
        for text in ["one ", "two three ", "four ", "five "] {
            log.append(text.as_bytes());
            loop {
                let count = reader.read(&mut buffer).unwrap();
                if count == 0 {
                    break;
                }
                seen.extend_from_slice(&buffer[..count]);
            }
        }
        assert_eq!(seen, b"one two three four five ");
    }

    #[test]
    fn the_tail_reaches_into_the_rotated_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = LogFile::new(folder.path().join("all"), 4);
        for text in ["abcd", "ef"] {
            log.append(text.as_bytes());
        }
        assert_eq!(tail(folder.path(), Stream::All, 4).unwrap(), b"cdef");
        assert_eq!(tail(folder.path(), Stream::Stderr, 4).unwrap(), b"");
    }
}
