//! What reading a text gives, and how much of a text is read at most.

use super::Node;
use crate::diagnostic::Diagnostics;
use crate::source::Span;

/// A text as a tree, with the problems found on the way.
#[derive(Debug, Default)]
pub struct Document<'s> {
    /// The tree. Missing if the text holds none.
    pub root: Option<Node<'s>>,
    /// The comments in the order written.
    pub comments: Vec<Comment<'s>>,
    /// Whether the tree has all that the text says. If not, something may only seem to be missing.
    pub complete: bool,
    /// What is wrong with the text.
    pub diagnostics: Diagnostics,
}

/// A comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment<'s> {
    /// From the `#` to the end of its line.
    pub span: Span,
    /// What stands after the `#`, without blanks around it.
    pub text: &'s str,
}

/// Bounds that keep a hostile text from costing more than it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Deepest nesting.
    pub depth: usize,
    /// Most nodes once aliases are expanded. A long text that an alias repeats counts as several.
    pub nodes: usize,
    /// Longest text.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            depth: 100,
            nodes: 200_000,
            bytes: 4 << 20,
        }
    }
}
