//! What each input and output is bound to.

use std::collections::HashMap;

use pinnace_core::origin::{Cause, Origin};
use pinnace_core::plan::{Location, Register};

use crate::component::check::settings::bad_name;
use crate::component::check::{fits, misfitting};
use crate::component::model::{Component, Holds, Input, Name};
use crate::diagnostic::suggest::closest;
use crate::diagnostic::{Diagnostic, Diagnostics, Severity, codes};
use crate::job::Request;
use crate::setting::{self, Binding, Setting};
use crate::source::{Sources, Span};
use crate::yaml::Node;

/// What gives a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Giver<'d> {
    /// A flag.
    Flag(Binding<'d>),
    /// The spec itself.
    Default(&'d Node<'d>),
}

impl<'d> Giver<'d> {
    /// The text of the value.
    pub(super) fn text(&self) -> &'d str {
        match self {
            Giver::Flag(binding) => binding.value_text(),
            Giver::Default(node) => node.as_text().unwrap_or_default(),
        }
    }
}

/// The values of all inputs and outputs.
#[derive(Debug, Default)]
pub(super) struct Values<'d> {
    /// By the name of the input; those without a value are missing.
    pub(super) inputs: HashMap<&'d str, Giver<'d>>,
    /// Where inputs that are data lie.
    pub(super) locations: HashMap<&'d str, Location>,
    /// The flags for outputs.
    pub(super) outputs: HashMap<&'d str, (Binding<'d>, Location)>,
    /// The flags for what outputs are registered as.
    pub(super) registers: HashMap<&'d str, Binding<'d>>,
}

impl<'d> Values<'d> {
    /// Gives every input its value, and says what is wrong with the flags.
    pub(super) fn bind(
        component: &Component<'d>,
        sources: &'d Sources,
        request: &Request<'_>,
        building: bool,
        out: &mut Diagnostics,
    ) -> Self {
        let mut values = Values::default();
        let mut excused = values.flags(component, request.inputs, sources, request, out);
        excused.extend(misdescribed(component, out));
        // Without a plan only the flags are looked at, and what a run cannot do without.
        let planned = if building || request.run {
            component.inputs.as_slice()
        } else {
            &[]
        };
        for input in planned {
            if !values.inputs.contains_key(input.name.text)
                && let Some(node) = input.default
            {
                values.inputs.insert(input.name.text, Giver::Default(node));
                if input.holds == Holds::Data
                    && let Ok(location) =
                        Location::parse(node.as_text().unwrap_or_default(), request.folder)
                {
                    values.locations.insert(input.name.text, location);
                }
            }
            let has_value = values.inputs.contains_key(input.name.text);
            // What cannot be run here at all wants no values.
            let is_hopeless = request.run && component.kind.engine().is_some();
            let is_excused = excused.contains(&input.name.text);
            if !has_value && !input.optional && !is_hopeless && !is_excused {
                out.push(missing(input, request));
            }
        }
        values.output_flags(component, request.outputs, sources, request, out);
        values.register_flags(component, request.registers, sources, out);
        values
    }

