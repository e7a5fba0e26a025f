//! The variables of a task, with the values that are known only when it runs.

use std::fmt::Write as _;
use std::path::Path;

use indexmap::IndexMap;
use pinnace_core::environment::{Value, short_name, variables};
use pinnace_core::plan::Role;

use crate::contract::{Attempt, Peer, TaskId, TaskSpec};
use crate::data::stage::StagedRole;
use crate::variables::Variables;

/// Jobs of more tasks than this get the variables of single tasks (`PAI_HOST_IP_<role>_<index>` and
/// the like) only if a command or hook speaks of them. Every process of every task would else carry
/// hundreds of kilobytes, and every shell would need milliseconds to read them. `PINNACE_PEERS` has all.
pub const MOST_SPELLED_OUT_TASKS: usize = 128;

/// What all tasks of an attempt have in common.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Those of every task, whatever its role.
    common: Variables,
    /// By role, without what differs between its tasks.
    by_role: IndexMap<String, Variables>,
    peers: Vec<Peer>,
    first_rank: IndexMap<String, u64>,
}

/// Where a task finds its folders.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Folders<'a> {
    pub(crate) work: &'a Path,
    pub(crate) task: &'a Path,
    pub(crate) shared: &'a Path,
    pub(crate) temporary: &'a Path,
    pub(crate) code: &'a Path,
}

impl Shared {
    pub(crate) fn new(attempt: &Attempt, peers: Vec<Peer>) -> Self {
        let plan = &attempt.plan;
        let count: usize = plan
            .roles
            .values()
            .map(|role| role.instances as usize)
            .sum();
        let spelled_out = count <= MOST_SPELLED_OUT_TASKS || speaks_of_single_tasks(attempt);
        let table = Table {
            attempt,
            peers: &peers,
        };
        let mut by_role = IndexMap::new();
        for role in plan.roles.keys() {
            let mut list = Variables::default();
            for variable in variables(plan, role) {
                let left_to_task = variable.name == "NVIDIA_VISIBLE_DEVICES";
                if left_to_task || (variable.tasks.is_some() && !spelled_out) {
                    continue;
                }
                match (&variable.value, variable.tasks) {
                    (Value::Known(value), None) => list.add(&variable.name, value),
                    (_, Some(_)) => table.of_tasks(&variable.name, &mut list),
                    (Value::AtRun(_), None) => table.of_role(&variable.name, &mut list),
                }
            }
            by_role.insert(role.clone(), list);
        }
        let mut first_rank = IndexMap::new();
        let mut rank = 0;
        for (name, role) in &plan.roles {
            first_rank.insert(name.clone(), rank);
            rank += u64::from(role.instances);
        }
        Self {
            common: common(&attempt.user),
            by_role,
            peers,
            first_rank,
        }
    }

    /// All peers.
    pub(crate) fn peers(&self) -> &[Peer] {
        &self.peers
    }

    /// The ports of a task.
    pub(crate) fn ports_of(&self, task: &TaskId) -> IndexMap<String, Vec<u16>> {
        let is_it = |peer: &&Peer| peer.index == task.index && peer.role == task.role;
        // Most often they are in the order of their ranks.
        let rank = usize::try_from(self.rank_of(task)).unwrap_or_default();
        self.peers
            .get(rank)
            .filter(is_it)
            .or_else(|| self.peers.iter().find(is_it))
            .map(|peer| peer.ports.clone())
            .unwrap_or_default()
    }

    fn rank_of(&self, task: &TaskId) -> u64 {
        let first = self.first_rank.get(&task.role);
        first.copied().unwrap_or_default() + u64::from(task.index)
    }

    /// What every task of a role has.
    pub(crate) fn of_role(&self, role: &str) -> Option<&Variables> {
        self.by_role.get(role)
    }

