//! What people and programs want to see of a job: the store's record together with what the engine told.

use std::collections::HashMap;
use std::path::PathBuf;

use pinnace_core::exit::{Behaviour, Verdict};
use pinnace_core::lifecycle::{
    AttemptRecord, Budget, Condition, Decision, Outcome, Retries, RoleProgress, Shown, TaskId,
    TaskRecord, Time, Times,
};
use pinnace_core::plan::{Completion, Module};
use pinnace_core::words;
use pinnace_exec::local::{self, Cursor, Layout};
use pinnace_exec::{Collected, Event, ExitReport, Happening, Level, PhaseName};
use serde::Serialize;

use crate::folder::StateFolder;
use crate::job::{Job, Options, Summary};
use crate::output;

/// What the engine told of one attempt of a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Facts {
    /// Its first process, while it has one.
    pub pid: Option<i32>,
    /// How far it is kept apart.
    pub level: Option<Level>,
    /// What it does now.
    pub phase: Option<PhaseName>,
    /// Since when, in milliseconds since 1970.
    pub phase_since: Option<u64>,
    /// Until when it is kept after a failure, in milliseconds since 1970.
    pub kept_until: Option<u64>,
    /// What a person should know about it.
    pub notes: Vec<String>,
    /// How it ended.
    pub report: Option<Box<ExitReport>>,
}

impl Facts {
    /// Takes in an event of this task.
    pub fn learn(&mut self, event: &Event) {
        match &event.what {
            Happening::Started { pid, level, .. } => {
                self.pid = Some(*pid);
                self.level = Some(*level);
            }
            Happening::Phase { phase, .. } => {
                self.phase = Some(phase.clone());
                self.phase_since = Some(event.at);
            }
            Happening::Note { text, .. } => self.notes.push(text.clone()),
            Happening::Kept { until, pid, .. } => {
                self.phase = Some(PhaseName::Kept);
                self.phase_since = Some(event.at);
                self.kept_until = Some(*until);
                self.pid = Some(*pid);
            }
            Happening::Exited { report } => {
                self.pid = None;
                self.phase = None;
                self.kept_until = None;
                self.report = Some(report.clone());
            }
            Happening::Supervising { .. } | Happening::Transfer { .. } | Happening::Ended => {}
        }
    }
}

/// The task that an event is about, if it is about one.
pub fn task_of(event: &Event) -> Option<&pinnace_exec::TaskId> {
    match &event.what {
        Happening::Started { task, .. }
        | Happening::Phase { task, .. }
        | Happening::Note { task, .. }
        | Happening::Kept { task, .. } => Some(task),
        Happening::Exited { report } => Some(&report.task),
        Happening::Supervising { .. } | Happening::Transfer { .. } | Happening::Ended => None,
    }
}

/// A job with its tasks.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobView {
    /// What lists show as well.
    #[serde(flatten)]
    pub summary: Summary,
    /// The digest of its plan.
    pub digest: String,
    /// How it runs.
    pub options: Options,
    /// The registered module that it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module: Option<Module>,
    /// The cluster that its file names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// The queue of that cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// Where its files lie.
    pub folder: PathBuf,
    /// What came of its current attempt, once that is decided.
    pub outcome: Option<OutcomeView>,
    /// Whether it is tried again, once that is decided.
    pub decision: Option<Decision>,
    /// When the next attempt begins, if one is awaited.
    pub next_attempt_at: Option<Time>,
    /// What is left to try.
    pub budget: Budget,
    /// The attempts before.
    pub history: Vec<AttemptRecord>,
    /// How far its roles have come.
    pub roles: Vec<RoleView>,
    /// Its tasks.
    pub tasks: Vec<TaskView>,
    /// What became of its outputs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Collected>,
}

/// What came of an attempt of a job.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutcomeView {
    /// In words.
    #[serde(flatten)]
    pub verdict: VerdictView,
    /// What decided.
    pub condition: String,
    /// The task that decided, if one did.
    pub task: Option<String>,
}

/// What an ending means, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VerdictView {
    /// The code of the exit table, or the real one.
    pub code: i32,
    /// Its short name.
    pub phrase: &'static str,
    /// What it says about trying again.
    pub behaviour: Behaviour,
    /// What happened.
    pub reason: String,
    /// What to do about it.
    pub solution: &'static str,
    /// The log line that decided, if one did.
    pub matched: Option<String>,
}

impl VerdictView {
    /// Of a verdict.
    pub fn of(verdict: &Verdict) -> Self {
        Self {
            code: verdict.code,
            phrase: verdict.phrase(),
            behaviour: verdict.behaviour,
            reason: verdict.reason(),
            solution: verdict.solution(),
            matched: verdict.matched.clone(),
        }
    }
}

