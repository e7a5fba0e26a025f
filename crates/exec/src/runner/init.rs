//! The first process of a task: makes the sandbox, starts the shells, reaps, and ends what is left.
//!
//! It is a fork of the supervisor, process 1 of the task's pid namespace if there is one, and else a
//! subreaper, so that whatever the task starts stays below it. It does what the supervisor tells it
//! through a channel, and when the channel breaks because the supervisor is dead, it ends the task.
//! It keeps the attempt's lock open: while it lives, nobody can believe the attempt to be dead.
//!
//! When its task has ended and nothing in the sandbox is changed, it may wait for another task of the same role.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, SealFlag, fcntl, open};
use nix::libc;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, sigprocmask};
use nix::sys::socket::{MsgFlags, send};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, chdir, fchdir, setpgid, setsid};

use super::channel::{Message, NextTask};
use super::life::Life;
use super::script::{self, Making};
use crate::contract::Level;
use crate::sandbox::cgroup::join;
use crate::sandbox::{View, work_in};
use crate::variables::Variables;
use crate::{signals, sys};

/// A table of so many descriptors comes with every process; a larger one is made for those who need it.
const SMALLEST_TABLE: RawFd = 64;

/// The ends of pipes that lead to the supervisor.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
    /// Only if the task has hooks.
    pub(crate) hooks: Option<HookStreams>,
}

/// What hooks need besides.
#[derive(Debug)]
pub(crate) struct HookStreams {
    pub(crate) runtime: OwnedFd,
    pub(crate) phases: OwnedFd,
}

/// What the first process works with.
#[derive(Debug)]
pub(crate) struct Init<'a> {
    pub(crate) view: View<'a>,
    pub(crate) making: Making<'a>,
    pub(crate) shell_path: CString,
    /// What all tasks of the role have.
    pub(crate) environment: Option<&'a Variables>,
    /// The task's folder, where its shells start, and what else is its own.
    pub(crate) task: NextTask,
    /// Of the attempt's control group, which the first process joins.
    pub(crate) home: Option<File>,
    /// Of the task's own control groups. If tasks may follow each other here, the first process joins them as well: to move
    /// each shell into them would make the kernel wait for all processors.
    pub(crate) doors: Vec<File>,
    /// Bytes of data segment per process, where no group bounds memory.
    pub(crate) data_limit: Option<u64>,
    /// The soft limit of open files that the task gets.
    pub(crate) open_files: u64,
    pub(crate) channel: OwnedFd,
    pub(crate) streams: Streams,
    pub(crate) lock: RawFd,
    /// Whether the supervisor will say what follows when the first shell has ended.
    pub(crate) waits_for_orders: bool,
    /// The work folder, as seen from the sandbox once that stands, if tasks may follow each other here.
    pub(crate) work: Option<OwnedFd>,
}

