//! What goes in and what comes out: the attempt to carry out, the events of its life and the report
//! of every task. All of it is JSON on disk, without the value of any secret.

use std::fmt;
use std::path::PathBuf;

use indexmap::IndexMap;
use pinnace_core::plan::{Plan, Role};
use pinnace_core::text::SecretName;
use serde::{Deserialize, Serialize};

use crate::flat::{FlatEvent, FlatPhase};

/// Names the JSON form of an [`Attempt`] and its version.
pub const FORMAT: &str = "pinnace.attempt/1";

/// Tasks to run together on one machine: a gang, or a single task that is tried again.
///
/// It holds the plan instead of a spelled-out environment per task, because in a job of a thousand
/// tasks every environment names a thousand peers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Attempt {
    /// [`FORMAT`].
    pub format: String,
    /// The job's identifier: letters, digits, `-`, `_`, `.`, `~`.
    pub job: String,
    /// The number of the job's attempt, from 0.
    pub number: u32,
    /// The user who submitted the job.
    pub user: String,
    /// What to run.
    pub plan: Plan,
    /// Which tasks of the plan to run.
    pub tasks: Vec<TaskSpec>,
    /// How to run them.
    pub settings: Settings,
}

impl Attempt {
    /// An attempt that runs every task of the plan.
    pub fn whole(job: impl Into<String>, number: u32, user: impl Into<String>, plan: Plan) -> Self {
        let mut tasks = Vec::new();
        for (name, role) in &plan.roles {
            for index in 0..role.instances {
                tasks.push(TaskSpec {
                    id: TaskId {
                        role: name.clone(),
                        index,
                    },
                    attempt: 0,
                    gpus: Vec::new(),
                });
            }
        }
        Self {
            format: FORMAT.to_owned(),
            job: job.into(),
            number,
            user: user.into(),
            plan,
            tasks,
            settings: Settings::default(),
        }
    }

    /// The role of a task.
    pub fn role(&self, id: &TaskId) -> Option<&Role> {
        self.plan.roles.get(&id.role)
    }
}

/// Which task: its role and its number in the role.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskId {
    /// The role's name.
    pub role: String,
    /// From 0.
    pub index: u32,
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.role, self.index)
    }
}

/// One task to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskSpec {
    /// Which task.
    pub id: TaskId,
    /// The number of the task's attempt, from 0.
    pub attempt: u32,
    /// The GPU cards that it may use, as `nvidia-smi` numbers them.
    #[serde(default)]
    pub gpus: Vec<u32>,
}

/// How to run an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Settings {
    /// Which shell; `None` is `bash` where it is installed, else `sh`.
    pub shell: Option<ShellKind>,
    /// Whether the use of an unset variable in a command is a failure, as it is in OpenPAI.
    pub nounset: bool,
    /// How long a task may go on after it was asked to end.
    pub grace_seconds: u64,
    /// How long a task may run, start hooks included; `None` is without end.
    pub time_limit_seconds: Option<u64>,
    /// How long the environment of a failed task stays alive.
    pub keep_on_failure_minutes: Option<u32>,
    /// How much isolation to ask for; where the kernel refuses it, the next lower one is used.
    pub sandbox: Level,
    /// Where a task's changes to the machine's files, and its `/tmp`, are kept while it runs.
    pub changes: Changes,
    /// Whether cpu, memory and process limits are set.
    pub enforce_limits: bool,
    /// How many processes a task may have.
    pub max_processes: u64,
    /// A log file is rotated at this size; one rotated file is kept.
    pub log_bytes: u64,
    /// Folders that tasks must not see: the state directory, the vault.
    pub hidden: Vec<PathBuf>,
    /// Where a storage lies on this machine, by its name.
    pub storages: IndexMap<String, PathBuf>,
    /// The address under which tasks find each other.
    pub address: String,
    /// Tasks of the job that other attempts run, or ran.
    pub peers: Vec<Peer>,
    /// A file through which supervisors keep their ports apart; `None` is a file of this user below
    /// the system's folder for temporary files.
    pub port_register: Option<PathBuf>,
    /// More variables for every task, such as a proxy.
    pub environment: IndexMap<String, String>,
    /// Where fetched data and Python environments are kept for other jobs; `None` is a folder of the attempt.
    pub cache: Option<PathBuf>,
    /// Where the outputs of the job are kept; `None` is a folder of the attempt.
    pub outputs: Option<PathBuf>,
    /// The folders of datastores, by name.
    pub datastores: IndexMap<String, PathBuf>,
    /// What the plan's `dataset:NAME[:VERSION]` stand for: paths or URLs.
    pub datasets: IndexMap<String, String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            shell: None,
            nounset: false,
            grace_seconds: 30,
            time_limit_seconds: None,
            keep_on_failure_minutes: None,
            sandbox: Level::Overlay,
            changes: Changes::Auto,
            enforce_limits: true,
            max_processes: 32_768,
            log_bytes: 256 << 20,
            hidden: Vec::new(),
            storages: IndexMap::new(),
            address: "127.0.0.1".to_owned(),
            peers: Vec::new(),
            port_register: None,
            environment: IndexMap::new(),
            cache: None,
            outputs: None,
            datastores: IndexMap::new(),
            datasets: IndexMap::new(),
        }
    }
}

