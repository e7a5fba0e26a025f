//! Inputs, parameters and outputs.

use pinnace_core::fidelity::Feature;

use crate::shape::{Field, Object, Shape, TEXT, TEXTS, Tagged, Unknown, field};

/// The words that make an input a parameter.
pub const PARAMETER_TYPES: &[&str] = &[
    "string", "integer", "int", "float", "double", "number", "boolean", "enum", "String",
    "Integer", "Int", "Float", "Double", "Number", "Boolean", "Enum",
];

/// Parameter types that only the built-in components of the service use.
pub const BUILT_IN_TYPES: &[&str] = &["Script", "ColumnPicker", "Credential", "ParameterRange"];

/// An entry of `inputs`.
pub(super) static INPUT: Shape = Shape::Tagged(&Tagged {
    name: "input",
    by: "type",
    cases: &[
        ("String", &TEXT_PARAMETER),
        ("string", &TEXT_PARAMETER),
        ("Integer", &NUMBER_PARAMETER),
        ("integer", &NUMBER_PARAMETER),
        ("Int", &NUMBER_PARAMETER),
        ("int", &NUMBER_PARAMETER),
        ("Float", &NUMBER_PARAMETER),
        ("float", &NUMBER_PARAMETER),
        ("Double", &NUMBER_PARAMETER),
        ("double", &NUMBER_PARAMETER),
        ("Number", &NUMBER_PARAMETER),
        ("number", &NUMBER_PARAMETER),
        ("Boolean", &TEXT_PARAMETER),
        ("boolean", &TEXT_PARAMETER),
        ("Enum", &ENUM_PARAMETER),
        ("enum", &ENUM_PARAMETER),
        ("Script", &BUILT_IN_PARAMETER),
        ("ColumnPicker", &BUILT_IN_PARAMETER),
        ("Credential", &BUILT_IN_PARAMETER),
        ("ParameterRange", &BUILT_IN_PARAMETER),
    ],
    missing: None,
    labelled: false,
    other: Some(&INPUT_PORT),
});

/// An entry of `outputs`.
pub(super) static OUTPUT: Shape = Shape::Tagged(&Tagged {
    name: "output",
    by: "type",
    cases: &[
        ("String", &PRIMITIVE_OUTPUT),
        ("string", &PRIMITIVE_OUTPUT),
        ("Integer", &PRIMITIVE_OUTPUT),
        ("integer", &PRIMITIVE_OUTPUT),
        ("Int", &PRIMITIVE_OUTPUT),
        ("int", &PRIMITIVE_OUTPUT),
        ("Float", &PRIMITIVE_OUTPUT),
        ("float", &PRIMITIVE_OUTPUT),
        ("Double", &PRIMITIVE_OUTPUT),
        ("double", &PRIMITIVE_OUTPUT),
        ("Number", &PRIMITIVE_OUTPUT),
        ("number", &PRIMITIVE_OUTPUT),
        ("Boolean", &PRIMITIVE_OUTPUT),
        ("boolean", &PRIMITIVE_OUTPUT),
    ],
    missing: None,
    labelled: false,
    other: Some(&OUTPUT_PORT),
});

const PARAMETER_TYPE: Field = field("type", TEXT, "What it holds.").required();

const OPTIONAL: Field = field(
    "optional",
    Shape::Flag,
    "Whether it can be left out; then it must stand in a group of the command.",
)
.default("false");

const DESCRIPTION: Field =
    field("description", TEXT, "What it is, for people.").needs(Feature::Words);

const DEFAULT: Field = field(
    "default",
    Shape::Scalar,
    "The value if none is given, taken as it is written.",
);

const IS_CONTROL: Field = field(
    "is_control",
    Shape::Flag,
    "Whether a pipeline decides by it which steps to run.",
)
.default("false")
.needs(Feature::Pipeline);

const GROUP_NAMES: Field = field(
    "group_names",
    TEXTS,
    "The parameter groups that it belongs to.",
)
.needs(Feature::Words);

const NO_BOUNDS: &str = "only numbers have bounds";
const NO_ENUM: &str = "only a parameter has a list of values";

const ENUM: Field = field(
    "enum",
    Shape::List {
        of: &Shape::Scalar,
        min: 1,
    },
    "The values that it can have, as they are written: `2.0` is not `2`.",
);

static TEXT_PARAMETER: Object = Object {
    name: "parameter",
    doc: "A text (`String`, `string`) or a flag (`Boolean`, `boolean`: `True` or `False`).",
    fields: &[
        PARAMETER_TYPE,
        OPTIONAL,
        DEFAULT,
        ENUM,
        DESCRIPTION,
        IS_CONTROL,
        GROUP_NAMES,
    ],
    unknown: Unknown::Refuse,
    absent: &[
        ("min", NO_BOUNDS),
        ("max", NO_BOUNDS),
        (
            "value",
            "the value for a run is given by `--input NAME=VALUE`, or as `default`",
        ),
    ],
};

