//! The published form of a table for people: one section per object, in Markdown.

use std::fmt::Write as _;

use super::{Default, Field, Object, Shape, Unknown};

/// The reference of a shape: every object that it holds.
pub fn reference(shape: &'static Shape, title: &str, introduction: &str) -> String {
    let mut out = format!("# {title}\n\n{introduction}\n");
    for object in objects(shape) {
        section(&mut out, object);
    }
    out
}

/// The objects of a shape and all below them, each once, in the order of the document.
pub(super) fn objects(shape: &'static Shape) -> Vec<&'static Object> {
    let mut objects = Vec::new();
    collect(shape, &mut objects);
    objects
}

fn collect(shape: &'static Shape, objects: &mut Vec<&'static Object>) {
    for object in inner_objects(shape) {
        if !objects.iter().any(|other| std::ptr::eq(*other, object)) {
            objects.push(object);
            for field in object.fields {
                collect(&field.shape, objects);
            }
        }
    }
}

fn inner_objects(shape: &'static Shape) -> Vec<&'static Object> {
    match shape {
        Shape::Object(object) => vec![object],
        Shape::Tagged(tagged) => tagged.objects(),
        Shape::List { of, .. } | Shape::Map { of, .. } => inner_objects(of),
        Shape::Either(shapes) => shapes.iter().flat_map(inner_objects).collect(),
        _ => Vec::new(),
    }
}

fn section(out: &mut String, object: &'static Object) {
    // An object that keeps other keys says itself what they are.
    let others = match object.unknown {
        Unknown::Refuse => " Other keys are refused.",
        Unknown::Warn => " Other keys are accepted with a warning; nothing reads them.",
        Unknown::Keep => "",
    };
    let _ = write!(
        out,
        "\n## {}\n\n{}{others}\n\n| key | holds | default | meaning |\n| --- | --- | --- | --- |\n",
        heading(object.name),
        object.doc
    );
    for field in object.fields {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} |",
            keys(field),
            holds(&field.shape),
            default(field),
            cell(field.doc)
        );
    }
}

fn keys(field: &Field) -> String {
    let mut out = format!("`{}`", field.name);
    for other in field.also {
        let _ = write!(out, ", also `{other}`");
    }
    out
}

fn default(field: &Field) -> String {
    match field.default {
        _ if field.required => "**required**".to_owned(),
        Default::None => String::new(),
        Default::Value(json) => format!("`{}`", json.trim_matches('"')),
        Default::Rule(words) => cell(words),
    }
}

fn holds(shape: &'static Shape) -> String {
    match shape {
        Shape::Text(rule) if rule.pattern.is_empty() => "text".to_owned(),
        Shape::Text(rule) => format!("text, `{}`, at most {}", rule.pattern, rule.max_length),
        Shape::TextOrNumber => "text or number".to_owned(),
        Shape::TextOrList => "text or list of texts".to_owned(),
        Shape::Integer { min, max, null } => {
            let null = if *null { ", or `null`" } else { "" };
            if *max == i64::from(i32::MAX) {
                format!("integer, at least {min}{null}")
            } else {
                format!("integer from {min} to {max}{null}")
            }
        }
        Shape::Flag => "`true` or `false`".to_owned(),
        Shape::Choice(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            words.join(", ")
        }
        Shape::Exactly(number) => format!("`{number}` or `\"{number}\"`"),
        Shape::List {
            of: Shape::Text(_),
            min,
        } => format!("list of texts{}", least(*min)),
        Shape::List { of, min } => format!("list of {}{}", holds(of), least(*min)),
        Shape::Map { key, of, min, .. } => {
            format!("mapping of {key} to {}{}", holds(of), least(*min))
        }
        Shape::Object(object) => link(object.name),
        Shape::Tagged(tagged) => {
            let objects = tagged.objects();
            let links: Vec<String> = objects.iter().map(|object| link(object.name)).collect();
            links.join(" or ")
        }
        Shape::Scalar => "text, number or flag, as written".to_owned(),
        Shape::Number => "number".to_owned(),
        Shape::Either(shapes) => {
            let all: Vec<String> = shapes.iter().map(holds).collect();
            all.join(" or ")
        }
        Shape::Secrets => "mapping of name to value".to_owned(),
        Shape::Any => "anything".to_owned(),
    }
}

fn least(min: usize) -> String {
    match min {
        0 => String::new(),
        _ => format!(", at least {min}"),
    }
}

fn link(name: &str) -> String {
    let anchor = name.to_lowercase().replace(' ', "-");
    format!("[{name}](#{anchor})")
}

fn heading(name: &str) -> String {
    let mut chars = name.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
