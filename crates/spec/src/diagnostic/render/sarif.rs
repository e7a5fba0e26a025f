//! For code review tools: SARIF 2.1.0.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Locator, Report, applicable, is_flag, page_path, presentable};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::source::{SourceId, Span};

/// All problems as one SARIF log; `version` is that of the program.
pub fn sarif(reports: &[Report<'_>], version: &str) -> String {
    let mut rules: Vec<&'static Code> = reports
        .iter()
        .flat_map(|report| report.diagnostics)
        .map(|diagnostic| diagnostic.code)
        .collect();
    rules.sort_unstable_by_key(|code| code.id);
    rules.dedup();
    let mut results = Vec::new();
    for report in reports {
        let mut locator = Locator::default();
        for diagnostic in report.diagnostics {
            results.push(result(diagnostic, report, &rules, &mut locator));
        }
    }
    super::terminal_safe_json(&json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {
                "driver": {
                    "name": "pinnace",
                    "version": version,
                    "rules": rules.iter().map(|code| rule(code)).collect::<Vec<_>>(),
                }
            },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    }))
}

fn rule(code: &Code) -> Value {
    json!({
        "id": code.id,
        "name": code.name,
        "shortDescription": { "text": code.summary },
        "helpUri": page_path(code.id),
        "defaultConfiguration": { "level": level(code.severity) },
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

fn result(
    diagnostic: &Diagnostic,
    report: &Report<'_>,
    rules: &[&Code],
    locator: &mut Locator,
) -> Value {
    let shown = |text: &str| presentable(text, report.redactor).into_owned();
    let mut message = shown(&diagnostic.message);
    for help in &diagnostic.help {
        message.push_str("\nhelp: ");
        message.push_str(&shown(help));
    }
    let mut result = json!({
        "ruleId": diagnostic.code.id,
        "ruleIndex": rules.iter().position(|code| code.id == diagnostic.code.id),
        "level": level(diagnostic.severity),
        "message": { "text": message },
        "locations": [location(diagnostic.span, &shown(&diagnostic.label), report, locator)],
    });
    if !diagnostic.related.is_empty() {
        let related = diagnostic.related.iter().enumerate().map(|(index, label)| {
            let mut place = location(label.span, &shown(&label.message), report, locator);
            place["id"] = json!(index + 1);
            place
        });
        result["relatedLocations"] = related.collect();
    }
    if let Some(fix) = applicable(diagnostic, report) {
        let mut files: Vec<SourceId> = fix.edits.iter().map(|edit| edit.span.source).collect();
        files.sort_unstable();
        files.dedup();
        let changes = files.into_iter().map(|file| {
            let edits = fix.edits.iter().filter(|edit| edit.span.source == file);
            let replacements = edits.map(|edit| {
                json!({
                    "deletedRegion": region(edit.span, report, locator),
                    "insertedContent": { "text": edit.replacement },
                })
            });
            json!({
                "artifactLocation": { "uri": uri(report.sources.get(file).name()) },
                "replacements": replacements.collect::<Vec<_>>(),
            })
        });
        result["fixes"] = json!([{
            "description": { "text": shown(&fix.title) },
            "artifactChanges": changes.collect::<Vec<_>>(),
        }]);
    }
    result
}

fn location(span: Span, message: &str, report: &Report<'_>, locator: &mut Locator) -> Value {
    let source = report.sources.get(span.source);
    let mut location = if is_flag(source) {
        json!({ "logicalLocations": [{ "name": source.name(), "kind": "parameter" }] })
    } else {
        json!({
            "physicalLocation": {
                "artifactLocation": { "uri": uri(source.name()) },
                "region": region(span, report, locator),
            }
        })
    };
    if !message.is_empty() {
        location["message"] = json!({ "text": message });
    }
    location
}

fn region(span: Span, report: &Report<'_>, locator: &mut Locator) -> Value {
    let (start, end) = locator.start_and_end(report.sources, span);
    json!({
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
        "byteOffset": start.offset,
        "byteLength": end.offset.saturating_sub(start.offset),
    })
}

/// The name of a file as a URI, relative if the name is.
fn uri(name: &str) -> String {
    let mut uri = String::with_capacity(name.len());
    if name.starts_with('/') {
        uri.push_str("file://");
    }
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            b'\\' => uri.push('/'),
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}
