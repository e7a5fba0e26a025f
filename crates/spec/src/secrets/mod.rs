//! Keeps the values of secrets out of everything that is shown.
//!
//! A [`Redactor`] knows where the values of a document's secrets stand and what they are. Shown
//! source text is masked at those places and wherever a value stands again; messages are masked
//! wherever they quote a value. It is made only when there is something to show.

mod broken;
mod clear;
mod needles;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use crate::diagnostic::{Diagnostic, codes, suggest};
use crate::source::{Source, SourceId, Sources, Span};
use crate::yaml::{Entry, Map, Node, Value};
use needles::Needles;

pub use clear::{ClearSecrets, SHORTEST, SecretValues, implicit_name, may_be_in_clear};

/// What stands for a secret in a message: its length is not told.
pub const MASK: &str = "••••";

/// What stands for each character of a secret in source text, so that columns stay right.
pub const MASK_CHAR: char = '•';

/// Masks the secrets of some documents.
#[derive(Default)]
pub struct Redactor {
    /// Values in the source.
    hidden: Vec<Span>,
    /// Keys of mappings, in which an ordinary word is not masked only because it is a secret too.
    keys: Vec<Span>,
    needles: Needles,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor")
            .field("places", &self.hidden.len())
            .finish_non_exhaustive()
    }
}

