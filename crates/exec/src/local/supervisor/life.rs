//! The life of a task, from its start to its report.

use std::cmp::Reverse;
use std::fs;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, recv, send, socketpair};
use nix::unistd::pipe2;
use pinnace_core::plan::{Action, OnFailure, Role};
use pinnace_core::text::{Piece, Text};

use super::output::Source;
use super::request::Request;
use super::task::{Reason, State, Task};
use super::{Supervisor, Timer, Token};
use crate::contract::{ExitReport, Happening, Level, PhaseName, Secrets, TaskId};
use crate::environment::Folders;
use crate::local::journal::now_micros;
use crate::local::layout::task_name;
use crate::runner::init::{Ending, HookStreams, Init, Message, Order, Streams};
use crate::runner::script::{self, Making, Mark};
use crate::sandbox::cgroup::{AttemptGroup, Limits, TaskGroup};
use crate::sandbox::{self, Bind, View};
use crate::sys::{self, Side};

/// Of the grace period, exit hooks keep a quarter, but not more than this.
const MOST_FOR_HOOKS: Duration = Duration::from_secs(10);

impl Supervisor {
    /// Starts a task; if that fails, it ends with a report that says why.
    pub(super) fn start(&mut self, index: usize) {
        let Some(task) = self.tasks.get(index) else {
            return;
        };
        if task.state != State::Queued {
            return;
        }
        if let Err(error) = self.try_start(index) {
            let Some(task) = self.tasks.get_mut(index) else {
                return;
            };
            task.start_failure = Some(error);
            self.conclude(index);
        }
    }

    fn try_start(&mut self, index: usize) -> Result<(), String> {
        let level = self.level;
        let as_root = self.machine.as_root;
        let Some(task) = self.tasks.get_mut(index) else {
            return Ok(());
        };
        let role = self
            .attempt
            .plan
            .roles
            .get(&task.spec.id.role)
            .ok_or_else(|| format!("the plan has no role `{}`", task.spec.id.role))?;
        task.level = level;
        task.turn_to(Some(PhaseName::Sandbox), None);
        make_folders(task)?;
        let binds = binds(
            role,
            &self.secrets,
            &self.attempt.settings.storages,
            &task.folder.work(),
            &self.layout.shared(),
        )?;
        let limits = limits(role, self.capacity);
        task.group = match &self.group {
            Some(group) => group
                .task(&task_name(&task.spec.id), limits)
                .map_err(|error| format!("cannot make the control group: {error}"))?,
            None => TaskGroup::default(),
        };
        let needs_hook_streams = !role.before.is_empty() || !role.after.is_empty();
        let (stdout, stdout_far) = pipe()?;
        let (stderr, stderr_far) = pipe()?;
        let (runtime, phases) = if needs_hook_streams {
            (Some(pipe()?), Some(pipe()?))
        } else {
            (None, None)
        };
        let (channel, channel_far) = socketpair(
            AddressFamily::Unix,
            SockType::SeqPacket,
            None,
            SockFlag::SOCK_CLOEXEC,
        )
        .map_err(|error| format!("cannot make a channel: {error}"))?;
        let work = task.folder.work();
        let memory = self.layout.memory();
        let (temporary, code) = match level {
            Level::Overlay => (PathBuf::from("/tmp"), PathBuf::from("/usr/local/pai/code")),
            Level::ReadOnly => (PathBuf::from("/tmp"), work.join("code")),
            Level::Plain => (self.layout.temporary(), work.join("code")),
        };
        let ports = self
            .environment
            .peers()
            .iter()
            .find(|peer| peer.role == task.spec.id.role && peer.index == task.spec.id.index)
            .map(|peer| peer.ports.clone())
            .unwrap_or_default();
        let own = self.environment.of_task(
            &self.attempt,
            &task.spec,
            &ports,
            Folders {
                work: &work,
                task: &temporary.join(".pinnace"),
                shared: &self.layout.shared(),
                temporary: &temporary,
                code: &code,
            },
        );
        let waits_for_orders =
            !role.after.is_empty() || self.attempt.settings.keep_on_failure_minutes.is_some();
        // From here on the ports are the task's.
        task.held_ports.clear();
        let (runtime, runtime_far) = runtime.unzip();
        let (phases, phases_far) = phases.unzip();
        let side = sys::fork_into(sandbox::namespaces(level, as_root))
            .map_err(|error| format!("cannot start a process: {error}"));
        let side = match side {
            Err(_) if level > Level::Plain => {
                // The kernel refuses namespaces altogether.
                let error = side.err().unwrap_or_default();
                return self.step_down(index, &error);
            }
            side => side?,
        };
        match side {
            Side::Child => Init {
                view: View {
                    machine: &self.machine,
                    level,
                    folder: &task.folder,
                    root: &self.root,
                    memory: self.in_memory.then_some(&*memory),
                    hidden: &self.hidden,
                    binds,
                    shm_mb: role.resources.shm_mb,
                    pai_folder: speaks_of_pai_folder(role),
                },
                making: Making {
                    role,
                    secrets: &self.secrets,
                    shell: self.shell.0,
                    nounset: self.attempt.settings.nounset,
                },
                shell_path: self.shell.1,
                environment: [self.environment.of_role(&task.spec.id.role), &own],
                work: &work,
                group: &task.group,
                data_limit: data_limit(
                    limits,
                    self.group.as_ref().map(|group| group.can_limit().0),
                ),
                open_files: self.open_files,
                channel: channel_far,
                streams: Streams {
                    stdout: stdout_far,
                    stderr: stderr_far,
                    hooks: runtime_far
                        .zip(phases_far)
                        .map(|(runtime, phases)| HookStreams { runtime, phases }),
                },
                lock: self.lock.as_raw_fd(),
                waits_for_orders,
            }
            .live(),
            Side::Parent(pid) => {
                task.pid = Some(pid);
                task.state = State::Preparing;
                task.group.close_doors();
                task.output.connect(Source::Stdout, stdout, &self.stencil);
                task.output.connect(Source::Stderr, stderr, &self.stencil);
                if let Some(runtime) = runtime {
                    task.output.connect(Source::Runtime, runtime, &self.stencil);
                }
                task.channel = Some(channel);
                task.marks = phases;
                self.by_pid.insert(pid, index);
                self.journal.add(Happening::Started {
                    task: task.spec.id.clone(),
                    pid: pid.as_raw(),
                    ports,
                    level,
                });
                self.watch_all(index);
                if let Some(seconds) = self.attempt.settings.time_limit_seconds {
                    self.set_timer(index, Duration::from_secs(seconds), Timer::TimeLimit);
                }
                Ok(())
            }
        }
    }

