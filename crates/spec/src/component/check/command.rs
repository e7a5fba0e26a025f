//! Names in command lines: every placeholder must be declared.

use super::usage::Usage;
use crate::component::command::{self, Judging, Placeholder, Scope, Site, Template};
use crate::component::model::{Component, Kind, Line};
use crate::diagnostic::suggest::closest;
use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::source::Sources;

/// No line has more bytes: no shell would take it, and its pieces take many times its room.
const LONGEST: usize = 512 << 10;

/// The command lines of a component, read.
pub type Templates<'d> = Vec<(Line<'d>, Template<'d>)>;

pub(super) fn check<'d>(
    component: &Component<'d>,
    sources: &Sources,
    out: &mut Diagnostics,
) -> Templates<'d> {
    let mut templates = Vec::new();
    let mut usage = Usage::new(component);
    let mut is_whole = true;
    for line in &component.lines {
        let Some(scalar) = line.node.as_scalar() else {
            continue;
        };
        if scalar.text.len() > LONGEST {
            out.push(too_long(line));
            is_whole = false;
            continue;
        }
        let template = command::parse(&scalar.text, component.syntax);
        if let Some(site) = Site::new(line.node, sources) {
            let is_optional = |found: &Placeholder<'_>| is_optional(component, found);
            let judging = Judging {
                is_shell: matches!(component.kind, Kind::Command | Kind::Distributed),
                is_optional: &is_optional,
            };
            command::diagnose(&template, &site, judging, out);
            for placeholder in template.references() {
                usage.note(placeholder.scope, placeholder.name);
                if let Some(meant) = reference(component, placeholder, &site, out) {
                    usage.note(Scope::Inputs, meant);
                    usage.note(Scope::Outputs, meant);
                }
            }
        }
        templates.push((*line, template));
    }
    if is_whole {
        usage.report(&templates, out);
    }
    templates
}

fn too_long(line: &Line<'_>) -> Diagnostic {
    let message = format!("`{}` is longer than {} KiB", line.path, LONGEST >> 10);
    Diagnostic::new(&codes::BAD_TEXT, line.node.span, message)
        .help("put it into a script in the code folder, and start the script")
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
            Some(input) if input.optional && placeholder.group.is_none() && !out.has_enough() => {
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
    if component.declares(placeholder.scope, placeholder.name) || out.has_enough() {
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
