//! Nodes whose structure is shown by indentation: what stands where a node is expected.

use std::borrow::Cow;

use super::anchors::Properties;
use super::mapping::ReadKey;
use super::reader::{NOWHERE, Reader};
use super::{Node, Style};

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
        if self.surely_starts_plain() {
            let word = self.pos;
            let column = self.column();
            let end = self.plain_line_within::<false>();
            if self.plain_ends_with_line(n) {
                return self.plain_scalar(word, end);
            }
            let line = (word, end, column);
            return self.plain_node(n, word, line, may_start_block, Properties::default());
        }
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
            let clash = outer.anchor.is_some() && inner.anchor.is_some()
                || outer.tag.is_some() && inner.tag.is_some();
            let inner_span = inner.span().filter(|_| clash);
            let mut node = self.content(n, place, may_start_block, start, inner);
            if let Some(span) = inner_span
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
            _ if self.starts_plain(false) => {
                let word = self.pos;
                let column = self.column();
                let end = self.plain_line(false);
                self.plain_node(n, start, (word, end, column), may_start_block, properties)
            }
            _ => {
                let mut node = self.bad_start();
                self.apply(&mut node, properties);
                node
            }
        }
    }

    /// Reads on behind the first line of a plain scalar, given its start, end and column.
    fn plain_node(
        &mut self,
        n: isize,
        start: usize,
        (word, end, column): (usize, usize, usize),
        may_start_block: bool,
        properties: Properties<'s>,
    ) -> Node<'s> {
        if self.peek() == b':' {
            if may_start_block {
                let span = self.span(word, end);
                if properties.is_empty() {
                    let key = ReadKey::Plain(self.slice(word, end), span);
                    return self.block_map_at(n, column, word, key);
                }
                let text = Cow::Borrowed(self.slice(word, end));
                let node = Node::scalar(span, text, Style::Plain);
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
        let mut node = Node::scalar(span, plain.text, Style::Plain);
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

    /// A plain scalar on one line.
    #[inline]
    pub(super) fn plain_scalar(&mut self, start: usize, end: usize) -> Node<'s> {
        let text = Cow::Borrowed(self.slice(start, end));
        let node = Node::scalar(self.span(start, end), text, Style::Plain);
        self.count(&node);
        node
    }

    /// A scalar that is not there.
    pub(super) fn missing(&mut self, at: usize) -> Node<'s> {
        let node = Node::scalar(self.span(at, at), Cow::Borrowed(""), Style::Plain);
        self.count(&node);
        node
    }

    #[inline]
    pub(super) fn count(&mut self, node: &Node<'s>) {
        self.charge(1, node.span);
    }

    /// A collection starts at the cursor: no tab may stand before it.
    pub(super) fn check_tab(&mut self) {
        if self.tab != NOWHERE {
            self.settle_tab();
        }
    }
}
