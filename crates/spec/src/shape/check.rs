//! Holds a document against its table: every problem in one pass, each cause once.
//!
//! A value of the wrong type is reported and not looked into. What surely fits is not looked at closer.

use super::fits::{fits, is_one_of};
use super::path::{Path, cut};
use super::{Field, Object, Shape, Tagged, TextRule, Unknown, find_from};
use crate::diagnostic::Diagnostics;
use crate::source::Sources;
use crate::yaml::node::Kind;
use crate::yaml::{Entry, Map, Node, Style};

/// Reports whatever in `root` does not fit `shape`.
pub fn check(
    root: &Node<'_>,
    shape: &'static Shape,
    sources: &Sources,
    diagnostics: &mut Diagnostics,
) {
    if !fits(root, shape) {
        let mut checker = Checker {
            sources,
            diagnostics,
        };
        checker.value(&Path::root(root), root, shape);
    }
}

/// Reports whatever in the value of a field does not fit, when the mapping around it is not the
/// object that the field belongs to.
pub fn check_field(
    node: &Node<'_>,
    field: &'static Field,
    sources: &Sources,
    diagnostics: &mut Diagnostics,
) {
    if !fits(node, &field.shape) {
        let mut checker = Checker {
            sources,
            diagnostics,
        };
        checker.value(&Path::lone_field(field.name, node), node, &field.shape);
    }
}

pub(super) struct Checker<'c> {
    pub(super) sources: &'c Sources,
    pub(super) diagnostics: &'c mut Diagnostics,
}

