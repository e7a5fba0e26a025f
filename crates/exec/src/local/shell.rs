//! Entering the environment of a task.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use nix::libc;
use nix::sched::{CloneFlags, setns};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{chdir, chroot};

use super::Layout;
use crate::contract::{Attempt, Level, Peer, TaskId};
use crate::environment::{Folders, Shared};
use crate::runner;
use crate::sys::{self, Side};
use crate::variables::Variables;

/// A task whose environment can be entered: one that runs, or one that is kept after a failure.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The attempt's folder.
    pub folder: PathBuf,
    /// Which task.
    pub task: TaskId,
    /// Its first process, from the events `Started` or `Kept`.
    pub pid: i32,
    /// Its level, from the event `Started`.
    pub level: Level,
}

/// Opens a shell in a task's environment, on the standard streams of this process, and waits for its end.
/// Gives the shell's exit code. With a command, runs that instead of an interactive shell.
///
/// This process must have a single thread, because the kernel lets no other enter namespaces. It stays in them
/// and should end afterwards. The secrets of the job are not in the shell's environment.
pub fn enter(entry: &Entry, command: Option<&str>) -> io::Result<i32> {
    let layout = Layout::new(&entry.folder);
    let attempt: Attempt = serde_json::from_slice(&std::fs::read(layout.attempt())?)?;
    let peers: Vec<Peer> =
        serde_json::from_slice(&std::fs::read(layout.shared().join("peers.json"))?)?;
    let spec = attempt
        .tasks
        .iter()
        .find(|task| task.id == entry.task)
        .ok_or_else(|| io::Error::other(format!("this attempt has no task `{}`", entry.task)))?;
    let ports = peers
        .iter()
        .find(|peer| peer.role == entry.task.role && peer.index == entry.task.index)
        .map(|peer| peer.ports.clone())
        .unwrap_or_default();
    let work = layout.work(&entry.task);
    let temporary = layout.temporary_of(&entry.task, entry.level);
    let environment = Shared::new(&attempt, peers);
    let own = environment.of_task(
        &attempt,
        spec,
        &ports,
        Folders {
            work: &work,
            task: &temporary.join(".pinnace"),
            shared: &layout.shared(),
            temporary: &temporary,
            code: Path::new("/usr/local/pai/code"),
        },
    );
    let (_, shell) = runner::shell(attempt.settings.shell);
    let shell = CString::new(shell)?;
    let command = command.map(CString::new).transpose()?;
    let terminal = std::env::var("TERM")
        .ok()
        .and_then(|term| CString::new(format!("TERM={term}")).ok());
    if entry.level > Level::Plain {
        join(entry.pid)?;
    }
    match sys::fork_into(CloneFlags::empty())? {
        Side::Child => {
            if chdir(&work).is_err() {
                let _ = chdir("/");
            }
            let option = c"-c";
            let mut arguments: Vec<&CStr> = vec![&shell];
            if let Some(command) = &command {
                arguments.extend([option, command.as_c_str()]);
            }
            let mut variables: Vec<*const libc::c_char> = environment
                .of_role(&entry.task.role)
                .into_iter()
                .chain([&own])
                .flat_map(Variables::entries)
                .chain(terminal.as_deref())
                .map(CStr::as_ptr)
                .collect();
            variables.push(std::ptr::null());
            sys::ignore_no_signal();
            sys::execute(&shell, &arguments, &variables);
            sys::leave(127)
        }
        Side::Parent(pid) => loop {
            match waitpid(pid, None) {
                Ok(WaitStatus::Exited(_, code)) => return Ok(code),
                Ok(WaitStatus::Signaled(_, signal, _)) => return Ok(128 + signal as i32),
                Ok(_) | Err(nix::Error::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        },
    }
}

/// Enters the namespaces and the root of a process.
fn join(pid: i32) -> io::Result<()> {
    let open = |name: &str| File::open(format!("/proc/{pid}/ns/{name}"));
    let (mounts, pids) = (open("mnt")?, open("pid")?);
    let root = File::open(format!("/proc/{pid}/root"))?;
    let same_user = std::fs::read_link(format!("/proc/{pid}/ns/user"))?
        == std::fs::read_link("/proc/self/ns/user")?;
    if !same_user {
        setns(open("user")?.as_fd(), CloneFlags::CLONE_NEWUSER)?;
    }
    setns(pids.as_fd(), CloneFlags::CLONE_NEWPID)?;
    setns(mounts.as_fd(), CloneFlags::CLONE_NEWNS)?;
    nix::unistd::fchdir(root.as_fd())?;
    chroot(".")?;
    Ok(())
}
