//! The state directory.
//!
//! | path | what it is |
//! | --- | --- |
//! | `pinnace.db` | the database, with its `-wal` and `-shm` beside it |
//! | `vault.key` | the key of the vault |
//! | `jobs/ID/lock` | held by the process that drives the job |
//! | `jobs/ID/outputs/` | outputs of the job that go nowhere else |
//! | `modules/` | the registered modules, see [`crate::module`] |
//! | `jobs/ID/logs/azureml/executionlogs.txt` | see [`crate::execution_log`] |
//! | `cache/` | what jobs share: fetched data, Python environments |
//! | `jobs/ID/launches/N/` | what the engine makes of a launch: logs, work folders, events |

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::job::JobId;
use crate::store::StoreError;

/// Names another state directory.
pub const STATE_VARIABLE: &str = "PINNACE_STATE";

/// Where all that must survive is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateFolder {
    path: PathBuf,
}

impl StateFolder {
    /// `$PINNACE_STATE`, else `$XDG_STATE_HOME/pinnace`, else `~/.local/state/pinnace`.
    pub fn path_from_environment() -> Result<PathBuf, StoreError> {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        if let Some(path) = set(STATE_VARIABLE) {
            return Ok(PathBuf::from(path));
        }
        if let Some(path) = set("XDG_STATE_HOME").map(PathBuf::from)
            && path.is_absolute()
        {
            return Ok(path.join("pinnace"));
        }
        match set("HOME") {
            Some(home) => Ok(Path::new(&home).join(".local/state/pinnace")),
            None => Err(StoreError::NoFolder),
        }
    }

    /// Opens the folder, and makes it if it is not there. Only its owner may look inside.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let failed = |error| StoreError::folder(path, &error);
        private_folder(path).map_err(failed)?;
        let path = path.canonicalize().map_err(failed)?;
        let mode = fs::metadata(&path).map_err(failed)?.permissions().mode();
        if mode & 0o077 != 0 {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).map_err(failed)?;
        }
        let folder = Self { path };
        private_folder(&folder.jobs()).map_err(failed)?;
        Ok(folder)
    }

    /// Its absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path.join("pinnace.db")
    }

    pub(crate) fn migration_lock(&self) -> PathBuf {
        self.path.join("pinnace.lock")
    }

    pub(crate) fn key(&self) -> PathBuf {
        self.path.join("vault.key")
    }

    pub(crate) fn jobs(&self) -> PathBuf {
        self.path.join("jobs")
    }

    /// The folder of a job.
    pub fn job(&self, id: &JobId) -> PathBuf {
        self.jobs().join(id.as_str())
    }

    /// Where the outputs of a job are kept that go nowhere else.
    pub fn outputs(&self, id: &JobId) -> PathBuf {
        self.job(id).join("outputs")
    }

    /// What jobs share: fetched data, Python environments.
    pub fn cache(&self) -> PathBuf {
        self.path.join("cache")
    }

    /// The folder of one launch of a job.
    pub fn launch(&self, id: &JobId, launch: u32) -> PathBuf {
        self.job(id).join("launches").join(launch.to_string())
    }
}

/// Makes a folder that only its owner may look into, with all above it.
pub(crate) fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}
