//! Cross references and mistakes that no single field shows. Most of them the official clients let
//! pass; [`azureml_accepts`] knows which.

mod arguments;
mod command;
mod environment;
mod files;
mod names;
mod parameters;
pub(super) mod sections;
mod types;

pub use command::Templates;
pub use parameters::{Misfit, fits, misfitting};

use super::model::Component;
use crate::diagnostic::{Code, Diagnostic, Diagnostics, codes};
use crate::job::Request;
use crate::library::Library;
use crate::source::{Sources, Span};

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
    sections::check(component, sources, request, library, out);
    environment::check(component, out);
    files::check(component, sources, request, library, out);
    templates
}

/// Whether the official clients accept what a problem is about.
pub fn azureml_accepts(component: &Component<'_>, at: Span, diagnostic: &Diagnostic) -> bool {
    use super::command::Syntax;
    const ACCEPTED: &[&Code] = &[
        &codes::BAD_MODULE_ID,
        &codes::FOLDER_OUTPUT,
        &codes::BAD_DEFAULT,
        &codes::BAD_BOUNDS,
        &codes::UNKNOWN_SEARCH_PARAMETER,
        &codes::GLUED_ARGUMENT,
        &codes::MISSING_ENTRY,
        &codes::REMOTE_CODE,
        &codes::BAD_TRIAL,
        &codes::BAD_POLICY,
        &codes::FOREIGN_PLACEHOLDER,
    ];
    let of_old = component.syntax == Syntax::V1;
    let missing_at_the_top = diagnostic.code == &codes::MISSING_KEY
        && diagnostic.span == at
        && !diagnostic.label.contains("`launcher`");
    ACCEPTED.contains(&diagnostic.code)
        || (of_old && diagnostic.code == &codes::UNDECLARED_PLACEHOLDER)
        || (of_old && diagnostic.code == &codes::UNKNOWN_BINDING)
        || (of_old && missing_at_the_top)
}