    /// Takes over the flags for inputs. Returns the inputs that a wrong flag means: it is told already why they have no value.
    fn flags(
        &mut self,
        component: &Component<'d>,
        settings: &[Setting],
        sources: &'d Sources,
        request: &Request<'_>,
        out: &mut Diagnostics,
    ) -> Vec<&'d str> {
        let mut meant = Vec::new();
        for binding in setting::bindings(settings, sources, out) {
            let Some(input) = component.input(binding.name_text()) else {
                let names = component.inputs.iter().map(|input| input.name.text);
                let names: Vec<&'d str> = names.collect();
                meant.extend(closest(binding.name_text(), names.iter().copied()));
                out.push(unknown("input", binding, &names));
                continue;
            };
            let value = Name {
                text: binding.value_text(),
                span: binding.value,
            };
            if let Err(misfit) = fits(input, value.text) {
                out.push(misfitting(
                    &codes::BAD_INPUT,
                    "the value",
                    input,
                    value,
                    &misfit,
                ));
                meant.push(input.name.text);
                continue;
            }
            if input.holds == Holds::Data {
                match Location::parse(value.text, request.here) {
                    Ok(location) => {
                        self.locations.insert(input.name.text, location);
                    }
                    Err(reason) => {
                        let message = format!("`{}` is not given: {reason}", input.name.text);
                        out.push(Diagnostic::new(&codes::BAD_INPUT, binding.value, message));
                        meant.push(input.name.text);
                        continue;
                    }
                }
            }
            self.inputs.insert(input.name.text, Giver::Flag(binding));
        }
        meant
    }

    fn output_flags(
        &mut self,
        component: &Component<'d>,
        settings: &[Setting],
        sources: &'d Sources,
        request: &Request<'_>,
        out: &mut Diagnostics,
    ) {
        for binding in setting::bindings(settings, sources, out) {
            let Some(output) = component.output(binding.name_text()) else {
                let names = component.outputs.iter().map(|output| output.name.text);
                out.push(unknown("output", binding, &names.collect::<Vec<_>>()));
                continue;
            };
            match Location::parse(binding.value_text(), request.here) {
                Ok(location) => {
                    self.outputs.insert(output.name.text, (binding, location));
                }
                Err(reason) => {
                    let message = format!("`{}` goes nowhere: {reason}", output.name.text);
                    out.push(Diagnostic::new(&codes::BAD_INPUT, binding.value, message));
                }
            }
        }
    }

    fn register_flags(
        &mut self,
        component: &Component<'d>,
        settings: &[Setting],
        sources: &'d Sources,
        out: &mut Diagnostics,
    ) {
        for binding in setting::bindings(settings, sources, out) {
            let Some(output) = component.output(binding.name_text()) else {
                let names = component.outputs.iter().map(|output| output.name.text);
                out.push(unknown("output", binding, &names.collect::<Vec<_>>()));
                continue;
            };
            if Register::is_name(binding.value_text()) {
                self.registers.insert(output.name.text, binding);
            } else {
                out.push(bad_name(binding.value_text(), binding.value));
            }
        }
    }

    /// The origin of the value of an input.
    pub(super) fn origin(
        &self,
        input: &Input<'d>,
        written: impl Fn(&Node<'_>, String) -> Origin,
    ) -> Option<Origin> {
        let path = format!("inputs.{}.default", input.name.text);
        Some(match self.inputs.get(input.name.text)? {
            Giver::Default(node) => written(node, path),
            Giver::Flag(binding) => Origin {
                cause: Cause::Flag {
                    flag: binding.flag(),
                },
                place: None,
                via: input
                    .default
                    .map(|node| written(node, path))
                    .into_iter()
                    .collect(),
            },
        })
    }
}

/// The inputs with an error in what the spec says of them: it may be that they want no value.
fn misdescribed<'d>(component: &Component<'d>, out: &Diagnostics) -> Vec<&'d str> {
    let errors: Vec<Span> = out
        .iter()
        .filter(|found| found.severity == Severity::Error)
        .map(|found| found.span)
        .collect();
    let is_wrong = |input: &&Input<'d>| {
        let whole = input.name.span.to(input.node.span);
        errors.iter().any(|error| {
            error.source == whole.source && error.start >= whole.start && error.end <= whole.end
        })
    };
    let wrong = component.inputs.iter().filter(is_wrong);
    wrong.map(|input| input.name.text).collect()
}

fn missing(input: &Input<'_>, request: &Request<'_>) -> Diagnostic {
    let name = input.name.text;
    let example = match input.holds {
        Holds::Data => "PATH",
        _ => "VALUE",
    };
    let mut diagnostic = Diagnostic::new(
        &codes::MISSING_INPUT,
        input.name.span,
        format!("required input `{name}` has no value"),
    )
    .help(format!("give it: `--input {name}={example}`"));
    // A plan that is only shown may have gaps.
    if !request.run {
        diagnostic.severity = Severity::Warning;
    }
    diagnostic
}

fn unknown(what: &str, binding: Binding<'_>, names: &[&str]) -> Diagnostic {
    let name = binding.name_text();
    let diagnostic = Diagnostic::new(
        &codes::UNKNOWN_INPUT,
        binding.name,
        format!("the component has no {what} `{name}`"),
    );
    match closest(name, names.iter().copied()) {
        Some(meant) => diagnostic.label(format!("did you mean `{meant}`?")),
        None if names.is_empty() => diagnostic.help(format!("it has no {what}s")),
        None => diagnostic.help(format!("its {what}s are `{}`", names.join("`, `"))),
    }
}
