//! Every field of a job: what it may hold, what a missing one means, what it is for.
//!
//! Where upstream's own schema and its documents differ, the comment at the field says which one
//! is followed and why. Keys are refused where upstream refuses them; where it accepts them without
//! reading them there is a warning.

use pinnace_core::fidelity::Feature;

use super::read::PLUGINS_KEY;
use crate::shape::{
    self, FREE_MAP, Field, Object, Shape, TEXT, TEXTS, Tagged, TextRule, Unknown, field,
};

/// What a whole job file holds.
pub static SHAPE: Shape = Shape::Object(&JOB);

/// The JSON Schema of a job.
pub fn json_schema() -> serde_json::Value {
    shape::schema(&SHAPE, "OpenPAI job, protocol version 2")
}

/// The page `docs/openpai-fields.md`.
pub fn reference() -> String {
    let introduction = "\
Every field of an OpenPAI job (protocol version 2, with the prerequisites proposal) as Pinnace reads
it. The same table checks a job file and makes the JSON Schema that `pinnace schema openpai` prints.
Whole numbers may be written as `4` or `4.0`; a number or a flag in place of a text has to be quoted.";
    shape::reference(&SHAPE, "Fields of an OpenPAI job", introduction)
}

/// Numbers that end up in a signed 32-bit field of a cluster.
const MOST: i64 = i32::MAX as i64;

/// The most tasks that a role may have: the limit of the controller behind OpenPAI, which upstream
/// only reports after the job was accepted.
const MOST_INSTANCES: i64 = 10_000;

/// OpenPAI draws ports from 15000 to 39999.
const MOST_PORTS: i64 = 25_000;

const NAME_RULE: TextRule = TextRule {
    accepts: |text| {
        !text.is_empty()
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    },
    pattern: "^[a-zA-Z0-9_-]+$",
    words: "made of letters, digits, `_` and `-`",
    max_length: 255,
};

const IDENTIFIER_RULE: TextRule = TextRule {
    accepts: |text| {
        text.bytes().enumerate().all(|(index, byte)| {
            byte.is_ascii_alphabetic() || byte == b'_' || (index > 0 && byte.is_ascii_digit())
        }) && !text.is_empty()
    },
    pattern: "^[a-zA-Z_][a-zA-Z0-9_]*$",
    words: "made of letters, digits and `_`, and not begin with a digit",
    max_length: 255,
};

const HIVED_ROLE_RULE: TextRule = TextRule {
    accepts: |text| {
        !text.is_empty()
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'~'))
    },
    pattern: "^[A-Za-z0-9._~]+$",
    words: "made of letters, digits, `.`, `_` and `~`",
    max_length: 255,
};

const fn at_least(min: i64) -> Shape {
    between(min, MOST)
}

const fn between(min: i64, max: i64) -> Shape {
    Shape::Integer {
        min,
        max,
        null: false,
    }
}

/// `null` and 0 both stand for the default, as upstream has it; only −1 switches the rule off.
const THRESHOLD: Shape = Shape::Integer {
    min: -1,
    max: MOST,
    null: true,
};

const COMMANDS: Shape = Shape::List { of: &TEXT, min: 1 };

const FAILURE_POLICY: Shape = Shape::Choice(&["fail", "ignore"]);

/// The events of a callback; each line holds the spellings of one.
pub const EVENTS: &[&str] = &[
    "taskStarts",
    "containerStart",
    "containerStarts",
    "taskSucceeds",
    "taskFails",
    "taskCompletes",
    "containerExit",
    "containerExits",
];

/// The priority classes of HiveD. Upstream's server refuses `crit`, its protocol document and its
/// priority map have it.
pub const PRIORITY_CLASSES: &[&str] = &["crit", "prod", "test", "oppo"];

const fn protocol_version() -> Field {
    field(
        "protocolVersion",
        Shape::Exactly(2),
        "The version of the job protocol: 2.",
    )
}

const fn version() -> Field {
    field(
        "version",
        Shape::TextOrNumber,
        "The version, for people; nothing acts on it.",
    )
    .needs(Feature::Words)
}

const fn contributor() -> Field {
    field(
        "contributor",
        TEXT,
        "Who made it, for people; nothing acts on it.",
    )
    .needs(Feature::Words)
}

const fn description() -> Field {
    field(
        "description",
        TEXT,
        "What it is, for people; nothing acts on it.",
    )
    .needs(Feature::Words)
}

