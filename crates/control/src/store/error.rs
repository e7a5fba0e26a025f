//! Why the store cannot do what it is asked.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use nix::sys::statvfs::statvfs;
use rusqlite::ErrorCode;

/// Why the store cannot do what it is asked. Nothing was changed.
#[derive(Debug)]
pub enum StoreError {
    /// Neither `PINNACE_STATE` nor `XDG_STATE_HOME` nor `HOME` is set.
    NoFolder,
    /// The state directory, or a file in it, cannot be used.
    Folder {
        /// Which.
        path: PathBuf,
        /// Why, in words.
        why: String,
    },
    /// The database was written by a later Pinnace.
    Newer {
        /// Where it is.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The latest version that is known.
        known: i64,
    },
    /// The database, or something in it, is damaged.
    Damaged {
        /// Where it is.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// No space is left on the disk.
    DiskFull {
        /// Where the database is.
        path: PathBuf,
    },
    /// The database cannot be written.
    ReadOnly {
        /// Where it is.
        path: PathBuf,
    },
    /// Another process holds the database for too long.
    Busy {
        /// Where it is.
        path: PathBuf,
    },
    /// Anything else that the database says.
    Database {
        /// Where it is.
        path: PathBuf,
        /// In its words.
        why: String,
    },
    /// The secrets of a job cannot be decrypted: the vault's key is not the one that they were encrypted with.
    WrongKey {
        /// The key.
        path: PathBuf,
    },
    /// The system gives no random numbers.
    NoRandomness,
}

impl StoreError {
    pub(crate) fn folder(path: &Path, error: &io::Error) -> Self {
        let why = match error.kind() {
            io::ErrorKind::PermissionDenied => "no permission to write there".to_owned(),
            io::ErrorKind::ReadOnlyFilesystem => "its file system is read-only".to_owned(),
            io::ErrorKind::StorageFull => {
                return Self::DiskFull {
                    path: path.to_owned(),
                };
            }
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
                "something that is no folder is in the way".to_owned()
            }
            _ => error.to_string(),
        };
        Self::Folder {
            path: path.to_owned(),
            why,
        }
    }

    pub(crate) fn database(path: &Path, error: &rusqlite::Error) -> Self {
        let path = path.to_owned();
        let why = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::DiskFull { path },
            // Files that are mapped into memory fail in this way when the disk is full.
            Some(ErrorCode::SystemIoFailure) if is_full(&path) => Self::DiskFull { path },
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { path },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged { path, what: why }
            }
            _ => Self::Database { path, why },
        }
    }

    /// What can be done about it, if something can.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::NoFolder => Some("set `PINNACE_STATE` to a folder of your own"),
            Self::Folder { .. } | Self::ReadOnly { .. } => {
                Some("`PINNACE_STATE` names another state directory")
            }
            Self::Newer { .. } => Some("use the later Pinnace, or another `PINNACE_STATE`"),
            Self::Damaged { .. } => Some(
                "move the state directory away to begin with an empty one; the logs in it are plain files",
            ),
            Self::DiskFull { .. } => {
                Some("make room, for instance with `pinnace prune`; what runs goes on meanwhile")
            }
            Self::Busy { .. } | Self::Database { .. } => None,
            Self::WrongKey { .. } => Some("bring the key back, or submit the job again"),
            Self::NoRandomness => None,
        }
    }
}

/// Whether there is no room to speak of where a file lies.
fn is_full(path: &Path) -> bool {
    const LEAST: u64 = 256 << 10;
    statvfs(path).is_ok_and(|disk| {
        let free = disk.blocks_available().saturating_mul(disk.fragment_size());
        free < LEAST
    })
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFolder => f.write_str("there is no place for the state directory"),
            Self::Folder { path, why } => {
                write!(
                    f,
                    "cannot use the state directory: `{}`: {why}",
                    path.display()
                )
            }
            Self::Newer { path, found, known } => write!(
                f,
                "the database `{}` was written by a later Pinnace (version {found}; this one knows {known})",
                path.display()
            ),
            Self::Damaged { path, what } => {
                write!(f, "the database `{}` is damaged: {what}", path.display())
            }
            Self::DiskFull { path } => {
                write!(f, "no space is left on the disk of `{}`", path.display())
            }
            Self::ReadOnly { path } => write!(f, "cannot write to `{}`", path.display()),
            Self::Busy { path } => write!(
                f,
                "another process has held the database `{}` for too long",
                path.display()
            ),
            Self::Database { path, why } => write!(f, "the database `{}`: {why}", path.display()),
            Self::WrongKey { path } => write!(
                f,
                "the secrets of the job cannot be read with the key `{}`",
                path.display()
            ),
            Self::NoRandomness => f.write_str("the system gives no random numbers"),
        }
    }
}

impl std::error::Error for StoreError {}
