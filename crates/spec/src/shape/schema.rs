//! The published form of a table: JSON Schema, draft 2020-12.
//!
//! It accepts what [`super::check`] accepts. A key that only gets a warning is allowed here.

use serde_json::{Map, Value, json};

use super::{Default, Field, Object, Shape, Tagged, TextRule, Unknown};

/// The schema of documents of this shape.
pub fn schema(shape: &'static Shape, title: &str) -> Value {
    let mut definitions = Definitions::default();
    let body = match shape {
        Shape::Object(object) => object_schema(object, &mut definitions),
        _ => match shape_schema(shape, &mut definitions) {
            Value::Object(body) => body,
            _ => Map::new(),
        },
    };
    let mut root = Map::new();
    root.insert(
        "$schema".into(),
        "https://json-schema.org/draft/2020-12/schema".into(),
    );
    root.insert("title".into(), title.into());
    root.extend(body);
    root.insert("$defs".into(), Value::Object(definitions.done));
    Value::Object(root)
}

/// The objects that others refer to, each once.
#[derive(Default)]
struct Definitions {
    done: Map<String, Value>,
}

impl Definitions {
    fn refer(&mut self, object: &'static Object) -> Value {
        let name = camel_case(object.name);
        if !self.done.contains_key(&name) {
            // Takes its place before those that it refers to.
            self.done.insert(name.clone(), Value::Null);
            let mut body = Map::new();
            body.insert("title".into(), object.name.into());
            body.extend(object_schema(object, self));
            self.done.insert(name.clone(), Value::Object(body));
        }
        json!({ "$ref": format!("#/$defs/{name}") })
    }
}

fn object_schema(object: &'static Object, definitions: &mut Definitions) -> Map<String, Value> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut conditions = Vec::new();
    for field in object.fields {
        properties.insert(
            field.name.into(),
            field_schema(field, field.doc, definitions),
        );
        for other in field.also {
            let doc = format!("Another spelling of `{}`.", field.name);
            properties.insert((*other).into(), field_schema(field, &doc, definitions));
        }
        let spellings: Vec<&str> = std::iter::once(field.name)
            .chain(field.also.iter().copied())
            .collect();
        if field.required && field.also.is_empty() {
            required.push(field.name);
        } else if field.required {
            let any: Vec<Value> = spellings
                .iter()
                .map(|spelling| json!({ "required": [spelling] }))
                .collect();
            conditions.push(json!({ "anyOf": any }));
        }
        for (index, one) in spellings.iter().enumerate() {
            for other in &spellings[index + 1..] {
                conditions.push(json!({ "not": { "required": [one, other] } }));
            }
        }
    }
    let mut schema = Map::new();
    schema.insert("description".into(), object.doc.into());
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".into(), json!(required));
    }
    if !conditions.is_empty() {
        schema.insert("allOf".into(), Value::Array(conditions));
    }
    if object.unknown == Unknown::Refuse {
        schema.insert("additionalProperties".into(), false.into());
    }
    schema
}

fn field_schema(field: &'static Field, doc: &str, definitions: &mut Definitions) -> Value {
    let mut description = doc.to_owned();
    let mut default = None;
    match field.default {
        Default::None => {}
        Default::Value(json) => default = serde_json::from_str(json).ok(),
        Default::Rule(words) => {
            description.push_str(" Default: ");
            description.push_str(words);
            description.push('.');
        }
    }
    let mut schema = Map::new();
    schema.insert("description".into(), description.into());
    if let Value::Object(shape) = shape_schema(&field.shape, definitions) {
        schema.extend(if field.nullable {
            or_null(shape)
        } else {
            shape
        });
    }
    if let Some(default) = default {
        schema.insert("default".into(), default);
    }
    Value::Object(schema)
}

/// The same, or `null`.
fn or_null(mut shape: Map<String, Value>) -> Map<String, Value> {
    if let Some(Value::Array(values)) = shape.get_mut("enum") {
        values.push(Value::Null);
    } else if let Some(kind) = shape.get_mut("type") {
        match kind {
            Value::Array(kinds) => kinds.push("null".into()),
            one => *one = json!([one, "null"]),
        }
    } else if !shape.is_empty() {
        let either = json!([shape, { "type": "null" }]);
        shape = Map::from_iter([("anyOf".to_owned(), either)]);
    }
    shape
}