/// Which shell runs a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ShellKind {
    /// `bash`, with `pipefail`.
    Bash,
    /// `sh`.
    Sh,
}

/// How far a task is kept apart from the machine, the best last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Level {
    /// A process group. The task sees and writes what its user may.
    Plain,
    /// Own namespaces; the machine's files are read-only, the task's own folders writable.
    ReadOnly,
    /// Own namespaces; a copy-on-write view of the machine's files.
    Overlay,
}

impl Level {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Level::Plain => "plain processes, not kept apart from the machine",
            Level::ReadOnly => "own namespaces, the machine's files read-only",
            Level::Overlay => "own namespaces, a copy-on-write view of the machine",
        }
    }
}

/// Where a task's changes to the machine's files are kept while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Changes {
    /// On disk; in memory if an attempt has more than [`MOST_TASKS_ON_DISK`] tasks.
    Auto,
    /// Beside the task's logs. They may be as large as the disk.
    Disk,
    /// In memory, where making and removing them costs a fifth. They count as memory of the task.
    Memory,
}

/// Up to so many tasks of an attempt, [`Changes::Auto`] is the disk.
pub const MOST_TASKS_ON_DISK: usize = 64;

/// Where a task can be reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Peer {
    /// The role's name.
    pub role: String,
    /// The task's number in the role.
    pub index: u32,
    /// A host name or address.
    pub address: String,
    /// Port numbers by label.
    pub ports: IndexMap<String, Vec<u16>>,
}

/// One line of `events.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", try_from = "FlatEvent")]
pub struct Event {
    /// Counts up from 1 without gaps.
    pub seq: u64,
    /// Milliseconds since 1970.
    pub at: u64,
    /// What happened.
    #[serde(flatten)]
    pub what: Happening,
}

/// What can happen in the life of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(
    tag = "event",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Happening {
    /// The supervisor is at work.
    Supervising {
        /// Its process.
        pid: i32,
    },
    /// A task has a process.
    Started {
        /// Which.
        task: TaskId,
        /// Its first process, as the machine sees it.
        pid: i32,
        /// Its ports by label.
        ports: IndexMap<String, Vec<u16>>,
        /// How far it is kept apart.
        level: Level,
    },
    /// A task has come to a phase of its life.
    Phase {
        /// Which.
        task: TaskId,
        /// What it does now.
        phase: PhaseName,
    },
    /// Something that a person should know about a task while it runs.
    Note {
        /// Which.
        task: TaskId,
        /// In words.
        text: String,
    },
    /// Data is on its way, for all tasks.
    Transfer {
        /// What is moved.
        what: String,
        /// How many bytes have arrived.
        done: u64,
        /// How many there are, if that is known.
        total: Option<u64>,
    },
    /// A task failed and its environment is kept for debugging.
    Kept {
        /// Which.
        task: TaskId,
        /// Milliseconds since 1970 at which it ends.
        until: u64,
        /// The process whose namespaces can be entered.
        pid: i32,
    },
    /// A task has ended and nothing of it is left.
    Exited {
        /// The whole story.
        report: Box<ExitReport>,
    },
    /// All tasks have ended; nothing follows.
    Ended,
}

/// The parts of a task's life, in the order in which they can come.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum PhaseName {
    /// Waits for its turn after the supervisor has started.
    Queued,
    /// Code, inputs and outputs are made ready.
    Staging,
    /// Namespaces, mounts, limits.
    Sandbox,
    /// A hook before the command.
    Before {
        /// Its place in the role's `before`, from 0.
        step: usize,
        /// Who asked for it.
        name: String,
    },
    /// The command.
    Command,
    /// A hook after the command.
    After {
        /// Its place in the role's `after`, from 0.
        step: usize,
        /// Who asked for it.
        name: String,
    },
    /// Kept alive after a failure.
    Kept,
    /// Its outputs are brought to where they belong.
    Collecting,
}

