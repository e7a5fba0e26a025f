//! What will run, resolved: no dialect, no templates, no secret values.
//!
//! The JSON form is stable and documented in `docs/plan.md`; a change of meaning raises [`FORMAT`].

mod data;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::text::{Piece, SecretName, Text};

pub use data::{
    Code, DataKind, Input, InputMode, Location, MetricRule, NotALocation, Output, OutputMode,
    PythonEnvironment, Register, Scheme, SuccessfulExit,
};

/// Names the JSON form of a plan and its version.
pub const FORMAT: &str = "pinnace.plan/1";

/// A job, ready to be carried out by any engine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Plan {
    /// The job's name.
    pub name: String,
    /// Facts for people, such as `contributor` or `version`; nothing acts on them.
    pub labels: IndexMap<String, String>,
    /// The task roles by name, in the order of the source.
    pub roles: IndexMap<String, Role>,
    /// The secrets that the job defines, by name.
    pub secrets: Vec<SecretName>,
    /// How often the whole job is tried again after a failure.
    pub retry: Retry,
    /// Where in a cluster the job belongs.
    pub placement: Placement,
    /// Who is told of the job's changes of state.
    pub notify: Vec<Moment>,
    /// How long an attempt of the job may run, counted from the start of its first task; without end when missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit_seconds: Option<u64>,
    /// Numbers to find in what the tasks print.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<MetricRule>,
    /// How long a failed task is kept for a look into it; not at all when missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_on_failure_minutes: Option<u32>,
    /// The registered module that the job runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<Module>,
}

impl Plan {
    /// The plan for one job: the places of its outputs name the job where they wait for that.
    #[must_use]
    pub fn for_job(mut self, id: &str) -> Self {
        let outputs = self
            .roles
            .values_mut()
            .flat_map(|role| role.outputs.values_mut());
        for output in outputs {
            output.destination = output.destination.take().map(|place| place.for_job(id));
        }
        self
    }

    /// `sha256:` and the hex digest of the plan's JSON. Two plans with one digest do the same.
    pub fn digest(&self) -> String {
        let mut hasher = Sha256::new();
        // Serialising into a hasher fails only if a map key is no string; every key here is one.
        if serde_json::to_writer(HashWriter(&mut hasher), self).is_err() {
            return "sha256:unavailable".to_owned();
        }
        let mut out = String::from("sha256:");
        for byte in hasher.finalize() {
            use std::fmt::Write as _;
            let _ = write!(out, "{byte:02x}");
        }
        out
    }
}

struct HashWriter<'a>(&'a mut Sha256);

impl std::io::Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A module: a folder of programs that many job files name by its id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Module {
    /// Its id, a GUID as the source writes it.
    pub id: String,
    /// `sha256:` and the digest of its files; missing while it is not registered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// A group of equal tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Role {
    /// How many tasks.
    pub instances: u32,
    /// The container image that the source asks for.
    pub image: Option<Image>,
    /// What each task needs.
    pub resources: Resources,
    /// Port label to number of ports, for each task.
    pub ports: IndexMap<String, u32>,
    /// Variables beside those that every task gets (see [`crate::environment`]).
    pub env: IndexMap<String, Text>,
    /// Storages to mount.
    pub mounts: Vec<Mount>,
    /// What happens before the command, in order.
    pub before: Vec<Step>,
    /// The command: lines of one shell script.
    pub command: Vec<Text>,
    /// What happens after the command, in order of execution.
    pub after: Vec<Step>,
    /// When this role decides the fate of the job.
    pub completion: Completion,
    /// How often one task is tried again after a failure.
    pub retry: Retry,
    /// Where in a cluster this role belongs.
    pub placement: RolePlacement,
    /// The user's code, of which every task gets a snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// Absolute path in the task to the content of a file that is written there before the first step.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub files: IndexMap<String, Text>,
    /// The data that the tasks read, by name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub inputs: IndexMap<String, Input>,
    /// The data that the tasks write, by name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub outputs: IndexMap<String, Output>,
    /// The Python packages that the tasks find.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub python: Option<PythonEnvironment>,
    /// Absolute path in the task at which the first step starts; the task's own folder when missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workdir: Option<String>,
    /// Which exit codes of the command are a success.
    #[serde(default, skip_serializing_if = "SuccessfulExit::is_zero")]
    pub success: SuccessfulExit,
}

