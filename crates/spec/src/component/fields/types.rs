//! The types of component, and the fields of each.

use pinnace_core::fidelity::Feature;

use super::common::{
    ADDITIONAL_INCLUDES, CODE, COMMAND, DESCRIPTION, DISPLAY_NAME, ENVIRONMENT,
    ENVIRONMENT_VARIABLES, INPUTS, IS_DETERMINISTIC, NAME, OUTPUTS, RUNSETTINGS, SCHEMA,
    SUCCESSFUL_RETURN_CODE, TAGS, TYPE, V2_NAME, V2_TYPE, VERSION, at_least, elsewhere,
};
use super::runsettings::BATCH_SIZE;
use super::sections::{
    AE365, AETHER, DATA_TRANSFER, DISTRIBUTION, HDINSIGHT, HEMERA, IDENTITY, INTELLECTUAL_PROPERTY,
    LAUNCHER, LIMITS, PARALLEL, PARALLEL_TASK, RESOURCES, RETRY_SETTINGS, SCOPE, SPARK_ENTRY,
    STARLITE,
};
use super::sweep::{EARLY_TERMINATION, OBJECTIVE, SEARCH_SPACE, SWEEP_LIMITS};
use crate::shape::{FREE_MAP, Object, Shape, TEXT, TEXTS, Tagged, TextRule, Unknown, field};

/// A component of any type.
pub(super) static COMPONENT: Tagged = Tagged {
    name: "component",
    by: "type",
    cases: &[
        ("CommandComponent", &COMMAND_COMPONENT),
        ("DistributedComponent", &DISTRIBUTED),
        ("ParallelComponent", &PARALLEL_COMPONENT),
        ("HemeraComponent", &HEMERA_COMPONENT),
        ("ScopeComponent", &SCOPE_COMPONENT),
        ("HDInsightComponent", &HDINSIGHT_COMPONENT),
        ("SparkComponent", &SPARK_COMPONENT),
        ("StarliteComponent", &STARLITE_COMPONENT),
        ("AE365ExePoolComponent", &AE365_COMPONENT),
        ("AetherBridgeComponent", &AETHER_COMPONENT),
        ("DataTransferComponent", &DATA_TRANSFER_COMPONENT),
        ("SweepComponent", &SWEEP_COMPONENT),
        (
            "IntellectualPropertyProtectedComponent",
            &PROTECTED_COMPONENT,
        ),
        ("PipelineComponent", &PIPELINE_COMPONENT),
        ("command", &V2_COMMAND),
        ("parallel", &V2_PARALLEL),
        ("spark", &SPARK_COMPONENT),
        ("sweep", &SWEEP_COMPONENT),
        ("pipeline", &V2_PIPELINE),
        ("data_transfer", &DATA_TRANSFER_COMPONENT),
        ("hemera", &HEMERA_COMPONENT),
        ("scope", &SCOPE_COMPONENT),
        ("hdinsight", &HDINSIGHT_COMPONENT),
        ("starlite", &STARLITE_COMPONENT),
        ("ae365exepool", &AE365_COMPONENT),
        ("aetherbridge", &AETHER_COMPONENT),
    ],
    missing: Some("CommandComponent"),
    labelled: true,
    other: None,
};

const NO_ENVIRONMENT: &str = "a component of this type brings its own environment";
const NO_VARIABLES: &str =
    "only command, distributed, sweep and parallel components have environment variables";

/// A v1.5 component: the fields that all have, and its own.
macro_rules! component {
    ($static:ident, $name:literal, $doc:literal, $absent:expr, [$($own:expr),* $(,)?]) => {
        static $static: Object = Object {
            name: $name,
            doc: $doc,
            fields: &[
                SCHEMA,
                NAME,
                VERSION,
                DISPLAY_NAME,
                TYPE,
                DESCRIPTION,
                TAGS,
                IS_DETERMINISTIC,
                SUCCESSFUL_RETURN_CODE,
                INPUTS,
                OUTPUTS,
                CODE,
                $($own,)*
                RUNSETTINGS,
                ADDITIONAL_INCLUDES,
            ],
            unknown: Unknown::Warn,
            absent: $absent,
        };
    };
}

