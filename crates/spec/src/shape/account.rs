//! What becomes of every key of a document on an engine. No key is left out.

use pinnace_core::fidelity::{Account, Engine, Feature, Honour};

use super::check::either;
use super::path::Path;
use super::{Default, Field, Object, Shape, Unknown};
use crate::source::Sources;
use crate::yaml::node::Kind;
use crate::yaml::{Entry, Node, Value};

/// Gives every key of `root` its status on an engine, in the order of the document.
pub fn account(
    root: &Node<'_>,
    shape: &'static Shape,
    engine: Engine,
    sources: &Sources,
) -> Vec<Account> {
    let mut book = Book {
        engine,
        sources,
        accounts: Vec::new(),
    };
    book.value(&Path::root(root), root, Reading::By(shape, Feature::Plan));
    book.accounts
}

/// How many keys a document has, at every depth.
pub fn count_keys(node: &Node<'_>) -> usize {
    match &node.value {
        Value::Scalar(_) => 0,
        Value::List(items) => items.iter().map(count_keys).sum(),
        Value::Map(map) => map
            .entries
            .iter()
            .map(|entry| 1 + count_keys(&entry.value))
            .sum(),
    }
}

/// Who reads a part of a document.
#[derive(Clone, Copy)]
enum Reading {
    /// A table. The feature is that of the field that holds it.
    By(&'static Shape, Feature),
    /// The user's own templates and commands.
    User,
    /// Nothing.
    Nobody,
}

struct Book<'b> {
    engine: Engine,
    sources: &'b Sources,
    accounts: Vec<Account>,
}

impl Book<'_> {
    fn value(&mut self, path: &Path<'_, '_>, node: &Node<'_>, reading: Reading) {
        let reading = match reading {
            Reading::By(Shape::Either(shapes), feature) => match either(shapes, node) {
                Some(shape) => Reading::By(shape, feature),
                None => Reading::Nobody,
            },
            other => other,
        };
        match &node.value {
            Value::Scalar(_) => {}
            Value::List(items) => {
                let of = match reading {
                    Reading::By(Shape::List { of, .. }, feature) => Reading::By(of, feature),
                    other => below(other),
                };
                for (index, item) in items.iter().enumerate() {
                    self.value(&path.index(index, item), item, of);
                }
            }
            Value::Map(map) => {
                for entry in &map.entries {
                    self.entry(path, node, entry, reading);
                }
            }
        }
    }

    fn entry(
        &mut self,
        path: &Path<'_, '_>,
        holder: &Node<'_>,
        entry: &Entry<'_>,
        reading: Reading,
    ) {
        let path = &path.key(entry);
        let (feature, inner) = match reading {
            Reading::By(Shape::Map { of, .. }, feature) => {
                let is_off = is_off(&entry.value);
                let feature = if is_off { Feature::Plan } else { feature };
                (feature, Reading::By(of, feature))
            }
            Reading::By(Shape::Object(object), _) => by_object(object, entry),
            Reading::By(Shape::Tagged(tagged), _) => {
                let object = match holder.get(tagged.by) {
                    Some(tag) if tag.value.as_text().is_none() => tagged.other,
                    tag => tagged.object(tag.and_then(|tag| tag.value.as_text())),
                };
                match object {
                    Some(object) => by_object(object, entry),
                    None => (Feature::Unread, Reading::Nobody),
                }
            }
            other => match below(other) {
                Reading::Nobody => (Feature::Unread, Reading::Nobody),
                inner => (Feature::Plan, inner),
            },
        };
        let (status, reason) = self.engine.honour(feature);
        self.accounts.push(Account {
            path: path.to_string(),
            place: self.sources.place(entry.key.span),
            status,
            reason: reason.to_owned(),
        });
        debug_assert!(status == Honour::Honoured || !reason.is_empty());
        self.value(path, &entry.value, inner);
    }
}

/// The feature that a key of an object asks for, and who reads what is below it.
fn by_object(object: &'static Object, entry: &Entry<'_>) -> (Feature, Reading) {
    let Some(field) = object.field(&entry.key.text) else {
        return match object.unknown {
            Unknown::Keep => (Feature::Plan, Reading::User),
            Unknown::Refuse | Unknown::Warn => (Feature::Unread, Reading::Nobody),
        };
    };
    let feature = feature_of(field, &entry.value);
    let reading = if field.feature == Feature::Unread {
        Reading::Nobody
    } else {
        Reading::By(&field.shape, feature)
    };
    (feature, reading)
}

/// What a value of a field asks for. One that is off, or that only repeats the default, asks for
/// nothing.
fn feature_of(field: &'static Field, value: &Node<'_>) -> Feature {
    if field.feature == Feature::Unread {
        return Feature::Unread;
    }
    let text = value.as_text();
    if let Some((_, feature)) = field
        .feature_by_value
        .iter()
        .find(|(word, _)| Some(*word) == text)
    {
        return *feature;
    }
    let is_default = match (field.default, text) {
        (Default::Value(json), Some(text)) => json.trim_matches('"') == text,
        _ => false,
    };
    if is_default || is_off(value) {
        Feature::Plan
    } else {
        field.feature
    }
}

fn is_off(node: &Node<'_>) -> bool {
    match &node.value {
        Value::List(items) => items.is_empty(),
        Value::Map(map) => map.entries.is_empty(),
        Value::Scalar(scalar) => match node.kind() {
            Kind::Null => true,
            Kind::Bool => node.as_bool() == Some(false),
            Kind::Integer | Kind::Float => node.as_integer() == Some(0),
            _ => scalar.text.is_empty(),
        },
    }
}

/// Who reads what is inside a value whose table does not name it.
fn below(reading: Reading) -> Reading {
    match reading {
        Reading::By(Shape::Any | Shape::Secrets | Shape::TextOrList, _) | Reading::User => {
            Reading::User
        }
        Reading::By(..) | Reading::Nobody => Reading::Nobody,
    }
}
