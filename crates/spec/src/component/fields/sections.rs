//! The sections that belong to one type of component.

use pinnace_core::fidelity::Feature;

use super::common::{at_least, elsewhere};
use super::runsettings::{SIZE, ranks};
use crate::shape::{FREE_MAP, Field, Object, Shape, TEXT, TEXTS, TextRule, Unknown, field};

/// A size such as `512m` or `4g`.
const MEMORY_RULE: TextRule = TextRule {
    accepts: |text| {
        text.strip_suffix(['k', 'm', 'g', 't', 'p'])
            .is_some_and(|digits| {
                !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
            })
    },
    pattern: "^[0-9]+[kmgtp]$",
    words: "digits and one of `k`, `m`, `g`, `t` and `p`",
    max_length: 20,
};

const MEMORY: Shape = Shape::Text(MEMORY_RULE);

/// `launcher` of a distributed component.
pub(super) static LAUNCHER: Object = Object {
    name: "launcher",
    doc: "How the ranks of a distributed component are started.",
    fields: &[
        field(
            "type",
            Shape::Choice(&[
                "mpi",
                "Mpi",
                "MPI",
                "torch.distributed",
                "Torch.Distributed",
                "pytorch",
                "Pytorch",
                "PyTorch",
            ]),
            "What starts the ranks: MPI, or `torch.distributed`.",
        )
        .required_with_stub("mpi"),
        field(
            "additional_arguments",
            TEXT,
            "The command line of each rank.",
        )
        .required(),
    ],
    unknown: Unknown::Refuse,
    absent: &[(
        "command",
        "the command of a distributed component is `additional_arguments`",
    )],
};

