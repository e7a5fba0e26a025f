//! Names in command lines: every placeholder must be declared, every input and output be used.

use crate::component::command::{self, Judging, Placeholder, Scope, Site, Template};
use crate::component::model::{Component, Kind, Line};
use crate::component::read;
use crate::diagnostic::suggest::closest;
use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::source::Sources;
use crate::yaml::Node;
use crate::yaml::access::{items, value};

/// The command lines of a component, read.
pub type Templates<'d> = Vec<(Line<'d>, Template<'d>)>;

pub(super) fn check<'d>(
    component: &Component<'d>,
    sources: &Sources,
    out: &mut Diagnostics,
) -> Templates<'d> {
    let mut templates = Vec::new();
    let mut meant = Vec::new();
    for line in &component.lines {
        let Some(scalar) = line.node.as_scalar() else {
            continue;
        };
        let template = command::parse(&scalar.text, component.syntax);
        if let Some(site) = Site::new(line.node, sources) {
            let is_optional = |found: &Placeholder<'_>| is_optional(component, found);
            let judging = Judging {
                is_shell: matches!(component.kind, Kind::Command | Kind::Distributed),
                is_optional: &is_optional,
            };
            command::diagnose(&template, &site, judging, out);
            for placeholder in template.references() {
                meant.extend(reference(component, placeholder, &site, out));
            }
        }
        templates.push((*line, template));
    }
    unused(component, &templates, &meant, out);
    templates
}

fn is_optional(component: &Component<'_>, placeholder: &Placeholder<'_>) -> bool {
    placeholder.scope == Scope::Inputs
        && component
            .input(placeholder.name)
            .is_some_and(|input| input.optional)
}

/// Checks one name; returns the one that was probably meant if it is wrong.
fn reference<'d>(
    component: &Component<'d>,
    placeholder: &Placeholder<'_>,
    site: &Site<'_>,
    out: &mut Diagnostics,
) -> Option<&'d str> {
    match placeholder.scope {
        Scope::Inputs => match component.input(placeholder.name) {
            None => return undeclared(component, placeholder, site, out),
            Some(input) if input.optional && placeholder.group.is_none() => {
                let written = component
                    .syntax
                    .placeholder(Scope::Inputs, placeholder.name);
                let message = format!(
                    "optional input `{}` stands outside a group",
                    placeholder.name
                );
                out.push(
                    Diagnostic::new(
                        &codes::BARE_OPTIONAL,
                        site.span(&placeholder.range),
                        message,
                    )
                    .label("nothing can stand here if it is left out")
                    .related(input.name.span, "it is optional")
                    .help(format!(
                        "put it into a group with its flag, such as `{}`, or make the input required",
                        component.syntax.group(&format!("--{} {written}", placeholder.name))
                    )),
                );
            }
            Some(_) => {}
        },
        Scope::Outputs => {
            if component.output(placeholder.name).is_none() {
                return undeclared(component, placeholder, site, out);
            }
        }
        Scope::SearchSpace => {}
    }
    None
}

fn undeclared<'d>(
    component: &Component<'d>,
    placeholder: &Placeholder<'_>,
    site: &Site<'_>,
    out: &mut Diagnostics,
) -> Option<&'d str> {
    if component.declares(placeholder.scope.name(), placeholder.name) {
        return None;
    }
    let (what, other) = match placeholder.scope {
        Scope::Outputs => ("output", Scope::Inputs),
        _ => ("input", Scope::Outputs),
    };
    let message = format!("the component has no {what} `{}`", placeholder.name);
    let diagnostic = Diagnostic::new(
        &codes::UNDECLARED_PLACEHOLDER,
        site.span(&placeholder.range),
        message,
    );
    let is_other = match other {
        Scope::Outputs => component.output(placeholder.name).is_some(),
        _ => component.input(placeholder.name).is_some(),
    };
    if is_other {
        let written = component.syntax.placeholder(other, placeholder.name);
        out.push(diagnostic.help(format!(
            "`{}` is one of its {other}: `{written}`",
            placeholder.name
        )));
        let input = component
            .input(placeholder.name)
            .map(|input| input.name.text);
        let output = component
            .output(placeholder.name)
            .map(|output| output.name.text);
        return input.or(output);
    }
    let names: Vec<&'d str> = match placeholder.scope {
        Scope::Outputs => component
            .outputs
            .iter()
            .map(|output| output.name.text)
            .collect(),
        _ => component
            .inputs
            .iter()
            .map(|input| input.name.text)
            .collect(),
    };
    let meant = closest(placeholder.name, names.iter().copied());
    out.push(match meant {
        Some(meant) => {
            let diagnostic = diagnostic.label(format!("did you mean `{meant}`?"));
            match site.exact(&placeholder.name_range) {
                Some(span) => diagnostic.fix("use the name that is declared", span, meant),
                None => diagnostic,
            }
        }
        None => diagnostic.help(format!("declare it in `{}`", placeholder.scope)),
    });
    meant
}

