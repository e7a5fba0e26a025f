//! Which features of a source an engine honours.

use serde::{Deserialize, Serialize};

use crate::origin::Place;

/// How far a field of the source is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Honour {
    /// As written.
    Honoured,
    /// Something near it happens; the reason says what.
    Approximated,
    /// Nothing comes of it.
    NotHonoured,
}

/// One field of the source and what becomes of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// The key's path in the source document.
    pub path: String,
    /// Where it stands.
    pub place: Place,
    /// How far it is carried out.
    pub status: Honour,
    /// Why it is not honoured; empty when it is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// What an engine must be able to do to honour a field of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// Resolved into the plan; every engine honours it.
    Plan,
    /// Words for people; kept, nothing acts on them.
    Words,
    /// A container image.
    Image,
    /// A login to a registry.
    RegistryLogin,
    /// GPU cards.
    Gpu,
    /// A limit on processor time.
    Cpu,
    /// A limit on memory.
    Memory,
    /// The size of `/dev/shm`.
    SharedMemory,
    /// InfiniBand devices.
    InfiniBand,
    /// A queue or virtual cluster.
    VirtualCluster,
    /// An order among jobs.
    Priority,
    /// A kind of hardware.
    Sku,
    /// A reserved cell.
    PinnedCell,
    /// Nearness of roles.
    Affinity,
    /// How a cluster preempts and releases.
    Preemption,
    /// A configured storage.
    Storage,
    /// An SSH server in the task.
    Ssh,
    /// TensorBoard in a task.
    TensorBoard,
    /// Messages about changes of state.
    Notification,
    /// Nothing in Pinnace reads it.
    Unread,
}
