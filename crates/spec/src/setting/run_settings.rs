//! `--runsettings FILE`: the run settings of a component from a file of their own.

use super::parameter::entry_mut;
use super::put;
use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::job::Dialect;
use crate::source::{Source, Sources, Span};
use crate::yaml::node::By;
use crate::yaml::{self, Entry, Key, Limits, Node, Value};

/// The section in which a component finds its run settings.
const SECTION: &str = "runsettings";

/// A file of run settings as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSettingsFile {
    /// Its name, for people.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// Puts the settings of a file into the document. They win over those that the document has; keys that only one of them
/// has stay.
pub fn merge<'s>(
    root: &mut Node<'s>,
    dialect: Option<Dialect>,
    file: &RunSettingsFile,
    sources: &'s Sources,
    limits: &Limits,
    out: &mut Diagnostics,
) {
    let source = sources.add(file.name.as_str(), file.text.as_str());
    if let Some(other) = dialect.filter(|dialect| *dialect != Dialect::Component) {
        let message = format!(
            "this is the file of a {}, which has no run settings",
            other.title()
        );
        out.push(
            Diagnostic::new(&codes::BAD_RUN_SETTINGS, start(source), message)
                .help("`--set PATH=VALUE` changes any value of the file"),
        );
        return;
    }
    let mut document = yaml::load(source, limits);
    out.extend(std::mem::take(&mut document.diagnostics));
    // A file without a document says nothing.
    let Some(given) = document.root.filter(|given| !given.is_null()) else {
        return;
    };
    let given = unwrapped(given);
    if given.as_map().is_none() {
        out.push(
            Diagnostic::new(
                &codes::BAD_RUN_SETTINGS,
                given.span,
                "run settings are a mapping",
            )
            .help("write a key and a value on each line, such as `node_count: 2`"),
        );
        return;
    }
    match entry_mut(root, SECTION) {
        Some(section) => overlay(section, given),
        None => {
            if let Value::Map(map) = &mut root.value {
                let key = Key {
                    text: SECTION.into(),
                    span: given.span,
                };
                map.entries.push(Entry {
                    key,
                    value: given,
                    merged: None,
                });
            }
        }
    }
}

/// A file may hold the section with its name, as a spec does.
fn unwrapped(mut given: Node<'_>) -> Node<'_> {
    if let Value::Map(map) = &mut given.value
        && map.entries.len() == 1
        && map
            .entries
            .first()
            .is_some_and(|entry| entry.key.text == SECTION)
        && let Some(entry) = map.entries.pop()
    {
        return entry.value;
    }
    given
}

fn overlay<'s>(node: &mut Node<'s>, given: Node<'s>) {
    match (&mut node.value, given) {
        (
            Value::Map(map),
            Node {
                value: Value::Map(more),
                ..
            },
        ) => {
            for entry in more.entries {
                let same = |one: &&mut Entry<'_>| one.key.text == entry.key.text;
                match map.entries.iter_mut().find(same) {
                    Some(known) => {
                        let is_section = known.value.as_map().is_some();
                        if !is_section {
                            known.key = entry.key;
                        }
                        overlay(&mut known.value, entry.value);
                    }
                    None => map.entries.push(entry),
                }
            }
        }
        (_, given) => put::replace(node, given, By::File),
    }
}

fn start(source: &Source) -> Span {
    let end = source.text().find('\n').unwrap_or(source.text().len());
    Span::new(source.id(), 0, end)
}
