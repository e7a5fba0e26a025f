//! The end of a log, cut so that words in it can be trusted.

use std::ops::Range;

/// Longer ends are cut; more than this says nothing about the failure.
const MOST_BYTES: usize = 64 * 1024;
const TAIL_LINES: usize = 50;
const END_LINES: usize = 10;
const MOST_LINES_AFTER_RAISED: usize = 40;
const MOST_MATCHED_BYTES: usize = 2048;

/// Errors that only say that another process failed.
const WRAPPERS: [&str; 3] = [
    "childfailederror",
    "calledprocesserror",
    "processraisedexception",
];

/// How far from the end of a log a needle counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// The last 50 lines.
    Tail,
    /// The last 10 lines.
    End,
    /// The last Python error that was raised and not caught.
    Raised,
}

/// The end of a log with its lines found; blank lines are left out.
#[derive(Debug)]
pub(super) struct LogEnd<'a> {
    text: &'a str,
    /// The same bytes with ASCII letters in lower case, so that ranges fit both.
    lower: String,
    lines: Vec<Range<usize>>,
    raised: Option<usize>,
}

impl<'a> LogEnd<'a> {
    pub(super) fn of(log: &'a str) -> Self {
        let mut start = log.len().saturating_sub(MOST_BYTES);
        while !log.is_char_boundary(start) {
            start += 1;
        }
        let text = log.get(start..).unwrap_or_default();
        let mut lines = Vec::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let end = at + line.trim_end().len();
            if end > at {
                lines.push(at..end);
            }
            at += line.len();
        }
        let mut found = LogEnd {
            text,
            lower: text.to_ascii_lowercase(),
            lines,
            raised: None,
        };
        found.raised = found.find_raised();
        found
    }

    /// The last line within reach that has all needles, which are in lower case, in this order.
    pub(super) fn find(&self, reach: Reach, needles: &[&str]) -> Option<&'a str> {
        let candidates = match reach {
            Reach::Tail => self.last_lines(TAIL_LINES),
            Reach::End => self.last_lines(END_LINES),
            Reach::Raised => self.raised.map_or(0..0, |at| at..at + 1),
        };
        let line = candidates.rev().find(|at| {
            let mut rest = self.lower_line(*at);
            needles.iter().all(|needle| match rest.find(needle) {
                Some(found) => {
                    rest = rest.get(found + needle.len()..).unwrap_or_default();
                    true
                }
                None => false,
            })
        })?;
        let range = self.lines.get(line)?.clone();
        Some(cut(self.text.get(range)?.trim()))
    }

    fn last_lines(&self, most: usize) -> Range<usize> {
        self.lines.len().saturating_sub(most)..self.lines.len()
    }

    fn lower_line(&self, at: usize) -> &str {
        let range = self.lines.get(at).cloned().unwrap_or(0..0);
        self.lower.get(range).unwrap_or_default()
    }

    fn find_raised(&self) -> Option<usize> {
        self.last_lines(MOST_LINES_AFTER_RAISED + 1)
            .rev()
            .find(|at| {
                let above = at.checked_sub(1).map_or("", |above| self.lower_line(above));
                let in_traceback = without_rank(above).starts_with([' ', '\t']);
                in_traceback && names_an_error(without_rank(self.lower_line(*at)))
            })
    }
}

/// `torch.cuda.OutOfMemoryError: …`, in lower case.
fn names_an_error(line: &str) -> bool {
    let name = line.split(':').next().unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let class = name.rsplit('.').next().unwrap_or_default();
    name.chars().all(plain)
        && (class.ends_with("error") || class.ends_with("exception"))
        && !WRAPPERS.contains(&class)
}

/// A line without the mark that launchers put before it: `[rank0]: `, `[1,0]<stderr>:`.
fn without_rank(line: &str) -> &str {
    let Some(inside) = line.strip_prefix('[') else {
        return line;
    };
    let Some((mark, rest)) = inside.split_once(']') else {
        return line;
    };
    let is_mark = mark.starts_with("rank") || mark.chars().all(|c| c.is_ascii_digit() || c == ',');
    let Some((between, text)) = rest.split_once(':') else {
        return line;
    };
    if is_mark && matches!(between, "" | "<stderr>" | "<stdout>") {
        text.strip_prefix(' ').unwrap_or(text)
    } else {
        line
    }
}

/// At most so many bytes, at a character's boundary.
pub(super) fn cut(text: &str) -> &str {
    let mut end = text.len().min(MOST_MATCHED_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}
