//! Fields that most types of component have.

use pinnace_core::fidelity::Feature;

use super::environment::ENVIRONMENT_SHAPE;
use super::ports::{INPUT, OUTPUT};
use super::runsettings::RUNSETTINGS_OBJECT;
use crate::shape::{FREE_MAP, Field, Shape, TEXT, TEXTS, TextRule, field};

/// A number that ends up in a signed 32-bit field.
pub(super) const MOST: i64 = i32::MAX as i64;

pub(super) const fn at_least(min: i64) -> Shape {
    Shape::Integer {
        min,
        max: MOST,
        null: false,
    }
}

/// A field that only an engine other than this machine acts on.
pub(super) const fn elsewhere(name: &'static str, shape: Shape, doc: &'static str) -> Field {
    field(name, shape, doc).needs(Feature::OtherEngine)
}

fn is_plain_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

/// `azureml://Name With Spaces` is a built-in component, `namespace://name` a module of old.
const NAME_RULE: TextRule = TextRule {
    accepts: |text| match text.split_once("://") {
        Some((space, name)) => {
            is_plain_name(space) && !name.is_empty() && !name.contains(['\n', '\r'])
        }
        None => is_plain_name(text),
    },
    pattern: r"^[A-Za-z0-9._-]+(://[^\n\r]+)?$",
    words: "made of letters, digits, `.`, `_` and `-`",
    max_length: 255,
};

const V2_NAME_RULE: TextRule = TextRule {
    accepts: |text| {
        text.starts_with(|first: char| first.is_ascii_lowercase())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    },
    pattern: "^[a-z][a-z0-9_]*$",
    words: "made of small letters, digits and `_`, and begin with a letter",
    max_length: 255,
};

/// The form of the names of inputs and outputs; dots are for parameter groups.
pub(super) const PORT_RULE: TextRule = TextRule {
    accepts: |text| {
        text.split('.').all(|part| {
            part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
                && part
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
    },
    pattern: r"^[a-zA-Z_][a-zA-Z0-9_]*(\.[a-zA-Z_][a-zA-Z0-9_]*)*$",
    words: "made of letters, digits and `_`, and not begin with a digit",
    max_length: 255,
};

pub(super) const SCHEMA: Field = field(
    "$schema",
    TEXT,
    "The address of the JSON Schema of this type of component; only its last word is looked at.",
)
.needs(Feature::Words);

pub(super) const NAME: Field = field(
    "name",
    Shape::Text(NAME_RULE),
    "The component's name, best `company.team.name`.",
)
.required();

pub(super) const V2_NAME: Field =
    field("name", Shape::Text(V2_NAME_RULE), "The component's name.").required();

pub(super) const VERSION: Field = field(
    "version",
    Shape::TextOrNumber,
    "The component's version, taken as it is written: `0.10` is not `0.1`.",
)
.needs(Feature::Words);

pub(super) const DISPLAY_NAME: Field =
    field("display_name", TEXT, "The name that people are shown.")
        .default_rule("the name")
        .needs(Feature::Words);

pub(super) const TYPE: Field = field(
    "type",
    TEXT,
    "The type of component; a label may follow, such as `CommandComponent@1-legacy`.",
)
.default("\"CommandComponent\"");

pub(super) const V2_TYPE: Field = field("type", TEXT, "The type of component.").required();

pub(super) const DESCRIPTION: Field =
    field("description", TEXT, "What it is, for people.").needs(Feature::Words);

pub(super) const TAGS: Field = field(
    "tags",
    Shape::Either(&[TEXT, TEXTS, FREE_MAP]),
    "Words for people and catalogues: a mapping of names to values. A single word or a list is read too, with a warning.",
)
.needs(Feature::Words);

pub(super) const IS_DETERMINISTIC: Field = field(
    "is_deterministic",
    Shape::Flag,
    "Whether equal inputs give equal outputs, so that an earlier result can be used again.",
)
.default("true")
.needs(Feature::Words);

pub(super) const SUCCESSFUL_RETURN_CODE: Field = field(
    "successful_return_code",
    Shape::Choice(&["Zero", "ZeroOrGreater"]),
    "Which exit codes mean success.",
)
.default("\"Zero\"");

pub(super) const INPUTS: Field = field(
    "inputs",
    Shape::Map {
        key: "input name",
        keys: PORT_RULE,
        of: &INPUT,
        min: 0,
    },
    "The inputs by name: data, and parameters such as numbers and texts.",
);

pub(super) const OUTPUTS: Field = field(
    "outputs",
    Shape::Map {
        key: "output name",
        keys: PORT_RULE,
        of: &OUTPUT,
        min: 0,
    },
    "The outputs by name.",
);

pub(super) const CODE: Field = field(
    "code",
    TEXT,
    "The folder with the code, relative to this file.",
)
.default_rule("the folder of this file");

pub(super) const ENVIRONMENT: Field = field(
    "environment",
    ENVIRONMENT_SHAPE,
    "The image and the packages that the command needs, or the name of a registered environment.",
)
.needs(Feature::Packages);

pub(super) const ENVIRONMENT_VARIABLES: Field = field(
    "environment_variables",
    VARIABLES,
    "Variables of the command's environment.",
);

/// Variables and their values.
pub(super) const VARIABLES: Shape = Shape::Map {
    key: "variable",
    keys: TextRule::ANY,
    of: &Shape::Scalar,
    min: 0,
};

pub(super) const COMMAND: Field = field(
    "command",
    TEXT,
    "The command line, with places for inputs and outputs: `{inputs.x}` (v1.5) or `${{inputs.x}}` (v2).",
)
.required();

pub(super) const RUNSETTINGS: Field = field(
    "runsettings",
    Shape::Object(&RUNSETTINGS_OBJECT),
    "How to run it: nodes, time limit and the like. An extension of Pinnace; `--set runsettings.node_count=2` puts them in.",
);

pub(super) const ADDITIONAL_INCLUDES: Field = field(
    "additional_includes",
    Shape::List {
        of: &Shape::Either(&[TEXT, FREE_MAP]),
        min: 0,
    },
    "Files and folders outside `code` that belong to it.",
);
