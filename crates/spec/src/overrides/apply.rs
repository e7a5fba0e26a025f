//! The document, changed as the rules say.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::rule::{Entry, Rule};
use super::unused::Used;
use super::{Overrides, feed, operate};
use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::jsonpath::{self, Place, TooMuchWork, Work};
use crate::setting::put;
use crate::source::Span;
use crate::yaml::node::{By, Kind};
use crate::yaml::{Node, Scalar, Style, Value};

/// About so many nodes and comparisons may the rules of a tenant take for a document.
const MOST_WORK: u64 = 4_000_000;

/// A longer text is not held against regular expressions.
const LONGEST_TEXT: usize = 16 << 10;

/// So many bytes may replacements make.
const MOST_BYTES: usize = 16 << 20;

/// So many changes are told of one by one.
const MOST_CHANGES: usize = 10_000;

/// What the rules did to a document.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The changes, in the order in which they were made; beyond some thousands they are only counted.
    pub changes: Vec<Change>,
    /// How many there are.
    pub count: usize,
    /// Which rules and entries had an effect.
    pub used: Used,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The path in the document, such as `environment.docker.image`.
    pub path: String,
    /// The rule, such as `tenant_overrides["72f9"].environment.docker.image`.
    pub rule: String,
    /// Where the new value stands in the configuration.
    pub span: Span,
    /// The new value; none if it was taken away.
    pub now: Option<String>,
    /// The value before; none if there was none.
    pub was: Option<String>,
    /// Where it stands in the document.
    pub was_span: Option<Span>,
}

/// Changes a document.
pub fn apply(root: &mut Node<'_>, overrides: &Overrides, out: &mut Diagnostics) -> Report {
    let mut pass = Pass {
        report: Report {
            used: Used::none(overrides.rules.iter().map(|rule| rule.entries.len())),
            ..Report::default()
        },
        work: Work::new(MOST_WORK),
        bytes: 0,
        out,
    };
    for (index, rule) in overrides.rules.iter().enumerate() {
        if pass.rule(root, rule, index).is_err() {
            let message = format!("`{}` asks for too much work in this document", rule.path);
            pass.out.push(
                Diagnostic::new(&codes::TOO_MUCH_OVERRIDE, rule.path_span, message)
                    .help("a path without `..`, or fewer regular expressions, cost less"),
            );
            pass.report.used.all();
            break;
        }
    }
    if let Some(feeds) = &overrides.remove_feeds {
        feed::remove(root, feeds, &mut pass);
    }
    pass.report
}

/// The rules under way.
pub(super) struct Pass<'a> {
    pub(super) report: Report,
    pub(super) work: Work,
    bytes: usize,
    pub(super) out: &'a mut Diagnostics,
}

