//! Reads a document for tests.

use granit_parser::{Event, Parser, ScalarStyle};

use crate::source::{Source, Span};
use crate::yaml::{Entry, Key, Map, Node, Scalar, Style, Value};

/// The document of a text without mistakes.
pub(super) fn load(source: &Source) -> Node<'_> {
    let mut anchors = Vec::new();
    let mut events = Parser::new_from_str(source.text())
        .map(|event| event.unwrap())
        .filter(|(event, _)| !matches!(event, Event::Comment(..)));
    for (event, span) in events.by_ref() {
        if matches!(event, Event::DocumentStart(..)) {
            break;
        }
        let _ = span;
    }
    let first = events.next().unwrap();
    node(source, first, &mut events, &mut anchors)
}

type Item<'s> = (Event<'s>, granit_parser::Span);

fn node<'s>(
    source: &'s Source,
    (event, at): Item<'s>,
    events: &mut impl Iterator<Item = Item<'s>>,
    anchors: &mut Vec<(usize, Node<'s>)>,
) -> Node<'s> {
    let range = at.byte_range().unwrap();
    let start = range.start;
    let span = |end: usize| Span::new(source.id(), start, end);
    let (anchor, node) = match event {
        Event::Scalar(text, style, anchor, _) => {
            let style = match style {
                ScalarStyle::Plain => Style::Plain,
                ScalarStyle::SingleQuoted => Style::SingleQuoted,
                ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
                ScalarStyle::Literal => Style::Literal,
                ScalarStyle::Folded => Style::Folded,
            };
            (
                anchor,
                Node::new(span(range.end), Value::Scalar(Scalar { text, style })),
            )
        }
        Event::SequenceStart(_, anchor, _) => {
            let mut items: Vec<Node<'s>> = Vec::new();
            let end = loop {
                match events.next().unwrap() {
                    (Event::SequenceEnd, at) => break at.byte_range().unwrap().end,
                    item => items.push(self::node(source, item, events, anchors)),
                }
            };
            (anchor, Node::new(span(end), Value::List(items)))
        }
        Event::MappingStart(_, anchor, _) => {
            let mut map = Map::default();
            let mut merged = Vec::new();
            let end = loop {
                let key = match events.next().unwrap() {
                    (Event::MappingEnd, at) => break at.byte_range().unwrap().end,
                    key => self::node(source, key, events, anchors),
                };
                let item = events.next().unwrap();
                let value = self::node(source, item, events, anchors);
                let text = key.as_scalar().unwrap().text.clone();
                if text == "<<" {
                    for entry in &value.as_map().unwrap().entries {
                        let mut entry = entry.clone();
                        entry.merged = Some(key.span);
                        merged.push(entry);
                    }
                    continue;
                }
                let key = Key {
                    text,
                    span: key.span,
                };
                map.entries.push(Entry {
                    key,
                    value,
                    merged: None,
                });
            };
            merged.retain(|entry| map.get(&entry.key.text).is_none());
            map.entries.extend(merged);
            (anchor, Node::new(span(end), Value::Map(map)))
        }
        Event::Alias(id) => {
            let (_, target) = anchors.iter().find(|(anchor, _)| *anchor == id).unwrap();
            let mut copy = target.clone();
            copy.set_alias(span(range.end));
            (0, copy)
        }
        other => panic!("{other:?}"),
    };
    if anchor > 0 {
        anchors.push((anchor, node.clone()));
    }
    node
}