    fn watch_all(&self, index: usize) {
        let (Some(task), Ok(number)) = (self.tasks.get(index), u32::try_from(index)) else {
            return;
        };
        for source in [Source::Stdout, Source::Stderr, Source::Runtime] {
            if let Some(fd) = task.output.descriptor(source) {
                self.watch(fd, Token::Output(number, source));
            }
        }
        if let Some(fd) = &task.channel {
            self.watch(fd.as_fd(), Token::Channel(number));
        }
        if let Some(fd) = &task.marks {
            self.watch(fd.as_fd(), Token::Marks(number));
        }
    }

    /// The sandbox could not be made: this task and all that follow use the next lower level.
    fn step_down(&mut self, index: usize, error: &str) -> Result<(), String> {
        let Some(task) = self.tasks.get_mut(index) else {
            return Ok(());
        };
        if task.level <= self.level {
            let lower = match task.level {
                Level::Overlay => Level::ReadOnly,
                Level::ReadOnly | Level::Plain => Level::Plain,
            };
            self.not_enforced
                .push(format!("sandbox: {} ({error})", lower.words()));
            self.level = lower;
        }
        task.state = State::Queued;
        task.pid = None;
        self.try_start(index)
    }

    pub(super) fn on_channel(&mut self, index: usize) {
        let mut buffer = [0; 4096];
        loop {
            let Some(task) = self.tasks.get_mut(index) else {
                return;
            };
            let Some(channel) = &task.channel else { return };
            match recv(channel.as_raw_fd(), &mut buffer, MsgFlags::MSG_DONTWAIT) {
                // The first process is gone; its end is told by a signal.
                Ok(0) => {
                    task.channel = None;
                    return;
                }
                Ok(count) => {
                    if let Some(message) = buffer.get(..count).and_then(Message::parse) {
                        self.on_message(index, message);
                    }
                }
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => return,
                Err(_) => {
                    task.channel = None;
                    return;
                }
            }
        }
    }

