//! Edits of the source that mend what people often get wrong.

use super::check::is_quoted;
use super::{Shape, TextRule};
use crate::diagnostic::Diagnostic;
use crate::source::{Source, Span};
use crate::yaml::node::Kind;
use crate::yaml::{Entry, Node, Style};

/// A repair of more places than this is left to the user: nobody reads such a patch.
const MOST_EDITS: usize = 50;

/// Whether a list or mapping is written with brackets.
pub(super) fn is_flow(source: &Source, node: &Node<'_>) -> bool {
    source.slice(node.span).starts_with(['[', '{'])
}

/// Adds the repair of a value of the wrong type, where its form tells what was meant. `at` is the
/// key that holds it.
pub(super) fn wrong_type(
    diagnostic: Diagnostic,
    source: &Source,
    at: Span,
    node: &Node<'_>,
    shape: &Shape,
) -> Diagnostic {
    let span = node.span;
    match (shape, node.kind()) {
        (Shape::Integer { .. }, Kind::Text) => integer(diagnostic, node),
        (Shape::Integer { .. }, Kind::Float) => diagnostic.help("write a whole number"),
        (Shape::Flag, Kind::Text | Kind::Integer) => match meant_flag(node) {
            Some(flag) if is_plain_or_quoted(node) => {
                diagnostic.fix(format!("write `{flag}`"), span, flag)
            }
            _ => diagnostic,
        },
        (Shape::Text(_) | Shape::TextOrNumber, Kind::Bool | Kind::Integer | Kind::Float) => {
            diagnostic.fix("quote it", span, double_quoted(source.slice(span)))
        }
        (Shape::Text(_) | Shape::TextOrNumber | Shape::Choice(_), Kind::List) => {
            match node.as_list() {
                Some([only]) if only.is_string() && is_flow(source, node) => diagnostic.fix(
                    "take it out of the list",
                    span,
                    source.slice(only.span).to_owned(),
                ),
                _ => diagnostic,
            }
        }
        (Shape::List { of, .. }, Kind::Text) if takes_text(of) => {
            list_of_one(diagnostic, source, at, node)
        }
        (Shape::List { of, .. }, Kind::Text) if takes_map(of) => {
            diagnostic.help("write each item as a mapping that begins with `- `")
        }
        (Shape::List { min: 0, .. }, Kind::Map) if source.slice(span) == "{}" => {
            diagnostic.fix("an empty list is written `[]`", span, "[]")
        }
        (Shape::List { of, .. }, Kind::Map) if takes_map(of) => {
            diagnostic.help("begin each item with `- `")
        }
        (Shape::Map { .. } | Shape::Object(_), Kind::List) => {
            without_dashes(diagnostic, source, node, shape)
        }
        (Shape::Map { .. } | Shape::Object(_) | Shape::Tagged(_), Kind::Text) => {
            diagnostic.help("write its entries as `key: value`, each on a line of its own")
        }
        _ => diagnostic,
    }
}

fn integer(diagnostic: Diagnostic, node: &Node<'_>) -> Diagnostic {
    match unquoted_number(node) {
        Some(number) if is_plain_or_quoted(node) => {
            diagnostic.fix("write the plain number", node.span, number)
        }
        _ => {
            let has_unit = node.as_text().is_some_and(|text| {
                text.starts_with(|char: char| char.is_ascii_digit())
                    && text.ends_with(|char: char| char.is_ascii_alphabetic())
            });
            if has_unit {
                diagnostic.help("write a plain number without a unit")
            } else {
                diagnostic
            }
        }
    }
}

/// Makes a list of a single text: in brackets, or a block text under a dash.
fn list_of_one(diagnostic: Diagnostic, source: &Source, at: Span, node: &Node<'_>) -> Diagnostic {
    const TITLE: &str = "make it a list of one";
    if let Some(item) = flow_item(source, node) {
        return diagnostic.fix(TITLE, node.span, format!("[{item}]"));
    }
    let between = source
        .text()
        .get(at.end as usize..node.span.start as usize)
        .unwrap_or_default();
    let is_block = node
        .as_scalar()
        .is_some_and(|scalar| matches!(scalar.style, Style::Literal | Style::Folded));
    if is_block && at.source == node.span.source && between.trim() == ":" {
        let indent = column(source, at.start);
        let space = Span::new(
            source.id(),
            at.end as usize + between.trim_end().len(),
            node.span.start as usize,
        );
        return diagnostic.fix(TITLE, space, format!("\n{:indent$}- ", ""));
    }
    diagnostic.help("begin the line with `- `")
}

/// How many characters stand before a byte in its line.
fn column(source: &Source, offset: u32) -> usize {
    source.place(offset).column.saturating_sub(1) as usize
}

/// The edit that puts a key and a value in front of the first key of a mapping.
pub(super) fn insert_key(
    source: &Source,
    node: &Node<'_>,
    key: &str,
    stub: &str,
) -> Option<(Span, String)> {
    let is_own = |entry: &&Entry<'_>| {
        let inside = node.span.range();
        entry.merged.is_none()
            && entry.key.span.source == node.span.source
            && inside.contains(&(entry.key.span.start as usize))
    };
    let flow = is_flow(source, node);
    let Some(first) = node.as_map()?.entries.iter().find(is_own) else {
        let at = node.span.part(1, 1);
        return (source.slice(node.span) == "{}").then(|| (at, format!("{key}: {stub}")));
    };
    let at = first.key.span.part(0, 0);
    if flow {
        // In JSON the stub would have to be JSON as well.
        let is_json = source.slice(first.key.span).starts_with('"');
        return (!is_json).then(|| (at, format!("{key}: {stub}, ")));
    }
    let indent = column(source, first.key.span.start);
    Some((at, format!("{key}: {stub}\n{:indent$}", "")))
}

