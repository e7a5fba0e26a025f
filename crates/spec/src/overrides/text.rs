//! The changed document as text again: the user's text with only the changed values edited, so that
//! comments and layout stay.

use similar::TextDiff;

use super::apply::same;
use crate::secrets::Redactor;
use crate::source::{Source, Sources};
use crate::yaml::{self, Limits, Map, Node, Value, write};

/// Lines around a change that a diff shows.
const CONTEXT: usize = 3;

/// So many new items are looked at to find an old one again.
const LOOK_AHEAD: usize = 1_000;

/// A changed document as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Materialised {
    /// The text.
    pub text: String,
    /// Whether it is the user's text but for the changes. If not, it was written anew, without comments.
    pub keeps_layout: bool,
}

/// Writes a changed document. What could not be edited in place, such as a value that several aliases
/// share, makes it be written anew.
pub fn materialise(source: &Source, changed: &Node<'_>, limits: &Limits) -> Materialised {
    let original = yaml::load(source, limits);
    let mut edits = Edits {
        text: source.text(),
        list: Vec::new(),
        possible: true,
    };
    match &original.root {
        Some(root) => edits.compare(root, changed, false),
        None => edits.possible = false,
    }
    if edits.possible {
        let text = edits.apply();
        if reads_as(&text, changed, limits) {
            return Materialised {
                text,
                keeps_layout: true,
            };
        }
    }
    Materialised {
        text: write::block(changed),
        keeps_layout: false,
    }
}

/// The changes as a unified diff, without the values of secrets; empty if there are none.
pub fn diff(source: &Source, changed: &Materialised, limits: &Limits) -> String {
    if source.text() == changed.text {
        return String::new();
    }
    let sources = Sources::default();
    let masked = |name: &str, text: &str| {
        let source = sources.add(name, text);
        let document = yaml::load(source, limits);
        let known = [(source.id(), document.root.as_ref())];
        Redactor::new(&sources, known, &[]).masked(source)
    };
    let before = masked(source.name(), source.text());
    let after = masked(source.name(), &changed.text);
    TextDiff::from_lines(&before, &after)
        .unified_diff()
        .context_radius(CONTEXT)
        .header(source.name(), &format!("{} (overridden)", source.name()))
        .to_string()
}

fn reads_as(text: &str, wanted: &Node<'_>, limits: &Limits) -> bool {
    let sources = Sources::default();
    let document = yaml::load(sources.add("", text), limits);
    let root = document.root.filter(|_| !document.diagnostics.has_errors());
    root.is_some_and(|root| same(&root, wanted))
}

/// Changes of a text, found by comparing two trees.
struct Edits<'t> {
    text: &'t str,
    /// Bytes and what takes their place.
    list: Vec<(std::ops::Range<usize>, String)>,
    possible: bool,
}

