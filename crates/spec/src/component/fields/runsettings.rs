//! How a component is to be run. The official clients set these in code; here they are part of the
//! document, so that `--set` and files can give them.

use pinnace_core::fidelity::Feature;

use super::common::{VARIABLES, at_least};
use super::environment::ENVIRONMENT_SHAPE;
use super::sections::{LIMITS, RESOURCES, RETRY_SETTINGS};
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

const MINI_BATCH_SIZE: Field = field(
    "mini_batch_size",
    BATCH_SIZE,
    "How many files one call of the entry script gets.",
)
.default("1");

const ERROR_THRESHOLD: Field = field(
    "error_threshold",
    at_least(-1),
    "How many files may fail; -1 is any number.",
)
.default("-1");

const LOGGING_LEVEL: Field = field(
    "logging_level",
    Shape::Choice(&["DEBUG", "INFO", "WARNING", "ERROR"]),
    "How much is logged.",
)
.default("\"INFO\"")
.needs(Feature::Words);

/// What looks like a JSON object; whether it is one is checked when it is read.
const JSON_OBJECT: TextRule = TextRule {
    accepts: |text| text.starts_with('{') && text.ends_with('}'),
    pattern: r"^\{[\s\S]*\}$",
    words: "a JSON object of texts",
    max_length: 1 << 20,
};

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
            Shape::Either(&[VARIABLES, Shape::Text(JSON_OBJECT)]),
            "Variables of the command's environment, also as a JSON text; they win over those of the spec.",
        ),
        field(
            "environment",
            ENVIRONMENT_SHAPE,
            "Another environment than that of the spec.",
        )
        .needs(Feature::Packages),
        field(
            "register_as",
            Shape::Map {
                key: "output",
                keys: TextRule::ANY,
                of: &Shape::Either(&[TEXT, Shape::Object(&REGISTER)]),
                min: 0,
            },
            "The datasets that outputs become when the run has succeeded, by the names of the outputs. An extension of Pinnace.",
        ),
        field("resources", Shape::Object(&RESOURCES), "The machines (v2)."),
        field(
            "distribution",
            Shape::Object(&RUN_DISTRIBUTION),
            "How the ranks are started (v2).",
        ),
        field(
            "limits",
            Shape::Object(&LIMITS),
            "How long it may take (v2).",
        ),
        MINI_BATCH_SIZE,
        ERROR_THRESHOLD,
        field(
            "mini_batch_error_threshold",
            at_least(-1),
            "How many mini-batches may fail; -1 is any number (v2).",
        )
        .default("-1"),
        ranks(
            "max_concurrency_per_instance",
            "How many processes work on each node (v2).",
        ),
        field(
            "retry_settings",
            Shape::Object(&RETRY_SETTINGS),
            "What is done about a mini-batch that fails (v2).",
        ),
        LOGGING_LEVEL,
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
        field("itp", FREE_MAP, "Settings of an ITP cluster.").needs(Feature::ComputeTarget),
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

static REGISTER: Object = Object {
    name: "dataset to register",
    doc: "The dataset that an output becomes.",
    fields: &[
        field("name", TEXT, "Its name in the catalogue.").required(),
        field("description", TEXT, "What it is, for people."),
        field("tags", FREE_MAP, "Words for people.").needs(Feature::Unread),
        field(
            "create_new_version",
            Shape::Flag,
            "Whether it may be a further version of its name.",
        )
        .default("true")
        .needs_by_value(&[("false", Feature::Unread)]),
    ],
    unknown: Unknown::Refuse,
    absent: &[],
};

static RUN_DISTRIBUTION: Object = Object {
    name: "distribution settings",
    doc: "How the ranks of a v2 command are started.",
    fields: &[
        field(
            "type",
            Shape::Choice(&["mpi", "pytorch"]),
            "What starts the ranks.",
        ),
        ranks(
            "process_count_per_instance",
            "How many processes work on each node.",
        ),
    ],
    unknown: Unknown::Refuse,
    absent: &[(
        "process_count_per_node",
        "in v2 this is called `process_count_per_instance`",
    )],
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
        MINI_BATCH_SIZE,
        ERROR_THRESHOLD,
        LOGGING_LEVEL,
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
