//! The table of fields: the schema says the same as the reader, and the corpus has every field.

use std::collections::BTreeSet;

use pinnace_spec::component::{check_shape, fields};
use pinnace_spec::diagnostic::Diagnostics;
use pinnace_spec::shape::{Object, Shape};
use pinnace_spec::source::{Sources, Span};
use pinnace_spec::yaml::node::Kind;
use pinnace_spec::yaml::{self, Entry, Key, Limits, Map, Node, Scalar, Style, Value as NodeValue};
use serde_json::{Value, json};

use crate::corpus::{bad, good};

fn to_json(node: &Node<'_>) -> Value {
    match &node.value {
        NodeValue::List(items) => items.iter().map(to_json).collect(),
        NodeValue::Map(map) => {
            let entries = map.entries.iter();
            let entries = entries.map(|entry| (entry.key.text.to_string(), to_json(&entry.value)));
            Value::Object(entries.collect())
        }
        NodeValue::Scalar(scalar) => match node.kind() {
            Kind::Null => Value::Null,
            Kind::Bool => json!(node.as_bool()),
            Kind::Integer | Kind::Float => match scalar.text.parse::<i64>() {
                Ok(number) => json!(number),
                Err(_) => json!(scalar.text.parse::<f64>().unwrap()),
            },
            _ => json!(scalar.text),
        },
    }
}

fn from_json(value: &Value) -> Node<'static> {
    let span = Span::default();
    let scalar = |text: String, style| {
        let text = text.into();
        Node::new(span, NodeValue::Scalar(Scalar { text, style }))
    };
    match value {
        Value::Null => scalar("null".to_owned(), Style::Plain),
        Value::Bool(flag) => scalar(flag.to_string(), Style::Plain),
        Value::Number(number) => scalar(number.to_string(), Style::Plain),
        Value::String(text) => scalar(text.clone(), Style::DoubleQuoted),
        Value::Array(items) => {
            Node::new(span, NodeValue::List(items.iter().map(from_json).collect()))
        }
        Value::Object(entries) => {
            let entries = entries.iter().map(|(key, value)| Entry {
                key: Key {
                    text: key.clone().into(),
                    span,
                },
                value: from_json(value),
                merged: None,
            });
            Node::new(
                span,
                NodeValue::Map(Map {
                    entries: entries.collect(),
                }),
            )
        }
    }
}

fn reader_accepts(root: &Node<'_>, sources: &Sources) -> bool {
    let mut out = Diagnostics::default();
    check_shape(root, sources, &mut out);
    !out.has_errors()
}

#[test]
fn schema_and_reader_judge_every_spec_alike() {
    let validator = jsonschema::validator_for(&fields::json_schema()).unwrap();
    let mut refused = 0;
    for case in good().into_iter().chain(bad()) {
        let sources = Sources::default();
        let source = sources.add("spec.yaml", case.text.as_str());
        let document = yaml::load(source, &Limits::default());
        let root = document.root.as_ref().unwrap();
        let accepts = reader_accepts(root, &sources);
        refused += usize::from(!accepts);
        assert_eq!(
            validator.is_valid(&to_json(root)),
            accepts,
            "{}",
            case.title
        );
    }
    assert!(refused > 40, "only {refused} were refused");
}

fn pointers(value: &Value, at: &str, out: &mut Vec<String>) {
    out.push(at.to_owned());
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointers(item, &format!("{at}/{index}"), out);
            }
        }
        Value::Object(map) => {
            for (key, value) in map {
                pointers(
                    value,
                    &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")),
                    out,
                );
            }
        }
        _ => {}
    }
}

