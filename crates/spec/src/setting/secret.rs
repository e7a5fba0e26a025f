//! `--secret NAME`: a value from outside the file takes the place of a secret, or fills one that tags name.

use super::{Typed, parameter, select};
use crate::diagnostic::{Diagnostic, Diagnostics, codes, suggest};
use crate::jsonpath::{Form, NamedStep, Query, Step};
use crate::template::{self, Scope};
use crate::yaml::{Map, Node, Scalar, Style, Value};

/// Stands for a value that is not wanted yet. It is long enough for a secret, and in no text of a user.
const UNTOLD: &str = "\u{7f}untold\u{7f}";

/// So many names are offered to someone who asks for one that is not there.
const MOST_NAMES: usize = 8;

pub(super) fn apply<'s>(root: &mut Node<'s>, setting: &Typed<'s>, diagnostics: &mut Diagnostics) {
    let known = known_names(root);
    let name = setting.target_text();
    let query = Query::parse(name, Form::Short).ok();
    let steps = query.and_then(|query| query.singular());
    let Some(steps) = steps.filter(|_| known.iter().any(|known| known == name)) else {
        diagnostics.push(unknown(setting, &known));
        return;
    };
    // A job that was exported has a mask where its secrets were.
    if let Some(secrets) = parameter::entry_mut(root, "secrets")
        && secrets.as_map().is_none()
        && !secrets.is_null()
    {
        let span = secrets.span;
        setting.replace(secrets, Node::new(span, Value::Map(Map::default())));
    }
    let scalar = Scalar {
        text: setting
            .secret
            .as_deref()
            .unwrap_or(UNTOLD)
            .to_owned()
            .into(),
        style: Style::DoubleQuoted,
    };
    let top = NamedStep {
        step: Step::Key("secrets".into()),
        start: 0,
        end: name.len(),
    };
    let steps: Vec<NamedStep> = std::iter::once(top).chain(steps).collect();
    let given = Node::new(setting.value, Value::Scalar(scalar));
    if let Err(diagnostic) = select::put(root, &steps, given, setting) {
        diagnostics.push(*diagnostic);
    }
}

/// The secrets that the file has, and those that its tags name.
fn known_names(root: &Node<'_>) -> Vec<String> {
    let mut names = Vec::new();
    if let Some(entry) = root.get("secrets")
        && entry.value.as_map().is_some()
    {
        let leaves = template::secret_leaves(&entry.value);
        names.extend(leaves.into_iter().map(|(name, _)| name.0));
    }
    collect_named(root, &mut names);
    names.sort_unstable();
    names.dedup();
    names
}

fn collect_named(node: &Node<'_>, names: &mut Vec<String>) {
    match &node.value {
        Value::Scalar(scalar) if template::has_tag(&scalar.text) => {
            let template = template::parse(&scalar.text);
            let tags = template.tags();
            let secrets = tags.filter(|tag| tag.scope == Some(Scope::Secrets));
            names.extend(secrets.filter(|tag| !tag.path.is_empty()).map(|tag| {
                let keys = tag.path.iter().map(|segment| segment.key);
                template::dotted(keys)
            }));
        }
        Value::Scalar(_) => {}
        Value::List(items) => items.iter().for_each(|item| collect_named(item, names)),
        Value::Map(map) => {
            for entry in &map.entries {
                collect_named(&entry.value, names);
            }
        }
    }
}

fn unknown(setting: &Typed<'_>, known: &[String]) -> Diagnostic {
    let name = setting.target_text();
    let message = format!("there is no secret `{name}`");
    let diagnostic = Diagnostic::new(&codes::UNKNOWN_SECRET, setting.target, message);
    let names = || known.iter().map(String::as_str);
    if let Some(help) = suggest::did_you_mean(name, names()) {
        return diagnostic.help(help);
    }
    if known.is_empty() {
        return diagnostic.help(format!(
            "the file has no `secrets`, and no tag such as `<% $secrets.{name} %>` names one"
        ));
    }
    let mut shown: Vec<String> = names()
        .take(MOST_NAMES)
        .map(|name| format!("`{name}`"))
        .collect();
    if known.len() > shown.len() {
        shown.push("…".to_owned());
    }
    diagnostic.help(format!("there are {}", shown.join(", ")))
}