/// Types whose inputs and outputs reach the job by its command line.
fn speaks_by_command(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Command
            | Kind::Distributed
            | Kind::Parallel
            | Kind::Hemera
            | Kind::Scope
            | Kind::HdInsight
            | Kind::Spark
            | Kind::Starlite
            | Kind::Ae365
            | Kind::AetherBridge
    )
}

fn unused(
    component: &Component<'_>,
    templates: &Templates<'_>,
    meant: &[&str],
    out: &mut Diagnostics,
) {
    // Without its command line nothing can be said; that it is missing has been.
    let is_optional_line = matches!(
        component.kind,
        Kind::Parallel | Kind::HdInsight | Kind::Spark
    );
    if !speaks_by_command(component.kind) || (templates.is_empty() && !is_optional_line) {
        return;
    }
    let is_used = |scope: Scope, name: &str| {
        let in_lines = templates.iter().any(|(line, template)| {
            template
                .references()
                .any(|placeholder| placeholder.scope == scope && placeholder.name == name)
                || reads_variable(line, name)
        });
        in_lines || meant.contains(&name) || shared_out(component, scope, name)
    };
    let line = component.lines.first().map_or_else(
        || {
            read::line_paths(component.kind, component.syntax)
                .first()
                .copied()
                .unwrap_or("command")
        },
        |line| line.path,
    );
    for input in &component.inputs {
        if !is_used(Scope::Inputs, input.name.text) {
            let written = component.syntax.placeholder(Scope::Inputs, input.name.text);
            let message = format!("input `{}` is never used", input.name.text);
            out.push(
                Diagnostic::new(&codes::UNUSED_INPUT, input.name.span, message)
                    .help(format!("name it in `{line}` as `{written}`, or remove it")),
            );
        }
    }
    // A link output is named where it is linked, and has no path.
    for output in component.outputs.iter().filter(|output| !output.is_link) {
        if !is_used(Scope::Outputs, output.name.text) {
            let written = component
                .syntax
                .placeholder(Scope::Outputs, output.name.text);
            let message = format!(
                "output `{}` is never used, so nothing writes it",
                output.name.text
            );
            out.push(
                Diagnostic::new(&codes::UNUSED_OUTPUT, output.name.span, message)
                    .help(format!("name it in `{line}` as `{written}`, or remove it")),
            );
        }
    }
}

/// Each input and output is also a variable of the task.
fn reads_variable(line: &Line<'_>, name: &str) -> bool {
    let text = line.node.as_text().unwrap_or_default();
    text.contains(&format!("${name}")) || text.contains(&format!("${{{name}}}"))
}

/// Whether a parallel component shares the data out, or collects it there.
fn shared_out(component: &Component<'_>, scope: Scope, name: &str) -> bool {
    let word = |node: &Node<'_>| {
        let found = node
            .as_text()
            .and_then(|text| super::sections::data_name(text, scope));
        // A name that is misspelt is reported as that; what it means counts as used.
        let is_misspelt = |found: &str| {
            component.input(found).is_none()
                && component.output(found).is_none()
                && closest(found, [name]).is_some()
        };
        found.is_some_and(|found| found == name || is_misspelt(found))
    };
    let named = |path: &str| {
        read::at(component.root, path)
            .is_some_and(|node| word(node) || items(Some(node)).iter().any(word))
    };
    component.kind == Kind::Parallel
        && match scope {
            Scope::Outputs => named("parallel.output_data") || named("task.append_row_to"),
            _ => {
                named("parallel.input_data")
                    || value(component.root, "input_data").is_some_and(word)
            }
        }
}
