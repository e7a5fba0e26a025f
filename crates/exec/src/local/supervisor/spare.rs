//! Sandboxes whose task has left nothing behind. The next task of the role moves in.
//!
//! The empty work folder of the task before stays mounted there and is that of the next one. A task that moves in has no folder
//! of its own at first: it gets one when it writes something or is not over in a moment. To make folders and files costs
//! more than the tasks that need none. The work folder itself moves there when it is known that no other task will have it: to
//! move it is to change it, and a changed one is left to nobody.

use std::fs;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
use nix::unistd::Pid;
use pinnace_core::plan::Role;

use super::output::Source;
use super::pressure::Pressure;
use super::start::{make_folder, own_variables, pipe, speaks_of_pai_folder};
use super::task::{Lodging, State};
use super::{Supervisor, Timer};
use crate::contract::{Happening, Level, PhaseName};
use crate::data::stage;
use crate::runner::channel::{Ending, NextTask};
use crate::sandbox::cgroup::TaskGroup;

/// A sandbox without a task.
#[derive(Debug)]
pub(super) struct Spare {
    role: String,
    level: Level,
    pid: Pid,
    channel: OwnedFd,
    /// What all tasks that were here have used.
    cpu_micros: u64,
    /// In which the first process is.
    group: TaskGroup,
    /// Where the work folder is.
    work: PathBuf,
}

/// For so long after its start at least, and at most, a task may still turn out to be a short one.
const SHORT: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(20)];

/// The same while processes have to wait for cores: more tasks at once would not be sooner at their end.
const SHORT_UNDER_PRESSURE: [Duration; 2] = [Duration::from_millis(20), Duration::from_millis(200)];

/// A task that runs for so long has a folder of its own.
const SOON: Duration = Duration::from_secs(1);

/// So many tasks for each core may be about to end before others are started.
const STARTED_PER_CORE: usize = 3;

impl Supervisor {
    /// Whether tasks of a role can follow each other in a sandbox: they have nothing but a command.
    pub(super) fn can_follow(&self, role: &Role, level: Level) -> bool {
        self.in_memory
            && level > Level::Plain
            && self.attempt.settings.keep_on_failure_minutes.is_none()
            && role.before.is_empty()
            && role.after.is_empty()
            && role.files.is_empty()
            && role.mounts.is_empty()
            && !stage::is_needed(role)
            && !speaks_of_pai_folder(role)
    }

    /// How many tasks may be started now. Where tasks can follow each other, those that may end in a moment are waited
    /// for: their sandboxes are worth more than the moment.
    pub(super) fn room_for_starts(&mut self, most: usize) -> usize {
        let role_of_next = self
            .queue
            .front()
            .and_then(|index| self.tasks.get(*index))
            .and_then(|task| self.attempt.plan.roles.get(&task.spec.id.role));
        if !role_of_next.is_some_and(|role| self.can_follow(role, self.level)) {
            self.recent.clear();
            return most;
        }
        self.pressure.get_or_insert_with(Pressure::begin).look();
        let (tasks, short) = (&self.tasks, self.short());
        self.recent.retain(|(index, at)| {
            let state = tasks.get(*index).map(|task| task.state);
            state == Some(State::Preparing) || state == Some(State::Running) && at.elapsed() < short
        });
        let cores = usize::try_from(self.capacity.0).unwrap_or(1);
        (STARTED_PER_CORE * cores)
            .saturating_sub(self.recent.len())
            .min(most)
    }

    /// When tasks that were started lately will no longer be waited for.
    pub(super) fn next_room(&self) -> Option<Instant> {
        // One that is not ready yet tells when it is.
        let runs = |index: usize| {
            let task = self.tasks.get(index);
            task.is_some_and(|task| task.state == State::Running)
        };
        let recent = self.recent.iter().filter(|(index, _)| runs(*index));
        let oldest = recent.map(|(_, at)| *at).min()?;
        oldest.checked_add(self.short())
    }

    /// For how long a task may be about to end: a few times what short ones take now, on a machine that may be busy.
    fn short(&self) -> Duration {
        let [least, most] = match self.pressure.as_ref().is_some_and(Pressure::is_high) {
            true => SHORT_UNDER_PRESSURE,
            false => SHORT,
        };
        (self.typical * 3).clamp(least, most)
    }

    /// The task has ended and its sandbox is as it was before.
    pub(super) fn on_vacant(&mut self, index: usize, cpu_micros: u64) {
        let is_wanted = !self.queue.is_empty();
        let Some(task) = self.tasks.get_mut(index) else {
            return;
        };
        let is_kept = is_wanted
            && task.state == State::Running
            && task.reason.is_none()
            && task.group.is_fit_for_another();
        let (true, Some(pid), Some(channel)) =
            (is_kept, task.pid, task.channel.take_if(|_| is_kept))
        else {
            return self.on_ended(index, Ending::Code(0));
        };
        self.by_pid.remove(&pid);
        task.cpu_micros += cpu_micros;
        task.is_vacant = true;
        self.typical = (self.typical * 3 + task.started.elapsed()) / 4;
        self.note_ending(index, Ending::Code(0));
        self.conclude(index);
        let Some(task) = self.tasks.get_mut(index) else {
            return;
        };
        self.spares.push(Spare {
            role: task.spec.id.role.clone(),
            level: task.level,
            pid,
            channel,
            cpu_micros: task.moved_in.unwrap_or_default() + cpu_micros,
            group: task.group.renewed(),
            work: match task.lodging.take() {
                Some(lodging) => lodging.work,
                None => task.folder.work(),
            },
        });
    }

