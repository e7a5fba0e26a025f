//! Nodes whose structure is shown by indentation.

use std::borrow::Cow;

use super::anchors::Properties;
use super::mapping::{Mapping, ReadKey, plain_key};
use super::reader::{NOWHERE, Reader};
use super::{Key, Node, Scalar, Style, Value};
use crate::source::Span;

/// What a node stands behind.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Nothing, or `---` on a line before.
    Root,
    /// `---` on the same line.
    Marker,
    /// `key:`. A list may be indented as its key is.
    Value,
    /// `-`. A collection may start on the same line.
    Item,
    /// `?` or the `:` after it. Both hold: a collection may start on the same line, a list may be
    /// indented as the `?` is.
    Explicit,
}

/// A column at which entries stand by mistake, and the place of the problem that says so.
struct WrongColumn {
    column: usize,
    problem: usize,
}

impl Place {
    fn allows_flush_list(self) -> bool {
        matches!(self, Place::Value | Place::Explicit)
    }

    fn allows_compact(self) -> bool {
        matches!(self, Place::Item | Place::Explicit)
    }
}

impl<'s> Reader<'s> {
    /// Reads the node after the cursor, which must be indented deeper than `n`. A missing node is
    /// an empty scalar at the cursor.
    pub(super) fn block_node(&mut self, n: isize, place: Place) -> Node<'s> {
        let origin = self.pos;
        self.tab = NOWHERE;
        self.skip_separation();
        match self.peek() {
            b'&' | b'!' if !self.ended() => self.node_with_properties(n, place, origin),
            _ => self.bare_node(n, place, origin),
        }
    }

    /// Reads a node at the cursor, before which no properties stand on its line.
    fn bare_node(&mut self, n: isize, place: Place, origin: usize) -> Node<'s> {
        let first_on_line = self.is_first_on_line();
        if self.ended() {
            return self.missing(origin);
        }
        if first_on_line && place != Place::Root || self.tab != NOWHERE {
            if first_on_line && self.tab != NOWHERE && self.indent() as isize <= n {
                self.settle_tab();
            }
            let column = self.column() as isize;
            if first_on_line && column <= n {
                if place.allows_flush_list() && column == n && self.at_indicator(b'-') {
                    return self.block_list(n - 1, true);
                }
                return self.missing(origin);
            }
        }
        let may_start_block = first_on_line || place.allows_compact();
        self.content(n, place, may_start_block, self.pos, Properties::default())
    }

    /// Reads a node whose properties start at the cursor. Properties on a line of their own belong
    /// to the node; before a key they belong to the key.
    #[cold]
    fn node_with_properties(&mut self, n: isize, place: Place, origin: usize) -> Node<'s> {
        let mut outer = Properties::default();
        let mut place = place;
        loop {
            let first_on_line = self.is_first_on_line();
            if first_on_line {
                if self.tab != NOWHERE && self.indent() as isize <= n {
                    self.settle_tab();
                }
                if self.column() as isize <= n {
                    let mut node = if place.allows_flush_list()
                        && self.column() as isize == n
                        && self.at_indicator(b'-')
                    {
                        self.open_anchor(&outer);
                        self.block_list(n - 1, true)
                    } else {
                        self.missing(origin)
                    };
                    self.apply(&mut node, outer);
                    return node;
                }
            }
            if !matches!(self.peek(), b'&' | b'!') {
                let may_start_block = first_on_line || place.allows_compact();
                self.open_anchor(&outer);
                let mut node =
                    self.content(n, place, may_start_block, self.pos, Properties::default());
                self.apply(&mut node, outer);
                return node;
            }
            let start = self.pos;
            let may_start_block = first_on_line || place.allows_compact();
            let inner = self.properties(false);
            let end = self.pos;
            self.tab = NOWHERE;
            self.skip_separation();
            if self.ended() {
                self.join(&mut outer, inner);
                let mut node = self.missing(end);
                self.open_anchor(&outer);
                self.apply(&mut node, outer);
                return node;
            }
            if self.is_first_on_line() && self.pos > end {
                self.join(&mut outer, inner);
                // What comes now stands on its own line.
                if place == Place::Item || place == Place::Marker {
                    place = Place::Root;
                }
                continue;
            }
            self.open_anchor(&outer);
            let inner_span = inner.span();
            let mut node = self.content(n, place, may_start_block, start, inner);
            if let (Some(_), Some(span)) = (outer.span(), inner_span)
                && node.span.start as usize > start
            {
                // Not before a key, so both belong to this one node.
                self.two_properties(span);
            }
            self.apply(&mut node, outer);
            return node;
        }
    }

    #[cold]
    fn join(&mut self, outer: &mut Properties<'s>, inner: Properties<'s>) {
        if let (Some(_), Some(span)) = (outer.span(), inner.span()) {
            let clash = outer.anchor.is_some() && inner.anchor.is_some()
                || outer.tag.is_some() && inner.tag.is_some();
            if clash {
                self.two_properties(span);
            }
        }
        outer.anchor = outer.anchor.take().or(inner.anchor);
        outer.tag = outer.tag.take().or(inner.tag);
    }

    /// Reads what stands at the cursor. `start` is where its line's part of the node begins: the
    /// cursor, or the properties before it.
    fn content(
        &mut self,
        n: isize,
        place: Place,
        may_start_block: bool,
        start: usize,
        properties: Properties<'s>,
    ) -> Node<'s> {
        let bare = properties.is_empty();
        match self.peek() {
            b'-' if self.is_blank(self.pos + 1) => {
                if !may_start_block || !bare {
                    self.list_on_key_line(n, place, properties.span());
                }
                self.check_tab();
                self.block_list(n, false)
            }
            b'?' if self.is_blank(self.pos + 1) => {
                if !may_start_block || !bare {
                    self.map_on_key_line();
                }
                self.check_tab();
                self.block_map(n, None)
            }
            b':' if self.is_blank(self.pos + 1) => {
                let at = self.pos;
                self.map_from_key(n, start, may_start_block, properties, |reader| {
                    reader.missing(at)
                })
            }
            b'|' | b'>' => {
                self.open_anchor(&properties);
                let mut node = self.block_scalar(n);
                self.count(&node);
                self.apply(&mut node, properties);
                node
            }
            b'[' | b'{' => {
                self.open_anchor(&properties);
                let line = self.line();
                let node = self.flow_collection(n);
                self.key_or_node(n, start, line, may_start_block, properties, node)
            }
            b'"' | b'\'' => {
                let line = self.line();
                let node = self.quoted(n);
                self.count(&node);
                self.key_or_node(n, start, line, may_start_block, properties, node)
            }
            b'*' => {
                if let Some(span) = properties.span() {
                    self.alias_with_properties(span);
                }
                let line = self.line();
                let node = self.alias(false);
                self.key_or_node(n, start, line, may_start_block, Properties::default(), node)
            }
            _ if self.starts_plain(false) => self.plain_node(n, start, may_start_block, properties),
            _ => {
                let mut node = self.bad_start();
                self.apply(&mut node, properties);
                node
            }
        }
    }

    #[inline]
    fn plain_node(
        &mut self,
        n: isize,
        start: usize,
        may_start_block: bool,
        properties: Properties<'s>,
    ) -> Node<'s> {
        let word = self.pos;
        let column = self.column();
        let end = self.plain_line(false);
        if self.peek() == b':' {
            if may_start_block {
                let span = self.span(word, end);
                if properties.is_empty() {
                    let key = plain_key(self.slice(word, end), span);
                    return self.block_map_at(n, column, word, key);
                }
                let scalar = Scalar {
                    text: Cow::Borrowed(self.slice(word, end)),
                    style: Style::Plain,
                };
                let node = Node::new(span, Value::Scalar(scalar));
                return self.map_from_key(n, start, true, properties, |_| node);
            }
            return self.colon_in_value(n, word, properties);
        }
        let plain = self.plain_rest(n, false, word, end);
        if plain.before_key
            && may_start_block
            && start == word
            && self.next_word_column() == Some(column)
        {
            // The next line is a `key:` at the same column: this one should have been one too.
            self.no_colon(word, plain.end, None);
            self.skip_separation();
            return self.block_map(n, Some(column));
        }
        let span = self.span(plain.start, plain.end);
        let scalar = Scalar {
            text: plain.text,
            style: Style::Plain,
        };
        let mut node = Node::new(span, Value::Scalar(scalar));
        self.count(&node);
        if !properties.is_empty() {
            self.apply(&mut node, properties);
        }
        node
    }

    /// A quoted, bracketed or aliased node that has been read is a key if a `:` follows it.
    fn key_or_node(
        &mut self,
        n: isize,
        start: usize,
        line: usize,
        may_start_block: bool,
        properties: Properties<'s>,
        mut node: Node<'s>,
    ) -> Node<'s> {
        let end = self.pos;
        self.skip_blanks();
        if self.peek() == b':' && self.is_blank(self.pos + 1) && !self.is_stopped() {
            if self.line() != line {
                self.key_of_many_lines(node.span);
            } else if may_start_block {
                return self.map_from_key(n, start, true, properties, |_| node);
            } else {
                let word = node.span.start as usize;
                return self.colon_in_value(n, word, properties);
            }
            self.pos = self.line_end(self.pos);
            return node;
        }
        self.pos = end;
        if !properties.is_empty() {
            self.apply(&mut node, properties);
        }
        node
    }

    /// Reads a mapping whose first key has been read, with the cursor at its `:`. The key's line
    /// begins, properties included, at `start`.
    fn map_from_key(
        &mut self,
        n: isize,
        start: usize,
        may_start_block: bool,
        properties: Properties<'s>,
        key: impl FnOnce(&mut Self) -> Node<'s>,
    ) -> Node<'s> {
        if !may_start_block {
            return self.colon_in_value(n, self.pos, properties);
        }
        let column = self.column().saturating_sub(self.pos - start);
        let mut node = key(self);
        let span_start = (node.alias().unwrap_or(node.span).start as usize).min(start);
        if !properties.is_empty() {
            self.apply(&mut node, properties);
        }
        let key = self.key(node);
        self.block_map_at(n, column, span_start, key)
    }

    /// Reads a mapping, with the cursor behind its first key.
    fn block_map_at(
        &mut self,
        n: isize,
        column: usize,
        start: usize,
        key: ReadKey<'s>,
    ) -> Node<'s> {
        if self.tab != NOWHERE {
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
    fn block_map(&mut self, n: isize, column: Option<usize>) -> Node<'s> {
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
        let mut map = Mapping::new();
        let indent = column as isize;
        let mut key = first;
        let mut wrong = None;
        loop {
            let (read, value) = match key.take() {
                Some(key) => {
                    self.pos += 1;
                    (key, self.block_node(indent, Place::Value))
                }
                None if self.at_indicator(b'?') => self.explicit_entry(indent),
                None => {
                    if let Some(key) = self.next_key(indent, &map) {
                        self.pos += 1;
                        (key, self.block_node(indent, Place::Value))
                    } else if self.next_entry(n, column, &mut wrong, start) {
                        // The line that is no entry has been reported and passed.
                        continue;
                    } else {
                        break;
                    }
                }
            };
            span.end = span.end.max(end_of(&read, &value));
            map.add(self, read, value);
            if !self.next_entry(n, column, &mut wrong, start) {
                break;
            }
        }
        self.leave();
        Node::new(span, map.finish(self))
    }

    /// Goes to the next entry of a collection whose entries stand at `column`; false if there is
    /// none.
    #[inline]
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
    #[inline]
    fn next_key(&mut self, indent: isize, map: &Mapping<'s>) -> Option<ReadKey<'s>> {
        let start = self.pos;
        if self.starts_plain(false) {
            let end = self.plain_line(false);
            if self.peek() == b':' {
                return Some(plain_key(self.slice(start, end), self.span(start, end)));
            }
            self.no_colon(start, end, map.last());
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
                self.item_in_map(map.last());
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
            self.no_colon(start, end, map.last());
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
    fn block_list(&mut self, n: isize, flush: bool) -> Node<'s> {
        let start = self.pos;
        let column = self.column();
        let mut span = self.span(start, start);
        if !self.enter() || !self.charge(1, span) {
            return Node::new(span, Value::List(Vec::new()));
        }
        let mut list = Vec::new();
        let mut wrong = None;
        loop {
            self.pos += 1;
            span.end = span.end.max(self.pos as u32);
            let item = self.block_node(column as isize, Place::Item);
            span.end = span.end.max(item.alias().unwrap_or(item.span).end);
            list.push(item);
            let more = loop {
                if !self.next_entry(n, column, &mut wrong, start) {
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
        Node::new(span, Value::List(list))
    }

    /// A scalar that is not there.
    pub(super) fn missing(&mut self, at: usize) -> Node<'s> {
        let node = Node::new(
            self.span(at, at),
            Value::Scalar(Scalar {
                text: Cow::Borrowed(""),
                style: Style::Plain,
            }),
        );
        self.count(&node);
        node
    }

    #[inline]
    pub(super) fn count(&mut self, node: &Node<'s>) {
        self.charge(1, node.span);
    }

    /// A collection starts at the cursor: no tab may stand before it.
    fn check_tab(&mut self) {
        if self.tab != NOWHERE {
            self.settle_tab();
        }
    }
}

fn end_of(key: &ReadKey<'_>, value: &Node<'_>) -> u32 {
    let value_end = value.alias().unwrap_or(value.span).end;
    match key {
        ReadKey::Text(
            Key {
                span: Span { end, .. },
                ..
            },
            _,
        ) => value_end.max(*end),
        ReadKey::Bad => value_end,
    }
}
