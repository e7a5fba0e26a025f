//! The way of a job through its attempts.

use super::Step;
use crate::exit::Verdict;
use crate::exit::code::{ATTEMPT_OVER, STOP_ASKED, SUCCEEDED};
use crate::lifecycle::completion::{Condition, Trigger};
use crate::lifecycle::job::{AttemptRecord, JobState, Outcome};
use crate::lifecycle::message::{Effect, Group, KillReason, Timer};
use crate::lifecycle::retry::Circumstances;
use crate::lifecycle::state::State;
use crate::lifecycle::task::{Task, TaskId, Times};

impl Step<'_> {
    pub(super) fn begin_attempt(&mut self) {
        let attempt = self.job.retries.total;
        self.asked_for_places = false;
        if self.job.stop.is_some() {
            self.decide(Verdict::of(STOP_ASKED), Condition::StopAsked, None);
        } else if self.job.tasks.is_empty() {
            let condition = Condition::AllCompleted { total: 0 };
            self.decide(Verdict::of(SUCCEEDED), condition, None);
        } else if self.job.gang {
            let group = Group::Gang(attempt);
            self.effects.push(Effect::Place { group });
        } else {
            let groups = self.job.tasks.iter().map(|task| Effect::Place {
                group: Group::Task(task.attempt(attempt)),
            });
            self.effects.extend(groups);
        }
    }

    /// Counts a task that has ended for good and sees whether that decides the attempt.
    pub(super) fn count(&mut self, at: usize) {
        let task = &self.job.tasks[at];
        let Some(verdict) = task.outcome.clone() else {
            return;
        };
        let id = task.id;
        let role = &mut self.job.roles[id.role as usize];
        let total = self.job.tasks.len() as u32;
        if let Some(condition) = role.tally.count(role.completion, verdict.is_success()) {
            self.decide(verdict, condition, Some(id));
        } else if self.job.completed == total {
            let condition = Condition::AllCompleted { total };
            self.decide(Verdict::of(SUCCEEDED), condition, Some(id));
        }
    }

    pub(super) fn record_outcome(
        &mut self,
        verdict: Verdict,
        condition: Condition,
        task: Option<TaskId>,
    ) {
        self.job.times.ending = Some(self.now);
        self.job.outcome = Some(Outcome {
            verdict,
            trigger: Trigger { condition, task },
        });
    }

    /// The fate of the attempt is decided: everything else of it ends.
    pub(super) fn decide(&mut self, verdict: Verdict, condition: Condition, task: Option<TaskId>) {
        let reason = match condition {
            Condition::StopAsked => KillReason::StopAsked,
            Condition::TimeLimit => KillReason::TimeLimit,
            Condition::Preempted => KillReason::Preempted,
            _ => KillReason::AttemptOver,
        };
        self.record_outcome(verdict, condition, task);
        let attempt = self.job.retries.total;
        let waits = self.job.state == State::AttemptCreationPending;
        if self.job.gang && waits && self.asked_for_places {
            let group = Group::Gang(attempt);
            self.effects.push(Effect::Withdraw { group });
        }
        for at in 0..self.job.tasks.len() {
            let task = &self.job.tasks[at];
            match task.state {
                State::AttemptCreationPending => {
                    if !self.job.gang && self.asked_for_places {
                        let group = Group::Task(task.attempt(attempt));
                        self.effects.push(Effect::Withdraw { group });
                    }
                    let task = &mut self.job.tasks[at];
                    task.outcome
                        .get_or_insert_with(|| Verdict::of(ATTEMPT_OVER));
                    task.times.ended = Some(self.now);
                    self.enter_task(at, State::AttemptCompleted);
                    self.task_completed(at);
                }
                State::AttemptCreationRequested
                | State::AttemptPreparing
                | State::AttemptRunning => self.kill(at, ATTEMPT_OVER, reason),
                State::AttemptCompleted => self.task_completed(at),
                State::AttemptDeletionPending
                | State::AttemptDeletionRequested
                | State::AttemptDeleting => {
                    if self.job.stop.is_some_and(|stop| stop.force) {
                        self.push_kill(at, reason);
                    }
                }
                State::Completed => {}
            }
        }
        if self.job.live > 0 {
            match self.job.state {
                State::AttemptCreationRequested => self.enter(State::AttemptDeleting),
                _ => self.enter(State::AttemptDeletionPending),
            }
        }
        self.close_if_empty();
    }

    /// The first sign that something of a decided attempt is really going.
    pub(super) fn show_deleting(&mut self) {
        let state = self.job.state;
        if state.is_being_ended() && state != State::AttemptDeleting {
            self.enter(State::AttemptDeleting);
        }
    }

    /// Ends the attempt once nothing of it is left.
    pub(super) fn close_if_empty(&mut self) {
        if self.job.live > 0 || self.job.state >= State::AttemptCompleted {
            return;
        }
        let now = self.now;
        self.job.times.ended = Some(now);
        self.enter(State::AttemptCompleted);
        if self.job.gang_release {
            let attempt = self.job.retries.total;
            let placed = self
                .job
                .tasks
                .iter()
                .filter(|task| task.times.placed.is_some());
            let releases = placed.map(|task| Effect::Release {
                task: task.attempt(attempt),
            });
            self.effects.extend(releases);
        }
        let job = &mut *self.job;
        let Some(outcome) = &job.outcome else { return };
        let circumstances = Circumstances {
            settings: &job.settings,
            ran_for_ms: job.times.ran_for(),
            random_wait: true,
        };
        let decision = job
            .retries
            .decide(job.policy, &outcome.verdict, circumstances);
        let code = outcome.verdict.code;
        job.decision = Some(decision);
        if !decision.again {
            self.enter(State::Completed);
            self.effects.push(Effect::Finish { code });
        } else if decision.delay_ms == 0 || self.job.stop.is_some() {
            self.retry_job();
        } else {
            self.effects.push(Effect::ScheduleTimer {
                at: now.after(decision.delay_ms),
                timer: Timer::JobRetry(self.job.retries.total),
            });
        }
    }

    pub(super) fn retry_job(&mut self) {
        let now = self.now;
        let job = &mut *self.job;
        let (Some(outcome), Some(decision)) = (job.outcome.take(), job.decision.take()) else {
            return;
        };
        if job.history.len() >= JobState::MOST_RECORDS {
            job.history.pop_front();
        }
        job.history.push_back(AttemptRecord {
            attempt: job.retries.total,
            outcome,
            decision,
            times: job.times,
        });
        job.retries.go_on(decision);
        job.times = Times::starting(now);
        for task in &mut job.tasks {
            *task = Task::new(task.id, now);
        }
        job.reset_counters();
        self.enter(State::AttemptCreationPending);
        self.begin_attempt();
    }
}
