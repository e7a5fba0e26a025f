//! Parts of an environment that contradict each other.

use crate::component::model::Component;
use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::yaml::access::value;

/// The ways to name packages, strongest first.
pub(super) const WAYS: &[[&str; 2]] = &[
    ["conda_dependencies", "condaDependencies"],
    ["conda_dependencies_file", "condaDependenciesFile"],
    ["pip_requirements_file", "pipRequirementsFile"],
];

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
