//! Where a part of a scalar stands in its source, and edits that keep the file's layout.

use std::ops::Range;

use crate::diagnostic::Edit;
use crate::source::{Sources, Span};
use crate::yaml::{Entry, Node};

/// The span of some bytes of a scalar's decoded text. `None` if they cannot be found as written.
pub(super) fn part_span(sources: &Sources, node: &Node<'_>, range: Range<usize>) -> Option<Span> {
    if node.alias().is_some() {
        return None;
    }
    let decoded = &*node.as_scalar()?.text;
    let wanted = decoded.get(range.clone()).filter(|text| !text.is_empty())?;
    let written = sources.slice(node.span);
    let nth = decoded.get(..range.start)?.matches(wanted).count();
    if decoded.matches(wanted).count() != written.matches(wanted).count() {
        return None;
    }
    let (start, _) = written.match_indices(wanted).nth(nth)?;
    Some(node.span.part(start, start + wanted.len()))
}

/// The place of a node for people: where an alias stands that brought it, or else itself.
pub(super) fn shown_span(node: &Node<'_>) -> Span {
    node.alias().unwrap_or(node.span)
}

/// The edit that removes an entry of a block mapping with its lines. `None` if it shares a line
/// with something else, is the only entry, or holds an anchor.
pub(super) fn remove_entry(sources: &Sources, entry: &Entry<'_>, siblings: usize) -> Option<Edit> {
    if entry.key.span.source != entry.value.span.source || entry.value.alias().is_some() {
        return None;
    }
    remove_lines(sources, entry.key.span.to(entry.value.span), siblings, "")
}

/// The same for an item of a block list.
pub(super) fn remove_item(sources: &Sources, item: &Node<'_>, siblings: usize) -> Option<Edit> {
    remove_lines(sources, item.span, siblings, "-")
}

fn remove_lines(sources: &Sources, span: Span, siblings: usize, mark: &str) -> Option<Edit> {
    if siblings < 2 {
        return None;
    }
    let source = sources.get(span.source);
    let text = source.text();
    let removed = text.get(span.range())?;
    let start = text
        .get(..span.range().start)?
        .rfind('\n')
        .map_or(0, |at| at + 1);
    let before = text.get(start..span.range().start)?.trim();
    let end = if removed.ends_with('\n') {
        span.range().end
    } else {
        let rest = text.get(span.range().end..)?;
        let line = rest.find('\n').map_or(rest.len(), |at| at + 1);
        let behind = rest.get(..line)?.trim();
        if !behind.is_empty() && !behind.starts_with('#') {
            return None;
        }
        span.range().end + line
    };
    (before == mark && !removed.contains('&')).then(|| Edit {
        span: Span::new(span.source, start, end),
        replacement: String::new(),
    })
}

/// The edit that gives a mapping a first entry. `None` if it has none to stand before, or stands
/// in several places.
pub(super) fn insert_first(
    sources: &Sources,
    map: &Node<'_>,
    block: impl FnOnce(&str) -> String,
    flow: &str,
) -> Option<Edit> {
    let first = map.as_map()?.entries.first()?;
    if map.alias().is_some() || first.merged.is_some() {
        return None;
    }
    let key = first.key.span;
    let source = sources.get(key.source);
    let is_flow = source.slice(map.span).starts_with('{');
    let column = source.place(key.start).column as usize;
    let indent = " ".repeat(column.saturating_sub(1));
    let replacement = if is_flow {
        format!("{flow}, ")
    } else {
        format!("{}\n{indent}", block(&indent))
    };
    Some(Edit {
        span: key.part(0, 0),
        replacement,
    })
}
