//! What people and clients want to know of a job.

use serde::Serialize;

use super::job::{AttemptRecord, JobState, Outcome, Settings};
use super::retry::{Budget, Decision, Retries};
use super::state::{Shown, State};
use super::task::{TaskId, TaskRecord, Time, Times};
use crate::exit::Verdict;
use crate::plan::Completion;

/// How far the tasks of a role have come, and what that means for the job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RoleProgress<'a> {
    /// The role.
    pub role: &'a str,
    /// How many tasks it has.
    pub total: u32,
    /// Tasks that wait for a place, for their start or for another attempt.
    pub waiting: u32,
    /// Tasks that run.
    pub running: u32,
    /// Tasks that are being ended.
    pub ending: u32,
    /// Tasks that have succeeded for good.
    pub succeeded: u32,
    /// Tasks that have failed for good.
    pub failed: u32,
    /// Tasks that were stopped because the job's fate was decided.
    pub stopped: u32,
    /// When the role decides the fate of the job.
    pub completion: Completion,
}

/// What is known of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskView<'a> {
    /// The task.
    pub id: TaskId,
    /// The name of its role.
    pub role: &'a str,
    /// Where it stands.
    pub state: State,
    /// The same in a word for users.
    pub shown: Shown,
    /// How often it was tried again; the total is the number of the current attempt.
    pub retries: Retries,
    /// What came of the current attempt, once that is decided.
    pub verdict: Option<&'a Verdict>,
    /// When the things of the current attempt happened.
    pub times: Times,
    /// Whether it is tried again, once that is decided.
    pub decision: Option<Decision>,
    /// When the next attempt begins, if one is awaited.
    pub retry_at: Option<Time>,
    /// What is left to try.
    pub budget: Budget,
    /// The attempts before the current one, oldest first, the last 20 at most.
    pub history: &'a [TaskRecord],
}

impl JobState {
    /// Where the job stands.
    pub fn state(&self) -> State {
        self.state
    }

    /// The same in a word for users.
    pub fn shown(&self) -> Shown {
        let stopping = self.stop.is_some() && self.state != State::Completed;
        let code = self.outcome().map(|outcome| outcome.verdict.code);
        match self.state.shown(code) {
            Shown::Running if stopping => Shown::Stopping,
            shown => shown,
        }
    }

    /// How often the job was tried again; the total is the number of the current attempt.
    pub fn retries(&self) -> Retries {
        self.retries
    }

    /// What came of the current attempt and why, once that is decided.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// Whether it is tried again, once the attempt has ended.
    pub fn decision(&self) -> Option<Decision> {
        self.decision
    }

    /// When the next attempt of the job begins, if one is awaited.
    pub fn next_attempt_at(&self) -> Option<Time> {
        self.retry_at()
            .filter(|_| self.state == State::AttemptCompleted)
    }

    /// What is left to try.
    pub fn budget(&self) -> Budget {
        self.retries.budget(self.policy, &self.settings)
    }

    /// When the job was handed in.
    pub fn submitted(&self) -> Time {
        self.submitted
    }

    /// When the things of the current attempt happened.
    pub fn times(&self) -> Times {
        self.times
    }

    /// The attempts before the current one, oldest first, the last 100 at most.
    pub fn history(&self) -> impl Iterator<Item = &AttemptRecord> {
        self.history.iter()
    }

    /// What the job's life depends on beside its plan.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether all tasks are placed and launched together.
    pub fn is_gang(&self) -> bool {
        self.gang
    }

    /// Grows by one with every input that was heard.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The name of a role by its position.
    pub fn role_name(&self, role: u32) -> Option<&str> {
        self.roles.get(role as usize).map(|role| role.name.as_str())
    }

    /// How far each role has come, in the order of the plan.
    pub fn progress(&self) -> impl Iterator<Item = RoleProgress<'_>> {
        self.roles.iter().map(|role| {
            let of = |state: State| role.states[state as usize];
            let ended = of(State::Completed);
            RoleProgress {
                role: &role.name,
                total: role.instances,
                waiting: of(State::AttemptCreationPending)
                    + of(State::AttemptCreationRequested)
                    + of(State::AttemptPreparing)
                    + of(State::AttemptCompleted),
                running: of(State::AttemptRunning),
                ending: of(State::AttemptDeletionPending)
                    + of(State::AttemptDeletionRequested)
                    + of(State::AttemptDeleting),
                succeeded: role.tally.succeeded,
                failed: role.tally.failed,
                stopped: ended.saturating_sub(role.tally.succeeded + role.tally.failed),
                completion: role.completion,
            }
        })
    }

    /// What is known of every task, in the order of the plan.
    pub fn tasks(&self) -> impl Iterator<Item = TaskView<'_>> {
        (0..self.tasks.len()).filter_map(|at| self.view(at))
    }

    /// What is known of a task, if there is such a task.
    pub fn task(&self, id: TaskId) -> Option<TaskView<'_>> {
        self.view(self.position(id)?)
    }

    fn view(&self, at: usize) -> Option<TaskView<'_>> {
        let task = self.tasks.get(at)?;
        let role = self.roles.get(task.id.role as usize)?;
        let verdict = task.outcome.as_ref();
        Some(TaskView {
            id: task.id,
            role: &role.name,
            state: task.state,
            shown: task.state.shown(verdict.map(|verdict| verdict.code)),
            retries: task.retries,
            verdict,
            times: task.times,
            decision: task.decision,
            retry_at: task
                .retry_at()
                .filter(|_| task.state == State::AttemptCompleted),
            budget: task.retries.budget(role.policy, &self.settings),
            history: &task.history,
        })
    }
}