/// The whole file.
pub static JOB: Object = Object {
    name: "job",
    doc: "An OpenPAI job, protocol version 2.",
    fields: &[
        protocol_version().required_with_stub("2"),
        field("name", Shape::Text(NAME_RULE), "The job's name.").required(),
        field(
            "type",
            Shape::Choice(&["job"]),
            "The kind of document: always `job`.",
        )
        .required_with_stub("job"),
        version(),
        contributor(),
        description(),
        field(
            "prerequisites",
            Shape::List {
                of: &PREREQUISITE,
                min: 1,
            },
            "What the task roles need: images, scripts, data, places for output, storages.",
        ),
        field(
            "parameters",
            FREE_MAP,
            "Values for templates: `<% $parameters.name %>`.",
        ),
        field(
            "secrets",
            Shape::Secrets,
            "Values for templates that are never shown: `<% $secrets.name %>`.",
        ),
        field(
            "jobRetryCount",
            at_least(0),
            "How often the whole job is tried again after a failure. One that the platform caused does not count; one that would surely happen again is not tried again.",
        )
        .default("0"),
        field(
            "taskRoles",
            Shape::Map {
                key: "role name",
                keys: IDENTIFIER_RULE,
                of: &Shape::Object(&TASK_ROLE),
                min: 1,
            },
            "The task roles by name. Each is a group of equal tasks.",
        )
        .required(),
        field(
            "deployments",
            Shape::List {
                of: &Shape::Object(&DEPLOYMENT),
                min: 1,
            },
            "Commands to put around those of the roles, for different places to run. Only the one named by `defaults.deployment` is used.",
        ),
        field(
            "defaults",
            Shape::Object(&DEFAULTS),
            "Choices that belong to the cluster.",
        ),
        field(
            "extras",
            Shape::Object(&EXTRAS),
            "Settings for plugins and schedulers.",
        ),
    ],
    unknown: Unknown::Refuse,
    absent: &[],
};

/// The proposal's `storage` stands beside the types that upstream knows.
pub static PREREQUISITE: Shape = Shape::Tagged(&Tagged {
    name: "prerequisite",
    by: "type",
    cases: &[
        ("dockerimage", &IMAGE),
        ("script", &PREPARATION),
        ("data", &PREPARATION),
        ("output", &PREPARATION),
        ("storage", &PREPARATION),
    ],
    missing: None,
    labelled: false,
    other: None,
});

const PREREQUISITE_NAME: Field = field(
    "name",
    TEXT,
    "The name by which task roles and other prerequisites refer to it.",
)
.required();

static IMAGE: Object = Object {
    name: "image prerequisite",
    doc: "A container image.",
    fields: &[
        protocol_version(),
        PREREQUISITE_NAME,
        field(
            "type",
            Shape::Choice(&["dockerimage"]),
            "A container image.",
        )
        .required(),
        version(),
        contributor(),
        description(),
        field(
            "uri",
            TEXT,
            "The image's reference, such as `ubuntu:22.04`.",
        )
        .required()
        .needs(Feature::Image),
        field(
            "auth",
            Shape::Object(&AUTH),
            "How to log in to the image's registry.",
        ),
        // The proposal's default for images. Upstream refuses the key; it can only hold this word,
        // so nothing is lost by reading it.
        field(
            "plugin",
            Shape::Choice(&["docker"]),
            "What handles the prerequisite: for an image always `docker`.",
        )
        .default("\"docker\""),
    ],
    unknown: Unknown::Refuse,
    absent: &[
        ("callbacks", NO_CALLBACKS),
        ("require", NO_CALLBACKS),
        ("failurePolicy", NO_CALLBACKS),
    ],
};

const NO_CALLBACKS: &str = "an image has no callbacks and requires nothing: put them on a prerequisite of type `script` and list that in the role's `prerequisites`";

