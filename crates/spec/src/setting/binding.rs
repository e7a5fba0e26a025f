//! `--input NAME=VALUE`, `--output NAME=VALUE` and `--register NAME=DATASET`: what a job reads and writes.

use pinnace_core::origin::{Cause, Origin};

use super::{Setting, Typed, warn_of_repeats};
use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::job::Request;
use crate::source::{Source, Sources, Span};
use crate::yaml::node::{By, Replaced};
use crate::yaml::{Node, Scalar, Style, Value};

/// A flag as typed, for the dialect that knows what the name stands for.
#[derive(Clone, Copy, Debug)]
pub struct Binding<'s> {
    /// What was typed after the flag.
    pub source: &'s Source,
    /// Where the name stands.
    pub name: Span,
    /// Where the value stands.
    pub value: Span,
}

impl<'s> Binding<'s> {
    /// The name.
    pub fn name_text(&self) -> &'s str {
        self.source.slice(self.name)
    }

    /// The value.
    pub fn value_text(&self) -> &'s str {
        self.source.slice(self.value)
    }

    /// The flag as typed.
    pub fn flag(&self) -> String {
        super::name_of(self.source)
    }

    /// The origin of a value that the flag gives, instead of what the file says.
    pub fn origin(&self, instead_of: Option<Origin>) -> Origin {
        Origin {
            cause: Cause::Flag { flag: self.flag() },
            place: None,
            via: instead_of.into_iter().collect(),
        }
    }

    /// The value as a plain scalar that remembers the flag, and what it replaces.
    pub fn node(&self, was: Option<Node<'s>>) -> Node<'s> {
        let scalar = Scalar {
            text: self.value_text().into(),
            style: Style::Plain,
        };
        let mut node = Node::new(self.value, Value::Scalar(scalar));
        node.set_replaced(Replaced {
            by: By::Flag(self.flag()),
            was,
        });
        node
    }
}

/// The flags, each once: of several with one name the last counts, with a warning for the others.
pub fn bindings<'s>(
    settings: &[Setting],
    sources: &'s Sources,
    diagnostics: &mut Diagnostics,
) -> Vec<Binding<'s>> {
    let typed: Vec<Typed<'s>> = settings
        .iter()
        .filter_map(|setting| Typed::split(setting, sources, diagnostics))
        .collect();
    warn_of_repeats(&typed, diagnostics);
    let mut found: Vec<Binding<'s>> = Vec::new();
    for typed in typed {
        let binding = Binding {
            source: typed.source,
            name: typed.target,
            value: typed.value,
        };
        match found
            .iter_mut()
            .find(|earlier| earlier.name_text() == binding.name_text())
        {
            Some(earlier) => *earlier = binding,
            None => found.push(binding),
        }
    }
    found
}

/// For dialects whose jobs have neither inputs nor outputs.
pub fn refuse_data(
    request: &Request<'_>,
    what: &str,
    sources: &Sources,
    diagnostics: &mut Diagnostics,
) {
    let flags = [request.inputs, request.outputs, request.registers];
    for setting in flags.into_iter().flatten() {
        let source = sources.add(setting.flag(), setting.text.as_str());
        let whole = Span::new(source.id(), 0, source.text().len());
        let message = format!("{what} has nothing that `{}` could name", setting.flag());
        diagnostics
            .push(Diagnostic::new(&codes::BAD_SETTING, whole, message).help(
                "`-p NAME=VALUE` sets a parameter, `--set PATH=VALUE` any value of the file",
            ));
    }
}
