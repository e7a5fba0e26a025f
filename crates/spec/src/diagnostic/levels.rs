//! Which warnings the user wants to hear: by flags for the whole run, by comments for a line or a
//! file.
//!
//! `# pinnace: allow(unused-parameter, P0208)` behind a line speaks for that line, on a line of
//! its own for the next one that is neither blank nor a comment. If that line opens a block scalar,
//! the block's lines are meant too, since no comment can stand inside. `# pinnace: allow-file(…)`
//! speaks for its whole file. A comment is nearer to the problem than a flag and wins.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::{Code, Diagnostic, Diagnostics, Severity, codes, suggest};
use crate::source::{Source, SourceId, Span};

/// What the user's flags say about warnings.
#[derive(Clone, Debug, Default)]
pub struct Levels {
    allow: Vec<&'static Code>,
    deny: Vec<&'static Code>,
    deny_warnings: bool,
}

impl Levels {
    /// Makes every warning an error.
    pub fn deny_warnings(&mut self) {
        self.deny_warnings = true;
    }

    /// Hides a warning. `flag` is the text of the flag's value: one code, by id or name, or several
    /// with commas between them.
    pub fn allow(&mut self, flag: &Source, diagnostics: &mut Diagnostics) {
        let span = Span::new(flag.id(), 0, flag.text().len());
        for (word, span) in words(flag.text(), span) {
            self.allow.extend(allowable(word, span, diagnostics));
        }
    }

    /// Makes a warning an error; wins over [`Levels::allow`].
    pub fn deny(&mut self, flag: &Source, diagnostics: &mut Diagnostics) {
        let span = Span::new(flag.id(), 0, flag.text().len());
        for (word, span) in words(flag.text(), span) {
            self.deny.extend(known(word, span, diagnostics));
        }
    }

    /// What becomes of a warning; `None` if nobody wants to hear it.
    pub(super) fn of(&self, code: &'static Code) -> Option<Severity> {
        if self.deny.contains(&code) {
            Some(Severity::Error)
        } else if self.allow.contains(&code) {
            None
        } else if self.deny_warnings {
            Some(Severity::Error)
        } else {
            Some(Severity::Warning)
        }
    }
}