impl Role {
    /// What happens around the command.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.before.iter().chain(&self.after)
    }

    /// The parts of the texts that a shell will read which are known beforehand.
    pub fn known_words(&self) -> impl Iterator<Item = &str> {
        let commands = self.steps().flat_map(|step| match &step.action {
            Action::Shell { commands } => commands.as_slice(),
            _ => &[],
        });
        let texts = self.command.iter().chain(self.env.values()).chain(commands);
        let pieces = texts.flat_map(Text::pieces);
        pieces.filter_map(|piece| match piece {
            Piece::Literal(literal) => Some(literal.as_str()),
            _ => None,
        })
    }
}

/// A container image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Image {
    /// Its reference, such as `ubuntu:22.04`.
    pub uri: Text,
    /// How to log in to its registry.
    pub auth: Option<ImageAuth>,
}

/// A registry login.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImageAuth {
    /// User name.
    pub username: Option<Text>,
    /// Password; always a secret.
    pub password: Option<Text>,
    /// Registry; the default one of the engine when missing.
    pub registry: Option<Text>,
}

/// What one task needs of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Resources {
    /// Virtual cores.
    pub cpu: u32,
    /// Memory in MiB.
    #[serde(rename = "memoryMB")]
    pub memory_mb: u64,
    /// GPU cards.
    pub gpu: u32,
    /// Size of `/dev/shm` in MiB.
    #[serde(rename = "shmMB")]
    pub shm_mb: u64,
    /// Whether the task wants InfiniBand devices.
    pub infiniband: bool,
}

/// A storage and the place where tasks see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Mount {
    /// Who asked for it: the prerequisite or the plugin.
    pub name: String,
    /// The storage's configured name.
    pub storage: Text,
    /// Absolute path inside the task.
    pub target: Text,
}

/// Something done around the command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Step {
    /// Who asked for it: the prerequisite or the plugin.
    pub name: String,
    /// When it happens.
    pub on: Event,
    /// What happens.
    pub action: Action,
    /// What its failure means.
    pub on_failure: OnFailure,
}

/// The moments in a task's life to which a step can be tied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Event {
    /// Before the command.
    Start,
    /// After the command ended with 0.
    Success,
    /// After the command failed or was killed.
    Failure,
    /// After the command, whatever came of it.
    Always,
}

/// What a failing step does to its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OnFailure {
    /// The task fails.
    Fail,
    /// The failure is logged and the task goes on.
    Ignore,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Action {
    /// Runs lines in the task's own shell.
    Shell {
        /// The lines.
        commands: Vec<Text>,
    },
    /// Opens an SSH server in the task.
    Ssh {
        /// Whether tasks of the job can log in to each other.
        between_tasks: bool,
        /// Public keys that may log in.
        public_keys: Vec<Text>,
        /// Whether the command waits until every task's server answers.
        barrier: bool,
        /// How long it waits.
        barrier_timeout_minutes: u32,
    },
    /// Clones a repository.
    GitClone {
        /// The repository.
        repository: Text,
        /// More arguments of `git clone`.
        options: Vec<Text>,
        /// The folder to clone into.
        directory: Option<Text>,
    },
    /// Serves TensorBoard in the first task of the first role.
    TensorBoard {
        /// The port to listen on; one is chosen when missing.
        port: Option<u32>,
        /// Log folders by name.
        logdir: IndexMap<String, Text>,
    },
}

/// When a role decides the fate of the job. `None` means never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Completion {
    /// The job fails once this many tasks of the role have failed.
    pub min_failed: Option<u32>,
    /// The job succeeds once this many tasks of the role have succeeded.
    pub min_succeeded: Option<u32>,
}

/// A budget of counted retries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Retry {
    /// How many. `-1` is without end, `-2` is also after success.
    pub limit: i32,
}

/// Where in a cluster a job belongs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Placement {
    /// The cluster that the source names; configuration says which engine stands behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// The cluster's queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// The virtual cluster.
    pub virtual_cluster: String,
    /// Higher goes first; `-1` is opportunistic. From −1 to 126.
    pub priority: i32,
    /// Whether all tasks start together or none.
    pub gang: bool,
    /// Whether the resources of a gang are freed together.
    pub gang_release: Option<bool>,
    /// Whether preempted tasks may stay until their place is really needed.
    pub lazy_preemption: Option<bool>,
    /// Whether the cluster's own node suggestions are ignored.
    pub ignore_suggested_nodes: Option<bool>,
}

/// Where in a cluster a role belongs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RolePlacement {
    /// The kind of hardware.
    pub sku: Option<String>,
    /// A reserved cell.
    pub pinned_cell: Option<String>,
    /// Roles with one group are placed near each other.
    pub affinity_group: Option<String>,
}

/// A change of a job's state that someone wants to hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Moment {
    /// The job started to run.
    Running,
    /// The job succeeded.
    Succeeded,
    /// The job failed.
    Failed,
    /// The job was stopped.
    Stopped,
    /// The job was tried again.
    Retried,
}
