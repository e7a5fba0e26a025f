//! Problems as text for people, as JSON for programs, as SARIF for code review tools.
//!
//! No renderer shows the value of a secret, and none lets the content or the name of a file act on
//! a terminal.

mod json;
mod sarif;
mod text;
mod window;

pub use json::json;
pub use sarif::sarif;
pub use text::{Colour, text};

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;

use super::{Diagnostic, Fix};
use crate::secrets::Redactor;
use crate::source::{Source, SourceId, Sources, Span};

/// Problems with all that is needed to show them. One for each file, or one for all.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The problems in the order in which to show them.
    pub diagnostics: &'a [Diagnostic],
    /// The texts in which they lie.
    pub sources: &'a Sources,
    /// What must not be shown.
    pub redactor: &'a Redactor,
}

/// The page of a code, as a path in the documentation.
fn page_path(code_id: &str) -> String {
    format!("docs/diagnostics/{code_id}.md")
}

/// The repair, unless it would show a secret (with the secret masked it would be no repair) or put
/// several lines into a flag.
fn applicable<'d>(diagnostic: &'d Diagnostic, report: &Report<'_>) -> Option<&'d Fix> {
    diagnostic.fix.as_ref().filter(|fix| {
        fix.edits.iter().all(|edit| {
            let shows_secret = matches!(report.redactor.message(&edit.replacement), Cow::Owned(_));
            let fills_flag =
                edit.replacement.contains('\n') && is_flag(report.sources.get(edit.span.source));
            !shows_secret && !fills_flag
        })
    })
}

/// Whether a source is a flag of the command line, not a file. Its text is the flag's value.
fn is_flag(source: &Source) -> bool {
    source.name().len() > 1 && source.name().starts_with('-')
}

/// Longer messages are cut in the middle: a key in a file can be a megabyte long.
const LONGEST_MESSAGE: usize = 600;

/// A message that shows no secret, of a length that can be read.
fn presentable<'t>(text: &'t str, redactor: &Redactor) -> Cow<'t, str> {
    let text = redactor.message(text);
    let Some((head_end, _)) = text
        .char_indices()
        .nth(LONGEST_MESSAGE)
        .and_then(|_| text.char_indices().nth(LONGEST_MESSAGE * 2 / 3))
    else {
        return text;
    };
    let tail_start = text
        .char_indices()
        .rev()
        .nth(LONGEST_MESSAGE / 3)
        .map_or(text.len(), |(at, _)| at);
    Cow::Owned(format!("{} … {}", &text[..head_end], &text[tail_start..]))
}

/// The character to show for one that a terminal might obey, or that changes the direction of text.
fn harmless(char: char) -> char {
    match char {
        '\t' => '\t',
        '\0'..='\u{1f}' => char::from_u32(0x2400 + char as u32).unwrap_or('\u{fffd}'),
        '\u{7f}' => '␡',
        '\u{80}'..='\u{9f}'
        | '\u{61c}'
        | '\u{200d}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{feff}'
        | window::MARK => '\u{fffd}',
        _ => char,
    }
}

fn harmless_text(text: &str) -> String {
    text.chars()
        .map(|char| match char {
            '\t' => ' ',
            _ => harmless(char),
        })
        .collect()
}

/// A position in a text: line and column from 1, the column in characters, the offset in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
struct Position {
    line: usize,
    column: usize,
    offset: usize,
}

/// Finds positions. Those of one line are counted onward from the last one found, so that many
/// problems on one long line cost no more than one.
#[derive(Default)]
struct Locator {
    last: HashMap<SourceId, Position>,
}

impl Locator {
    fn position(&mut self, source: &Source, offset: usize) -> Position {
        let offset = offset.min(source.text().len());
        let starts = source.line_starts();
        let line = starts
            .partition_point(|start| *start as usize <= offset)
            .max(1);
        let line_start = starts.get(line - 1).copied().unwrap_or_default() as usize;
        let known = self
            .last
            .get(&source.id())
            .copied()
            .filter(|last| last.line == line && last.offset <= offset)
            .unwrap_or(Position {
                line,
                column: 1,
                offset: line_start,
            });
        let between = source.text().get(known.offset..offset).unwrap_or_default();
        let found = Position {
            line,
            column: known.column + between.chars().count(),
            offset,
        };
        self.last.insert(source.id(), found);
        found
    }

    fn start_and_end(&mut self, sources: &Sources, span: Span) -> (Position, Position) {
        let source = sources.get(span.source);
        let range = span.range();
        let start = self.position(source, range.start);
        (start, self.position(source, range.end.max(range.start)))
    }
}

/// JSON that does nothing to a terminal: also those control characters are escaped that JSON lets
/// stand.
fn terminal_safe_json(value: &impl serde::Serialize) -> String {
    // Only maps with keys that are no texts cannot be written, and there are none.
    let json = serde_json::to_string_pretty(value).unwrap_or_default();
    if !json.chars().any(is_quiet_control) {
        return json + "\n";
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for char in json.chars() {
        if is_quiet_control(char) {
            let _ = write!(escaped, "\\u{:04x}", char as u32);
        } else {
            escaped.push(char);
        }
    }
    escaped + "\n"
}

fn is_quiet_control(char: char) -> bool {
    char != '\n' && harmless(char) == '\u{fffd}' && char != '\u{fffd}' || char == '\u{7f}'
}

#[cfg(test)]
mod tests;
