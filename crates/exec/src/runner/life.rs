//! The life of a task's first process, once the first shell has started.

use std::fs::File;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{OFlag, open, renameat};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::sys::signalfd::SignalFd;
use nix::sys::stat::Mode;
use nix::unistd::Pid;

use super::channel::{Ending, LONGEST_ORDER, Message, NextTask, Order};
use super::init::{Init, kept_script};
use super::processes::{self, descendants};
use super::script;
use crate::contract::Level;
use crate::sandbox::Traces;
use crate::sys;

/// Milliseconds after which those who seem not to have heard that they should end are told again.
const REMINDING: u8 = 100;

/// So many descriptors come with the next task.
const STREAMS: usize = 2;

/// The time after the first shell has started.
pub(super) struct Life<'a, 'b> {
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

impl<'a, 'b> Life<'a, 'b> {
    /// After the start of the first shell, which runs `script` and hands its `exports` to the exit hooks.
    pub(super) fn begin(
        init: &'a mut Init<'b>,
        first: Pid,
        script: File,
        exports: Option<File>,
        traces: Option<Traces>,
    ) -> Self {
        let longest = match traces {
            Some(_) => NextTask::LONGEST,
            None => LONGEST_ORDER,
        };
        Life {
            init,
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
        }
    }

    pub(super) fn go_on(&mut self, signals: &SignalFd) -> Result<(), String> {
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