#[test]
fn schema_and_reader_judge_every_change_of_a_spec_alike() {
    let validator = jsonschema::validator_for(&fields::json_schema()).unwrap();
    let sources = Sources::default();
    let values = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(2.5),
        json!(""),
        json!("x y"),
        json!("string"),
        json!("hemera@a"),
        json!([]),
        json!(["a"]),
        json!([[]]),
        json!({}),
        json!({ "type": "path" }),
        json!({ "a b": 1 }),
    ];
    for case in good() {
        let source = sources.add("spec.yaml", case.text.as_str());
        let document = yaml::load(source, &Limits::default());
        let mut document = to_json(document.root.as_ref().unwrap());
        let mut places = Vec::new();
        pointers(&document, "", &mut places);
        let compare = |document: &Value, what: String| {
            let accepts = reader_accepts(&from_json(document), &sources);
            assert_eq!(
                validator.is_valid(document),
                accepts,
                "{}: {what}",
                case.title
            );
        };
        for place in places {
            let original = document.pointer_mut(&place).unwrap().take();
            for value in &values {
                *document.pointer_mut(&place).unwrap() = value.clone();
                compare(&document, format!("{place} = {value}"));
            }
            if let Some(map) = original.as_object() {
                for key in map.keys() {
                    let mut without = map.clone();
                    without.shift_remove(key);
                    *document.pointer_mut(&place).unwrap() = Value::Object(without);
                    compare(&document, format!("{place} without {key}"));
                }
            }
            *document.pointer_mut(&place).unwrap() = original;
        }
    }
}

/// Marks the fields that a document has.
fn mark(shape: &'static Shape, node: &Node<'_>, seen: &mut BTreeSet<(&'static str, &'static str)>) {
    match shape {
        Shape::Object(object) => mark_object(object, node, seen),
        Shape::Tagged(tagged) => {
            let tag = node.get(tagged.by);
            let object = match tag {
                Some(tag) if tag.value.as_text().is_none() => tagged.other,
                tag => tagged.object(tag.and_then(|tag| tag.value.as_text())),
            };
            if let Some(object) = object {
                mark_object(object, node, seen);
            }
        }
        Shape::Map { of, .. } => {
            for entry in node.as_map().into_iter().flat_map(|map| &map.entries) {
                mark(of, &entry.value, seen);
            }
        }
        Shape::List { of, .. } => {
            for item in node.as_list().unwrap_or_default() {
                mark(of, item, seen);
            }
        }
        Shape::Either(shapes) => {
            for shape in *shapes {
                mark(shape, node, seen);
            }
        }
        _ => {}
    }
}

fn mark_object(
    object: &'static Object,
    node: &Node<'_>,
    seen: &mut BTreeSet<(&'static str, &'static str)>,
) {
    for entry in node.as_map().into_iter().flat_map(|map| &map.entries) {
        if let Some(field) = object.field(&entry.key.text) {
            seen.insert((object.name, field.name));
            mark(&field.shape, &entry.value, seen);
        }
    }
}

/// All fields of a shape and below it.
fn all(shape: &'static Shape, found: &mut BTreeSet<(&'static str, &'static str)>) {
    let objects: Vec<&'static Object> = match shape {
        Shape::Object(object) => vec![object],
        Shape::Tagged(tagged) => tagged
            .cases
            .iter()
            .map(|(_, object)| *object)
            .chain(tagged.other)
            .collect(),
        Shape::Map { of, .. } | Shape::List { of, .. } => return all(of, found),
        Shape::Either(shapes) => return shapes.iter().for_each(|shape| all(shape, found)),
        _ => return,
    };
    for object in objects {
        for field in object.fields {
            if found.insert((object.name, field.name)) {
                all(&field.shape, found);
            }
        }
    }
}

/// Fields that every type of component has; one type that shows them is enough.
const COMMON: &[&str] = &[
    "$schema",
    "display_name",
    "description",
    "tags",
    "is_deterministic",
    "successful_return_code",
    "inputs",
    "outputs",
    "code",
    "runsettings",
    "additional_includes",
    "type",
    "version",
];

#[test]
fn the_good_specs_have_every_field_and_every_type() {
    let mut seen = BTreeSet::new();
    let mut words = BTreeSet::new();
    for case in good() {
        let sources = Sources::default();
        let source = sources.add("spec.yaml", case.text.as_str());
        let document = yaml::load(source, &Limits::default());
        let root = document.root.as_ref().unwrap();
        mark(&fields::SHAPE, root, &mut seen);
        if let Some(word) = root.get("type").and_then(|entry| entry.value.as_text()) {
            words.insert(word.split('@').next().unwrap_or_default().to_owned());
        }
    }
    let mut wanted = BTreeSet::new();
    all(&fields::SHAPE, &mut wanted);
    let missing: Vec<_> = wanted
        .difference(&seen)
        .filter(|(_, field)| {
            !COMMON.contains(field) || !seen.iter().any(|(_, other)| other == field)
        })
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    for word in fields::type_words() {
        assert!(words.contains(word), "no spec of type {word}");
    }
}
