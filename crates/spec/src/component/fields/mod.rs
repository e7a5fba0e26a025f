//! Every field of a component spec: what it may hold, what a missing one means, what it is for.
//!
//! Which fields a component has follows from its `type`. Keys at the top that no type knows get a
//! warning, because the official clients carry them along without a word.

mod common;
mod environment;
mod ports;
mod runsettings;
mod sections;
mod sweep;
mod types;

pub use ports::{BUILT_IN_TYPES, PARAMETER_TYPES};

use crate::shape::{self, Shape};

/// What a whole component spec holds.
pub static SHAPE: Shape = Shape::Tagged(&types::COMPONENT);

/// All words that `type` can be, without labels.
pub fn type_words() -> impl Iterator<Item = &'static str> {
    types::COMPONENT.cases.iter().map(|(word, _)| *word)
}

/// The JSON Schema of a component.
pub fn json_schema() -> serde_json::Value {
    shape::schema(&SHAPE, "Azure ML component, v1.5 and v2")
}

/// The page `docs/component-fields.md`.
pub fn reference() -> String {
    let introduction = "\
Every field of an Azure ML component spec as Pinnace reads it, type by type. The same table checks a
spec and makes the JSON Schema that `pinnace schema component` prints. A `type` may have a label behind
it, such as `CommandComponent@1-legacy`. Numbers and flags in `version`, `default` and `enum` are taken as
they are written: `0.10` stays `0.10`.";
    shape::reference(&SHAPE, "Fields of a component", introduction)
}
