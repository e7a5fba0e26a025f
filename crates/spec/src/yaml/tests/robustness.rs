//! No text makes the reader panic, and whatever it says holds together.

use proptest::prelude::*;

use super::{differential::soup, with};
use crate::source::{Source, Span};
use crate::yaml::{Document, Limits, Node, Value, decode};

const SEEDS: [&str; 4] = [
    include_str!("../../../../../examples/sweep.yaml"),
    include_str!("../../../../../examples/quickstart.yaml"),
    include_str!("../../../../../examples/hello.yaml"),
    "{\"a\": [1, {\"b\": null}], \"c\\u00e9\": \"d\\\n\"}\n? x\n: - y\n  - !!str z\n%TAG",
];

fn holds_together(source: &Source, document: &Document<'_>) {
    let in_text = |span: Span| {
        let range = span.range();
        assert!(
            source.text().get(range.clone()).is_some(),
            "{range:?} in {:?}",
            source.text()
        );
    };
    if let Some(root) = &document.root {
        walk(root, &in_text);
    }
    document
        .comments
        .iter()
        .for_each(|comment| in_text(comment.span));
    let lossy = document
        .diagnostics
        .iter()
        .any(|problem| problem.code.id != "P0102");
    assert!(document.complete != lossy || !document.complete);
    for problem in document.diagnostics.iter() {
        assert!(!problem.message.is_empty());
        in_text(problem.span);
        problem.related.iter().for_each(|label| in_text(label.span));
        let mut end = 0;
        for edit in problem.fix.iter().flat_map(|fix| &fix.edits) {
            in_text(edit.span);
            assert!(
                edit.span.start >= end,
                "overlapping edits in {:?}",
                source.text()
            );
            end = edit.span.end;
        }
    }
}

fn walk(node: &Node<'_>, in_text: &impl Fn(Span)) {
    in_text(node.span);
    match &node.value {
        Value::Scalar(_) => {}
        Value::List(list) => {
            for item in list {
                walk(item, in_text);
                assert!(item.alias().is_some() || inside(item.span, node.span));
            }
        }
        Value::Map(map) => {
            for entry in &map.entries {
                in_text(entry.key.span);
                walk(&entry.value, in_text);
                let moved = entry.merged.is_some() || entry.value.alias().is_some();
                assert!(moved || inside(entry.value.span, node.span));
            }
        }
    }
}

fn inside(inner: Span, outer: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

proptest! {
    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        match decode(bytes, &Limits::default()) {
            Ok(text) => with(&text, holds_together),
            Err(problem) => with(&problem.text, |source, document| {
                holds_together(source, document);
                let diagnostic = problem.diagnostic(source);
                prop_assert!(source.text().get(diagnostic.span.range()).is_some());
                Ok(())
            })?,
        }
    }

    #[test]
    fn any_characters_are_read(text in "(\\PC|[\n\t :#&*!|>'\"\\[\\]{},?-]){0,80}") {
        with(&text, holds_together);
    }

    #[test]
    fn any_bits_of_yaml_are_read(text in soup()) {
        with(&text, holds_together);
    }

    #[test]
    fn any_damaged_file_is_read(
        seed in 0..SEEDS.len(),
        damages in prop::collection::vec((any::<prop::sample::Index>(), 0usize..30, soup()), 1..4),
    ) {
        let mut text = SEEDS[seed].to_owned();
        for (at, length, bits) in damages {
            let boundary = |at: usize| (at..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
            let start = boundary(at.index(text.len().max(1)));
            let end = boundary((start + length).min(text.len()));
            text.replace_range(start..end, &bits);
        }
        with(&text, holds_together);
    }
}

#[test]
fn a_tab_inside_a_key_in_brackets_does_not_indent_it() {
    with("- {a,\t}: b", holds_together);
}

#[test]
fn any_beginning_of_a_file_is_read() {
    for seed in SEEDS {
        for end in (0..seed.len()).filter(|end| seed.is_char_boundary(*end)) {
            with(&seed[..end], holds_together);
        }
    }
}
