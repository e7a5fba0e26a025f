//! For programs. The form is documented in `docs/diagnostics/README.md`; a change of meaning raises
//! [`FORMAT`].

use serde::Serialize;

use super::{Locator, Position, Report, applicable, page_path, presentable};
use crate::diagnostic::{Counts, Diagnostic, Severity};
use crate::source::{Sources, Span};

const FORMAT: &str = "pinnace.diagnostics/1";

#[derive(Serialize)]
struct Output {
    format: &'static str,
    diagnostics: Vec<Entry>,
    summary: Summary,
}

#[derive(Serialize)]
struct Summary {
    errors: usize,
    warnings: usize,
    files: usize,
}

#[derive(Serialize)]
struct Entry {
    code: &'static str,
    name: &'static str,
    severity: &'static str,
    message: String,
    file: String,
    span: Range,
    label: String,
    related: Vec<Related>,
    help: Vec<String>,
    fix: Option<Repair>,
    page: String,
}

#[derive(Serialize)]
struct Range {
    start: Position,
    end: Position,
}

#[derive(Serialize)]
struct Related {
    message: String,
    file: String,
    span: Range,
}

#[derive(Serialize)]
struct Repair {
    title: String,
    edits: Vec<Change>,
}

#[derive(Serialize)]
struct Change {
    file: String,
    span: Range,
    replacement: String,
}

/// All problems as one JSON object; `files` is the number of files that were looked at.
pub fn json(reports: &[Report<'_>], files: usize) -> String {
    let mut diagnostics = Vec::new();
    for report in reports {
        let mut locator = Locator::default();
        diagnostics.extend(
            report
                .diagnostics
                .iter()
                .map(|diagnostic| entry(diagnostic, report, &mut locator)),
        );
    }
    let counts = Counts::of(reports.iter().flat_map(|report| report.diagnostics));
    super::terminal_safe_json(&Output {
        format: FORMAT,
        diagnostics,
        summary: Summary {
            errors: counts.errors,
            warnings: counts.warnings,
            files,
        },
    })
}

fn entry(diagnostic: &Diagnostic, report: &Report<'_>, locator: &mut Locator) -> Entry {
    let sources = report.sources;
    let shown = |text: &str| presentable(text, report.redactor).into_owned();
    Entry {
        code: diagnostic.code.id,
        name: diagnostic.code.name,
        severity: match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        message: shown(&diagnostic.message),
        file: file(sources, diagnostic.span),
        span: range(sources, diagnostic.span, locator),
        label: shown(&diagnostic.label),
        related: diagnostic
            .related
            .iter()
            .map(|related| Related {
                message: shown(&related.message),
                file: file(sources, related.span),
                span: range(sources, related.span, locator),
            })
            .collect(),
        help: diagnostic.help.iter().map(|help| shown(help)).collect(),
        fix: applicable(diagnostic, report).map(|fix| Repair {
            title: shown(&fix.title),
            edits: fix
                .edits
                .iter()
                .map(|edit| Change {
                    file: file(sources, edit.span),
                    span: range(sources, edit.span, locator),
                    replacement: edit.replacement.clone(),
                })
                .collect(),
        }),
        page: page_path(diagnostic.code.id),
    }
}

fn file(sources: &Sources, span: Span) -> String {
    sources.get(span.source).name().to_owned()
}

fn range(sources: &Sources, span: Span, locator: &mut Locator) -> Range {
    let (start, end) = locator.start_and_end(sources, span);
    Range { start, end }
}
