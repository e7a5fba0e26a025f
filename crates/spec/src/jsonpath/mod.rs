//! JSONPath (RFC 9535) over the document tree: the one language in which flags and override rules
//! say which values they mean.
//!
//! A query is read once and asked often. Asking costs [`Work`], so that no query, however it is
//! written, takes longer than its caller allows.
//!
//! | module | its part |
//! | --- | --- |
//! | `syntax` | a query as data |
//! | `parse`, `parse_filter`, `lexer` | text to query |
//! | `select` | which nodes a query selects |
//! | `filter`, `pattern` | what a filter says of a node |

mod filter;
mod lexer;
mod parse;
mod parse_filter;
mod pattern;
mod select;
mod syntax;

pub use select::{Place, Selected, Work, node_at, node_at_mut, places};
pub use syntax::Step;

use syntax::Segment;

/// How a query may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As the standard says.
    Standard,
    /// Also without the leading `$.`, and a name after a dot may hold `-` or start with a digit:
    /// `environment.docker.image`, `taskRoles.my-worker`.
    Short,
}

/// A query as it was read.
#[derive(Clone, Debug)]
pub struct Query {
    segments: Vec<Segment>,
}

/// Why a text is no query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The offset of the byte at which it is wrong.
    pub at: usize,
    /// What is wrong there.
    pub message: String,
}

/// A step of a path to one place, and the bytes of the text that name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedStep {
    /// The step.
    pub step: Step,
    /// Its first byte.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
}

/// The query asks for more than its caller allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMuchWork;

impl Query {
    /// Reads a query.
    pub fn parse(text: &str, form: Form) -> Result<Self, Error> {
        parse::query(text, form)
    }

    /// The steps, if the query names exactly one place.
    pub fn singular(&self) -> Option<Vec<NamedStep>> {
        self.segments.iter().map(Segment::singular).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
