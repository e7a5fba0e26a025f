//! Every field of a processor: the arguments of the constructor and of `run`, under their own names.
//!
//! Nested objects take the names of the service (`InputUri`) beside those of the SDK (`input_uri`), as
//! the SDK's own models do.

use pinnace_core::fidelity::Feature;

use crate::shape::{self, FREE_MAP, Field, Object, Shape, TEXT, TEXTS, TextRule, Unknown, field};

/// An argument with a default; `None` in Python is the same as leaving it out.
const fn optional(name: &'static str, shape: Shape, doc: &'static str) -> Field {
    field(name, shape, doc).or_null()
}

/// What a whole processor file holds.
pub static SHAPE: Shape = Shape::Object(&PROCESSOR);

/// The types of job that PAI knows.
pub const JOB_TYPES: &[&str] = &["PyTorchJob", "TFJob", "XGBoostJob", "MPIJob"];

/// The JSON Schema of a processor.
pub fn json_schema() -> serde_json::Value {
    shape::schema(&SHAPE, "Alibaba PAI processor")
}

/// The page `docs/processor-fields.md`.
pub fn reference() -> String {
    let introduction = "\
Every field of a processor file as Pinnace reads it: the arguments of `Processor(...)` and of its `run(...)`,
under their own names. `null` for one that is not required is the same as leaving it out, as in Python. The same
table checks a file and makes the JSON Schema that `pinnace schema processor` prints.";
    shape::reference(&SHAPE, "Fields of a processor", introduction)
}

/// The most instances of a role, as for every dialect.
const MOST_INSTANCES: i64 = 10_000;

/// A year; PAI itself names no limit.
const LONGEST_RUN: i64 = 366 * 24 * 3600;

/// What a channel can be called.
pub const CHANNEL_RULE: TextRule = TextRule {
    accepts: |text| {
        text.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_')
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
    },
    pattern: "^[a-zA-Z0-9_][a-zA-Z0-9_.-]*$",
    words: "made of letters, digits, `_`, `-` and `.`, and begin with none of the last two",
    max_length: 128,
};

const VARIABLE_RULE: TextRule = TextRule {
    accepts: |text| {
        !text.is_empty()
            && !text.starts_with(|first: char| first.is_ascii_digit())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    },
    pattern: "^[a-zA-Z_][a-zA-Z0-9_]*$",
    words: "made of letters, digits and `_`, and not begin with a digit",
    max_length: 255,
};

const PARAMETER_RULE: TextRule = TextRule {
    accepts: |text| !text.is_empty() && !text.contains(char::is_whitespace),
    pattern: "^\\S+$",
    words: "made of characters without blanks",
    max_length: 255,
};

const JOB_NAME_RULE: TextRule = TextRule {
    max_length: 200,
    ..TextRule::JOB_NAME
};

static PROCESSOR: Object = Object {
    name: "processor",
    doc: "A processing job of Alibaba PAI: an image, a command, code, inputs and outputs.",
    fields: PROCESSOR_FIELDS,
    unknown: Unknown::Refuse,
    absent: &[
        (
            "session",
            "a local run needs no session, no account and no bucket",
        ),
        (
            "git_config",
            "only estimators have it; clone the repository and name its folder in `source_dir`",
        ),
        ("hyperparameters", "processors call them `parameters`"),
        ("checkpoints_path", "write `checkpoints` below `outputs`"),
        ("instance_spec", "processors name an `instance_type`"),
    ],
};

