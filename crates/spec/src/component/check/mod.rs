//! Cross references and mistakes that no single field shows. Most of them the official clients let
//! pass; [`azureml_accepts`] knows which.

pub(super) mod arguments;
mod command;
mod environment;
mod files;
mod names;
mod parameters;
pub(super) mod sections;
pub(super) mod settings;
mod types;
mod usage;

pub use command::Templates;
pub(super) use environment::WAYS;
pub use parameters::{Misfit, fits, misfitting};
pub use sections::is_guid;

use super::command::Syntax;
use super::model::Component;
use super::{hemera, read};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, codes};
use crate::job::Request;
use crate::library::Library;
use crate::source::{Sources, Span};
use crate::yaml::access::entries;

/// Reports what is wrong with a component beyond its single fields. Returns its command lines.
pub fn check<'d>(
    component: &Component<'d>,
    sources: &Sources,
    request: &Request<'_>,
    library: &dyn Library,
    out: &mut Diagnostics,
) -> Templates<'d> {
    names::check(component, out);
    types::check(component, out);
    parameters::check(component, out);
    let templates = command::check(component, sources, out);
    arguments::check(component, &templates, sources, request, library, out);
    sections::check(component, &templates, sources, request, library, out);
    hemera::check(component, &templates, sources, request, library, out);
    environment::check(component, out);
    environment::check_feeds(component, request, out);
    settings::check(component, out);
    files::check(component, sources, request, library, out);
    templates
}

/// Keys at the top of which the official clients of version 1.5 look at the value. What else a spec
/// holds they carry along unread.
const LOOKED_AT: &[&str] = &[
    "name",
    "version",
    "display_name",
    "description",
    "tags",
    "type",
    "inputs",
    "outputs",
    "code",
    "environment",
    "command",
    "launcher",
    "parallel",
];

/// Whether the official clients accept what a problem is about.
pub fn azureml_accepts(
    component: &Component<'_>,
    sources: &Sources,
    diagnostic: &Diagnostic,
) -> bool {
    const ACCEPTED: &[&Code] = &[
        &codes::BAD_MODULE_ID,
        &codes::FOLDER_OUTPUT,
        &codes::BAD_DEFAULT,
        &codes::UNKNOWN_SEARCH_PARAMETER,
        &codes::GLUED_ARGUMENT,
        &codes::MISSING_ENTRY,
        &codes::BAD_TRIAL,
        &codes::BAD_POLICY,
    ];
    let (code, span) = (diagnostic.code, diagnostic.span);
    // What this machine lacks for a run is no matter of taste.
    if code == &codes::MISSING_MODULE || code == &codes::NO_MODULE_PROGRAM {
        return false;
    }
    let written = sources.slice(span);
    // Bounds that are no numbers are refused; those in the wrong order have the other one beside them.
    let wrong_order = code == &codes::BAD_BOUNDS && !diagnostic.related.is_empty();
    let remote = code == &codes::REMOTE_CODE && !written.starts_with("git");
    if ACCEPTED.contains(&code) || wrong_order || remote {
        return true;
    }
    match component.syntax {
        Syntax::V1 => old_clients_accept(component, diagnostic, written),
        // A v2 component may say anything about how it is run: only a job's settings are looked at.
        Syntax::V2 => matches!(holder(component, span), Some("resources" | "distribution")),
    }
}

/// The key at the top below which something stands.
fn holder<'d>(component: &Component<'d>, span: Span) -> Option<&'d str> {
    entries(Some(component.root))
        .iter()
        .find(|entry| {
            let value = entry.value.span;
            entry.key.span == span || (value.start <= span.start && span.end <= value.end)
        })
        .map(|entry| &*entry.key.text)
}

/// The same for what only the clients of version 1.5 accept.
fn old_clients_accept(component: &Component<'_>, diagnostic: &Diagnostic, written: &str) -> bool {
    let (code, span) = (diagnostic.code, diagnostic.span);
    // They never look into the trial of a sweep.
    if code == &codes::UNDECLARED_PLACEHOLDER || span.source != component.root.span.source {
        return true;
    }
    if code == &codes::MISSING_KEY && span == super::first_key(component.root) {
        let needed = ["`name`", "`launcher`"];
        return !needed.iter().any(|key| diagnostic.label.starts_with(key));
    }
    let Some(key) = holder(component, span) else {
        return false;
    };
    let is_flag = ["yes", "no", "on", "off", "true", "false"]
        .contains(&&*written.trim_matches(['"', '\'']).to_ascii_lowercase());
    let in_ports = matches!(key, "inputs" | "outputs")
        && (code == &codes::BAD_CHOICE
            || code == &codes::TOO_FEW
            || (code == &codes::MISSING_KEY && diagnostic.label.starts_with("`enum`")));
    // Below `docker` they take any key.
    let in_docker = key == "environment"
        && read::at(component.root, "environment.docker")
            .is_some_and(|docker| docker.span.start <= span.start && span.end <= docker.span.end);
    !LOOKED_AT.contains(&key)
        || in_ports
        || in_docker
        || (code == &codes::WRONG_TYPE && is_flag)
        || (code == &codes::WRONG_TYPE && key == "version")
}
