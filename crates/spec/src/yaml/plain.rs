//! Scalars without quotes.

use std::borrow::Cow;

use super::reader::{Reader, is_blank, is_flow_indicator};

const BLOCK: u8 = 1;
const FLOW: u8 = 2;

/// Which bytes may end a plain scalar: in any context, and in brackets only.
static STOPS: [u8; 256] = {
    let mut stops = [0; 256];
    stops[b':' as usize] = BLOCK;
    stops[b'#' as usize] = BLOCK;
    stops[b'\n' as usize] = BLOCK;
    stops[b'\r' as usize] = BLOCK;
    stops[b',' as usize] = FLOW;
    stops[b'[' as usize] = FLOW;
    stops[b']' as usize] = FLOW;
    stops[b'{' as usize] = FLOW;
    stops[b'}' as usize] = FLOW;
    stops
};

/// A plain scalar as read.
pub(super) struct Plain<'s> {
    pub(super) text: Cow<'s, str>,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether it goes over several lines.
    pub(super) folded: bool,
    /// It would have gone on in the next line, had not a `key:` stood there.
    pub(super) before_key: bool,
}

impl<'s> Reader<'s> {
    /// Whether a plain scalar can start at the cursor.
    #[inline]
    pub(super) fn starts_plain(&self, flow: bool) -> bool {
        match self.peek() {
            b'-' | b'?' | b':' => {
                let next = self.byte(self.pos + 1);
                !(self.is_blank(self.pos + 1) || flow && is_flow_indicator(next))
            }
            byte => !matches!(
                byte,
                b',' | b'['
                    | b']'
                    | b'{'
                    | b'}'
                    | b'#'
                    | b'&'
                    | b'*'
                    | b'!'
                    | b'|'
                    | b'>'
                    | b'\''
                    | b'"'
                    | b'%'
                    | b'@'
                    | b'`'
            ),
        }
    }

    /// Reads the part of a plain scalar that lies on the current line, and leaves the cursor at
    /// what ended it. Gives the end of the part without blanks after it.
    #[inline]
    pub(super) fn plain_line(&mut self, flow: bool) -> usize {
        let bytes = self.bytes;
        let start = self.pos;
        let mask = if flow { BLOCK | FLOW } else { BLOCK };
        let mut pos = start;
        loop {
            while let Some(byte) = bytes.get(pos)
                && STOPS[*byte as usize] & mask == 0
            {
                pos += 1;
            }
            match bytes.get(pos) {
                Some(b':') => match bytes.get(pos + 1) {
                    None => break,
                    Some(next) if is_blank(*next) || flow && is_flow_indicator(*next) => break,
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
            folded: false,
            before_key: false,
        };
        while matches!(self.peek(), b'\n' | b'\r') {
            let mut breaks = 1;
            let mut line = self.next_line(self.pos);
            let mut word = line;
            let mut spaces = true;
            let mut indent = 0;
            loop {
                match self.byte(word) {
                    b' ' => {
                        indent += isize::from(spaces);
                        word += 1;
                    }
                    b'\t' => {
                        spaces = false;
                        word += 1;
                    }
                    b'\n' | b'\r' => {
                        breaks += 1;
                        line = self.next_line(word);
                        word = line;
                        spaces = true;
                        indent = 0;
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
            if indent <= n && (!flow || self.flow_is_left(word)) {
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
            plain.folded = true;
        }
        plain
    }
}
