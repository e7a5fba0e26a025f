//! The exit table: OpenPAI's codes, phrases and behaviours in OpenPAI's order, with patterns and words
//! of our own; and −1400 and −1401, which OpenPAI does not have because it moves no data. Rows that a more general one would hide stand before it: −1205 before −1204, −1300
//! before −1200. The fallbacks (255, 256, −8000, −300) have no patterns.

use serde::{Deserialize, Serialize};

use super::log::Reach::{End, Raised, Tail};
use super::pattern::Clue::{
    BrokenGpuMemory, Clean, Code, During, Engine, Log, OutOfMemory, Says, TimedOut,
};
use super::pattern::Pattern;
use super::{Behaviour, EngineReason as E, Part};

/// Whose success or failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Kind {
    /// The user's command did what it should.
    UserSuccess,
    /// A person stopped it.
    UserStop,
    /// The user's command or job file failed.
    UserFailure,
    /// What lies below the job failed.
    PlatformFailure,
    /// There was no room in time.
    ResourceAllocationTimeout,
    /// Nobody can say.
    UnknownFailure,
}

/// When in the life of a task it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Stage {
    /// While the job was handed in.
    Submitting,
    /// While a place was looked for.
    Allocating,
    /// While the task was prepared and started.
    Launching,
    /// While the command ran.
    Running,
    /// After the command.
    Completing,
    /// Nobody can say.
    Unknown,
}

/// Who has to change something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Causer {
    /// Nobody.
    Nobody,
    /// Whoever wrote the job.
    User,
    /// The engine or the cluster.
    Platform,
    /// A machine or a device.
    Hardware,
    /// Nobody can say.
    Unknown,
}

/// One row: a code, its name, its meaning and its words.
#[derive(Debug)]
pub struct Row {
    /// The code.
    pub code: i32,
    /// Its name.
    pub phrase: &'static str,
    /// What it says about trying again.
    pub behaviour: Behaviour,
    /// Whose success or failure it is.
    pub kind: Kind,
    /// When it happened.
    pub stage: Stage,
    /// Who has to change something.
    pub causer: Causer,
    /// What happened, for people.
    pub reason: &'static str,
    /// What to do about it, for people.
    pub solution: &'static str,
    pub(super) patterns: &'static [Pattern],
}

impl Row {
    /// The row of a code; for a code without one, the fallback for its sign.
    pub fn of(code: i32) -> &'static Row {
        const FALLBACK: i32 = 256;
        const NEGATIVE_FALLBACK: i32 = -8000;
        let with = |code: i32| ROWS.iter().find(|row| row.code == code);
        let fallback = if code < 0 {
            NEGATIVE_FALLBACK
        } else {
            FALLBACK
        };
        with(code).or_else(|| with(fallback)).unwrap_or(&ROWS[0])
    }

    /// Whether it is tried again, in a few words.
    pub fn behaviour_in_words(&self) -> &'static str {
        match self.behaviour {
            Behaviour::Success => "no need",
            Behaviour::Transient => "for free",
            Behaviour::TransientConflict => "for free, after a random wait",
            Behaviour::Permanent => "never",
            Behaviour::Unknown => "while the budget lasts",
        }
    }
}

type Meaning = (Behaviour, Kind, Stage, Causer);

const fn row(
    code: i32,
    phrase: &'static str,
    meaning: Meaning,
    reason: &'static str,
    solution: &'static str,
    patterns: &'static [Pattern],
) -> Row {
    let (behaviour, kind, stage, causer) = meaning;
    Row {
        code,
        phrase,
        behaviour,
        kind,
        stage,
        causer,
        reason,
        solution,
        patterns,
    }
}

use Behaviour::{Permanent, Success, Transient, TransientConflict};
use Kind::{PlatformFailure, UnknownFailure, UserFailure, UserStop, UserSuccess};
use Stage::{Allocating, Completing, Launching, Running, Submitting};

