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
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, SealFlag, fcntl, open, renameat};
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill, sigprocmask};
use nix::sys::signalfd::SignalFd;
use nix::sys::socket::{MsgFlags, send};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, chdir, fchdir, setpgid, setsid};

use super::processes::{self, descendants};
use super::script::{self, Making};
use crate::contract::Level;
use crate::sandbox::cgroup::join;
use crate::sandbox::{Traces, View, work_in};
use crate::variables::Variables;
use crate::{signals, sys};

/// What the supervisor tells the first process: one byte, for [`Order::Hooks`] a second one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// `SIGTERM` to everything.
    Terminate,
    /// `SIGKILL` to everything.
    Kill,
    /// Runs the exit hooks for this outcome.
    Hooks {
        /// Whether the command succeeded.
        success: bool,
    },
    /// Ends everything and leaves.
    Finish,
}

/// No order is longer.
const LONGEST_ORDER: usize = 2;

/// The next task, in place of the one that has ended: a message of its own, with its standard output and its errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NextTask {
    /// Where its folder is, in which its work folder lies already.
    pub(crate) folder: PathBuf,
    pub(crate) start_in: PathBuf,
    pub(crate) environment: Variables,
}

impl NextTask {
    /// No message is longer.
    pub(crate) const LONGEST: usize = 64 << 10;

    /// `None` if it is too much for a message.
    pub(crate) fn bytes(&self) -> Option<Vec<u8>> {
        let mut bytes = vec![b'N'];
        for path in [&self.folder, &self.start_in] {
            bytes.extend_from_slice(path.as_os_str().as_bytes());
            bytes.push(0);
        }
        bytes.extend_from_slice(self.environment.as_bytes());
        (bytes.len() <= Self::LONGEST).then_some(bytes)
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut fields = bytes.strip_prefix(b"N")?.splitn(3, |byte| *byte == 0);
        let mut path = || Some(PathBuf::from(std::ffi::OsStr::from_bytes(fields.next()?)));
        let (folder, start_in) = (path()?, path()?);
        Some(Self {
            folder,
            start_in,
            environment: Variables::from_bytes(fields.next()?)?,
        })
    }
}

impl Order {
    pub(crate) fn bytes(self) -> [u8; 2] {
        match self {
            Order::Terminate => *b"T-",
            Order::Kill => *b"K-",
            Order::Hooks { success } => [b'H', u8::from(success)],
            Order::Finish => *b"F-",
        }
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        Some(match bytes {
            b"T-" => Order::Terminate,
            b"K-" => Order::Kill,
            [b'H', success] => Order::Hooks {
                success: *success != 0,
            },
            b"F-" => Order::Finish,
            _ => return None,
        })
    }
}

/// What the first process tells the supervisor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// The sandbox stands; the shell starts now.
    Ready,
    /// The sandbox, or the shell, could not be made.
    Failed(String),
    /// The first shell ended so (a wait status).
    Ended(Ending),
    /// The second shell, that of the exit hooks, ended.
    HooksEnded(Ending),
    /// The first shell ended with success, nothing in the sandbox is changed, and another task may come.
    Vacant {
        /// What the task has used.
        cpu_micros: u64,
    },
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With a code.
    Code(i32),
    /// By a signal.
    Signal(i32),
}

impl Ending {
    fn bytes(self) -> [u8; 5] {
        let (kind, value) = match self {
            Ending::Code(code) => (b'c', code),
            Ending::Signal(signal) => (b's', signal),
        };
        let [a, b, c, d] = value.to_le_bytes();
        [kind, a, b, c, d]
    }

    /// From a wait status.
    fn of(status: i32) -> Self {
        match status & 0x7f {
            0 => Ending::Code((status >> 8) & 0xff),
            signal => Ending::Signal(signal),
        }
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let (kind, value) = bytes.split_first()?;
        let value = i32::from_le_bytes(value.try_into().ok()?);
        match kind {
            b'c' => Some(Ending::Code(value)),
            b's' => Some(Ending::Signal(value)),
            _ => None,
        }
    }
}

