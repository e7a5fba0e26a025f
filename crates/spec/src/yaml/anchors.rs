//! What may stand before a node (`&anchor`, `!tag`) or instead of one (`*alias`).

use std::borrow::Cow;

use super::reader::{Reader, is_flow_indicator};
use super::{Node, Scalar, Style, Value};
use crate::diagnostic::{Diagnostic, codes};
use crate::source::Span;

/// A text that an alias repeats counts as one more node for each so many bytes.
const BYTES_PER_NODE: usize = 100;

/// What an anchor names.
pub(super) struct Anchor<'s> {
    /// Where the anchor stands.
    span: Span,
    /// The node; missing while it is being read.
    node: Option<Node<'s>>,
    /// What a copy costs.
    cost: usize,
    /// How many levels the node has.
    height: usize,
}

/// The properties of a node.
#[derive(Default)]
pub(super) struct Properties<'s> {
    pub(super) anchor: Option<(&'s str, Span)>,
    pub(super) tag: Option<(Cow<'s, str>, Span)>,
}

impl Properties<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.anchor.is_none() && self.tag.is_none()
    }

    pub(super) fn span(&self) -> Option<Span> {
        match (&self.anchor, &self.tag) {
            (Some((_, anchor)), Some((_, tag))) if anchor.start < tag.start => {
                Some(anchor.to(*tag))
            }
            (Some((_, anchor)), Some((_, tag))) => Some(tag.to(*anchor)),
            (Some((_, span)), None) | (None, Some((_, span))) => Some(*span),
            (None, None) => None,
        }
    }
}

