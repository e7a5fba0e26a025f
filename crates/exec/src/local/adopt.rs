//! After a restart: is an attempt alive, or is it proven dead?

use std::fs;
use std::io;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::time::{Duration, Instant};

use super::supervisor::remove_folder;
use super::{Cursor, Identity, Layout, observe};
use crate::contract::{Attempt, Collected, ExitReport, Happening, TaskId};
use crate::data::{Teller, collect};
use crate::sandbox::cgroup::AttemptGroup;
use crate::sys;

/// How long the tasks of a dead supervisor may take to die.
const DYING: Duration = Duration::from_secs(10);

/// What became of an attempt.
#[derive(Debug)]
pub enum Adoption {
    /// It was never begun; it may be launched.
    NotStarted,
    /// Its supervisor is at work. Follow its events.
    Alive(Identity),
    /// It is over: nothing of it runs, and nothing ever will.
    Over {
        /// The reports of those tasks that ended in order.
        reports: Vec<ExitReport>,
        /// Tasks without a report. They may have run in part, and nothing of them runs now.
        lost: Vec<TaskId>,
    },
}

/// Finds out what became of an attempt. Death is proven, not assumed: the lock that the supervisor and the
/// first process of every task hold is free. What a dead supervisor left behind is cleaned up, and outputs that it did not
/// come to collect are collected.
pub fn adopt(folder: &Path) -> io::Result<Adoption> {
    let layout = Layout::new(folder);
    if is_locked(&layout)? {
        if let Some(identity) = Identity::read(&layout.supervisor())
            && identity.is_alive()
        {
            return Ok(Adoption::Alive(identity));
        }
        wait_for_death(&layout)?;
        // Between the two looks it may have been written.
        if is_locked(&layout)?
            && let Some(identity) = Identity::read(&layout.supervisor())
        {
            return Ok(Adoption::Alive(identity));
        }
    }
    if !layout.events().exists() {
        return Ok(Adoption::NotStarted);
    }
    clean(folder);
    let (events, _) = observe(folder, Cursor::default())?;
    let reports: Vec<ExitReport> = events
        .into_iter()
        .filter_map(|event| match event.what {
            Happening::Exited { report } => Some(*report),
            _ => None,
        })
        .collect();
    let attempt: Attempt = serde_json::from_slice(&fs::read(layout.attempt())?)?;
    for role in collect::outstanding(&attempt, &layout) {
        collect::collect(&attempt, &layout, &role, false, &Teller::silent());
    }
    let lost = attempt
        .tasks
        .into_iter()
        .map(|task| task.id)
        .filter(|id| !reports.iter().any(|report| report.task == *id))
        .collect();
    Ok(Adoption::Over { reports, lost })
}

/// What became of the outputs of an attempt, as far as they are collected.
pub fn collected(folder: &Path) -> Vec<Collected> {
    collect::read(&Layout::new(folder))
}

/// Removes what an attempt that is over may have left: control groups, copy-on-write layers, sockets, keys. The
/// logs and work folders stay.
pub fn clean(folder: &Path) {
    let layout = Layout::new(folder);
    remove_groups(&layout);
    let _ = fs::remove_file(layout.socket());
    for entry in fs::read_dir(layout.tasks()).into_iter().flatten().flatten() {
        let _ = remove_folder(&entry.path().join("changes"));
    }
    let _ = remove_folder(&layout.temporary());
    let _ = remove_folder(&layout.ssh_keys());
    let _ = fs::remove_dir(layout.memory());
}

/// Removes the control groups that a supervisor has written down, with what is in them.
pub(super) fn remove_groups(layout: &Layout) {
    if let Some(identity) = Identity::read(&layout.supervisor()) {
        AttemptGroup::remove(&identity.groups);
    }
}

fn is_locked(layout: &Layout) -> io::Result<bool> {
    match fs::OpenOptions::new().write(true).open(layout.lock()) {
        Ok(file) => sys::is_byte_locked(file.as_fd(), 0),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The supervisor is dead, or has not yet told who it is. Its tasks notice its death by themselves; what
/// does not is ended through its control group.
fn wait_for_death(layout: &Layout) -> io::Result<()> {
    let begin = Instant::now();
    let mut helped = false;
    while is_locked(layout)? {
        if Identity::read(&layout.supervisor()).is_some_and(|identity| identity.is_alive()) {
            return Ok(());
        }
        let waited = begin.elapsed();
        if waited > DYING / 2 && !helped {
            remove_groups(layout);
            helped = true;
        }
        if waited > DYING {
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!(
                    "processes of the dead supervisor of {} still hold its lock",
                    layout.folder().display()
                ),
            ));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}