impl Message {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Message::Ready => vec![b'R'],
            Message::Failed(text) => {
                let text = text.as_bytes();
                [b"F", text.get(..4000).unwrap_or(text)].concat()
            }
            Message::Ended(ending) => [&b"E"[..], &ending.bytes()].concat(),
            Message::HooksEnded(ending) => [&b"H"[..], &ending.bytes()].concat(),
            Message::Vacant { cpu_micros } => [&b"V"[..], &cpu_micros.to_le_bytes()].concat(),
        }
    }

    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        Some(match kind {
            b'R' => Message::Ready,
            b'F' => Message::Failed(String::from_utf8_lossy(rest).into_owned()),
            b'E' => Message::Ended(Ending::parse(rest)?),
            b'H' => Message::HooksEnded(Ending::parse(rest)?),
            b'V' => Message::Vacant {
                cpu_micros: u64::from_le_bytes(rest.try_into().ok()?),
            },
            _ => return None,
        })
    }
}

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

    fn tell(&self, message: &Message) {
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
        let longest = match traces {
            Some(_) => NextTask::LONGEST,
            None => LONGEST_ORDER,
        };
        let mut life = Life {
            init: self,
            first: Some(first),
            hooks: None,
            exports,
            script,
            traces,
            tasks: None,
            was_disturbed: false,
            awaited: None,
            may_linger: false,
            cpu_micros: 0,
            buffer: vec![0; longest],
        };
        life.go_on(&signals)
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
    fn start(&self, script: &File, exports: Option<&File>, is_last: bool) -> Result<Pid, String> {
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
fn kept_script(text: &str) -> Result<File, String> {
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

/// A table of so many descriptors comes with every process; a larger one is made for those who need it.
const SMALLEST_TABLE: RawFd = 64;

/// Milliseconds after which those who seem not to have heard that they should end are told again.
const REMINDING: u8 = 100;

/// So many descriptors come with the next task.
const STREAMS: usize = 2;

/// The time after the first shell has started.
struct Life<'a, 'b> {
    init: &'a mut Init<'b>,
    first: Option<Pid>,
    hooks: Option<Pid>,
    exports: Option<File>,
    script: File,
    /// If another task may come after this one.
    traces: Option<Traces>,
    /// The folder of the tasks' folders, once it was needed.
    tasks: Option<OwnedFd>,
    /// Whether the task was told to end.
    was_disturbed: bool,
    /// Whether what the first shell has started may outlive it: it was told to end, and its time is not over.
    may_linger: bool,
    /// How the first shell ended, while others that were told to end are still busy with it.
    awaited: Option<Ending>,
    /// What all that was reaped has used.
    cpu_micros: u64,
    buffer: Vec<u8>,
}

impl Life<'_, '_> {
    fn go_on(&mut self, signals: &SignalFd) -> Result<(), String> {
        loop {
            let (signal_events, order_events) = {
                let mut fds = [
                    PollFd::new(signals.as_fd(), PollFlags::POLLIN),
                    PollFd::new(self.init.channel.as_fd(), PollFlags::POLLIN),
                ];
                let patience = match self.awaited {
                    Some(_) => PollTimeout::from(REMINDING),
                    None => PollTimeout::NONE,
                };
                match poll(&mut fds, patience) {
                    Ok(0) => processes::remind(Signal::SIGTERM),
                    Ok(_) | Err(Errno::EINTR) => {}
                    Err(error) => return Err(error.to_string()),
                }
                let ready = |fd: &PollFd<'_>| fd.any().unwrap_or(false);
                (ready(&fds[0]), ready(&fds[1]))
            };
            if signal_events {
                while let Ok(Some(signal)) = signals.read_signal() {
                    if signal.ssi_signo != Signal::SIGCHLD as u32 {
                        // Someone else wants the task to end; without a supervisor nobody else will.
                        self.end_all();
                        return Ok(());
                    }
                }
                if self.reap() {
                    return Ok(());
                }
            }
            if order_events && self.obey()? {
                return Ok(());
            }
        }
    }

    /// Reaps what has ended; true if there is nothing more to do here.
    fn reap(&mut self) -> bool {
        while let Some((pid, status, cpu_micros)) = sys::reap() {
            self.cpu_micros += cpu_micros;
            let ending = Ending::of(status);
            if self.first == Some(pid) {
                self.first = None;
                self.awaited = Some(ending);
                if !self.may_linger && self.conclude() {
                    return true;
                }
            } else if self.hooks == Some(pid) {
                self.hooks = None;
                self.init.tell(&Message::HooksEnded(ending));
            }
        }
        // A shell dies of the signal that a program of its own may take as the sign to save its work.
        self.may_linger && !sys::has_children() && self.conclude()
    }

    /// Tells how the first shell ended, if it has; true if there is nothing more to do here.
    fn conclude(&mut self) -> bool {
        let Some(ending) = self.awaited.take() else {
            return false;
        };
        if self.init.waits_for_orders {
            self.init.tell(&Message::Ended(ending));
            return false;
        }
        // What the command left behind ends before anyone hears of the end.
        let is_alone = self.end_all();
        if ending == Ending::Code(0) && is_alone && self.is_as_before() {
            let cpu_micros = std::mem::take(&mut self.cpu_micros);
            self.init.tell(&Message::Vacant { cpu_micros });
            return false;
        }
        self.init.tell(&Message::Ended(ending));
        true
    }

    /// Whether nothing is changed.
    fn is_as_before(&mut self) -> bool {
        !self.was_disturbed && self.traces.as_mut().is_some_and(Traces::are_none)
    }

    /// Carries out an order; true if the task is over.
    fn obey(&mut self) -> Result<bool, String> {
        let received = sys::receive::<STREAMS>(self.init.channel.as_fd(), &mut self.buffer);
        let (count, descriptors) = match received {
            Ok(received) => received,
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(false),
            Err(_) => (0, Vec::new()),
        };
        if count == 0 {
            self.end_all();
            return Ok(true);
        }
        let bytes = self.buffer.get(..count).unwrap_or_default();
        if let Some(next) = NextTask::parse(bytes) {
            self.take_in(next, descriptors)?;
            return Ok(false);
        }
        let Some(order) = Order::parse(bytes) else {
            return Ok(false);
        };
        self.was_disturbed = true;
        match order {
            Order::Terminate => {
                self.may_linger = self.first.is_some();
                self.signal_all(Signal::SIGTERM);
            }
            Order::Kill => {
                self.may_linger = false;
                self.signal_all(Signal::SIGKILL);
                return Ok(self.conclude());
            }
            Order::Hooks { success } => {
                let script = kept_script(&script::last(self.init.making, success))?;
                self.hooks = Some(self.init.start(&script, self.exports.as_ref(), true)?);
            }
            Order::Finish => {
                self.end_all();
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Starts the next task where the one before was.
    fn take_in(&mut self, next: NextTask, descriptors: Vec<OwnedFd>) -> Result<(), String> {
        let mut descriptors = descriptors.into_iter();
        let (Some(stdout), Some(stderr)) = (descriptors.next(), descriptors.next()) else {
            return Err("the streams of a task did not come".to_owned());
        };
        // Its work folder is already where that of the task before was; the way to it gets another name.
        self.rename_folder(&next.folder)
            .map_err(|error| format!("cannot show {}: {error}", next.folder.display()))?;
        if !self.traces.as_mut().is_some_and(Traces::go_on) {
            self.traces = None;
        }
        self.was_disturbed = false;
        self.may_linger = false;
        self.init.task = next;
        self.init.streams.stdout = stdout;
        self.init.streams.stderr = stderr;
        self.first = Some(self.init.start(&self.script, None, false)?);
        Ok(())
    }

    /// All tasks have their folders in the same one, which is far from the root.
    fn rename_folder(&mut self, to: &Path) -> std::io::Result<()> {
        let from = &self.init.task.folder;
        if let (Some(parent), Some(old), Some(new)) =
            (from.parent(), from.file_name(), to.file_name())
            && to.parent() == Some(parent)
        {
            let folder = match self.tasks.take() {
                Some(folder) => folder,
                None => open(parent, OFlag::O_PATH | OFlag::O_CLOEXEC, Mode::empty())?,
            };
            renameat(&folder, old, &folder, new)?;
            self.tasks = Some(folder);
            return Ok(());
        }
        std::fs::rename(from, to)
    }

    fn has_namespace(&self) -> bool {
        self.init.view.level > Level::Plain
    }

    /// False if there is nobody else in the namespace.
    fn signal_all(&self, signal: Signal) -> bool {
        if self.has_namespace() {
            // Everything in the namespace but ourselves.
            return kill(Pid::from_raw(-1), signal) != Err(Errno::ESRCH);
        }
        for pid in descendants() {
            let _ = kill(pid, signal);
        }
        true
    }

    /// Ends everything below us and waits until it is gone. True if there is proof that we are alone in the namespace.
    fn end_all(&mut self) -> bool {
        loop {
            let is_alone = !self.signal_all(Signal::SIGKILL);
            // In plain processes, children of the killed come to us one generation after the other.
            let mut reaped = sys::wait_and_reap();
            if reaped.is_none() {
                return is_alone;
            }
            while let Some((_, _, cpu_micros)) = reaped {
                self.cpu_micros += cpu_micros;
                reaped = sys::reap();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_and_messages_survive_the_channel() {
        for order in [
            Order::Terminate,
            Order::Kill,
            Order::Hooks { success: true },
            Order::Hooks { success: false },
            Order::Finish,
        ] {
            assert_eq!(Order::parse(&order.bytes()), Some(order));
        }
        for message in [
            Message::Ready,
            Message::Failed("x".to_owned()),
            Message::Ended(Ending::Code(-1)),
            Message::HooksEnded(Ending::Signal(9)),
            Message::Vacant {
                cpu_micros: 1 << 40,
            },
        ] {
            assert_eq!(Message::parse(&message.bytes()), Some(message));
        }
        let next = NextTask {
            folder: PathBuf::from("/a"),
            start_in: PathBuf::from("/b"),
            environment: Variables::from_bytes(b"A=1\0\0B=\0").unwrap_or_default(),
        };
        assert_eq!(
            NextTask::parse(&next.bytes().unwrap_or_default()),
            Some(next)
        );
    }
}