impl<'s> Reader<'s> {
    /// Reads the properties at the cursor, on this line.
    #[cold]
    pub(super) fn properties(&mut self, flow: bool) -> Properties<'s> {
        let mut properties = Properties::default();
        loop {
            let start = self.pos;
            match self.peek() {
                b'&' => {
                    let name = self.anchor_name(flow);
                    let span = self.span(start, self.pos);
                    if let Some((_, first)) = properties.anchor {
                        self.twice("anchors", first, span);
                    } else if !name.is_empty() {
                        properties.anchor = Some((name, span));
                    }
                }
                b'!' => {
                    let tag = self.tag(flow);
                    let span = self.span(start, self.pos);
                    if let Some((_, first)) = &properties.tag {
                        let first = *first;
                        self.twice("tags", first, span);
                    } else {
                        properties.tag = Some((tag, span));
                    }
                }
                _ => return properties,
            }
            if !(self.is_blank(self.pos) || flow && is_flow_indicator(self.peek())) {
                self.report(
                    Diagnostic::new(
                        &codes::SYNTAX,
                        self.span(self.pos, self.pos + self.char_len()),
                        "a space is missing here",
                    )
                    .fix("insert a space", self.span(self.pos, self.pos), " "),
                );
                return properties;
            }
            let end = self.pos;
            self.skip_blanks();
            if !matches!(self.peek(), b'&' | b'!') {
                self.pos = end;
                return properties;
            }
        }
    }

    #[cold]
    fn twice(&mut self, what: &str, first: Span, second: Span) {
        self.report(
            Diagnostic::new(
                &codes::SYNTAX,
                second,
                format!("a value cannot have two {what}"),
            )
            .related(first, "the first"),
        );
    }

    /// Reads the name of an anchor or alias, with its `&` or `*` at the cursor.
    fn anchor_name(&mut self, flow: bool) -> &'s str {
        let start = self.pos + 1;
        let mut end = start;
        while !self.is_blank(end) && !is_flow_indicator(self.byte(end)) {
            end += 1;
        }
        if !flow && is_flow_indicator(self.byte(end)) {
            let bad = self.span(end, end + 1);
            self.report(Diagnostic::new(
                &codes::SYNTAX,
                bad,
                format!(
                    "`{}` cannot be part of an anchor's name",
                    self.slice(end, end + 1)
                ),
            ));
            while !self.is_blank(end) {
                end += 1;
            }
        } else if end == start {
            let indicator = self.slice(self.pos, start);
            let span = self.span(self.pos, start);
            self.report(
                Diagnostic::new(
                    &codes::SYNTAX,
                    span,
                    format!("`{indicator}` has no name after it"),
                )
                .help(format!(
                    "a text that starts with `{indicator}` must be quoted"
                )),
            );
        }
        self.pos = end;
        self.slice(start, end)
    }

    /// Reads a tag as written, with its `!` at the cursor.
    fn tag(&mut self, flow: bool) -> Cow<'s, str> {
        let start = self.pos;
        if self.byte(start + 1) == b'<' {
            while !self.is_blank(self.pos) && self.peek() != b'>' {
                self.pos += 1;
            }
            if self.peek() == b'>' && self.pos > start + 2 {
                self.pos += 1;
            } else {
                let span = self.span(start, self.pos);
                self.report(Diagnostic::new(
                    &codes::SYNTAX,
                    span,
                    "the tag `!<` is not closed by `>`",
                ));
            }
            return Cow::Borrowed(self.slice(start, self.pos));
        }
        while !self.is_blank(self.pos) && !is_flow_indicator(self.peek()) {
            self.pos += 1;
        }
        if !flow && is_flow_indicator(self.peek()) {
            let bad = self.span(self.pos, self.pos + 1);
            self.report(Diagnostic::new(
                &codes::SYNTAX,
                bad,
                format!(
                    "`{}` cannot be part of a tag",
                    self.slice(self.pos, self.pos + 1)
                ),
            ));
            while !self.is_blank(self.pos) {
                self.pos += 1;
            }
        }
        let tag = self.slice(start, self.pos);
        let handle = tag[1..].find('!').map(|at| &tag[..at + 2]);
        if let Some(handle) = handle
            && handle != "!!"
            && !self.tag_handles.contains(handle)
        {
            let span = self.span(start, start + handle.len());
            self.report(
                Diagnostic::new(&codes::SYNTAX, span, "no `%TAG` line declares this tag")
                    .help("a text that starts with `!` must be quoted"),
            );
        }
        Cow::Borrowed(tag)
    }

    /// Says that an anchored node begins, so that an alias inside can be told that it would
    /// repeat itself.
    pub(super) fn open_anchor(&mut self, properties: &Properties<'s>) {
        if let Some((name, span)) = properties.anchor {
            let anchor = Anchor {
                span,
                node: None,
                cost: 0,
                height: 0,
            };
            self.anchors.insert(name, anchor);
        }
    }

    /// Gives a node that has been read its properties, and keeps it for aliases.
    pub(super) fn apply(&mut self, node: &mut Node<'s>, properties: Properties<'s>) {
        if let Some((tag, _)) = properties.tag {
            node.set_tag(tag);
        }
        if let Some((name, span)) = properties.anchor {
            let bytes = self.bytes;
            let last_star = *self
                .last_star
                .get_or_insert_with(|| bytes.iter().rposition(|byte| *byte == b'*').unwrap_or(0));
            if last_star < self.pos {
                return;
            }
            let (cost, height) = measure(node);
            // The kept copy is charged like an alias: anchors inside anchors would else cost
            // their nesting times their size.
            if self.charge(cost, span) {
                let node = Some(node.clone());
                self.anchors.insert(
                    name,
                    Anchor {
                        span,
                        node,
                        cost,
                        height,
                    },
                );
            }
        }
    }

    /// Reads an alias at the cursor and copies what it names.
    #[cold]
    pub(super) fn alias(&mut self, flow: bool) -> Node<'s> {
        let start = self.pos;
        let name = self.anchor_name(flow);
        let span = self.span(start, self.pos);
        let (problem, first) = match self.anchors.get(name) {
            Some(Anchor {
                node: Some(_),
                cost,
                height,
                ..
            }) => {
                let (cost, height) = (*cost, *height);
                if self.depth + height > self.limits.depth {
                    self.too_deep();
                } else if self.charge(cost, span)
                    && let Some(Anchor {
                        node: Some(node), ..
                    }) = self.anchors.get(name)
                {
                    let mut copy = node.clone();
                    copy.set_alias(span);
                    return copy;
                }
                return nothing(span);
            }
            Some(anchor) => (
                Diagnostic::new(
                    &codes::UNKNOWN_ALIAS,
                    span,
                    "this alias stands inside what it repeats",
                ),
                Some(anchor.span),
            ),
            None if name.is_empty() => return nothing(span),
            None => {
                let close = self
                    .anchors
                    .keys()
                    .copied()
                    .filter(|other| other.eq_ignore_ascii_case(name) || close(other, name))
                    .min();
                let mut problem =
                    Diagnostic::new(&codes::UNKNOWN_ALIAS, span, "no anchor of this name stands before the alias")
                        .help("an alias repeats a value that is marked with `&` further up; a text that starts with `*` must be quoted");
                if let Some(close) = close {
                    problem = problem.help(format!("did you mean `*{close}`?")).fix(
                        "name the anchor",
                        span,
                        format!("*{close}"),
                    );
                } else {
                    problem.fix = Some(self.quote_fix(start));
                }
                (problem, None)
            }
        };
        let problem = match first {
            Some(first) => problem.related(first, "the anchor"),
            None => problem,
        };
        self.report(problem);
        nothing(span)
    }
}

/// Whether two names differ in one place only.
fn close(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let same_start = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let rest = (one.len() - same_start).max(other.len() - same_start);
    let same_end = one
        .iter()
        .rev()
        .zip(other.iter().rev())
        .take(one.len().min(other.len()) - same_start)
        .take_while(|(a, b)| a == b)
        .count();
    one.len().max(other.len()) > 2 && rest - same_end.min(rest) <= 1
}

fn nothing<'s>(span: Span) -> Node<'s> {
    Node::new(
        span,
        Value::Scalar(Scalar {
            text: Cow::Borrowed(""),
            style: Style::Plain,
        }),
    )
}

/// The cost of a copy in nodes, and how many levels of collections it has.
fn measure(node: &Node<'_>) -> (usize, usize) {
    match &node.value {
        Value::Scalar(scalar) => (1 + scalar.text.len() / BYTES_PER_NODE, 0),
        Value::List(list) => sum(list.iter().map(measure)),
        Value::Map(map) => sum(map.entries.iter().map(|entry| {
            let (cost, height) = measure(&entry.value);
            (cost + entry.key.text.len() / BYTES_PER_NODE, height)
        })),
    }
}

fn sum(parts: impl Iterator<Item = (usize, usize)>) -> (usize, usize) {
    let (cost, height) = parts.fold((1, 0), |sum, part| (sum.0 + part.0, sum.1.max(part.1)));
    (cost, height + 1)
}
