//! Every fix that is offered mends its problem and leaves the rest of the text readable.

use std::fmt::Write as _;

use serde_json::Value;

use super::schema::{documents, mutations};
use super::{apply, load, problems};
use crate::source::Sources;

/// The document in block style, as people write it.
fn block(value: &Value, indent: usize, out: &mut String) {
    let pad = " ".repeat(indent);
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (index, (key, value)) in map.iter().enumerate() {
                let lead = if index == 0 { "" } else { &pad };
                let is_plain = key.bytes().all(|byte| byte.is_ascii_alphabetic());
                let quote = if is_plain { "" } else { "\"" };
                let _ = write!(out, "{lead}{quote}{key}{quote}:");
                nested(value, indent + 2, out);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { &pad });
                out.push_str("- ");
                block(item, indent + 2, out);
            }
        }
        other => {
            let _ = writeln!(out, "{other}");
        }
    }
}

fn nested(value: &Value, indent: usize, out: &mut String) {
    let is_block = match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    };
    if is_block {
        let _ = write!(out, "\n{:indent$}", "");
    } else {
        out.push(' ');
    }
    block(value, indent, out);
}

fn assert_every_fix_mends(what: &str, text: &str) -> usize {
    let (_, list) = problems(text);
    let mut fixes = 0;
    for problem in &list {
        let Some(fix) = &problem.fix else { continue };
        fixes += 1;
        let mended = apply(text, fix.edits.iter());
        let sources = Sources::default();
        load(sources.add("mended.yaml", mended.as_str()));
        let (_, after) = problems(&mended);
        let is_same = |other: &&crate::diagnostic::Diagnostic| {
            (other.code, &other.message) == (problem.code, &problem.message)
        };
        let before = list.iter().filter(is_same).count();
        assert!(
            after.iter().filter(is_same).count() < before,
            "{what}: `{}` does not mend: {}\n{mended}",
            fix.title,
            problem.message
        );
    }
    fixes
}

#[test]
fn every_fix_mends_its_problem() {
    let (_, document) = documents().next().unwrap();
    let mut count = 0;
    let mut fixes = 0;
    mutations(document, |what, changed| {
        count += 1;
        // A sample, in both styles: reading each text takes its time.
        if count % 23 == 0 {
            let mut text = String::new();
            block(changed, 0, &mut text);
            fixes += assert_every_fix_mends(what, &text);
        } else if count % 57 == 0 {
            fixes += assert_every_fix_mends(what, &changed.to_string());
        }
    });
    assert!(fixes > 50, "{fixes} fixes of {count} documents");
}