impl Pass<'_> {
    fn rule(&mut self, root: &mut Node<'_>, rule: &Rule, index: usize) -> Result<(), TooMuchWork> {
        let mut places = jsonpath::places(&rule.query, root, &mut self.work)?;
        // The values of secrets are neither seen nor changed.
        if let Some(secrets) = root.position("secrets") {
            places.retain(|place| place.first() != Some(&(secrets as u32)));
        }
        if !places.is_empty() {
            self.report.used.rule(index);
            if !rule.exact.is_empty() {
                self.substitute_all(root, rule, index, &places)?;
            }
        }
        operate::all(root, rule, index, places, self)
    }

    fn substitute_all(
        &mut self,
        root: &mut Node<'_>,
        rule: &Rule,
        index: usize,
        places: &[Place],
    ) -> Result<(), TooMuchWork> {
        let mut table = Table {
            rule,
            index,
            selected: places.iter().map(Vec::as_slice).collect(),
            changed: Vec::new(),
        };
        let mut last: Option<&Place> = None;
        for place in places {
            // What lies below another selected value was done with it.
            if last.is_some_and(|last| place.starts_with(last)) {
                continue;
            }
            last = Some(place);
            if let Some(node) = jsonpath::node_at_mut(root, place) {
                self.substitute(node, &mut place.clone(), &mut table)?;
            }
        }
        for (place, span) in std::mem::take(&mut table.changed) {
            self.note(root, &place, &rule.name, span);
        }
        Ok(())
    }

    /// Holds every text below a node against the table. Of a mapping that the path selects itself, a key
    /// that is in the table gets the value from there.
    fn substitute(
        &mut self,
        node: &mut Node<'_>,
        here: &mut Place,
        table: &mut Table<'_>,
    ) -> Result<(), TooMuchWork> {
        self.work.spend(1)?;
        match &mut node.value {
            Value::Scalar(_) => self.substitute_text(node, here, table),
            Value::List(list) => {
                for (at, item) in list.iter_mut().enumerate() {
                    here.push(at as u32);
                    self.substitute(item, here, table)?;
                    here.pop();
                }
                Ok(())
            }
            Value::Map(map) => {
                let is_selected = table.selected.contains(here.as_slice());
                for (at, entry) in map.entries.iter_mut().enumerate() {
                    if here.is_empty() && entry.key.text == "secrets" {
                        continue;
                    }
                    here.push(at as u32);
                    let known = table.rule.exact.get(&*entry.key.text);
                    match known.filter(|_| is_selected) {
                        Some(known) => self.put(&mut entry.value, *known, here, table)?,
                        None => self.substitute(&mut entry.value, here, table)?,
                    }
                    here.pop();
                }
                Ok(())
            }
        }
    }

    fn substitute_text(
        &mut self,
        node: &mut Node<'_>,
        here: &Place,
        table: &mut Table<'_>,
    ) -> Result<(), TooMuchWork> {
        let Some(text) = node.as_text() else {
            return Ok(());
        };
        if let Some(known) = table.rule.exact.get(text) {
            return self.put(node, *known, here, table);
        }
        if text.len() > LONGEST_TEXT {
            return Ok(());
        }
        for at in &table.rule.patterns {
            let Some((entry, pattern)) = table
                .rule
                .entries
                .get(*at)
                .and_then(|entry| Some((entry, entry.pattern.as_ref()?)))
            else {
                continue;
            };
            self.work.spend(1 + text.len() * pattern.weight / 4)?;
            let Some(captures) = pattern.captures(text) else {
                continue;
            };
            let Some(replacement) = &entry.replacement else {
                return self.put(node, *at, here, table);
            };
            let made = replacement.expand(&captures);
            let style = style_of(&made, node);
            let span = entry.value.as_ref().map_or(entry.span, |value| value.span);
            let scalar = Scalar {
                text: made.into(),
                style,
            };
            let given = Node::new(span, Value::Scalar(scalar));
            return self.give(node, given, *at, here, table);
        }
        Ok(())
    }

    /// Puts the value of an entry in place of a node.
    fn put(
        &mut self,
        node: &mut Node<'_>,
        at: usize,
        here: &Place,
        table: &mut Table<'_>,
    ) -> Result<(), TooMuchWork> {
        match table.rule.entries.get(at).and_then(Entry::given) {
            Some(given) => self.give(node, given, at, here, table),
            None => Ok(()),
        }
    }

    fn give(
        &mut self,
        node: &mut Node<'_>,
        given: Node<'static>,
        at: usize,
        here: &Place,
        table: &mut Table<'_>,
    ) -> Result<(), TooMuchWork> {
        self.report.used.entry(table.index, at);
        if same(node, &given) {
            return Ok(());
        }
        self.grow(size(&given))?;
        table.changed.push((here.clone(), given.span));
        put::replace(node, given, By::Rule(table.rule.name.clone()));
        Ok(())
    }

    /// Counts what is written.
    pub(super) fn grow(&mut self, bytes: usize) -> Result<(), TooMuchWork> {
        self.bytes = self.bytes.saturating_add(bytes);
        match self.bytes > MOST_BYTES {
            true => Err(TooMuchWork),
            false => Ok(()),
        }
    }

    /// Notes that the node at a place is new.
    pub(super) fn note(&mut self, root: &Node<'_>, place: &[u32], rule: &str, span: Span) {
        self.report.count += 1;
        if self.report.changes.len() >= MOST_CHANGES {
            return;
        }
        let node = jsonpath::node_at(root, place);
        let was = node
            .and_then(Node::replaced)
            .and_then(|replaced| replaced.was.as_ref());
        self.report.changes.push(Change {
            path: path_of(root, place),
            rule: rule.to_owned(),
            span,
            now: node.map(shown),
            was: was.map(shown),
            was_span: was.map(|was| was.span),
        });
    }

    /// Notes that the node at a place is about to go.
    pub(super) fn note_removal(&mut self, root: &Node<'_>, place: &[u32], rule: &str, span: Span) {
        self.report.count += 1;
        if self.report.changes.len() >= MOST_CHANGES {
            return;
        }
        let node = jsonpath::node_at(root, place);
        self.report.changes.push(Change {
            path: path_of(root, place),
            rule: rule.to_owned(),
            span,
            now: None,
            was: node.map(shown),
            was_span: node.map(|node| node.span),
        });
    }
}