impl Redactor {
    /// For the documents of a run and its problems. A text without a tree, or with one that may
    /// lack something because the text is not good YAML, is searched for secrets as text; so is
    /// every other text in which a problem lies, such as a marketplace item.
    pub fn new<'n, 's: 'n>(
        sources: &Sources,
        documents: impl IntoIterator<Item = (SourceId, Option<&'n Node<'s>>)>,
        diagnostics: &[Diagnostic],
    ) -> Self {
        let mut redactor = Redactor::default();
        let mut known = HashSet::new();
        for (id, root) in documents {
            known.insert(id);
            if let Some(root) = root {
                redactor.add_document(root, sources);
            }
            let is_broken = |diagnostic: &Diagnostic| {
                diagnostic.span.source == id && diagnostic.code.id.starts_with("P01")
            };
            // Secrets that have lost their indent stand beside an empty `secrets`.
            let has_lost = root
                .and_then(|root| root.get("secrets"))
                .is_some_and(|entry| entry.value.as_map().is_none());
            if root.is_none() || has_lost || diagnostics.iter().any(is_broken) {
                redactor.add_broken_text(sources.get(id));
            }
        }
        for diagnostic in diagnostics {
            if diagnostic.code == &codes::SECRET_IN_FLAG {
                redactor.add_flag(sources.get(diagnostic.span.source));
            }
            let related = diagnostic.related.iter().map(|related| related.span.source);
            for id in std::iter::once(diagnostic.span.source).chain(related) {
                if known.insert(id) {
                    redactor.add_broken_text(sources.get(id));
                }
            }
        }
        redactor
    }

    /// For a text that is not good YAML.
    pub fn from_broken_text(source: &Source) -> Self {
        let mut redactor = Redactor::default();
        redactor.add_broken_text(source);
        redactor
    }

    /// Adds the secrets of a document: all below `secrets` (also if the key is misspelt or stands too
    /// deep), and every password that is not only a tag.
    fn add_document(&mut self, root: &Node<'_>, sources: &Sources) {
        for entry in root.as_map().into_iter().flat_map(|map| &map.entries) {
            if suggest::closest(&entry.key.text, ["secrets"]).is_some() {
                self.add_secrets(entry, sources);
            }
        }
        self.add_deep(root, sources);
        if !self.needles.is_empty() {
            self.add_keys(root);
        }
    }

    fn add_deep(&mut self, node: &Node<'_>, sources: &Sources) {
        match &node.value {
            Value::Scalar(_) => {}
            Value::List(list) => list.iter().for_each(|item| self.add_deep(item, sources)),
            Value::Map(map) => {
                for entry in &map.entries {
                    match &*entry.key.text {
                        "pip" => self.add_logins(&entry.value),
                        "secrets" => self.add_secrets(entry, sources),
                        "password" if !entry.value.as_text().is_some_and(is_one_tag) => {
                            self.add_values(&entry.value, sources, &mut Vec::new());
                        }
                        _ => self.add_deep(&entry.value, sources),
                    }
                }
            }
        }
    }

    /// Adds what logs in to the package feeds of a list.
    fn add_logins(&mut self, lines: &Node<'_>) {
        for line in lines.as_list().unwrap_or_default() {
            let text = line.as_text().unwrap_or_default();
            if let Some(login) = url_login(text).and_then(|range| text.get(range)) {
                self.needles.add(login);
            }
        }
    }

    fn add_secrets(&mut self, entry: &Entry<'_>, sources: &Sources) {
        let mut spans = vec![entry.key.span];
        self.add_values(&entry.value, sources, &mut spans);
        self.hide_comments(spans, sources);
    }

    /// Adds the secrets of a text that is not good YAML, as far as they can be told, and rather too
    /// much than too little.
    fn add_broken_text(&mut self, source: &Source) {
        for range in broken::secret_ranges(source.text()) {
            let text = source.text().get(range.clone()).unwrap_or_default();
            broken::values(text, |value| self.needles.add(value));
            self.hidden
                .push(Span::new(source.id(), range.start, range.end));
        }
    }

    /// Adds the value of `PATH=VALUE`.
    fn add_flag(&mut self, flag: &Source) {
        let text = flag.text();
        let start = text.find('=').map_or(0, |at| at + 1);
        self.needles.add(&text[start..]);
        self.hidden.push(Span::new(flag.id(), start, text.len()));
    }

    fn add_values(&mut self, node: &Node<'_>, sources: &Sources, spans: &mut Vec<Span>) {
        if let Some(before) = node.replaced().and_then(|replaced| replaced.was.as_ref()) {
            self.add_values(before, sources, spans);
        }
        match &node.value {
            Value::Scalar(scalar) => {
                spans.push(node.span);
                self.hidden.push(node.span);
                if node.as_bool().is_none() && !node.is_null() {
                    self.needles.add(&scalar.text);
                    self.needles.add(unquoted(sources.slice(node.span)));
                }
            }
            Value::List(list) => {
                for item in list {
                    self.add_values(item, sources, spans);
                }
            }
            Value::Map(map) => {
                for entry in &map.entries {
                    spans.push(entry.key.span);
                    self.add_values(&entry.value, sources, spans);
                }
            }
        }
    }

    /// Between the keys and values of the secrets stand only marks of YAML and comments; an old
    /// secret may stand in a comment.
    fn hide_comments(&mut self, mut spans: Vec<Span>, sources: &Sources) {
        let Some(source) = spans.first().map(|span| sources.get(span.source)) else {
            return;
        };
        spans.retain(|span| span.source == source.id());
        spans.sort_unstable();
        let text = source.text();
        let mut gaps = Vec::new();
        let mut from = None;
        for span in &spans {
            if let Some(from) = from.filter(|from| *from < span.start) {
                gaps.push(from as usize..span.start as usize);
            }
            from = from.max(Some(span.end));
        }
        if let Some(from) = from {
            let from = from as usize;
            let rest = text.get(from..).unwrap_or_default();
            gaps.push(from..from + rest.find('\n').unwrap_or(rest.len()));
        }
        for gap in gaps {
            let gap_text = text.get(gap.clone()).unwrap_or_default();
            let mut at = gap.start;
            for line in gap_text.split_inclusive('\n') {
                if let Some(sharp) = line.find('#') {
                    self.hidden
                        .push(Span::new(source.id(), at + sharp + 1, at + line.len()));
                }
                at += line.len();
            }
        }
    }

    fn add_keys(&mut self, node: &Node<'_>) {
        match &node.value {
            Value::Scalar(_) => {}
            Value::List(list) => list.iter().for_each(|item| self.add_keys(item)),
            Value::Map(Map { entries }) => {
                for entry in entries {
                    self.keys.push(entry.key.span);
                    self.add_keys(&entry.value);
                }
            }
        }
    }

    /// A message without the values that it may quote.
    pub fn message<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut shown = String::new();
        let mut from = 0;
        for range in self.needles.find_in_message(text) {
            shown.push_str(text.get(from..range.start).unwrap_or_default());
            shown.push_str(MASK);
            from = range.end;
        }
        if from == 0 {
            return Cow::Borrowed(text);
        }
        shown.push_str(text.get(from..).unwrap_or_default());
        Cow::Owned(shown)
    }

    /// The parts of a text that must not be shown, in order, as ranges of bytes.
    pub fn hidden(&self, source: &Source) -> Vec<Range<usize>> {
        let text = source.text();
        let mut ranges: Vec<Range<usize>> = self
            .hidden
            .iter()
            .filter(|span| span.source == source.id())
            .map(|span| span.range())
            .collect();
        let mut keys: Vec<Span> = self
            .keys
            .iter()
            .copied()
            .filter(|span| span.source == source.id())
            .collect();
        keys.sort_unstable();
        let is_in_key = |range: &Range<usize>| {
            let after = keys.partition_point(|key| key.start as usize <= range.start);
            let inside = after > 0 && range.end <= keys[after - 1].end as usize;
            inside && text.get(range.clone()).is_some_and(needles::is_ordinary)
        };
        ranges.extend(
            self.needles
                .find_in_source(text)
                .into_iter()
                .filter(|range| !is_in_key(range)),
        );
        ranges.retain(|range| !range.is_empty());
        ranges.sort_unstable_by_key(|range| range.start);
        ranges.dedup_by(|next, kept| {
            let overlaps = next.start <= kept.end;
            if overlaps {
                kept.end = kept.end.max(next.end);
            }
            overlaps
        });
        ranges
    }

    /// The whole text with every hidden character but white space masked.
    pub fn masked(&self, source: &Source) -> String {
        let mut hidden = self.hidden(source).into_iter().peekable();
        let mut shown = String::with_capacity(source.text().len());
        for (at, char) in source.text().char_indices() {
            while hidden.next_if(|range| range.end <= at).is_some() {}
            let masked = hidden.peek().is_some_and(|range| range.start <= at);
            shown.push(if masked && !char.is_whitespace() {
                MASK_CHAR
            } else {
                char
            });
        }
        shown
    }
}

/// Where the login of the first URL in a text stands: between `://` and `@`. What names a variable is no login.
pub fn url_login(text: &str) -> Option<Range<usize>> {
    let start = text.find("://")? + "://".len();
    let rest = text.get(start..)?;
    let host = rest.find(['/', ' ', '\t', '#', '?']).unwrap_or(rest.len());
    let end = rest.get(..host)?.rfind('@')?;
    let is_variable = rest.get(..end)?.contains("${");
    (end > 0 && !is_variable).then_some(start..start + end)
}

/// Whether a text is nothing but one `<% … %>`, which only names a secret.
fn is_one_tag(text: &str) -> bool {
    let text = text.trim();
    text.strip_prefix("<%")
        .and_then(|rest| rest.strip_suffix("%>"))
        .is_some_and(|inside| !inside.contains("<%") && !inside.contains("%>"))
}

fn unquoted(text: &str) -> &str {
    ['"', '\'']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(text)
}

#[cfg(test)]
mod tests;