/// How far a role has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RoleView {
    /// Its name.
    pub name: String,
    /// How many tasks it has.
    pub total: u32,
    /// How many wait.
    pub waiting: u32,
    /// How many run.
    pub running: u32,
    /// How many are being ended.
    pub ending: u32,
    /// How many have succeeded.
    pub succeeded: u32,
    /// How many have failed.
    pub failed: u32,
    /// How many were stopped.
    pub stopped: u32,
    /// When it decides the fate of the job.
    pub completion: Completion,
}

impl RoleView {
    /// Of a role's progress.
    pub fn of(role: &RoleProgress<'_>) -> Self {
        Self {
            name: role.role.to_owned(),
            total: role.total,
            waiting: role.waiting,
            running: role.running,
            ending: role.ending,
            succeeded: role.succeeded,
            failed: role.failed,
            stopped: role.stopped,
            completion: role.completion,
        }
    }
}

/// A task.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskView {
    /// Its role.
    pub role: String,
    /// Its number in the role.
    pub index: u32,
    /// Where it stands.
    pub state: Shown,
    /// How often it was tried again.
    pub retries: Retries,
    /// What came of its current attempt.
    pub verdict: Option<VerdictView>,
    /// When things happened.
    pub times: Times,
    /// Whether it is tried again, once that is decided.
    pub decision: Option<Decision>,
    /// What is left to try.
    pub budget: Budget,
    /// The attempts before.
    pub history: Vec<TaskRecord>,
    /// Where its logs lie.
    pub logs: Option<PathBuf>,
    /// What the engine told.
    pub facts: Facts,
}

impl TaskView {
    /// `role[index]`.
    pub fn name(&self) -> String {
        format!("{}[{}]", self.role, self.index)
    }
}

impl JobView {
    /// Reads what the engine told of the job, and puts it together with the record.
    pub fn of(job: &Job, folder: &StateFolder) -> Self {
        let mut told: HashMap<u32, HashMap<pinnace_exec::TaskId, Facts>> = HashMap::new();
        let tasks = job.state.tasks();
        let tasks = tasks.map(|task| {
            let launch = job.last_launch_of(task.id).map(|(launch, _)| launch.number);
            let id = job.engine_task(task.id);
            let facts = launch.map(|launch| {
                let facts = told
                    .entry(launch)
                    .or_insert_with(|| facts_of(&folder.launch(&job.id, launch)));
                facts.remove(&id).unwrap_or_default()
            });
            TaskView {
                role: task.role.to_owned(),
                index: task.id.index,
                state: task.shown,
                retries: task.retries,
                verdict: task.verdict.map(VerdictView::of),
                times: task.times,
                decision: task.decision,
                budget: task.budget,
                history: task.history.to_vec(),
                logs: launch.map(|launch| Layout::new(folder.launch(&job.id, launch)).logs(&id)),
                facts: facts.unwrap_or_default(),
            }
        });
        let tasks = tasks.collect();
        let roles = job.state.progress().map(|role| RoleView::of(&role));
        Self {
            summary: job.summary(),
            digest: job.digest.clone(),
            options: job.options.clone(),
            module: job.plan.module.clone(),
            cluster: job.plan.placement.cluster.clone(),
            queue: job.plan.placement.queue.clone(),
            folder: folder.job(&job.id),
            outcome: job
                .state
                .outcome()
                .map(|outcome| outcome_view(job, outcome)),
            decision: job.state.decision(),
            next_attempt_at: job.state.next_attempt_at(),
            budget: job.state.budget(),
            history: job.state.history().cloned().collect(),
            roles: roles.collect(),
            tasks,
            outputs: output::collected(job, folder),
        }
    }

    /// The task that decided the outcome.
    pub fn deciding_task(&self) -> Option<&TaskView> {
        let name = self.outcome.as_ref()?.task.as_deref()?;
        self.tasks.iter().find(|task| task.name() == name)
    }
}

fn outcome_view(job: &Job, outcome: &Outcome) -> OutcomeView {
    let name = |task: TaskId| job.engine_task(task).to_string();
    let mut condition = outcome.trigger.condition.message();
    if let (Condition::TimeLimit, Some(seconds)) = (
        &outcome.trigger.condition,
        job.options.time_limit(&job.plan),
    ) {
        condition = format!("{condition}: {}", words::seconds(seconds));
    }
    OutcomeView {
        verdict: VerdictView::of(&outcome.verdict),
        condition,
        task: outcome.trigger.task.map(name),
    }
}

/// What the engine told of every task of a launch; nothing if its folder is gone.
fn facts_of(folder: &std::path::Path) -> HashMap<pinnace_exec::TaskId, Facts> {
    let mut facts: HashMap<pinnace_exec::TaskId, Facts> = HashMap::new();
    let events = local::observe(folder, Cursor::default());
    for event in events.map(|(events, _)| events).unwrap_or_default() {
        if let Some(task) = task_of(&event) {
            facts.entry(task.clone()).or_default().learn(&event);
        }
    }
    facts
}
