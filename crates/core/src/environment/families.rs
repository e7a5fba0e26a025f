//! The table of variables.

use std::fmt::Write as _;

use super::{Facts, Value, short_name};

/// A variable, or a family of them with placeholders in their name.
#[derive(Debug)]
pub struct Family {
    /// The name; `<role>`, `<index>` and `<port>` are placeholders, in this order.
    pub pattern: &'static str,
    /// Where it stands in the reference.
    pub group: Group,
    /// What it holds.
    pub doc: &'static str,
    pub(super) value: fn(&Facts<'_>) -> Value,
    parts: (&'static str, &'static str),
}

impl Family {
    /// What stands before the first placeholder, and the rest from there; `None` if there is none.
    #[inline]
    pub(super) fn parts(&self) -> Option<(&'static str, &'static str)> {
        let (before, rest) = self.parts;
        (!rest.is_empty()).then_some((before, rest))
    }

    pub(super) fn is_per_role(&self) -> bool {
        self.pattern.contains("<role>")
    }
}

/// The parts of the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// About the job.
    Job,
    /// About the task itself.
    Task,
    /// About every role.
    Roles,
    /// About every task.
    Tasks,
    /// What PyTorch reads.
    Distributed,
    /// What OpenPAI's framework controller sets.
    Framework,
}

pub(super) const GROUPS: &[Group] = &[
    Group::Job,
    Group::Task,
    Group::Roles,
    Group::Tasks,
    Group::Distributed,
    Group::Framework,
];

impl Group {
    pub(super) fn title(self) -> &'static str {
        match self {
            Group::Job => "The job",
            Group::Task => "The task itself",
            Group::Roles => "Every task role",
            Group::Tasks => "Every task of the job",
            Group::Distributed => "For distributed training",
            Group::Framework => "For programs written for OpenPAI's framework controller",
        }
    }
}

macro_rules! families {
    ($($group:ident: $($pattern:literal $doc:literal = $value:expr;)+)+) => {
        /// All variables, in the order in which they are shown.
        pub static FAMILIES: &[Family] = &[$($(
            Family {
                pattern: $pattern,
                group: Group::$group,
                doc: $doc,
                value: $value,
                parts: split($pattern),
            },
        )+)+];
    };
}

/// Splits a pattern before its first placeholder.
const fn split(pattern: &str) -> (&str, &str) {
    let bytes = pattern.as_bytes();
    let mut length = 0;
    while length < bytes.len() && bytes[length] != b'<' {
        length += 1;
    }
    pattern.split_at(length)
}

fn known(value: impl Into<String>) -> Value {
    Value::Known(value.into())
}

fn number(value: impl Into<i64>) -> Value {
    Value::Known(value.into().to_string())
}

fn roles(facts: &Facts<'_>) -> Value {
    known(facts.plan.roles.len().to_string())
}

fn role_list(facts: &Facts<'_>) -> Value {
    let names: Vec<&str> = facts.plan.roles.keys().map(String::as_str).collect();
    known(names.join(","))
}

fn task_count(facts: &Facts<'_>) -> Value {
    let counts = facts
        .plan
        .roles
        .values()
        .map(|role| u64::from(role.instances));
    known(counts.sum::<u64>().to_string())
}

fn all_instances(facts: &Facts<'_>) -> Value {
    let mut list = String::new();
    for (name, role) in &facts.plan.roles {
        for index in 0..role.instances {
            if !list.is_empty() {
                list.push(',');
            }
            let _ = write!(list, "{name}:{index}");
        }
    }
    known(list)
}

fn resources(facts: &Facts<'_>) -> Value {
    let resources = &facts.about.resources;
    known(format!(
        "{},{},{},{}",
        resources.gpu, resources.cpu, resources.memory_mb, resources.shm_mb
    ))
}

fn threshold(bound: Option<u32>) -> Value {
    bound.map_or_else(|| number(-1), number)
}

fn visible_gpus(facts: &Facts<'_>) -> Value {
    match facts.own.resources.gpu {
        0 => known("none"),
        _ => Value::AtRun("the GPU cards of the task"),
    }
}