    fn on_message(&mut self, index: usize, message: Message) {
        match message {
            Message::Ready => self.on_ready(index),
            Message::Failed(error) => {
                if let Some(task) = self.tasks.get_mut(index) {
                    task.start_failure = Some(error);
                }
            }
            Message::Ended(ending) => {
                // What the shell said before its end comes first.
                self.on_marks(index);
                self.on_ended(index, ending);
            }
            Message::HooksEnded(_) => {
                self.on_marks(index);
                if let Some(task) = self.tasks.get_mut(index) {
                    task.turn_to(None, None);
                }
                self.after_hooks(index);
            }
        }
    }

    fn on_ready(&mut self, index: usize) {
        let Some(task) = self.tasks.get_mut(index) else {
            return;
        };
        if task.state != State::Preparing {
            return;
        }
        task.state = State::Running;
        let Some(role) = self.attempt.plan.roles.get(&task.spec.id.role) else {
            return;
        };
        // With start hooks, the shell itself says so, in the order of what they say.
        if !script::has_start_hooks(role) {
            let lines = [
                "[INFO] Starting to exec precommands",
                "[INFO] Precommands finished",
                "[INFO] USER COMMAND START",
            ];
            task.output.say(&lines, &mut self.buffer);
            self.enter_phase(index, PhaseName::Command);
        }
        // A wish to stop may have come while the sandbox was made.
        if let Some(task) = self.tasks.get(index)
            && task.reason.is_some()
        {
            self.order(index, Order::Terminate);
        }
    }

    fn enter_phase(&mut self, index: usize, phase: PhaseName) {
        let Some(task) = self.tasks.get_mut(index) else {
            return;
        };
        task.reached_command |= phase == PhaseName::Command;
        task.turn_to(Some(phase.clone()), None);
        self.journal.add(Happening::Phase {
            task: task.spec.id.clone(),
            phase,
        });
    }

    pub(super) fn on_marks(&mut self, index: usize) {
        let mut buffer = [0; 4096];
        loop {
            let Some(task) = self.tasks.get_mut(index) else {
                return;
            };
            let Some(marks) = &task.marks else { return };
            match nix::unistd::read(marks, &mut buffer) {
                Ok(0) => task.marks = None,
                Ok(count) => {
                    task.marks_partial
                        .extend_from_slice(buffer.get(..count).unwrap_or_default());
                    let whole = task.marks_partial.iter().rposition(|byte| *byte == b'\n');
                    let lines: Vec<u8> = task
                        .marks_partial
                        .drain(..whole.map_or(0, |end| end + 1))
                        .collect();
                    for mark in String::from_utf8_lossy(&lines)
                        .lines()
                        .filter_map(Mark::parse)
                    {
                        self.on_mark(index, mark);
                    }
                }
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => return,
                Err(_) => task.marks = None,
            }
        }
    }

    fn on_mark(&mut self, index: usize, mark: Mark) {
        let Some(task) = self.tasks.get_mut(index) else {
            return;
        };
        let Some(role) = self.attempt.plan.roles.get(&task.spec.id.role) else {
            return;
        };
        match mark {
            Mark::Before(step) => {
                let Some(hook) = role.before.get(step) else {
                    return;
                };
                let name = hook.name.clone();
                self.enter_phase(index, PhaseName::Before { step, name });
            }
            Mark::Command => self.enter_phase(index, PhaseName::Command),
            Mark::After(step) => {
                let Some(hook) = role.after.get(step) else {
                    return;
                };
                let name = hook.name.clone();
                self.enter_phase(index, PhaseName::After { step, name });
            }
            Mark::Result(code) => {
                if let Some(PhaseName::After { step, .. }) = task.phase() {
                    let counts = role
                        .after
                        .get(*step)
                        .is_some_and(|hook| hook.on_failure == OnFailure::Fail);
                    if code != 0 && counts && task.hook_failure.is_none() {
                        task.hook_failure = task.phase().cloned().map(|phase| (phase, code));
                    }
                }
                task.turn_to(None, Some(code));
            }
        }
    }

    fn on_ended(&mut self, index: usize, ending: Ending) {
        let Some(task) = self.tasks.get_mut(index) else {
            return;
        };
        let Some(role) = self.attempt.plan.roles.get(&task.spec.id.role) else {
            return;
        };
        let mut ending = ending;
        if ending == Ending::Code(0) && !task.reached_command {
            task.output.say(
                &["[ERROR] a start hook left the shell before the command could run"],
                &mut self.buffer,
            );
            ending = Ending::Code(1);
        }
        let succeeded = ending == Ending::Code(0) && task.reason.is_none();
        if ending == Ending::Code(0) {
            task.output
                .say(&["[INFO] USER COMMAND END"], &mut self.buffer);
        } else {
            task.failed_in = task.phase().cloned();
        }
        task.ending = Some(ending);
        task.turn_to(None, None);
        if script::exit_hooks(role, succeeded).next().is_some() {
            task.state = State::Hooks;
            self.order(index, Order::Hooks { success: succeeded });
        } else {
            self.after_hooks(index);
        }
    }