const PLATFORM_LAUNCHING: Meaning = (Transient, PlatformFailure, Launching, Causer::Platform);
const PLATFORM_RUNNING: Meaning = (Transient, PlatformFailure, Running, Causer::Platform);
const REFUSED: Meaning = (Permanent, PlatformFailure, Launching, Causer::Platform);
const STOPPED: Meaning = (Permanent, UserStop, Completing, Causer::User);
const USER_LAUNCHING: Meaning = (Permanent, UserFailure, Launching, Causer::User);
const USER_RUNNING: Meaning = (Permanent, UserFailure, Running, Causer::User);
const UNKNOWN_LAUNCHING: Meaning = (
    Behaviour::Unknown,
    UnknownFailure,
    Launching,
    Causer::Unknown,
);
const UNKNOWN_RUNNING: Meaning = (Behaviour::Unknown, UnknownFailure, Running, Causer::Unknown);
const UNKNOWN: Meaning = (
    Behaviour::Unknown,
    UnknownFailure,
    Stage::Unknown,
    Causer::Unknown,
);
const SIGNALLED: Meaning = (Transient, UnknownFailure, Running, Causer::Unknown);
const HARDWARE: Meaning = (Transient, PlatformFailure, Running, Causer::Hardware);

const WAIT_FOR_RETRY: &str = "nothing to do: it is tried again by itself";
const SEE_THE_LOG: &str = "look at the end of the task's log for the cause";

