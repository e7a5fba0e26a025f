//! Two configurations become one: mappings are merged, of all else the later counts.

use crate::source::Span;
use crate::yaml::{Entry, Key, Map, Node, Value};

/// Merges values into a tree.
pub(super) fn merge<'s>(into: &mut Node<'s>, from: Node<'s>) {
    let (span, value) = (from.span, from.value);
    match (&mut into.value, value) {
        (Value::Map(_), Value::Map(more)) => {
            for entry in more.entries {
                match into.position(&entry.key.text) {
                    Some(at) => {
                        if let Value::Map(map) = &mut into.value
                            && let Some(known) = map.entries.get_mut(at)
                        {
                            merge(&mut known.value, entry.value);
                        }
                    }
                    None => {
                        if let Value::Map(map) = &mut into.value {
                            map.entries.push(entry);
                        }
                    }
                }
            }
        }
        (_, value) => *into = Node::new(span, value),
    }
}

/// Values below keys.
pub(super) fn below<'s>(values: Node<'s>, keys: &[String], span: Span) -> Node<'s> {
    keys.iter().rev().fold(values, |value, key| {
        let entry = Entry {
            key: Key {
                text: key.clone().into(),
                span,
            },
            value,
            merged: None,
        };
        let map = Map {
            entries: vec![entry],
        };
        Node::new(span, Value::Map(map))
    })
}
