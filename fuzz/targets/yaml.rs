//! Any bytes: no panic, no hang, and every place that the reader names lies in the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pinnace_spec::source::{Source, Sources, Span};
use pinnace_spec::yaml::{Limits, Node, Value, decode, load};

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits {
        nodes: 20_000,
        ..Limits::default()
    };
    let text = match decode(bytes.to_vec(), &limits) {
        Ok(text) => text,
        Err(problem) => problem.text,
    };
    let sources = Sources::default();
    let source = sources.add("fuzz.yaml", text);
    let document = load(source, &limits);
    if let Some(root) = &document.root {
        walk(source, root);
    }
    for comment in &document.comments {
        check(source, comment.span);
    }
    for problem in document.diagnostics.iter() {
        check(source, problem.span);
        problem
            .related
            .iter()
            .for_each(|label| check(source, label.span));
        for edit in problem.fix.iter().flat_map(|fix| &fix.edits) {
            check(source, edit.span);
        }
    }
});

fn walk(source: &Source, node: &Node<'_>) {
    check(source, node.span);
    match &node.value {
        Value::Scalar(_) => {}
        Value::List(list) => list.iter().for_each(|item| walk(source, item)),
        Value::Map(map) => {
            for entry in &map.entries {
                check(source, entry.key.span);
                walk(source, &entry.value);
            }
        }
    }
}

fn check(source: &Source, span: Span) {
    assert!(
        source.text().get(span.range()).is_some(),
        "{span:?} is not in the text"
    );
}