struct Table<'r> {
    rule: &'r Rule,
    index: usize,
    selected: HashSet<&'r [u32]>,
    /// What was changed, with the place of the new value in the configuration.
    changed: Vec<(Place, Span)>,
}

impl Entry {
    fn given(&self) -> Option<Node<'static>> {
        self.value.clone()
    }
}

/// What was a text stays one, also if it looks like a number now.
fn style_of(made: &str, old: &Node<'_>) -> Style {
    let plain = Node::new(
        Span::default(),
        Value::Scalar(Scalar {
            text: made.into(),
            style: Style::Plain,
        }),
    );
    match old.is_string() && plain.kind() != Kind::Text {
        true => Style::DoubleQuoted,
        false => Style::Plain,
    }
}

/// Whether two values are the same, wherever they stand.
pub(super) fn same(one: &Node<'_>, other: &Node<'_>) -> bool {
    match (&one.value, &other.value) {
        (Value::Scalar(left), Value::Scalar(right)) => {
            one.kind() == other.kind() && (left.text == right.text || one.is_null())
        }
        (Value::List(left), Value::List(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| same(left, right))
        }
        (Value::Map(left), Value::Map(right)) => {
            left.entries.len() == right.entries.len()
                && left.entries.iter().all(|entry| {
                    other
                        .get(&entry.key.text)
                        .is_some_and(|found| same(&entry.value, &found.value))
                })
        }
        _ => false,
    }
}

/// About how many bytes a value takes.
pub(super) fn size(node: &Node<'_>) -> usize {
    16 + match &node.value {
        Value::Scalar(scalar) => scalar.text.len(),
        Value::List(list) => list.iter().map(size).sum(),
        Value::Map(map) => map.entries.iter().map(|entry| size(&entry.value)).sum(),
    }
}

/// The path of a place, such as `environment.conda.channels[0]`.
pub(super) fn path_of(root: &Node<'_>, place: &[u32]) -> String {
    let mut path = String::new();
    let mut node = root;
    for at in place {
        let at = *at as usize;
        match &node.value {
            Value::Map(map) => {
                let Some(entry) = map.entries.get(at) else {
                    break;
                };
                let key = &entry.key.text;
                let plain = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-' | '$');
                if key.is_empty() || !key.chars().all(plain) {
                    let _ = write!(path, "[{key:?}]");
                } else {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(key);
                }
                node = &entry.value;
            }
            Value::List(list) => {
                let _ = write!(path, "[{at}]");
                match list.get(at) {
                    Some(item) => node = item,
                    None => break,
                }
            }
            Value::Scalar(_) => break,
        }
    }
    path
}

/// A value in a line.
pub(super) fn shown(node: &Node<'_>) -> String {
    match &node.value {
        Value::Scalar(_) if node.is_null() => "null".to_owned(),
        Value::Scalar(scalar) => scalar.text.clone().into_owned(),
        Value::List(list) => {
            let items: Vec<String> = list.iter().map(shown).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Map(map) => {
            let entries = map.entries.iter();
            let entries: Vec<String> = entries
                .map(|entry| format!("{}: {}", entry.key.text, shown(&entry.value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}
