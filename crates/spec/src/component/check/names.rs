//! Names, versions, tags.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::component::model::{Component, Name};
use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::yaml::access::{items, value};
use crate::yaml::node::Kind as NodeKind;

pub(super) fn check(component: &Component<'_>, out: &mut Diagnostics) {
    equal_names(
        "input",
        component.inputs.iter().map(|input| input.name),
        out,
    );
    equal_names(
        "output",
        component.outputs.iter().map(|output| output.name),
        out,
    );
    for output in &component.outputs {
        let name = output.name;
        if let Some(input) = component.input(name.text) {
            let message = format!("`{}` is both an input and an output", name.text);
            out.push(
                Diagnostic::new(&codes::SHARED_NAME, name.span, message)
                    .related(input.name.span, "the input is here")
                    .help("both become the variable of that name in the task, and only one can: give one of them another name"),
            );
        }
    }
    no_version(component, out);
    other_schema(component, out);
    tags(component, out);
}

/// Up to so many names, comparing each with all others is faster than hashing.
const FEW: usize = 16;

fn equal_names<'d>(
    what: &str,
    names: impl ExactSizeIterator<Item = Name<'d>> + Clone,
    out: &mut Diagnostics,
) {
    if names.len() <= FEW {
        for (place, name) in names.clone().enumerate() {
            let equal = |first: &Name<'d>| first.text.eq_ignore_ascii_case(name.text);
            if let Some(first) = names.clone().take(place).find(equal) {
                out.push(equal_name(what, first, name));
            }
        }
        return;
    }
    let mut seen: HashMap<String, Name<'d>> = HashMap::new();
    for name in names {
        match seen.entry(name.text.to_ascii_lowercase()) {
            Entry::Occupied(first) => out.push(equal_name(what, *first.get(), name)),
            Entry::Vacant(place) => {
                place.insert(name);
            }
        }
    }
}

fn equal_name(what: &str, first: Name<'_>, name: Name<'_>) -> Diagnostic {
    let message = format!(
        "{what}s `{}` and `{}` differ only in small and capital letters",
        first.text, name.text
    );
    Diagnostic::new(&codes::EQUAL_NAMES, name.span, message)
        .related(first.span, "the first is here")
        .help("give one of them another name")
}

fn no_version(component: &Component<'_>, out: &mut Diagnostics) {
    use crate::component::command::Syntax;
    if component.syntax != Syntax::V1 || value(component.root, "version").is_some() {
        return;
    }
    let Some(name) = component.name else {
        return;
    };
    out.push(
        Diagnostic::new(
            &codes::NO_VERSION,
            name.span,
            format!("component `{}` has no `version`", name.text),
        )
        .help("it can be run, but not registered: add `version: 0.0.1`"),
    );
}

/// `$schema` ends with the type it is for: `…/HemeraComponent.json`.
fn other_schema(component: &Component<'_>, out: &mut Diagnostics) {
    use crate::component::model::Kind;
    let Some(schema) = value(component.root, "$schema").and_then(crate::yaml::access::name) else {
        return;
    };
    let Some(word) = schema
        .text
        .rsplit('/')
        .next()
        .and_then(|file| file.strip_suffix(".json"))
    else {
        return;
    };
    let Some((kind, _)) = Kind::from_word(word) else {
        return;
    };
    if kind == component.kind {
        return;
    }
    let written = match component.type_name {
        Some(name) => format!("`type` says `{}`", name.text),
        None => "a missing `type` means `CommandComponent`".to_owned(),
    };
    let message = format!("`$schema` is that of `{word}`, and {written}");
    let mut diagnostic = Diagnostic::new(&codes::OTHER_SCHEMA, schema.span, message)
        .help("nothing but `type` decides what the component is");
    if let Some(name) = component.type_name {
        diagnostic = diagnostic.related(name.span, "the type is here");
    }
    out.push(diagnostic);
}

fn tags(component: &Component<'_>, out: &mut Diagnostics) {
    let Some(entry) = component.root.get("tags") else {
        return;
    };
    let tags = &entry.value;
    let words: Vec<&str> = match tags.kind() {
        NodeKind::Text => tags.as_text().into_iter().collect(),
        NodeKind::List => items(Some(tags))
            .iter()
            .filter_map(|tag| tag.as_text())
            .collect(),
        _ => return,
    };
    let what = if tags.as_list().is_some() {
        "a list"
    } else {
        "a text"
    };
    let entries: Vec<String> = words.iter().map(|word| format!("{word}:")).collect();
    out.push(
        Diagnostic::new(
            &codes::ODD_TAGS,
            entry.key.span,
            format!("`tags` is {what}; some clients take only a mapping"),
        )
        .help(format!(
            "a tag without a value is written as an entry with nothing behind it: `{}`",
            entries.join("` `")
        )),
    );
}