/// `parallel` of a parallel component.
pub(super) static PARALLEL: Object = Object {
    name: "parallel section",
    doc: "The entry script and the data that is shared out to it.",
    fields: &[
        field(
            "input_data",
            Shape::TextOrList,
            "The inputs whose files are shared out: `inputs.x`, or a list of them.",
        )
        .required(),
        field(
            "output_data",
            TEXT,
            "The output that gets what the calls return: `outputs.y`.",
        )
        .required(),
        field(
            "entry",
            TEXT,
            "The Python script with the functions `init` and `run`.",
        )
        .required(),
        field(
            "args",
            TEXT,
            "More arguments of the script, with places for inputs and outputs.",
        ),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

const REF_ID: Field = elsewhere("ref_id", TEXT, "The GUID of an existing module.").required();

/// `hemera`.
pub(super) static HEMERA: Object = Object {
    name: "hemera section",
    doc: "The module that a Hemera component stands for.",
    fields: &[field("ref_id", TEXT, "The GUID of the production module.").required()],
    unknown: Unknown::Warn,
    absent: &[],
};

/// `starlite`.
pub(super) static STARLITE: Object = Object {
    name: "starlite section",
    doc: "The module that a Starlite component stands for.",
    fields: &[REF_ID],
    unknown: Unknown::Warn,
    absent: &[],
};

/// `ae365exepool`.
pub(super) static AE365: Object = Object {
    name: "ae365exepool section",
    doc: "The module that an AE365ExePool component stands for.",
    fields: &[REF_ID],
    unknown: Unknown::Warn,
    absent: &[],
};

/// `aether` of an Aether bridge.
pub(super) static AETHER: Object = Object {
    name: "aether section",
    doc: "The module that an Aether bridge stands for.",
    fields: &[
        elsewhere(
            "module_type",
            TEXT,
            "The kind of module, such as `ScrapingCloud`.",
        )
        .required(),
        REF_ID,
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

/// `datatransfer`.
pub(super) static DATA_TRANSFER: Object = Object {
    name: "datatransfer section",
    doc: "Which cloud the data goes to.",
    fields: &[elsewhere(
        "cloud_type",
        Shape::Choice(&["aether"]),
        "The cloud.",
    )],
    unknown: Unknown::Warn,
    absent: &[],
};

/// `scope`.
pub(super) static SCOPE: Object = Object {
    name: "scope section",
    doc: "The Scope script and its arguments.",
    fields: &[
        elsewhere("script", TEXT, "The script.").required(),
        elsewhere(
            "args",
            TEXT,
            "Pairs of argument and value: `Name {inputs.x}` or `Name={inputs.x}`; the script says `@@Name@@`.",
        )
        .required(),
        elsewhere("adla_account_name", TEXT, "The account."),
        elsewhere("scope_param", TEXT, "More parameters of the compiler."),
        elsewhere("custom_job_name_suffix", TEXT, "An addition to the job's name."),
        elsewhere("priority", at_least(0), "Its place in the queue; smaller goes first."),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

/// `hdinsight`.
pub(super) static HDINSIGHT: Object = Object {
    name: "hdinsight section",
    doc: "The Spark program on HDInsight, and its settings.",
    fields: &[
        elsewhere("file", TEXT, "The program: a Python file or a jar.").required(),
        elsewhere("files", TEXTS, "Files that it finds in its folder."),
        elsewhere("class_name", TEXT, "The class to start, if it is a jar.").also(&["className"]),
        elsewhere("jars", TEXTS, "More jars."),
        elsewhere("py_files", TEXTS, "More Python files.").also(&["pyFiles"]),
        elsewhere("archives", TEXTS, "Archives to unpack."),
        elsewhere(
            "args",
            TEXT,
            "Its arguments, with places for inputs and outputs.",
        ),
        elsewhere("queue", TEXT, "The queue."),
        elsewhere(
            "driver_memory",
            MEMORY,
            "Memory of the driver, such as `4g`.",
        ),
        elsewhere("driver_cores", at_least(1), "Cores of the driver."),
        elsewhere("executor_memory", MEMORY, "Memory of each executor."),
        elsewhere("executor_cores", at_least(1), "Cores of each executor."),
        elsewhere("number_executors", at_least(1), "How many executors."),
        elsewhere(
            "conf",
            Shape::Either(&[TEXT, FREE_MAP]),
            "Settings of Spark.",
        ),
        elsewhere("name", TEXT, "The name of the session."),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

/// `entry` of a Spark component.
pub(super) static SPARK_ENTRY: Object = Object {
    name: "spark entry",
    doc: "What Spark starts: a file, or a class of a jar.",
    fields: &[
        elsewhere("file", TEXT, "The program."),
        elsewhere("class_name", TEXT, "The class to start."),
        elsewhere("type", TEXT, "What it is.").default("\"SparkJobPythonEntry\""),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

/// `identity` of v2 components.
pub(super) static IDENTITY: Object = Object {
    name: "identity",
    doc: "As whom the job reads its data.",
    fields: &[field(
        "type",
        Shape::Choice(&["user_identity", "managed", "managed_identity", "aml_token"]),
        "Whose rights it has.",
    )
    .required()
    .needs(Feature::ComputeTarget)],
    unknown: Unknown::Warn,
    absent: &[],
};

/// `intellectual_property`.
pub(super) static INTELLECTUAL_PROPERTY: Object = Object {
    name: "intellectual property",
    doc: "Whose property the component is.",
    fields: &[
        elsewhere("publisher", TEXT, "The publisher.").required(),
        elsewhere("protection_level", TEXT, "What is protected."),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

/// `resources` of v2 components.
pub(super) static RESOURCES: Object = Object {
    name: "resources",
    doc: "The machines that a v2 component runs on.",
    fields: &[
        ranks("instance_count", "How many nodes work at it."),
        field("max_instance_count", at_least(1), "How many at most.").needs(Feature::ComputeTarget),
        field("instance_type", TEXT, "The kind of machine.").needs(Feature::Sku),
        field("shm_size", SIZE, "The size of `/dev/shm`, such as `2g`.")
            .needs(Feature::SharedMemory),
        field("docker_args", TEXT, "More arguments of Docker.").needs(Feature::Image),
        field("locations", TEXTS, "The places.").needs(Feature::ComputeTarget),
        field("properties", FREE_MAP, "More settings of the target.").needs(Feature::ComputeTarget),
        field(
            "runtime_version",
            Shape::TextOrNumber,
            "The version of Spark.",
        )
        .needs(Feature::OtherEngine),
    ],
    unknown: Unknown::Refuse,
    absent: &[],
};

/// `distribution` of v2 components.
pub(super) static DISTRIBUTION: Object = Object {
    name: "distribution",
    doc: "How the ranks of a v2 command are started.",
    fields: &[
        field(
            "type",
            Shape::Choice(&["mpi", "pytorch", "tensorflow", "ray"]),
            "What starts the ranks.",
        )
        .required_with_stub("mpi")
        .needs_by_value(&[
            ("tensorflow", Feature::OtherEngine),
            ("ray", Feature::OtherEngine),
        ]),
        ranks(
            "process_count_per_instance",
            "How many processes work on each node.",
        ),
        elsewhere(
            "worker_count",
            at_least(1),
            "How many workers (TensorFlow).",
        ),
        elsewhere(
            "parameter_server_count",
            at_least(0),
            "How many parameter servers (TensorFlow).",
        ),
        elsewhere("port", at_least(1), "The port of the head (Ray)."),
        elsewhere("address", TEXT, "The address of the head (Ray)."),
        elsewhere(
            "include_dashboard",
            Shape::Flag,
            "Whether there are pages (Ray).",
        ),
        elsewhere(
            "dashboard_port",
            at_least(1),
            "The port of the pages (Ray).",
        ),
        elsewhere("head_node_additional_args", TEXT, "More arguments (Ray)."),
        elsewhere("worker_node_additional_args", TEXT, "More arguments (Ray)."),
    ],
    unknown: Unknown::Refuse,
    absent: &[(
        "process_count_per_node",
        "in v2 this is called `process_count_per_instance`",
    )],
};

/// `limits` of v2 commands.
pub(super) static LIMITS: Object = Object {
    name: "limits",
    doc: "The limits of a v2 component.",
    fields: &[field(
        "timeout",
        at_least(1),
        "The longest time that a run may take, in seconds.",
    )],
    unknown: Unknown::Refuse,
    absent: &[],
};

/// `task` of v2 parallel components.
pub(super) static PARALLEL_TASK: Object = Object {
    name: "parallel task",
    doc: "The entry script of a v2 parallel component.",
    fields: &[
        field(
            "type",
            Shape::Choice(&["run_function", "function", "model"]),
            "What is called.",
        )
        .required_with_stub("run_function")
        .needs_by_value(&[("model", Feature::OtherEngine)]),
        field("code", TEXT, "The folder with the code."),
        field(
            "entry_script",
            TEXT,
            "The Python script with the functions `init` and `run`.",
        )
        .required(),
        field(
            "program_arguments",
            TEXT,
            "More arguments of the script, with places for inputs and outputs.",
        )
        .also(&["args"]),
        field(
            "environment",
            super::environment::ENVIRONMENT_SHAPE,
            "The image and the packages.",
        )
        .required()
        .needs(Feature::Packages),
        field(
            "append_row_to",
            TEXT,
            "The output that gets what the calls return, a line for each.",
        ),
        elsewhere("model", TEXT, "The model that is called."),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

/// `retry_settings` of v2 parallel components.
pub(super) static RETRY_SETTINGS: Object = Object {
    name: "retry settings",
    doc: "What is done about a mini-batch that fails.",
    fields: &[
        field("max_retries", at_least(0), "How often it is tried again.").default("2"),
        field(
            "timeout",
            at_least(1),
            "The longest time that one call may take, in seconds.",
        )
        .default("60"),
    ],
    unknown: Unknown::Refuse,
    absent: &[],
};