/// What a component whose engine is elsewhere has not.
const FOREIGN_ABSENT: &[(&str, &str)] = &[
    ("environment", NO_ENVIRONMENT),
    ("environment_variables", NO_VARIABLES),
];

component!(
    COMMAND_COMPONENT,
    "command component",
    "A single command (`CommandComponent`).",
    &[(
        "launcher",
        "only a component of type `DistributedComponent` has a launcher"
    )],
    [COMMAND, ENVIRONMENT, ENVIRONMENT_VARIABLES]
);

component!(
    DISTRIBUTED,
    "distributed component",
    "One command in many ranks (`DistributedComponent`).",
    &[(
        "command",
        "the command of a distributed component is `launcher.additional_arguments`"
    )],
    [
        field(
            "launcher",
            Shape::Object(&LAUNCHER),
            "How the ranks are started."
        )
        .required(),
        ENVIRONMENT,
        ENVIRONMENT_VARIABLES,
    ]
);

component!(
    PARALLEL_COMPONENT,
    "parallel component",
    "A Python script that gets the files of its inputs in small batches (`ParallelComponent`).",
    &[(
        "command",
        "a parallel component has an entry script instead: `parallel.entry`"
    )],
    [
        field(
            "parallel",
            Shape::Object(&PARALLEL),
            "The script and its data."
        )
        .required(),
        ENVIRONMENT,
        ENVIRONMENT_VARIABLES,
    ]
);

component!(
    HEMERA_COMPONENT,
    "hemera component",
    "A module of Aether that Hemera runs (`HemeraComponent`, `hemera`).",
    FOREIGN_ABSENT,
    [
        COMMAND,
        field("hemera", Shape::Object(&HEMERA), "The module.").required(),
    ]
);

component!(
    STARLITE_COMPONENT,
    "starlite component",
    "A module that Starlite runs (`StarliteComponent`, `starlite`).",
    FOREIGN_ABSENT,
    [
        COMMAND,
        elsewhere("starlite", Shape::Object(&STARLITE), "The module.").required(),
    ]
);

component!(
    AE365_COMPONENT,
    "ae365exepool component",
    "A module that AE365 runs (`AE365ExePoolComponent`, `ae365exepool`).",
    FOREIGN_ABSENT,
    [
        COMMAND,
        elsewhere("ae365exepool", Shape::Object(&AE365), "The module.").required(),
    ]
);

component!(
    AETHER_COMPONENT,
    "aether bridge component",
    "A module that Aether runs (`AetherBridgeComponent`, `aetherbridge`).",
    &[
        ("environment", NO_ENVIRONMENT),
        ("environment_variables", NO_VARIABLES),
        (
            "aetherbridge",
            "the section of an Aether bridge is called `aether`"
        ),
    ],
    [
        COMMAND,
        elsewhere("aether", Shape::Object(&AETHER), "The module.").required(),
    ]
);

component!(
    SCOPE_COMPONENT,
    "scope component",
    "A Scope script (`ScopeComponent`, `scope`).",
    FOREIGN_ABSENT,
    [elsewhere(
        "scope",
        Shape::Object(&SCOPE),
        "The script and its arguments."
    )
    .required()]
);

component!(
    HDINSIGHT_COMPONENT,
    "hdinsight component",
    "A Spark program on HDInsight (`HDInsightComponent`, `hdinsight`).",
    FOREIGN_ABSENT,
    [elsewhere(
        "hdinsight",
        Shape::Object(&HDINSIGHT),
        "The program and its settings."
    )
    .required()]
);