impl Init<'_> {
    /// Lives the life of the first process.
    pub(crate) fn live(mut self) -> ! {
        let code = match self.try_live() {
            Ok(()) => 0,
            Err(error) => {
                self.tell(&Message::Failed(error));
                1
            }
        };
        sys::leave(code)
    }

    pub(super) fn tell(&self, message: &Message) {
        let _ = send(
            self.channel.as_raw_fd(),
            &message.bytes(),
            MsgFlags::MSG_NOSIGNAL,
        );
    }

    fn try_live(&mut self) -> Result<(), String> {
        self.close_the_rest();
        let text = |error: Errno| error.to_string();
        // All shells have this from here.
        sys::ignore_no_signal();
        self.limit_open_files().map_err(text)?;
        // A session for each shell would be a group of its own for the kernel's scheduler, to be made and thrown away.
        let _ = setsid();
        let signals = signals::watch().map_err(text)?;
        // If the supervisor dies, the channel breaks as well; this one also reaches us while we mount.
        nix::sys::prctl::set_pdeathsig(Signal::SIGTERM).map_err(text)?;
        if self.view.level == Level::Plain {
            nix::sys::prctl::set_child_subreaper(true).map_err(text)?;
        }
        let traces = self.view.enter()?;
        let mut doors: Vec<File> = self.home.take().into_iter().collect();
        if traces.is_some() {
            doors.append(&mut self.doors);
        }
        join(&doors).map_err(|error| format!("cannot join the control group: {error}"))?;
        if traces.is_some() {
            let flags = OFlag::O_PATH | OFlag::O_CLOEXEC;
            self.work = open(&work_in(&self.task.folder), flags, Mode::empty()).ok();
        }
        let exports = match &self.streams.hooks {
            Some(_) => Some(File::from(memory_file("exports")?)),
            None => None,
        };
        self.tell(&Message::Ready);
        let script = kept_script(&script::first(self.making))?;
        let first = self.start(&script, exports.as_ref(), false)?;
        Life::begin(self, first, script, exports, traces).go_on(&signals)
    }

    fn close_the_rest(&mut self) {
        let mut keep = vec![
            self.channel.as_raw_fd(),
            self.streams.stdout.as_raw_fd(),
            self.streams.stderr.as_raw_fd(),
            self.lock,
        ];
        if let Some(hooks) = &self.streams.hooks {
            keep.extend([hooks.runtime.as_raw_fd(), hooks.phases.as_raw_fd()]);
        }
        let doors = self.home.iter().chain(&self.doors);
        keep.extend(doors.map(std::os::fd::AsRawFd::as_raw_fd));
        sys::close_all_but(&keep);
        // Among the thousands of the supervisor their numbers may be high, and every process that is started here would get a
        // table of that size.
        let mut all = vec![
            &mut self.channel,
            &mut self.streams.stdout,
            &mut self.streams.stderr,
        ];
        if let Some(hooks) = &mut self.streams.hooks {
            all.extend([&mut hooks.runtime, &mut hooks.phases]);
        }
        for descriptor in all {
            if descriptor.as_raw_fd() >= SMALLEST_TABLE
                && let Ok(lower) = descriptor.try_clone()
            {
                *descriptor = lower;
            }
        }
    }

    /// Starts a shell with a script.
    pub(super) fn start(
        &self,
        script: &File,
        exports: Option<&File>,
        is_last: bool,
    ) -> Result<Pid, String> {
        let spawned = sys::spawn_sharing(&|| {
            let error = self.become_shell(script, exports, is_last);
            // Our standard error is already that of the task.
            let text = format!("pinnace: {error}\n");
            let _ = nix::unistd::write(std::io::stderr().as_fd(), text.as_bytes());
        });
        spawned.map_err(|error| format!("cannot start a process: {error}"))
    }

    /// In the new process. Returns only if it fails.
    fn become_shell(&self, memory: &File, exports: Option<&File>, is_last: bool) -> String {
        let attempt = || -> Result<Errno, String> {
            let text = |error: Errno| error.to_string();
            // As in a session of its own, signals to the group of the shell reach nobody else.
            let _ = setpgid(Pid::from_raw(0), Pid::from_raw(0));
            // The doors of the group may lie where descriptors are placed.
            let joined = join(&self.doors);
            self.place_descriptors(memory, exports, is_last)
                .map_err(text)?;
            joined.map_err(|error| format!("cannot join the control group: {error}"))?;
            self.limit_data().map_err(text)?;
            let start_in = &self.task.start_in;
            let entered = match &self.work {
                Some(work) if *start_in == work_in(&self.task.folder) => fchdir(work),
                _ => chdir(start_in),
            };
            entered.map_err(|error| format!("cannot enter {}: {error}", start_in.display()))?;
            sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None).map_err(text)?;
            let arguments: [&CStr; 2] = [&self.shell_path, script::SCRIPT_PATH];
            let mut environment: Vec<*const libc::c_char> = Vec::with_capacity(256);
            let variables = self.environment.into_iter().chain([&self.task.environment]);
            environment.extend(variables.flat_map(Variables::entries).map(CStr::as_ptr));
            environment.push(std::ptr::null());
            Ok(sys::execute(&self.shell_path, &arguments, &environment))
        };
        match attempt() {
            Ok(error) => format!(
                "cannot start {}: {error}",
                self.shell_path.to_string_lossy()
            ),
            Err(error) => error,
        }
    }

    /// Puts every descriptor at its number. First all are moved out of the way.
    fn place_descriptors(
        &self,
        memory: &File,
        exports: Option<&File>,
        is_last: bool,
    ) -> nix::Result<()> {
        const OUT_OF_THE_WAY: RawFd = 10;
        let up = |fd: RawFd| -> nix::Result<RawFd> {
            Errno::result(sys::duplicate_above(fd, OUT_OF_THE_WAY))
        };
        let stdout = up(self.streams.stdout.as_raw_fd())?;
        let stderr = up(self.streams.stderr.as_raw_fd())?;
        let script = up(memory.as_raw_fd())?;
        let hooks = match &self.streams.hooks {
            Some(hooks) => Some((
                up(hooks.runtime.as_raw_fd())?,
                up(hooks.phases.as_raw_fd())?,
            )),
            None => None,
        };
        let exports = exports.map(|file| up(file.as_raw_fd())).transpose()?;
        let needs_more = is_last || script::has_start_hooks(self.making.role);
        match (hooks, needs_more) {
            (Some((runtime, phases)), true) => {
                sys::place_fd(runtime, 1)?;
                sys::place_fd(runtime, 2)?;
                sys::place_fd(runtime, script::RUNTIME_FD)?;
                sys::place_fd(phases, script::PHASE_FD)?;
                if !is_last {
                    sys::place_fd(stdout, script::STDOUT_FD)?;
                    sys::place_fd(stderr, script::STDERR_FD)?;
                }
                if let Some(exports) = exports {
                    sys::place_fd(exports, script::EXPORTS_FD)?;
                }
            }
            _ => {
                sys::place_fd(stdout, 1)?;
                sys::place_fd(stderr, 2)?;
            }
        }
        sys::place_fd(script, script::SCRIPT_FD)
    }

    fn limit_open_files(&self) -> nix::Result<()> {
        use nix::sys::resource::{Resource, getrlimit, setrlimit};
        let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
        setrlimit(Resource::RLIMIT_NOFILE, self.open_files.min(hard), hard)
    }

    /// In the new process.
    fn limit_data(&self) -> nix::Result<()> {
        use nix::sys::resource::{Resource, setrlimit};
        if let Some(bytes) = self.data_limit {
            setrlimit(Resource::RLIMIT_DATA, bytes, bytes)?;
        }
        Ok(())
    }
}

fn memory_file(name: &str) -> Result<OwnedFd, String> {
    memfd_create(name, MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING)
        .map_err(|error| format!("cannot use memory as a file: {error}"))
}

/// A script that nobody can change, neither a task for itself nor for the next one. A shell opens it anew and so reads
/// it from its beginning.
pub(super) fn kept_script(text: &str) -> Result<File, String> {
    let mut memory = File::from(memory_file("script")?);
    let seals = SealFlag::F_SEAL_WRITE
        | SealFlag::F_SEAL_GROW
        | SealFlag::F_SEAL_SHRINK
        | SealFlag::F_SEAL_SEAL;
    memory
        .write_all(text.as_bytes())
        .and_then(|()| Ok(fcntl(&memory, FcntlArg::F_ADD_SEALS(seals))?))
        .and_then(|_| memory.seek(SeekFrom::Start(0)))
        .map_err(|error| format!("cannot keep the script in memory: {error}"))?;
    Ok(memory)
}