impl Checker<'_> {
    /// Looks for what is wrong with a value that may not fit.
    pub(super) fn value(&mut self, path: &Path<'_, '_>, node: &Node<'_>, shape: &'static Shape) {
        if self.diagnostics.is_full() {
            return;
        }
        match shape {
            Shape::Any => {}
            Shape::Text(rule) => match node.as_scalar() {
                Some(scalar) if node.kind() == Kind::Text => {
                    self.text(path, node, &scalar.text, rule);
                }
                _ => self.wrong_type(path, node, shape),
            },
            Shape::TextOrNumber => {
                if !matches!(node.kind(), Kind::Text | Kind::Integer | Kind::Float) {
                    self.wrong_type(path, node, shape);
                }
            }
            Shape::Scalar => {
                if !is_some_scalar(node) {
                    self.wrong_type(path, node, shape);
                }
            }
            Shape::Number => {
                if !matches!(node.kind(), Kind::Integer | Kind::Float) {
                    self.wrong_type(path, node, shape);
                }
            }
            Shape::Either(shapes) => match either(shapes, node) {
                Some(shape) => self.value(path, node, shape),
                None => self.wrong_type(path, node, shape),
            },
            Shape::TextOrList => match node.as_list() {
                Some(items) => self.list(path, items, &super::TEXT),
                None if node.kind() == Kind::Text => {}
                None => self.wrong_type(path, node, shape),
            },
            Shape::Integer { min, max, null } => match node.as_integer() {
                Some(number) if number < i128::from(*min) || number > i128::from(*max) => {
                    self.out_of_range(path, node, (*min, *max));
                }
                Some(_) => {}
                None if *null && node.is_null() => {}
                None => self.wrong_type(path, node, shape),
            },
            Shape::Flag => {
                if node.kind() != Kind::Bool {
                    self.wrong_type(path, node, shape);
                }
            }
            Shape::Choice(choices) => match node.as_text() {
                Some(text) if node.kind() == Kind::Text => {
                    if !is_one_of(choices, text) {
                        self.bad_choice(path, node, text, choices);
                    }
                }
                _ => self.wrong_type(path, node, shape),
            },
            Shape::Exactly(number) => self.exactly(path, node, *number, shape),
            Shape::List { of, min } => match node.as_list() {
                Some(items) if items.len() < *min => self.too_few(path, node, *min, "item"),
                Some(items) => self.list(path, items, of),
                None => self.wrong_type(path, node, shape),
            },
            Shape::Map { key, keys, of, min } => match node.as_map() {
                Some(map) if map.entries.len() < *min => self.too_few(path, node, *min, "entry"),
                Some(map) => {
                    for entry in &map.entries {
                        self.key(path, entry, key, keys);
                        if !fits(&entry.value, of) {
                            self.value(&path.key(entry), &entry.value, of);
                        }
                    }
                }
                None => self.wrong_type(path, node, shape),
            },
            Shape::Object(object) => match node.as_map() {
                Some(map) => self.object(path, node, map, object),
                None => self.wrong_type(path, node, shape),
            },
            Shape::Tagged(tagged) => match node.as_map() {
                Some(map) => self.tagged(path, node, map, tagged),
                None => self.wrong_type(path, node, shape),
            },
            Shape::Secrets => match &node.as_scalar() {
                _ if node.as_map().is_some() => {}
                Some(scalar) if is_masked(&scalar.text) => self.masked_secrets(path),
                _ => self.wrong_secrets(path, node),
            },
        }
    }

    fn list(&mut self, path: &Path<'_, '_>, items: &[Node<'_>], of: &'static Shape) {
        if matches!(of, Shape::Any) {
            return;
        }
        for (index, item) in items.iter().enumerate() {
            if !fits(item, of) {
                self.value(&path.index(index, item), item, of);
            }
        }
    }

    fn text(&mut self, path: &Path<'_, '_>, node: &Node<'_>, text: &str, rule: &TextRule) {
        if !(rule.accepts)(text) {
            self.bad_text(path, node.span, &path.value_name(), text, rule);
        } else if !rule.is_short_enough(text) {
            self.too_long(path, node.span, &path.value_name(), rule);
        }
    }

    fn key(&mut self, path: &Path<'_, '_>, entry: &Entry<'_>, what: &str, rule: &TextRule) {
        let (text, span) = (&*entry.key.text, entry.key.span);
        if !(rule.accepts)(text) {
            self.bad_text(
                &path.key(entry),
                span,
                &format!("{what} `{}`", cut(text)),
                text,
                rule,
            );
        } else if !rule.is_short_enough(text) {
            self.too_long(&path.key(entry), span, &format!("a {what}"), rule);
        }
    }

    fn exactly(
        &mut self,
        path: &Path<'_, '_>,
        node: &Node<'_>,
        number: u32,
        shape: &'static Shape,
    ) {
        match node.kind() {
            Kind::Integer | Kind::Float if node.as_integer() == Some(i128::from(number)) => {}
            Kind::Text if is_number(node.as_text().unwrap_or_default(), number) => {}
            Kind::Integer | Kind::Float | Kind::Text => self.not_exactly(path, node, number),
            _ => self.wrong_type(path, node, shape),
        }
    }

    fn tagged(
        &mut self,
        path: &Path<'_, '_>,
        node: &Node<'_>,
        map: &Map<'_>,
        tagged: &'static Tagged,
    ) {
        let Some(entry) = map.get(tagged.by) else {
            match tagged.missing.and_then(|word| tagged.object(Some(word))) {
                Some(object) => self.object(path, node, map, object),
                None => self.missing_tag(path, tagged),
            }
            return;
        };
        let tag = &entry.value;
        let path_to_tag = path.field(entry);
        let text = tag.as_text().filter(|_| tag.kind() == Kind::Text);
        match (text, tagged.other) {
            (None, None) => self.wrong_type(&path_to_tag, tag, &super::TEXT),
            (None, Some(other)) => self.object(path, node, map, other),
            (Some(text), _) => match tagged.object(Some(text)) {
                Some(object) => self.object(path, node, map, object),
                None => {
                    let words: Vec<&'static str> =
                        tagged.cases.iter().map(|(word, _)| *word).collect();
                    self.bad_choice(&path_to_tag, tag, text, &words);
                }
            },
        }
    }

    fn object(
        &mut self,
        path: &Path<'_, '_>,
        node: &Node<'_>,
        map: &Map<'_>,
        object: &'static Object,
    ) {
        let path = &path.within(object);
        // One bit per field: those that are there, and those that a misspelt key means.
        let mut present = 0_u64;
        let mut unknown = false;
        // Most keys stand in the order of the table.
        let mut next = 0;
        for entry in &map.entries {
            let Some((index, field)) = find_from(object, &entry.key.text, next) else {
                unknown = true;
                continue;
            };
            next = index + 1;
            let bit = 1 << index;
            if present & bit != 0 {
                self.two_spellings(path, map, entry, field);
            }
            present |= bit;
            let is_left_out = field.nullable && entry.value.is_null();
            if !is_left_out && !fits(&entry.value, &field.shape) {
                self.value(&path.field(entry), &entry.value, &field.shape);
            }
        }
        let mut meant = 0;
        if unknown {
            for entry in &map.entries {
                if self.diagnostics.is_full() {
                    return;
                }
                if find(object, &entry.key.text).is_none() {
                    meant |= self.unknown_key(path, entry, object, present);
                }
            }
        }
        for (index, field) in object.fields.iter().enumerate() {
            if field.required && (present | meant) & (1 << index) == 0 {
                self.missing_key(path, node, object, field);
            }
        }
    }

    /// Reports a key that the object does not name; returns the bit of the field that it means.
    fn unknown_key(
        &mut self,
        path: &Path<'_, '_>,
        entry: &Entry<'_>,
        object: &'static Object,
        present: u64,
    ) -> u64 {
        let free = object
            .fields
            .iter()
            .enumerate()
            .filter(|(index, _)| present & (1 << index) == 0)
            .map(|(_, field)| field);
        let meant = match object.unknown {
            Unknown::Keep => self.probable_typo(path, entry, free),
            Unknown::Refuse | Unknown::Warn => self.ignored_key(path, entry, object, free),
        };
        meant
            .and_then(|field| find(object, field.name))
            .map_or(0, |(bit, _)| bit)
    }
}

