//! Scalars of many lines: `|` keeps line breaks, `>` folds them.

use std::borrow::Cow;

use super::find::count_spaces;
use super::reader::Reader;
use super::{Node, Style};
use crate::diagnostic::{Diagnostic, codes};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomp {
    /// Keep the last line break only.
    Clip,
    /// `-`: none.
    Strip,
    /// `+`: all.
    Keep,
}

/// The lines that belong to the scalar.
struct Lines {
    /// Where the first one starts.
    start: usize,
    /// The end of the last line with content, before its line break; `start` if there is none.
    end: usize,
    /// Where the first line that does not belong starts.
    after: usize,
    indent: usize,
}

impl<'s> Reader<'s> {
    /// Reads a block scalar at the cursor, inside a node that is indented by `n`.
    pub(super) fn block_scalar(&mut self, n: isize) -> Node<'s> {
        let start = self.pos;
        let style = if self.peek() == b'|' {
            Style::Literal
        } else {
            Style::Folded
        };
        let (chomp, indent) = self.block_header(n);
        let header_end = self.pos;
        let body = self.next_line(self.line_end(self.pos));
        let lines = self.block_lines(body, n, indent);
        let text = if self.is_stopped() {
            // The text has been cut short, so the lines found are no longer in it.
            Cow::Borrowed("")
        } else if lines.end <= lines.start {
            match chomp {
                Chomp::Keep if lines.after > body => {
                    Cow::Owned("\n".repeat(self.count_breaks(body, lines.after)))
                }
                _ => Cow::Borrowed(""),
            }
        } else if style == Style::Literal {
            self.literal(&lines, chomp)
        } else {
            Cow::Owned(self.folded(&lines, chomp))
        };
        let end = if lines.end > lines.start {
            lines.end
        } else {
            header_end
        };
        // Stand at the break before the next line, so that the next word is seen to be its first.
        self.pos = if lines.after > body || self.byte(header_end) != 0 {
            self.before_break(lines.after).max(header_end)
        } else {
            header_end
        };
        Node::scalar(self.span(start, end), text, style)
    }

    fn before_break(&self, line_start: usize) -> usize {
        match line_start.checked_sub(1).map(|at| (at, self.byte(at))) {
            Some((at, b'\n')) if at > 0 && self.byte(at - 1) == b'\r' => at - 1,
            Some((at, b'\n' | b'\r')) => at,
            _ => line_start,
        }
    }

    fn block_header(&mut self, n: isize) -> (Chomp, Option<usize>) {
        let start = self.pos;
        let mut chomp = None;
        let mut indent = None;
        self.pos += 1;
        loop {
            match self.peek() {
                b'-' if chomp.is_none() => chomp = Some(Chomp::Strip),
                b'+' if chomp.is_none() => chomp = Some(Chomp::Keep),
                digit @ b'1'..=b'9' if indent.is_none() => {
                    indent = Some(n.max(0) as usize + usize::from(digit - b'0'));
                }
                _ => break,
            }
            self.pos += 1;
        }
        let chomp = chomp.unwrap_or(Chomp::Clip);
        let after = self.pos;
        self.skip_blanks();
        match self.peek() {
            b'\n' | b'\r' => {}
            0 if self.pos >= self.bytes.len() => {}
            b'#' if self.pos > after => {
                self.pos = self.comment(self.pos);
            }
            _ => {
                let end = self.line_end(self.pos);
                let indicator = self.slice(start, start + 1);
                let fix = self.quote_fix(start);
                let mut diagnostic = Diagnostic::new(
                        &codes::SYNTAX,
                        self.span(self.pos, end),
                        format!("text after `{indicator}` on the same line"),
                    )
                    .label("belongs on the next line")
                    .related(self.span(start, start + 1), "starts a text of many lines")
                    .help(format!(
                        "the text of `{indicator}` starts on the next line, indented; a text that itself starts with `{indicator}` must be quoted"
                    ));
                diagnostic.fix = Some(fix);
                self.report(diagnostic);
                self.pos = end;
            }
        }
        (chomp, indent)
    }

    /// Finds the lines of the scalar. Their indentation is that of the first one with content
    /// unless the header gives it.
    fn block_lines(&mut self, body: usize, n: isize, indent: Option<usize>) -> Lines {
        let mut lines = Lines {
            start: body,
            end: body,
            after: body,
            indent: indent.unwrap_or(0),
        };
        let mut known = indent.is_some();
        let mut deepest_blank = (0, body);
        let mut line = body;
        while line < self.bytes.len() {
            let spaces = count_spaces(self.bytes, line);
            let word = line + spaces;
            let line_end = self.line_end(word);
            if word == line_end && (!known || spaces <= lines.indent) {
                // A blank line; it belongs if content follows, or at the end for `+`.
                if spaces > deepest_blank.0 {
                    deepest_blank = (spaces, line);
                }
            } else {
                if !known {
                    if spaces as isize <= n {
                        if self.byte(word) == b'\t' && self.slice(word, line_end).trim().is_empty()
                        {
                            // Blanks only: nobody can see that one of them is a tab.
                            line = self.next_line(line_end);
                            lines.after = line;
                            continue;
                        }
                        break;
                    }
                    lines.indent = spaces;
                    known = true;
                    if deepest_blank.0 > spaces {
                        self.deep_blank_line(deepest_blank);
                    }
                }
                if spaces < lines.indent {
                    break;
                }
                if spaces == 0 && self.is_marker(line) {
                    break;
                }
                lines.end = line_end;
            }
            line = self.next_line(line_end);
            lines.after = line;
            if line == line_end {
                break;
            }
        }
        lines
    }

    /// How many line breaks lie between two positions. The end of the text counts as one.
    fn count_breaks(&self, from: usize, to: usize) -> usize {
        let mut breaks = 0;
        let mut line = from;
        loop {
            let end = self.line_end(line);
            line = self.next_line(end);
            breaks += 1;
            if line >= to || line == end {
                return breaks;
            }
        }
    }

    fn literal(&self, lines: &Lines, chomp: Chomp) -> Cow<'s, str> {
        let body = lines.start;
        let last_break = self.next_line(lines.end);
        let one_line = self.line_end(body) == lines.end;
        let unix = self.byte(lines.end) != b'\r';
        if one_line && chomp == Chomp::Strip {
            return Cow::Borrowed(self.slice(body + lines.indent, lines.end));
        }
        if one_line && unix && chomp == Chomp::Clip && last_break > lines.end {
            return Cow::Borrowed(self.slice(body + lines.indent, last_break));
        }
        let mut text = String::with_capacity(lines.end - body + 1);
        let mut line = body;
        while line < lines.end {
            let end = self.line_end(line);
            text.push_str(self.slice((line + lines.indent).min(end), end));
            line = self.next_line(end);
            if line < lines.end {
                text.push('\n');
            }
        }
        self.chomp(&mut text, lines, chomp);
        Cow::Owned(text)
    }

    fn folded(&self, lines: &Lines, chomp: Chomp) -> String {
        let body = lines.start;
        let mut text = String::with_capacity(lines.end - body + 1);
        let mut line = body;
        let mut breaks = 0;
        // Lines that start with a blank keep the breaks around them.
        let mut kept = true;
        let mut first = true;
        while line < lines.end {
            let end = self.line_end(line);
            let part = self.slice((line + lines.indent).min(end), end);
            if part.is_empty() {
                breaks += 1;
            } else {
                let blank = part.starts_with([' ', '\t']);
                if first {
                    text.extend(std::iter::repeat_n('\n', breaks));
                } else if blank || kept {
                    text.extend(std::iter::repeat_n('\n', breaks + 1));
                } else if breaks == 0 {
                    text.push(' ');
                } else {
                    text.extend(std::iter::repeat_n('\n', breaks));
                }
                text.push_str(part);
                kept = blank;
                first = false;
                breaks = 0;
            }
            line = self.next_line(end);
        }
        self.chomp(&mut text, lines, chomp);
        text
    }

    fn chomp(&self, text: &mut String, lines: &Lines, chomp: Chomp) {
        match chomp {
            Chomp::Strip => {}
            Chomp::Clip => text.push('\n'),
            Chomp::Keep => {
                let breaks = self.count_breaks(lines.end, lines.after);
                text.extend(std::iter::repeat_n('\n', breaks));
            }
        }
    }

    #[cold]
    fn deep_blank_line(&mut self, (spaces, line): (usize, usize)) {
        self.report(
            Diagnostic::new(
                &codes::SYNTAX,
                self.span(line, line + spaces),
                "a blank line at the start of the text has more spaces than the first line with words",
            )
            .help("remove the spaces of the blank line")
            .fix("remove the spaces", self.span(line, line + spaces), ""),
        );
    }
}