    /// The task has done all it had to do; a failed one may be kept.
    fn after_hooks(&mut self, index: usize) {
        let Some(task) = self.tasks.get_mut(index) else {
            return;
        };
        let failed = task.ending != Some(Ending::Code(0)) || task.hook_failure.is_some();
        let keep = self.attempt.settings.keep_on_failure_minutes;
        task.timer_epoch += 1;
        match keep {
            Some(minutes) if failed && task.reason != Some(Reason::Stopped) => {
                let time = Duration::from_secs(u64::from(minutes) * 60);
                task.state = State::Kept;
                task.turn_to(Some(PhaseName::Kept), None);
                self.journal.add(Happening::Kept {
                    task: task.spec.id.clone(),
                    until: now_micros() / 1000
                        + u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
                    pid: task.pid.map_or(0, nix::unistd::Pid::as_raw),
                });
                self.set_timer(index, time, Timer::KeepOver);
            }
            _ => self.finish(index),
        }
    }

    fn finish(&mut self, index: usize) {
        let Some(task) = self.tasks.get_mut(index) else {
            return;
        };
        task.state = State::Finishing;
        task.timer_epoch += 1;
        // Without exit hooks the first process has already left by itself.
        self.order(index, Order::Finish);
    }

    fn order(&mut self, index: usize, order: Order) {
        if let Some(channel) = self.tasks.get(index).and_then(|task| task.channel.as_ref()) {
            // If it cannot be told, it is dead, and its end is on the way.
            let _ = send(channel.as_raw_fd(), &order.bytes(), MsgFlags::MSG_NOSIGNAL);
        }
    }

    fn set_timer(&mut self, index: usize, after: Duration, timer: Timer) {
        if let Some(task) = self.tasks.get(index)
            && let Some(when) = Instant::now().checked_add(after)
        {
            self.timers
                .push(Reverse((when, index, task.timer_epoch, timer)));
        }
    }

    pub(super) fn on_timer(&mut self, index: usize, timer: Timer) {
        let Some(task) = self.tasks.get_mut(index) else {
            return;
        };
        match timer {
            Timer::TimeLimit => self.stop(index, Reason::TimedOut, None),
            Timer::KillCommand => {
                if task.state == State::Running {
                    task.killed = true;
                    self.order(index, Order::Kill);
                }
            }
            Timer::GraceOver => {
                if matches!(task.state, State::Running | State::Hooks | State::Preparing) {
                    task.killed = true;
                    if task.ending.is_none() {
                        task.ending = Some(Ending::Signal(9));
                        task.failed_in = task.phase().cloned();
                    }
                    self.finish(index);
                }
            }
            Timer::KeepOver => self.finish(index),
        }
    }

    /// Begins to end a task: `SIGTERM`, and the grace period runs.
    pub(super) fn stop(&mut self, index: usize, reason: Reason, grace: Option<u64>) {
        let Some(task) = self.tasks.get_mut(index) else {
            return;
        };
        let first_time = task.reason.is_none();
        match task.state {
            State::Ended | State::Finishing => return,
            State::Kept => return self.finish(index),
            _ => {}
        }
        if first_time {
            task.reason = Some(reason);
        }
        if task.state == State::Queued {
            task.ending = Some(Ending::Signal(15));
            return self.conclude(index);
        }
        let grace = Duration::from_secs(grace.unwrap_or(self.attempt.settings.grace_seconds));
        let has_hooks = self
            .attempt
            .plan
            .roles
            .get(&task.spec.id.role)
            .is_some_and(|role| script::exit_hooks(role, false).next().is_some());
        // A second wish sets the time anew: it may be more urgent.
        task.timer_epoch += 1;
        if task.state == State::Running {
            if first_time {
                self.order(index, Order::Terminate);
            }
            if has_hooks {
                let share = (grace / 4).min(MOST_FOR_HOOKS);
                self.set_timer(index, grace.saturating_sub(share), Timer::KillCommand);
            }
        }
        self.set_timer(index, grace, Timer::GraceOver);
    }

