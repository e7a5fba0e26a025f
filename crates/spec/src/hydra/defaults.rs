//! The list of `defaults`: which files a configuration is made of, in which order.

use super::words::{Change, Word};
use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::source::Span;
use crate::yaml::{Node, Value};

/// An option of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The group; none for a file beside the groups.
    pub group: Option<String>,
    /// Its option.
    pub option: String,
    /// Where it is written.
    pub span: Span,
    pub(super) package: Option<String>,
    pub(super) optional: bool,
}

impl Choice {
    /// The path of its file.
    pub(super) fn path(&self) -> String {
        match &self.group {
            Some(group) => format!("{group}/{}", self.option),
            None => self.option.clone(),
        }
    }
}

/// A line of the list.
#[derive(Clone, Debug)]
pub(super) enum Default {
    /// `_self_`: the main file's own values.
    Main,
    Option(Choice),
}

/// Takes the list out of the main file.
pub(super) fn take(root: &mut Node<'_>, out: &mut Diagnostics) -> Vec<Default> {
    let Value::Map(map) = &mut root.value else {
        return Vec::new();
    };
    let Some(at) = map
        .entries
        .iter()
        .position(|entry| entry.key.text == "defaults")
    else {
        return Vec::new();
    };
    let entry = map.entries.remove(at);
    let Some(list) = entry.value.as_list() else {
        let message = "`defaults` is a list such as `- aml: eyesoff`";
        out.push(Diagnostic::new(
            &codes::BAD_DEFAULTS_LIST,
            entry.key.span,
            message,
        ));
        return Vec::new();
    };
    list.iter().filter_map(|item| line(item, out)).collect()
}

fn line(item: &Node<'_>, out: &mut Diagnostics) -> Option<Default> {
    if let Some(text) = item.as_text() {
        return Some(match text {
            "_self_" => Default::Main,
            _ => Default::Option(Choice {
                group: None,
                option: text.to_owned(),
                span: item.span,
                package: None,
                optional: false,
            }),
        });
    }
    let mut wrong = |span: Span| {
        let message = "a line of `defaults` is a file's name or `GROUP: OPTION`";
        out.push(Diagnostic::new(&codes::BAD_DEFAULTS_LIST, span, message));
        None
    };
    let Some(map) = item.as_map() else {
        return wrong(item.span);
    };
    let is_optional = |key: &str| key == "optional";
    let mut groups = map
        .entries
        .iter()
        .filter(|entry| !is_optional(&entry.key.text));
    let (Some(entry), None) = (groups.next(), groups.next()) else {
        return wrong(item.span);
    };
    // An option that is null takes nothing of the group.
    if entry.value.is_null() {
        return None;
    }
    let Some(option) = entry.value.as_text() else {
        return wrong(entry.value.span);
    };
    let (group, package) = split_package(&entry.key.text);
    // How Hydra itself runs has no part in what is configured.
    if group.starts_with("hydra/") || group.starts_with("override hydra/") {
        return None;
    }
    let optional = map.get("optional");
    Some(Default::Option(Choice {
        group: Some(group.to_owned()),
        option: option.to_owned(),
        span: entry.value.span,
        package,
        optional: optional.is_some_and(|entry| entry.value.as_bool() == Some(true)),
    }))
}

/// A group and the package that is written behind it: `db@backup`.
pub(super) fn split_package(text: &str) -> (&str, Option<String>) {
    match text.split_once('@') {
        Some((group, package)) => (group, Some(package.to_owned())),
        None => (text, None),
    }
}

/// Changes the list as words such as `aml=eyeson` say.
pub(super) fn change(list: &mut Vec<Default>, words: &[Word<'_>], out: &mut Diagnostics) {
    for word in words {
        let Change::Group { group, option } = &word.change else {
            continue;
        };
        let found = list.iter().position(|default| match default {
            Default::Option(choice) => {
                choice.group.as_deref() == Some(group) && choice.package == word.package
            }
            Default::Main => false,
        });
        match (found, option) {
            (Some(at), None) => {
                list.remove(at);
            }
            (Some(at), Some(option)) => {
                if let Some(Default::Option(choice)) = list.get_mut(at) {
                    choice.option.clone_from(option);
                    choice.span = word.value;
                    choice.optional = false;
                }
            }
            (None, Some(option)) if word.adds => list.push(Default::Option(Choice {
                group: Some(group.clone()),
                option: option.clone(),
                span: word.value,
                package: word.package.clone(),
                optional: false,
            })),
            (None, _) => {
                let message = format!("the `defaults` have no group `{group}`");
                let mut diagnostic = Diagnostic::new(&codes::BAD_CONFIG_WORD, word.target, message);
                if let Some(option) = option {
                    diagnostic = diagnostic.help(format!("`+{group}={option}` adds it"));
                }
                out.push(diagnostic);
            }
        }
    }
}

/// The keys below which the values of an option stand. A file that says nothing stands at the top.
pub(super) fn package(written: Option<&str>, choice: &Choice) -> Vec<String> {
    let group = choice
        .group
        .as_deref()
        .unwrap_or_default()
        .replace('/', ".");
    let package = match written {
        None | Some("_global_") => String::new(),
        Some(text) => text
            .replace("_group_", &group)
            .replace("_name_", &choice.option),
    };
    package
        .split('.')
        .filter(|key| !key.is_empty())
        .map(str::to_owned)
        .collect()
}
