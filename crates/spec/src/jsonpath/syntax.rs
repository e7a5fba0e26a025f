//! A query as data.

use super::NamedStep;
use super::pattern::Pattern;

/// Goes from nodes to nodes below them.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    /// Whether it looks at all depths.
    pub(super) descendant: bool,
    pub(super) selectors: Vec<Selector>,
    /// The bytes of the text that say it, without a dot before a name.
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Segment {
    /// The step, if it leads to at most one node.
    pub(super) fn singular(&self) -> Option<NamedStep> {
        let step = match self.selectors.as_slice() {
            [Selector::Name(name)] if !self.descendant => Step::Key(name.clone()),
            [Selector::Index(index)] if !self.descendant => Step::Index(*index),
            _ => return None,
        };
        Some(NamedStep {
            step,
            start: self.start,
            end: self.end,
        })
    }
}

/// A step from a node to one below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// To the value of a key.
    Key(String),
    /// To an item of a list; from its end if negative.
    Index(i64),
}

#[derive(Clone, Debug)]
pub(super) enum Selector {
    Name(String),
    Wildcard,
    Index(i64),
    Slice {
        start: Option<i64>,
        end: Option<i64>,
        step: i64,
    },
    Filter(Logical),
}

/// What is true or false of a node.
#[derive(Clone, Debug)]
pub(super) enum Logical {
    Or(Vec<Logical>),
    And(Vec<Logical>),
    Not(Box<Logical>),
    Compare(Comparable, Comparison, Comparable),
    Exists(Nodes),
    Match(Box<MatchCall>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A query inside a filter.
#[derive(Clone, Debug)]
pub(super) struct Nodes {
    /// Whether it starts at the node that is asked about (`@`), not at the root.
    pub(super) relative: bool,
    pub(super) segments: Vec<Segment>,
}

impl Nodes {
    pub(super) fn is_singular(&self) -> bool {
        self.segments
            .iter()
            .all(|segment| segment.singular().is_some())
    }
}

/// One value, or nothing.
#[derive(Clone, Debug)]
pub(super) enum Comparable {
    Literal(Literal),
    /// The node of a singular query.
    Single(Nodes),
    /// `length(…)`
    Length(Box<Comparable>),
    /// `count(…)`
    Count(Nodes),
    /// `value(…)`
    Value(Nodes),
}

/// `match(…)` or `search(…)`.
#[derive(Clone, Debug)]
pub(super) struct MatchCall {
    pub(super) text: Comparable,
    pub(super) pattern: MatchPattern,
    /// Whether the pattern must fit the whole text.
    pub(super) whole: bool,
}

#[derive(Clone, Debug)]
pub(super) enum MatchPattern {
    /// Written in the query; `None` if it is no regular expression, which then fits nothing.
    Fixed(Option<Pattern>),
    /// Taken from the document.
    Asked(Comparable),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
}
