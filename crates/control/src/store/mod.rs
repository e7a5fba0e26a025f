//! The database: jobs, their journals, launches and places, requests of other processes, sealed secrets.
//!
//! All SQL is here. Writers use [`Store::change`], one immediate transaction; what it makes durable is on the
//! disk when it returns. [`Store::note`] is for what may be forgotten when the machine itself stops. Any number of
//! processes may have the store open.

mod change;
mod dataset;
mod error;
mod migrate;
mod query;
mod vault;

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use serde::{Deserialize, Serialize};

use crate::folder::StateFolder;
pub use change::Change;
pub use dataset::Dataset;
pub use error::StoreError;
pub use query::Found;
use vault::Vault;

/// How long to wait for other processes that write.
const PATIENCE: Duration = Duration::from_mins(1);

/// With so many pages the log of the database is written back. Every process that opens the database reads what is in
/// its log, so it is kept short.
const LOG_PAGES: u32 = 256;

/// What another process asks of the process that drives a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "command",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Command {
    /// To stop the job.
    Stop {
        /// Without grace.
        force: bool,
    },
}

/// The open database.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    folder: StateFolder,
    commits: u64,
    /// Whether a transaction waits for the disk.
    is_durable: bool,
}

impl Store {
    /// Opens the store of the environment's state directory, and makes it if there is none.
    pub fn from_environment() -> Result<Self, StoreError> {
        Self::open(&StateFolder::path_from_environment()?)
    }

    /// Opens the store in a state directory, and makes it if there is none.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let folder = StateFolder::open(path)?;
        let path = folder.database();
        let failed = |error: &rusqlite::Error| StoreError::database(&path, error);
        make_private(&path).map_err(|error| StoreError::folder(&path, &error))?;
        let mut connection = connect(&path).map_err(|error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::CannotOpen) => StoreError::ReadOnly { path: path.clone() },
            _ => failed(&error),
        })?;
        let found = migrate::version(&connection).map_err(|error| failed(&error))?;
        if found > migrate::LATEST {
            return Err(StoreError::Newer {
                path,
                found,
                known: migrate::LATEST,
            });
        }
        if found < migrate::LATEST {
            set_up(&mut connection, &folder)?;
        }
        Ok(Self {
            connection,
            folder,
            commits: 0,
            is_durable: true,
        })
    }

    /// Where it lies.
    pub fn folder(&self) -> &StateFolder {
        &self.folder
    }

    /// Changes the store in one transaction: all of it is durable when this returns, or none of it is there.
    pub fn change<T>(
        &mut self,
        change: impl FnOnce(&Change<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.set_durable(true)?;
        self.transact(change)
    }

    /// Changes the store in one transaction without waiting for the disk. Other processes see it, and it survives the
    /// death of this one; if the machine itself stops, none of it may be there.
    pub(crate) fn note<T>(
        &mut self,
        change: impl FnOnce(&Change<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.set_durable(false)?;
        self.transact(change)
    }

    fn set_durable(&mut self, durable: bool) -> Result<(), StoreError> {
        if self.is_durable != durable {
            let level = if durable { "FULL" } else { "NORMAL" };
            self.connection
                .pragma_update(None, "synchronous", level)
                .map_err(|error| self.failed(&error))?;
            self.is_durable = durable;
        }
        Ok(())
    }

    fn transact<T>(
        &mut self,
        change: impl FnOnce(&Change<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let path = self.folder.database();
        let failed = |error: rusqlite::Error| StoreError::database(&path, &error);
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(failed)?;
        let result = change(&Change {
            transaction: &transaction,
            folder: &self.folder,
        })?;
        transaction.commit().map_err(failed)?;
        self.commits += 1;
        Ok(result)
    }

    /// No secret is kept any more for some job: if that was the last, what lay encrypted can be opened by nobody.
    pub(crate) fn wipe(&mut self) -> Result<(), StoreError> {
        self.note(|change| match change.has_secrets()? {
            true => Ok(()),
            false => Vault::forget(&change.folder.key()),
        })
    }

    /// Leaves nothing of the latest changes outside of the database's own file.
    pub fn tidy(&self) -> Result<(), StoreError> {
        write_back(&self.connection).map_err(|error| self.failed(&error))
    }

    /// How many changes this process has made. Nearly each waits for the disk.
    pub fn commits(&self) -> u64 {
        self.commits
    }

    /// A number that changes when another process has changed the store.
    pub fn version(&self) -> Result<i64, StoreError> {
        self.connection
            .query_row("PRAGMA data_version", [], |row| row.get(0))
            .map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &rusqlite::Error) -> StoreError {
        StoreError::database(&self.folder.database(), error)
    }
}

/// The database's own files get the permissions of this one.
fn make_private(path: &Path) -> std::io::Result<()> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)
        .map(drop)
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true)?;
    // The log stays for the next process: to write it back, remove it and make it anew costs more than a short job.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "secure_delete", true)?;
    Ok(connection)
}

/// Writes the log back into the database, and makes it empty, as far as others who use it allow that.
fn write_back(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
}

/// Makes or migrates the database, one process at a time.
fn set_up(connection: &mut Connection, folder: &StateFolder) -> Result<(), StoreError> {
    let path = folder.migration_lock();
    let lock = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .and_then(|lock| lock.lock().map(|()| lock))
        .map_err(|error| StoreError::folder(&path, &error))?;
    let result = connection
        .pragma_update(None, "journal_mode", "WAL")
        .and_then(|()| migrate::migrate(connection))
        .and_then(|()| write_back(connection))
        .map_err(|error| StoreError::database(&folder.database(), &error));
    drop(lock);
    result
}
