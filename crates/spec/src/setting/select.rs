//! `--set PATH=VALUE`.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::Value as Json;
use serde_json_path::JsonPath;

use super::parameter::{entry_mut, item_mut};
use super::path::{self, Segment, Step};
use super::{Typed, value};
use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::source::{Sources, Span};
use crate::yaml::node::{Kind, Replaced};
use crate::yaml::{Entry, Key, Map, Node, Value};

/// So many nodes may be written by one flag.
const MOST_NODES: usize = 500_000;

/// A query that is longer, or nested deeper in its filters, is refused: reading it could take long.
const LONGEST_QUERY: usize = 1_000;
const DEEPEST_QUERY: usize = 8;

pub(super) fn apply<'s>(
    root: &mut Node<'s>,
    setting: &Typed<'s>,
    sources: &'s Sources,
    diagnostics: &mut Diagnostics,
) {
    let Some(given) = value::read(setting, sources, diagnostics) else {
        return;
    };
    let outcome = match path::singular(setting.target_text()) {
        Some(segments) => set_one(root, &segments, given, setting),
        None => set_all(root, &given, setting),
    };
    if let Err(diagnostic) = outcome {
        diagnostics.push(*diagnostic);
    }
}

pub(super) type Outcome = Result<(), Box<Diagnostic>>;

fn set_one<'s>(
    root: &mut Node<'s>,
    segments: &[Segment<'s>],
    given: Node<'s>,
    setting: &Typed<'s>,
) -> Outcome {
    match segments.first().map(|segment| &segment.step) {
        None => Err(whole_refused(setting)),
        Some(Step::Key(key)) if key == "secrets" => Err(secrets_refused(setting)),
        Some(_) => put(root, segments, given, setting),
    }
}

/// Puts a value at one place, which is made if it is not there.
pub(super) fn put<'s>(
    root: &mut Node<'s>,
    segments: &[Segment<'s>],
    given: Node<'s>,
    setting: &Typed<'s>,
) -> Outcome {
    let mut node = root;
    for (depth, segment) in segments.iter().enumerate() {
        let kind = node.kind();
        node = match &segment.step {
            Step::Key(key) if matches!(kind, Kind::Map | Kind::Null) => {
                if entry_mut(node, key).is_none() {
                    let rest = segments.get(depth + 1..).unwrap_or_default();
                    let created = nest(rest, given, setting)?;
                    insert(node, segment, key.clone(), created, setting);
                    return Ok(());
                }
                entry_mut(node, key)
            }
            Step::Key(_) => None,
            Step::Index(index) => item_mut(node, *index),
        }
        .ok_or_else(|| nothing_there(kind, segment, setting))?;
    }
    setting.replace(node, given);
    Ok(())
}

/// The value below keys that do not exist yet.
fn nest<'s>(
    segments: &[Segment<'s>],
    given: Node<'s>,
    setting: &Typed<'s>,
) -> Result<Node<'s>, Box<Diagnostic>> {
    let mut node = made(given, setting);
    for segment in segments.iter().rev() {
        let Step::Key(key) = &segment.step else {
            return Err(nothing_there(Kind::Null, segment, setting));
        };
        let span = setting.target.part(segment.start, segment.end);
        let entry = Entry {
            key: Key {
                text: key.clone(),
                span,
            },
            value: node,
            merged: None,
        };
        let map = Map {
            entries: vec![entry],
        };
        node = made(Node::new(span, Value::Map(map)), setting);
    }
    Ok(node)
}

fn made<'s>(mut node: Node<'s>, setting: &Typed<'s>) -> Node<'s> {
    node.set_replaced(Replaced {
        by: setting.name(),
        was: None,
    });
    node
}

fn insert<'s>(
    node: &mut Node<'s>,
    segment: &Segment<'s>,
    key: Cow<'s, str>,
    value: Node<'s>,
    setting: &Typed<'s>,
) {
    let span = setting.target.part(segment.start, segment.end);
    if node.is_null() {
        setting.replace(node, Node::new(span, Value::Map(Map::default())));
    }
    if let Value::Map(map) = &mut node.value {
        map.entries.push(Entry {
            key: Key { text: key, span },
            value,
            merged: None,
        });
    }
}

fn set_all<'s>(root: &mut Node<'s>, given: &Node<'s>, setting: &Typed<'s>) -> Outcome {
    let query = parse(setting)?;
    let projection = project(root, 0);
    let selected: HashSet<*const Json> = query
        .query(&projection)
        .iter()
        .map(|node| std::ptr::from_ref(*node))
        .collect();
    if selected.is_empty() {
        let message = format!("`{}` selects nothing in this file", setting.target_text());
        return Err(Box::new(
            Diagnostic::new(&codes::NOTHING_SELECTED, setting.target, message)
                .help("only a path to a single place can add what is not there"),
        ));
    }
    if selected.contains(&std::ptr::from_ref(&projection)) {
        return Err(whole_refused(setting));
    }
    if projection
        .get("secrets")
        .is_some_and(|secrets| touches(secrets, &selected))
    {
        return Err(secrets_refused(setting));
    }
    if selected.len().saturating_mul(size(given)) > MOST_NODES {
        let message = format!("this would write more than {MOST_NODES} nodes");
        return Err(Box::new(Diagnostic::new(
            &codes::TOO_MANY_NODES,
            setting.target,
            message,
        )));
    }
    replace_selected(root, &projection, &selected, given, setting);
    Ok(())
}

