//! Tables of fields. One table checks a document, makes its JSON Schema, accounts for its keys and
//! writes its reference page, so the four cannot disagree.

mod account;
mod check;
mod fits;
mod path;
mod problem;
mod reference;
mod repair;
mod schema;
#[cfg(test)]
mod tests;

pub use account::{account, count_keys};
pub use check::{check, check_field};
pub use reference::reference;
pub use schema::schema;

use pinnace_core::fidelity::Feature;

use crate::yaml::node::same_text;

/// A mapping with named fields.
#[derive(Debug)]
pub struct Object {
    /// What it is, for messages: "task role". Unique in a dialect.
    pub name: &'static str,
    /// What it is for, for the schema.
    pub doc: &'static str,
    /// Its fields, in the order in which people write them.
    pub fields: &'static [Field],
    /// What becomes of other keys.
    pub unknown: Unknown,
    /// Keys that people expect here in vain, and what to tell them.
    pub absent: &'static [(&'static str, &'static str)],
}

impl Object {
    /// The field that a key names, by its own or another spelling.
    pub fn field(&self, key: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.is_named(key))
    }
}

/// The field of a key in an object, and its place; the fields from `start` on are compared first.
fn find_from(object: &Object, key: &str, start: usize) -> Option<(usize, &'static Field)> {
    let is_named = |(_, field): &(usize, &Field)| field.is_named(key);
    let mut fields = object.fields.iter().enumerate();
    let behind = fields.clone().skip(start).find(is_named);
    behind.or_else(|| fields.find(is_named))
}

/// What becomes of keys that an object does not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// An error.
    Refuse,
    /// A warning: accepted, and nothing reads them.
    Warn,
    /// They belong to the user; one that looks like a misspelt field gets a warning.
    Keep,
}

/// A field of an object. Made with [`field`] and the methods that follow it.
#[derive(Debug)]
pub struct Field {
    /// Its key.
    pub name: &'static str,
    /// Other spellings that are read as well; only one of all may be used.
    pub also: &'static [&'static str],
    /// What it may hold.
    pub shape: Shape,
    /// Whether it must be there.
    pub required: bool,
    /// Whether `null` is the same as leaving it out.
    pub nullable: bool,
    /// What a missing one means.
    pub default: Default,
    /// A value to start from, as YAML on one line; empty if there is none that makes sense.
    pub stub: &'static str,
    /// What it means, in a sentence or two.
    pub doc: &'static str,
    /// What an engine must be able to do to honour it.
    pub feature: Feature,
    /// Values that ask for more than `feature`.
    pub feature_by_value: &'static [(&'static str, Feature)],
}

/// What a missing field means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Default {
    /// There is nothing to say.
    None,
    /// A value, as JSON.
    Value(&'static str),
    /// A rule, in words: "the number of instances".
    Rule(&'static str),
}

/// What a field may hold.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// A text; a number or a flag has to be quoted.
    Text(TextRule),
    /// A text, or a number taken as it is written.
    TextOrNumber,
    /// A text or a list of texts.
    TextOrList,
    /// A text, a number or a flag, taken as it is written.
    Scalar,
    /// A number, whole or not.
    Number,
    /// The first of these that takes a value of the kind at hand: a scalar, a list or a mapping. No
    /// two of them take the same kind.
    Either(&'static [Shape]),
    /// A whole number. `4.0` is one, as in JSON.
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
    /// This number, or the same as a text.
    Exactly(u32),
    /// A list.
    List {
        /// Of these.
        of: &'static Shape,
        /// At least so many.
        min: usize,
    },
    /// A mapping with keys of the user's choice.
    Map {
        /// What the keys are, for messages: "port label".
        key: &'static str,
        /// Their form.
        keys: TextRule,
        /// What each holds.
        of: &'static Shape,
        /// At least so many.
        min: usize,
    },
    /// A mapping with named fields.
    Object(&'static Object),
    /// A mapping whose fields depend on the text of one of them.
    Tagged(&'static Tagged),
    /// A mapping of names to values that must never be shown.
    Secrets,
    /// Anything.
    Any,
}

/// A mapping whose fields depend on the text of one of them.
#[derive(Debug)]
pub struct Tagged {
    /// What it is, for messages: "prerequisite".
    pub name: &'static str,
    /// The field that decides.
    pub by: &'static str,
    /// Its values and what follows from each.
    pub cases: &'static [(&'static str, &'static Object)],
    /// The value that a missing one stands for; without it the field is required.
    pub missing: Option<&'static str>,
    /// Whether a label may follow the value that changes nothing here: `Type@label`.
    pub labelled: bool,
    /// What follows from all other values; without it they are refused.
    pub other: Option<&'static Object>,
}

impl Tagged {
    /// What the mapping is, by the text of the field that decides.
    pub fn object(&self, tag: Option<&str>) -> Option<&'static Object> {
        let word = self.without_label(tag.or(self.missing)?);
        let listed = self.cases.iter().find(|(one, _)| same_text(one, word));
        listed.map(|(_, object)| *object).or(self.other)
    }

    fn without_label<'t>(&self, tag: &'t str) -> &'t str {
        match self.labelled {
            true => tag.split_once('@').map_or(tag, |(word, _)| word),
            false => tag,
        }
    }

    /// All that it can be, each once.
    fn objects(&self) -> Vec<&'static Object> {
        let mut objects: Vec<&'static Object> = Vec::new();
        let listed = self.cases.iter().map(|(_, object)| *object);
        for object in listed.chain(self.other) {
            if !objects.iter().any(|other| std::ptr::eq(*other, object)) {
                objects.push(object);
            }
        }
        objects
    }
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

