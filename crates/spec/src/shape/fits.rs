//! Whether a value surely has its shape. Most have, and to see that takes neither a path nor words; whatever else there is,
//! [`super::check`] looks at and tells.

use super::check::either;
use super::{Object, Shape, Tagged, TextRule, find_from};
use crate::yaml::node::{Kind, same_text};
use crate::yaml::{Map, Node, Scalar, Value};

// Most values are scalars, which take less than the call.
#[allow(clippy::inline_always)]
#[inline(always)]
pub(super) fn fits(node: &Node<'_>, shape: &Shape) -> bool {
    match &node.value {
        Value::Scalar(scalar) => scalar_fits(node, scalar, shape),
        Value::List(_) | Value::Map(_) => collection_fits(node, shape),
    }
}

fn collection_fits(node: &Node<'_>, shape: &Shape) -> bool {
    match (&node.value, shape) {
        (_, Shape::Any) => true,
        (_, Shape::Either(shapes)) => either(shapes, node).is_some_and(|shape| fits(node, shape)),
        (Value::List(items), Shape::List { of, min }) => {
            items.len() >= *min && items.iter().all(|item| fits(item, of))
        }
        (Value::List(items), Shape::TextOrList) => {
            items.iter().all(|item| fits(item, &super::TEXT))
        }
        (Value::Map(map), Shape::Object(object)) => object_fits(map, object),
        (Value::Map(map), Shape::Tagged(tagged)) => tagged_fits(map, tagged),
        (Value::Map(map), Shape::Map { keys, of, min, .. }) => {
            let mut entries = map.entries.iter();
            map.entries.len() >= *min
                && entries.all(|entry| has_form(&entry.key.text, keys) && fits(&entry.value, of))
        }
        (Value::Map(_), Shape::Secrets) => true,
        _ => false,
    }
}

fn scalar_fits(node: &Node<'_>, scalar: &Scalar<'_>, shape: &Shape) -> bool {
    match shape {
        Shape::Text(rule) => is_text(node, scalar) && has_form(&scalar.text, rule),
        Shape::TextOrList => is_text(node, scalar),
        Shape::Choice(choices) => is_text(node, scalar) && is_one_of(choices, &scalar.text),
        Shape::Integer { min, max, .. } => node
            .as_integer()
            .is_some_and(|number| (i128::from(*min)..=i128::from(*max)).contains(&number)),
        Shape::Exactly(number) => node.as_integer() == Some(i128::from(*number)),
        Shape::Flag => node.kind() == Kind::Bool,
        Shape::Number => matches!(node.kind(), Kind::Integer | Kind::Float),
        Shape::TextOrNumber => matches!(node.kind(), Kind::Text | Kind::Integer | Kind::Float),
        Shape::Scalar => !node.is_null(),
        Shape::Any => true,
        Shape::Either(shapes) => either(shapes, node).is_some_and(|shape| fits(node, shape)),
        _ => false,
    }
}

/// Whether a scalar is a text. Most texts begin with a letter with which neither a number, a flag nor null begins.
fn is_text(node: &Node<'_>, scalar: &Scalar<'_>) -> bool {
    let first = scalar.text.as_bytes().first();
    let is_telling =
        |first: &u8| first.is_ascii_alphabetic() && !matches!(first | 0x20, b'n' | b't' | b'f');
    first.is_some_and(is_telling) || node.is_string()
}

fn has_form(text: &str, rule: &TextRule) -> bool {
    (rule.accepts)(text) && rule.is_short_enough(text)
}

pub(super) fn is_one_of(choices: &[&str], text: &str) -> bool {
    choices.iter().any(|choice| same_text(choice, text))
}

fn tagged_fits(map: &Map<'_>, tagged: &Tagged) -> bool {
    let Some(entry) = map.get(tagged.by) else {
        return false;
    };
    let tag = entry.value.as_scalar();
    let text = tag.filter(|scalar| is_text(&entry.value, scalar));
    let object = text.and_then(|scalar| tagged.object(Some(&scalar.text)));
    object.is_some_and(|object| object_fits(map, object))
}

fn object_fits(map: &Map<'_>, object: &'static Object) -> bool {
    // One bit per field that is there.
    let mut present = 0_u64;
    // Most keys stand in the order of the table.
    let mut next = 0;
    for entry in &map.entries {
        let Some((index, field)) = find_from(object, &entry.key.text, next) else {
            return false;
        };
        next = index + 1;
        let bit = 1 << index;
        let is_left_out = field.nullable && entry.value.is_null();
        if present & bit != 0 || !is_left_out && !fits(&entry.value, &field.shape) {
            return false;
        }
        present |= bit;
    }
    let mut fields = object.fields.iter().enumerate();
    fields.all(|(index, field)| !field.required || present & (1 << index) != 0)
}
