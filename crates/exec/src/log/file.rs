//! A log file of bounded size.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Appends to a file and rotates it. The file, and its folder, is made when the first byte comes.
#[derive(Debug)]
pub(crate) struct LogFile {
    path: PathBuf,
    file: Option<File>,
    /// How many bytes lie in files before this one.
    start: u64,
    size: u64,
    bound: u64,
    /// The first failure; nothing is written after it.
    failure: Option<io::Error>,
}

impl LogFile {
    pub(crate) fn new(path: PathBuf, bound: u64) -> Self {
        Self {
            path,
            file: None,
            start: 0,
            size: 0,
            bound: bound.max(1),
            failure: None,
        }
    }

    /// Appends; a failure is kept and can be asked for at the end. If the file was full and is rotated, gives the
    /// bytes written since the beginning and the inode of what is now the former file.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Option<(u64, u64)> {
        if bytes.is_empty() || self.failure.is_some() {
            return None;
        }
        self.try_append(bytes).unwrap_or_else(|error| {
            self.failure = Some(error);
            self.file = None;
            None
        })
    }

    /// How many bytes were written since the beginning.
    pub(crate) fn end(&self) -> u64 {
        self.start + self.size
    }

    /// Why the log is incomplete, if it is.
    pub(crate) fn failure(&self) -> Option<String> {
        let error = self.failure.as_ref()?;
        Some(format!("cannot write {}: {error}", self.path.display()))
    }

    fn try_append(&mut self, bytes: &[u8]) -> io::Result<Option<(u64, u64)>> {
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let open = || {
                    OpenOptions::new()
                        .append(true)
                        .create(true)
                        .mode(0o600)
                        .open(&self.path)
                };
                let file = open().or_else(|error| match self.path.parent() {
                    Some(folder) if error.kind() == io::ErrorKind::NotFound => {
                        DirBuilder::new().mode(0o700).create(folder)?;
                        open()
                    }
                    _ => Err(error),
                })?;
                self.size = file.metadata()?.len();
                none.insert(file)
            }
        };
        file.write_all(bytes)?;
        self.size += bytes.len() as u64;
        if self.size < self.bound {
            return Ok(None);
        }
        let inode = file.metadata()?.ino();
        std::fs::rename(&self.path, rotated(&self.path))?;
        self.file = None;
        self.start += self.size;
        self.size = 0;
        Ok(Some((self.start, inode)))
    }
}

/// The name of the former file.
pub(super) fn rotated(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".1");
    PathBuf::from(name)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_full_file_is_rotated_and_the_one_before_it_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stdout");
        let mut log = LogFile::new(path.clone(), 4);
        for text in ["aaaa", "bbbb", "cc"] {
            log.append(text.as_bytes());
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "cc");
        assert_eq!(std::fs::read_to_string(rotated(&path)).unwrap(), "bbbb");
        assert!(log.failure().is_none());
    }

    #[test]
    fn a_failure_is_told_once_asked() {
        let mut log = LogFile::new(PathBuf::from("/nonexistent/worker-0/stdout"), 4);
        log.append(b"a");
        log.append(b"b");
        assert!(
            log.failure()
                .unwrap()
                .contains("/nonexistent/worker-0/stdout")
        );
    }
}
