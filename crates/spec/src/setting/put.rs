//! A value at one place of a document, which is made if it is not there.

use super::parameter::{entry_mut, item_mut};
use crate::jsonpath::{NamedStep, Step};
use crate::source::Span;
use crate::yaml::node::{By, Kind, Replaced};
use crate::yaml::{Entry, Key, Map, Node, Value};

/// Who puts it there.
pub(crate) struct Author<'a> {
    pub(crate) by: By,
    /// Where a step of the path is written.
    pub(crate) span: &'a dyn Fn(&NamedStep) -> Span,
}

/// A path cannot be made, because something else stands in its way.
pub(crate) struct NothingThere {
    /// What stands above the step.
    pub(crate) kind: Kind,
    pub(crate) step: NamedStep,
}

/// Puts a value where another stood.
pub(crate) fn replace<'s>(node: &mut Node<'s>, value: Node<'s>, by: By) {
    let was = std::mem::replace(node, value);
    node.set_replaced(Replaced { by, was: Some(was) });
}

/// A value that stands where nothing stood.
pub(crate) fn made(mut node: Node<'_>, by: By) -> Node<'_> {
    node.set_replaced(Replaced { by, was: None });
    node
}

/// Puts a value at the end of a path, and makes the keys that are not there.
pub(crate) fn put<'s>(
    root: &mut Node<'s>,
    steps: &[NamedStep],
    given: Node<'s>,
    author: &Author<'_>,
) -> Result<(), NothingThere> {
    let mut node = root;
    for (depth, step) in steps.iter().enumerate() {
        let kind = node.kind();
        node = match &step.step {
            Step::Key(key) if matches!(kind, Kind::Map | Kind::Null) => {
                if entry_mut(node, key).is_none() {
                    let rest = steps.get(depth + 1..).unwrap_or_default();
                    let created = nest(rest, given, author)?;
                    insert(node, step, key, created, author);
                    return Ok(());
                }
                entry_mut(node, key)
            }
            Step::Key(_) => None,
            Step::Index(index) => item_mut(node, *index),
        }
        .ok_or_else(|| NothingThere {
            kind,
            step: step.clone(),
        })?;
    }
    replace(node, given, author.by.clone());
    Ok(())
}

/// The value below keys that do not exist yet.
fn nest<'s>(
    steps: &[NamedStep],
    given: Node<'s>,
    author: &Author<'_>,
) -> Result<Node<'s>, NothingThere> {
    let mut node = made(given, author.by.clone());
    for step in steps.iter().rev() {
        let Step::Key(key) = &step.step else {
            return Err(NothingThere {
                kind: Kind::Null,
                step: step.clone(),
            });
        };
        let span = (author.span)(step);
        let entry = Entry {
            key: Key {
                text: key.clone().into(),
                span,
            },
            value: node,
            merged: None,
        };
        let map = Map {
            entries: vec![entry],
        };
        node = made(Node::new(span, Value::Map(map)), author.by.clone());
    }
    Ok(node)
}

fn insert<'s>(
    node: &mut Node<'s>,
    step: &NamedStep,
    key: &str,
    value: Node<'s>,
    author: &Author<'_>,
) {
    let span = (author.span)(step);
    if node.is_null() {
        let empty = Node::new(span, Value::Map(Map::default()));
        replace(node, empty, author.by.clone());
    }
    if let Value::Map(map) = &mut node.value {
        map.entries.push(Entry {
            key: Key {
                text: key.to_owned().into(),
                span,
            },
            value,
            merged: None,
        });
    }
}