    /// What only this task has. Later entries win over earlier ones and over those of the role.
    pub(crate) fn of_task(
        &self,
        attempt: &Attempt,
        task: &TaskSpec,
        ports: &IndexMap<String, Vec<u16>>,
        folders: Folders<'_>,
    ) -> Variables {
        let mut list = self.common.clone();
        let mut set = |name: &str, value: &str| list.add(name, value);
        let index = task.id.index.to_string();
        let rank = self.rank_of(&task.id);
        let address = &attempt.settings.address;
        let first_of = |label: &str| {
            ports
                .get(label)
                .and_then(|list| list.first())
                .map(u16::to_string)
                .unwrap_or_default()
        };
        let http = first_of("http");
        let work = folders.work.to_string_lossy();
        set("HOME", &work);
        set("PWD", &work);
        set("PAI_WORK_DIR", &work);
        set("TMPDIR", &folders.temporary.to_string_lossy());
        set("PINNACE_CODE_DIR", &folders.code.to_string_lossy());
        set(
            "PINNACE_PEERS",
            &folders.shared.join("peers.json").to_string_lossy(),
        );
        set("PINNACE_SHARED_DIR", &folders.shared.to_string_lossy());
        set("PINNACE_TASK_DIR", &folders.task.to_string_lossy());
        set("PAI_TASK_INDEX", &index);
        set("PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX", &index);
        set("PAI_CURRENT_CONTAINER_IP", address);
        set("PAI_CONTAINER_HOST_IP", address);
        set("PAI_CURRENT_CONTAINER_PORT", &http);
        set("PAI_CONTAINER_HOST_PORT", &http);
        set("PAI_CONTAINER_SSH_PORT", &first_of("ssh"));
        let mut all = String::new();
        for (label, numbers) in ports {
            let joined = joined(numbers);
            set(&format!("PAI_CONTAINER_HOST_{label}_PORT_LIST"), &joined);
            let _ = write!(all, "{label}:{joined};");
        }
        set("PAI_CONTAINER_HOST_PORT_LIST", &all);
        set("RANK", &rank.to_string());
        let gpus = task
            .gpus
            .iter()
            .map(u32::to_string)
            .collect::<Vec<_>>()
            .join(",");
        if gpus.is_empty() {
            set("NVIDIA_VISIBLE_DEVICES", "none");
            set("CUDA_VISIBLE_DEVICES", "");
        } else {
            set("NVIDIA_VISIBLE_DEVICES", &gpus);
            set("CUDA_VISIBLE_DEVICES", &gpus);
        }
        let job = &attempt.job;
        let role = short_name(&task.id.role);
        let instance = format!("{}_{job}", attempt.number);
        let task_uid = format!("{job}-{role}-{index}");
        let pod = format!("{job}-{role}-{index}-{}", task.attempt);
        set("FC_FRAMEWORK_NAME", job);
        set("FC_FRAMEWORK_UID", job);
        set("FC_FRAMEWORK_ATTEMPT_ID", &attempt.number.to_string());
        set("FC_FRAMEWORK_ATTEMPT_INSTANCE_UID", &instance);
        set("FC_CONFIGMAP_NAME", &format!("{job}-attempt"));
        set("FC_CONFIGMAP_UID", &instance);
        set("FC_TASKROLE_UID", &format!("{instance}-{role}"));
        set("FC_TASK_INDEX", &index);
        set("FC_TASK_UID", &task_uid);
        set("FC_TASK_ATTEMPT_ID", &task.attempt.to_string());
        set(
            "FC_TASK_ATTEMPT_INSTANCE_UID",
            &format!("{}_{pod}", task.attempt),
        );
        set("FC_POD_NAME", &pod);
        set("FC_POD_UID", &pod);
        for (name, value) in &attempt.settings.environment {
            list.take(name);
            list.add(name, value);
        }
        list
    }
}

struct Table<'a> {
    attempt: &'a Attempt,
    peers: &'a [Peer],
}

