//! Files that a spec names: they must be there.

use crate::component::command::Syntax;
use crate::component::includes::{self, Include};
use crate::component::model::{Component, Kind, Name};
use crate::component::{paths, read};
use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::job::Request;
use crate::library::{Library, Look};
use crate::source::Sources;
use crate::yaml::access::name;

pub(super) fn check(
    component: &Component<'_>,
    sources: &Sources,
    request: &Request<'_>,
    library: &dyn Library,
    out: &mut Diagnostics,
) {
    if !code(component, request, library, out) {
        return;
    }
    let included = includes::includes(component, sources, request, library, out);
    let Some(folder) = request.folder else {
        return;
    };
    let place = Place {
        code: includes::code_folder(component, folder),
        included: &included,
        library,
    };
    environment_files(component, &place, folder, out);
    entries(component, &place, out);
}

/// Where files of the component are looked for.
struct Place<'a> {
    code: String,
    included: &'a [Include],
    library: &'a dyn Library,
}

impl Place<'_> {
    fn has_not(&self, path: &str) -> bool {
        let first = path.trim_start_matches("./").split('/').next();
        let is_included = self
            .included
            .iter()
            .any(|include| Some(paths::file_name(&include.path)) == first);
        let absolute = paths::absolute(&self.code, path);
        !is_included && self.library.look(&absolute) == Look::Missing
    }
}

/// Whether the code can be looked at.
fn code(
    component: &Component<'_>,
    request: &Request<'_>,
    library: &dyn Library,
    out: &mut Diagnostics,
) -> bool {
    let Some(code) = component.code else {
        return true;
    };
    if paths::is_remote(code.text) {
        let message = format!(
            "`code` must be a folder of this machine, found `{}`",
            code.text
        );
        out.push(
            Diagnostic::new(&codes::REMOTE_CODE, code.span, message)
                .help("download it, and name its folder"),
        );
        return false;
    }
    let Some(folder) = request.folder else {
        return true;
    };
    let path = paths::absolute(folder, code.text);
    if library.look(&path) == Look::Missing {
        out.push(missing(code, "the code folder"));
        return false;
    }
    true
}

fn missing(written: Name<'_>, what: &str) -> Diagnostic {
    let message = format!("{what} `{}` is not there", written.text);
    Diagnostic::new(&codes::MISSING_FILE, written.span, message)
        .help("the path is taken from the folder of the spec")
}

fn environment_files(
    component: &Component<'_>,
    place: &Place<'_>,
    folder: &str,
    out: &mut Diagnostics,
) {
    let Some(environment) = component.environment else {
        return;
    };
    let at = |path: &str| read::at(environment, path).and_then(name);
    let mut files = vec![
        (at("conda.conda_dependencies_file"), "the conda file"),
        (at("conda.condaDependenciesFile"), "the conda file"),
        (at("conda.pip_requirements_file"), "the requirements file"),
        (at("conda.pipRequirementsFile"), "the requirements file"),
    ];
    let conda_file = at("conda_file");
    if component.syntax == Syntax::V1 {
        files.push((conda_file, "the conda file"));
    } else {
        // Version 2 takes the paths of an environment from the folder of the spec.
        for (written, what) in [
            (conda_file, "the conda file"),
            (at("build.path"), "the folder"),
        ] {
            let is_missing = |name: &Name<'_>| {
                let path = paths::absolute(folder, name.text);
                !paths::is_remote(name.text) && place.library.look(&path) == Look::Missing
            };
            if let Some(written) = written.filter(is_missing) {
                out.push(missing(written, what));
            }
        }
    }
    // A Dockerfile may be given as its text.
    let dockerfile = at("docker.build.dockerfile").filter(|name| name.text.starts_with("file:"));
    files.push((dockerfile, "the Dockerfile"));
    for (written, what) in files {
        let Some(written) = written else {
            continue;
        };
        if place.has_not(paths::without_scheme(written.text)) {
            let message = format!("{what} `{}` is not there", written.text);
            out.push(
                Diagnostic::new(&codes::MISSING_FILE, written.span, message)
                    .help("the path is taken from the code folder"),
            );
        }
    }
}

/// The program that the type starts.
fn entries(component: &Component<'_>, place: &Place<'_>, out: &mut Diagnostics) {
    let paths: &[&str] = match component.kind {
        Kind::Parallel => &["parallel.entry", "task.entry_script"],
        Kind::Scope => &["scope.script"],
        Kind::HdInsight => &["hdinsight.file"],
        Kind::Spark => &["entry.file"],
        _ => &[],
    };
    for path in paths {
        let Some(written) = read::at(component.root, path).and_then(name) else {
            continue;
        };
        if !paths::is_remote(written.text) && place.has_not(written.text) {
            let message = format!("the program `{}` is not there", written.text);
            out.push(
                Diagnostic::new(&codes::MISSING_ENTRY, written.span, message)
                    .help("the path is taken from the code folder"),
            );
        }
    }
}
