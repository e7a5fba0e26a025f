//! What was observed of an ending: facts, no judgement.

use serde::{Deserialize, Serialize};

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Status {
    /// It ended by itself.
    Code(i32),
    /// A signal killed it.
    Signal(i32),
}

impl Status {
    /// The code that a shell would show: 128 and the signal's number for a signal.
    pub fn shell_code(self) -> i32 {
        match self {
            Status::Code(code) => code,
            Status::Signal(signal) => signal.saturating_add(128),
        }
    }
}

/// Which part of a task ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Part {
    /// Pinnace's own preparation: sandbox, files, ports, peers.
    Setup,
    /// A step before or after the command.
    Step,
    /// The user's command.
    #[default]
    Command,
}

/// Why an engine says that a task ended, or never began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EngineReason {
    /// The attempt of the job was removed from outside.
    AttemptRemoved,
    /// The task was removed from outside, for instance preempted.
    Removed,
    /// The attempt was asked for and never appeared.
    AttemptNeverSeen,
    /// The task was asked for and never appeared.
    NeverSeen,
    /// The engine cannot take the task now.
    RefusedForNow,
    /// The engine will never take the task.
    Refused,
    /// The engine failed to take the task and does not say why.
    CreateFailed,
    /// The job was stopped.
    StopAsked,
    /// The attempt was over.
    AttemptOver,
    /// The task was no longer wanted.
    Unwanted,
    /// The machine ran short and threw the task out.
    Evicted,
    /// The machine was lost.
    NodeLost,
    /// The engine lost the task: its supervisor is gone without a report, and the task with it.
    Lost,
    /// The machine had too little left when the task arrived.
    NodeFull,
    /// The machine needed room for a part of the system.
    SystemPreempted,
    /// The machine failed to admit the task.
    AdmissionFailed,
    /// The machine refused to admit the task.
    AdmissionForbidden,
    /// The engine's own deadline passed.
    DeadlineExceeded,
    /// The whole job could not be handed to the engine.
    JobRefused,
    /// The container could not be created.
    ContainerNotCreated,
    /// The container or process could not be started; the message says why.
    StartFailed,
    /// The peers were not found for a reason that passes.
    PeersNotReady,
    /// The gang did not get all of its places in time.
    GangTimeout,
    /// The peers will never be found.
    PeersImpossible,
    /// A port of the task is taken.
    PortConflict,
    /// The image does not exist or may not be pulled.
    ImageMissing,
    /// The peers' SSH servers did not answer in time.
    SshBarrierTimeout,
    /// The code, an input or the Python packages of the task could not be made ready; the message says why.
    DataNotReady,
    /// The outputs of the task are not where they belong; the message says why, and where they are.
    OutputsNotCollected,
}

/// Everything that was observed of one ending.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExitReport {
    /// Which part of the task ended.
    pub part: Part,
    /// How the process ended; none if there was no process or nobody saw its end.
    pub status: Option<Status>,
    /// The kernel killed a process of the task because the task's memory limit was reached.
    pub out_of_memory: bool,
    /// The task was killed because its time limit has passed.
    pub timed_out: bool,
    /// The driver reports memory errors, which could not be corrected, of a GPU of the task.
    pub gpu_memory_broken: bool,
    /// The engine's reason, when it has one.
    pub engine: Option<EngineReason>,
    /// The engine's own words.
    pub message: Option<String>,
    /// The end of the user's log, secrets scrubbed.
    pub user_log: String,
    /// The end of the runtime log, secrets scrubbed.
    pub runtime_log: String,
}

impl ExitReport {
    /// The command ended by itself.
    pub fn exited(code: i32) -> Self {
        ExitReport {
            status: Some(Status::Code(code)),
            ..ExitReport::default()
        }
    }

    /// A signal killed the command.
    pub fn signalled(signal: i32) -> Self {
        ExitReport {
            status: Some(Status::Signal(signal)),
            ..ExitReport::default()
        }
    }

    /// The engine ended the task, or never began it.
    pub fn from_engine(reason: EngineReason, message: impl Into<String>) -> Self {
        let message = message.into();
        ExitReport {
            engine: Some(reason),
            message: (!message.is_empty()).then_some(message),
            ..ExitReport::default()
        }
    }

    /// With the end of the user's log.
    #[must_use]
    pub fn with_log(mut self, log: impl Into<String>) -> Self {
        self.user_log = log.into();
        self
    }
}