    pub(super) fn on_request(
        &mut self,
        client: u32,
        request: Result<Request, String>,
    ) -> Result<(), String> {
        match request? {
            Request::Watch => {
                self.clients.set_watching(client);
                Ok(())
            }
            Request::Stop {
                task,
                grace_seconds,
            } => {
                let chosen: Vec<usize> = match &task {
                    None => (0..self.tasks.len()).collect(),
                    Some(id) => vec![self.find(id)?],
                };
                for index in chosen {
                    self.stop(index, Reason::Stopped, grace_seconds);
                }
                Ok(())
            }
        }
    }

    fn find(&self, id: &TaskId) -> Result<usize, String> {
        self.tasks
            .iter()
            .position(|task| task.spec.id == *id)
            .ok_or_else(|| format!("this attempt has no task `{id}`"))
    }

    /// The first process is gone, and with it all the others.
    pub(super) fn on_reaped(&mut self, index: usize, status: i32, cpu_micros: u64) {
        self.on_marks(index);
        self.on_channel(index);
        let Some(task) = self.tasks.get_mut(index) else {
            return;
        };
        task.cpu_micros += cpu_micros;
        task.channel = None;
        if task.state == State::Preparing
            && task.level > Level::Plain
            && let Some(error) = task.start_failure.take()
        {
            task.output.drain(&mut self.buffer);
            let again = self.step_down(index, &error);
            if let (Err(error), Some(task)) = (again, self.tasks.get_mut(index)) {
                task.start_failure = Some(error);
                self.conclude(index);
            }
            return;
        }
        if task.ending.is_none() && task.start_failure.is_none() {
            task.failed_in = task.phase().cloned();
            let signal = status & 0x7f;
            task.ending = Some(Ending::Signal(if signal == 0 { 9 } else { signal }));
        }
        self.conclude(index);
    }

    /// Writes the report and clears the task's place.
    fn conclude(&mut self, index: usize) {
        let Some(task) = self.tasks.get_mut(index) else {
            return;
        };
        if super::is_over(task.state) {
            return;
        }
        task.output.drain(&mut self.buffer);
        task.turn_to(None, None);
        task.state = State::Ended;
        task.marks = None;
        task.channel = None;
        task.held_ports.clear();
        self.running = self.running.saturating_sub(1);
        let out_of_memory = task.group.out_of_memory();
        let peak_memory = task.group.peak_memory();
        task.group.remove();
        if !self.in_memory && task.level > Level::Plain {
            remove_folder(task.folder.changes());
        }
        let mut not_enforced = self.not_enforced.clone();
        if let Some(role) = self.attempt.plan.roles.get(&task.spec.id.role) {
            let can_limit = self
                .group
                .as_ref()
                .map_or((false, false), AttemptGroup::can_limit);
            not_enforced.extend(unlimited(role, self.capacity, can_limit, task.level));
        }
        not_enforced.extend(task.output.failures());
        let (mut exit_code, mut signal) = match task.ending {
            Some(Ending::Signal(number)) => (128 + number, Some(number)),
            Some(Ending::Code(code)) => (code, None),
            None => (126, None),
        };
        let mut failed_in = task.failed_in.take();
        if exit_code == 0
            && let Some((phase, code)) = task.hook_failure.take()
        {
            exit_code = code;
            signal = None;
            failed_in = Some(phase);
        }
        if task.start_failure.is_some() {
            failed_in = Some(PhaseName::Sandbox);
        }
        self.journal.add(Happening::Exited {
            report: Box::new(ExitReport {
                task: task.spec.id.clone(),
                attempt: task.spec.attempt,
                exit_code,
                signal,
                out_of_memory,
                timed_out: task.reason == Some(Reason::TimedOut),
                stopped: task.reason == Some(Reason::Stopped),
                killed: task.killed,
                failed_in,
                start_failure: task
                    .start_failure
                    .take()
                    .map(|text| self.stencil.clean(&text)),
                phases: std::mem::take(&mut task.phases),
                level: task.level,
                not_enforced,
                logs: task.folder.path().to_owned(),
                peak_memory,
                cpu_micros: task.cpu_micros,
            }),
        });
    }
}

fn pipe() -> Result<(OwnedFd, OwnedFd), String> {
    let (near, far) =
        pipe2(OFlag::O_CLOEXEC).map_err(|error| format!("cannot make a pipe: {error}"))?;
    // Only our end: a task that finds its output full shall wait, not fail.
    fcntl(&near, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))
        .map_err(|error| format!("cannot make a pipe: {error}"))?;
    Ok((near, far))
}