/// The nearest text that a rule accepts, if changing single characters is enough.
pub(super) fn mend(text: &str, rule: &TextRule) -> Option<String> {
    let replaced: String = text
        .trim()
        .chars()
        .map(|char| match char {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => char,
            '-' if (rule.accepts)("a-b") => char,
            _ => '_',
        })
        .collect();
    let is_useful = |text: &String| {
        (rule.accepts)(text) && text.bytes().any(|byte| byte.is_ascii_alphanumeric())
    };
    let candidates = [format!("_{replaced}"), replaced];
    candidates
        .into_iter()
        .rev()
        .find(is_useful)
        .filter(|text| rule.is_short_enough(text))
}

fn unquoted_number(node: &Node<'_>) -> Option<String> {
    let text = node.as_text()?.trim();
    let plain: String = text
        .chars()
        .filter(|char| !matches!(char, '_' | ','))
        .collect();
    plain.parse::<i64>().ok().map(|number| number.to_string())
}

fn meant_flag(node: &Node<'_>) -> Option<&'static str> {
    const WORDS: [(&str, &str); 12] = [
        ("yes", "true"),
        ("y", "true"),
        ("on", "true"),
        ("true", "true"),
        ("1", "true"),
        ("enabled", "true"),
        ("no", "false"),
        ("n", "false"),
        ("off", "false"),
        ("false", "false"),
        ("0", "false"),
        ("disabled", "false"),
    ];
    let text = node.as_text()?.trim();
    WORDS
        .iter()
        .find(|(word, _)| text.eq_ignore_ascii_case(word))
        .map(|(_, flag)| *flag)
}

fn is_plain_or_quoted(node: &Node<'_>) -> bool {
    node.as_scalar()
        .is_some_and(|scalar| scalar.style == Style::Plain || is_quoted(scalar.style))
}

fn takes_text(shape: &Shape) -> bool {
    matches!(shape, Shape::Text(_) | Shape::TextOrNumber | Shape::Any)
}

fn may_be_empty(shape: &Shape) -> bool {
    match shape {
        Shape::Map { min, .. } => *min == 0,
        Shape::Object(object) => object.fields.iter().all(|field| !field.required),
        _ => false,
    }
}

fn takes_map(shape: &Shape) -> bool {
    matches!(
        shape,
        Shape::Map { .. } | Shape::Object(_) | Shape::Tagged(_)
    )
}

/// A text as the item of a list in brackets; none if it is written over several lines.
fn flow_item(source: &Source, node: &Node<'_>) -> Option<String> {
    let written = source.slice(node.span);
    let scalar = node.as_scalar()?;
    if written.is_empty() || written.contains('\n') || !is_plain_or_quoted(node) {
        return None;
    }
    let is_safe = is_quoted(scalar.style) || !written.contains([',', '[', ']', '{', '}']);
    Some(if is_safe {
        written.to_owned()
    } else {
        double_quoted(&scalar.text)
    })
}

fn double_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => out.extend(['\\', char]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            _ => out.push(char),
        }
    }
    out.push('"');
    out
}

/// `- worker: …` where `worker: …` was meant: blanks out the dashes.
fn without_dashes(
    diagnostic: Diagnostic,
    source: &Source,
    node: &Node<'_>,
    shape: &Shape,
) -> Diagnostic {
    let items = node.as_list().unwrap_or_default();
    if items.is_empty() && may_be_empty(shape) && is_flow(source, node) {
        return diagnostic.fix("an empty mapping is written `{}`", node.span, "{}");
    }
    let named = items
        .first()
        .and_then(|item| item.get("name")?.value.as_text());
    if let (Shape::Map { key, .. }, Some(name)) = (shape, named) {
        return diagnostic.help(format!(
            "the {key} is the key: write `{name}:` in place of `- name: {name}`"
        ));
    }
    let fits = |entries: &[Entry<'_>]| match shape {
        Shape::Object(object) => entries
            .iter()
            .all(|entry| object.field(&entry.key.text).is_some()),
        _ => entries.len() == 1,
    };
    let mut dashes = Vec::new();
    for item in items.iter().take(MOST_EDITS + 1) {
        let Some(map) = item.as_map().filter(|map| fits(&map.entries)) else {
            break;
        };
        let before = source
            .text()
            .get(..item.span.start as usize)
            .unwrap_or_default();
        let dash = before.trim_end_matches(' ');
        if map.entries.is_empty() || item.alias().is_some() || !dash.ends_with('-') {
            break;
        }
        dashes.push(Span::new(source.id(), dash.len() - 1, dash.len()));
    }
    let is_whole = !items.is_empty() && items.len() == dashes.len();
    if !is_whole || is_flow(source, node) || dashes.len() > MOST_EDITS {
        return diagnostic.help("write its entries as `key: value`, without `- `");
    }
    dashes.into_iter().fold(diagnostic, |diagnostic, dash| {
        diagnostic.fix("remove the dashes", dash, " ")
    })
}