component!(
    SPARK_COMPONENT,
    "spark component",
    "A Spark program (`SparkComponent`, `spark`).",
    &[("environment_variables", NO_VARIABLES)],
    [
        elsewhere("entry", Shape::Object(&SPARK_ENTRY), "What Spark starts.").required(),
        elsewhere("files", TEXTS, "Files that it finds in its folder."),
        elsewhere("jars", Shape::TextOrList, "More jars."),
        elsewhere("py_files", Shape::TextOrList, "More Python files.").also(&["pyFiles"]),
        elsewhere("archives", TEXTS, "Archives to unpack."),
        elsewhere("conf", FREE_MAP, "Settings of Spark."),
        elsewhere(
            "args",
            TEXT,
            "Its arguments, with places for inputs and outputs."
        ),
        elsewhere(
            "conda_dependencies",
            Shape::Either(&[TEXT, FREE_MAP]),
            "The packages."
        ),
        ENVIRONMENT,
        field(
            "identity",
            Shape::Object(&IDENTITY),
            "As whom it reads its data."
        )
        .needs(Feature::ComputeTarget),
        field("resources", Shape::Object(&RESOURCES), "The machines (v2)."),
        elsewhere("driver_memory", TEXT, "Memory of the driver, such as `4g`."),
        elsewhere("driver_cores", at_least(1), "Cores of the driver."),
        elsewhere("executor_memory", TEXT, "Memory of each executor."),
        elsewhere("executor_cores", at_least(1), "Cores of each executor."),
        elsewhere("executor_instances", at_least(1), "How many executors.")
            .also(&["number_executors"]),
        elsewhere(
            "dynamic_allocation_enabled",
            Shape::Flag,
            "Whether the number of executors changes."
        ),
        elsewhere(
            "dynamic_allocation_min_executors",
            at_least(0),
            "How many at least."
        ),
        elsewhere(
            "dynamic_allocation_max_executors",
            at_least(1),
            "How many at most."
        ),
    ]
);

component!(
    DATA_TRANSFER_COMPONENT,
    "data transfer component",
    "A copy of data from one place to another (`DataTransferComponent`, `data_transfer`).",
    FOREIGN_ABSENT,
    [
        elsewhere(
            "datatransfer",
            Shape::Object(&DATA_TRANSFER),
            "Which cloud the data goes to."
        ),
        elsewhere("task", TEXT, "What is done (v2)."),
        elsewhere("data_copy_mode", TEXT, "What becomes of equal names (v2)."),
    ]
);

component!(
    SWEEP_COMPONENT,
    "sweep component",
    "Many trials of another component with different parameters (`SweepComponent`, `sweep`). Unless it says otherwise a sweep is not deterministic.",
    &[(
        "command",
        "a sweep has a trial instead: the component that is tried"
    )],
    [
        elsewhere(
            "trial",
            Shape::Either(&[TEXT, FREE_MAP]),
            "The component that is tried: `file:` and its path.",
        )
        .required(),
        elsewhere(
            "algorithm",
            Shape::Choice(&["grid", "random", "bayesian"]),
            "How the parameters are chosen.",
        )
        .also(&["sampling_algorithm"])
        .required_with_stub("random"),
        elsewhere("search_space", SEARCH_SPACE, "What each parameter can be.").required(),
        elsewhere(
            "objective",
            Shape::Object(&OBJECTIVE),
            "What the sweep looks for."
        )
        .required(),
        elsewhere(
            "early_termination",
            Shape::Object(&EARLY_TERMINATION),
            "When a trial is given up.",
        ),
        elsewhere(
            "limits",
            Shape::Object(&SWEEP_LIMITS),
            "How many trials, how long."
        ),
        ENVIRONMENT_VARIABLES,
    ]
);

component!(
    PROTECTED_COMPONENT,
    "protected component",
    "A component whose inside is hidden (`IntellectualPropertyProtectedComponent`).",
    FOREIGN_ABSENT,
    [
        elsewhere(
            "reference",
            TEXT,
            "The component that is protected: `file:` and its path."
        )
        .required(),
        elsewhere(
            "intellectual_property",
            Shape::Object(&INTELLECTUAL_PROPERTY),
            "Whose property it is.",
        )
        .required(),
        elsewhere(
            "intellectual_property_protected_inputs",
            TEXTS,
            "The inputs that are hidden: `inputs.x`.",
        ),
        elsewhere(
            "intellectual_property_protected_outputs",
            TEXTS,
            "The outputs that are hidden: `outputs.x`.",
        ),
    ]
);

component!(
    PIPELINE_COMPONENT,
    "pipeline component",
    "A graph of other components (`PipelineComponent`).",
    FOREIGN_ABSENT,
    [
        field("jobs", JOBS, "The steps by name.").needs(Feature::Pipeline),
        field("graph", FREE_MAP, "The graph, as it was registered.").needs(Feature::Pipeline),
        field("settings", FREE_MAP, "Settings for all steps.").needs(Feature::Pipeline),
    ]
);