    /// Gives a task that has moved in a folder of its own, if it has none.
    pub(super) fn lay_out(&mut self, index: usize) {
        let Some(task) = self.tasks.get_mut(index) else {
            return;
        };
        let Some(lodging) = task.lodging.as_mut().filter(|lodging| !lodging.is_shown) else {
            return;
        };
        lodging.is_shown = true;
        let made = make_folder(task.folder.path(), 0o700).and_then(|()| {
            symlink(&lodging.work, task.folder.work())
                .map_err(|error| format!("cannot show {}: {error}", lodging.work.display()))
        });
        task.output.speak_up();
        if let Err(error) = made {
            self.note(index, &error);
        }
    }

    /// The task is over, or begins anew elsewhere: its folder shows no work folder that is not its own.
    pub(super) fn stop_showing(&mut self, index: usize) {
        if let Some(task) = self.tasks.get(index)
            && task
                .lodging
                .as_ref()
                .is_some_and(|lodging| lodging.is_shown)
        {
            let _ = fs::remove_file(task.folder.work());
        }
    }

    /// The work folder is this task's for good.
    pub(super) fn take_over_work(&mut self, index: usize) {
        self.lay_out(index);
        self.stop_showing(index);
        let Some(task) = self.tasks.get_mut(index) else {
            return;
        };
        if let Some(lodging) = task.lodging.take()
            && let Err(error) = fs::rename(&lodging.work, task.folder.work())
        {
            self.note(
                index,
                &format!("cannot move {}: {error}", lodging.work.display()),
            );
        }
    }

    /// Gives a task the sandbox of another one; false if there is none.
    pub(super) fn move_in(&mut self, index: usize) -> bool {
        loop {
            let Some(task) = self.tasks.get(index) else {
                return false;
            };
            let fits = |spare: &Spare| spare.role == task.spec.id.role && spare.level == self.level;
            let Some(place) = self.spares.iter().rposition(fits) else {
                return false;
            };
            let spare = self.spares.swap_remove(place);
            match self.try_move_in(index, spare) {
                Ok(()) => return true,
                Err(spare) => self.let_go(*spare),
            }
        }
    }

    /// Gives the sandbox back if it cannot be used.
    fn try_move_in(&mut self, index: usize, spare: Spare) -> Result<(), Box<Spare>> {
        self.hand_over_ports(index);
        let level = self.level;
        let Some(task) = self.tasks.get_mut(index) else {
            return Err(Box::new(spare));
        };
        task.level = level;
        task.turn_to(Some(PhaseName::Sandbox), None);
        let ports = self.environment.ports_of(&task.spec.id);
        let next = NextTask {
            folder: task.folder.path().to_owned(),
            start_in: task.folder.work(),
            environment: own_variables(
                &self.environment,
                &self.attempt,
                &self.layout,
                task,
                &ports,
            ),
        };
        let (Ok((stdout, stdout_far)), Ok((stderr, stderr_far))) = (pipe(), pipe()) else {
            return Err(Box::new(spare));
        };
        let descriptors = [stdout_far.as_raw_fd(), stderr_far.as_raw_fd()];
        let sent = next.bytes().is_some_and(|bytes| {
            let parts = [std::io::IoSlice::new(&bytes)];
            let rights = [ControlMessage::ScmRights(&descriptors)];
            let flags = MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT;
            sendmsg::<()>(spare.channel.as_raw_fd(), &parts, &rights, flags, None).is_ok()
        });
        if !sent {
            return Err(Box::new(spare));
        }
        task.pid = Some(spare.pid);
        task.group = spare.group;
        task.moved_in = Some(spare.cpu_micros);
        task.lodging = Some(Lodging {
            work: spare.work,
            is_shown: false,
        });
        task.output.keep_quiet();
        task.state = State::Preparing;
        task.output.connect(Source::Stdout, stdout, &self.stencil);
        task.output.connect(Source::Stderr, stderr, &self.stencil);
        task.channel = Some(spare.channel);
        self.by_pid.insert(spare.pid, index);
        self.journal.add(Happening::Started {
            task: task.spec.id.clone(),
            pid: spare.pid.as_raw(),
            ports,
            level,
        });
        self.after_start(index);
        self.set_timer(index, SOON, Timer::LayOut);
        self.on_ready(index);
        Ok(())
    }

    /// Ends a sandbox that nobody wants.
    fn let_go(&mut self, spare: Spare) {
        let _ = kill(spare.pid, Signal::SIGKILL);
        self.leaving.insert(spare.pid, spare.group);
    }

    /// Ends all sandboxes without a task if none is to come.
    pub(super) fn let_go_of_spares(&mut self) {
        if self.queue.is_empty() || self.running == 0 {
            for spare in std::mem::take(&mut self.spares) {
                self.let_go(spare);
            }
        }
    }

    /// A first process that has no task has ended.
    pub(super) fn on_spare_reaped(&mut self, pid: Pid) {
        if let Some(place) = self.spares.iter().position(|spare| spare.pid == pid) {
            let spare = self.spares.swap_remove(place);
            self.leaving.insert(pid, spare.group);
        }
        if let Some(mut group) = self.leaving.remove(&pid) {
            group.remove();
        }
    }
}
