//! Every input and output must be used.

use super::command::Templates;
use super::sections::data_name;
use crate::component::command::Scope;
use crate::component::model::{Component, Kind, Name};
use crate::component::read;
use crate::diagnostic::suggest::closest;
use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::yaml::Node;
use crate::yaml::access::items;

/// So many misspelt names are looked at; what each could mean is asked of every input that is not used.
const MOST_MISSPELT: usize = 16;

/// Which inputs and outputs are used.
pub(super) struct Usage<'a, 'd> {
    component: &'a Component<'d>,
    /// By their place.
    inputs: Vec<bool>,
    outputs: Vec<bool>,
}

impl<'a, 'd> Usage<'a, 'd> {
    pub(super) fn new(component: &'a Component<'d>) -> Self {
        Usage {
            component,
            inputs: vec![false; component.inputs.len()],
            // A link output is named where it is linked, and has no path.
            outputs: component
                .outputs
                .iter()
                .map(|output| output.is_link)
                .collect(),
        }
    }

    /// Notes that a name is used, if it is one.
    pub(super) fn note(&mut self, scope: Scope, name: &str) {
        let used = match scope {
            Scope::Inputs => {
                (self.component.input_place(name)).and_then(|at| self.inputs.get_mut(at))
            }
            Scope::Outputs => {
                (self.component.output_place(name)).and_then(|at| self.outputs.get_mut(at))
            }
            Scope::SearchSpace => None,
        };
        if let Some(used) = used {
            *used = true;
        }
    }

    /// Reports what is not used.
    pub(super) fn report(mut self, templates: &Templates<'_>, out: &mut Diagnostics) {
        let component = self.component;
        // Without its command line nothing can be said; that it is missing has been.
        let is_optional_line = matches!(
            component.kind,
            Kind::Parallel | Kind::HdInsight | Kind::Spark
        );
        if !speaks_by_command(component.kind) || (templates.is_empty() && !is_optional_line) {
            return;
        }
        let misspelt = [
            self.share_out(Scope::Inputs, &["parallel.input_data", "input_data"]),
            self.share_out(
                Scope::Outputs,
                &["parallel.output_data", "task.append_row_to"],
            ),
        ];
        if !self.inputs.contains(&false) && !self.outputs.contains(&false) {
            return;
        }
        let variables = Variables::of(templates);
        let line = component.lines.first().map_or_else(
            || {
                read::line_paths(component.kind, component.syntax)
                    .first()
                    .copied()
                    .unwrap_or("command")
            },
            |line| line.path,
        );
        let names = |scope| move |(name, used): (Name<'d>, &bool)| (!used).then_some((scope, name));
        let inputs = component.inputs.iter().map(|input| input.name);
        let outputs = component.outputs.iter().map(|output| output.name);
        let unused = inputs
            .zip(&self.inputs)
            .filter_map(names(Scope::Inputs))
            .chain(outputs.zip(&self.outputs).filter_map(names(Scope::Outputs)));
        for (scope, name) in unused {
            let [inputs, outputs] = &misspelt;
            let misspelt = if scope == Scope::Inputs {
                inputs
            } else {
                outputs
            };
            let is_meant = |found: &&str| closest(found, [name.text]).is_some();
            if variables.has(name.text) || misspelt.iter().any(is_meant) {
                continue;
            }
            let (code, message) = match scope {
                Scope::Outputs => (
                    &codes::UNUSED_OUTPUT,
                    format!("output `{}` is never used, so nothing writes it", name.text),
                ),
                _ => (
                    &codes::UNUSED_INPUT,
                    format!("input `{}` is never used", name.text),
                ),
            };
            let written = component.syntax.placeholder(scope, name.text);
            out.push(
                Diagnostic::new(code, name.span, message)
                    .help(format!("name it in `{line}` as `{written}`, or remove it")),
            );
        }
    }

    /// Notes what a parallel component shares out or collects; gives the names that are none. A name
    /// that is misspelt is reported as that; what it means counts as used.
    fn share_out(&mut self, scope: Scope, paths: &[&str]) -> Vec<&'d str> {
        let component = self.component;
        let mut misspelt = Vec::new();
        if component.kind != Kind::Parallel {
            return misspelt;
        }
        for node in paths
            .iter()
            .filter_map(|path| read::at(component.root, path))
        {
            for name in std::iter::once(node)
                .chain(items(Some(node)))
                .filter_map(Node::as_text)
                .filter_map(|text| data_name(text, scope))
            {
                self.note(scope, name);
                let is_known =
                    component.input_place(name).is_some() || component.output_place(name).is_some();
                if !is_known && misspelt.len() < MOST_MISSPELT {
                    misspelt.push(name);
                }
            }
        }
        misspelt
    }
}

/// Types whose inputs and outputs reach the job by its command line.
fn speaks_by_command(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Command
            | Kind::Distributed
            | Kind::Parallel
            | Kind::Hemera
            | Kind::Scope
            | Kind::HdInsight
            | Kind::Spark
            | Kind::Starlite
            | Kind::Ae365
            | Kind::AetherBridge
    )
}

/// The variables of the shell that lines name. Each input and output is one in the task.
#[derive(Default)]
struct Variables<'t> {
    /// From `$name`, sorted; what is glued to a name looks like a part of it.
    bare: Vec<&'t str>,
    /// From `${name}`, sorted.
    braced: Vec<&'t str>,
}

impl<'t> Variables<'t> {
    fn of(templates: &'t Templates<'_>) -> Self {
        let mut variables = Variables::default();
        for (_, template) in templates {
            for at in memchr::memchr_iter(b'$', template.text.as_bytes()) {
                let behind = template.text.get(at + 1..).unwrap_or_default();
                let (list, name) = match behind.strip_prefix('{') {
                    Some(inside) => (&mut variables.braced, identifier(inside)),
                    None => (&mut variables.bare, identifier(behind)),
                };
                if !name.is_empty() {
                    list.push(name);
                }
            }
        }
        variables.bare.sort_unstable();
        variables.braced.sort_unstable();
        variables
    }

    /// Whether a name is read, as far as it can be the name of a variable.
    fn has(&self, name: &str) -> bool {
        let name = identifier(name);
        let place = self.bare.partition_point(|one| *one < name);
        let begins = self
            .bare
            .get(place)
            .is_some_and(|one| one.starts_with(name));
        begins || self.braced.binary_search(&name).is_ok()
    }
}

/// The letters, digits and underscores with which a text begins.
fn identifier(text: &str) -> &str {
    let end = text.find(|char: char| !char.is_alphanumeric() && char != '_');
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}
