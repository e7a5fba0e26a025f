//! Components that a component is made of: the trial of a sweep, the inside of a protected one.

use std::collections::HashSet;

use super::check::sections;
use super::model::{Component, Kind, Name};
use super::{check_shape, paths, read};
use crate::diagnostic::suggest::closest;
use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::job::Request;
use crate::library::{Library, Look};
use crate::source::Sources;
use crate::yaml;
use crate::yaml::access::{name, value};

/// Checks the trial of a sweep, and that the sweep searches parameters that the trial has.
pub(super) fn check(
    sweep: &Component<'_>,
    sources: &Sources,
    request: &Request<'_>,
    library: &dyn Library,
    out: &mut Diagnostics,
) {
    let Some(written) = value(sweep.root, "trial")
        .filter(|node| node.is_string())
        .and_then(name)
    else {
        return;
    };
    let Some(inner) = inner(written, "trial", sources, request, library, out) else {
        return;
    };
    if !matches!(inner.kind, Some(Kind::Command | Kind::Distributed)) {
        out.push(
            Diagnostic::new(
                &codes::BAD_TRIAL,
                written.span,
                format!("`{}` cannot be the trial of a sweep", written.text),
            )
            .help("only command and distributed components can be swept"),
        );
        return;
    }
    let inputs: HashSet<&str> = inner.inputs.iter().map(String::as_str).collect();
    for name in sections::searched(sweep) {
        if inputs.contains(name.text) {
            continue;
        }
        let message = format!("the trial has no input `{}`", name.text);
        let mut diagnostic = Diagnostic::new(&codes::UNKNOWN_SEARCH_PARAMETER, name.span, message)
            .related(written.span, "the trial is named here");
        if let Some(meant) = closest(name.text, inner.inputs.iter().map(String::as_str)) {
            diagnostic = diagnostic.fix(format!("did you mean `{meant}`?"), name.span, meant);
        }
        out.push(diagnostic);
    }
}

/// Checks the inside of a protected component.
pub(super) fn check_reference(
    component: &Component<'_>,
    sources: &Sources,
    request: &Request<'_>,
    library: &dyn Library,
    out: &mut Diagnostics,
) {
    if let Some(written) = value(component.root, "reference").and_then(name) {
        inner(written, "reference", sources, request, library, out);
    }
}

/// What is to be known of a component in another file.
struct Inner {
    kind: Option<Kind>,
    inputs: Vec<String>,
}

fn inner(
    written: Name<'_>,
    key: &str,
    sources: &Sources,
    request: &Request<'_>,
    library: &dyn Library,
    out: &mut Diagnostics,
) -> Option<Inner> {
    if paths::is_remote(written.text) {
        out.push(
            Diagnostic::new(
                &codes::BAD_TRIAL,
                written.span,
                format!(
                    "`{key}` must be a file of this machine, found `{}`",
                    written.text
                ),
            )
            .help("write `file:` and the path of a spec"),
        );
        return None;
    }
    let path = paths::absolute(request.folder?, paths::without_scheme(written.text));
    let missing = |reason: &str| {
        let message = format!("the component `{}` {reason}", written.text);
        Diagnostic::new(&codes::BAD_TRIAL, written.span, message)
            .help("the path is taken from the folder of this spec")
    };
    match library.look(&path) {
        Look::File { .. } => {}
        Look::Folder => {
            out.push(missing("is a folder"));
            return None;
        }
        Look::Missing => {
            out.push(missing("is not there"));
            return None;
        }
        Look::Unknown => return None,
    }
    let text = match library.text(&path) {
        Ok(text) => text,
        Err(reason) => {
            out.push(missing(&format!("cannot be read: {reason}")));
            return None;
        }
    };
    let source = sources.add(paths::without_scheme(written.text), text);
    let mut document = yaml::load(source, &request.limits);
    for problem in std::mem::take(&mut document.diagnostics).into_vec() {
        out.push(problem);
    }
    let root = document.root.as_ref().filter(|_| document.complete)?;
    check_shape(root, sources, out);
    let component = read::component(root)?;
    // A sweep in a sweep is refused by its caller; to look into it would never end in a circle.
    if !matches!(component.kind, Kind::Sweep | Kind::Protected) {
        let folder = paths::parent(&path).to_owned();
        let request = Request {
            folder: Some(&folder),
            ..request.clone()
        };
        super::check::check(&component, sources, &request, library, out);
    }
    Some(Inner {
        kind: Some(component.kind),
        inputs: component
            .inputs
            .iter()
            .map(|input| input.name.text.to_owned())
            .collect(),
    })
}