const PROCESSOR_FIELDS: &[Field] = &[
    field("image_uri", TEXT, "The container image of the job.")
        .required_with_stub("python:3.11")
        .needs(Feature::Image),
    field("command", COMMAND, "What runs: a text is given to `sh -c`, a list is run as it is, without a shell.")
        .required_with_stub("python main.py"),
    optional("source_dir", TEXT, "The folder of the code. Tasks see a snapshot of it at `/ml/usercode`, which is also where they start. A `requirements.txt` in it is installed.")
        .default_rule("no code"),
    optional("job_type", TEXT, "Which framework spreads the work over the instances: `PyTorchJob`, `TFJob`, `XGBoostJob` or `MPIJob`.")
        .default("\"PyTorchJob\""),
    optional(
        "parameters",
        Shape::Map { key: "parameter", keys: PARAMETER_RULE, of: &Shape::Any, min: 0 },
        "Named values for the code: in `hyperparameters.json` as texts, in `parameters.json` with their types, and in `PAI_HPS_<NAME>`.",
    ),
    optional(
        "environments",
        Shape::Map { key: "environment variable", keys: VARIABLE_RULE, of: &Shape::Scalar, min: 0 },
        "Environment variables of the tasks.",
    ),
    optional("requirements", TEXTS, "Python packages, each as in `requirements.txt`. They win over the `requirements.txt` of the code."),
    optional("max_run_time", Shape::Integer { min: 1, max: LONGEST_RUN, null: false }, "How many seconds the job may run.")
        .default_rule("no limit"),
    optional("base_job_name", Shape::Text(JOB_NAME_RULE), "The name of the job; its identifier begins with it.")
        .default("\"processor\""),
    optional("output_path", TEXT, "Where outputs go that have no place of their own: each to a folder of its name, below a folder of the job.")
        .default_rule("a folder that Pinnace keeps"),
    optional("instance_type", TEXT, "The kind of machine.")
        .default("\"local\"")
        .needs(Feature::Sku)
        .needs_by_value(&[("local", Feature::Plan), ("local_gpu", Feature::Plan)]),
    optional("instance_count", Shape::Integer { min: 1, max: MOST_INSTANCES, null: false }, "How many instances work together.")
        .default("1"),
    optional("spot_spec", Shape::Object(&SPOT_SPEC), "Bids for machines that others may take over.").needs(Feature::Cloud),
    optional("resource_type", Shape::Choice(&["Lingjun", "General"]), "The kind of computing resource.")
        .default("\"General\"")
        .needs(Feature::Cloud)
        .needs_by_value(&[("General", Feature::Plan)]),
    optional("user_vpc_config", Shape::Object(&VPC), "The network that instances join.").needs(Feature::Cloud),
    optional("experiment_config", Shape::Object(&EXPERIMENT), "The experiment to which the job belongs.").needs(Feature::Cloud),
    optional("settings", Shape::Object(&SETTINGS), "Settings of the service.").needs(Feature::Cloud),
    optional(
        "labels",
        Shape::Map { key: "label", keys: TextRule::ANY, of: &Shape::Scalar, min: 0 },
        "Words for people, by name.",
    )
    .needs(Feature::Words),
    optional("inputs", Shape::Map { key: "input channel", keys: CHANNEL_RULE, of: &INPUT, min: 0 }, "Data that the tasks read, at `/ml/input/data/<channel>`: a path, a URL or a dataset."),
    optional("outputs", Shape::Map { key: "output channel", keys: CHANNEL_RULE, of: &OUTPUT, min: 0 }, "Where what tasks write to `/ml/output/<channel>` goes: a path, a URL or a dataset."),
    optional("input_channels", CHANNELS, "The inputs that the code knows."),
    optional("output_channels", CHANNELS, "The outputs that the code writes; each gets a place, also if `outputs` names none."),
    optional("metric_definitions", METRICS, "Numbers to find in what the tasks print."),
    optional("wait", Shape::Flag, "Whether the SDK waits for the end.").default("true").needs_by_value(&[("false", Feature::Watching)]),
    optional("show_logs", Shape::Flag, "Whether the SDK prints the logs while it waits.").default("true").needs_by_value(&[("false", Feature::Watching)]),
];

const COMMAND: Shape = Shape::Either(&[
    TEXT,
    Shape::List {
        of: &Shape::Scalar,
        min: 1,
    },
]);

static SPOT_SPEC: Object = Object {
    name: "spot specification",
    doc: "How to bid for spot instances.",
    fields: &[
        field("spot_strategy", Shape::Choice(&["SpotWithPriceLimit", "SpotAsPriceGo"]), "Whether there is a limit to the price.")
            .also(&["SpotStrategy"])
            .required_with_stub("SpotAsPriceGo")
            .needs(Feature::Cloud),
        optional("spot_discount_limit", Shape::Number, "The highest price as a part of the full one, from 0 to 1 with two decimals: 0.5 is half of it.")
            .also(&["SpotDiscountLimit"])
            .needs(Feature::Cloud),
    ],
    unknown: Unknown::Refuse,
    absent: &[],
};

static VPC: Object = Object {
    name: "VPC configuration",
    doc: "The network that instances join.",
    fields: &[
        field("vpc_id", TEXT, "The network.")
            .also(&["VpcId"])
            .required()
            .needs(Feature::Cloud),
        field("security_group_id", TEXT, "The security group.")
            .also(&["SecurityGroupId"])
            .required()
            .needs(Feature::Cloud),
        optional("switch_id", TEXT, "The switch.")
            .also(&["SwitchId"])
            .needs(Feature::Cloud),
        optional("extended_cidrs", TEXTS, "More address ranges.")
            .also(&["ExtendedCidrs", "ExtendedCIDRs"])
            .needs(Feature::Cloud),
    ],
    unknown: Unknown::Refuse,
    absent: &[],
};