impl Table<'_> {
    /// A variable for each task of a role; the pattern has `*` for the index.
    fn of_tasks(&self, pattern: &str, list: &mut Variables) {
        for peer in self.peers {
            for spelling in [peer.role.clone(), short_name(&peer.role)] {
                let index = peer.index;
                if pattern == format!("PAI_HOST_IP_{spelling}_*") {
                    list.add(&format!("PAI_HOST_IP_{spelling}_{index}"), &peer.address);
                    break;
                }
                let port = pattern
                    .strip_prefix(&format!("PAI_PORT_LIST_{spelling}_*_"))
                    .or_else(|| {
                        pattern
                            .strip_prefix(&format!("PAI_{spelling}_*_"))?
                            .strip_suffix("_PORT")
                    });
                if let Some(numbers) = port.and_then(|label| peer.ports.get(label)) {
                    let name = pattern.replace('*', &index.to_string());
                    list.add(&name, &joined(numbers));
                    break;
                }
            }
        }
    }

    /// A single variable; those of the task itself are left to [`Shared::of_task`].
    fn of_role(&self, name: &str, list: &mut Variables) {
        let plan = &self.attempt.plan;
        let user = &self.attempt.user;
        match name {
            "PAI_JOB_NAME" | "PAI_FRAMEWORK_NAME" => {
                list.add(name, &format!("{user}~{}", plan.name));
            }
            "PAI_USER_NAME" | "PAI_USERNAME" => list.add(name, user),
            "MASTER_ADDR" => {
                if let Some(first) = self.first() {
                    list.add(name, &first.address);
                }
            }
            "MASTER_PORT" => {
                let port = self.first().and_then(first_http);
                if let Some(port) = port {
                    list.add(name, &port.to_string());
                }
            }
            _ => {
                let role = name
                    .strip_prefix("PAI_TASK_ROLE_")
                    .and_then(|rest| rest.strip_suffix("_HOST_LIST"));
                let Some(spelling) = role else { return };
                let role = plan
                    .roles
                    .keys()
                    .find(|role| *role == spelling)
                    .or_else(|| plan.roles.keys().find(|role| short_name(role) == spelling));
                let hosts: Vec<String> = self
                    .peers
                    .iter()
                    .filter(|peer| Some(&peer.role) == role)
                    .map(|peer| match first_http(peer) {
                        Some(port) => format!("{}:{port}", peer.address),
                        None => peer.address.clone(),
                    })
                    .collect();
                list.add(name, &hosts.join(","));
            }
        }
    }

    fn first(&self) -> Option<&Peer> {
        let role = self.attempt.plan.roles.keys().next()?;
        self.peers
            .iter()
            .find(|peer| peer.role == *role && peer.index == 0)
    }
}

fn first_http(peer: &Peer) -> Option<u16> {
    peer.ports.get("http")?.first().copied()
}

fn joined(numbers: &[u16]) -> String {
    numbers
        .iter()
        .map(u16::to_string)
        .collect::<Vec<_>>()
        .join(",")
}

/// Adds what tells of a role's data. Later entries win, so `PATH` is taken out first.
pub(crate) fn add(list: &mut Variables, staged: &StagedRole, program: Option<&Path>) {
    for (name, value) in &staged.variables {
        list.add(name, value);
    }
    if let Some(program) = program {
        list.add("PINNACE", &program.to_string_lossy());
    }
    if staged.programs.is_empty() {
        return;
    }
    let own = list.take("PATH");
    let mut folders: Vec<String> = staged
        .programs
        .iter()
        .map(|folder| folder.to_string_lossy().into_owned())
        .collect();
    folders.extend(own);
    list.add("PATH", &folders.join(":"));
}

/// What this machine and the user give to every task.
fn common(user: &str) -> Variables {
    let own = |name: &str| std::env::var(name).ok();
    let path = own("PATH").filter(|path| !path.is_empty());
    let mut list = Variables::default();
    list.add(
        "PATH",
        path.as_deref()
            .unwrap_or("/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
    );
    list.add("USER", user);
    list.add("LOGNAME", user);
    list.add("SHELL", "/bin/sh");
    list.add("LANG", own("LANG").as_deref().unwrap_or("C.UTF-8"));
    for name in ["LC_ALL", "TZ"] {
        if let Some(value) = own(name) {
            list.add(name, &value);
        }
    }
    list
}

fn speaks_of_single_tasks(attempt: &Attempt) -> bool {
    let mut words = attempt.plan.roles.values().flat_map(Role::known_words);
    words.any(|text| {
        text.contains("PAI_HOST_IP_")
            || text.contains("PAI_PORT_LIST_")
            || (text.contains("PAI_") && text.contains("_PORT"))
    })
}
