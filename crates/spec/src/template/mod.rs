//! `<% … %>`: one grammar and one engine for every field that is rendered.
//!
//! [`parse`] finds the tags of a text, [`render`] puts values in their place, [`diagnose`] turns
//! what went wrong into diagnostics that point at the tag itself; [`plain_length`] tells fast that nothing did. A value is taken as it is
//! written, is never escaped and never rendered again; a secret stays a name.

mod diagnose;
mod judge;
mod parse;
mod path;
mod render;
#[cfg(test)]
mod tests;

pub use diagnose::{Site, diagnose};
pub use judge::plain_length;
pub use parse::{Mustache, Part, Tag, Template, has_tag, parse};
pub use path::{BadPath, Scope, Segment, Segments, dotted, secret_leaves};
pub use render::{Lookup, Rendered, Scopes, This, Use, render};

use std::ops::Range;

/// So many problems of one text are told; whoever has more mends these first.
const MOST_PROBLEMS: usize = 64;

fn push_problem(problems: &mut Vec<Problem>, problem: Problem) {
    if problems.len() < MOST_PROBLEMS {
        problems.push(problem);
    }
}

/// What is wrong with a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Which tag of the text, from 0.
    pub tag: usize,
    /// The bytes of the decoded text to blame: the tag, or the `<%` that is never closed.
    pub range: Range<usize>,
    /// What is wrong.
    pub fault: Fault,
    /// Whether the tag was kept as it is, which makes this a warning.
    pub kept: bool,
}

/// The ways in which a tag can be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// `<%` without `%>`.
    Unclosed,
    /// `<% %>`.
    Empty,
    /// Something that other template languages have and that would vanish upstream.
    Unsupported(Mustache),
    /// The first name is no scope.
    UnknownScope {
        /// As written.
        written: String,
        /// The scope that was probably meant, and where to write it in the decoded text.
        meant: Option<(Scope, Range<usize>)>,
    },
    /// The path cannot be read.
    BadPath(BadPath),
    /// The scope has nothing here, such as `$data` in a role that names no data.
    NoScope(Scope),
    /// A key that is not there.
    Missing {
        /// The path of the mapping in which it was looked for.
        within: String,
        /// The key.
        key: String,
        /// The key that was probably meant.
        meant: Option<String>,
        /// Where the key stands in the decoded text.
        range: Range<usize>,
        /// Some of the keys that are there.
        keys: Vec<String>,
    },
    /// The value is null.
    Null {
        /// Its path.
        path: String,
    },
    /// The value is a mapping, or a list that holds one.
    Mapping {
        /// Its path.
        path: String,
        /// Some of its keys.
        keys: Vec<String>,
    },
    /// The list has fewer items.
    OutOfRange {
        /// The path of the list.
        path: String,
        /// What was asked for.
        index: String,
        /// How many items there are.
        length: usize,
    },
    /// A list is asked for something else than an item or its length.
    NotAnIndex {
        /// The path of the list.
        path: String,
        /// What was asked for.
        key: String,
    },
    /// A text or number is asked for a part of it.
    NoParts {
        /// The path of the value.
        path: String,
        /// What was asked for.
        key: String,
    },
    /// Two required prerequisites that are equally near have the value.
    Conflict {
        /// The key.
        key: String,
        /// The prerequisites.
        owners: Vec<String>,
    },
    /// The value holds a tag of its own, which stays as it is.
    TagInValue {
        /// The path of the value.
        path: String,
    },
}
