//! Reads logs, also while they are written and rotated.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::combined::CombinedReader;
use super::file::rotated;
use super::quiet;

/// The names of files.
pub(crate) const STDOUT: &str = "stdout";
pub(crate) const STDERR: &str = "stderr";
pub(crate) const RUNTIME: &str = "runtime.log";

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
    /// The name of its file; both streams together have none.
    pub fn file_name(self) -> Option<&'static str> {
        match self {
            Stream::Stdout => Some(STDOUT),
            Stream::Stderr => Some(STDERR),
            Stream::All => None,
            Stream::Runtime => Some(RUNTIME),
        }
    }
}

/// Reads a log from its oldest byte and goes on when there is more.
#[derive(Debug)]
pub struct LogReader {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    One(FileReader),
    Both(Box<CombinedReader>),
    Runtime {
        logs: PathBuf,
        own: FileReader,
        /// What is left of what the task has in the file of quiet ones.
        shared: Option<io::Cursor<Vec<u8>>>,
    },
}

impl LogReader {
    /// Starts at the oldest byte that is kept.
    pub fn from_start(logs: &Path, stream: Stream) -> Self {
        let kind = match stream.file_name() {
            None => Kind::Both(Box::new(CombinedReader::from_start(logs))),
            Some(RUNTIME) => Kind::Runtime {
                logs: logs.to_owned(),
                own: FileReader::from_start(logs.join(RUNTIME)),
                shared: None,
            },
            Some(name) => Kind::One(FileReader::from_start(logs.join(name))),
        };
        Self { kind }
    }

    /// Reads what is there now; 0 means that there is nothing more for the moment.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.kind {
            Kind::One(reader) => reader.read(buffer),
            Kind::Both(reader) => reader.read(buffer),
            Kind::Runtime { logs, own, shared } => {
                let count = own.read(buffer)?;
                if count > 0 || own.file.is_some() {
                    return Ok(count);
                }
                if shared.is_none() {
                    let lines = quiet::read(logs)?;
                    *shared = (!lines.is_empty()).then(|| io::Cursor::new(lines));
                }
                shared.as_mut().map_or(Ok(0), |lines| lines.read(buffer))
            }
        }
    }
}

/// Reads one file over its rotations.
#[derive(Debug)]
struct FileReader {
    path: PathBuf,
    file: Option<File>,
}

impl FileReader {
    fn from_start(path: PathBuf) -> Self {
        let file = File::open(rotated(&path)).ok();
        Self { path, file }
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
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
    let mut found = Vec::new();
    let Some(name) = stream.file_name() else {
        let mut reader = CombinedReader::from_end(logs, bytes)?;
        let mut buffer = vec![0; usize::try_from(bytes).unwrap_or(usize::MAX).min(64 << 10)];
        // More may come while we read.
        while (found.len() as u64) < bytes {
            match reader.read(&mut buffer)? {
                0 => break,
                count => found.extend_from_slice(buffer.get(..count).unwrap_or_default()),
            }
        }
        return Ok(found);
    };
    let path = logs.join(name);
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
    if stream == Stream::Runtime && found.is_empty() {
        found = quiet::read(logs)?;
        let wanted = usize::try_from(bytes).unwrap_or(usize::MAX);
        found.drain(..found.len().saturating_sub(wanted));
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
        let mut log = LogFile::new(folder.path().join("stdout"), 4);
        for text in ["abcd", "ef"] {
            log.append(text.as_bytes());
        }
        assert_eq!(tail(folder.path(), Stream::Stdout, 4).unwrap(), b"cdef");
        assert_eq!(tail(folder.path(), Stream::Stderr, 4).unwrap(), b"");
    }
}
