//! Keeps a task apart from the machine, as far as the kernel allows.

pub(crate) mod cgroup;
mod view;

use std::path::{Path, PathBuf};

use nix::sched::CloneFlags;

use crate::contract::Level;
pub(crate) use view::{Bind, Machine, View};

/// The folders of a task.
#[derive(Clone, Debug)]
pub(crate) struct TaskFolder {
    path: PathBuf,
}

impl TaskFolder {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The logs; the task does not see them.
    pub(crate) fn logs(&self) -> PathBuf {
        self.path.join("logs")
    }

    /// Where the task starts, and its home.
    pub(crate) fn work(&self) -> PathBuf {
        self.path.join("work")
    }

    /// Its `/tmp`.
    pub(crate) fn tmp(&self) -> PathBuf {
        self.path.join("tmp")
    }

    /// What it changed of the machine's files.
    pub(crate) fn changes(&self) -> PathBuf {
        self.path.join("changes")
    }

    /// Where its root is mounted, in its own namespace alone.
    pub(crate) fn root(&self) -> PathBuf {
        self.path.join("root")
    }
}

/// The namespaces of a level.
pub(crate) fn namespaces(level: Level, as_root: bool) -> CloneFlags {
    let mut flags = CloneFlags::empty();
    if level > Level::Plain {
        flags |= CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID;
        if !as_root {
            flags |= CloneFlags::CLONE_NEWUSER;
        }
    }
    flags
}