fn make_folders(task: &Task) -> Result<(), String> {
    let make = |path: &Path, mode: u32| match fs::DirBuilder::new().mode(mode).create(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(format!("cannot make {}: {error}", path.display())),
    };
    let folder = &task.folder;
    make(folder.path(), 0o700)?;
    make(&folder.work(), 0o755)
}

/// An overlay leaves folders that even their owner may not read.
pub(crate) fn remove_folder(path: &Path) {
    if fs::remove_dir_all(path).is_ok() || !path.exists() {
        return;
    }
    use std::os::unix::fs::PermissionsExt as _;
    let mut open = vec![path.to_owned()];
    while let Some(folder) = open.pop() {
        let _ = fs::set_permissions(&folder, fs::Permissions::from_mode(0o700));
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.path());
            }
        }
    }
    let _ = fs::remove_dir_all(path);
}

/// What a task sees besides the machine's files. A storage that is not there fails the task: to go on without
/// it, or without a sandbox, would be worse.
fn binds(
    role: &Role,
    secrets: &Secrets,
    storages: &indexmap::IndexMap<String, PathBuf>,
    work: &Path,
    shared: &Path,
) -> Result<Vec<Bind>, String> {
    let bind = |from: &Path, to: &Path, read_only| Bind {
        from: from.to_owned(),
        to: to.to_owned(),
        read_only,
    };
    let mut binds = vec![bind(work, work, false), bind(shared, shared, true)];
    for mount in &role.mounts {
        let plain = |text: &Text| text.render(|name| secrets.get(name).to_owned());
        let (name, target) = (plain(&mount.storage), plain(&mount.target));
        let from = storages
            .get(&name)
            .ok_or_else(|| format!("no folder is known for the storage `{name}`"))?;
        if !from.is_dir() {
            return Err(format!(
                "the storage `{name}` is not a folder: {}",
                from.display()
            ));
        }
        if !target.starts_with('/') {
            return Err(format!(
                "the mount point `{target}` of the storage `{name}` is not an absolute path"
            ));
        }
        binds.push(bind(from, Path::new(&target), false));
    }
    Ok(binds)
}

fn speaks_of_pai_folder(role: &Role) -> bool {
    let speaks = |text: &Text| {
        text.pieces()
            .iter()
            .any(|piece| matches!(piece, Piece::Literal(text) if text.contains("/usr/local/pai")))
    };
    role.command.iter().any(speaks)
        || role.env.values().any(speaks)
        || role
            .before
            .iter()
            .chain(&role.after)
            .any(|step| match &step.action {
                Action::Shell { commands } => commands.iter().any(speaks),
                _ => true,
            })
}

/// Limits that can bite on this machine.
fn limits(role: &Role, (cpu, memory_mb): (u32, u64)) -> Limits {
    let resources = &role.resources;
    Limits {
        memory_bytes: (resources.memory_mb > 0 && resources.memory_mb < memory_mb)
            .then(|| resources.memory_mb.saturating_mul(1 << 20)),
        cpus: (resources.cpu > 0 && resources.cpu < cpu).then_some(resources.cpu),
    }
}

/// Where no group bounds memory, each process is bounded by itself.
fn data_limit(limits: Limits, groups_limit_memory: Option<bool>) -> Option<u64> {
    match groups_limit_memory {
        Some(false) => limits.memory_bytes,
        _ => None,
    }
}

/// What a role asks for that this machine does not enforce.
fn unlimited(
    role: &Role,
    capacity: (u32, u64),
    (memory, cpu): (bool, bool),
    level: Level,
) -> Vec<String> {
    let limits = limits(role, capacity);
    let mut list = Vec::new();
    if limits.memory_bytes.is_some() && !memory {
        list.push(
            "memory is not limited for the task as a whole, only for each of its processes"
                .to_owned(),
        );
    }
    if limits.cpus.is_some() && !cpu {
        list.push("cpu time is not limited".to_owned());
    }
    if level == Level::Plain {
        list.push("the task can see and change the files of this machine".to_owned());
        if role.resources.shm_mb > 0 {
            list.push("`/dev/shm` is that of the machine".to_owned());
        }
        if !role.mounts.is_empty() {
            list.push("storages are not mounted".to_owned());
        }
    }
    list
}
