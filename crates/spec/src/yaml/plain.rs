//! Scalars without quotes.

use std::borrow::Cow;

use super::find::{count_spaces, first_of};
use super::reader::{Reader, is_blank, is_flow_indicator};

/// The bytes that may end a plain scalar outside of brackets.
const BLOCK_STOPS: [u8; 4] = *b":#\n\r";

/// The bytes that may end a plain scalar in brackets.
const FLOW_STOPS: [u8; 9] = *b":#\n\r,[]{}";

/// Which bytes cannot start a plain scalar, or only if no blank follows.
static STARTS_OTHER: [bool; 256] = marked(b",[]{}#&*!|>'\"%@`-?:");

const fn marked(bytes: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut index = 0;
    while index < bytes.len() {
        table[bytes[index] as usize] = true;
        index += 1;
    }
    table
}

/// A plain scalar as read.
pub(super) struct Plain<'s> {
    pub(super) text: Cow<'s, str>,
    pub(super) start: usize,
    pub(super) end: usize,
    /// It would have gone on in the next line, had not a `key:` stood there.
    pub(super) before_key: bool,
}

impl<'s> Reader<'s> {
    /// Whether a plain scalar can start at the cursor.
    #[inline]
    pub(super) fn starts_plain(&self, flow: bool) -> bool {
        let byte = self.peek();
        if !STARTS_OTHER[usize::from(byte)] {
            return true;
        }
        matches!(byte, b'-' | b'?' | b':')
            && !self.is_blank(self.pos + 1)
            && !(flow && is_flow_indicator(self.byte(self.pos + 1)))
    }

    /// Whether a plain scalar starts at the cursor, whatever the next byte is.
    #[inline]
    pub(super) fn surely_starts_plain(&self) -> bool {
        !STARTS_OTHER[usize::from(self.peek())]
    }

    /// Reads the part of a plain scalar that lies on the current line, and leaves the cursor at
    /// what ended it. Gives the end of the part without blanks after it.
    pub(super) fn plain_line(&mut self, flow: bool) -> usize {
        if flow {
            self.plain_line_within::<true>()
        } else {
            self.plain_line_within::<false>()
        }
    }

    /// The same, where it is known whether there are brackets around.
    // Most words of a file are read by it, and most are shorter than a call is long.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    pub(super) fn plain_line_within<const FLOW: bool>(&mut self) -> usize {
        let bytes = self.bytes;
        let start = self.pos;
        let mut pos = start;
        loop {
            pos = if FLOW {
                first_of(bytes, pos, FLOW_STOPS)
            } else {
                first_of(bytes, pos, BLOCK_STOPS)
            };
            match bytes.get(pos) {
                Some(b':') => match bytes.get(pos + 1) {
                    None => break,
                    Some(next) if is_blank(*next) || FLOW && is_flow_indicator(*next) => break,
                    Some(_) => pos += 1,
                },
                Some(b'#') if pos == start || !is_blank(bytes[pos - 1]) => pos += 1,
                _ => break,
            }
        }
        self.pos = pos;
        while pos > start && matches!(bytes[pos - 1], b' ' | b'\t') {
            pos -= 1;
        }
        pos
    }

    /// Reads a plain scalar that stands one space behind the cursor, as most values do, if the next
    /// line is not indented deeper than `n`, and gives its start and end. The cursor goes to the
    /// first word of that line, or stays if there is something else.
    // Saves a call for most values.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    pub(super) fn usual_value(&mut self, n: isize) -> Option<(usize, usize)> {
        let before = self.pos;
        let start = before + 1;
        if self.peek() != b' '
            || !self.is_word(start)
            || STARTS_OTHER[usize::from(self.byte(start))]
        {
            return None;
        }
        self.pos = start;
        let end = self.plain_line_within::<false>();
        if self.plain_ends_with_line(n) {
            return Some((start, end));
        }
        self.pos = before;
        None
    }

    /// Whether the next line, which must follow at once, is not indented deeper than `n` and so
    /// no part of a plain scalar. If so, the cursor goes to its first word.
    #[inline]
    pub(super) fn plain_ends_with_line(&mut self, n: isize) -> bool {
        if self.peek() != b'\n' {
            return false;
        }
        let line = self.pos + 1;
        let indent = count_spaces(self.bytes, line);
        let ends = indent as isize <= n && self.is_word(line + indent);
        if ends {
            self.enter_line(line, line + indent);
        }
        ends
    }

    /// Reads the rest of a plain scalar whose first line ends at `end`: the following lines that
    /// are indented deeper than `n`.
    #[inline]
    pub(super) fn plain_rest(
        &mut self,
        n: isize,
        flow: bool,
        start: usize,
        end: usize,
    ) -> Plain<'s> {
        let mut plain = Plain {
            text: Cow::Borrowed(self.slice(start, end)),
            start,
            end,
            before_key: false,
        };
        while matches!(self.peek(), b'\n' | b'\r') {
            let mut breaks = 1;
            let mut line = self.next_line(self.pos);
            let mut indent = count_spaces(self.bytes, line);
            let mut word = line + indent;
            loop {
                match self.byte(word) {
                    b' ' | b'\t' => word += 1,
                    b'\n' | b'\r' => {
                        breaks += 1;
                        line = self.next_line(word);
                        indent = count_spaces(self.bytes, line);
                        word = line + indent;
                    }
                    _ => break,
                }
            }
            if word >= self.bytes.len()
                || self.byte(word) == b'#'
                || (word == line && self.is_marker(word))
            {
                break;
            }
            if indent as isize <= n && (!flow || self.flow_is_left(word)) {
                if !flow && word == line + indent {
                    // So that this line is not looked at again.
                    self.enter_line(line, word);
                }
                break;
            }
            let before = self.pos;
            self.pos = word;
            let part_end = self.plain_line(flow);
            if self.peek() == b':' && !flow {
                self.pos = before;
                plain.before_key = true;
                break;
            }
            let after = self.pos;
            self.enter_line(line, word);
            self.pos = after;
            if part_end == word {
                // Nothing of the scalar on this line: an indicator of the brackets around it.
                break;
            }
            let text = plain.text.to_mut();
            if breaks == 1 {
                text.push(' ');
            } else {
                text.extend(std::iter::repeat_n('\n', breaks - 1));
            }
            text.push_str(self.slice(word, part_end));
            plain.end = part_end;
        }
        plain
    }
}
