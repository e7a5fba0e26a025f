//! Short ways to the parts of a document, for the readers of dialects. What is missing or of another
//! kind is nothing: the check of the shape has told of it.

use super::{Entry, Node};
use crate::source::Span;

/// A text and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<'d> {
    /// The text.
    pub text: &'d str,
    /// Where it stands.
    pub span: Span,
}

impl<'d> Name<'d> {
    /// The key of an entry.
    pub fn of_key(entry: &'d Entry<'d>) -> Self {
        Name {
            text: &entry.key.text,
            span: entry.key.span,
        }
    }
}

/// The value of a key.
pub fn value<'d>(node: &'d Node<'d>, key: &str) -> Option<&'d Node<'d>> {
    node.get(key).map(|entry| &entry.value)
}

/// The entries of a mapping; none if it is missing or no mapping.
pub fn entries<'d>(node: Option<&'d Node<'d>>) -> &'d [Entry<'d>] {
    node.and_then(Node::as_map)
        .map(|map| &*map.entries)
        .unwrap_or_default()
}

/// The items of a list; none if it is missing or no list.
pub fn items<'d>(node: Option<&'d Node<'d>>) -> &'d [Node<'d>] {
    node.and_then(Node::as_list).unwrap_or_default()
}

/// A text with its place.
pub fn name<'d>(node: &'d Node<'d>) -> Option<Name<'d>> {
    node.as_text().map(|text| Name {
        text,
        span: node.span,
    })
}

/// The texts of a list.
pub fn names<'d>(list: Option<&'d Node<'d>>) -> Vec<Name<'d>> {
    items(list).iter().filter_map(name).collect()
}

/// A whole number.
pub fn integer(node: &Node<'_>) -> Option<i64> {
    node.as_integer()
        .and_then(|number| i64::try_from(number).ok())
}
