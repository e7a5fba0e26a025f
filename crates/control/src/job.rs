//! A job as the store knows it.

use std::fmt;
use std::path::PathBuf;

use indexmap::IndexMap;
use pinnace_core::lifecycle::{JobState, RoleProgress, Shown, TaskAttempt, TaskId, Time};
use pinnace_core::plan::Plan;
use serde::{Deserialize, Serialize};

/// What a job is called by: its name and a few random characters, because names can be used again.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JobId(String);

/// Without letters and digits that look like others.
const LETTERS: &[u8; 32] = b"23456789abcdefghjkmnpqrstuvwxyzz";
const SUFFIX: usize = 4;
/// So that the folder's name stays within what file systems allow.
const LONGEST_NAME: usize = 100;

impl JobId {
    /// A new identifier for a job of this name.
    pub(crate) fn random(name: &str) -> Result<Self, getrandom::Error> {
        let mut id: String = name
            .chars()
            .take(LONGEST_NAME)
            .map(|char| match char {
                'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '~' => char,
                _ => '-',
            })
            .collect();
        if id.is_empty() {
            id.push_str("job");
        }
        id.push('-');
        let mut bytes = [0_u8; SUFFIX];
        getrandom::fill(&mut bytes)?;
        id.extend(bytes.map(|byte| char::from(LETTERS[usize::from(byte % 32)])));
        Ok(Self(id))
    }

    pub(crate) fn stored(id: String) -> Self {
        Self(id)
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How a job is to be run, beside its plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// Who submitted it.
    pub user: String,
    /// The job file, for people.
    pub file: Option<String>,
    /// Whether it runs also where there are too few GPU cards or too little memory.
    pub simulate_resources: bool,
    /// Where a storage lies on this machine, by its name.
    pub storages: IndexMap<String, PathBuf>,
    /// Where a datastore lies on this machine, by its name.
    pub datastores: IndexMap<String, PathBuf>,
    /// Which engine stands behind a cluster, by the cluster's name.
    pub clusters: IndexMap<String, String>,
    /// How long the environment of a failed task is kept, if not as the plan says; 0 is not at all.
    pub keep_on_failure_minutes: Option<u32>,
    /// How long an attempt may run, if not as the plan says; 0 is without end.
    pub time_limit_seconds: Option<u64>,
    /// Whether the use of an unset variable is a failure.
    pub nounset: bool,
    /// Another grace period than the engine's.
    pub grace_seconds: Option<u64>,
    /// Fields of the job file that nothing comes of here, by the reason.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub not_honoured: IndexMap<String, Vec<String>>,
}

impl Options {
    /// How long the environment of a failed task is kept, if it is.
    pub fn keep_on_failure(&self, plan: &Plan) -> Option<u32> {
        self.keep_on_failure_minutes
            .or(plan.keep_on_failure_minutes)
            .filter(|minutes| *minutes > 0)
    }

    /// How long an attempt may run, if not without end.
    pub fn time_limit(&self, plan: &Plan) -> Option<u64> {
        self.time_limit_seconds
            .or(plan.time_limit_seconds)
            .filter(|seconds| *seconds > 0)
    }
}

/// A job to be taken in.
#[derive(Debug)]
pub struct Submission {
    /// What to run.
    pub plan: Plan,
    /// How.
    pub options: Options,
    /// The values of its secrets.
    pub secrets: pinnace_exec::Secrets,
}

/// Tasks that were started together, by one supervisor, in one folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Launch {
    /// Counts from 0 in a job; names the folder.
    pub number: u32,
    /// The attempts of tasks that it starts.
    pub tasks: Vec<PlacedTask>,
}

/// A task with its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlacedTask {
    /// Which attempt of which task.
    #[serde(flatten)]
    pub task: TaskAttempt,
    /// The GPU cards that it may use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<u32>,
}

/// A job with all that the store knows of it.
#[derive(Clone, Debug)]
pub struct Job {
    pub(crate) number: i64,
    /// What it is called by.
    pub id: JobId,
    /// What runs.
    pub plan: Plan,
    /// The digest of the plan.
    pub digest: String,
    /// How it runs.
    pub options: Options,
    /// Where its life stands.
    pub state: JobState,
    /// What was launched, in order.
    pub launches: Vec<Launch>,
    /// When its life ended.
    pub finished: Option<Time>,
    /// Why it waits for a place, if it does.
    pub waits: Option<String>,
}

impl Job {
    /// The launch that has an attempt of a task.
    pub fn launch_of(&self, task: TaskAttempt) -> Option<&Launch> {
        let has = |launch: &&Launch| launch.tasks.iter().any(|placed| placed.task == task);
        self.launches.iter().rev().find(has)
    }

    /// The last launch that has this task, and which attempt of it.
    pub fn last_launch_of(&self, task: TaskId) -> Option<(&Launch, TaskAttempt)> {
        self.launches.iter().rev().find_map(|launch| {
            let placed = launch
                .tasks
                .iter()
                .find(|placed| placed.task.task == task)?;
            Some((launch, placed.task))
        })
    }

    /// The engine's name for a task.
    pub fn engine_task(&self, task: TaskId) -> pinnace_exec::TaskId {
        pinnace_exec::TaskId {
            role: self
                .state
                .role_name(task.role)
                .unwrap_or_default()
                .to_owned(),
            index: task.index,
        }
    }

    /// The task of the engine's name.
    pub fn task_of_engine(&self, task: &pinnace_exec::TaskId) -> Option<TaskId> {
        let role = self.plan.roles.get_index_of(&task.role)?;
        Some(TaskId {
            role: role as u32,
            index: task.index,
        })
    }

    /// What a list of jobs shows of it.
    pub fn summary(&self) -> Summary {
        Summary::of(
            &self.id,
            &self.plan,
            &self.state,
            self.finished,
            self.waits.clone(),
        )
    }
}

/// What a list of jobs shows of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// What it is called by.
    pub id: JobId,
    /// Its name.
    pub name: String,
    /// Where it stands, in a word.
    pub state: Shown,
    /// The number of its attempt.
    pub attempt: u32,
    /// When it was handed in.
    pub submitted: Time,
    /// When it first ran in this attempt.
    pub ran: Option<Time>,
    /// When it ended.
    pub finished: Option<Time>,
    /// How many tasks it has.
    pub tasks: u32,
    /// How many of them run.
    pub running: u32,
    /// How many have succeeded.
    pub succeeded: u32,
    /// How many have failed.
    pub failed: u32,
    /// The exit code, once the outcome is decided.
    pub code: Option<i32>,
    /// The short name of the outcome.
    pub phrase: Option<String>,
    /// Why it waits for a place, if it does.
    pub waits: Option<String>,
}

impl Summary {
    pub(crate) fn of(
        id: &JobId,
        plan: &Plan,
        state: &JobState,
        finished: Option<Time>,
        waits: Option<String>,
    ) -> Self {
        let sum = |of: fn(&RoleProgress<'_>) -> u32| state.progress().map(|role| of(&role)).sum();
        let verdict = state.outcome().map(|outcome| &outcome.verdict);
        Self {
            id: id.clone(),
            name: plan.name.clone(),
            state: state.shown(),
            attempt: state.retries().total,
            submitted: state.submitted(),
            ran: state.times().ran,
            finished,
            tasks: sum(|role| role.total),
            running: sum(|role| role.running),
            succeeded: sum(|role| role.succeeded),
            failed: sum(|role| role.failed),
            code: verdict.map(|verdict| verdict.code),
            phrase: verdict.map(|verdict| verdict.phrase().to_owned()),
            waits,
        }
    }
}
