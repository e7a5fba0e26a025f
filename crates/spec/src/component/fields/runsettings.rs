//! How a component is to be run. The official clients set these in code; here they are part of the
//! document, so that `--set` and files can give them.

use pinnace_core::fidelity::Feature;

use super::common::{VARIABLES, at_least};
use crate::shape::{FREE_MAP, Field, Object, Shape, TEXT, TEXTS, TextRule, Unknown, field};

pub(super) const MOST_RANKS: i64 = 10_000;

pub(super) const fn ranks(name: &'static str, doc: &'static str) -> Field {
    field(
        name,
        Shape::Integer {
            min: 1,
            max: MOST_RANKS,
            null: false,
        },
        doc,
    )
    .default("1")
}

const NODE_COUNT: Field =
    ranks("node_count", "How many nodes work at it.").also(&["instance_count"]);

const PROCESS_COUNT: Field = ranks(
    "process_count_per_node",
    "How many processes work on each node.",
)
.also(&["process_count_per_instance"]);

const INSTANCE_TYPE: Field =
    field("instance_type", TEXT, "The kind of machine.").needs(Feature::Sku);

/// A number of files, also as a text; sizes such as `10kb` are for tables, which are not read here.
pub(super) const BATCH_SIZE: Shape = Shape::Either(&[
    at_least(1),
    Shape::Text(TextRule {
        accepts: |text| {
            text.len() < 10
                && text.bytes().all(|byte| byte.is_ascii_digit())
                && !text.is_empty()
                && !text.starts_with('0')
        },
        pattern: "^[1-9][0-9]{0,8}$",
        words: "a number of files",
        max_length: 9,
    }),
]);

/// A size such as `2g`.
pub(super) const SIZE: Shape = Shape::Text(TextRule {
    accepts: |text| {
        let digits = text.trim_end_matches(|char: char| char.is_ascii_alphabetic());
        let unit = text[digits.len()..].to_ascii_lowercase();
        !digits.is_empty()
            && digits.bytes().all(|byte| byte.is_ascii_digit())
            && matches!(&*unit, "" | "b" | "k" | "kb" | "m" | "mb" | "g" | "gb")
    },
    pattern: "^[0-9]+([bB]|[kKmMgG][bB]?)?$",
    words: "a number and one of `k`, `m` and `g`",
    max_length: 20,
});

/// `runsettings`.
pub(super) static RUNSETTINGS_OBJECT: Object = Object {
    name: "run settings",
    doc: "How to run the component.",
    fields: &[
        field("target", TEXT, "The compute target.")
            .also(&["compute"])
            .needs(Feature::ComputeTarget),
        NODE_COUNT,
        PROCESS_COUNT,
        INSTANCE_TYPE,
        field(
            "resource_layout",
            Shape::Object(&RESOURCE_LAYOUT),
            "Nodes and processes, as the SDK groups them.",
        ),
        field(
            "timeout_seconds",
            at_least(1),
            "The longest time that a run may take.",
        ),
        field("priority", at_least(0), "Its place in the queue.").needs(Feature::Priority),
        field(
            "environment_variables",
            VARIABLES,
            "Variables of the command's environment; they win over those of the spec.",
        ),
        field(
            "docker_configuration",
            Shape::Object(&DOCKER_CONFIGURATION),
            "How the container is started.",
        ),
        field(
            "parallel",
            Shape::Object(&PARALLEL),
            "How the files of a parallel component are shared out.",
        ),
        field(
            "target_selector",
            Shape::Object(&TARGET_SELECTOR),
            "Which compute targets will do.",
        )
        .needs(Feature::ComputeTarget),
        field("scope", FREE_MAP, "Settings of a Scope job.").needs(Feature::OtherEngine),
        field("hdinsight", FREE_MAP, "Settings of an HDInsight job.").needs(Feature::OtherEngine),
        field("spark", FREE_MAP, "Settings of a Spark job.").needs(Feature::OtherEngine),
        field("sweep", FREE_MAP, "Settings of a sweep.").needs(Feature::OtherEngine),
    ],
    unknown: Unknown::Refuse,
    absent: &[
        ("timeout", "the time limit is called `timeout_seconds`"),
        (
            "default_compute",
            "the compute target of a component is called `target`",
        ),
    ],
};

static RESOURCE_LAYOUT: Object = Object {
    name: "resource layout",
    doc: "Nodes and processes, as the SDK groups them.",
    fields: &[NODE_COUNT, PROCESS_COUNT, INSTANCE_TYPE],
    unknown: Unknown::Refuse,
    absent: &[],
};

static DOCKER_CONFIGURATION: Object = Object {
    name: "docker configuration",
    doc: "How the container is started.",
    fields: &[
        field("shm_size", SIZE, "The size of `/dev/shm`, such as `2g`.")
            .needs(Feature::SharedMemory),
        field("docker_args", TEXT, "More arguments of Docker.").needs(Feature::Image),
    ],
    unknown: Unknown::Refuse,
    absent: &[],
};

static PARALLEL: Object = Object {
    name: "parallel run settings",
    doc: "How the files of a parallel component are shared out.",
    fields: &[
        NODE_COUNT,
        PROCESS_COUNT,
        field(
            "mini_batch_size",
            BATCH_SIZE,
            "How many files one call of the entry script gets.",
        )
        .default("1"),
        field(
            "error_threshold",
            at_least(-1),
            "How many files may fail; -1 is any number.",
        )
        .default("-1"),
        field(
            "logging_level",
            Shape::Choice(&["DEBUG", "INFO", "WARNING", "ERROR"]),
            "How much is logged.",
        )
        .default("\"INFO\"")
        .needs(Feature::Words),
        field(
            "run_invocation_timeout",
            at_least(1),
            "The longest time that one call may take, in seconds.",
        )
        .default("60"),
        field(
            "run_max_try",
            at_least(1),
            "How often a mini-batch is tried.",
        )
        .default("3"),
        field("partition_keys", TEXTS, "The columns that part the data.")
            .needs(Feature::OtherEngine),
    ],
    unknown: Unknown::Refuse,
    absent: &[],
};

static TARGET_SELECTOR: Object = Object {
    name: "target selector",
    doc: "Which compute targets will do.",
    fields: &[
        field("compute_type", TEXT, "The kind of target.").needs(Feature::ComputeTarget),
        field("instance_types", TEXTS, "The kinds of machine.").needs(Feature::ComputeTarget),
        field("regions", TEXTS, "The regions.").needs(Feature::ComputeTarget),
        field(
            "my_resource_only",
            Shape::Flag,
            "Whether only own targets are used.",
        )
        .needs(Feature::ComputeTarget),
        field(
            "allow_spot_vm",
            Shape::Flag,
            "Whether machines may be taken away.",
        )
        .needs(Feature::ComputeTarget),
    ],
    unknown: Unknown::Refuse,
    absent: &[],
};
