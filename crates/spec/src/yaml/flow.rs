//! Nodes in brackets: `[a, b]` and `{a: 1}`, and with them JSON.

use std::borrow::Cow;

use super::mapping::Mapping;
use super::reader::{Reader, is_blank, is_flow_indicator};
use super::{Node, Style, Value};
use crate::diagnostic::{Diagnostic, codes};

/// The outermost brackets that the cursor is in.
#[derive(Default)]
pub(super) struct Brackets {
    start: usize,
    depth: usize,
    /// Whether they are closed somewhere, once asked for.
    closed: Option<bool>,
    /// They are not, and the cursor has left them.
    left: bool,
}

/// A node, and whether a `:` right behind it makes it a key, as JSON has it.
type FlowNode<'s> = (Node<'s>, bool);

impl<'s> Reader<'s> {
    /// Reads the brackets at the cursor, inside a block that is indented by `n`.
    pub(super) fn flow_collection(&mut self, n: isize) -> Node<'s> {
        let outermost = self.brackets.depth == 0;
        if outermost {
            self.brackets = Brackets {
                start: self.pos,
                ..Brackets::default()
            };
        }
        let open = self.pos;
        let is_list = self.peek() == b'[';
        let span = self.span(open, open + 1);
        if !self.enter() || !self.charge(1, span) {
            return Node::new(span, Value::List(Vec::new()));
        }
        self.brackets.depth += 1;
        self.pos += 1;
        let value = if is_list {
            self.flow_list(n, open)
        } else {
            self.flow_map(n, open)
        };
        self.brackets.depth -= 1;
        self.leave();
        let end = if self.brackets.left {
            self.last_word_end()
        } else {
            self.pos
        };
        if outermost {
            self.brackets = Brackets::default();
        }
        let end = end.max(open + 1).max(last_end(&value));
        Node::new(self.span(open, end), value)
    }

    fn flow_list(&mut self, n: isize, open: usize) -> Value<'s> {
        let first = self.items.len();
        while self.flow_more(n, open, b']') {
            let item = self.flow_item(n);
            self.items.push(item);
            self.flow_separator(n, b']');
        }
        Value::List(self.items.split_off(first))
    }

    fn flow_map(&mut self, n: isize, open: usize) -> Value<'s> {
        let mut map = Mapping::new(self);
        while self.flow_more(n, open, b'}') {
            let explicit = self.at_indicator(b'?');
            if explicit {
                self.pos += 1;
                self.flow_skip(n);
            }
            let (key, json) = self.flow_key(n);
            let end = self.pos;
            self.flow_skip(n);
            let colon = self.at_flow_colon(json);
            let key = self.key(key);
            let value = if colon {
                self.flow_value(n)
            } else {
                self.missing(end)
            };
            map.add(self, key, value);
            self.flow_separator(n, b'}');
        }
        map.finish(self)
    }

    /// Goes to the next entry; false behind the closing bracket, or where the brackets are left
    /// unclosed.
    fn flow_more(&mut self, n: isize, open: usize, close: u8) -> bool {
        loop {
            if !self.flow_skip(n) {
                if !self.brackets.left {
                    self.brackets.left = true;
                    self.unclosed_bracket(open);
                }
                return false;
            }
            match self.peek() {
                b']' | b'}' => {
                    if self.peek() != close {
                        self.wrong_bracket(open, close);
                    }
                    self.pos += 1;
                    return false;
                }
                b',' => {
                    let comma = self.span(self.pos, self.pos + 1);
                    self.report(
                        Diagnostic::new(&codes::SYNTAX, comma, "no value stands before this `,`")
                            .fix("remove the comma", comma, ""),
                    );
                    self.pos += 1;
                }
                _ => return true,
            }
        }
    }

    /// Passes the `,` between entries.
    fn flow_separator(&mut self, n: isize, close: u8) {
        let end = self.pos;
        if !self.flow_skip(n) {
            return;
        }
        match self.peek() {
            b',' => self.pos += 1,
            b']' | b'}' => {}
            b':' if self.is_blank(self.pos + 1) || close == b'}' => {
                self.report(
                    Diagnostic::new(
                        &codes::SYNTAX,
                        self.span(self.pos, self.pos + 1),
                        "a `:` cannot stand here inside brackets",
                    )
                    .help("is a `,` missing before the key? a text that holds `: ` must be quoted"),
                );
                self.pos += 1;
                while !matches!(self.peek(), b',' | b']' | b'}' | b'\n' | b'\r') && !self.ended() {
                    self.pos += 1;
                }
                if self.peek() == b',' {
                    self.pos += 1;
                }
            }
            b'#' => {
                self.report(
                    Diagnostic::new(
                        &codes::SYNTAX,
                        self.span(self.pos, self.pos + 1),
                        "a comment needs a space before its `#`",
                    )
                    .fix("insert a space", self.span(self.pos, self.pos), " "),
                );
                self.pos = self.line_end(self.pos);
                self.flow_separator(n, close);
            }
            _ => self.report(
                Diagnostic::new(
                    &codes::SYNTAX,
                    self.span(self.pos, self.pos + self.char_len()),
                    "a `,` is missing before this",
                )
                .fix("insert a comma", self.span(end, end), ","),
            ),
        }
    }

    /// Passes blanks; false if the brackets end here without being closed.
    fn flow_skip(&mut self, n: isize) -> bool {
        if self.brackets.left {
            return false;
        }
        self.skip_separation();
        if self.ended() {
            return false;
        }
        let shallow = self.is_first_on_line() && self.column() as isize <= n;
        !shallow || !self.flow_is_left(self.pos)
    }

    /// An item of a list; `a: b` makes a mapping of one entry.
    fn flow_item(&mut self, n: isize) -> Node<'s> {
        let start = self.pos;
        let line = self.line();
        let explicit = self.at_indicator(b'?');
        if explicit {
            self.pos += 1;
            self.flow_skip(n);
        }
        let (key, json) = self.flow_key(n);
        let end = self.pos;
        if explicit {
            self.flow_skip(n);
        } else {
            self.skip_blanks();
        }
        let colon = self.at_flow_colon(json);
        if !explicit && !colon {
            return key;
        }
        if !explicit && self.line() != line {
            self.key_of_many_lines(key.span);
        }
        if !self.enter() {
            return key;
        }
        let key = self.key(key);
        let value = if colon {
            self.flow_value(n)
        } else {
            self.missing(end)
        };
        let value_end = value.alias().unwrap_or(value.span).end as usize;
        let span = self.span(start, value_end.max(end));
        self.charge(1, span);
        let mut map = Mapping::new(self);
        map.add(self, key, value);
        self.leave();
        Node::new(span, map.finish(self))
    }

    #[inline]
    fn at_flow_colon(&self, json: bool) -> bool {
        self.peek() == b':'
            && !self.ended()
            && (json || self.is_blank(self.pos + 1) || is_flow_indicator(self.byte(self.pos + 1)))
    }

    /// A key or an item, which may be missing before a `:`.
    fn flow_key(&mut self, n: isize) -> FlowNode<'s> {
        if self.at_flow_colon(false) || matches!(self.peek(), b',' | b']' | b'}') || self.ended() {
            return (self.missing(self.pos), false);
        }
        self.flow_node(n)
    }

    /// The value behind the `:` at the cursor.
    fn flow_value(&mut self, n: isize) -> Node<'s> {
        self.pos += 1;
        let at = self.pos;
        if !self.flow_skip(n) || matches!(self.peek(), b',' | b']' | b'}') {
            return self.missing(at);
        }
        self.flow_node(n).0
    }

    fn flow_node(&mut self, n: isize) -> FlowNode<'s> {
        if !matches!(self.peek(), b'&' | b'!') {
            return self.flow_content(n);
        }
        let properties = self.properties(true);
        let end = self.pos;
        self.open_anchor(&properties);
        let missing = !self.flow_skip(n)
            || matches!(self.peek(), b',' | b']' | b'}')
            || self.at_flow_colon(false);
        let (mut node, json) = if missing {
            (self.missing(end), false)
        } else {
            if let (b'*', Some(span)) = (self.peek(), properties.span()) {
                self.alias_with_properties(span);
            }
            self.flow_content(n)
        };
        self.apply(&mut node, properties);
        (node, json)
    }

    fn flow_content(&mut self, n: isize) -> FlowNode<'s> {
        match self.peek() {
            b'[' | b'{' => (self.flow_collection(n), true),
            b'"' | b'\'' => {
                let node = self.quoted(n);
                self.count(&node);
                (node, true)
            }
            b'*' => (self.alias(true), false),
            _ if self.starts_plain(true) => {
                let start = self.pos;
                let end = self.plain_line(true);
                let plain = self.plain_rest(n, true, start, end);
                let span = self.span(plain.start, plain.end);
                let node = Node::scalar(span, plain.text, Style::Plain);
                self.count(&node);
                (node, false)
            }
            _ => (self.bad_flow_start(), false),
        }
    }

    /// Whether a line at `word`, which is not indented deep enough to be inside the brackets,
    /// is the next entry of the block around them: it looks like one, and no bracket closes them.
    pub(super) fn flow_is_left(&mut self, word: usize) -> bool {
        if !self.is_entry(word) {
            return false;
        }
        let closed = self
            .brackets
            .closed
            .unwrap_or_else(|| self.is_closed(self.brackets.start));
        self.brackets.closed = Some(closed);
        !closed
    }

    /// Whether the bracket at a position is closed, by a rough count up to the end of the text.
    fn is_closed(&self, open: usize) -> bool {
        let mut depth = 0usize;
        let mut pos = open;
        while let Some(byte) = self.bytes.get(pos) {
            let starts_word = pos == 0 || {
                let before = self.byte(pos - 1);
                is_blank(before) || is_flow_indicator(before) || before == b':'
            };
            match byte {
                b'[' | b'{' => depth += 1,
                b']' | b'}' => {
                    depth -= 1;
                    if depth == 0 {
                        return true;
                    }
                }
                b'#' if self.is_blank(pos.wrapping_sub(1)) => pos = self.line_end(pos),
                b'"' | b'\'' if starts_word => {
                    let quote = *byte;
                    pos += 1;
                    while pos < self.bytes.len() && self.byte(pos) != quote {
                        pos += 1 + usize::from(quote == b'"' && self.byte(pos) == b'\\');
                    }
                }
                _ => {}
            }
            pos += 1;
        }
        false
    }

    /// The end of the last word before the cursor.
    fn last_word_end(&self) -> usize {
        let before = self.bytes.get(..self.pos).unwrap_or_default();
        before
            .iter()
            .rposition(|byte| !is_blank(*byte))
            .map_or(0, |at| at + 1)
    }

    #[cold]
    fn bad_flow_start(&mut self) -> Node<'s> {
        let start = self.pos;
        let length = self.char_len();
        let character = self.slice(start, start + length);
        let message = if matches!(self.peek(), b'-' | b'?') {
            format!("a `{character}` with a blank after it cannot stand inside brackets")
        } else {
            format!("a text without quotes cannot start with `{character}`")
        };
        self.report(
            Diagnostic::new(&codes::SYNTAX, self.span(start, start + length), message)
                .help("put the text in quotes"),
        );
        self.pos += length.max(1);
        while !matches!(self.peek(), b',' | b']' | b'}' | b'\n' | b'\r') && !self.ended() {
            self.pos += 1;
        }
        let text = Cow::Borrowed(self.slice(start, self.pos));
        Node::scalar(self.span(start, self.pos), text, Style::Plain)
    }

    #[cold]
    fn unclosed_bracket(&mut self, open: usize) {
        let bracket = self.slice(open, open + 1);
        let close = if bracket == "[" { "]" } else { "}" };
        let mut diagnostic = Diagnostic::new(
            &codes::SYNTAX,
            self.span(open, open + 1),
            format!("the bracket `{bracket}` is never closed"),
        )
        .label("opened here")
        .help(format!(
            "add the closing `{close}`; a text that starts with `{bracket}` must be quoted"
        ));
        if !self.ended() {
            let end = self.key_end(self.pos).unwrap_or(self.pos + 1);
            diagnostic =
                diagnostic.related(self.span(self.pos, end), "this no longer belongs to it");
        }
        self.report(diagnostic);
    }

    #[cold]
    fn wrong_bracket(&mut self, open: usize, close: u8) {
        let found = self.slice(self.pos, self.pos + 1);
        let close = char::from(close);
        let bracket = self.span(self.pos, self.pos + 1);
        self.report(
            Diagnostic::new(
                &codes::SYNTAX,
                bracket,
                format!("`{found}` where `{close}` is expected"),
            )
            .related(self.span(open, open + 1), "the bracket to close")
            .fix("use the bracket that fits", bracket, close.to_string()),
        );
    }
}

/// Where the last entry of a collection ends.
fn last_end(value: &Value<'_>) -> usize {
    let node = match value {
        Value::Scalar(_) => None,
        Value::List(list) => list.last(),
        Value::Map(map) => map.entries.last().map(|entry| &entry.value),
    };
    node.map_or(0, |node| node.alias().unwrap_or(node.span).end as usize)
}
