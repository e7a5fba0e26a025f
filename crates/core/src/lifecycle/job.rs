//! The state of a job: all that must be remembered of its life.

use std::collections::VecDeque;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::completion::{Tally, Trigger};
use super::message::Effect;
use super::retry::{Decision, Policy, Retries};
use super::state::State;
use super::step;
use super::task::{Task, TaskAttempt, TaskId, Time, Times};
use crate::exit::Verdict;
use crate::plan::{Completion, Plan};

/// What the life of a job depends on beside its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    /// How long an attempt of the job may run, in milliseconds.
    pub time_limit_ms: Option<u64>,
    /// How many free retries in a row are made before it is given up; none is without end.
    pub free_retries: Option<u32>,
    /// An attempt that ran for so long made progress: the row of free retries begins anew.
    pub steady_run_ms: u64,
    /// Where random waits come from; a different number for each job.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            time_limit_ms: None,
            free_retries: Some(10),
            steady_run_ms: 10 * 60 * 1_000,
            seed: 0,
        }
    }
}

/// What came of an attempt of a job, and why. Written once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// What came of it.
    pub verdict: Verdict,
    /// What decided it.
    pub trigger: Trigger,
}

/// An attempt of a job that was followed by another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptRecord {
    /// Its number.
    pub attempt: u32,
    /// What came of it.
    pub outcome: Outcome,
    /// Why it was tried again.
    pub decision: Decision,
    /// When.
    pub times: Times,
}

/// Names the JSON form of the state and its version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Format {
    #[serde(rename = "pinnace.job/1")]
    V1,
}

/// A role's part of the state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RoleState {
    pub(super) name: String,
    pub(super) instances: u32,
    pub(super) completion: Completion,
    pub(super) policy: Policy,
    /// Where its tasks begin in the list of tasks.
    pub(super) first: usize,
    pub(super) tally: Tally,
    /// How many tasks are in each state.
    pub(super) states: [u32; 9],
}

/// All that must be remembered of a job's life. Fields are changed by [`super::step`] alone.
///
/// Reading one back checks that its parts fit each other, so that a damaged store is an error and not
/// a wrong decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", remote = "Self")]
pub struct JobState {
    format: Format,
    pub(super) settings: Settings,
    pub(super) policy: Policy,
    pub(super) gang: bool,
    pub(super) gang_release: bool,
    pub(super) roles: Vec<RoleState>,
    pub(super) tasks: Vec<Task>,
    pub(super) state: State,
    pub(super) retries: Retries,
    pub(super) times: Times,
    /// Written once per attempt.
    pub(super) outcome: Option<Outcome>,
    pub(super) decision: Option<Decision>,
    pub(super) history: VecDeque<AttemptRecord>,
    /// How many tasks the engine may have something of.
    pub(super) live: u32,
    /// How many tasks have ended for good.
    pub(super) completed: u32,
    pub(super) stop: Option<StopAsked>,
    pub(super) submitted: Time,
    pub(super) revision: u64,
}

impl Serialize for JobState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        JobState::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for JobState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let job = JobState::deserialize(deserializer)?;
        match job.contradiction() {
            None => Ok(job),
            Some(what) => Err(D::Error::custom(format!(
                "the state of a job contradicts itself: {what}"
            ))),
        }
    }
}

/// A request to stop that was heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StopAsked {
    pub(super) force: bool,
}

impl JobState {
    /// Older records are dropped, so that a job that is tried again without end stays small.
    pub(super) const MOST_RECORDS: usize = 100;

    /// The life of a job begins.
    pub fn begin(plan: &Plan, settings: Settings, now: Time) -> (JobState, Vec<Effect>) {
        let gang = plan.placement.gang;
        let mut roles = Vec::with_capacity(plan.roles.len());
        let mut tasks = Vec::new();
        for (position, (name, role)) in plan.roles.iter().enumerate() {
            roles.push(RoleState {
                name: name.clone(),
                instances: role.instances,
                completion: role.completion,
                policy: if gang {
                    Policy {
                        fancy: false,
                        limit: 0,
                    }
                } else {
                    Policy {
                        fancy: true,
                        limit: role.retry.limit,
                    }
                },
                first: tasks.len(),
                tally: Tally::default(),
                states: [0; 9],
            });
            let id = |index| TaskId {
                role: position as u32,
                index,
            };
            tasks.extend((0..role.instances).map(|index| Task::new(id(index), now)));
        }
        let mut job = JobState {
            format: Format::V1,
            settings,
            policy: Policy {
                fancy: plan.retry.limit != -2,
                limit: plan.retry.limit,
            },
            gang,
            gang_release: gang && plan.placement.gang_release == Some(true),
            roles,
            tasks,
            state: State::AttemptCreationPending,
            retries: Retries::default(),
            times: Times::starting(now),
            outcome: None,
            decision: None,
            history: VecDeque::new(),
            live: 0,
            completed: 0,
            stop: None,
            submitted: now,
            revision: 0,
        };
        job.reset_counters();
        let effects = step::begin_attempt(&mut job, now);
        (job, effects)
    }

    /// The counters of an attempt in which nothing has happened.
    pub(super) fn reset_counters(&mut self) {
        self.live = 0;
        self.completed = 0;
        for role in &mut self.roles {
            role.tally = Tally::default();
            role.states = [0; 9];
            role.states[State::AttemptCreationPending as usize] = role.instances;
        }
    }

    /// What of the state cannot be, if anything.
    fn contradiction(&self) -> Option<&'static str> {
        let mut ids = Vec::with_capacity(self.tasks.len());
        for (position, role) in self.roles.iter().enumerate() {
            if role.first != ids.len() || role.instances as usize > self.tasks.len() {
                return Some("roles do not fit their tasks");
            }
            let role_position = position as u32;
            ids.extend((0..role.instances).map(|index| TaskId {
                role: role_position,
                index,
            }));
        }
        if !self.tasks.iter().map(|task| task.id).eq(ids) {
            return Some("tasks do not fit their roles");
        }
        let mut states = vec![[0; 9]; self.roles.len()];
        for task in &self.tasks {
            states[task.id.role as usize][task.state as usize] += 1;
        }
        if !self.roles.iter().map(|role| role.states).eq(states) {
            return Some("tasks are counted wrongly");
        }
        let count = |test: fn(&&Task) -> bool| self.tasks.iter().filter(test).count();
        if count(|task| task.state.is_live()) != self.live as usize
            || count(|task| task.state == State::Completed) != self.completed as usize
        {
            return Some("tasks are counted wrongly");
        }
        let ended = self.state >= State::AttemptCompleted;
        if ended && (self.outcome.is_none() || self.decision.is_none() || self.live > 0) {
            return Some("an attempt has ended without an outcome");
        }
        None
    }

    /// Where a task is in the list, if there is such a task.
    pub(super) fn position(&self, id: TaskId) -> Option<usize> {
        let role = self.roles.get(id.role as usize)?;
        (id.index < role.instances).then(|| role.first + id.index as usize)
    }

    /// Where the task of an attempt is in the list, if that attempt is the current one.
    pub(super) fn current(&self, attempt: TaskAttempt) -> Option<usize> {
        let at = self.position(attempt.task)?;
        let task = self.tasks.get(at)?;
        (task.attempt(self.retries.total) == attempt).then_some(at)
    }

    /// When the next attempt begins, if one is awaited.
    pub(super) fn retry_at(&self) -> Option<Time> {
        let decision = self.decision.filter(|decision| decision.again)?;
        Some(self.times.ended?.after(decision.delay_ms))
    }
}
