#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;
use crate::yaml::{Entry, Key, Scalar, Style};

/// A tree for `key: value` lines, where two more spaces of indent make a nested mapping; enough to
/// test with.
fn tree(source: &Source) -> Node<'_> {
    fn block<'s>(
        source: &'s Source,
        lines: &mut std::iter::Peekable<std::vec::IntoIter<usize>>,
        indent: usize,
    ) -> Node<'s> {
        let text = source.text();
        let mut map = Map::default();
        while let Some(start) = lines.next_if(|start| {
            let line = text[*start..].lines().next().unwrap();
            line.len() - line.trim_start().len() >= indent
        }) {
            let line = text[start..].lines().next().unwrap();
            if line.trim_start().starts_with('#') {
                continue;
            }
            let (key, value) = line.split_once(':').unwrap();
            let value = value.split(" #").next().unwrap();
            let key_start = start + key.len() - key.trim_start().len();
            let key_span = Span::new(source.id(), key_start, start + key.len());
            let node = if value.trim().is_empty() {
                block(source, lines, indent + 2)
            } else {
                let at = start + key.len() + 1 + value.len() - value.trim_start().len();
                let span = Span::new(source.id(), at, at + value.trim().len());
                let scalar = Scalar {
                    text: unquoted(value.trim()).into(),
                    style: Style::Plain,
                };
                Node::new(span, Value::Scalar(scalar))
            };
            map.entries.push(Entry {
                key: Key {
                    text: key.trim().into(),
                    span: key_span,
                },
                value: node,
                merged: None,
            });
        }
        Node::new(Span::new(source.id(), 0, text.len()), Value::Map(map))
    }
    let starts = source.line_starts().iter().map(|start| *start as usize);
    let starts: Vec<usize> = starts
        .filter(|start| *start < source.text().len())
        .collect();
    block(source, &mut starts.into_iter().peekable(), 0)
}

fn masked(text: &str) -> String {
    let sources = Sources::default();
    let source = sources.add("job.yaml", text);
    Redactor::from_document(&tree(source), &sources).source_text(source)
}

fn masked_broken(text: &str) -> String {
    let sources = Sources::default();
    let source = sources.add("job.yaml", text);
    Redactor::from_broken_text(source).source_text(source)
}

#[test]
fn values_below_secrets_are_masked_and_names_are_not() {
    assert_eq!(
        masked("name: job\nsecrets:\n  a: x\n  deep:\n    b: \"two words\"\nend: 1\n"),
        "name: job\nsecrets:\n  a: •\n  deep:\n    b: •••• ••••••\nend: 1\n"
    );
}

#[test]
fn a_value_is_masked_wherever_it_stands_but_not_in_keys() {
    assert_eq!(
        masked("worker: a-worker-b # worker\nsecrets:\n  w: worker\n"),
        "worker: a-••••••-b # ••••••\nsecrets:\n  w: ••••••\n"
    );
}

#[test]
fn comments_among_secrets_are_masked() {
    assert_eq!(
        masked("secrets: # was x\n  # old: y\n  a: zzzz # z\nb: 1 # kept\n"),
        "secrets: # ••• •\n  # •••• •\n  a: •••• # •\nb: 1 # kept\n"
    );
}

#[test]
fn a_password_is_a_secret_unless_it_names_one() {
    let text = "auth:\n  username: me\n  password: hunter22\n";
    assert_eq!(
        masked(text),
        "auth:\n  username: me\n  password: ••••••••\n"
    );
    let text = "auth:\n  password: <% $secrets.p %>\n";
    assert_eq!(masked(text), text);
}

#[test]
fn messages_lose_what_they_quote() {
    let sources = Sources::default();
    let source = sources.add(
        "job.yaml",
        "secrets:\n  a: Tr0ub4dor\n  b: name\n  c: abc\n",
    );
    let redactor = Redactor::from_document(&tree(source), &sources);
    assert_eq!(
        redactor.message("no `xTr0ub4dorx` here"),
        "no `x••••x` here"
    );
    assert_eq!(
        redactor.message("`username` is no `name`"),
        "`username` is no `••••`"
    );
    assert_eq!(
        redactor.message("`abc` is too short to mask"),
        "`abc` is too short to mask"
    );
    assert_eq!(format!("{redactor:?}"), "Redactor { places: 3, .. }");
}

#[test]
fn flags_and_stars_are_not_looked_for() {
    assert_eq!(
        masked("a: true\nsecrets:\n  b: true\n"),
        "a: true\nsecrets:\n  b: ••••\n"
    );
    assert_eq!(
        masked("a: ******\nsecrets: ******\n"),
        "a: ******\nsecrets: ••••••\n"
    );
}

#[test]
fn a_broken_block_is_masked_to_its_end() {
    assert_eq!(
        masked_broken("a: [1\nsecrets :\n  x: one\n\tbad\n- odd\n  k: |\n   lines\n\nnext: 1\n"),
        "a: [1\nsecrets :\n  •• •••\n\t•••\n• •••\n  •• •\n   •••••\n\nnext: 1\n"
    );
    assert_eq!(masked_broken("'secrets': abc"), "'secrets': •••");
    assert_eq!(
        masked_broken("? secrets\n: abc\nb: 1"),
        "? secrets\n• •••\n•• •"
    );
}

#[test]
fn a_broken_flow_is_masked_to_its_end() {
    assert_eq!(
        masked_broken(r#"{"a": 1, "secrets": {"x": "}y", "z": [1]}, "b": 2"#),
        r#"{"a": 1, "secrets": ••••• ••••• •••• ••••, "b": 2"#
    );
    assert_eq!(
        masked_broken("secrets: {a: b,\n c: d"),
        "secrets: ••• ••\n •• •"
    );
    assert_eq!(
        masked_broken("{x: 1, secrets: abcd, y: abcd}"),
        "{x: 1, secrets: ••••, y: ••••}"
    );
    assert_eq!(
        masked_broken("secrets: &x !y {a: b}\nc: d"),
        "secrets: •• •• ••• ••\nc: d"
    );
}

#[test]
fn a_value_of_a_broken_file_is_masked_elsewhere() {
    assert_eq!(
        masked_broken("secrets:\n  token: s3cr3t\nrun: echo s3cr3t [\n"),
        "secrets:\n  •••••• ••••••\nrun: echo •••••• [\n"
    );
}

#[test]
fn long_hostile_lines_take_linear_time() {
    masked_broken(&("   ".repeat(100_000) + &"secrets ".repeat(100_000)));
    masked_broken(&"{secrets:!x,".repeat(100_000));
    masked_broken(&"secrets: {\n".repeat(100_000));
}

proptest! {
    #[test]
    fn no_value_survives_in_a_broken_text(
        before in "[ \\na-z:{\\[]{0,20}",
        value in "[A-Z0-9]{6,12}",
        after in "[ \\na-z}\\]\"']{0,20}",
    ) {
        let text = format!("{before}\nsecrets:\n  key: {value}\n{after} {value}\n");
        prop_assert!(!masked_broken(&text).contains(&value));
        let text = format!("{{\"secrets\": {{\"key\": \"{value}\"{after} {value}\n");
        prop_assert!(!masked_broken(&text).contains(&value));
    }

    #[test]
    fn any_text_is_fine(text in "\\PC*") {
        masked_broken(&text);
        masked_broken(&format!("secrets: {text}"));
    }
}
