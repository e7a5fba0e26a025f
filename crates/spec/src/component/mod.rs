//! Azure ML components, version 1.5 and 2.
//!
//! [`read_job`] goes the whole way, in the order of the modules: the fields are checked by
//! themselves ([`fields`]), the document becomes a typed [`model`], names and files are checked
//! against each other ([`check`]), values are bound and the plan is made ([`lower`]).

pub mod check;
mod code;
pub mod command;
pub mod entry;
pub mod fields;
mod hemera;
mod includes;
pub mod lower;
pub mod model;
pub mod module;
mod packages;
mod parts;
mod paths;
pub mod read;
pub mod snapshot;
mod trial;
mod variables;

pub use parts::{Parts, parts};

use crate::diagnostic::{Diagnostics, Severity};
use crate::job::{Compat, Dialect, Job, Packages, Request};
use crate::library::Library;
use crate::secrets::SecretValues;
use crate::shape;
use crate::source::{Sources, Span};
use crate::yaml::Node;

/// Checks the fields of a document by themselves.
pub fn check_shape(root: &Node<'_>, sources: &Sources, out: &mut Diagnostics) {
    shape::check(root, &fields::SHAPE, sources, out);
}

/// Whether a document looks like a component.
pub fn is_component(root: &Node<'_>) -> bool {
    let text = |key| root.get(key).and_then(|entry| entry.value.as_text());
    let is_type = text("type").is_some_and(|text| {
        let word = text.split('@').next().unwrap_or_default();
        model::Kind::from_word(word).is_some()
            || (word.ends_with("Component") && root.get("name").is_some())
    });
    let has_schema = text("$schema").is_some_and(|schema| {
        let file = schema.rsplit('/').next().unwrap_or_default();
        file.ends_with("Component.json") || file.ends_with("Component.schema.json")
    });
    let has_ports = root.get("inputs").is_some() || root.get("outputs").is_some();
    let has_command = ["command", "launcher", "environment"]
        .iter()
        .any(|key| root.get(key).is_some());
    is_type || has_schema || (has_ports && has_command)
}

/// Reads a complete document: every problem in it, and its plan if that is wanted.
pub fn read_job(
    root: &Node<'_>,
    sources: &Sources,
    request: &Request<'_>,
    library: &dyn Library,
    out: &mut Diagnostics,
) -> Option<Job> {
    let mut found = Diagnostics::default();
    check_shape(root, sources, &mut found);
    let component = root.as_map().and_then(|_| read::component(root));
    let templates = component
        .as_ref()
        .map(|component| check::check(component, sources, request, library, &mut found));
    for mut diagnostic in found.into_vec() {
        let is_accepted = || {
            component
                .as_ref()
                .is_some_and(|component| check::azureml_accepts(component, sources, &diagnostic))
        };
        if request.compat == Compat::AzureMl && is_accepted() {
            diagnostic.severity = Severity::Warning;
        }
        out.push(diagnostic);
    }
    let (component, templates) = (component?, templates?);
    let building = (request.plan || request.strict) && !out.has_errors();
    let lowered = lower::lower(
        &component, &templates, sources, request, library, building, out,
    )?;
    let mut fidelity = shape::account(root, &fields::SHAPE, request.engine, sources);
    if request.packages == Packages::Installed {
        let packages = packages::of(&component, request, sources, library);
        packages.account(&mut fidelity, request.engine, sources);
    }
    Some(Job {
        dialect: Dialect::Component,
        plan: lowered.plan,
        command_line: lowered.command_line,
        origins: lowered.origins,
        fidelity,
        secrets: SecretValues::of_document(root).and(lowered.secrets),
    })
}

/// What a problem about the whole mapping points at.
fn first_key(root: &Node<'_>) -> Span {
    root.as_map()
        .and_then(|map| map.entries.first())
        .map_or(root.span, |entry| entry.key.span)
}
