//! The pieces of a command.

use std::ops::Range;

/// How placeholders are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// `{inputs.x}`, `[ … ]`, with the escapes `{{ }} [[ ]]`.
    V1,
    /// `${{inputs.x}}`, `$[[ … ]]`.
    V2,
}

impl Syntax {
    /// A placeholder as it is written.
    pub fn placeholder(self, scope: Scope, name: &str) -> String {
        match self {
            Syntax::V1 => format!("{{{scope}.{name}}}"),
            Syntax::V2 => format!("${{{{{scope}.{name}}}}}"),
        }
    }

    /// A group as it is written.
    pub fn group(self, inside: &str) -> String {
        match self {
            Syntax::V1 => format!("[{inside}]"),
            Syntax::V2 => format!("$[[{inside}]]"),
        }
    }
}

/// Where a placeholder looks for its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// An input or a parameter.
    Inputs,
    /// An output.
    Outputs,
    /// A value that a sweep chooses; version 2 only.
    SearchSpace,
}

impl Scope {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Inputs => "inputs",
            Scope::Outputs => "outputs",
            Scope::SearchSpace => "search_space",
        }
    }

    pub(super) fn read(word: &str, syntax: Syntax) -> Option<Scope> {
        match word {
            "inputs" => Some(Scope::Inputs),
            "outputs" => Some(Scope::Outputs),
            "search_space" if syntax == Syntax::V2 => Some(Scope::SearchSpace),
            _ => None,
        }
    }
}

impl std::fmt::Display for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A command cut into its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template<'t> {
    /// The text.
    pub text: &'t str,
    /// How it is written.
    pub syntax: Syntax,
    /// Its parts in order. Parts without a blank between them are glued into one word.
    pub parts: Vec<Part<'t>>,
    /// What is odd about it, whatever the values are, in the order of the text.
    pub problems: Vec<Problem>,
}

/// A part of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part<'t> {
    /// Bytes of the text to take as they are; of an escape, the one character that it stands for.
    Literal(Range<usize>),
    /// The place of a value.
    Placeholder(Placeholder<'t>),
    /// What goes together when its value is missing.
    Group(Group<'t>),
}

/// The place of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placeholder<'t> {
    /// Which placeholder of the text, from 0.
    pub index: usize,
    /// Its bytes, braces included.
    pub range: Range<usize>,
    /// Where its value is looked for.
    pub scope: Scope,
    /// The name there.
    pub name: &'t str,
    /// The bytes of the name.
    pub name_range: Range<usize>,
    /// The group in which it stands.
    pub group: Option<usize>,
}

/// What goes together when its value is missing. Groups do not nest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group<'t> {
    /// Which group of the text, from 0.
    pub index: usize,
    /// Its bytes, brackets included.
    pub range: Range<usize>,
    /// Literals and placeholders; at least one placeholder.
    pub parts: Vec<Part<'t>>,
}

impl<'t> Group<'t> {
    /// Its placeholders.
    pub fn placeholders(&self) -> impl Iterator<Item = &Placeholder<'t>> {
        self.parts.iter().filter_map(|part| match part {
            Part::Placeholder(placeholder) => Some(placeholder),
            Part::Literal(_) | Part::Group(_) => None,
        })
    }
}

/// Something odd in a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The bytes of the text to blame.
    pub range: Range<usize>,
    /// What is odd.
    pub fault: Fault,
}

/// The ways in which a command can be odd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A placeholder or group in the way of the other version; it is taken all the same.
    Foreign {
        /// How it should be written.
        meant: String,
    },
    /// Something that is nearly a placeholder; it stays as written.
    NearPlaceholder {
        /// What was probably meant, if that can be told.
        meant: Option<String>,
    },
    /// `${{ … }}` with something else in it than an input or output; it stays as written.
    UnknownBinding,
    /// `[--flag]`: brackets that look like a group and hold no placeholder; they stay.
    NoPlaceholder,
    /// A group in brackets; the outer brackets stay.
    Nested {
        /// The inner group.
        inner: Range<usize>,
    },
    /// A bracket without its partner next to a placeholder; it stays.
    Unpaired,
    /// `[ -z {inputs.x} ]`: a shell's test that is read as a group.
    TestAsGroup,
    /// `[[ -n … ]]`: a shell's test that is read as an escaped bracket.
    TestAsEscape,
    /// A quote that is never closed.
    OpenQuote,
    /// A placeholder in a place where its value cannot be quoted.
    Unquotable(Unquotable),
}

/// Places in a shell line where a value cannot be quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unquotable {
    /// Between backticks.
    Backticks,
    /// In a here-document.
    HereDocument,
}

impl<'t> Template<'t> {
    /// Its groups.
    pub fn groups(&self) -> impl Iterator<Item = &Group<'t>> {
        self.parts.iter().filter_map(|part| match part {
            Part::Group(group) => Some(group),
            Part::Literal(_) | Part::Placeholder(_) => None,
        })
    }

    /// All its placeholders, those in groups included, in the order of the text.
    pub fn references(&self) -> impl Iterator<Item = &Placeholder<'t>> {
        self.parts
            .iter()
            .flat_map(|part| match part {
                Part::Group(group) => group.parts.as_slice(),
                other => std::slice::from_ref(other),
            })
            .filter_map(|part| match part {
                Part::Placeholder(placeholder) => Some(placeholder),
                Part::Literal(_) | Part::Group(_) => None,
            })
    }

    /// The text of some bytes.
    pub fn slice(&self, range: &Range<usize>) -> &'t str {
        self.text.get(range.clone()).unwrap_or_default()
    }
}
