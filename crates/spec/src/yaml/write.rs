//! Tree to text: a value in one line, or a whole document in blocks.

use std::fmt::Write as _;

use super::{Node, Style, Value};
use crate::yaml::node::Kind;

/// A value in one line; `inside` tells that it stands in brackets.
pub(crate) fn flow(node: &Node<'_>, inside: bool) -> String {
    let mut out = String::new();
    write_flow(node, inside, &mut out);
    out
}

/// A document in blocks.
pub(crate) fn block(root: &Node<'_>) -> String {
    let mut out = String::new();
    write_block(root, 0, &mut out);
    if !out.ends_with('\n') {
        out.push('\n');
    }
    out
}

/// A key of a mapping.
pub(crate) fn key(text: &str) -> String {
    text_in_line(text, false)
}

fn write_flow(node: &Node<'_>, inside: bool, out: &mut String) {
    match &node.value {
        Value::Scalar(_) => out.push_str(&scalar(node, inside)),
        Value::List(list) => {
            out.push('[');
            for (at, item) in list.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                write_flow(item, true, out);
            }
            out.push(']');
        }
        Value::Map(map) => {
            out.push('{');
            for (at, entry) in map.entries.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                out.push_str(&text_in_line(&entry.key.text, true));
                out.push_str(": ");
                write_flow(&entry.value, true, out);
            }
            out.push('}');
        }
    }
}

fn write_block(node: &Node<'_>, indent: usize, out: &mut String) {
    let start = |out: &mut String| out.extend(std::iter::repeat_n(' ', indent));
    match &node.value {
        Value::Map(map) if !map.entries.is_empty() => {
            for entry in &map.entries {
                start(out);
                out.push_str(&key(&entry.key.text));
                out.push(':');
                write_below(&entry.value, indent + 2, out);
            }
        }
        Value::List(list) if !list.is_empty() => {
            for item in list {
                start(out);
                out.push('-');
                write_below(item, indent + 2, out);
            }
        }
        _ => {
            start(out);
            out.push_str(&flow(node, false));
            out.push('\n');
        }
    }
}

fn write_below(node: &Node<'_>, indent: usize, out: &mut String) {
    let is_block = match &node.value {
        Value::Map(map) => !map.entries.is_empty(),
        Value::List(list) => !list.is_empty(),
        Value::Scalar(_) => false,
    };
    if is_block {
        out.push('\n');
        write_block(node, indent, out);
    } else {
        let text = flow(node, false);
        if !text.is_empty() {
            out.push(' ');
            out.push_str(&text);
        }
        out.push('\n');
    }
}

fn scalar(node: &Node<'_>, inside: bool) -> String {
    let Some(scalar) = node.as_scalar() else {
        return String::new();
    };
    let tag = node.tag().filter(|tag| *tag != "!!str" && *tag != "!");
    let text = match node.kind() {
        Kind::Text => text_in_line(&scalar.text, inside),
        Kind::Null if scalar.text.is_empty() => "null".to_owned(),
        _ => scalar.text.clone().into_owned(),
    };
    match tag {
        Some(tag) => format!("{tag} {text}"),
        None => text,
    }
}

/// A text, quoted if it would be taken for something else.
fn text_in_line(text: &str, inside: bool) -> String {
    let mut chars = text.chars();
    let first = chars.next();
    // `-`, `?` and `:` are signs only before a blank.
    let is_sign = match first {
        Some('-' | '?' | ':') => chars.next().is_none_or(char::is_whitespace),
        Some(char) => ",[]{}#&*!|>'\"%@`".contains(char),
        None => true,
    };
    let needs_quotes = is_sign
        || text.starts_with(char::is_whitespace)
        || text.ends_with(char::is_whitespace)
        || text.ends_with(':')
        || text.contains(": ")
        || text.contains(" #")
        || text.contains(|char: char| char.is_control() || char == '\u{feff}')
        || (inside && text.contains([',', '[', ']', '{', '}', ':']))
        || text.starts_with("---")
        || text.starts_with("...")
        || text == "<<"
        || plain_kind(text) != Kind::Text;
    match needs_quotes {
        true => quoted(text),
        false => text.to_owned(),
    }
}

fn plain_kind(text: &str) -> Kind {
    let span = crate::source::Span::default();
    Node::scalar(span, text.into(), Style::Plain).kind()
}

fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => out.extend(['\\', char]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            _ if char.is_control() || char == '\u{feff}' => {
                let _ = write!(out, "\\u{:04X}", u32::from(char));
            }
            _ => out.push(char),
        }
    }
    out.push('"');
    out
}
