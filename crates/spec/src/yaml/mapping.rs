//! Gathers the entries of a mapping: keys once each, merge keys applied.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use super::reader::Reader;
use super::{Entry, Key, Map, Node, Style, Value};
use crate::diagnostic::{Diagnostic, codes};
use crate::source::Span;

/// Up to so many entries, looking at each is faster than hashing.
const FEW: usize = 12;

/// A key as read.
pub(super) enum ReadKey<'s> {
    /// A text, and whether it is `<<` without quotes.
    Text(Key<'s>, bool),
    /// Something else. Reported; the entry is dropped.
    Bad,
}

pub(super) struct Mapping<'s> {
    entries: Vec<Entry<'s>>,
    many: Option<Box<Many>>,
    merges: Vec<(Span, Node<'s>)>,
}

/// Finds a key among many: its hash to the first entry with that hash.
struct Many {
    state: RandomState,
    places: HashMap<u64, usize>,
}

impl<'s> Mapping<'s> {
    pub(super) fn new() -> Self {
        Mapping {
            entries: Vec::new(),
            many: None,
            merges: Vec::new(),
        }
    }

    /// The last entry so far.
    pub(super) fn last(&self) -> Option<&Entry<'s>> {
        self.entries.last()
    }

    fn find(&self, text: &str) -> Option<usize> {
        if let Some(many) = &self.many {
            let place = *many.places.get(&many.state.hash_one(text))?;
            if self
                .entries
                .get(place)
                .is_some_and(|entry| entry.key.text == text)
            {
                return Some(place);
            }
            // Two texts with one hash: next to impossible, so it may be slow.
        }
        self.entries.iter().position(|entry| entry.key.text == text)
    }

    fn push(&mut self, entry: Entry<'s>) {
        if let Some(many) = &mut self.many {
            let hash = many.state.hash_one(&*entry.key.text);
            many.places.entry(hash).or_insert(self.entries.len());
        }
        self.entries.push(entry);
        if self.entries.len() == FEW && self.many.is_none() {
            let state = RandomState::new();
            let mut places = HashMap::new();
            for (index, entry) in self.entries.iter().enumerate() {
                places
                    .entry(state.hash_one(&*entry.key.text))
                    .or_insert(index);
            }
            self.many = Some(Box::new(Many { state, places }));
        }
    }

    /// Adds an entry. Of two with one key the first stays.
    pub(super) fn add(&mut self, reader: &mut Reader<'s>, key: ReadKey<'s>, value: Node<'s>) {
        let ReadKey::Text(key, merge) = key else {
            return;
        };
        if merge {
            self.merges.push((key.span, value));
            return;
        }
        if let Some(first) = self.find(&key.text) {
            let first = self.entries.get(first).map(|entry| entry.key.span);
            let complete = reader.complete;
            reader.duplicate_key(&key, first);
            // A lost scalar holds nothing that another place could miss.
            if matches!(value.value, Value::Scalar(_)) && !reader.is_stopped() {
                reader.complete = complete;
            }
            return;
        }
        self.push(Entry {
            key,
            value,
            merged: None,
        });
    }

    pub(super) fn finish(mut self, reader: &mut Reader<'s>) -> Value<'s> {
        for (span, node) in std::mem::take(&mut self.merges) {
            match node.value {
                Value::Map(map) => self.merge(span, map),
                Value::List(list) if list.iter().all(|node| node.as_map().is_some()) => {
                    for node in list {
                        if let Value::Map(map) = node.value {
                            self.merge(span, map);
                        }
                    }
                }
                _ => reader.bad_merge(span, node.alias().unwrap_or(node.span)),
            }
        }
        Value::Map(Map {
            entries: self.entries,
        })
    }

    fn merge(&mut self, span: Span, map: Map<'s>) {
        for entry in map.entries {
            if self.find(&entry.key.text).is_none() {
                self.push(Entry {
                    merged: Some(span),
                    ..entry
                });
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
    fn duplicate_key(&mut self, key: &Key<'s>, first: Option<Span>) {
        let mut diagnostic = Diagnostic::new(
            &codes::DUPLICATE_KEY,
            key.span,
            format!(
                "the key `{}` is here twice",
                super::problems::shorten(&key.text)
            ),
        )
        .label("the second; it would be lost")
        .help("remove or rename one of the two");
        if let Some(first) = first {
            diagnostic = diagnostic.related(first, "the first");
        }
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

/// A key of a plain text on one line, as most are.
#[inline]
pub(super) fn plain_key(text: &str, span: Span) -> ReadKey<'_> {
    ReadKey::Text(
        Key {
            text: Cow::Borrowed(text),
            span,
        },
        text == "<<",
    )
}