fn parse(setting: &Typed<'_>) -> Result<JsonPath, Box<Diagnostic>> {
    let target = setting.target_text();
    let prefix = match target.chars().next() {
        Some('$') => "",
        Some('.' | '[') => "$",
        _ => "$.",
    };
    let bad = |span: Span, message: String| {
        Box::new(
            Diagnostic::new(&codes::BAD_QUERY, span, message)
                .help("a path is such as `taskRoles.worker.instances`, `$.prerequisites[0].uri` or `$..version`"),
        )
    };
    if target.len() > LONGEST_QUERY || nesting(target) > DEEPEST_QUERY {
        return Err(bad(
            setting.target,
            "this path is too long or nested too deep".to_owned(),
        ));
    }
    JsonPath::parse(&format!("{prefix}{target}")).map_err(|error| {
        // Despite its documentation, the position is the offset in bytes.
        let start = error.position().saturating_sub(prefix.len());
        let rest = target.get(start..).unwrap_or_default();
        let start = target.len() - rest.len();
        let end = start + rest.chars().next().map_or(0, char::len_utf8);
        bad(
            setting.target.part(start, end),
            format!("`{target}` is not a JSONPath"),
        )
    })
}

fn nesting(query: &str) -> usize {
    let mut depth = 0_usize;
    let mut deepest = 0;
    for byte in query.bytes() {
        match byte {
            b'(' | b'[' | b'!' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// The tree as JSON, for the query. Of secrets it has the names alone.
fn project(node: &Node<'_>, depth: usize) -> Json {
    match &node.value {
        Value::Map(map) => map
            .entries
            .iter()
            .map(|entry| {
                let hidden = depth == 0 && entry.key.text == "secrets";
                let value = if hidden {
                    outline(&entry.value)
                } else {
                    project(&entry.value, depth + 1)
                };
                (entry.key.text.clone().into_owned(), value)
            })
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Value::List(list) => list.iter().map(|item| project(item, depth + 1)).collect(),
        Value::Scalar(scalar) => match node.kind() {
            Kind::Null => Json::Null,
            Kind::Bool => Json::Bool(node.as_bool().unwrap_or_default()),
            Kind::Integer | Kind::Float => number(node, &scalar.text),
            _ => Json::String(scalar.text.clone().into_owned()),
        },
    }
}

fn number(node: &Node<'_>, text: &str) -> Json {
    let integer = node
        .as_integer()
        .and_then(|integer| i64::try_from(integer).ok());
    let number = match integer {
        Some(integer) => Some(integer.into()),
        None => text.parse().ok().and_then(serde_json::Number::from_f64),
    };
    number.map_or_else(|| Json::String(text.to_owned()), Json::Number)
}

fn outline(node: &Node<'_>) -> Json {
    match &node.value {
        Value::Map(map) => map
            .entries
            .iter()
            .map(|entry| (entry.key.text.clone().into_owned(), outline(&entry.value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Value::List(list) => list.iter().map(outline).collect(),
        Value::Scalar(_) => Json::Null,
    }
}

fn touches(json: &Json, selected: &HashSet<*const Json>) -> bool {
    selected.contains(&std::ptr::from_ref(json))
        || match json {
            Json::Array(items) => items.iter().any(|item| touches(item, selected)),
            Json::Object(entries) => entries.values().any(|value| touches(value, selected)),
            _ => false,
        }
}

fn size(node: &Node<'_>) -> usize {
    1 + match &node.value {
        Value::Map(map) => map.entries.iter().map(|entry| size(&entry.value)).sum(),
        Value::List(list) => list.iter().map(size).sum(),
        Value::Scalar(_) => 0,
    }
}

/// Walks tree and projection side by side; what lies below a replaced node is gone.
fn replace_selected<'s>(
    node: &mut Node<'s>,
    json: &Json,
    selected: &HashSet<*const Json>,
    given: &Node<'s>,
    setting: &Typed<'s>,
) {
    if selected.contains(&std::ptr::from_ref(json)) {
        setting.replace(node, given.clone());
        return;
    }
    match (&mut node.value, json) {
        (Value::Map(map), Json::Object(entries)) => {
            for entry in &mut map.entries {
                if let Some(below) = entries.get(&*entry.key.text) {
                    replace_selected(&mut entry.value, below, selected, given, setting);
                }
            }
        }
        (Value::List(list), Json::Array(items)) => {
            for (item, below) in list.iter_mut().zip(items) {
                replace_selected(item, below, selected, given, setting);
            }
        }
        _ => {}
    }
}

fn nothing_there(kind: Kind, segment: &Segment<'_>, setting: &Typed<'_>) -> Box<Diagnostic> {
    let span = setting.target.part(segment.start, segment.end);
    let message = format!("`{}` selects nothing in this file", setting.target_text());
    let label = match (&segment.step, kind) {
        (Step::Key(_), _) => format!("above this stands {kind}, which has no keys"),
        (Step::Index(_), Kind::List) => "the list has fewer entries".to_owned(),
        (Step::Index(_), Kind::Null) => "there is no list here".to_owned(),
        (Step::Index(_), _) => format!("above this stands {kind}, not a list"),
    };
    Box::new(Diagnostic::new(&codes::NOTHING_SELECTED, span, message).label(label))
}

fn whole_refused(setting: &Typed<'_>) -> Box<Diagnostic> {
    let message = "the whole document cannot be set";
    Box::new(Diagnostic::new(&codes::BAD_QUERY, setting.target, message))
}

fn secrets_refused(setting: &Typed<'_>) -> Box<Diagnostic> {
    let message = "a secret cannot be set on the command line";
    Box::new(
        Diagnostic::new(&codes::SECRET_IN_FLAG, setting.target, message)
            .help("everyone on this machine can see a command line; `--secret NAME` takes a variable, a file or the terminal"),
    )
}
