//! Whether a task has left anything in its sandbox.
//!
//! To make a sandbox costs more than a trivial task. One in which nothing was changed is as good as new, and another task of
//! the same role may have it. That nothing was changed is proven: all that a task can write to is either in a file system in
//! memory that came with the sandbox, whose count of files and blocks tells of anything new in it, or in the work
//! folder; and the kernel tells of every change of the mounts.

use std::fs::File;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;

use nix::dir::Dir;
use nix::fcntl::{OFlag, open};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::stat::{Mode, fstat};
use nix::sys::statvfs::fstatvfs;

/// Where a task can leave something, as paths below a root that is not yet that of this process.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// File systems in memory that nobody else uses.
    pub(super) file_systems: Vec<PathBuf>,
    /// Folders that the task has found and could change themselves.
    pub(super) folders: Vec<PathBuf>,
    /// The work folder, which is one of them, and empty.
    pub(super) work: PathBuf,
}

/// Tells whether a task has left anything.
#[derive(Debug)]
pub(crate) struct Traces {
    file_systems: Vec<OwnedFd>,
    folders: Vec<OwnedFd>,
    work: Dir,
    mounts: Option<File>,
    before: State,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct State {
    /// Files and blocks in use.
    used: Vec<(u64, u64)>,
    attributes: Vec<Attributes>,
}

#[derive(Debug, PartialEq, Eq)]
struct Attributes {
    owner: (u32, u32),
    mode: u32,
    links: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Traces {
    pub(super) fn watch(places: &Places) -> nix::Result<Self> {
        let all = |paths: &[PathBuf]| -> nix::Result<Vec<OwnedFd>> {
            let flags = OFlag::O_PATH | OFlag::O_CLOEXEC | OFlag::O_DIRECTORY;
            let opened = paths.iter().map(|path| open(path, flags, Mode::empty()));
            opened.collect()
        };
        Ok(Self {
            file_systems: all(&places.file_systems)?,
            folders: all(&places.folders)?,
            work: Dir::open(
                &places.work,
                OFlag::O_RDONLY | OFlag::O_CLOEXEC | OFlag::O_DIRECTORY,
                Mode::empty(),
            )?,
            mounts: None,
            before: State::default(),
        })
    }

    /// What is there now is as it should be. False if it cannot be seen, and nothing will ever be proven.
    pub(crate) fn begin(&mut self) -> bool {
        if self.mounts.is_none() {
            self.mounts = File::open("/proc/self/mountinfo").ok();
        }
        let Some(state) = self.state() else {
            return false;
        };
        self.before = state;
        self.mounts.as_ref().is_some_and(|mounts| {
            // The kernel tells once of what has happened before.
            let _ = have_changed(mounts);
            !have_changed(mounts)
        })
    }

    /// After [`Traces::are_none`]: what this process has done meanwhile to the folders that it knows is as it should be.
    pub(crate) fn go_on(&mut self) -> bool {
        let attributes = self.attributes();
        let is_seen = attributes.is_some();
        self.before.attributes = attributes.unwrap_or_default();
        is_seen
    }

    /// Whether nothing has been changed since the beginning, and the work folder is empty.
    pub(crate) fn are_none(&mut self) -> bool {
        self.mounts
            .as_ref()
            .is_some_and(|mounts| !have_changed(mounts))
            && self.state().is_some_and(|state| state == self.before)
            && self.work.iter().all(|entry| {
                entry.is_ok_and(|entry| matches!(entry.file_name().to_bytes(), b"." | b".."))
            })
    }

    fn state(&self) -> Option<State> {
        let used = self.file_systems.iter().map(|place| {
            let found = fstatvfs(place).ok()?;
            // One without a bound does not count its files.
            (found.files() > 0).then(|| {
                (
                    found.files() - found.files_free(),
                    found.blocks() - found.blocks_free(),
                )
            })
        });
        Some(State {
            used: used.collect::<Option<_>>()?,
            attributes: self.attributes()?,
        })
    }

    fn attributes(&self) -> Option<Vec<Attributes>> {
        let attributes = self.folders.iter().map(|place| {
            let found = fstat(place).ok()?;
            Some(Attributes {
                owner: (found.st_uid, found.st_gid),
                mode: found.st_mode,
                links: found.st_nlink as u64,
                modified: (found.st_mtime, found.st_mtime_nsec),
                changed: (found.st_ctime, found.st_ctime_nsec),
            })
        });
        attributes.collect()
    }
}

/// Whether the kernel tells of a change of the mounts since it was last asked.
fn have_changed(mounts: &File) -> bool {
    let mut asked = [PollFd::new(mounts.as_fd(), PollFlags::POLLPRI)];
    poll(&mut asked, PollTimeout::ZERO) != Ok(0)
}
