//! Scalars in quotes.

use std::borrow::Cow;

use super::reader::Reader;
use super::{Node, Style};
use crate::diagnostic::{Diagnostic, codes};

impl<'s> Reader<'s> {
    /// Reads a scalar in quotes at the cursor. Its further lines must be indented deeper than `n`.
    pub(super) fn quoted(&mut self, n: isize) -> Node<'s> {
        let start = self.pos;
        let quote = self.peek();
        self.pos += 1;
        let mut text = Cow::Borrowed("");
        // What lies from here to the cursor is not yet in `text`.
        let mut pending = self.pos;
        loop {
            match self.bytes.get(self.pos) {
                Some(byte) if *byte == quote => {
                    if quote == b'\'' && self.byte(self.pos + 1) == b'\'' {
                        self.flush(&mut text, pending, self.pos + 1);
                        self.pos += 2;
                        pending = self.pos;
                        continue;
                    }
                    self.flush(&mut text, pending, self.pos);
                    self.pos += 1;
                    break;
                }
                Some(b'\\') if quote == b'"' => {
                    if matches!(self.byte(self.pos + 1), b'\n' | b'\r') {
                        self.flush(&mut text, pending, self.pos);
                        text.to_mut();
                        self.pos += 1;
                        if !self.fold_line(&mut text, true, n, start) {
                            break;
                        }
                    } else {
                        self.flush(&mut text, pending, self.pos);
                        self.escape(text.to_mut());
                    }
                    pending = self.pos;
                }
                Some(b'\n' | b'\r') => {
                    let mut end = self.pos;
                    while end > pending && matches!(self.byte(end - 1), b' ' | b'\t') {
                        end -= 1;
                    }
                    self.flush(&mut text, pending, end);
                    text.to_mut();
                    if !self.fold_line(&mut text, false, n, start) {
                        break;
                    }
                    pending = self.pos;
                }
                Some(_) => {
                    let rest = self.bytes.get(self.pos..).unwrap_or_default();
                    let length = rest
                        .iter()
                        .position(|byte| *byte == quote || matches!(byte, b'\\' | b'\n' | b'\r'));
                    // A `\` in single quotes is nothing special: pass it.
                    self.pos += length.unwrap_or(rest.len()).max(1);
                }
                None => {
                    self.flush(&mut text, pending, self.pos);
                    text = match text {
                        Cow::Borrowed(text) => Cow::Borrowed(text.trim_end()),
                        Cow::Owned(text) => Cow::Owned(text.trim_end().to_owned()),
                    };
                    self.unclosed_quote(start, None);
                    break;
                }
            }
        }
        let style = if quote == b'"' {
            Style::DoubleQuoted
        } else {
            Style::SingleQuoted
        };
        Node::scalar(self.span(start, self.pos), text, style)
    }

    fn flush(&self, text: &mut Cow<'s, str>, from: usize, to: usize) {
        if from == to {
            return;
        }
        let part = self.slice(from, to);
        match text {
            Cow::Borrowed("") => *text = Cow::Borrowed(part),
            text => text.to_mut().push_str(part),
        }
    }

    /// Passes line breaks inside quotes: one is a space (nothing if it is escaped), more are one
    /// line break less. Gives false if the quote must have been meant to be closed before.
    fn fold_line(
        &mut self,
        text: &mut Cow<'s, str>,
        escaped: bool,
        n: isize,
        start: usize,
    ) -> bool {
        let line_before = self.pos;
        let mut breaks = 0;
        let mut line = self.pos;
        let mut word;
        loop {
            line = self.next_line(line);
            breaks += 1;
            word = line;
            while matches!(self.byte(word), b' ' | b'\t') {
                word += 1;
            }
            if !matches!(self.byte(word), b'\n' | b'\r') {
                break;
            }
            line = word;
        }
        let indent = self.bytes.get(line..word).unwrap_or_default();
        let spaces = indent.iter().take_while(|byte| **byte == b' ').count();
        // A line that is not indented enough is let pass, as most readers do, unless it looks like
        // the next entry of the block around.
        let marker = word == line && self.is_marker(word);
        let outside = (spaces as isize) <= n && self.is_entry(word);
        if word < self.bytes.len() && (marker || outside) {
            self.pos = line_before;
            self.unclosed_quote(start, Some(word));
            return false;
        }
        self.enter_line(line, word);
        let text = text.to_mut();
        match breaks {
            1 if escaped => {}
            1 => text.push(' '),
            _ => text.extend(std::iter::repeat_n('\n', breaks - 1)),
        }
        true
    }

    fn escape(&mut self, text: &mut String) {
        let start = self.pos;
        let character = match self.byte(start + 1) {
            b'0' => '\0',
            b'a' => '\x07',
            b'b' => '\x08',
            b't' | b'\t' => '\t',
            b'n' => '\n',
            b'v' => '\x0b',
            b'f' => '\x0c',
            b'r' => '\r',
            b'e' => '\x1b',
            b' ' => ' ',
            b'"' => '"',
            b'/' => '/',
            b'\\' => '\\',
            b'N' => '\u{85}',
            b'_' => '\u{a0}',
            b'L' => '\u{2028}',
            b'P' => '\u{2029}',
            b'x' => return self.code_escape(text, 2),
            b'u' => return self.code_escape(text, 4),
            b'U' => return self.code_escape(text, 8),
            _ => {
                let escape = self.text.get(start..).unwrap_or_default();
                let length = escape.chars().take(2).map(char::len_utf8).sum::<usize>();
                return self.bad_escape(text, start + length);
            }
        };
        text.push(character);
        self.pos = start + 2;
    }

    fn code_escape(&mut self, text: &mut String, digits: usize) {
        let start = self.pos;
        match self.hex(start + 2, digits) {
            // A pair of surrogates, as JSON writes characters beyond U+FFFF.
            Some(high @ 0xd800..=0xdbff)
                if digits == 4 && self.bytes.get(start + 6..start + 8) == Some(b"\\u") =>
            {
                match self.hex(start + 8, 4) {
                    Some(low @ 0xdc00..=0xdfff) => {
                        let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                        text.extend(char::from_u32(code));
                        self.pos = start + 12;
                    }
                    _ => self.bad_escape(text, start + 6),
                }
            }
            Some(code) if char::from_u32(code).is_some() => {
                text.extend(char::from_u32(code));
                self.pos = start + 2 + digits;
            }
            Some(_) => self.bad_escape(text, start + 2 + digits),
            None => self.bad_escape(text, start + 2),
        }
    }

    fn hex(&self, from: usize, digits: usize) -> Option<u32> {
        let digits = self.bytes.get(from..from + digits)?;
        digits.iter().try_fold(0u32, |code, digit| {
            Some(code << 4 | char::from(*digit).to_digit(16)?)
        })
    }

    #[cold]
    fn bad_escape(&mut self, text: &mut String, end: usize) {
        let start = self.pos;
        let escape = self.slice(start, end);
        text.push_str(escape);
        self.pos = end.max(start + 1);
        // The text may be a secret, so no part of it is in the message.
        let message = match escape {
            "\\x" => "`\\x` in double quotes needs 2 hexadecimal digits after it",
            "\\u" => "`\\u` in double quotes needs 4 hexadecimal digits after it",
            "\\U" => "`\\U` in double quotes needs 8 hexadecimal digits after it",
            _ if escape.len() > 4 => "this escape is not the number of a character",
            _ => "a backslash in double quotes starts an escape, and this one does not exist",
        };
        self.report(
            Diagnostic::new(&codes::SYNTAX, self.span(start, end), message)
                .help("write `\\\\` for a backslash, or put the text in single quotes")
                .fix("write the backslash twice", self.span(start, start), "\\"),
        );
    }

    #[cold]
    fn unclosed_quote(&mut self, start: usize, next_line: Option<usize>) {
        let quote = self.slice(start, start + 1);
        let mut diagnostic = Diagnostic::new(
            &codes::SYNTAX,
            self.span(start, start + 1),
            format!("the quote `{quote}` is never closed"),
        )
        .label("opened here");
        if let Some(word) = next_line {
            diagnostic.message = format!("the quote `{quote}` is not closed where its text ends");
            let end = self.line_end(word);
            diagnostic = diagnostic.related(
                self.span(word, end),
                "this line is not indented deep enough to belong to the text",
            );
        }
        self.report(diagnostic.help(format!(
            "add the closing `{quote}`; inside the text a `{quote}` is written {}",
            if quote == "'" { "`''`" } else { "`\\\"`" }
        )));
    }
}
