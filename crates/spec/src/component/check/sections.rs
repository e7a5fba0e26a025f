//! What only one type of component has.

use super::command::Templates;
use crate::component::command::{Scope, Site};
use crate::component::model::{Component, Holds, Kind, Name};
use crate::component::{read, trial};
use crate::diagnostic::suggest::closest;
use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::job::Request;
use crate::library::Library;
use crate::source::Sources;
use crate::yaml::Node;
use crate::yaml::access::{entries, name, names, value};

/// So many names are compared with one that is wrong, and so many of them are shown.
const MOST_NAMES: usize = 256;
const MOST_SHOWN: usize = 20;

pub(super) fn check(
    component: &Component<'_>,
    templates: &Templates<'_>,
    sources: &Sources,
    request: &Request<'_>,
    library: &dyn Library,
    out: &mut Diagnostics,
) {
    let section = component
        .kind
        .section()
        .and_then(|key| value(component.root, key));
    match component.kind {
        Kind::Hemera => {
            module_id(section, out);
            file_outputs(component, out);
            no_cluster(component, out);
        }
        Kind::Starlite | Kind::Ae365 | Kind::AetherBridge => module_id(section, out),
        Kind::Parallel => parallel(component, out),
        Kind::Scope => scope_arguments(component, templates, sources, out),
        Kind::Spark => spark_entry(component, out),
        Kind::Sweep => {
            early_termination(component, out);
            trial::check(component, sources, request, library, out);
        }
        Kind::Protected => {
            trial::check_reference(component, sources, request, library, out);
            for (key, scope) in [
                ("intellectual_property_protected_inputs", Scope::Inputs),
                ("intellectual_property_protected_outputs", Scope::Outputs),
            ] {
                for name in names(value(component.root, key)) {
                    data(component, name, scope, key, out);
                }
            }
        }
        _ => {}
    }
}

