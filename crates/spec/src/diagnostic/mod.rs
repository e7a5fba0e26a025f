//! A problem as data, and what becomes of all problems of a run.

pub mod codes;
mod collect;
mod levels;
mod pages;
pub mod render;
pub mod suggest;

pub use collect::{Counts, Diagnostics};
pub use levels::{Allowed, Levels};
pub use pages::page;

use crate::source::Span;

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The file cannot be used.
    Error,
    /// Legal, but surely not meant.
    Warning,
}

/// A kind of problem. Its id never changes and never gets another meaning.
#[derive(Debug, PartialEq, Eq)]
pub struct Code {
    /// Such as `P0201`.
    pub id: &'static str,
    /// Such as `unknown-key`; can be used wherever the id can.
    pub name: &'static str,
    /// How bad it is unless the user says otherwise.
    pub severity: Severity,
    /// In one line: what it means.
    pub summary: &'static str,
}

/// A place that belongs to a problem, and what is to be seen there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What.
    pub message: String,
}

/// Replaces the text of a span. An empty span inserts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What to replace.
    pub span: Span,
    /// By what.
    pub replacement: String,
}

/// A change of the source that mends the problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// In words, such as "rename the key".
    pub title: String,
    /// The edits; they do not overlap.
    pub edits: Vec<Edit>,
}

/// A problem, with all that a person needs to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its kind.
    pub code: &'static Code,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong: lower-case, no full stop, names the thing.
    pub message: String,
    /// Where it is wrong.
    pub span: Span,
    /// What is to be seen there; may be empty.
    pub label: String,
    /// Other places that belong to it.
    pub related: Vec<Label>,
    /// How to mend it, in words.
    pub help: Vec<String>,
    /// How to mend it, as edits.
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// A problem of a kind at a place.
    pub fn new(code: &'static Code, span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity: code.severity,
            message: message.into(),
            span,
            label: String::new(),
            related: Vec::new(),
            help: Vec::new(),
            fix: None,
        }
    }

    /// Says what is to be seen at the place.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds a place that belongs to it.
    #[must_use]
    pub fn related(mut self, span: Span, message: impl Into<String>) -> Self {
        self.related.push(Label {
            span,
            message: message.into(),
        });
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// Adds a repair of one place.
    #[must_use]
    pub fn fix(
        mut self,
        title: impl Into<String>,
        span: Span,
        replacement: impl Into<String>,
    ) -> Self {
        let edit = Edit {
            span,
            replacement: replacement.into(),
        };
        match &mut self.fix {
            Some(fix) => fix.edits.push(edit),
            None => {
                self.fix = Some(Fix {
                    title: title.into(),
                    edits: vec![edit],
                });
            }
        }
        self
    }
}
