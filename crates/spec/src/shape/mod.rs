//! Tables of fields. One table checks a document, makes its JSON Schema and accounts for its keys,
//! so the three cannot disagree.

use pinnace_core::fidelity::Feature;

/// A mapping with named fields.
#[derive(Debug)]
pub struct Object {
    /// What it is, for messages: "task role".
    pub name: &'static str,
    /// What it is for, for the schema.
    pub doc: &'static str,
    /// Its fields.
    pub fields: &'static [Field],
    /// What becomes of other keys.
    pub unknown: Unknown,
}

/// What becomes of keys that an object does not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// An error.
    Refuse,
    /// A warning: accepted, and nothing reads them.
    Warn,
    /// They belong to the user or to a later check.
    Keep,
}

/// A field of an object.
#[derive(Debug)]
pub struct Field {
    /// Its key.
    pub name: &'static str,
    /// Other spellings that are read as well.
    pub also: &'static [&'static str],
    /// What it may hold.
    pub shape: Shape,
    /// Whether it must be there.
    pub required: bool,
    /// The default in words; empty if there is none to speak of.
    pub default: &'static str,
    /// What it means, for the schema.
    pub doc: &'static str,
    /// What an engine must be able to do to honour it.
    pub feature: Feature,
}

/// What a field may hold.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// A text. A number is refused, as upstream does.
    Text(TextRule),
    /// A text, or a number taken as it is written.
    TextOrNumber,
    /// A whole number.
    Integer {
        /// Least value.
        min: i64,
        /// Greatest value.
        max: i64,
        /// Whether `null` is the same as leaving it out.
        null: bool,
    },
    /// `true` or `false`.
    Flag,
    /// One of some texts.
    Choice(&'static [&'static str]),
    /// The number 2 or the text "2".
    ProtocolVersion,
    /// A list.
    List {
        /// Of these.
        of: &'static Shape,
        /// At least so many.
        min: usize,
    },
    /// A mapping with keys of the user's choice.
    Map {
        /// The form of the keys.
        keys: TextRule,
        /// What each holds.
        of: &'static Shape,
        /// At least so many.
        min: usize,
    },
    /// A mapping with named fields.
    Object(&'static Object),
    /// A mapping whose fields depend on the text of one of them.
    Tagged {
        /// The field that decides.
        by: &'static str,
        /// Its values and what follows from each.
        cases: &'static [(&'static str, &'static Object)],
    },
    /// A text or a list of texts.
    TextOrList,
    /// Anything.
    Any,
}

/// The form of a text.
#[derive(Clone, Copy, Debug)]
pub struct TextRule {
    /// Tells whether a text has the form.
    pub accepts: fn(&str) -> bool,
    /// The same as a regular expression, for the schema; empty if every text will do.
    pub pattern: &'static str,
    /// The same in words, for messages: "letters, digits, `_` and `-`".
    pub words: &'static str,
    /// Longest length in characters.
    pub max_length: usize,
}