/// What the comments of the files allow.
#[derive(Clone, Debug, Default)]
pub struct Allowed {
    files: HashSet<(&'static str, SourceId)>,
    /// Offsets between which a problem starts, in order.
    lines: HashMap<(&'static str, SourceId), Vec<Range<u32>>>,
}

impl Allowed {
    /// Reads the comments of one file, in file order. Each span covers a comment from its `#` to the
    /// end of line.
    pub fn read_comments(
        &mut self,
        source: &Source,
        comments: impl IntoIterator<Item = Span>,
        diagnostics: &mut Diagnostics,
    ) {
        let mut spoken = Range::default();
        for span in comments {
            let text = source.slice(span);
            let words = text.trim_start_matches(['#', ' ']);
            if !words.starts_with("pinnace:") {
                continue;
            }
            let at = text.len() - words.len();
            self.read_comment(source, span.part(at, text.len()), &mut spoken, diagnostics);
        }
    }

    /// `spoken` holds the lines that the comment before spoke for: of two comments before one line
    /// the second need not look for that line again.
    fn read_comment(
        &mut self,
        source: &Source,
        span: Span,
        spoken: &mut Range<u32>,
        diagnostics: &mut Diagnostics,
    ) {
        let text = source.slice(span);
        let parsed = text.split_once('(').and_then(|(head, rest)| {
            let whole_file = match head.strip_prefix("pinnace:")?.trim() {
                "allow" => false,
                "allow-file" => true,
                _ => return None,
            };
            Some((whole_file, head.len() + 1, rest.find(')')?))
        });
        let Some((whole_file, start, length)) = parsed else {
            diagnostics.push(
                Diagnostic::new(
                    &codes::BAD_ALLOW,
                    span.part(0, text.trim_end().len()),
                    "this comment is addressed to Pinnace and cannot be understood",
                )
                .help("write `# pinnace: allow(CODE)` or `# pinnace: allow-file(CODE)`"),
            );
            return;
        };
        if !whole_file && span.start >= spoken.start {
            *spoken = spoken_for(source, span.start);
        }
        let list = span.part(start, start + length);
        for (word, span) in words(source.slice(list), list) {
            let Some(code) = allowable(word, span, diagnostics) else {
                continue;
            };
            let key = (code.id, source.id());
            if whole_file {
                self.files.insert(key);
            } else {
                self.lines.entry(key).or_default().push(spoken.clone());
            }
        }
    }

    /// Whether a comment allows this warning here.
    pub(super) fn covers(&self, diagnostic: &Diagnostic) -> bool {
        let key = (diagnostic.code.id, diagnostic.span.source);
        let start = diagnostic.span.start;
        self.files.contains(&key)
            || self.lines.get(&key).is_some_and(|ranges| {
                let after = ranges.partition_point(|range| range.start <= start);
                after > 0 && ranges[after - 1].contains(&start)
            })
    }
}

/// The offsets of the lines that a comment at `offset` speaks for.
fn spoken_for(source: &Source, offset: u32) -> Range<u32> {
    let starts = source.line_starts();
    let end =
        u32::try_from(source.text().len()).map_or(u32::MAX, |length| length.saturating_add(1));
    let line_range = |line: usize| {
        let start = starts.get(line).copied().unwrap_or(end);
        start..starts.get(line + 1).copied().unwrap_or(end)
    };
    let text_of = |line: usize| {
        let range = line_range(line);
        let text = source.text().as_bytes();
        let range = range.start as usize..(range.end as usize).min(text.len());
        text.get(range).unwrap_or_default().trim_ascii_end()
    };
    let is_idle =
        |line: usize| matches!(text_of(line).trim_ascii_start().first(), None | Some(b'#'));

    let own = starts.partition_point(|start| *start <= offset).max(1) - 1;
    let mut line = own;
    if is_idle(own) {
        while line < starts.len() && is_idle(line) {
            line += 1;
        }
    }
    let mut range = line_range(line);
    let content = if line == own {
        source
            .text()
            .as_bytes()
            .get(range.start as usize..offset as usize)
    } else {
        Some(text_of(line))
    };
    if content.is_some_and(opens_block) {
        let indent = indent_of(text_of(line));
        let mut next = line + 1;
        while next < starts.len() && (text_of(next).is_empty() || indent_of(text_of(next)) > indent)
        {
            range.end = line_range(next).end;
            next += 1;
        }
    }
    range
}

fn indent_of(line: &[u8]) -> usize {
    line.iter().take_while(|byte| **byte == b' ').count()
}

/// Whether a line ends with the header of a block scalar, such as `|` or `>-2`.
fn opens_block(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    let line = line.strip_suffix(b"#").unwrap_or(line).trim_ascii_end();
    let header = line
        .iter()
        .rposition(|byte| !matches!(byte, b'-' | b'+' | b'0'..=b'9'));
    header.is_some_and(|at| {
        matches!(line[at], b'|' | b'>') && (at == 0 || line[at - 1].is_ascii_whitespace())
    })
}

/// The words of a list with commas, with their places.
fn words(list: &str, span: Span) -> impl Iterator<Item = (&str, Span)> {
    let mut start = 0;
    list.split(',').filter_map(move |part| {
        let at = start + part.len() - part.trim_start().len();
        start += part.len() + 1;
        let word = part.trim();
        (!word.is_empty()).then(|| (word, span.part(at, at + word.len())))
    })
}

fn known(word: &str, span: Span, diagnostics: &mut Diagnostics) -> Option<&'static Code> {
    let found = codes::find(word);
    if found.is_none() {
        let mut diagnostic = Diagnostic::new(
            &codes::BAD_ALLOW,
            span,
            format!("there is no code `{word}`"),
        );
        let names = codes::ALL.iter().flat_map(|code| [code.name, code.id]);
        if !diagnostics.is_full()
            && let Some(candidate) = suggest::closest(word, names)
        {
            diagnostic = diagnostic.help(format!("did you mean `{candidate}`?")).fix(
                "name the code",
                span,
                candidate,
            );
        }
        diagnostics.push(diagnostic);
    }
    found
}

fn allowable(word: &str, span: Span, diagnostics: &mut Diagnostics) -> Option<&'static Code> {
    let code = known(word, span, diagnostics)?;
    if code.severity == Severity::Error {
        diagnostics.push(
            Diagnostic::new(
                &codes::BAD_ALLOW,
                span,
                format!("`{word}` is an error and cannot be allowed"),
            )
            .help("only warnings can be allowed"),
        );
        return None;
    }
    Some(code)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::source::Sources;

