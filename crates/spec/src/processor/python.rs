//! Values as Python writes them: the service gets every parameter through Python's `str()`.

use std::fmt::Write as _;

use crate::yaml::node::Kind;
use crate::yaml::{Node, Value};

/// `str(value)`.
pub fn str(node: &Node<'_>) -> String {
    match (&node.value, node.kind()) {
        (Value::Scalar(scalar), Kind::Text) => scalar.text.to_string(),
        _ => repr(node),
    }
}

/// `repr(value)`.
pub fn repr(node: &Node<'_>) -> String {
    match &node.value {
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(repr).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Map(map) => {
            let entries: Vec<String> = map
                .entries
                .iter()
                .map(|entry| format!("{}: {}", text(&entry.key.text), repr(&entry.value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        Value::Scalar(scalar) => match node.kind() {
            Kind::Null => "None".to_owned(),
            Kind::Bool if node.as_bool() == Some(true) => "True".to_owned(),
            Kind::Bool => "False".to_owned(),
            Kind::Integer => match node.as_integer() {
                Some(number) => number.to_string(),
                None => scalar.text.to_string(),
            },
            Kind::Float => number(&scalar.text),
            _ => text(&scalar.text),
        },
    }
}

/// The same value as JSON, with its type.
pub fn json(node: &Node<'_>) -> serde_json::Value {
    use serde_json::Value as Json;
    match &node.value {
        Value::List(items) => items.iter().map(json).collect(),
        Value::Map(map) => map
            .entries
            .iter()
            .map(|entry| (entry.key.text.to_string(), json(&entry.value)))
            .collect(),
        Value::Scalar(scalar) => match node.kind() {
            Kind::Null => Json::Null,
            Kind::Bool => Json::Bool(node.as_bool() == Some(true)),
            Kind::Integer | Kind::Float => integer(node)
                .or_else(|| float(&scalar.text).map(Json::from))
                .unwrap_or_else(|| Json::String(scalar.text.to_string())),
            _ => Json::String(scalar.text.to_string()),
        },
    }
}

fn integer(node: &Node<'_>) -> Option<serde_json::Value> {
    if node.kind() != Kind::Integer {
        return None;
    }
    let number = node.as_integer()?;
    i64::try_from(number)
        .map(serde_json::Value::from)
        .or_else(|_| u64::try_from(number).map(serde_json::Value::from))
        .ok()
}

/// A finite number; JSON has no other.
fn float(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// A text in Python's quotes.
fn text(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    let mut out = String::from(quote);
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            character if character == quote => {
                out.push('\\');
                out.push(character);
            }
            character if character.is_control() => {
                let _ = write!(out, "\\x{:02x}", u32::from(character));
            }
            character => out.push(character),
        }
    }
    out.push(quote);
    out
}

/// A number with a fraction: the shortest digits that give it back, with an exponent where Python
/// writes one.
fn number(text: &str) -> String {
    let unsigned = text.trim_start_matches(['+', '-']).to_ascii_lowercase();
    let sign = if text.starts_with('-') { "-" } else { "" };
    match unsigned.as_str() {
        ".inf" => return format!("{sign}inf"),
        ".nan" => return "nan".to_owned(),
        _ => {}
    }
    let Ok(number) = text.parse::<f64>() else {
        return text.to_owned();
    };
    if number == 0.0 {
        return format!("{sign}0.0");
    }
    let scientific = format!("{number:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..16).contains(&exponent) {
        let plain = format!("{number}");
        return if plain.contains('.') {
            plain
        } else {
            format!("{plain}.0")
        };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::source::Sources;
    use crate::yaml::{self, Limits};

    fn both(text: &str) -> (String, serde_json::Value) {
        let sources = Sources::default();
        let source = sources.add("x", text);
        let document = yaml::load(source, &Limits::default());
        let root = document.root.unwrap();
        (str(&root), json(&root))
    }

    #[test]
    fn values_are_written_as_python_writes_them() {
        for (yaml, python, json) in [
            ("2", "2", "2"),
            ("0x10", "16", "16"),
            ("0.01", "0.01", "0.01"),
            ("0.10", "0.1", "0.1"),
            ("1e-3", "0.001", "0.001"),
            ("0.00001", "1e-05", "0.00001"),
            ("1e16", "1e+16", "1e16"),
            ("1e15", "1000000000000000.0", "1000000000000000.0"),
            ("1.5e300", "1.5e+300", "1.5e300"),
            ("-0.0", "-0.0", "-0.0"),
            (".inf", "inf", "\".inf\""),
            ("true", "True", "true"),
            ("~", "None", "null"),
            ("plain text", "plain text", "\"plain text\""),
            ("'2'", "2", "\"2\""),
            (
                "[1, a, 'it''s', 2.0]",
                "[1, 'a', \"it's\", 2.0]",
                "[1,\"a\",\"it's\",2.0]",
            ),
            (
                "{k: 1, m: [true]}",
                "{'k': 1, 'm': [True]}",
                "{\"k\":1,\"m\":[true]}",
            ),
            ("[\"a\\nb\"]", "['a\\nb']", "[\"a\\nb\"]"),
        ] {
            let json = serde_json::from_str(json).unwrap();
            assert_eq!(both(yaml), (python.to_owned(), json), "{yaml}");
        }
    }
}
