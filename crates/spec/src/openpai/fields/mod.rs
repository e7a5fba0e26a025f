//! Every field of a job: what it may hold, what a missing one means, what it is for.
//!
//! Where upstream's own schema and its documents differ, the comment at the field says which one
//! is followed and why. Keys are refused where upstream refuses them; where it accepts them without
//! reading them there is a warning.

mod extras;
mod prerequisite;
mod role;

use pinnace_core::fidelity::Feature;

use extras::EXTRAS;
pub use prerequisite::{EVENTS, PREREQUISITE};
use role::TASK_ROLE;

use crate::shape::{self, FREE_MAP, Field, Object, Shape, TEXT, TextRule, Unknown, field};

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

const COMMANDS: Shape = Shape::List { of: &TEXT, min: 1 };

const FAILURE_POLICY: Shape = Shape::Choice(&["fail", "ignore"]);

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
        field("name", Shape::Text(TextRule::JOB_NAME), "The job's name.").required(),
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

static DEPLOYMENT: Object = Object {
    name: "deployment",
    doc: "Commands to put around those of the roles.",
    fields: &[
        field(
            "name",
            Shape::Text(TextRule::JOB_NAME),
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