/// All rows, in the order in which they are tried.
#[rustfmt::skip]
pub static ROWS: [Row; 64] = [
    row(0, "Succeeded", (Success, UserSuccess, Completing, Causer::Nobody),
        "it succeeded", "",
        &[&[Clean]]),
    row(-100, "ConfigMapExternalDeleted", PLATFORM_RUNNING,
        "the attempt was removed from outside", WAIT_FOR_RETRY,
        &[&[Engine(E::AttemptRemoved)]]),
    row(-101, "PodExternalDeleted", PLATFORM_RUNNING,
        "the task was taken away, for instance to make room for a more important job", WAIT_FOR_RETRY,
        &[&[Engine(E::Removed)]]),
    row(-110, "ConfigMapLocalCacheCreationTimeout", PLATFORM_LAUNCHING,
        "the attempt was asked for and never appeared", WAIT_FOR_RETRY,
        &[&[Engine(E::AttemptNeverSeen)]]),
    row(-111, "PodLocalCacheCreationTimeout", PLATFORM_LAUNCHING,
        "the task was asked for and never appeared", WAIT_FOR_RETRY,
        &[&[Engine(E::NeverSeen)]]),
    row(-120, "PodCreationTransientError", PLATFORM_LAUNCHING,
        "the engine cannot take the task now", WAIT_FOR_RETRY,
        &[&[Engine(E::RefusedForNow)]]),
    row(-200, "PodCreationPermanentError", REFUSED,
        "the engine does not take this task", "change the job as the engine's message says, or choose another engine",
        &[&[Engine(E::Refused)]]),
    row(-210, "StopFrameworkRequested", STOPPED,
        "the job was stopped on request", "run the job again if this was not meant",
        &[&[Engine(E::StopAsked)]]),
    row(-220, "FrameworkAttemptCompletion", (Permanent, UserStop, Completing, Causer::Nobody),
        "the fate of the job was decided, so the task was stopped", "see what decided it; change the role's completion policy if the task should have gone on",
        &[&[Engine(E::AttemptOver)]]),
    row(-230, "DeleteTaskRequested", STOPPED,
        "the task was removed on request", "nothing to do",
        &[&[Engine(E::Unwanted)]]),
    row(-300, "PodFailedWithoutFailedContainer", UNKNOWN,
        "the task failed and nothing in it reports a failure", "look at the engine's own messages about the task",
        &[]),
    row(-310, "PodCreationUnknownError", UNKNOWN_LAUNCHING,
        "the engine failed to take the task and does not say why", "look at the engine's own log, and check that `pinnace engines` calls it usable",
        &[&[Engine(E::CreateFailed)]]),
    row(-1000, "PodEvicted", PLATFORM_RUNNING,
        "the machine ran short of memory or disk and threw the task out", "ask for the memory that the task really uses, and write big files to a storage",
        &[&[Engine(E::Evicted)]]),
    row(-1001, "PodNodeLost", (Transient, PlatformFailure, Running, Causer::Hardware),
        "the machine or the supervisor of the task was lost", WAIT_FOR_RETRY,
        &[&[Engine(E::NodeLost)], &[Engine(E::Lost)]]),
    row(-1002, "PodScheduledToInsufficientResourceNode", PLATFORM_LAUNCHING,
        "the machine had too little left when the task arrived", WAIT_FOR_RETRY,
        &[&[Engine(E::NodeFull)]]),
    row(-1003, "PodPreemptedForCriticalPod", PLATFORM_RUNNING,
        "the machine needed room for a part of its system", WAIT_FOR_RETRY,
        &[&[Engine(E::SystemPreempted)]]),
    row(-1004, "PodDeadlineExceeded", (Permanent, UserStop, Running, Causer::User),
        "the time limit has passed", "raise the time limit, or make the task save its work and finish earlier",
        &[&[Engine(E::DeadlineExceeded)], &[TimedOut]]),
    row(-1005, "PodNodeAdmissionForbidden", REFUSED,
        "the machine refused to admit the task", "ask the cluster's administrators which rule forbids it",
        &[&[Engine(E::AdmissionForbidden)]]),
    row(-1006, "PodNodeAdmissionUnexpectedError", PLATFORM_LAUNCHING,
        "the machine failed to admit the task", WAIT_FOR_RETRY,
        &[&[Engine(E::AdmissionFailed)]]),
    row(-1100, "CreateFrameworkPermanentFailed", (Permanent, PlatformFailure, Submitting, Causer::Platform),
        "the job could not be handed to the engine", "change the job as the engine's message says, or choose another engine",
        &[&[Engine(E::JobRefused)]]),
    row(-1300, "InitContainerDockerOOMKilled", PLATFORM_LAUNCHING,
        "the preparation of the task ran out of memory", "ask for more memory if it happens again",
        &[&[During(Part::Setup), OutOfMemory]]),
    row(-1200, "UserContainerDockerOOMKilled", USER_RUNNING,
        "the task used more memory than it asked for and was killed", "raise `memoryMB` of the role, or make the task use less (smaller batches, fewer loader processes)",
        &[&[OutOfMemory]]),
    row(-1201, "ContainerDockerCreationError", UNKNOWN_LAUNCHING,
        "the container could not be created", "check that the image fits the machine and that its container engine works",
        &[&[Engine(E::ContainerNotCreated)]]),
    row(-1202, "ContainerDockerStartCmdPermissionDenied", USER_LAUNCHING,
        "the command may not be executed", "make the file executable (`chmod +x`), or call it through its interpreter; check that it fits the machine",
        &[&[Engine(E::StartFailed), Says(&["permission denied", "exec format error"])],
          &[Code(126), Log(End, &["permission denied"])],
          &[Code(126), Log(End, &["cannot execute"])],
          &[Code(126), Log(End, &["exec format error"])]]),
    row(-1203, "ContainerDockerStartCmdNotFound", USER_LAUNCHING,
        "the command to start was not found", "check the command's spelling and that the image or machine has it, `bash` included",
        &[&[Engine(E::StartFailed), Says(&["executable file not found", "no such file or directory", "command not found", "cannot find"])]]),
    row(-1205, "ContainerGpuDeviceNotFoundError", (Transient, PlatformFailure, Launching, Causer::Hardware),
        "a GPU of the task was not found when it started", "nothing to do: it is tried again by itself; tell the administrators if it happens on one machine only",
        &[&[Engine(E::StartFailed), Says(&["unknown device", "no devices were found", "gpu device", "nvidia-container-cli: device error"])]]),
    row(-1204, "ContainerDockerStartUnknownError", UNKNOWN_LAUNCHING,
        "the task could not be started", "see the engine's message",
        &[&[Engine(E::StartFailed)]]),
    row(-1400, "DataNotReady", (Behaviour::Unknown, UserFailure, Launching, Causer::User),
        "the data of the task could not be made ready", "see the message: what is missing must be there before the job starts",
        &[&[Engine(E::DataNotReady)]]),
    row(-1401, "OutputsNotCollected", (Behaviour::Unknown, UserFailure, Completing, Causer::User),
        "the command succeeded, and its outputs are not where they belong", "see the message: it says where they are kept",
        &[&[Engine(E::OutputsNotCollected)]]),
    row(128, "ContainerMayFailDueToGpuDeviceEccError", UNKNOWN_RUNNING,
        "the task failed on a GPU whose memory has errors that cannot be corrected", "run it on another machine, and tell the administrators of this one",
        &[&[BrokenGpuMemory]]),
    row(130, "ContainerSigIntReceived", SIGNALLED,
        "the command was interrupted (SIGINT)", WAIT_FOR_RETRY,
        &[&[Code(130)]]),
    row(131, "ContainerSigQuitReceived", SIGNALLED,
        "the command was told to quit (SIGQUIT)", WAIT_FOR_RETRY,
        &[&[Code(131)]]),
    row(132, "ContainerSigIllReceived", USER_RUNNING,
        "the command used an instruction that the processor does not have (SIGILL)", "use a build of the program or library for this kind of processor",
        &[&[Code(132)]]),
    row(134, "ContainerSigAbrtReceived", UNKNOWN_RUNNING,
        "the command gave up (SIGABRT)", SEE_THE_LOG,
        &[&[Code(134)]]),
    row(135, "ContainerSigBusReceived", USER_RUNNING,
        "the command reached memory that is not there (SIGBUS)", "raise `shmMB` of the role if the task shares memory between processes, as data loaders do",
        &[&[Code(135)]]),
    row(136, "ContainerSigFpeReceived", USER_RUNNING,
        "the command made an impossible calculation (SIGFPE)", "look for a division by zero in native code",
        &[&[Code(136)]]),
    row(137, "ContainerSigKillReceived", SIGNALLED,
        "the command was killed (SIGKILL)", "it is tried again by itself; if it happens again, ask for more memory",
        &[&[Code(137)]]),
    row(139, "ContainerSigSegvReceived", UNKNOWN_RUNNING,
        "the command touched memory that is not its own (SIGSEGV)", "look for versions of native libraries that do not fit each other",
        &[&[Code(139)]]),
    row(141, "ContainerSigPipeReceived", USER_RUNNING,
        "the command wrote into a pipe that nobody reads (SIGPIPE)", "look for a pipeline whose reader ends first, such as `… | head`",
        &[&[Code(141)]]),
    row(143, "ContainerSigTermReceived", SIGNALLED,
        "the command was told to end (SIGTERM)", WAIT_FOR_RETRY,
        &[&[Code(143)]]),
    row(220, "ContainerUserCommandExitWithError", USER_RUNNING,
        "a program that the command calls was not found", "check its spelling, and install it in the image or in a prerequisite",
        &[&[Code(127), Log(End, &["command not found"])],
          &[Code(127), Log(End, &[": not found"])],
          &[Code(127), Log(End, &[": no such file or directory"])]]),
    row(221, "ContainerTensorflowOOMKilled", USER_RUNNING,
        "TensorFlow ran out of memory", "use smaller batches or a smaller model, or ask for more memory or GPUs",
        &[&[Log(Tail, &["oom when allocating tensor"])],
          &[Log(Raised, &["resourceexhaustederror"])]]),
    row(222, "ContainerMPISegvFault", USER_RUNNING,
        "a process of MPI touched memory that is not its own", "look for versions of MPI and native libraries that do not fit each other",
        &[&[Log(Tail, &["signal: segmentation fault"])],
          &[Log(Tail, &["exited on signal 11 (segmentation fault)"])]]),
    row(223, "ContainerCudaUncorrectableECCError", HARDWARE,
        "a GPU has memory errors that cannot be corrected", "it is tried again by itself; tell the administrators of this machine",
        &[&[Log(Tail, &["uncorrectable ecc error"])],
          &[Log(Tail, &["cuda_error_ecc_uncorrectable"])]]),
    row(224, "ContainerCudaVersionMismatch", USER_RUNNING,
        "the CUDA version of the program does not fit the driver of the machine", "use an image whose CUDA version the machine's driver supports",
        &[&[Log(Tail, &["cuda driver version is insufficient for cuda runtime version"])],
          &[Log(Tail, &["nvidia driver on your system is too old"])],
          &[Log(Tail, &["cuda_error_system_driver_mismatch"])]]),
    row(225, "ContainerCudnnVersionMismatch", USER_RUNNING,
        "the cuDNN version of the machine is not the one that the program was built for", "install the cuDNN version that the framework was built for",
        &[&[Log(Tail, &["loaded runtime cudnn library:", "but source was compiled with"])],
          &[Log(Tail, &["cudnn version incompatibility"])]]),
    row(226, "ContainerCudaOOMKilled", USER_RUNNING,
        "a GPU ran out of memory", "use smaller batches or a smaller model, or ask for more or bigger GPUs",
        &[&[Log(Tail, &["cuda out of memory"])],
          &[Log(Tail, &["cuda error: out of memory"])],
          &[Log(Tail, &["cuda_error_out_of_memory"])],
          &[Log(Tail, &["cuda runtime error (2)", "out of memory"])]]),
    row(228, "ContainerIncorrectParameterError", USER_RUNNING,
        "the program was called with arguments that it does not take", "compare the command with the program's `--help`",
        &[&[Log(End, &["error: unrecognized arguments"])],
          &[Log(End, &["error: the following arguments are required"])],
          &[Log(End, &["error: argument ", "invalid "])],
          &[Log(End, &["unknown command line flag"])],
          &[Log(End, &["can't open file", "[errno 2]"])],
          &[Log(Raised, &["invalid argument:"])]]),
    row(229, "ContainerIncorrectDataModelError", USER_RUNNING,
        "data or a model that the program reads is missing or does not fit", "check the paths of data and model, their mounts, and that the model fits the code",
        &[&[Log(Raised, &["filenotfounderror: [errno 2]"])],
          &[Log(Raised, &["error(s) in loading state_dict"])],
          &[Log(Raised, &["unsuccessful tensorslicereader"])],
          &[Log(Raised, &["not an sstable (bad magic number)"])]]),
    row(230, "ContainerInvalidSavePath", USER_RUNNING,
        "the folder in which the program wants to save does not exist", "create the folder before saving (`mkdir -p`), and check the path",
        &[&[Log(Raised, &["parent directory", "exist"])]]),
    row(231, "ContainerSyntaxError", USER_RUNNING,
        "the code or script has a syntax error", "correct the line that the log names; check that the Python version fits the code",
        &[&[Log(Raised, &["syntaxerror"])],
          &[Log(Raised, &["indentationerror"])],
          &[Log(Raised, &["taberror"])],
          &[Log(End, &["syntax error near unexpected token"])],
          &[Log(End, &["syntax error: unexpected"])],
          &[Log(End, &["syntax error: unterminated"])]]),
    row(232, "ContainerImportError", USER_RUNNING,
        "a Python module could not be imported", "install the module in the image or in a prerequisite, and check its version",
        &[&[Log(Raised, &["importerror"])],
          &[Log(Raised, &["modulenotfounderror"])]]),
    row(233, "ContainerIndexOutOfRange", USER_RUNNING,
        "the program used an index outside of its range", "look at the line that the traceback names; labels outside of the number of classes are a usual cause",
        &[&[Log(Raised, &["indexerror"])],
          &[Log(Tail, &["panic:", "index out of range"])]]),
    row(234, "ContainerSigvFault", USER_RUNNING,
        "a program that the command calls touched memory that is not its own", "look for versions of native libraries that do not fit each other",
        &[&[Log(End, &["segmentation fault"])]]),
    row(235, "ContainerEngineCoreDump", USER_RUNNING,
        "a program that the command calls crashed", SEE_THE_LOG,
        &[&[Log(End, &["(core dumped)"])]]),
    row(249, "PAIRuntimeSSHBarrierTimeout", USER_LAUNCHING,
        "the SSH servers of the other tasks did not answer in time", "raise `sshbarrierTimeout`, and check that every task starts its SSH server",
        &[&[Engine(E::SshBarrierTimeout)], &[During(Part::Setup), Code(249)],
          &[During(Part::Step), Code(10), Log(End, &["[error] the ssh server of", "does not answer"])]]),
    row(250, "FrameworkBarrierTransientFailed", PLATFORM_LAUNCHING,
        "the other tasks of the job could not be found for now", WAIT_FOR_RETRY,
        &[&[Engine(E::PeersNotReady)], &[During(Part::Setup), Code(250)]]),
    row(251, "JobGangAllocationTimeout", (TransientConflict, Kind::ResourceAllocationTimeout, Allocating, Causer::Platform),
        "not all tasks of the job got a place in time", "it is tried again after a random wait; ask for less if the cluster is never that free",
        &[&[Engine(E::GangTimeout)], &[During(Part::Setup), Code(251)]]),
    row(252, "FrameworkBarrierPermanentFailed", REFUSED,
        "the other tasks of the job cannot be found", "see the engine's message",
        &[&[Engine(E::PeersImpossible)], &[During(Part::Setup), Code(252)]]),
    row(253, "ContainerPortConflict", PLATFORM_LAUNCHING,
        "a port of the task is taken by someone else", WAIT_FOR_RETRY,
        &[&[Engine(E::PortConflict)], &[During(Part::Setup), Code(253)]]),
    row(254, "ContainerImageNotExists", USER_LAUNCHING,
        "the image does not exist or may not be pulled", "check the image's name and tag, and the login to its registry",
        &[&[Engine(E::ImageMissing)], &[During(Part::Setup), Code(254)]]),
    row(255, "PAIRuntimeUnknownFailed", UNKNOWN_RUNNING,
        "the command failed", SEE_THE_LOG,
        &[]),
    row(256, "PAIRuntimeExitAbnormally", UNKNOWN,
        "the task ended with a code that has no special meaning", SEE_THE_LOG,
        &[]),
    row(-8000, "ContainerUndefinedNegativeExitCode", UNKNOWN,
        "the task ended with a negative code that has no special meaning", "look at the engine's own messages about the task",
        &[]),
];
