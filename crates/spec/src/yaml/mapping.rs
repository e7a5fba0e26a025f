//! Gathers the entries of a mapping: keys once each, merge keys applied.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use super::reader::Reader;
use super::{Entry, Key, Map, Node, Style, Value};
use crate::diagnostic::{Diagnostic, codes};
use crate::source::Span;

/// Up to so many entries, looking at each is faster than hashing.
const FEW: usize = 32;

/// A key as read.
pub(super) enum ReadKey<'s> {
    /// A plain text on one line, as most are.
    Plain(&'s str, Span),
    /// A text of another form, and whether it is `<<` without quotes.
    Text(Key<'s>, bool),
    /// Something else. Reported; the entry is dropped.
    Bad,
}

/// A mapping that is being read. Its entries are the last ones of [`Reader::entries`].
pub(super) struct Mapping<'s> {
    first: usize,
    /// The marks of all keys, to know most new keys without a search.
    marks: u64,
    many: Option<Box<Many>>,
    merges: Vec<(Span, Node<'s>)>,
}

/// Finds a key among many: its hash to the first entry with that hash.
struct Many {
    state: RandomState,
    places: HashMap<u64, usize>,
}

impl<'s> Mapping<'s> {
    pub(super) fn new(reader: &Reader<'s>) -> Self {
        Mapping {
            first: reader.entries.len(),
            marks: 0,
            many: None,
            merges: Vec::new(),
        }
    }

    fn entries<'r>(&self, reader: &'r Reader<'s>) -> &'r [Entry<'s>] {
        reader.entries.get(self.first..).unwrap_or_default()
    }

    /// The last key so far.
    #[cold]
    pub(super) fn last(&self, reader: &Reader<'s>) -> Option<Key<'s>> {
        self.entries(reader).last().map(|entry| entry.key.clone())
    }

    /// The entry of a key, given the key's mark.
    #[inline]
    fn find<'r>(&self, reader: &'r Reader<'s>, key: &str, mark: u64) -> Option<&'r Entry<'s>> {
        if self.marks & mark == 0 {
            return None;
        }
        self.search(self.entries(reader), key)
    }

    fn search<'r>(&self, entries: &'r [Entry<'s>], text: &str) -> Option<&'r Entry<'s>> {
        if let Some(many) = &self.many {
            let place = *many.places.get(&many.state.hash_one(text))?;
            let found = entries.get(place);
            if found.is_some_and(|entry| entry.key.text == text) {
                return found;
            }
            // Two texts with one hash: next to impossible, so it may be slow.
        }
        entries.iter().find(|entry| entry.key.text == text)
    }

    // As `add_plain`.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    fn push(&mut self, reader: &mut Reader<'s>, entry: Entry<'s>, mark: u64) {
        self.marks |= mark;
        reader.entries.push(entry);
        if reader.entries.len() - self.first >= FEW {
            self.note_place(self.entries(reader));
        }
    }

    /// Notes where the last key stands, and the first time where all others do.
    #[cold]
    fn note_place(&mut self, entries: &[Entry<'s>]) {
        if let (Some(many), Some((entry, others))) = (&mut self.many, entries.split_last()) {
            let hash = many.state.hash_one(&*entry.key.text);
            many.places.entry(hash).or_insert(others.len());
        } else {
            let state = RandomState::new();
            let mut places = HashMap::new();
            for (index, entry) in entries.iter().enumerate() {
                places
                    .entry(state.hash_one(&*entry.key.text))
                    .or_insert(index);
            }
            self.many = Some(Box::new(Many { state, places }));
        }
    }

    /// Adds an entry. Of two with one key the first stays.
    pub(super) fn add(&mut self, reader: &mut Reader<'s>, key: ReadKey<'s>, value: Node<'s>) {
        match key {
            ReadKey::Plain(text, span) => self.add_plain(reader, text, span, value),
            ReadKey::Text(key, true) => self.merges.push((key.span, value)),
            ReadKey::Text(key, false) => self.add_key(reader, key, value),
            ReadKey::Bad => {}
        }
    }

    /// Adds an entry with a plain key.
    // Spares two copies of each entry on its way to where it is kept.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    pub(super) fn add_plain(
        &mut self,
        reader: &mut Reader<'s>,
        text: &'s str,
        span: Span,
        value: Node<'s>,
    ) {
        if text == "<<" {
            self.merges.push((span, value));
            return;
        }
        let text = Cow::Borrowed(text);
        self.add_key(reader, Key { text, span }, value);
    }

    #[allow(clippy::inline_always)]
    #[inline(always)]
    fn add_key(&mut self, reader: &mut Reader<'s>, key: Key<'s>, value: Node<'s>) {
        let mark = mark(&key.text);
        if let Some(first) = self.find(reader, &key.text, mark) {
            let first = first.key.span;
            reader.lose_entry(&key, &value, first);
            return;
        }
        let entry = Entry {
            key,
            value,
            merged: None,
        };
        self.push(reader, entry, mark);
    }

    #[inline]
    pub(super) fn finish(mut self, reader: &mut Reader<'s>) -> Value<'s> {
        if !self.merges.is_empty() {
            self.merge_all(reader);
        }
        Value::Map(Map {
            entries: reader.entries.split_off(self.first),
        })
    }

    #[cold]
    fn merge_all(&mut self, reader: &mut Reader<'s>) {
        for (span, node) in std::mem::take(&mut self.merges) {
            match node.value {
                Value::Map(map) => self.merge(reader, span, map),
                Value::List(list) if list.iter().all(|node| node.as_map().is_some()) => {
                    for node in list {
                        if let Value::Map(map) = node.value {
                            self.merge(reader, span, map);
                        }
                    }
                }
                _ => reader.bad_merge(span, node.alias().unwrap_or(node.span)),
            }
        }
    }

    fn merge(&mut self, reader: &mut Reader<'s>, span: Span, map: Map<'s>) {
        for entry in map.entries {
            let mark = mark(&entry.key.text);
            if self.find(reader, &entry.key.text, mark).is_none() {
                let merged = Some(span);
                self.push(reader, Entry { merged, ..entry }, mark);
            }
        }
    }
}

impl<'s> Reader<'s> {
    /// The key that a node makes.
    pub(super) fn key(&mut self, node: Node<'s>) -> ReadKey<'s> {
        let span = node.alias().unwrap_or(node.span);
        let usual = node.is_usual();
        match node.value {
            Value::Scalar(scalar) if !scalar.text.is_empty() || scalar.style != Style::Plain => {
                let merge = usual && scalar.style == Style::Plain && scalar.text == "<<";
                ReadKey::Text(
                    Key {
                        text: scalar.text,
                        span,
                    },
                    merge,
                )
            }
            Value::Scalar(_) => {
                let start = span.start as usize;
                let diagnostic = if self.peek() == b':' {
                    let colon = self.char_span(self.pos);
                    Diagnostic::new(&codes::BAD_KEY, colon, "no key stands before this `:`")
                } else if start > 0 && self.byte(start - 1) == b'?' {
                    let mark = self.span(start - 1, start);
                    Diagnostic::new(&codes::BAD_KEY, mark, "no key stands after this `?`")
                } else {
                    Diagnostic::new(&codes::BAD_KEY, span, "no key stands here")
                };
                self.report(
                    diagnostic.help(
                        "write `key: value`; a text that starts with `:` or `?` must be quoted",
                    ),
                );
                ReadKey::Bad
            }
            Value::List(_) | Value::Map(_) => {
                let what = if matches!(node.value, Value::List(_)) {
                    "list"
                } else {
                    "mapping"
                };
                let mut diagnostic =
                    Diagnostic::new(&codes::BAD_KEY, span, format!("a {what} cannot be a key"));
                let text = self.slice(span.start as usize, span.end as usize);
                if text.starts_with("{{") || text.starts_with("{%") {
                    diagnostic = diagnostic.help("a text that starts with `{` must be quoted");
                }
                self.report(diagnostic);
                ReadKey::Bad
            }
        }
    }

    #[cold]
    fn lose_entry(&mut self, key: &Key<'s>, value: &Node<'s>, first: Span) {
        let complete = self.complete;
        self.duplicate_key(key, first);
        // A lost scalar holds nothing that another place could miss.
        if matches!(value.value, Value::Scalar(_)) && !self.is_stopped() {
            self.complete = complete;
        }
    }

    fn duplicate_key(&mut self, key: &Key<'s>, first: Span) {
        let diagnostic = Diagnostic::new(
            &codes::DUPLICATE_KEY,
            key.span,
            format!(
                "the key `{}` is here twice",
                super::problems::shorten(&key.text)
            ),
        )
        .label("the second; it would be lost")
        .help("remove or rename one of the two")
        .related(first, "the first");
        self.report(diagnostic);
    }

    #[cold]
    fn bad_merge(&mut self, key: Span, value: Span) {
        let span = if value.is_empty() { key } else { value };
        self.report(
            Diagnostic::new(
                &codes::BAD_MERGE,
                span,
                "`<<` can only take over a mapping or a list of mappings",
            )
            .related(key, "the merge key")
            .help("write `<<: *name` where `&name` marks a mapping, or quote the key: `\"<<\"`"),
        );
    }
}

/// One bit of 64: texts with different marks differ.
#[inline]
fn mark(text: &str) -> u64 {
    let ends = match text.as_bytes() {
        [first, .., last] => usize::from(*first) + 5 * usize::from(*last),
        [one] => usize::from(*one),
        [] => 0,
    };
    1 << ((ends + 11 * text.len()) % 64)
}