impl TextRule {
    /// The name of a job.
    pub const JOB_NAME: TextRule = TextRule {
        accepts: |text| {
            !text.is_empty()
                && text
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        },
        pattern: "^[a-zA-Z0-9_-]+$",
        words: "made of letters, digits, `_` and `-`",
        max_length: 255,
    };

    /// Every text will do.
    pub const ANY: TextRule = TextRule {
        accepts: |_| true,
        pattern: "",
        words: "any text",
        max_length: usize::MAX,
    };

    fn is_short_enough(&self, text: &str) -> bool {
        text.len() <= self.max_length || text.chars().count() <= self.max_length
    }
}

/// Any text.
pub const TEXT: Shape = Shape::Text(TextRule::ANY);

/// A list of texts, possibly empty.
pub const TEXTS: Shape = Shape::List { of: &TEXT, min: 0 };

/// A mapping of the user's own.
pub const FREE_MAP: Shape = Shape::Map {
    key: "name",
    keys: TextRule::ANY,
    of: &Shape::Any,
    min: 0,
};

/// An optional field that every engine honours.
pub const fn field(name: &'static str, shape: Shape, doc: &'static str) -> Field {
    Field {
        name,
        also: &[],
        shape,
        required: false,
        nullable: false,
        default: Default::None,
        stub: "",
        doc,
        feature: Feature::Plan,
        feature_by_value: &[],
    }
}

impl Field {
    /// It must be there.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// It must be there, and this is a value to start from.
    #[must_use]
    pub const fn required_with_stub(mut self, stub: &'static str) -> Self {
        self.required = true;
        self.stub = stub;
        self
    }

    /// `null` is the same as leaving it out.
    #[must_use]
    pub const fn or_null(mut self) -> Self {
        self.nullable = true;
        self
    }

    /// A missing one means this value, written as JSON.
    #[must_use]
    pub const fn default(mut self, json: &'static str) -> Self {
        self.default = Default::Value(json);
        self
    }

    /// A missing one means what this rule says.
    #[must_use]
    pub const fn default_rule(mut self, words: &'static str) -> Self {
        self.default = Default::Rule(words);
        self
    }

    /// It has other spellings.
    #[must_use]
    pub const fn also(mut self, also: &'static [&'static str]) -> Self {
        self.also = also;
        self
    }

    /// Not every engine honours it.
    #[must_use]
    pub const fn needs(mut self, feature: Feature) -> Self {
        self.feature = feature;
        self
    }

    /// Not every engine honours some of its values.
    #[must_use]
    pub const fn needs_by_value(mut self, features: &'static [(&'static str, Feature)]) -> Self {
        self.feature_by_value = features;
        self
    }

    fn is_named(&self, key: &str) -> bool {
        same_text(self.name, key) || self.also.contains(&key)
    }
}
