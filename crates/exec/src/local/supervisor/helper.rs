//! Processes that move data for the supervisor, which must not wait itself.

use std::fs::File;
use std::os::fd::{AsFd as _, AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sched::CloneFlags;
use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill, sigprocmask};
use nix::unistd::Pid;

use super::start::pipe;
use super::task::State;
use super::{Supervisor, Token};
use crate::contract::{Happening, PhaseName};
use crate::data::{Tell, Teller, collect, stage};
use crate::runner::channel::Ending;
use crate::sandbox::cgroup;
use crate::sys::{self, Side};

/// What a helper does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Makes the data of all roles ready.
    Stage,
    /// Collects the outputs of this task's role; its report waits for that.
    Collect { task: usize },
}

/// A process at work.
#[derive(Debug)]
pub(super) struct Helper {
    pid: Pid,
    pipe: OwnedFd,
    partial: Vec<u8>,
    work: Work,
    answer: Option<Tell>,
}

impl Drop for Helper {
    fn drop(&mut self) {
        // Harmless if it has ended: nobody else has its number until it is reaped.
        let _ = kill(self.pid, Signal::SIGKILL);
    }
}

impl Supervisor {
    /// Begins to make data ready, if there is any.
    pub(super) fn begin_staging(&mut self) {
        let plan = &self.attempt.plan;
        let needs = |role: &String| plan.roles.get(role).is_some_and(stage::is_needed);
        let waiting: Vec<usize> = (0..self.tasks.len())
            .filter(|index| {
                self.tasks
                    .get(*index)
                    .is_some_and(|task| needs(&task.spec.id.role))
            })
            .collect();
        if waiting.is_empty() {
            self.is_staged = true;
            return;
        }
        for index in waiting {
            self.enter_phase(index, PhaseName::Staging);
        }
        if let Err(error) = self.help(Work::Stage) {
            self.fail_staging(&error);
        }
    }