/// The field of a key and its bit. A table has at most 64 fields; a test sees to that.
fn find(object: &'static Object, key: &str) -> Option<(u64, &'static Field)> {
    find_from(object, key, 0).map(|(index, field)| (1 << index, field))
}

fn is_some_scalar(node: &Node<'_>) -> bool {
    node.as_scalar().is_some() && !node.is_null()
}

/// The one of several shapes that takes a value of this kind.
pub(super) fn either(shapes: &'static [Shape], node: &Node<'_>) -> Option<&'static Shape> {
    shapes.iter().find(|shape| match shape {
        Shape::Map { .. } | Shape::Object(_) | Shape::Tagged(_) | Shape::Secrets => {
            node.as_map().is_some()
        }
        Shape::List { .. } => node.as_list().is_some(),
        Shape::TextOrList => node.as_list().is_some() || node.is_string(),
        Shape::Text(_) | Shape::Choice(_) => node.is_string(),
        Shape::Integer { .. } | Shape::Number => {
            matches!(node.kind(), Kind::Integer | Kind::Float)
        }
        Shape::Flag => node.kind() == Kind::Bool,
        Shape::TextOrNumber | Shape::Exactly(_) | Shape::Scalar => is_some_scalar(node),
        Shape::Either(_) | Shape::Any => true,
    })
}

fn is_number(text: &str, number: u32) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
        && !text.starts_with('0')
        && text.parse() == Ok(number)
}

/// What an exported job has in place of its secrets.
fn is_masked(text: &str) -> bool {
    text.len() >= 3 && text.bytes().all(|byte| byte == b'*')
}

/// Whether a scalar is quoted, so that it is a text whatever it looks like.
pub(super) fn is_quoted(style: Style) -> bool {
    matches!(style, Style::SingleQuoted | Style::DoubleQuoted)
}
