//! Who drives a job: one process at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;

use crate::folder::{StateFolder, private_folder};
use crate::job::JobId;

/// The right to drive a job. The kernel takes it back when this process ends, however it ends.
#[derive(Debug)]
pub struct Ownership {
    _lock: File,
}

impl Ownership {
    /// Takes the right, if nobody has it.
    pub fn take(folder: &StateFolder, job: &JobId) -> io::Result<Option<Self>> {
        let own = folder.job(job);
        private_folder(&own)?;
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(own.join("lock"))?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(Self { _lock: lock })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}
