//! The process that looks after the tasks of one attempt. It has one thread and waits in one place.

mod helper;
mod life;
mod output;
mod parking;
mod pressure;
mod report;
pub(crate) mod request;
mod setup;
mod sockets;
mod spare;
mod start;
mod task;

pub use report::remove_folder;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::ffi::OsString;
use std::io::Write as _;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::signal::Signal;
use nix::sys::signalfd::SignalFd;
use nix::unistd::Pid;

use crate::contract::{Attempt, Happening, Level, Secrets};
use crate::data::stage::Staged;
use crate::environment::Shared;
use crate::log::{QuietLog, Stencil};
use crate::sandbox::Machine;
use crate::sandbox::cgroup::{AttemptGroup, TaskGroup};
use crate::sys;
use output::Source;
use sockets::Clients;
use task::{State, Task};

use super::Layout;
use super::journal::Journal;

/// Why a second supervisor of an attempt gives up.
pub(crate) const ANOTHER_SUPERVISOR: &str = "another supervisor looks after this attempt";

/// How many tasks are started between two looks at those that run.
const STARTS_PER_TURN: usize = 8;

/// How much of a pipe is read at once.
const BUFFER: usize = 256 << 10;

/// The whole program: `supervisor ATTEMPT_DIR`, the secrets on standard input. When all is ready, a
/// line goes to standard output: `ready`, or why not. Gives the exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> i32 {
    let mut answer = std::fs::File::from(sys::take_standard(1));
    let Some(folder) = arguments.into_iter().next().map(PathBuf::from) else {
        let _ = answer.write_all(b"the folder of the attempt is missing\n");
        return 2;
    };
    let prepared = Supervisor::prepare(&Layout::new(folder));
    match prepared {
        Ok(mut supervisor) => {
            let _ = answer.write_all(b"ready\n");
            drop(answer);
            match setup::keep_nothing_at(1).and_then(|()| supervisor.run()) {
                Ok(()) => 0,
                Err(error) => {
                    setup::complain(&supervisor.layout, &error);
                    3
                }
            }
        }
        Err(error) => {
            let _ = answer.write_all(format!("{error}\n").as_bytes());
            3
        }
    }
}

/// What a descriptor is for; a number in the kernel's book of descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Signals,
    Listener,
    Client(u32),
    Channel(u32),
    Marks(u32),
    Output(u32, Source),
    Helper(u32),
}

impl Token {
    fn number(self) -> u64 {
        let (kind, value) = match self {
            Token::Signals => (0, 0),
            Token::Listener => (1, 0),
            Token::Client(client) => (2, client),
            Token::Channel(task) => (3, task),
            Token::Marks(task) => (4, task),
            Token::Output(task, Source::Stdout) => (5, task),
            Token::Output(task, Source::Stderr) => (6, task),
            Token::Output(task, Source::Runtime) => (7, task),
            Token::Helper(helper) => (8, helper),
        };
        kind << 32 | u64::from(value)
    }

    fn parse(number: u64) -> Self {
        let value = number as u32;
        match number >> 32 {
            0 => Token::Signals,
            1 => Token::Listener,
            2 => Token::Client(value),
            3 => Token::Channel(value),
            4 => Token::Marks(value),
            5 => Token::Output(value, Source::Stdout),
            6 => Token::Output(value, Source::Stderr),
            7 => Token::Output(value, Source::Runtime),
            _ => Token::Helper(value),
        }
    }
}

/// Something to do at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    /// The task's time is over.
    TimeLimit,
    /// The command had its share of the grace period.
    KillCommand,
    /// The grace period is over.
    GraceOver,
    /// The time for which a failed task is kept is over.
    KeepOver,
    /// The task is not one of the very short ones.
    LayOut,
}

/// The supervisor at work.
#[derive(Debug)]
pub(crate) struct Supervisor {
    layout: Layout,
    attempt: Attempt,
    secrets: Secrets,
    stencil: Stencil,
    journal: Journal,
    quiet: QuietLog,
    lock: OwnedFd,
    signals: SignalFd,
    poll: Epoll,
    clients: Clients,
    machine: Machine,
    hidden: Vec<PathBuf>,
    /// Whether changes are kept in memory.
    in_memory: bool,
    group: Option<AttemptGroup>,
    environment: Shared,
    shell: (crate::contract::ShellKind, &'static str),
    /// The best level that has not failed here.
    level: Level,
    /// What is not enforced for any task, and why.
    not_enforced: Vec<String>,
    /// The soft limit of open files before it was raised for the supervisor.
    open_files: u64,
    capacity: (u32, u64),
    tasks: Vec<Task>,
    parking: Option<parking::Parking>,
    /// Once somebody wants to know.
    pressure: Option<pressure::Pressure>,
    by_pid: HashMap<Pid, usize>,
    queue: VecDeque<usize>,
    /// Tasks that were started a moment ago.
    recent: Vec<(usize, Instant)>,
    /// How long tasks took lately that left their sandbox to another.
    typical: Duration,
    /// Sandboxes that wait for another task.
    spares: Vec<spare::Spare>,
    /// First processes without a task that have been told to end, with the groups they are in.
    leaving: HashMap<Pid, TaskGroup>,
    timers: BinaryHeap<Reverse<(Instant, usize, u32, Timer)>>,
    running: usize,
    buffer: Vec<u8>,
    /// Processes that move data.
    helpers: HashMap<u32, helper::Helper>,
    next_helper: u32,
    /// What tasks find, once `is_staged`.
    staged: Staged,
    is_staged: bool,
}

impl Supervisor {
    fn run(&mut self) -> Result<(), String> {
        self.journal.add(Happening::Supervising {
            pid: i32::try_from(std::process::id()).unwrap_or_default(),
        });
        let mut events = vec![EpollEvent::empty(); 256];
        self.make_group();
        self.begin_staging();
        while self.running > 0 || !self.spares.is_empty() || !self.leaving.is_empty() {
            let starts = if self.is_staged {
                self.room_for_starts(STARTS_PER_TURN)
            } else {
                0
            };
            for _ in 0..starts {
                let Some(index) = self.queue.pop_front() else {
                    break;
                };
                self.start(index);
            }
            self.let_go_of_spares();
            if self.running == 0 && self.leaving.is_empty() {
                // The last ones could not be started, and nothing will ever happen.
                break;
            }
            self.flush()?;
            let timeout = self.timeout();
            let count = match self.poll.wait(&mut events, timeout) {
                Ok(count) => count,
                Err(Errno::EINTR) => 0,
                Err(error) => return Err(format!("cannot wait for events: {error}")),
            };
            for event in events.get(..count).unwrap_or_default() {
                self.on_event(Token::parse(event.data()));
            }
            self.on_time();
        }
        self.journal.add(Happening::Ended);
        // First, because once the last task is told to have ended, nobody may look at this attempt again.
        self.clear_up();
        self.flush()
    }