static EXPERIMENT: Object = Object {
    name: "experiment configuration",
    doc: "The experiment to which a job belongs.",
    fields: &[field("experiment_id", TEXT, "The experiment.")
        .also(&["ExperimentId"])
        .required()
        .needs(Feature::Cloud)],
    unknown: Unknown::Refuse,
    absent: &[],
};

/// The service reads these four and drops all others without a word.
static SETTINGS: Object = Object {
    name: "settings",
    doc: "Settings of the service.",
    fields: &[
        optional(
            "AIMasterType",
            TEXT,
            "The kind of the service's own watcher.",
        )
        .needs(Feature::Cloud),
        optional(
            "EnableErrorMonitoringInAIMaster",
            Shape::Flag,
            "Whether the watcher looks for errors.",
        )
        .needs(Feature::Cloud),
        optional("ErrorMonitoringArgs", TEXT, "Arguments of the watcher.").needs(Feature::Cloud),
        optional(
            "Priority",
            Shape::Integer {
                min: 1,
                max: 9,
                null: false,
            },
            "Higher goes first.",
        )
        .needs(Feature::Priority),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

const INPUT: Shape = Shape::Either(&[TEXT, Shape::Object(&INPUT_PLACE)]);
const OUTPUT: Shape = Shape::Either(&[TEXT, Shape::Object(&OUTPUT_PLACE)]);

static INPUT_PLACE: Object = Object {
    name: "input",
    doc: "Where an input lies: one of a URI and a dataset.",
    fields: &[
        optional("input_uri", TEXT, "A path or a URL.").also(&["InputUri", "uri"]),
        DATASET_ID,
        DATASET_NAME,
        CHANNEL_NAME,
    ],
    unknown: Unknown::Refuse,
    absent: &[],
};

static OUTPUT_PLACE: Object = Object {
    name: "output",
    doc: "Where an output goes: one of a URI and a dataset.",
    fields: &[
        optional("output_uri", TEXT, "A path or a URL.").also(&["OutputUri", "uri"]),
        DATASET_ID,
        DATASET_NAME,
        CHANNEL_NAME,
    ],
    unknown: Unknown::Refuse,
    absent: &[],
};

const DATASET_ID: Field = optional(
    "dataset_id",
    TEXT,
    "A dataset of the catalogue, by its name and, after a `/`, its version.",
)
.also(&["DatasetId"]);

const DATASET_NAME: Field = optional("dataset_name", TEXT, "The dataset's name for people.")
    .also(&["DatasetName"])
    .needs(Feature::Words);

const CHANNEL_NAME: Field = optional("name", TEXT, "The channel once more, as the SDK writes it.")
    .also(&["Name"])
    .needs(Feature::Words);

const CHANNELS: Shape = Shape::List {
    of: &CHANNEL_SHAPE,
    min: 0,
};

const CHANNEL_SHAPE: Shape = Shape::Object(&CHANNEL);

static CHANNEL: Object = Object {
    name: "channel",
    doc: "An input or output that the code knows.",
    fields: &[
        field("name", Shape::Text(CHANNEL_RULE), "Its name.")
            .also(&["Name"])
            .required(),
        optional("description", TEXT, "For people.")
            .also(&["Description"])
            .needs(Feature::Words),
        optional(
            "required",
            Shape::Flag,
            "Whether the job cannot do without it.",
        )
        .also(&["Required"])
        .default("false"),
        optional(
            "supported_channel_types",
            TEXTS,
            "Which kinds of storage it may be.",
        )
        .also(&["SupportedChannelTypes"])
        .needs(Feature::Words),
        optional(
            "properties",
            FREE_MAP,
            "More about it; `ossAppendable` keeps what lies at its place already.",
        )
        .also(&["Properties"]),
    ],
    unknown: Unknown::Refuse,
    absent: &[],
};

const METRIC_SHAPE: Shape = Shape::Object(&METRIC);
const METRICS: Shape = Shape::List {
    of: &METRIC_SHAPE,
    min: 0,
};

static METRIC: Object = Object {
    name: "metric definition",
    doc: "A number to find in what the tasks print.",
    fields: &[
        field("name", TEXT, "What the number is called.")
            .also(&["Name"])
            .required(),
        field(
            "regex",
            TEXT,
            "A regular expression for a line; its first group is the number.",
        )
        .also(&["Regex"])
        .required(),
        optional("description", TEXT, "For people.")
            .also(&["Description"])
            .needs(Feature::Words),
    ],
    unknown: Unknown::Refuse,
    absent: &[],
};