/// Whether a text is a GUID: 8-4-4-4-12 hexadecimal digits.
pub fn is_guid(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let lengths = [8, 4, 4, 4, 12];
    parts.len() == lengths.len()
        && parts.iter().zip(lengths).all(|(part, length)| {
            part.len() == length && part.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
}

fn module_id(section: Option<&Node<'_>>, out: &mut Diagnostics) {
    let Some(id) = section
        .and_then(|section| section.get("ref_id"))
        .map(|entry| &entry.value)
        .filter(|node| node.is_string())
    else {
        return;
    };
    let text = id.as_text().unwrap_or_default();
    if is_guid(text) {
        return;
    }
    out.push(
        Diagnostic::new(
            &codes::BAD_MODULE_ID,
            id.span,
            format!("`ref_id` must be a GUID, found `{text}`"),
        )
        .label("expected 32 hexadecimal digits as 8-4-4-4-12")
        .help(
            "it is the id of the production module, such as `c3d0fbd2-8b78-4231-a665-3a0de1796264`",
        ),
    );
}

fn file_outputs(component: &Component<'_>, out: &mut Diagnostics) {
    for output in component.outputs.iter().filter(|output| !output.is_file()) {
        let message = format!(
            "output `{}` of a Hemera component must be a file",
            output.name.text
        );
        out.push(
            Diagnostic::new(&codes::FOLDER_OUTPUT, output.type_name.span, message)
                .label("this is a folder")
                .help("Hemera writes the real path of its result into a small file")
                .fix("make it a file", output.type_name.span, "AnyFile"),
        );
    }
}

fn no_cluster(component: &Component<'_>, out: &mut Diagnostics) {
    let Some(line) = component.lines.first() else {
        return;
    };
    let text = line.node.as_text().unwrap_or_default();
    if !text.contains("%CLUSTER%=") {
        out.push(
            Diagnostic::new(
                &codes::NO_CLUSTER,
                line.node.span,
                "the command does not say which cluster Hemera is to use",
            )
            .help("add `%CLUSTER%=` and the cluster's name, best from an input"),
        );
    }
}

/// The name in `inputs.x` or `${{inputs.x}}`; a bare `x` is one too.
pub(in crate::component) fn data_name(text: &str, scope: Scope) -> Option<&str> {
    let text = text.trim();
    let inner = match text.strip_prefix("${{") {
        Some(rest) => rest.strip_suffix("}}")?.trim(),
        None => text,
    };
    match inner.split_once('.') {
        None => Some(inner),
        Some((word, name)) => (word == scope.name()).then_some(name),
    }
}

/// Reports a name that is no input or output; returns whether it is one.
fn data(
    component: &Component<'_>,
    written: Name<'_>,
    scope: Scope,
    key: &str,
    out: &mut Diagnostics,
) -> bool {
    let what = match scope {
        Scope::Outputs => "output",
        _ => "input",
    };
    let Some(name) = data_name(written.text, scope) else {
        let message = format!(
            "`{key}` must name an {what} as `{scope}.x`, found `{}`",
            written.text
        );
        out.push(Diagnostic::new(&codes::UNKNOWN_DATA, written.span, message));
        return false;
    };
    let place = match scope {
        Scope::Outputs => component.output_place(name),
        _ => component.input_place(name),
    };
    if place.is_some() || out.has_enough() {
        return place.is_some();
    }
    let outputs = component.outputs.iter().map(|output| output.name.text);
    let inputs = component.inputs.iter().map(|input| input.name.text);
    let all: Vec<&str> = match scope {
        Scope::Outputs => outputs.take(MOST_NAMES).collect(),
        _ => inputs.take(MOST_NAMES).collect(),
    };
    let message = format!("`{key}` names `{name}`, which is no {what} of the component");
    let mut diagnostic = Diagnostic::new(&codes::UNKNOWN_DATA, written.span, message);
    diagnostic = match closest(name, all.iter().copied()) {
        Some(meant) => diagnostic.fix(
            format!("did you mean `{scope}.{meant}`?"),
            written.span,
            format!("{scope}.{meant}"),
        ),
        None if all.is_empty() => diagnostic.help(format!("the component has no {scope}")),
        None => {
            let shown = all.get(..MOST_SHOWN).unwrap_or(&all);
            diagnostic.help(format!("its {scope} are `{}`", shown.join("`, `")))
        }
    };
    out.push(diagnostic);
    false
}

fn parallel(component: &Component<'_>, out: &mut Diagnostics) {
    let root = component.root;
    for (path, key) in [
        ("parallel.input_data", "input_data"),
        ("input_data", "input_data"),
    ] {
        let Some(node) = read::at(root, path) else {
            continue;
        };
        let written: Vec<Name<'_>> = match node.as_list() {
            Some([]) => {
                out.push(
                    Diagnostic::new(
                        &codes::UNKNOWN_DATA,
                        node.span,
                        "a parallel component shares out at least one input",
                    )
                    .help("name an input: `inputs.x`"),
                );
                continue;
            }
            Some(list) => list.iter().filter_map(name).collect(),
            None => name(node).into_iter().collect(),
        };
        for name in written {
            if data(component, name, Scope::Inputs, key, out) {
                not_data(component, name, out);
            }
        }
    }
    for (path, key) in [
        ("parallel.output_data", "output_data"),
        ("task.append_row_to", "append_row_to"),
    ] {
        if let Some(name) = read::at(root, path).and_then(name) {
            data(component, name, Scope::Outputs, key, out);
        }
    }
}

fn not_data(component: &Component<'_>, written: Name<'_>, out: &mut Diagnostics) {
    let input = data_name(written.text, Scope::Inputs).and_then(|name| component.input(name));
    if let Some(input) = input.filter(|input| input.holds != Holds::Data) {
        let message = format!("`{}` is a parameter and has no files", input.name.text);
        let mut diagnostic = Diagnostic::new(&codes::UNKNOWN_DATA, written.span, message)
            .help("only data can be shared out: name an input of a type such as `path`");
        if let Some(kind) = input.types.first() {
            diagnostic = diagnostic.related(kind.span, "its type is here");
        }
        out.push(diagnostic);
    }
}

/// Scope takes pairs of argument and value, and the value is a placeholder alone.
fn scope_arguments(
    component: &Component<'_>,
    templates: &Templates<'_>,
    sources: &Sources,
    out: &mut Diagnostics,
) {
    let Some((line, template)) = templates.first() else {
        return;
    };
    let Some(site) = Site::new(line.node, sources) else {
        return;
    };
    let text = template.text;
    for placeholder in template.references() {
        let range = &placeholder.range;
        let before = text.get(..range.start).unwrap_or_default();
        let behind = text.get(range.end..).unwrap_or_default();
        let glued_before = !before.is_empty() && !before.ends_with([' ', '\t', '\n', '=']);
        let glued_behind = !behind.is_empty() && !behind.starts_with([' ', '\t', '\n']);
        if out.has_enough() {
            return;
        }
        if glued_before || glued_behind {
            let written = component
                .syntax
                .placeholder(placeholder.scope, placeholder.name);
            let message =
                format!("something is glued to `{written}` in the arguments of the script");
            out.push(
                Diagnostic::new(&codes::GLUED_ARGUMENT, site.span(range), message)
                    .label("this must stand alone")
                    .help(format!(
                        "write `Name {written}` or `Name={written}`, and glue the rest on in the script"
                    )),
            );
        }
    }
}

fn spark_entry(component: &Component<'_>, out: &mut Diagnostics) {
    let Some(entry) = component.root.get("entry") else {
        return;
    };
    let has = |key| entry.value.get(key).is_some();
    if entry.value.as_map().is_some() && has("file") == has("class_name") {
        let message = if has("file") {
            "`entry` has both a file and a class"
        } else {
            "`entry` says neither which file nor which class to start"
        };
        out.push(
            Diagnostic::new(&codes::BAD_ENTRY, entry.key.span, message)
                .help("write either `file: main.py` or `class_name: org.example.Main`"),
        );
    }
}

fn early_termination(component: &Component<'_>, out: &mut Diagnostics) {
    let Some(entry) = component.root.get("early_termination") else {
        return;
    };
    let policy = ["policy_type", "type"]
        .iter()
        .find_map(|key| value(&entry.value, key))
        .and_then(Node::as_text);
    let get = |key| entry.value.get(key);
    let (slack, amount) = (get("slack_factor"), get("slack_amount"));
    let mut report = |at, message: &str, help: &str| {
        out.push(Diagnostic::new(&codes::BAD_POLICY, at, message).help(help));
    };
    match policy {
        Some("bandit") => match (slack, amount) {
            (Some(_), Some(amount)) => report(
                amount.key.span,
                "the policy `bandit` has both `slack_factor` and `slack_amount`",
                "keep one of them",
            ),
            (None, None) => report(
                entry.key.span,
                "the policy `bandit` has neither `slack_factor` nor `slack_amount`",
                "say how much worse than the best a trial may be",
            ),
            _ => {}
        },
        Some("truncation_selection") if get("truncation_percentage").is_none() => report(
            entry.key.span,
            "the policy `truncation_selection` has no `truncation_percentage`",
            "say how many trials are given up each time, in percent",
        ),
        _ => {}
    }
}

/// The names of the parameters that a sweep searches.
pub(in crate::component) fn searched<'d>(component: &Component<'d>) -> Vec<Name<'d>> {
    entries(value(component.root, "search_space"))
        .iter()
        .map(Name::of_key)
        .collect()
}