    fn clear_up(&mut self) {
        // They are in the group.
        self.helpers.clear();
        if let Some(group) = &self.group {
            group.dissolve();
        }
        let _ = std::fs::remove_file(self.layout.socket());
        let _ = std::fs::remove_dir(self.layout.memory());
        let _ = remove_folder(&self.layout.temporary());
        let _ = remove_folder(&self.layout.ssh_keys());
    }

    fn flush(&mut self) -> Result<(), String> {
        if let Err(error) = self.quiet.flush() {
            let text = format!("cannot write what short tasks had to say: {error}");
            setup::complain(&self.layout, &text);
        }
        let is_new = self
            .journal
            .flush()
            .map_err(|error| format!("cannot write {}: {error}", self.layout.events().display()))?;
        if is_new {
            self.clients.notify();
        }
        Ok(())
    }

    fn timeout(&mut self) -> EpollTimeout {
        let mut when = self.timers.peek().map(|Reverse((when, ..))| *when);
        if self.is_staged && !self.queue.is_empty() {
            if self.room_for_starts(1) > 0 {
                return EpollTimeout::ZERO;
            }
            when = when.into_iter().chain(self.next_room()).min();
        }
        let Some(when) = when else {
            return EpollTimeout::NONE;
        };
        let left = when.saturating_duration_since(Instant::now()) + Duration::from_millis(1);
        EpollTimeout::try_from(left).unwrap_or(EpollTimeout::MAX)
    }

    fn on_event(&mut self, token: Token) {
        match token {
            Token::Signals => self.on_signals(),
            Token::Listener => {
                if let Err(error) = self.clients.accept(&self.poll) {
                    setup::complain(&self.layout, &format!("cannot take a request: {error}"));
                }
            }
            Token::Client(client) => {
                for (client, request) in self.clients.read(client) {
                    let error = self.on_request(client, request).err();
                    self.clients.answer(client, error);
                }
            }
            Token::Channel(task) => self.on_channel(task as usize),
            Token::Marks(task) => self.on_marks(task as usize),
            Token::Helper(helper) => self.on_helper(helper),
            Token::Output(task, source) => {
                let index = task as usize;
                self.lay_out(index);
                if let Some(task) = self.tasks.get_mut(index) {
                    task.output.pump(source, &mut self.buffer, 4);
                }
            }
        }
    }

    fn on_signals(&mut self) {
        let mut stop = false;
        while let Ok(Some(signal)) = self.signals.read_signal() {
            stop |= signal.ssi_signo != Signal::SIGCHLD as u32;
        }
        while let Some((pid, status, cpu_micros)) = sys::reap() {
            if let Some(index) = self.by_pid.remove(&pid) {
                self.on_reaped(index, status, cpu_micros);
            } else {
                self.on_spare_reaped(pid);
            }
        }
        if stop {
            for index in 0..self.tasks.len() {
                self.stop(index, task::Reason::Stopped, None);
            }
        }
    }

    fn on_time(&mut self) {
        while let Some(Reverse((when, ..))) = self.timers.peek() {
            if *when > Instant::now() {
                return;
            }
            if let Some(Reverse((_, index, epoch, timer))) = self.timers.pop()
                && self
                    .tasks
                    .get(index)
                    .is_some_and(|task| task.timer_epoch == epoch)
            {
                self.on_timer(index, timer);
            }
        }
    }

    /// Changes whom the events of a descriptor are for.
    fn watch_for_another(&self, fd: impl AsFd, token: Token) {
        let mut event = EpollEvent::new(EpollFlags::EPOLLIN, token.number());
        let _ = self.poll.modify(fd, &mut event);
    }

    fn watch(&self, fd: impl AsFd, token: Token) {
        // Fails only for want of memory or of watches; then the task's end still reads everything.
        let _ = self
            .poll
            .add(fd, EpollEvent::new(EpollFlags::EPOLLIN, token.number()));
    }
}

fn new_poll() -> Result<Epoll, String> {
    Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)
        .map_err(|error| format!("cannot wait for events: {error}"))
}

/// Whether a task still needs looking after.
fn is_over(state: State) -> bool {
    state == State::Ended
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_survive_the_kernel() {
        for token in [
            Token::Signals,
            Token::Listener,
            Token::Client(3),
            Token::Channel(u32::MAX),
            Token::Marks(0),
            Token::Output(7, Source::Stdout),
            Token::Output(7, Source::Stderr),
            Token::Output(7, Source::Runtime),
            Token::Helper(1),
        ] {
            assert_eq!(Token::parse(token.number()), token);
        }
    }
}
