//! Parts of an environment that contradict each other.

use crate::component::model::Component;
use crate::component::paths;
use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::job::Request;
use crate::overrides::Overrides;
use crate::yaml::access::value;

/// The ways to name packages, strongest first.
pub(in crate::component) const WAYS: &[[&str; 2]] = &[
    ["conda_dependencies", "condaDependencies"],
    ["conda_dependencies_file", "condaDependenciesFile"],
    ["pip_requirements_file", "pipRequirementsFile"],
];

/// The rules of a tenant take feeds out of files of packages too, but only of those that can be read.
pub(super) fn check_feeds(component: &Component<'_>, request: &Request<'_>, out: &mut Diagnostics) {
    let rules = request.overrides.map(|overrides| overrides.rules);
    let (Some(environment), Some(_)) =
        (component.environment, rules.and_then(Overrides::feed_rule))
    else {
        return;
    };
    let conda = value(environment, "conda");
    let files = WAYS.iter().flatten().filter_map(|key| value(conda?, key));
    for node in files.chain(value(environment, "conda_file")) {
        if node.as_text().is_some_and(paths::is_remote) {
            out.push(
                Diagnostic::new(
                    &codes::KEPT_FEED_FILE,
                    node.span,
                    "the feeds in this file are kept",
                )
                .label("a file that does not lie on this machine")
                .help("download it, and name the file"),
            );
        }
    }
}

pub(super) fn check(component: &Component<'_>, out: &mut Diagnostics) {
    let Some(environment) = component.environment else {
        return;
    };
    if let Some(conda) = value(environment, "conda") {
        let mut present = WAYS
            .iter()
            .filter_map(|way| way.iter().find_map(|key| conda.get(key)));
        if let Some(first) = present.next() {
            for other in present {
                let message = format!(
                    "`{}` counts for nothing beside `{}`",
                    other.key.text, first.key.text
                );
                out.push(
                    Diagnostic::new(&codes::REPEATED_PACKAGES, other.key.span, message)
                        .related(first.key.span, "only this one is used")
                        .help("keep one of them"),
                );
            }
        }
    }
    let parts = ["docker", "conda", "os", "image", "build", "conda_file"];
    if let Some(part) = parts.iter().find_map(|key| environment.get(key)) {
        for entry in ["name", "version"]
            .iter()
            .filter_map(|key| environment.get(key))
        {
            // A v2 environment may give itself a name.
            if matches!(&*part.key.text, "image" | "build" | "conda_file") {
                continue;
            }
            let message = format!(
                "`{}` of the environment counts for nothing beside `{}`",
                entry.key.text, part.key.text
            );
            out.push(
                Diagnostic::new(&codes::VOID_ENVIRONMENT_NAME, entry.key.span, message)
                    .related(part.key.span, "this describes another environment")
                    .help("keep either the name of a registered environment or its parts"),
            );
        }
    }
}
