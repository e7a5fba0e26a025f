//! `-p name=value`.

use super::{Typed, value};
use crate::diagnostic::{Diagnostic, Diagnostics, codes, suggest};
use crate::jsonpath::{Form, NamedStep, Query, Step};
use crate::source::{Sources, Span};
use crate::yaml::node::Kind;
use crate::yaml::{Node, Scalar, Style, Value};

pub(super) fn apply<'s>(
    root: &mut Node<'s>,
    setting: &Typed<'s>,
    sources: &'s Sources,
    diagnostics: &mut Diagnostics,
) {
    let parameters = entry_mut(root, "parameters").filter(|node| node.as_map().is_some());
    let Some(parameters) = parameters else {
        let message = format!("there is no parameter `{}`", setting.target_text());
        diagnostics.push(
            Diagnostic::new(&codes::UNKNOWN_PARAMETER, setting.target, message)
                .help("the file declares no `parameters`"),
        );
        return;
    };
    match find(parameters, setting) {
        Ok(declared) => {
            if let Some(given) = read(declared, setting, sources, diagnostics) {
                setting.replace(declared, given);
            }
        }
        Err(diagnostic) => diagnostics.push(*diagnostic),
    }
}

fn find<'n, 's>(
    parameters: &'n mut Node<'s>,
    setting: &Typed<'s>,
) -> Result<&'n mut Node<'s>, Box<Diagnostic>> {
    let target = setting.target_text();
    if parameters.get(target).is_some() {
        return entry_mut(parameters, target)
            .ok_or_else(|| Box::new(unknown(setting, setting.target, target, &[])));
    }
    let query = Query::parse(target, Form::Short).ok();
    let steps = query.and_then(|query| query.singular());
    let Some(steps) = steps.filter(|_| !target.starts_with('$')) else {
        let names = names(parameters);
        return Err(Box::new(unknown(setting, setting.target, target, &names)));
    };
    let mut node = parameters;
    for named in &steps {
        let names = names(node);
        let NamedStep { step, start, end } = named;
        let span = setting.target.part(*start, *end);
        node = match step {
            Step::Key(key) => entry_mut(node, key),
            Step::Index(index) => item_mut(node, *index),
        }
        .ok_or_else(|| Box::new(unknown(setting, span, setting.source.slice(span), &names)))?;
    }
    Ok(node)
}

fn names(node: &Node<'_>) -> Vec<String> {
    let entries = node.as_map().map(|map| &map.entries);
    entries
        .into_iter()
        .flatten()
        .map(|entry| entry.key.text.clone().into_owned())
        .collect()
}

fn unknown(setting: &Typed<'_>, span: Span, word: &str, names: &[String]) -> Diagnostic {
    let message = format!("there is no parameter `{}`", setting.target_text());
    let diagnostic = Diagnostic::new(&codes::UNKNOWN_PARAMETER, span, message);
    let candidates = || names.iter().map(String::as_str);
    if setting.target_text().starts_with("secrets.") {
        diagnostic.help("a secret is not a parameter; `--secret NAME` gives its value")
    } else if let Some(help) = suggest::did_you_mean(word, candidates()) {
        diagnostic.help(help)
    } else if names.is_empty() {
        diagnostic
    } else {
        let mut known: Vec<String> = candidates()
            .take(8)
            .map(|name| format!("`{name}`"))
            .collect();
        if names.len() > known.len() {
            known.push("…".to_owned());
        }
        diagnostic.help(format!("there are {}", known.join(", ")))
    }
}

/// The value as the declared one wants it: a scalar is taken as typed, a list or a mapping is read.
fn read<'s>(
    declared: &Node<'s>,
    setting: &Typed<'s>,
    sources: &'s Sources,
    diagnostics: &mut Diagnostics,
) -> Option<Node<'s>> {
    let wanted = declared.kind();
    let given = match wanted {
        Kind::List | Kind::Map => value::read(setting, sources, diagnostics)?,
        _ => {
            // What replaces a text stays one, also when it is empty or looks like a number.
            let style = match wanted {
                Kind::Text => Style::DoubleQuoted,
                _ => Style::Plain,
            };
            let text = setting.value_text().into();
            Node::new(setting.value, Value::Scalar(Scalar { text, style }))
        }
    };
    let is_number = |kind| matches!(kind, Kind::Integer | Kind::Float);
    let fits = match wanted {
        Kind::Null | Kind::Text => true,
        Kind::Integer | Kind::Float => is_number(given.kind()),
        _ => given.kind() == wanted,
    };
    if fits {
        return Some(given);
    }
    let wanted_words = if is_number(wanted) {
        "a number".to_owned()
    } else {
        wanted.to_string()
    };
    let message = format!("`{}` must be {wanted_words}", setting.target_text());
    let mut diagnostic = Diagnostic::new(&codes::WRONG_TYPE, setting.value, message)
        .label(format!("this is {}", given.kind()));
    if declared.span.source != setting.value.source {
        diagnostic = diagnostic.related(declared.span, "declared here");
    }
    match wanted {
        Kind::List => diagnostic = diagnostic.help("write a list such as `[1, 2]`"),
        Kind::Map => diagnostic = diagnostic.help("write a mapping such as `{key: value}`"),
        _ => {}
    }
    diagnostics.push(diagnostic);
    None
}

pub(crate) fn entry_mut<'n, 's>(node: &'n mut Node<'s>, key: &str) -> Option<&'n mut Node<'s>> {
    match &mut node.value {
        Value::Map(map) => {
            let mut entries = map.entries.iter_mut();
            entries
                .find(|entry| entry.key.text == key)
                .map(|entry| &mut entry.value)
        }
        _ => None,
    }
}

pub(super) fn item_mut<'n, 's>(node: &'n mut Node<'s>, index: i64) -> Option<&'n mut Node<'s>> {
    match &mut node.value {
        Value::List(list) => {
            let from_start = usize::try_from(index).ok();
            let from_end = || {
                list.len()
                    .checked_sub(usize::try_from(index.unsigned_abs()).ok()?)
            };
            let index = from_start.or_else(from_end)?;
            list.get_mut(index)
        }
        _ => None,
    }
}
