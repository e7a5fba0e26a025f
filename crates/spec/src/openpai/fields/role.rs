//! The fields of a task role.

use pinnace_core::fidelity::Feature;

use super::{COMMANDS, IDENTIFIER_RULE, MOST, at_least, between, protocol_version};
use crate::shape::{Object, Shape, TEXT, TEXTS, Unknown, field};

/// The most tasks that a role may have: the limit of the controller behind OpenPAI, which upstream
/// only reports after the job was accepted.
const MOST_INSTANCES: i64 = 10_000;

/// OpenPAI draws ports from 15000 to 39999.
const MOST_PORTS: i64 = 25_000;

/// `null` and 0 both stand for the default, as upstream has it; only −1 switches the rule off.
const THRESHOLD: Shape = Shape::Integer {
    min: -1,
    max: MOST,
    null: true,
};

pub(super) static TASK_ROLE: Object = Object {
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