const USER_AND_JOB: fn(&Facts<'_>) -> Value = |_| Value::AtRun("user~job");
const USER: fn(&Facts<'_>) -> Value = |_| Value::AtRun("the user's name");
const INDEX: fn(&Facts<'_>) -> Value = |_| Value::AtRun("the task's number");
const OWN_ADDRESS: fn(&Facts<'_>) -> Value = |_| Value::AtRun("the task's address");
const FIRST_HTTP: fn(&Facts<'_>) -> Value = |_| Value::AtRun("the task's first `http` port");
const PORTS: fn(&Facts<'_>) -> Value = |_| Value::AtRun("port numbers");
const IDENTIFIER: fn(&Facts<'_>) -> Value = |_| Value::AtRun("an identifier");

families! {
    Job:
    "PAI_JOB_NAME" "the user's name, `~` and the job's name" = USER_AND_JOB;
    "PAI_FRAMEWORK_NAME" "the same as `PAI_JOB_NAME`" = USER_AND_JOB;
    "PAI_USER_NAME" "the name of the user who submitted the job" = USER;
    "PAI_USERNAME" "the same as `PAI_USER_NAME`" = USER;
    "PAI_VIRTUAL_CLUSTER" "the virtual cluster of the job" = |facts| known(&facts.plan.placement.virtual_cluster);
    "PAI_DEFAULT_FS_URI" "empty; kept for old jobs" = |_| known("");
    "PAI_TASK_ROLE_COUNT" "the number of task roles" = roles;
    "PAI_TASK_ROLES_NUM" "the number of task roles" = roles;
    "PAI_JOB_TASK_ROLE_COUNT" "the number of task roles" = roles;
    "PAI_TASK_ROLE_LIST" "the names of the task roles, with commas between them" = role_list;
    "PAI_JOB_TASK_ROLE_LIST" "the same as `PAI_TASK_ROLE_LIST`" = role_list;
    "PAI_TASKS_NUM" "the number of tasks in all roles" = task_count;
    "PAI_JOB_TASK_COUNT" "the same as `PAI_TASKS_NUM`" = task_count;
    "PAI_TASK_ROLE_INSTANCES" "every task as `role:index`, with commas between them" = all_instances;
    "PINNACE_PEERS" "the path of a JSON file with the role, index, address and ports of every task" = |_| Value::AtRun("a path");

    Task:
    "PAI_CURRENT_TASK_ROLE_NAME" "the name of the task's role" = |facts| known(facts.own_name);
    "PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX" "the number of the task in its role, from 0" = INDEX;
    "PAI_TASK_INDEX" "the same as `PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX`" = INDEX;
    "PAI_WORK_DIR" "the folder in which the task starts" = |_| Value::AtRun("a path");
    "PAI_CURRENT_CONTAINER_IP" "the address of the task" = OWN_ADDRESS;
    "PAI_CURRENT_CONTAINER_PORT" "the first `http` port of the task" = FIRST_HTTP;
    "PAI_CONTAINER_HOST_IP" "the address of the task" = OWN_ADDRESS;
    "PAI_CONTAINER_HOST_PORT" "the first `http` port of the task" = FIRST_HTTP;
    "PAI_CONTAINER_SSH_PORT" "the `ssh` port of the task" = |_| Value::AtRun("the task's `ssh` port");
    "PAI_CONTAINER_HOST_<port>_PORT_LIST" "the task's ports of this label, with commas between them" = PORTS;
    "PAI_CONTAINER_HOST_PORT_LIST" "all ports of the task: `label:1,2;label2:3;`" = PORTS;
    "NVIDIA_VISIBLE_DEVICES" "the GPU cards of the task; `none` if it asks for none" = visible_gpus;

    Roles:
    "PAI_TASK_ROLE_TASK_COUNT_<role>" "the number of tasks of the role" = |facts| number(facts.about.instances);
    "PAI_RESOURCE_<role>" "what each task of the role asks for: `gpu,cpu,memoryMB,shmMB`" = resources;
    "PAI_MIN_FAILED_TASK_COUNT_<role>" "so many failed tasks fail the job; `-1` is never" = |facts| threshold(facts.about.completion.min_failed);
    "PAI_MIN_SUCCEEDED_TASK_COUNT_<role>" "so many succeeded tasks make the job succeed; `-1` is never" = |facts| threshold(facts.about.completion.min_succeeded);
    "PAI_TASK_ROLE_<role>_HOST_LIST" "address and first `http` port of every task of the role: `10.0.0.1:8080,10.0.0.2:8080`" = |_| Value::AtRun("`address:port` of every task");

    Tasks:
    "PAI_HOST_IP_<role>_<index>" "the address of the task" = |_| Value::AtRun("an address");
    "PAI_PORT_LIST_<role>_<index>_<port>" "the task's ports of this label, with commas between them" = PORTS;
    "PAI_<role>_<index>_<port>_PORT" "the same as `PAI_PORT_LIST_<role>_<index>_<port>`" = PORTS;

    Distributed:
    "MASTER_ADDR" "the address of the first task of the first role" = |_| Value::AtRun("an address");
    "MASTER_PORT" "the first `http` port of the first task of the first role" = |_| Value::AtRun("a port number");
    "WORLD_SIZE" "the number of tasks in all roles" = task_count;
    "RANK" "the number of the task in the whole job, from 0, roles in the order of the file" = |_| Value::AtRun("the task's number in the job");
    "LOCAL_RANK" "`0`; a launcher that starts several processes sets its own" = |_| number(0);

    Framework:
    "FC_FRAMEWORK_NAMESPACE" "`default`" = |_| known("default");
    "FC_FRAMEWORK_NAME" "the identifier of the job" = IDENTIFIER;
    "FC_FRAMEWORK_UID" "the identifier of the job's submission" = IDENTIFIER;
    "FC_FRAMEWORK_ATTEMPT_ID" "the number of the job's attempt, from 0" = |_| Value::AtRun("a number");
    "FC_FRAMEWORK_ATTEMPT_INSTANCE_UID" "the identifier of the job's attempt" = IDENTIFIER;
    "FC_CONFIGMAP_NAME" "the name of the job's attempt" = IDENTIFIER;
    "FC_CONFIGMAP_UID" "the identifier of the job's attempt" = IDENTIFIER;
    "FC_TASKROLE_NAME" "the name of the task's role, lower-case letters and digits alone" = |facts| known(short_name(facts.own_name));
    "FC_TASKROLE_UID" "the identifier of the role in this attempt" = IDENTIFIER;
    "FC_TASK_INDEX" "the number of the task in its role, from 0" = INDEX;
    "FC_TASK_UID" "the identifier of the task" = IDENTIFIER;
    "FC_TASK_ATTEMPT_ID" "the number of the task's attempt, from 0" = |_| Value::AtRun("a number");
    "FC_TASK_ATTEMPT_INSTANCE_UID" "the identifier of the task's attempt" = IDENTIFIER;
    "FC_POD_NAME" "the name of the task's attempt" = IDENTIFIER;
    "FC_POD_UID" "the identifier of the task's attempt" = IDENTIFIER;
}