const JOBS: Shape = Shape::Map {
    key: "step",
    keys: TextRule::ANY,
    of: &FREE_MAP,
    min: 1,
};

/// What a v2 type has not: people know it from v1.5.
const V2_ABSENT: &[(&str, &str)] = &[
    (
        "launcher",
        "in v2 the ranks of a command are asked for in `distribution`",
    ),
    (
        "parallel",
        "in v2 the entry script stands in `task`, and `input_data` at the top",
    ),
];

static V2_COMMAND: Object = Object {
    name: "v2 command",
    doc: "A single command, or one in many ranks (`command`).",
    fields: &[
        SCHEMA,
        V2_NAME,
        VERSION,
        DISPLAY_NAME,
        V2_TYPE,
        DESCRIPTION,
        TAGS,
        IS_DETERMINISTIC,
        INPUTS,
        OUTPUTS,
        CODE,
        COMMAND,
        ENVIRONMENT.required(),
        ENVIRONMENT_VARIABLES,
        field(
            "resources",
            Shape::Object(&RESOURCES),
            "The machines that it runs on.",
        ),
        field(
            "distribution",
            Shape::Object(&DISTRIBUTION),
            "How its ranks are started.",
        ),
        field("limits", Shape::Object(&LIMITS), "How long it may take."),
        field(
            "identity",
            Shape::Object(&IDENTITY),
            "As whom it reads its data.",
        )
        .needs(Feature::ComputeTarget),
        field("properties", FREE_MAP, "Words for programs.").needs(Feature::Words),
        RUNSETTINGS,
        ADDITIONAL_INCLUDES,
    ],
    unknown: Unknown::Warn,
    absent: V2_ABSENT,
};

static V2_PARALLEL: Object = Object {
    name: "v2 parallel",
    doc: "A Python script that gets the files of an input in small batches (`parallel`).",
    fields: &[
        SCHEMA,
        V2_NAME,
        VERSION,
        DISPLAY_NAME,
        V2_TYPE,
        DESCRIPTION,
        TAGS,
        IS_DETERMINISTIC,
        INPUTS,
        OUTPUTS,
        CODE,
        field(
            "input_data",
            TEXT,
            "The input whose files are shared out: `${{inputs.x}}`.",
        )
        .required(),
        field("task", Shape::Object(&PARALLEL_TASK), "The entry script.").required(),
        field(
            "mini_batch_size",
            BATCH_SIZE,
            "How many files one call of the entry script gets.",
        )
        .default("1"),
        field(
            "mini_batch_error_threshold",
            at_least(-1),
            "How many batches may fail; -1 is any number.",
        )
        .default("-1"),
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
            "max_concurrency_per_instance",
            Shape::Integer {
                min: 1,
                max: 10_000,
                null: false,
            },
            "How many processes work on each node.",
        )
        .default("1"),
        field(
            "retry_settings",
            Shape::Object(&RETRY_SETTINGS),
            "What is done about a batch that fails.",
        ),
        elsewhere("partition_keys", TEXTS, "The columns that part the data."),
        field(
            "resources",
            Shape::Object(&RESOURCES),
            "The machines that it runs on.",
        ),
        ENVIRONMENT_VARIABLES,
        RUNSETTINGS,
        ADDITIONAL_INCLUDES,
    ],
    unknown: Unknown::Warn,
    absent: V2_ABSENT,
};

static V2_PIPELINE: Object = Object {
    name: "v2 pipeline",
    doc: "A graph of other components (`pipeline`).",
    fields: &[
        SCHEMA,
        V2_NAME,
        VERSION,
        DISPLAY_NAME,
        V2_TYPE,
        DESCRIPTION,
        TAGS,
        IS_DETERMINISTIC,
        INPUTS,
        OUTPUTS,
        field("jobs", JOBS, "The steps by name.")
            .required()
            .needs(Feature::Pipeline),
        field("settings", FREE_MAP, "Settings for all steps.").needs(Feature::Pipeline),
        RUNSETTINGS,
    ],
    unknown: Unknown::Warn,
    absent: &[],
};