static NUMBER_PARAMETER: Object = Object {
    name: "number parameter",
    doc: "A whole number (`Integer`, `integer`, `Int`, `int`; 64 bits) or any number (`Float`, `float`, `Double`, `double`, `Number`, `number`).",
    fields: &[
        PARAMETER_TYPE,
        OPTIONAL,
        DEFAULT,
        field("min", Shape::Scalar, "The least value."),
        field("max", Shape::Scalar, "The greatest value."),
        ENUM,
        DESCRIPTION,
        IS_CONTROL,
        GROUP_NAMES,
    ],
    unknown: Unknown::Refuse,
    absent: &[(
        "value",
        "the value for a run is given by `--input NAME=VALUE`, or as `default`",
    )],
};

static ENUM_PARAMETER: Object = Object {
    name: "enum parameter",
    doc: "One of some texts (`Enum`, `enum`).",
    fields: &[
        PARAMETER_TYPE,
        OPTIONAL,
        DEFAULT,
        ENUM.required(),
        DESCRIPTION,
        IS_CONTROL,
        GROUP_NAMES,
    ],
    unknown: Unknown::Warn,
    absent: &[("min", NO_BOUNDS), ("max", NO_BOUNDS)],
};

static BUILT_IN_PARAMETER: Object = Object {
    name: "built-in parameter",
    doc: "A parameter of a built-in component of the service (`Script`, `ColumnPicker`, `Credential`, `ParameterRange`), taken as a text.",
    fields: &[PARAMETER_TYPE, OPTIONAL, DEFAULT, DESCRIPTION, GROUP_NAMES],
    unknown: Unknown::Warn,
    absent: &[],
};

static INPUT_PORT: Object = Object {
    name: "input port",
    doc: "Data: a file or a folder. Every other `type` is one: `path`, `AnyFile`, `AnyDirectory`, `uri_folder`, or a name of your own.",
    fields: &[
        field(
            "type",
            Shape::TextOrList,
            "What it holds: a parameter type such as `string` or `Integer`, or a type of data such as `path`; a list means any of them.",
        )
        .required(),
        OPTIONAL,
        DESCRIPTION,
        field(
            "default",
            TEXT,
            "Where the data lies if nothing is given.",
        ),
        field(
            "is_resource",
            Shape::Flag,
            "Whether the job gets the address and no copy, as Scope and Hemera want it.",
        )
        .default("false"),
        field(
            "datastore_mode",
            Shape::Choice(&["mount", "download", "direct"]),
            "How the data comes to the task.",
        ),
        field(
            "mode",
            Shape::Choice(&[
                "mount",
                "download",
                "direct",
                "ro_mount",
                "rw_mount",
                "eval_mount",
                "eval_download",
            ]),
            "How the data comes to the task.",
        ),
        GROUP_NAMES,
    ],
    unknown: Unknown::Refuse,
    absent: &[
        (
            "path",
            "where the data lies is said by `--input NAME=PATH`, or by `default`",
        ),
        ("enum", NO_ENUM),
        ("min", NO_BOUNDS),
        ("max", NO_BOUNDS),
        ("is_link_mode", "only an output can be linked"),
    ],
};

const EARLY_AVAILABLE: Field = field(
    "early_available",
    Shape::Flag,
    "Whether the value can be read before the job has ended.",
)
.default("false")
.needs(Feature::Pipeline);

static PRIMITIVE_OUTPUT: Object = Object {
    name: "primitive output",
    doc: "A single value (`String`, `Integer`, `Float`, `Boolean` and their other spellings), written to a file.",
    fields: &[
        field("type", TEXT, "What it holds.").required(),
        DESCRIPTION,
        IS_CONTROL,
        EARLY_AVAILABLE,
    ],
    unknown: Unknown::Warn,
    absent: &[("optional", "an output is always made")],
};

static OUTPUT_PORT: Object = Object {
    name: "output port",
    doc: "Data: a file if the type is `AnyFile` or `uri_file`, else a folder.",
    fields: &[
        field(
            "type",
            TEXT,
            "What it holds: a type of data such as `path` or `AnyFile`, or a type of value such as `string`.",
        )
        .required(),
        DESCRIPTION,
        field(
            "is_link_mode",
            Shape::Flag,
            "Whether the job names existing data as this output instead of writing any.",
        )
        .default("false"),
        field(
            "datastore_mode",
            Shape::Choice(&["upload", "mount", "link", "hdfs"]),
            "How the data leaves the task.",
        ),
        field(
            "mode",
            Shape::Choice(&["upload", "mount", "link", "rw_mount", "direct", "hdfs"]),
            "How the data leaves the task.",
        ),
        IS_CONTROL,
        EARLY_AVAILABLE,
    ],
    unknown: Unknown::Warn,
    absent: &[
        ("optional", "an output is always made"),
        ("path", "where the data goes is said by `--output NAME=PLACE`"),
        ("is_resource", "only an input can be a resource"),
    ],
};
