//! Additional includes: files and folders outside the code folder that belong to it. They are listed
//! in a file beside the spec, or in the spec itself.

use super::model::{Component, Name};
use super::paths;
use crate::diagnostic::{Diagnostic, Diagnostics, Severity, codes};
use crate::job::Request;
use crate::library::{Library, Look};
use crate::source::{Sources, Span};
use crate::yaml::access::{items, name, value};
use crate::yaml::{self, Node};

/// Something that is laid into the code folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Include {
    /// Where it lies.
    pub path: String,
    /// Where it is listed.
    pub span: Span,
}

/// The name of the file that lists them, beside a spec of this name.
pub(super) fn list_name(spec: &str) -> String {
    let file = paths::file_name(spec);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    format!("{stem}.additional_includes")
}

/// All includes of a component that can be found; the others are reported.
pub(super) fn includes(
    component: &Component<'_>,
    sources: &Sources,
    request: &Request<'_>,
    library: &dyn Library,
    out: &mut Diagnostics,
) -> Vec<Include> {
    let Some(folder) = request.folder else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let code = code_folder(component, folder);
    let mut add = |written: Name<'_>, out: &mut Diagnostics| {
        found.extend(include(written, folder, &code, library, out));
    };
    for item in items(value(component.root, "additional_includes")) {
        each(item, out, &mut add);
    }
    let spec = sources.get(component.root.span.source).name();
    let list = paths::absolute(folder, &list_name(spec));
    if matches!(library.look(&list), Look::File { .. })
        && let Ok(text) = library.text(&list)
    {
        let source = sources.add(list_name(spec), text);
        if is_yaml(source.text()) {
            let mut document = yaml::load(source, &request.limits);
            for problem in std::mem::take(&mut document.diagnostics).into_vec() {
                out.push(problem);
            }
            let root = document.root.as_ref();
            for item in items(root.and_then(|root| value(root, "additional_includes"))) {
                each(item, out, &mut add);
            }
        } else {
            let mut start = 0;
            for line in source.text().split_inclusive('\n') {
                let text = line.trim();
                if !text.is_empty() {
                    let at = start + (line.len() - line.trim_start().len());
                    let span = Span::new(source.id(), at, at + text.len());
                    add(Name { text, span }, out);
                }
                start += line.len();
            }
        }
    }
    found
}

/// The absolute folder of the code; what lies elsewhere counts as the spec's own folder.
pub(super) fn code_folder(component: &Component<'_>, folder: &str) -> String {
    match component.code.map(|code| code.text) {
        Some(code) if !paths::is_remote(code) => paths::absolute(folder, code),
        _ => paths::absolute(folder, "."),
    }
}

fn is_yaml(text: &str) -> bool {
    let first = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty() && !line.starts_with('#'));
    first.is_some_and(|line| line.starts_with("additional_includes:"))
}

fn each<'d>(
    item: &'d Node<'d>,
    out: &mut Diagnostics,
    add: &mut impl FnMut(Name<'_>, &mut Diagnostics),
) {
    if let Some(written) = name(item) {
        add(written, out);
    } else if item.as_map().is_some() {
        let mut diagnostic = Diagnostic::new(
            &codes::BAD_INCLUDE,
            item.span,
            "an artifact of a feed cannot be included here",
        )
        .help("download it and include the folder");
        diagnostic.severity = Severity::Warning;
        out.push(diagnostic);
    }
}

fn include(
    written: Name<'_>,
    folder: &str,
    code: &str,
    library: &dyn Library,
    out: &mut Diagnostics,
) -> Option<Include> {
    let path = paths::absolute(folder, written.text);
    let bad = |message: String, help: &str| {
        Diagnostic::new(&codes::BAD_INCLUDE, written.span, message).help(help)
    };
    if path == "/" {
        out.push(bad(
            "the root folder cannot be included".to_owned(),
            "name the folders that are needed",
        ));
        return None;
    }
    let zipped = path.strip_suffix(".zip");
    match (library.look(&path), zipped) {
        // The folder is zipped when the snapshot is made.
        (Look::Missing, Some(folder)) if library.look(folder) == Look::Folder => {}
        (Look::Missing, _) => {
            out.push(bad(
                format!("the include `{}` is not there", written.text),
                "the path is taken from the folder of the spec",
            ));
            return None;
        }
        _ => {}
    }
    let inside = paths::absolute(code, paths::file_name(&path));
    if inside != path && matches!(library.look(&inside), Look::File { .. } | Look::Folder) {
        out.push(bad(
            format!(
                "`{}` cannot be included: the code has `{}` already",
                written.text,
                paths::file_name(&path)
            ),
            "rename one of them",
        ));
        return None;
    }
    Some(Include {
        path,
        span: written.span,
    })
}
