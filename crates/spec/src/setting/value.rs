//! The right side of a flag, read as YAML.

use super::Typed;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::{Sources, Span};
use crate::yaml::{self, Limits, Node, Scalar, Style, Value};

/// The value, with its spans in the text of the flag. An empty one is an empty text.
pub(super) fn read<'s>(
    setting: &Typed<'s>,
    sources: &'s Sources,
    diagnostics: &mut Diagnostics,
) -> Option<Node<'s>> {
    let text = setting.value_text();
    if text.trim().is_empty() {
        let scalar = Scalar {
            text: "".into(),
            style: Style::DoubleQuoted,
        };
        return Some(Node::new(setting.value, Value::Scalar(scalar)));
    }
    // The reader reads whole texts, so the value is read as one and moved to its place afterwards.
    let alone = sources.add(setting.source.name(), text);
    let document = yaml::load(alone, &Limits::default());
    let sound = !document.diagnostics.has_errors();
    for mut diagnostic in document.diagnostics.into_vec() {
        move_diagnostic(&mut diagnostic, setting.value);
        diagnostics.push(diagnostic);
    }
    let mut root = document.root.filter(|_| sound)?;
    move_node(&mut root, setting.value);
    Some(root)
}

fn moved(span: Span, to: Span) -> Span {
    to.part(span.start as usize, span.end as usize)
}

fn move_node(node: &mut Node<'_>, to: Span) {
    node.span = moved(node.span, to);
    if let Some(alias) = node.alias() {
        node.set_alias(moved(alias, to));
    }
    match &mut node.value {
        Value::Scalar(_) => {}
        Value::List(list) => list.iter_mut().for_each(|item| move_node(item, to)),
        Value::Map(map) => {
            for entry in &mut map.entries {
                entry.key.span = moved(entry.key.span, to);
                entry.merged = entry.merged.map(|merged| moved(merged, to));
                move_node(&mut entry.value, to);
            }
        }
    }
}

fn move_diagnostic(diagnostic: &mut Diagnostic, to: Span) {
    diagnostic.span = moved(diagnostic.span, to);
    for label in &mut diagnostic.related {
        label.span = moved(label.span, to);
    }
    for edit in diagnostic.fix.iter_mut().flat_map(|fix| &mut fix.edits) {
        edit.span = moved(edit.span, to);
    }
}