    /// The lines of the warnings that are left when each line has one.
    fn lines_left(text: &str) -> (Vec<u32>, Vec<String>) {
        let sources = Sources::default();
        let source = sources.add("job.yaml", text);
        let comments = text.match_indices('#').map(|(at, _)| {
            let end = text[at..]
                .find('\n')
                .map_or(text.len(), |length| at + length);
            Span::new(source.id(), at, end)
        });
        let mut diagnostics = Diagnostics::default();
        let mut allowed = Allowed::default();
        allowed.read_comments(source, comments, &mut diagnostics);
        let messages = diagnostics
            .iter()
            .map(|diagnostic| diagnostic.message.clone())
            .collect();
        let mut diagnostics = Diagnostics::default();
        for start in source.line_starts() {
            let span = Span::new(source.id(), *start as usize, *start as usize);
            diagnostics.push(Diagnostic::new(&codes::IGNORED_KEY, span, "ignored"));
        }
        diagnostics.apply(&Levels::default(), &allowed);
        let left = diagnostics.into_vec();
        (
            left.iter()
                .map(|diagnostic| sources.place(diagnostic.span).line)
                .collect(),
            messages,
        )
    }

    #[test]
    fn a_comment_behind_a_line_speaks_for_it() {
        assert_eq!(lines_left("a: 1 # pinnace: allow(P0208)\nb: 2").0, [2]);
        assert_eq!(lines_left("a: 1 # pinnace: allow(p0208): why\nb: 2").0, [2]);
    }

    #[test]
    fn a_comment_of_its_own_speaks_for_the_next_line() {
        let text = "a: 1\n # pinnace: allow(ignored-key)\n\n# more\nb: 2\nc: 3";
        assert_eq!(lines_left(text).0, [1, 2, 3, 4, 6]);
        assert_eq!(lines_left("# pinnace: allow(ignored-key)").0, [1]);
    }

    #[test]
    fn a_comment_on_a_block_scalar_speaks_for_the_block() {
        let text = "a:\n  - |- # pinnace: allow(ignored-key)\n    x\n\n    y\n  - z";
        assert_eq!(lines_left(text).0, [1, 6]);
        let text = "# pinnace: allow(ignored-key)\na: >\n  x\nb: 1";
        assert_eq!(lines_left(text).0, [1, 4]);
    }

    #[test]
    fn a_file_comment_speaks_for_the_file() {
        let text = "a: 1\n# pinnace: allow-file(P0208, bad-allow)\nb: 2";
        assert!(lines_left(text).0.is_empty());
    }

    #[test]
    fn other_comments_say_nothing() {
        assert_eq!(lines_left("a: 1 # see pinnace: allow(P0208)").0, [1]);
    }

    #[test]
    fn what_cannot_be_understood_is_reported() {
        let (lines, messages) = lines_left("a: 1 # pinnace: alow(P0208)");
        assert_eq!(lines, [1]);
        assert!(messages[0].contains("cannot be understood"));
        let (_, messages) = lines_left("a: 1 # pinnace: allow(ignored-kye, unknown-key)");
        assert_eq!(
            messages,
            [
                "there is no code `ignored-kye`",
                "`unknown-key` is an error and cannot be allowed"
            ]
        );
    }

    #[test]
    fn an_unknown_code_is_mended() {
        let sources = Sources::default();
        let flag = sources.add("--allow", "P0208, ignored-kye");
        let mut diagnostics = Diagnostics::default();
        Levels::default().allow(flag, &mut diagnostics);
        let found = diagnostics.into_vec();
        assert_eq!(sources.slice(found[0].span), "ignored-kye");
        assert_eq!(found[0].help, ["did you mean `ignored-key`?"]);
    }

    #[test]
    fn flags_allow_and_deny() {
        let sources = Sources::default();
        let mut ignored = Diagnostics::default();
        let severity = |levels: &Levels| levels.of(&codes::IGNORED_KEY);
        let mut levels = Levels::default();
        assert_eq!(severity(&levels), Some(Severity::Warning));
        levels.deny_warnings();
        assert_eq!(severity(&levels), Some(Severity::Error));
        levels.allow(sources.add("--allow", "ignored-key"), &mut ignored);
        assert_eq!(severity(&levels), None);
        levels.deny(sources.add("--deny", "P0208"), &mut ignored);
        assert_eq!(severity(&levels), Some(Severity::Error));
        assert!(ignored.is_empty());
    }
}
