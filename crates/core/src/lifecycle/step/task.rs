//! The way of a task through its attempts.

use super::Step;
use crate::exit::Verdict;
use crate::lifecycle::message::{Effect, Group, KillReason, Timer};
use crate::lifecycle::retry::Circumstances;
use crate::lifecycle::state::State;
use crate::lifecycle::task::{Task, TaskRecord, Times};

impl Step<'_> {
    /// Nothing of a task's attempt runs any more.
    pub(super) fn task_ended(&mut self, at: usize, verdict: Verdict) {
        let now = self.now;
        let task = &mut self.job.tasks[at];
        let was_live = task.state.is_live();
        task.times.ended = Some(now);
        task.outcome.get_or_insert(verdict);
        let attempt = task.attempt(self.job.retries.total);
        self.enter_task(at, State::AttemptCompleted);
        if was_live {
            self.job.live -= 1;
            if !self.job.gang_release {
                self.effects.push(Effect::Release { task: attempt });
            }
        }
        if self.job.outcome.is_some() {
            self.task_completed(at);
            self.show_deleting();
            self.close_if_empty();
            return;
        }
        let task = &self.job.tasks[at];
        let Some(verdict) = &task.outcome else { return };
        let decision = task.retries.decide(
            self.job.roles[task.id.role as usize].policy,
            verdict,
            Circumstances {
                settings: &self.job.settings,
                ran_for_ms: task.times.ran_for(),
                random_wait: false,
            },
        );
        self.job.tasks[at].decision = Some(decision);
        if !decision.again {
            self.task_completed(at);
            self.count(at);
        } else if decision.delay_ms == 0 {
            self.retry_task(at);
        } else {
            self.effects.push(Effect::ScheduleTimer {
                at: now.after(decision.delay_ms),
                timer: Timer::TaskRetry(attempt),
            });
        }
    }

    pub(super) fn task_completed(&mut self, at: usize) {
        self.enter_task(at, State::Completed);
        self.job.completed += 1;
    }

    pub(super) fn retry_task(&mut self, at: usize) {
        let task = &mut self.job.tasks[at];
        let (Some(verdict), Some(decision)) = (task.outcome.take(), task.decision.take()) else {
            return;
        };
        if task.history.len() >= Task::MOST_RECORDS {
            task.history.remove(0);
        }
        task.history.push(TaskRecord {
            attempt: task.retries.total,
            verdict,
            decision,
            times: task.times,
        });
        task.retries.go_on(decision);
        task.times = Times::starting(self.now);
        let group = Group::Task(task.attempt(self.job.retries.total));
        self.enter_task(at, State::AttemptCreationPending);
        self.effects.push(Effect::Place { group });
    }

    /// Has the engine end a task whose outcome is thereby decided.
    pub(super) fn kill(&mut self, at: usize, code: i32, reason: KillReason) {
        let task = &mut self.job.tasks[at];
        task.times.ending = Some(self.now);
        task.outcome.get_or_insert_with(|| Verdict::of(code));
        let next = match task.state {
            State::AttemptCreationRequested => State::AttemptDeleting,
            _ => State::AttemptDeletionPending,
        };
        self.enter_task(at, next);
        self.push_kill(at, reason);
    }

    pub(super) fn push_kill(&mut self, at: usize, reason: KillReason) {
        self.effects.push(Effect::Kill {
            task: self.job.tasks[at].attempt(self.job.retries.total),
            reason,
            force: self.job.stop.is_some_and(|stop| stop.force),
        });
    }
}
