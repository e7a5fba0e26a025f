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

/// Where a plan is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Engine {
    /// Processes of this machine.
    Local,
}

impl Engine {
    /// How far a feature is carried out here, and, unless it is honoured, what happens instead.
    pub fn honour(self, feature: Feature) -> (Honour, &'static str) {
        match self {
            Engine::Local => on_this_machine(feature),
        }
    }
}

fn on_this_machine(feature: Feature) -> (Honour, &'static str) {
    use Honour::{Approximated, Honoured, NotHonoured};
    match feature {
        Feature::Plan | Feature::Words => (Honoured, ""),
        Feature::Image => (
            Approximated,
            "the task runs on the files of this machine, not in the image",
        ),
        Feature::RegistryLogin => (NotHonoured, "no image is pulled, so nobody logs in"),
        Feature::Gpu => (
            Approximated,
            "the task uses the cards of this machine, even if there are fewer or none",
        ),
        Feature::Cpu => (
            Approximated,
            "a limit only where this machine lets Pinnace use cgroups",
        ),
        Feature::Memory => (
            Approximated,
            "a limit only where this machine lets Pinnace use cgroups",
        ),
        Feature::SharedMemory => (
            Approximated,
            "a `/dev/shm` of this size only where this machine lets Pinnace use namespaces",
        ),
        Feature::InfiniBand => (NotHonoured, "no devices are handed to the task"),
        Feature::VirtualCluster => (NotHonoured, "one machine has no virtual clusters"),
        Feature::Priority => (
            NotHonoured,
            "one machine has no queue: every job starts when it is submitted",
        ),
        Feature::Sku => (NotHonoured, "the task uses the hardware of this machine"),
        Feature::PinnedCell => (NotHonoured, "one machine has no reserved cells"),
        Feature::Affinity => (
            Approximated,
            "all tasks run on this machine, so all are near each other",
        ),
        Feature::Preemption => (
            Approximated,
            "one machine has no scheduler, so nothing is ever preempted or moved",
        ),
        Feature::Storage => (
            Approximated,
            "a folder of this machine stands for the storage",
        ),
        Feature::Ssh => (
            Approximated,
            "the SSH server of this machine is used, if it has one",
        ),
        Feature::TensorBoard => (
            Approximated,
            "the TensorBoard of this machine is used, if it has one",
        ),
        Feature::Notification => (NotHonoured, "no messages are sent"),
        Feature::Packages => (
            Approximated,
            "the task uses the programs and packages of this machine; `--install-packages` installs those of pip",
        ),
        Feature::Windows => (NotHonoured, "tasks run on the system of this machine"),
        Feature::ComputeTarget => (NotHonoured, "one machine has no compute targets"),
        Feature::Pipeline => (
            NotHonoured,
            "only a pipeline acts on it, and here a component runs alone",
        ),
        Feature::OtherEngine => (NotHonoured, "it needs an engine that this machine has not"),
        Feature::Cloud => (NotHonoured, "only the cloud has it"),
        Feature::Watching => (
            NotHonoured,
            "`pinnace run` waits and shows logs unless it is given `--detach`",
        ),
        Feature::Unread => (NotHonoured, "nothing reads it"),
    }
}

/// The accounts that tell of a loss, without those that only repeat the loss of a key above them.
pub fn losses(accounts: &[Account]) -> impl Iterator<Item = &Account> {
    let mut above: Vec<&Account> = Vec::new();
    accounts
        .iter()
        .filter(|account| account.status != Honour::Honoured)
        .filter(move |account| {
            let is_below = |above: &Account| {
                let rest = account.path.strip_prefix(above.path.as_str());
                rest.is_some_and(|rest| rest.starts_with(['.', '[']))
            };
            while above.pop_if(|last| !is_below(last)).is_some() {}
            let repeats = above.iter().any(|above| above.reason == account.reason);
            if !repeats {
                above.push(account);
            }
            !repeats
        })
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
    /// Packages of a language, such as a conda file lists them.
    Packages,
    /// A system other than that of the machine.
    Windows,
    /// A named set of machines.
    ComputeTarget,
    /// Other steps of a pipeline.
    Pipeline,
    /// An engine such as Spark or Scope.
    OtherEngine,
    /// Something that only a cloud sells: spot prices, networks, quotas.
    Cloud,
    /// How the one who submits a job watches it.
    Watching,
    /// Nothing in Pinnace reads it.
    Unread,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(path: &str, feature: Feature) -> Account {
        let (status, reason) = Engine::Local.honour(feature);
        Account {
            path: path.to_owned(),
            place: Place {
                file: "job.yaml".to_owned(),
                line: 1,
                column: 1,
            },
            status,
            reason: reason.to_owned(),
        }
    }

    #[test]
    fn a_loss_is_told_once_for_a_key_and_all_below_it() {
        let accounts = [
            account("name", Feature::Plan),
            account("extras.mine", Feature::Unread),
            account("extras.mine.a", Feature::Unread),
            account("extras.mine.b[0].c", Feature::Unread),
            account("extras.mineral", Feature::Unread),
            account("extras.mineral.gpu", Feature::Gpu),
            account("extras.mineral.other", Feature::Unread),
        ];
        let paths: Vec<_> = losses(&accounts).map(|account| &account.path).collect();
        assert_eq!(
            paths,
            ["extras.mine", "extras.mineral", "extras.mineral.gpu"]
        );
    }
}
