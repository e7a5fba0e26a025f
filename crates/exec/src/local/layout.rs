//! Where things lie in the folder of an attempt.

use std::path::{Path, PathBuf};

use crate::contract::{Level, TaskId};
use crate::sandbox::TaskFolder;

/// The folder of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    folder: PathBuf,
}

impl Layout {
    /// Of this folder; the path must be absolute.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// The folder itself.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What to run.
    pub fn attempt(&self) -> PathBuf {
        self.folder.join("attempt.json")
    }

    /// What happened.
    pub fn events(&self) -> PathBuf {
        self.folder.join("events.jsonl")
    }

    /// The supervisor's identity.
    pub fn supervisor(&self) -> PathBuf {
        self.folder.join("supervisor.json")
    }

    /// What the supervisor itself had to complain about.
    pub fn complaints(&self) -> PathBuf {
        self.folder.join("supervisor.err")
    }

    /// The proof of life.
    pub fn lock(&self) -> PathBuf {
        self.folder.join("lock")
    }

    /// Where requests go.
    pub fn socket(&self) -> PathBuf {
        self.folder.join("control.sock")
    }

    /// What all tasks see.
    pub fn shared(&self) -> PathBuf {
        self.folder.join("shared")
    }

    /// Code, inputs and outputs.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// What became of the outputs.
    pub(crate) fn collected(&self) -> PathBuf {
        self.folder.join("outputs.json")
    }

    /// The folders of all tasks.
    pub fn tasks(&self) -> PathBuf {
        self.folder.join("tasks")
    }

    /// The folder with the logs of a task.
    pub fn logs(&self, task: &TaskId) -> PathBuf {
        self.tasks().join(task_name(task))
    }

    /// The folder in which a task starts.
    pub fn work(&self, task: &TaskId) -> PathBuf {
        self.logs(task).join("work")
    }

    /// Where changes are kept that lie in memory.
    pub(crate) fn memory(&self) -> PathBuf {
        self.folder.join("memory")
    }

    /// For temporary files of tasks without a sandbox.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.folder.join("tmp")
    }

    /// The folder for temporary files, as a task sees it.
    pub(crate) fn temporary_of(&self, task: &TaskId, level: Level) -> PathBuf {
        match level {
            Level::Plain => self.temporary().join(task_name(task)),
            Level::ReadOnly | Level::Overlay => PathBuf::from("/tmp"),
        }
    }

    /// The keys with which tasks log in to each other.
    pub(crate) fn ssh_keys(&self) -> PathBuf {
        self.shared().join("ssh")
    }

    pub(crate) fn task(&self, task: &TaskId, in_memory: bool) -> TaskFolder {
        let path = self.logs(task);
        let changes = if in_memory {
            self.memory().join(task_name(task))
        } else {
            path.join("changes")
        };
        TaskFolder::new(path, changes)
    }

    /// The name of the attempt's control groups.
    pub(crate) fn group_name(&self) -> String {
        // FNV-1a: short, stable, and a clash would need two attempts at once with one hash.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in self.folder.as_os_str().as_encoded_bytes() {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
        format!("pinnace-{hash:016x}")
    }
}

/// A file name for a task. Role names are letters, digits and `_`, but nothing here relies on it.
pub(crate) fn task_name(task: &TaskId) -> String {
    let role: String = task
        .role
        .chars()
        .map(|char| {
            if char == '/' || char.is_control() {
                '_'
            } else {
                char
            }
        })
        .collect();
    format!("{role}-{}", task.index)
}