impl Edits<'_> {
    /// `inside` tells that the value stands in brackets.
    fn compare(&mut self, old: &Node<'_>, new: &Node<'_>, inside: bool) {
        if same(old, new) {
            return;
        }
        let inside = inside || self.is_flow(old);
        match (&old.value, &new.value) {
            (Value::Map(before), Value::Map(after)) if !inside || has_keys_of(before, after) => {
                self.compare_maps(before, after, inside);
            }
            (Value::List(before), Value::List(after)) if !inside || before.len() == after.len() => {
                self.compare_lists(before, after, inside);
            }
            _ => self.replace(old, new, inside),
        }
    }

    fn is_flow(&self, node: &Node<'_>) -> bool {
        let text = self.text.get(node.span.range()).unwrap_or_default();
        !matches!(node.value, Value::Scalar(_)) && text.starts_with(['[', '{'])
    }

    fn replace(&mut self, old: &Node<'_>, new: &Node<'_>, inside: bool) {
        let range = old.span.range();
        // A key without a value has nothing to replace.
        let before = match range.is_empty() {
            true => " ",
            false => "",
        };
        let text = write::flow(new, inside);
        self.list.push((range, format!("{before}{text}")));
    }

    fn compare_maps(&mut self, before: &Map<'_>, after: &Map<'_>, inside: bool) {
        let find =
            |map: &Map<'_>, key: &str| map.entries.iter().position(|entry| entry.key.text == key);
        for entry in &before.entries {
            match find(after, &entry.key.text).and_then(|at| after.entries.get(at)) {
                Some(kept) => self.compare(&entry.value, &kept.value, inside),
                None => self.remove_lines(entry.key.span.range().start, &entry.value),
            }
        }
        for entry in &after.entries {
            if find(before, &entry.key.text).is_none() {
                let text = format!(
                    "{}: {}",
                    write::key(&entry.key.text),
                    write::flow(&entry.value, false)
                );
                let last = before.entries.last().map(|last| {
                    let start = last.key.span.range().start;
                    (
                        start,
                        last.value
                            .span
                            .range()
                            .end
                            .max(last.key.span.range().end + 1),
                    )
                });
                self.insert(last, "", &text);
            }
        }
    }

    /// What both lists start and end with stays; of what lies between, the old is taken away and the
    /// new is added.
    fn compare_lists(&mut self, before: &[Node<'_>], after: &[Node<'_>], inside: bool) {
        // An item that is another one without having been replaced has come from further down.
        let has_moved = |(old, new): (&Node<'_>, &Node<'_>)| {
            new.as_scalar().is_some() && new.replaced().is_none() && !same(old, new)
        };
        let mut pairs = before.iter().zip(after);
        if before.len() == after.len() && (inside || !pairs.any(has_moved)) {
            for (old, new) in before.iter().zip(after) {
                self.compare(old, new, inside);
            }
            return;
        }
        let mut new = after.iter().peekable();
        let mut last: Option<(usize, usize)> = None;
        for item in before {
            let start = self.dash_before(item.span.range().start);
            // What is new stands before the next old item that is still there.
            let mut ahead = new.clone().take(LOOK_AHEAD);
            let is_kept = ahead.any(|candidate| same(item, candidate));
            if !is_kept {
                self.remove_lines(start, item);
                continue;
            }
            while let Some(fresh) = new.next_if(|candidate| !same(item, candidate)) {
                self.insert_item(last, start, fresh);
            }
            new.next();
            last = Some((start, item.span.range().end));
        }
        let first = before.first().map(|item| item.span.range().start);
        let Some(start) = first.map(|start| self.dash_before(start)) else {
            self.possible = false;
            return;
        };
        for fresh in new {
            self.insert_item(last, start, fresh);
        }
    }

    /// Adds an item below the last one that is kept, or before the one that starts at a byte.
    fn insert_item(&mut self, last: Option<(usize, usize)>, next: usize, item: &Node<'_>) {
        let text = write::flow(item, false);
        match (last, self.line_of(next)) {
            (Some(_), _) => self.insert(last, "- ", &text),
            (None, Some(line)) => {
                let indent = self.text.get(line..next).unwrap_or_default();
                self.list.push((line..line, format!("{indent}- {text}\n")));
            }
            (None, None) => self.possible = false,
        }
    }

    /// Where the `-` of a list's item stands.
    fn dash_before(&self, start: usize) -> usize {
        let before = self.text.get(..start).unwrap_or_default();
        let trimmed = before.trim_end_matches([' ', '\t']);
        match trimmed.ends_with('-') {
            true => trimmed.len() - 1,
            false => start,
        }
    }

    /// Takes away all lines from the one on which something starts to the one on which it ends.
    fn remove_lines(&mut self, start: usize, node: &Node<'_>) {
        let Some(line) = self.line_of(start) else {
            self.possible = false;
            return;
        };
        let end = node.span.range().end.max(start);
        self.list.push((line..self.end_of_line(end), String::new()));
    }

    /// Adds a line below an entry of a block, indented as it is.
    fn insert(&mut self, last: Option<(usize, usize)>, dash: &str, text: &str) {
        let line = last.and_then(|(start, end)| Some((self.line_of(start)?, start, end)));
        let Some((line, start, end)) = line else {
            self.possible = false;
            return;
        };
        let indent = self.text.get(line..start).unwrap_or_default();
        let at = self.end_of_line(end);
        let is_ended = self.text.get(..at).unwrap_or_default().ends_with('\n');
        let (before, after) = if is_ended { ("", "\n") } else { ("\n", "") };
        self.list
            .push((at..at, format!("{before}{indent}{dash}{text}{after}")));
    }

    /// The start of a line on which only blanks stand before a byte.
    fn line_of(&self, at: usize) -> Option<usize> {
        let before = self.text.get(..at)?;
        let line = before.rfind('\n').map_or(0, |found| found + 1);
        let blank = before.get(line..)?.chars().all(|char| char == ' ');
        blank.then_some(line)
    }

    /// The start of the line after the one on which a byte stands.
    fn end_of_line(&self, at: usize) -> usize {
        let ended = at > 0 && self.text.as_bytes().get(at - 1) == Some(&b'\n');
        let rest = self.text.get(at..).unwrap_or_default();
        match rest.find('\n') {
            _ if ended => at,
            Some(found) => at + found + 1,
            None => self.text.len(),
        }
    }

    fn apply(mut self) -> String {
        self.list.sort_by_key(|(range, _)| (range.start, range.end));
        let mut out = String::with_capacity(self.text.len());
        let mut from = 0;
        for (range, text) in &self.list {
            // Edits that overlap cannot all be made; the reading afterwards finds that out.
            if range.start >= from {
                out.push_str(self.text.get(from..range.start).unwrap_or_default());
                from = range.end;
            }
            out.push_str(text);
        }
        out.push_str(self.text.get(from..).unwrap_or_default());
        out
    }
}

fn has_keys_of(before: &Map<'_>, after: &Map<'_>) -> bool {
    let keys = |map: &Map<'_>| -> Vec<String> {
        let keys = map.entries.iter();
        keys.map(|entry| entry.key.text.to_string()).collect()
    };
    keys(before) == keys(after)
}