static AUTH: Object = Object {
    name: "registry login",
    doc: "How to log in to an image's registry.",
    fields: &[
        field("username", TEXT, "The user's name.").needs(Feature::RegistryLogin),
        field(
            "password",
            TEXT,
            "The password: name a secret here, such as `<% $secrets.password %>`.",
        )
        .needs(Feature::RegistryLogin),
        field("registryuri", TEXT, "The registry's host name.")
            .default_rule("Docker Hub")
            .needs(Feature::RegistryLogin),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

static PREPARATION: Object = Object {
    name: "prerequisite",
    doc: "Something to prepare before the command and to clear up after it. Other keys are parameters of the user's own: `<% this.key %>`.",
    fields: &[
        protocol_version(),
        PREREQUISITE_NAME,
        field(
            "type",
            Shape::Choice(&["script", "data", "output", "storage"]),
            "What it is for.",
        )
        .required(),
        version(),
        contributor(),
        description(),
        // The protocol allows a list only for data, the proposal allows both forms everywhere; a
        // superset refuses no file of either.
        field(
            "uri",
            Shape::TextOrList,
            "Where it lies: one address or a list of them, for templates.",
        ),
        field(
            "plugin",
            TEXT,
            "What carries out the callbacks and reads the parameters.",
        )
        .default("\"com.microsoft.pai.runtimeplugin.cmd\"")
        .needs_by_value(&[
            ("com.microsoft.pai.runtimeplugin.ssh", Feature::Ssh),
            (
                "com.microsoft.pai.runtimeplugin.tensorboard",
                Feature::TensorBoard,
            ),
            (
                "com.microsoft.pai.runtimeplugin.teamwise_storage",
                Feature::Storage,
            ),
            ("com.microsoft.pai.rest.storage", Feature::Storage),
        ]),
        field(
            "require",
            TEXTS,
            "Other prerequisites, of the job or the marketplace, that go before this one and whose parameters it inherits.",
        ),
        field(
            "callbacks",
            Shape::List {
                of: &Shape::Object(&CALLBACK),
                min: 0,
            },
            "Commands to run on events.",
        ),
        field(
            "failurePolicy",
            FAILURE_POLICY,
            "Whether a failing command of it fails the task.",
        )
        .default("\"fail\""),
    ],
    unknown: Unknown::Keep,
    absent: &[],
};

static CALLBACK: Object = Object {
    name: "callback",
    doc: "Commands to run on one event.",
    fields: &[
        field(
            "event",
            Shape::Choice(EVENTS),
            "When: before the command (`taskStarts`, also `containerStart`, `containerStarts`), after it succeeded (`taskSucceeds`), after it failed (`taskFails`), or after it in any case (`taskCompletes`, also `containerExit`, `containerExits`).",
        )
        .required_with_stub("taskStarts"),
        field(
            "commands",
            TEXTS,
            "Lines of shell script, run in the task's own shell.",
        )
        .required(),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

static TASK_ROLE: Object = Object {
    name: "task role",
    doc: "A group of equal tasks.",
    fields: &[
        protocol_version(),
        field(
            "instances",
            between(1, MOST_INSTANCES),
            "How many tasks the role has.",
        )
        .default("1"),
        field(
            "completion",
            Shape::Object(&COMPLETION),
            "When this role decides the fate of the whole job.",
        ),
        field(
            "taskRetryCount",
            at_least(-2),
            "How often one task is tried again after a failure; -1 is without end, -2 also after success. Only without gang allocation.",
        )
        .default("0"),
        field(
            "prerequisites",
            TEXTS,
            "The prerequisites to prepare, in this order; they are cleared up in reverse.",
        ),
        field(
            "dockerImage",
            TEXT,
            "The name of the image prerequisite in which the tasks run.",
        )
        .required(),
        field(
            "data",
            TEXT,
            "The name of the data prerequisite that `$data` stands for.",
        ),
        field(
            "output",
            TEXT,
            "The name of the output prerequisite that `$output` stands for.",
        ),
        field(
            "script",
            TEXT,
            "The name of the script prerequisite that `$script` stands for.",
        ),
        field(
            "extraContainerOptions",
            Shape::Object(&CONTAINER_OPTIONS),
            "What else the container needs.",
        ),
        field(
            "resourcePerInstance",
            Shape::Object(&RESOURCES),
            "What each task needs of a machine.",
        )
        .required_with_stub("{ cpu: 1, memoryMB: 1024, gpu: 0 }"),
        field(
            "commands",
            COMMANDS,
            "The lines of the one shell script that each task runs.",
        )
        .required(),
    ],
    unknown: Unknown::Refuse,
    absent: &[],
};

static COMPLETION: Object = Object {
    name: "completion policy",
    doc: "When a role decides the fate of the whole job.",
    fields: &[
        field(
            "minFailedInstances",
            THRESHOLD,
            "The job fails once so many tasks of the role have failed; -1 is never. `null` and 0 mean the default.",
        )
        .default("1"),
        field(
            "minSucceededInstances",
            THRESHOLD,
            "The job succeeds, and its other tasks are stopped, once so many tasks of the role have succeeded; -1 is never. `null` and 0 mean the default.",
        )
        .default_rule("the number of instances"),
    ],
    unknown: Unknown::Refuse,
    absent: &[],
};

static CONTAINER_OPTIONS: Object = Object {
    name: "container options",
    doc: "What else the container of a task needs.",
    fields: &[
        field(
            "shmMB",
            at_least(0),
            "The size of `/dev/shm` in MiB; 0 means the default.",
        )
        .default("512")
        .needs(Feature::SharedMemory),
        // Upstream reads it without ever naming it in its schema.
        field(
            "infiniband",
            Shape::Flag,
            "Whether the task gets the InfiniBand devices.",
        )
        .default("false")
        .needs(Feature::InfiniBand),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

static RESOURCES: Object = Object {
    name: "resources",
    doc: "What each task of a role needs of a machine.",
    fields: &[
        field("cpu", at_least(0), "Virtual cores.")
            .required_with_stub("1")
            .needs(Feature::Cpu),
        field("memoryMB", at_least(0), "Memory in MiB.")
            .required_with_stub("1024")
            .needs(Feature::Memory),
        field("gpu", at_least(0), "GPU cards.")
            .required_with_stub("0")
            .needs(Feature::Gpu),
        field(
            "ports",
            Shape::Map {
                key: "port label",
                keys: IDENTIFIER_RULE,
                of: &between(1, MOST_PORTS),
                min: 1,
            },
            "How many ports each task gets for a label. The labels `ssh` and `http` always have one.",
        ),
    ],
    unknown: Unknown::Refuse,
    absent: &[],
};

static DEPLOYMENT: Object = Object {
    name: "deployment",
    doc: "Commands to put around those of the roles.",
    fields: &[
        field(
            "name",
            Shape::Text(NAME_RULE),
            "The name by which `defaults.deployment` refers to it.",
        )
        .required(),
        protocol_version(),
        version(),
        contributor(),
        description(),
        field(
            "taskRoles",
            Shape::Map {
                key: "role name",
                keys: IDENTIFIER_RULE,
                of: &Shape::Object(&DEPLOYMENT_ROLE),
                min: 1,
            },
            "What is added to each role.",
        )
        .required(),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

static DEPLOYMENT_ROLE: Object = Object {
    name: "deployment of a role",
    doc: "What a deployment adds to a role.",
    fields: &[
        field(
            "preCommands",
            COMMANDS,
            "Lines to run before the role's commands, in the same shell.",
        ),
        field(
            "postCommands",
            COMMANDS,
            "Lines to run after the role's commands, in the same shell.",
        ),
    ],
    unknown: Unknown::Refuse,
    absent: &[],
};

static DEFAULTS: Object = Object {
    name: "defaults",
    doc: "Choices that belong to the cluster.",
    fields: &[
        field(
            "virtualCluster",
            TEXT,
            "The virtual cluster that the job counts against.",
        )
        .default("\"default\"")
        .needs(Feature::VirtualCluster),
        field("deployment", TEXT, "The name of the deployment to use."),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

static EXTRAS: Object = Object {
    name: "extras",
    doc: "Settings for plugins and schedulers.",
    fields: &[
        field("submitFrom", TEXT, "The program that submitted the job.").needs(Feature::Words),
        field(
            "gangAllocation",
            Shape::Flag,
            "Whether all tasks start together or none. Without it single tasks can be tried again.",
        )
        .default("true"),
        field(
            "hivedScheduler",
            Shape::Object(&HIVED),
            "Settings of the HiveD scheduler.",
        )
        .also(&["hivedscheduler"]),
        field(
            PLUGINS_KEY,
            Shape::List {
                of: &Shape::Object(&PLUGIN),
                min: 0,
            },
            "Plugins to run in the tasks, after the prerequisites.",
        ),
        field(
            "storages",
            Shape::List {
                of: &Shape::Object(&STORAGE),
                min: 0,
            },
            "Storages to mount; an empty list asks for the user's default ones.",
        ),
        field(
            "jobStatusChangeNotification",
            Shape::Object(&NOTIFICATION),
            "The changes of state about which the user gets a message.",
        ),
        field(
            "pinnace",
            Shape::Object(&PINNACE),
            "Settings that only Pinnace reads.",
        ),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

static HIVED: Object = Object {
    name: "HiveD settings",
    doc: "Settings of the HiveD scheduler.",
    fields: &[
        field(
            "jobPriorityClass",
            Shape::Choice(PRIORITY_CLASSES),
            "The job's priority: `crit`, `prod`, `test`, or `oppo` for what may be preempted at any time.",
        )
        .default("\"test\"")
        .needs(Feature::Priority),
        field(
            "taskRoles",
            Shape::Map {
                key: "role name",
                keys: HIVED_ROLE_RULE,
                of: &Shape::Object(&HIVED_ROLE),
                min: 1,
            },
            "Where each role is placed.",
        ),
        field(
            "gangReleaseEnable",
            Shape::Flag,
            "Whether the resources of a gang are freed together.",
        )
        .default("false")
        .needs(Feature::Preemption),
        field(
            "lazyPreemptionEnable",
            Shape::Flag,
            "Whether preempted tasks may stay until their place is really needed.",
        )
        .default("false")
        .needs(Feature::Preemption),
        field(
            "ignoreK8sSuggestedNodes",
            Shape::Flag,
            "Whether the cluster's own suggestions of nodes are ignored.",
        )
        .needs(Feature::Preemption),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

static HIVED_ROLE: Object = Object {
    name: "HiveD role",
    doc: "Where a role is placed.",
    fields: &[
        field(
            "skuType",
            TEXT,
            "The kind of hardware. Only one of this and `pinnedCellId`.",
        )
        .also(&["gpuType"])
        .needs(Feature::Sku),
        field("pinnedCellId", TEXT, "A reserved cell.")
            .also(&["reservationId"])
            .needs(Feature::PinnedCell),
        field(
            "affinityGroupName",
            TEXT,
            "Roles of one group are placed near each other.",
        )
        .needs(Feature::Affinity),
        // Portals write it, no scheduler has ever read it: the number follows from the resources.
        field(
            "skuNum",
            Shape::Any,
            "Not read: the number follows from `resourcePerInstance`.",
        )
        .also(&["skuNumber"])
        .needs(Feature::Unread),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

static PLUGIN: Object = Object {
    name: "plugin",
    doc: "A plugin to run in the tasks.",
    fields: &[
        field(
            "plugin",
            TEXT,
            "The plugin's name: `cmd`, `ssh`, `git`, `tensorboard` or `teamwise_storage`.",
        )
        .required()
        .needs_by_value(&[
            ("ssh", Feature::Ssh),
            ("tensorboard", Feature::TensorBoard),
            ("teamwise_storage", Feature::Storage),
        ]),
        field("parameters", FREE_MAP, "What the plugin is told."),
        field(
            "failurePolicy",
            FAILURE_POLICY,
            "Whether a failure of the plugin fails the task.",
        )
        .default("\"fail\""),
        field("taskroles", TEXTS, "The roles it is for.").default_rule("all roles"),
        field(
            "hook",
            Shape::Choice(&["preTaskStarts", "postTaskSucceeds"]),
            "Not read: each plugin knows its own moments.",
        )
        .needs(Feature::Unread),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

static STORAGE: Object = Object {
    name: "storage",
    doc: "A storage to mount.",
    fields: &[
        field("name", TEXT, "The storage's configured name.")
            .required()
            .needs(Feature::Storage),
        field(
            "mountPath",
            TEXT,
            "The absolute path at which the tasks see it.",
        )
        .default_rule("`/mnt/` and the storage's name"),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

const fn notification(name: &'static str, doc: &'static str) -> Field {
    field(name, Shape::Flag, doc)
        .default("false")
        .needs(Feature::Notification)
}

static NOTIFICATION: Object = Object {
    name: "notification",
    doc: "The changes of state about which the user gets a message.",
    fields: &[
        notification("running", "The job started to run."),
        notification("succeeded", "The job succeeded."),
        notification("failed", "The job failed."),
        notification("stopped", "The job was stopped."),
        notification("retried", "The job was tried again."),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

static PINNACE: Object = Object {
    name: "Pinnace settings",
    doc: "Settings that only Pinnace reads.",
    fields: &[field(
        "keepOnFailureMinutes",
        between(0, 7 * 24 * 60),
        "How long a failed task is kept for a look into it with `pinnace shell`; 0 is not at all.",
    )
    .default("0")],
    unknown: Unknown::Refuse,
    absent: &[],
};
