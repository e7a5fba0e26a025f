//! The reader and the published schema accept and refuse the same documents.

use jsonschema::Validator;
use serde_json::{Map, Value, json};

use super::{CORPUS, from_json, load, report, to_json};
use crate::diagnostic::Diagnostics;
use crate::openpai::fields;
use crate::shape::reference::objects;
use crate::shape::{Default, check, schema};
use crate::source::Sources;

fn validator() -> Validator {
    jsonschema::validator_for(&schema(&fields::SHAPE, "OpenPAI job")).unwrap()
}

fn reader_accepts(document: &Value) -> bool {
    let mut diagnostics = Diagnostics::default();
    let root = from_json(document);
    check(&root, &fields::SHAPE, &Sources::default(), &mut diagnostics);
    !diagnostics.has_errors()
}

pub(super) fn documents() -> impl Iterator<Item = (&'static str, Value)> {
    CORPUS.iter().map(|(name, text)| {
        let sources = Sources::default();
        let source = sources.add(*name, *text);
        (*name, to_json(&load(source)))
    })
}

/// Every value that stands somewhere in a document, by its JSON pointer.
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
                let key = key.replace('~', "~0").replace('/', "~1");
                pointers(value, &format!("{at}/{key}"), out);
            }
        }
        _ => {}
    }
}

fn replacements() -> Vec<Value> {
    let mut all = vec![
        json!(null),
        json!(true),
        json!(false),
        json!(2.0),
        json!(4.5),
        json!(1e30),
        json!(""),
        json!("2"),
        json!("job"),
        json!("not a name"),
        json!("9lives"),
        json!("a".repeat(255)),
        json!("ä".repeat(255)),
        json!("a".repeat(256)),
        json!("a\n"),
        json!("******"),
        json!("script"),
        json!([]),
        json!([null]),
        json!(["a"]),
        json!([["a"]]),
        json!([{}]),
        json!({}),
        json!({ "a": 1 }),
        json!({ "a": {} }),
        json!({ "bad key": 1 }),
    ];
    let edges = [
        -3, -2, -1, 0, 1, 2, 10_000, 10_001, 10_080, 10_081, 25_000, 25_001,
    ];
    all.extend(edges.map(|edge| json!(edge)));
    all.extend([json!(2_147_483_647_i64), json!(2_147_483_648_i64)]);
    all
}

/// Shows every document that differs from one in a single place.
pub(super) fn mutations(mut document: Value, mut show: impl FnMut(&str, &Value)) {
    let mut places = Vec::new();
    pointers(&document, "", &mut places);
    let replacements = replacements();
    for place in &places {
        let at = document.pointer_mut(place).unwrap();
        let original = at.take();
        for replacement in &replacements {
            *document.pointer_mut(place).unwrap() = replacement.clone();
            show(&format!("{place} = {replacement}"), &document);
        }
        if let Some(map) = original.as_object() {
            let mut changed = |what: String, change: &dyn Fn(&mut Map<String, Value>)| {
                let mut map = map.clone();
                change(&mut map);
                *document.pointer_mut(place).unwrap() = Value::Object(map);
                show(&format!("{place} {what}"), &document);
            };
            for key in map.keys() {
                changed(format!("without {key}"), &|map| {
                    map.shift_remove(key);
                });
                changed(format!("with {key}s"), &|map| {
                    let value = map.shift_remove(key).unwrap();
                    map.insert(format!("{key}s"), value);
                });
            }
            for key in ["mine", "gpuType", "pinnedCellId", "hivedscheduler", "uri"] {
                changed(format!("with {key}"), &|map| {
                    map.entry(key).or_insert(json!("x"));
                });
            }
        }
        *document.pointer_mut(place).unwrap() = original;
    }
}

#[test]
fn both_accept_every_document_of_the_corpus() {
    let validator = validator();
    for ((name, text), (_, document)) in CORPUS.iter().zip(documents()) {
        let errors: Vec<_> = validator
            .iter_errors(&document)
            .map(|e| e.to_string())
            .collect();
        assert_eq!(errors, [""; 0], "{name}");
        assert!(reader_accepts(&document), "{name}: {}", report(text));
    }
}

#[test]
fn both_judge_every_mutation_alike() {
    let validator = validator();
    let (mut accepted, mut refused) = (0, 0);
    // The first has every field; the second only brings another combination of them.
    for (name, document) in documents().take(2) {
        mutations(document, |what, changed| {
            let by_schema = validator.is_valid(changed);
            assert_eq!(
                by_schema,
                reader_accepts(changed),
                "{name}: {what}: the schema says {by_schema}; the reader says: {}",
                report(&changed.to_string())
            );
            if by_schema {
                accepted += 1;
            } else {
                refused += 1;
            }
        });
    }
    assert!(
        accepted > 1_000 && refused > 1_000,
        "{accepted} accepted, {refused} refused"
    );
}

#[test]
fn the_schema_is_itself_valid_and_says_what_each_field_is_for() {
    let schema = schema(&fields::SHAPE, "OpenPAI job");
    assert!(jsonschema::meta::is_valid(&schema));
    let mut places = Vec::new();
    pointers(&schema, "", &mut places);
    for place in places.iter().filter(|place| place.ends_with("/properties")) {
        if place.contains("/if/") || place.contains("/items/") {
            continue;
        }
        for (name, property) in schema.pointer(place).unwrap().as_object().unwrap() {
            assert!(property["description"].is_string(), "{place}/{name}");
        }
    }
}

#[test]
fn the_tables_keep_the_rules_of_tables() {
    let all = objects(&fields::SHAPE);
    assert!(all.len() > 10);
    let mut names: Vec<_> = all.iter().map(|object| object.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all.len(), "each object has a name of its own");
    for object in all {
        assert!(object.fields.len() <= 64, "{}", object.name);
        let mut keys = Vec::new();
        for field in object.fields {
            keys.push(field.name);
            keys.extend(field.also);
            let name = field.name;
            assert!(field.doc.ends_with('.'), "{name}");
            assert!(!field.required || field.also.is_empty(), "{name}");
            assert!(!field.required || field.default == Default::None, "{name}");
            if let Default::Value(json) = field.default {
                assert!(serde_json::from_str::<Value>(json).is_ok(), "{name}");
            }
            for word in object.absent {
                assert_ne!(word.0, name);
            }
        }
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count, "{} has each key once", object.name);
    }
}
