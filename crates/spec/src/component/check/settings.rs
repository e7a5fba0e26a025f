//! Run settings beyond their single fields.

use pinnace_core::plan::Register;

use crate::component::command::Scope;
use crate::component::model::Component;
use crate::component::read::at;
use crate::component::variables;
use crate::diagnostic::suggest::closest;
use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::yaml::access::{entries, value};

pub(super) fn check(component: &Component<'_>, out: &mut Diagnostics) {
    for path in ["environment_variables", "runsettings.environment_variables"] {
        let Some(node) = at(component.root, path).filter(|node| node.is_string()) else {
            continue;
        };
        if let Err(reason) = variables::of_json(node.as_text().unwrap_or_default()) {
            let message = format!("the variables cannot be read: {reason}");
            out.push(
                Diagnostic::new(&codes::BAD_VARIABLES, node.span, message)
                    .help("write a mapping, or a JSON object of texts such as `'{\"A\": \"1\"}'`"),
            );
        }
    }
    for entry in entries(at(component.root, "runsettings.register_as")) {
        let name = &*entry.key.text;
        if !component.declares(Scope::Outputs, name) {
            let message = format!("the component has no output `{name}`");
            let found = Diagnostic::new(&codes::BAD_REGISTER, entry.key.span, message);
            let names = component.outputs.iter().map(|output| output.name.text);
            out.push(match closest(name, names) {
                Some(meant) => found.label(format!("did you mean `{meant}`?")),
                None => found,
            });
        }
        let node = value(&entry.value, "name").unwrap_or(&entry.value);
        if let Some(text) = node.as_text()
            && !Register::is_name(text)
        {
            out.push(bad_name(text, node.span));
        }
    }
}

/// Says that a dataset cannot be called so.
pub(in crate::component) fn bad_name(name: &str, span: crate::source::Span) -> Diagnostic {
    let message = format!("`{name}` is no name for a dataset: it has neither `:` nor `/`");
    Diagnostic::new(&codes::BAD_REGISTER, span, message)
        .help("a version is given by itself: the next one of the name")
}