fn shape_schema(shape: &'static Shape, definitions: &mut Definitions) -> Value {
    match shape {
        Shape::Text(rule) => text_schema(rule),
        Shape::TextOrNumber => json!({ "type": ["string", "number"] }),
        Shape::TextOrList => {
            json!({ "type": ["string", "array"], "items": { "type": "string" } })
        }
        Shape::Integer { min, max, null } => {
            let kind = if *null {
                json!(["integer", "null"])
            } else {
                json!("integer")
            };
            json!({ "type": kind, "minimum": min, "maximum": max })
        }
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::Choice(choices) => json!({ "enum": choices }),
        Shape::Exactly(number) => json!({ "enum": [number, number.to_string()] }),
        Shape::List { of, min } => {
            let mut schema = Map::new();
            schema.insert("type".into(), "array".into());
            if !matches!(of, Shape::Any) {
                schema.insert("items".into(), shape_schema(of, definitions));
            }
            if *min > 0 {
                schema.insert("minItems".into(), json!(min));
            }
            Value::Object(schema)
        }
        Shape::Map { keys, of, min, .. } => {
            let mut schema = Map::new();
            schema.insert("type".into(), "object".into());
            let mut names = text_schema(keys);
            if let Some(names) = names.as_object_mut().filter(|names| names.len() > 1) {
                names.remove("type");
                schema.insert("propertyNames".into(), Value::Object(std::mem::take(names)));
            }
            if !matches!(of, Shape::Any) {
                schema.insert("additionalProperties".into(), shape_schema(of, definitions));
            }
            if *min > 0 {
                schema.insert("minProperties".into(), json!(min));
            }
            Value::Object(schema)
        }
        Shape::Object(object) => definitions.refer(object),
        Shape::Tagged(tagged) => tagged_schema(tagged, definitions),
        Shape::Scalar => json!({ "type": ["string", "number", "boolean"] }),
        Shape::Number => json!({ "type": "number" }),
        Shape::Either(shapes) => {
            let all: Vec<Value> = shapes
                .iter()
                .map(|shape| shape_schema(shape, definitions))
                .collect();
            json!({ "anyOf": all })
        }
        Shape::Secrets => json!({ "type": "object", "writeOnly": true }),
        Shape::Any => json!({}),
    }
}

fn tagged_schema(tagged: &'static Tagged, definitions: &mut Definitions) -> Value {
    let by = tagged.by;
    let mut branches = Vec::new();
    for object in tagged.objects() {
        let words: Vec<&str> = tagged
            .cases
            .iter()
            .filter(|(_, other)| std::ptr::eq(*other, object))
            .map(|(word, _)| *word)
            .collect();
        let is_missing = tagged.missing.is_some_and(|word| words.contains(&word));
        let mut condition = json!({ "properties": { by: one_of(tagged, &words) } });
        if !is_missing {
            condition["required"] = json!([by]);
        }
        if tagged
            .other
            .is_some_and(|other| std::ptr::eq(other, object))
        {
            let all: Vec<&str> = tagged.cases.iter().map(|(word, _)| *word).collect();
            condition =
                json!({ "required": [by], "not": { "properties": { by: one_of(tagged, &all) } } });
        }
        branches.push(json!({ "if": condition, "then": definitions.refer(object) }));
    }
    let mut schema = json!({ "type": "object", "allOf": branches });
    if tagged.missing.is_none() {
        schema["required"] = json!([by]);
    }
    if tagged.other.is_none() {
        let all: Vec<&str> = tagged.cases.iter().map(|(word, _)| *word).collect();
        schema["properties"] = json!({ by: one_of(tagged, &all) });
    }
    schema
}

/// The texts that decide for one of these words.
fn one_of(tagged: &Tagged, words: &[&str]) -> Value {
    if tagged.labelled {
        json!({ "type": "string", "pattern": format!("^({})(@[\\s\\S]*)?$", words.join("|")) })
    } else {
        json!({ "enum": words })
    }
}

fn text_schema(rule: &TextRule) -> Value {
    let mut schema = Map::new();
    schema.insert("type".into(), "string".into());
    if !rule.pattern.is_empty() {
        schema.insert("pattern".into(), rule.pattern.into());
    }
    if rule.max_length != usize::MAX {
        schema.insert("maxLength".into(), json!(rule.max_length));
    }
    Value::Object(schema)
}

fn camel_case(name: &str) -> String {
    let mut out = String::new();
    for (index, word) in name.split_whitespace().enumerate() {
        let mut chars = word.chars();
        let Some(first) = chars.next() else { continue };
        if index == 0 {
            out.extend(first.to_lowercase());
        } else {
            out.extend(first.to_uppercase());
        }
        out.extend(chars);
    }
    out
}