impl fmt::Display for PhaseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PhaseName::Queued => f.write_str("queued"),
            PhaseName::Staging => f.write_str("staging data"),
            PhaseName::Collecting => f.write_str("collecting outputs"),
            PhaseName::Sandbox => f.write_str("sandbox"),
            PhaseName::Before { name, .. } => write!(f, "start hook `{name}`"),
            PhaseName::Command => f.write_str("command"),
            PhaseName::After { name, .. } => write!(f, "exit hook `{name}`"),
            PhaseName::Kept => f.write_str("kept"),
        }
    }
}

/// One part of a task's life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", try_from = "FlatPhase")]
pub struct Phase {
    /// Which.
    #[serde(flatten)]
    pub name: PhaseName,
    /// Microseconds since 1970.
    pub start: u64,
    /// Microseconds since 1970.
    pub end: u64,
    /// The exit code of an exit hook that ran to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
}

/// How a task ended.
#[allow(clippy::struct_excessive_bools)] // Facts that hold side by side, not states.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExitReport {
    /// Which task.
    pub task: TaskId,
    /// The number of its attempt.
    pub attempt: u32,
    /// The exit code; 128 and the signal's number if a signal ended it.
    pub exit_code: i32,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether the kernel killed one of its processes for want of memory.
    pub out_of_memory: bool,
    /// Whether it was ended because its time was over.
    pub timed_out: bool,
    /// Whether it was ended because someone asked for that.
    pub stopped: bool,
    /// Whether it had to be killed because it did not end within the grace period.
    pub killed: bool,
    /// The phase that decided the exit code, if it is not 0.
    pub failed_in: Option<PhaseName>,
    /// Set when the task could not be started at all.
    pub start_failure: Option<String>,
    /// Set when the role's outputs could not be brought to where they belong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collect_failure: Option<String>,
    /// Where its time went.
    pub phases: Vec<Phase>,
    /// How far it was kept apart.
    pub level: Level,
    /// What was asked for and could not be enforced, in words.
    pub not_enforced: Vec<String>,
    /// The folder that holds `stdout`, `stderr`, `order` and `runtime.log`.
    pub logs: PathBuf,
    /// Most memory in use, in bytes, where the machine tells.
    pub peak_memory: Option<u64>,
    /// CPU time used, in microseconds.
    pub cpu_micros: u64,
}

impl ExitReport {
    /// Whether the task did what it should.
    pub fn succeeded(&self) -> bool {
        self.exit_code == 0 && self.start_failure.is_none() && !self.timed_out && !self.stopped
    }
}

/// An output, after the tasks of its role have ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Collected {
    /// The role.
    pub role: String,
    /// The output's name in the plan.
    pub output: String,
    /// Where it lies now: a path or a URL.
    pub location: String,
    /// How many files.
    pub files: u64,
    /// How many bytes.
    pub bytes: u64,
    /// `sha256:` and a digest; none if there is nothing.
    pub digest: Option<String>,
    /// Whether it is data that existed before.
    pub linked: bool,
    /// Where the real data lies, if it is a file that says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points_to: Option<String>,
    /// Why it does not lie where it belongs.
    pub failure: Option<String>,
}

/// The values of secrets. They are passed from memory to memory and never written.
#[derive(Clone, Default)]
pub struct Secrets {
    values: IndexMap<SecretName, String>,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.keys()).finish()
    }
}

impl FromIterator<(SecretName, String)> for Secrets {
    fn from_iter<I: IntoIterator<Item = (SecretName, String)>>(values: I) -> Self {
        Self {
            values: values.into_iter().collect(),
        }
    }
}

impl Secrets {
    /// The value of a secret; empty if it is not known.
    pub fn get(&self, name: &SecretName) -> &str {
        self.values.get(name).map_or("", String::as_str)
    }

    /// Names and values; a value must not be shown.
    pub fn iter(&self) -> impl Iterator<Item = (&SecretName, &str)> {
        self.values
            .iter()
            .map(|(name, value)| (name, value.as_str()))
    }

    /// All values.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        self.values.values().map(String::as_str)
    }

    /// The names of secrets that are too short to be scrubbed from logs.
    pub fn too_short(&self) -> impl Iterator<Item = &SecretName> {
        self.values
            .iter()
            .filter(|(_, value)| !value.is_empty() && value.len() < crate::log::SHORTEST_SECRET)
            .map(|(name, _)| name)
    }

    /// The bytes that travel through the supervisor's standard input.
    pub(crate) fn to_wire(&self) -> Vec<u8> {
        let pairs: Vec<(&SecretName, &String)> = self.values.iter().collect();
        serde_json::to_vec(&pairs).unwrap_or_default()
    }

    pub(crate) fn from_wire(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        let pairs: Vec<(SecretName, String)> = serde_json::from_slice(bytes)?;
        Ok(pairs.into_iter().collect())
    }
}
