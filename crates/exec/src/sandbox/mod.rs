//! Keeps a task apart from the machine, as far as the kernel allows.

pub(crate) mod cgroup;
mod machine;
mod mounting;
mod path;
mod traces;
mod view;

use std::path::{Path, PathBuf};

use nix::sched::CloneFlags;

use crate::contract::Level;
pub(crate) use machine::Machine;
pub(crate) use mounting::remove_mark;
pub(crate) use traces::Traces;
pub(crate) use view::{Access, Bind, View, WrittenFile};

/// The folders of a task.
#[derive(Clone, Debug)]
pub(crate) struct TaskFolder {
    path: PathBuf,
    changes: PathBuf,
}

impl TaskFolder {
    /// What stays of the task lies in `path`, what only the running task needs in `changes`.
    pub(crate) fn new(path: PathBuf, changes: PathBuf) -> Self {
        Self { path, changes }
    }

    /// The logs. The task does not see them.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where the task starts, and its home.
    pub(crate) fn work(&self) -> PathBuf {
        work_in(&self.path)
    }

    /// What it changed of the machine's files, and its `/tmp`.
    pub(crate) fn changes(&self) -> &Path {
        &self.changes
    }
}

/// Where a task starts, from where its logs lie.
pub(crate) fn work_in(path: &Path) -> PathBuf {
    path.join("work")
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
