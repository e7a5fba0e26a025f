//! The life of a task between its start and its report.

use std::cmp::Reverse;
use std::os::fd::AsRawFd as _;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv, send};
use pinnace_core::plan::OnFailure;

use super::request::Request;
use super::task::{Reason, State};
use super::{Supervisor, Timer};
use crate::contract::{Happening, Level, PhaseName, TaskId};
use crate::local::journal::now_micros;
use crate::runner::channel::{Ending, Message, Order};
use crate::runner::script::{self, Mark};
use crate::sandbox;

/// Of the grace period, exit hooks keep a quarter, but not more than this.
const MOST_FOR_HOOKS: Duration = Duration::from_secs(10);

impl Supervisor {
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
            Message::Ready => {
                self.on_ready(index);
                self.remove_mark(index);
            }
            Message::Failed(error) => {
                if let Some(task) = self.tasks.get_mut(index) {
                    task.start_failure = Some(error);
                }
            }
            Message::Vacant { cpu_micros } => self.on_vacant(index, cpu_micros),
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

    /// Beside the task, what it does not need is removed: at its end that would take time.
    fn remove_mark(&self, index: usize) {
        if let Some(task) = self.tasks.get(index)
            && task.level == Level::Overlay
            && self.machine.as_root
            && !self.in_memory
        {
            sandbox::remove_mark(task.folder.changes());
        }
    }

    pub(super) fn on_ready(&mut self, index: usize) {
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

    pub(super) fn enter_phase(&mut self, index: usize, phase: PhaseName) {
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

    pub(super) fn on_ended(&mut self, index: usize, ending: Ending) {
        let Some(succeeded) = self.note_ending(index, ending) else {
            return;
        };
        let Some(task) = self.tasks.get_mut(index) else {
            return;
        };
        let Some(role) = self.attempt.plan.roles.get(&task.spec.id.role) else {
            return;
        };
        if script::exit_hooks(role, succeeded).next().is_some() {
            task.state = State::Hooks;
            self.order(index, Order::Hooks { success: succeeded });
        } else {
            self.after_hooks(index);
        }
    }

    /// Notes how the command ended; gives whether that is a success.
    pub(super) fn note_ending(&mut self, index: usize, ending: Ending) -> Option<bool> {
        let task = self.tasks.get_mut(index)?;
        let role = self.attempt.plan.roles.get(&task.spec.id.role)?;
        let mut ending = ending;
        if ending == Ending::Code(0) && !task.reached_command {
            task.output.say(
                &["[ERROR] a start hook left the shell before the command could run"],
                &mut self.buffer,
            );
            ending = Ending::Code(1);
        }
        if let Ending::Code(code) = ending
            && code != 0
            && task.reached_command
            && role.success.holds(code)
        {
            let said = format!("[INFO] the command ended with {code}, which is a success");
            task.output.say(&[&said], &mut self.buffer);
            ending = Ending::Code(0);
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
        Some(succeeded)
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

    pub(super) fn set_timer(&mut self, index: usize, after: Duration, timer: Timer) {
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
            Timer::LayOut => self.lay_out(index),
        }
    }

    /// Begins to end a task: `SIGTERM`, and the grace period runs.
    pub(super) fn stop(&mut self, index: usize, reason: Reason, grace: Option<u64>) {
        self.lay_out(index);
        let Some(task) = self.tasks.get_mut(index) else {
            return;
        };
        let first_time = task.reason.is_none();
        match task.state {
            State::Ended | State::Finishing | State::Collecting => return,
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
        task.cpu_micros += cpu_micros.saturating_sub(task.moved_in.unwrap_or_default());
        task.channel = None;
        if task.moved_in.is_some() && task.start_failure.take().is_some() {
            // A sandbox of its own will do.
            task.moved_in = None;
            task.output.drain(&mut self.buffer);
            task.state = State::Queued;
            self.stop_showing(index);
            if let Some(task) = self.tasks.get_mut(index) {
                task.lodging = None;
            }
            return self.start(index);
        }
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
}
