//! Lists and mappings whose entries line up at a column.

use std::borrow::Cow;

use super::anchors::Properties;
use super::block::Place;
use super::mapping::{Mapping, ReadKey};
use super::reader::{NOWHERE, Reader};
use super::{Key, Node, Scalar, Style, Value};
use crate::source::Span;

/// A column at which entries stand by mistake, and the place of the problem that says so.
struct WrongColumn {
    column: usize,
    problem: usize,
}

impl<'s> Reader<'s> {
    /// Reads a mapping, with the cursor behind its first key.
    pub(super) fn block_map_at(
        &mut self,
        n: isize,
        column: usize,
        start: usize,
        key: ReadKey<'s>,
    ) -> Node<'s> {
        // A tab behind the start lies inside the key.
        if self.tab < start {
            return self.tabbed_map(n, start, key);
        }
        self.map_entries(n, column, start, Some(key))
    }

    #[cold]
    fn tabbed_map(&mut self, n: isize, start: usize, key: ReadKey<'s>) -> Node<'s> {
        let colon = self.pos;
        self.pos = start;
        self.check_tab();
        let column = self.column();
        self.pos = colon;
        self.map_entries(n, column, start, Some(key))
    }

    /// Reads a mapping, with the cursor at its first key or `?`.
    pub(super) fn block_map(&mut self, n: isize, column: Option<usize>) -> Node<'s> {
        let column = column.unwrap_or_else(|| self.column());
        self.map_entries(n, column, self.pos, None)
    }

    /// Reads the entries of a mapping whose keys stand at `column`. If the first key has been
    /// read, the cursor is at its `:`.
    fn map_entries(
        &mut self,
        n: isize,
        column: usize,
        start: usize,
        first: Option<ReadKey<'s>>,
    ) -> Node<'s> {
        let mut span = self.span(start, start);
        if !self.enter() || !self.charge(1, span) {
            return Node::new(span, Value::Map(super::Map::default()));
        }
        let mut map = Mapping::new(self);
        let mut first = first;
        let mut wrong = None;
        loop {
            match first.take() {
                Some(ReadKey::Plain(text, key_span)) => {
                    self.plain_entry(column, text, key_span, &mut map, &mut span);
                }
                Some(key) => self.entry(column, key, &mut map, &mut span),
                None => match self.plain_key() {
                    Some((text, key_span)) => {
                        self.plain_entry(column, text, key_span, &mut map, &mut span);
                    }
                    None => self.unusual_entry(column, &mut map, &mut span),
                },
            }
            if !self.has_more(n, column, &mut wrong, start) {
                break;
            }
        }
        self.leave();
        Node::new(span, map.finish(self))
    }

    /// Reads the key at the cursor, if it is a plain text with a `:` behind it as most are, and
    /// leaves the cursor at the `:`.
    #[inline]
    fn plain_key(&mut self) -> Option<(&'s str, Span)> {
        if !self.surely_starts_plain() {
            return None;
        }
        let start = self.pos;
        let end = self.plain_line_within::<false>();
        if self.peek() == b':' {
            return Some((self.slice(start, end), self.span(start, end)));
        }
        self.pos = start;
        None
    }

    /// Reads the value of a plain key, with the cursor at the `:`.
    // Most entries of a file are read by it.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    fn plain_entry(
        &mut self,
        column: usize,
        text: &'s str,
        key_span: Span,
        map: &mut Mapping<'s>,
        span: &mut Span,
    ) {
        self.pos += 1;
        let indent = column as isize;
        let value = if let Some((start, end)) = self.usual_value(indent) {
            span.end = end as u32;
            self.plain_scalar(start, end)
        } else {
            let value = self.block_node(indent, Place::Value);
            let end = value.alias().unwrap_or(value.span).end;
            span.end = span.end.max(key_span.end).max(end);
            value
        };
        map.add_plain(self, text, key_span, value);
    }

    /// Reads the value of a key, with the cursor at the `:`.
    fn entry(&mut self, column: usize, key: ReadKey<'s>, map: &mut Mapping<'s>, span: &mut Span) {
        self.pos += 1;
        let value = self.block_node(column as isize, Place::Value);
        span.end = span.end.max(end_of(&key, &value));
        map.add(self, key, value);
    }

    /// Reads an entry that does not begin with a plain key and a `:`.
    #[inline(never)]
    fn unusual_entry(&mut self, column: usize, map: &mut Mapping<'s>, span: &mut Span) {
        let indent = column as isize;
        if self.at_indicator(b'?') {
            let (key, value) = self.explicit_entry(indent);
            span.end = span.end.max(end_of(&key, &value));
            map.add(self, key, value);
        } else if let Some(key) = self.next_key(indent, map) {
            self.entry(column, key, map, span);
        }
    }

    /// Goes to the next entry of a collection whose entries stand at `column`; false if there is
    /// none.
    // Behind most values the cursor is at the first word of a line already.
    #[inline]
    fn has_more(
        &mut self,
        n: isize,
        column: usize,
        wrong: &mut Option<WrongColumn>,
        start: usize,
    ) -> bool {
        if self.is_first_on_line() && self.is_word(self.pos) && self.tab == NOWHERE && !self.ended()
        {
            let found = self.column();
            if found == column {
                return true;
            }
            if found as isize <= n {
                return false;
            }
        }
        self.next_entry(n, column, wrong, start)
    }

    #[inline(never)]
    fn next_entry(
        &mut self,
        n: isize,
        column: usize,
        wrong: &mut Option<WrongColumn>,
        start: usize,
    ) -> bool {
        loop {
            self.skip_separation();
            if self.ended() {
                return false;
            }
            if !self.is_first_on_line() {
                self.text_after_value(column as isize);
                continue;
            }
            if self.tab != NOWHERE {
                self.settle_tab();
                if self.column() as isize > n {
                    // Nobody knows how wide the tabs were meant: as wide as it fits.
                    self.snap_tab(column);
                }
            }
            let found = self.column();
            if found == column {
                return true;
            }
            if found as isize <= n {
                return false;
            }
            if let Some(wrong) = wrong
                && wrong.column == found
            {
                self.wrong_indent_again(column, wrong.problem);
                return true;
            }
            if !self.starts_entry() {
                self.stray_text(column, start);
                continue;
            }
            let problem = self.wrong_indent(column, start);
            *wrong = Some(WrongColumn {
                column: found,
                problem,
            });
            return true;
        }
    }

    /// Reads the key at the cursor and leaves the cursor at its `:`. If there is no key, reports
    /// that, passes the line and those that belong to it, and gives nothing.
    fn next_key(&mut self, indent: isize, map: &Mapping<'s>) -> Option<ReadKey<'s>> {
        let start = self.pos;
        if self.starts_plain(false) {
            let end = self.plain_line_within::<false>();
            if self.peek() == b':' {
                let span = self.span(start, end);
                return Some(ReadKey::Plain(self.slice(start, end), span));
            }
            let before = map.last(self);
            self.no_colon(start, end, before);
            self.resync(indent);
            return None;
        }
        self.unusual_key(indent, map)
    }

    fn unusual_key(&mut self, indent: isize, map: &Mapping<'s>) -> Option<ReadKey<'s>> {
        let start = self.pos;
        let line = self.line();
        let properties = match self.peek() {
            b'&' | b'!' => {
                let properties = self.properties(false);
                self.skip_blanks();
                properties
            }
            _ => Properties::default(),
        };
        let word = self.pos;
        let mut node = match self.peek() {
            b'"' | b'\'' => self.quoted(indent),
            b'[' | b'{' => self.flow_collection(indent),
            b'*' => {
                if let Some(span) = properties.span() {
                    self.alias_with_properties(span);
                }
                self.alias(false)
            }
            b':' if self.is_blank(self.pos + 1) => self.missing(word),
            b'-' if self.is_blank(self.pos + 1) => {
                let before = map.last(self);
                self.item_in_map(before);
                self.resync(indent);
                return None;
            }
            _ if self.starts_plain(false) => {
                let end = self.plain_line(false);
                let scalar = Scalar {
                    text: Cow::Borrowed(self.slice(word, end)),
                    style: Style::Plain,
                };
                Node::new(self.span(word, end), Value::Scalar(scalar))
            }
            _ => {
                self.bad_start();
                self.resync(indent);
                return None;
            }
        };
        let end = self.pos;
        self.skip_blanks();
        if !properties.is_empty() {
            self.apply(&mut node, properties);
        }
        if self.at_indicator(b':') {
            if self.line() != line {
                self.key_of_many_lines(node.span);
                self.resync(indent);
                return None;
            }
            return Some(self.key(node));
        }
        if !self.is_stopped() && self.line() == line {
            let before = map.last(self);
            self.no_colon(start, end, before);
        }
        self.resync(indent);
        None
    }

    /// Reads `? key` and, on a line of its own, `: value`.
    fn explicit_entry(&mut self, indent: isize) -> (ReadKey<'s>, Node<'s>) {
        self.pos += 1;
        let key = self.block_node(indent, Place::Explicit);
        self.skip_separation();
        let at_colon = self.is_first_on_line()
            && !self.ended()
            && self.at_indicator(b':')
            && self.column() as isize == indent;
        let empty = key.span;
        let key = self.key(key);
        if at_colon {
            self.pos += 1;
            return (key, self.block_node(indent, Place::Explicit));
        }
        (key, self.missing(empty.end as usize))
    }

    /// Reads a list whose `-` stands at the cursor. A flush list is indented like the key that it
    /// belongs to, so a word at its column that is no `-` is the next key.
    pub(super) fn block_list(&mut self, n: isize, flush: bool) -> Node<'s> {
        let start = self.pos;
        let column = self.column();
        let mut span = self.span(start, start);
        if !self.enter() || !self.charge(1, span) {
            return Node::new(span, Value::List(Vec::new()));
        }
        let first = self.items.len();
        let mut wrong = None;
        loop {
            self.pos += 1;
            span.end = span.end.max(self.pos as u32);
            let item = self.block_node(column as isize, Place::Item);
            span.end = span.end.max(item.alias().unwrap_or(item.span).end);
            self.items.push(item);
            let more = loop {
                if !self.has_more(n, column, &mut wrong, start) {
                    break false;
                }
                if self.at_indicator(b'-') {
                    break true;
                }
                if flush && self.column() == column && !self.lacks_space_after_dash() {
                    break false;
                }
                self.no_dash(start);
                self.resync(column as isize);
            };
            if !more {
                break;
            }
        }
        self.leave();
        Node::new(span, Value::List(self.items.split_off(first)))
    }
}

fn end_of(key: &ReadKey<'_>, value: &Node<'_>) -> u32 {
    let value_end = value.alias().unwrap_or(value.span).end;
    match key {
        ReadKey::Plain(_, span) | ReadKey::Text(Key { span, .. }, _) => value_end.max(span.end),
        ReadKey::Bad => value_end,
    }
}