    fn help(&mut self, work: Work) -> Result<(), String> {
        let (near, far) = pipe()?;
        let door = match &self.group {
            Some(group) => group.door(),
            None => Ok(None),
        };
        let door = door.map_err(|error| format!("cannot use the control group: {error}"))?;
        let side = sys::fork_into(CloneFlags::empty())
            .map_err(|error| format!("cannot start a process: {error}"))?;
        match side {
            Side::Child => {
                let doors: Vec<File> = door.into_iter().collect();
                let mut keep = vec![far.as_raw_fd(), self.lock.as_raw_fd()];
                keep.extend(doors.iter().map(AsRawFd::as_raw_fd));
                sys::close_all_but(&keep);
                let _ = nix::sys::prctl::set_pdeathsig(Signal::SIGKILL);
                let _ = cgroup::join(&doors);
                let _ = sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None);
                self.work(work, &Teller::to(far));
                sys::leave(0)
            }
            Side::Parent(pid) => {
                drop(far);
                let id = self.next_helper;
                self.next_helper += 1;
                self.watch(near.as_fd(), Token::Helper(id));
                let helper = Helper {
                    pid,
                    pipe: near,
                    partial: Vec::new(),
                    work,
                    answer: None,
                };
                self.helpers.insert(id, helper);
                Ok(())
            }
        }
    }

    /// In the new process.
    fn work(&self, work: Work, teller: &Teller) {
        match work {
            Work::Stage => {
                let (attempt, secrets) = (&self.attempt, &self.secrets);
                stage::stage(attempt, secrets, &self.layout, self.level, teller);
            }
            Work::Collect { task } => {
                let Some(role) = self.tasks.get(task).map(|task| &task.spec.id.role) else {
                    return;
                };
                let may_clear = self
                    .tasks
                    .iter()
                    .filter(|task| task.spec.id.role == *role)
                    .all(|task| {
                        task.ending == Some(Ending::Code(0))
                            && task.reason.is_none()
                            && task.hook_failure.is_none()
                    });
                let collected =
                    collect::collect(&self.attempt, &self.layout, role, may_clear, teller);
                teller.tell(&Tell::Collected(collected));
            }
        }
    }

    pub(super) fn on_helper(&mut self, id: u32) {
        let mut buffer = [0; 4096];
        loop {
            let Some(helper) = self.helpers.get_mut(&id) else {
                return;
            };
            match nix::unistd::read(&helper.pipe, &mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    helper
                        .partial
                        .extend_from_slice(buffer.get(..count).unwrap_or_default());
                    self.on_tells(id);
                }
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => return,
                Err(_) => break,
            }
        }
        if let Some(mut helper) = self.helpers.remove(&id) {
            let answer = helper.answer.take();
            match helper.work {
                Work::Stage => self.on_staged(answer),
                Work::Collect { task } => self.on_collected(task, answer),
            }
        }
    }

    fn on_tells(&mut self, id: u32) {
        let Some(helper) = self.helpers.get_mut(&id) else {
            return;
        };
        let Some(end) = helper.partial.iter().rposition(|byte| *byte == b'\n') else {
            return;
        };
        let lines: Vec<u8> = helper.partial.drain(..=end).collect();
        let about = match helper.work {
            Work::Stage => 0,
            Work::Collect { task } => task,
        };
        for line in lines.split(|byte| *byte == b'\n') {
            match serde_json::from_slice(line) {
                Ok(Tell::Note(text)) => self.note(about, &text),
                Ok(Tell::Transfer { what, done, total }) => {
                    let what = self.stencil.clean(&what);
                    self.journal.add(Happening::Transfer { what, done, total });
                }
                Ok(answer) => {
                    if let Some(helper) = self.helpers.get_mut(&id) {
                        helper.answer = Some(answer);
                    }
                }
                Err(_) => {}
            }
        }
    }

    pub(super) fn note(&mut self, index: usize, text: &str) {
        if let Some(task) = self.tasks.get(index) {
            self.journal.add(Happening::Note {
                task: task.spec.id.clone(),
                text: self.stencil.clean(text),
            });
        }
    }

    fn on_staged(&mut self, answer: Option<Tell>) {
        match answer {
            Some(Tell::Staged(staged)) => {
                self.staged = *staged;
                self.is_staged = true;
            }
            Some(Tell::Failed(why)) => self.fail_staging(&why),
            _ => self.fail_staging("the process that makes data ready was killed"),
        }
    }

    fn fail_staging(&mut self, why: &str) {
        self.queue.clear();
        for index in 0..self.tasks.len() {
            if let Some(task) = self.tasks.get_mut(index)
                && task.state == State::Queued
            {
                task.start_failure = Some(why.to_owned());
                task.failed_in = Some(PhaseName::Staging);
                self.conclude(index);
            }
        }
    }

    /// Whether the report of a task must wait until its role's outputs are collected: it is the last of its role.
    pub(super) fn collects_first(&mut self, index: usize) -> bool {
        let Some(task) = self.tasks.get(index) else {
            return false;
        };
        let role = &task.spec.id.role;
        let has_outputs = self
            .attempt
            .plan
            .roles
            .get(role)
            .is_some_and(|role| !role.outputs.is_empty());
        if !has_outputs || !self.is_staged || task.state == State::Collecting {
            return false;
        }
        let is_last = !self.tasks.iter().enumerate().any(|(other, task)| {
            other != index && task.spec.id.role == *role && task.state != State::Ended
        });
        if !is_last {
            return false;
        }
        self.enter_phase(index, PhaseName::Collecting);
        let begun = self.help(Work::Collect { task: index });
        let Some(task) = self.tasks.get_mut(index) else {
            return false;
        };
        task.state = State::Collecting;
        match begun {
            Ok(()) => true,
            Err(error) => {
                task.collect_failure = Some(error);
                false
            }
        }
    }

    fn on_collected(&mut self, index: usize, answer: Option<Tell>) {
        let failure = match answer {
            Some(Tell::Collected(collected)) => {
                let failures: Vec<String> = collected
                    .into_iter()
                    .filter_map(|collected| collected.failure)
                    .collect();
                (!failures.is_empty()).then(|| failures.join("; "))
            }
            _ => Some("the process that collects outputs was killed".to_owned()),
        };
        if let Some(task) = self.tasks.get_mut(index) {
            task.collect_failure = failure;
        }
        self.conclude(index);
    }
}
