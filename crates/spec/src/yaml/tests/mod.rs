#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod reading;

use super::{Document, Limits, Node, Style, Value, load};
use crate::source::{Source, Sources};

/// Reads a text with the usual limits and hands the document over.
fn with<R>(text: &str, check: impl FnOnce(&Source, &Document<'_>) -> R) -> R {
    let sources = Sources::default();
    let source = sources.add("job.yaml", text);
    check(source, &load(source, &Limits::default()))
}

/// The tree in one line: JSON-like, plain scalars bare.
fn show(node: &Node<'_>) -> String {
    let tag = node.tag().map(|tag| format!("{tag} ")).unwrap_or_default();
    let value = match &node.value {
        Value::Scalar(scalar) => match scalar.style {
            Style::Plain => format!("<{}>", scalar.text),
            Style::SingleQuoted => format!("'{}'", scalar.text),
            Style::DoubleQuoted => format!("{:?}", scalar.text),
            Style::Literal => format!("|{:?}", scalar.text),
            Style::Folded => format!(">{:?}", scalar.text),
        },
        Value::List(list) => {
            let items: Vec<_> = list.iter().map(show).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Map(map) => {
            let entries: Vec<_> = map
                .entries
                .iter()
                .map(|entry| format!("{}: {}", entry.key.text, show(&entry.value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
    };
    format!("{tag}{value}")
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
