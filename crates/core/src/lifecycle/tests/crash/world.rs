//! Scheduler and engine: what outlives the control loop.

use std::collections::{BTreeMap, BTreeSet};

use super::super::*;
use super::story::{Dice, Story};

/// What happens outside by itself, at a time. The order among equal times is that of the variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    Grant(Group),
    Refuse(Group),
    Start(TaskAttempt),
    Exit(TaskAttempt),
    Killed(TaskAttempt),
    Preempt,
    Lose,
    Timer(Timer),
    Stop(bool),
}

/// A process of a task, as the engine knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Process {
    Starting,
    Running,
    Ended,
}

/// Scheduler and engine: what outlives the control loop.
pub(super) struct World<'a> {
    pub(super) story: &'a Story,
    pub(super) now: u64,
    pub(super) agenda: BTreeSet<(u64, Event)>,
    /// Groups that ever asked for a place; true while they wait.
    pub(super) asked: BTreeMap<Group, bool>,
    /// Task attempts that hold a place.
    pub(super) held: BTreeSet<TaskAttempt>,
    pub(super) processes: BTreeMap<TaskAttempt, Process>,
    /// Everything ever observed, in order.
    pub(super) log: Vec<Input>,
    pub(super) finished: Option<i32>,
}

impl World<'_> {
    pub(super) fn members(&self, group: Group) -> Vec<TaskAttempt> {
        let Group::Gang(job_attempt) = group else {
            let Group::Task(task) = group else {
                unreachable!()
            };
            return vec![task];
        };
        let roles = self.story.plan.roles.values().enumerate();
        let tasks = roles.flat_map(|(role, sketch)| {
            (0..sketch.instances).map(move |index| TaskId {
                role: role as u32,
                index,
            })
        });
        tasks
            .map(|task| TaskAttempt {
                job_attempt,
                task,
                attempt: 0,
            })
            .collect()
    }

    pub(super) fn perform(&mut self, effect: Effect, timers: &mut BTreeSet<(u64, Timer)>) {
        match effect {
            Effect::Place { group } => {
                if self.asked.contains_key(&group) {
                    return;
                }
                self.asked.insert(group, true);
                let mut dice = Dice(self.story.seed ^ self.asked.len() as u64);
                let refused = !self.story.steady && dice.below(20) == 0;
                let event = if refused {
                    Event::Refuse(group)
                } else {
                    Event::Grant(group)
                };
                self.agenda.insert((self.now + 100, event));
            }
            Effect::Withdraw { group } => {
                self.asked.insert(group, false);
                for task in self.members(group) {
                    self.held.remove(&task);
                }
            }
            Effect::Launch { group } => {
                for task in self.members(group) {
                    if self.processes.contains_key(&task) {
                        continue;
                    }
                    let twin = self.processes.iter().find(|(other, process)| {
                        other.task == task.task && **process != Process::Ended
                    });
                    assert_eq!(twin, None, "{task:?} starts beside another");
                    assert!(self.held.contains(&task), "{task:?} starts without a place");
                    self.processes.insert(task, Process::Starting);
                    self.agenda.insert((self.now + 10, Event::Start(task)));
                }
            }
            Effect::Kill { task, force, .. } => match self.processes.get(&task) {
                None => self.end(task, 143),
                Some(Process::Ended) => {}
                Some(_) => {
                    let grace = if force { 0 } else { 2_000 };
                    self.agenda.insert((self.now + grace, Event::Killed(task)));
                }
            },
            Effect::Release { task } => {
                let process = self.processes.get(&task);
                assert!(process.is_none_or(|process| *process == Process::Ended));
                self.held.remove(&task);
            }
            Effect::ScheduleTimer { at, timer } => {
                timers.insert((at.0, timer));
            }
            Effect::Finish { code } => {
                assert!(self.finished.is_none_or(|before| before == code));
                self.finished = Some(code);
            }
        }
    }

    pub(super) fn end(&mut self, task: TaskAttempt, code: i32) {
        self.processes.insert(task, Process::Ended);
        let verdict = Verdict::of(code);
        self.log.push(Input::TaskExited { task, verdict });
    }

    pub(super) fn happen(&mut self, event: Event) {
        match event {
            Event::Grant(group) => {
                if self.asked.insert(group, false) == Some(true) {
                    let members = self.members(group);
                    self.held.extend(members);
                    self.log.push(Input::Placed { group });
                }
            }
            Event::Refuse(group) => {
                if self.asked.insert(group, false) == Some(true) {
                    let verdict = Verdict::of(251);
                    self.log.push(Input::PlaceRefused { group, verdict });
                }
            }
            Event::Start(task) => {
                if self.processes.get(&task) == Some(&Process::Starting) {
                    self.processes.insert(task, Process::Running);
                    let end = self.now + self.story.script(task).lasts_ms;
                    self.agenda.insert((end, Event::Exit(task)));
                    self.log.push(Input::TaskStarted { task });
                }
            }
            Event::Exit(task) => {
                if self.processes.get(&task) == Some(&Process::Running) {
                    self.processes.insert(task, Process::Ended);
                    let verdict = verdict(self.story.script(task).behaviour);
                    self.log.push(Input::TaskExited { task, verdict });
                }
            }
            Event::Killed(task) => {
                if self.processes.get(&task) != Some(&Process::Ended) {
                    self.end(task, 143);
                }
            }
            Event::Preempt => {
                if let Some(task) = self.held.iter().next().copied() {
                    let group = if self.story.plan.placement.gang {
                        Group::Gang(task.job_attempt)
                    } else {
                        Group::Task(task)
                    };
                    self.log.push(Input::Preempted { group });
                }
            }
            Event::Lose => {
                let mut alive = self
                    .processes
                    .iter()
                    .filter(|(_, process)| **process != Process::Ended);
                if let Some((task, _)) = alive.next() {
                    let task = *task;
                    self.processes.insert(task, Process::Ended);
                    self.log.push(Input::TaskLost { task });
                }
            }
            Event::Timer(timer) => self.log.push(Input::TimerFired { timer }),
            Event::Stop(force) => self.log.push(Input::Stop { force }),
        }
    }
}
