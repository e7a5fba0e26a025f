//! What a state still waits for: the effects that must have been carried out, derived anew.

use super::job::JobState;
use super::message::{Effect, Group, KillReason, Timer};
use super::state::State;
use super::task::TaskAttempt;
use crate::exit::code::{REMOVED, STOP_ASKED, TIME_LIMIT};

impl JobState {
    /// The effects whose answers are awaited. Carrying them out once more is harmless; a caller that
    /// does so after a crash has lost none.
    pub fn outstanding(&self) -> Vec<Effect> {
        let attempt = self.retries.total;
        let mut effects = Vec::new();
        if self.gang {
            let group = Group::Gang(attempt);
            if self.state == State::AttemptCreationPending {
                effects.push(Effect::Place { group });
            } else if self
                .tasks
                .iter()
                .any(|task| task.state == State::AttemptCreationRequested)
            {
                effects.push(Effect::Launch { group });
            }
        }
        for task in &self.tasks {
            let own = task.attempt(attempt);
            let group = Group::Task(own);
            match task.state {
                State::AttemptCreationPending if !self.gang => {
                    effects.push(Effect::Place { group });
                }
                State::AttemptCreationRequested if !self.gang => {
                    effects.push(Effect::Launch { group });
                }
                state if state.is_being_ended() => effects.push(Effect::Kill {
                    task: own,
                    reason: self.kill_reason(task.outcome.as_ref().map(|verdict| verdict.code)),
                    force: self.stop.is_some_and(|stop| stop.force),
                }),
                _ => {}
            }
            if let Some(at) = task
                .retry_at()
                .filter(|_| task.state == State::AttemptCompleted)
            {
                let timer = Timer::TaskRetry(own);
                effects.push(Effect::ScheduleTimer { at, timer });
            }
        }
        if let Some(at) = self
            .retry_at()
            .filter(|_| self.state == State::AttemptCompleted)
        {
            let timer = Timer::JobRetry(attempt);
            effects.push(Effect::ScheduleTimer { at, timer });
        }
        if let (Some(ran), Some(limit), None) =
            (self.times.ran, self.settings.time_limit_ms, &self.outcome)
        {
            let timer = Timer::TimeLimit(attempt);
            let at = ran.after(limit);
            effects.push(Effect::ScheduleTimer { at, timer });
        }
        effects
    }

    /// The attempts that the engine may have something of. Whatever else of this job an engine or a
    /// scheduler has is left over from a crash and can go.
    pub fn live_attempts(&self) -> impl Iterator<Item = TaskAttempt> + '_ {
        let live = self.tasks.iter().filter(|task| task.state.is_live());
        live.map(|task| task.attempt(self.retries.total))
    }

    fn kill_reason(&self, own_code: Option<i32>) -> KillReason {
        if own_code == Some(REMOVED) {
            return KillReason::Preempted;
        }
        match self.outcome.as_ref().map(|outcome| outcome.verdict.code) {
            Some(STOP_ASKED) => KillReason::StopAsked,
            Some(TIME_LIMIT) => KillReason::TimeLimit,
            Some(REMOVED) => KillReason::Preempted,
            _ => KillReason::AttemptOver,
        }
    }
}
