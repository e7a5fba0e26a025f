#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod differential;
mod hostile;
mod oracle;
mod problems;
mod reading;
mod robustness;
mod spans;
mod suite;

use std::fmt::Write as _;

use super::{Document, Limits, Node, Style, Value, load};
use crate::source::{Source, Sources, Span};

/// Reads a text with the usual limits and hands the document over.
fn with<R>(text: &str, check: impl FnOnce(&Source, &Document<'_>) -> R) -> R {
    let sources = Sources::default();
    let source = sources.add("job.yaml", text);
    check(source, &load(source, &Limits::default()))
}

/// The tree in one line, with tags.
fn show(node: &Node<'_>) -> String {
    show_with(node, true)
}

fn show_untagged(node: &Node<'_>) -> String {
    show_with(node, false)
}

fn show_with(node: &Node<'_>, tags: bool) -> String {
    let tag = node
        .tag()
        .filter(|_| tags)
        .map(|tag| format!("{tag} "))
        .unwrap_or_default();
    let value = match &node.value {
        Value::Scalar(scalar) => show_scalar(&scalar.text, scalar.style),
        Value::List(list) => {
            let items: Vec<_> = list.iter().map(|node| show_with(node, tags)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Map(map) => {
            let entries: Vec<_> = map
                .entries
                .iter()
                .map(|entry| format!("{}: {}", entry.key.text, show_with(&entry.value, tags)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
    };
    format!("{tag}{value}")
}

fn show_scalar(text: &str, style: Style) -> String {
    match style {
        Style::Plain => format!("<{text}>"),
        Style::SingleQuoted => format!("'{text}'"),
        Style::DoubleQuoted => format!("{text:?}"),
        Style::Literal => format!("|{text:?}"),
        Style::Folded => format!(">{text:?}"),
    }
}

/// The tree of a text that must be without problems.
fn tree(text: &str) -> String {
    with(text, |source, document| {
        let problems: Vec<_> = document
            .diagnostics
            .iter()
            .map(|problem| {
                format!(
                    "{:?}: {}",
                    source.place(problem.span.start),
                    problem.message
                )
            })
            .collect();
        assert!(problems.is_empty(), "{text:?}: {problems:#?}");
        assert!(document.complete);
        document.root.as_ref().map(show).unwrap_or_default()
    })
}

/// What is said about a text: one line for each problem, `line:column "marked text" code message`,
/// then ` -> related` places and the text of the repaired line.
fn problems(text: &str) -> Vec<String> {
    with(text, |source, document| {
        let place = |span: Span| {
            let place = source.place(span.start);
            format!("{}:{} {:?}", place.line, place.column, source.slice(span))
        };
        document
            .diagnostics
            .iter()
            .map(|problem| {
                let mut line = format!(
                    "{} {} {}",
                    place(problem.span),
                    problem.code.id,
                    problem.message
                );
                for related in &problem.related {
                    let _ = write!(line, " -> {} {}", place(related.span), related.message);
                }
                line
            })
            .collect()
    })
}

/// The text after all offered repairs are made.
fn repaired(text: &str) -> String {
    with(text, |_, document| {
        let mut edits: Vec<_> = document
            .diagnostics
            .iter()
            .filter_map(|problem| problem.fix.as_ref())
            .flat_map(|fix| &fix.edits)
            .collect();
        edits.sort_by_key(|edit| edit.span.start);
        let mut text = text.to_owned();
        for edit in edits.into_iter().rev() {
            text.replace_range(edit.span.range(), &edit.replacement);
        }
        text
    })
}
