//! Reads the interface of a module: a command line with values in parentheses.

use super::xml::Value;
use crate::diagnostic::{Diagnostic, Diagnostics, codes};

/// A module's interface.
#[derive(Debug)]
pub(super) struct Interface {
    /// Its inputs and parameters, in the order in which they are first named.
    pub(super) inputs: Vec<Input>,
    /// The command, in the way of components of version 1.5.
    pub(super) command: String,
}

/// An input or a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Input {
    pub(super) name: String,
    /// The default of a parameter; data has none.
    pub(super) default: Option<String>,
    pub(super) is_optional: bool,
}

struct Reader<'v, 'o> {
    value: &'v Value,
    inputs: Vec<Input>,
    command: String,
    out: &'o mut Diagnostics,
    is_broken: bool,
}

impl Interface {
    /// Reads an interface; what is not known of it is told.
    pub(super) fn read(value: &Value, out: &mut Diagnostics) -> Option<Interface> {
        let mut reader = Reader {
            value,
            inputs: Vec::new(),
            command: String::new(),
            out,
            is_broken: false,
        };
        reader.run();
        let Reader {
            inputs,
            command,
            is_broken,
            ..
        } = reader;
        let command = command.trim().to_owned();
        (!is_broken).then_some(Interface { inputs, command })
    }
}

impl Reader<'_, '_> {
    fn run(&mut self) {
        let text = self.value.text.as_str();
        let mut at = 0;
        let mut optional: Option<usize> = None;
        while let Some(char) = text.get(at..).and_then(|rest| rest.chars().next()) {
            match char {
                '(' => {
                    let Some(length) = text[at..].find(')') else {
                        self.refuse(at, at + 1, "a parenthesis is never closed");
                        return;
                    };
                    self.read_value(at, at + length + 1, optional.is_some());
                    at += length + 1;
                    continue;
                }
                '[' if optional.is_none() => {
                    optional = Some(at);
                    self.command.push('[');
                }
                ']' if optional.is_some() => {
                    let start = optional.take().unwrap_or(at);
                    let holds = text[start..at].matches('(').count();
                    if holds != 1 {
                        self.refuse(
                            start,
                            at + 1,
                            "brackets hold one value, so that is what is optional",
                        );
                    }
                    self.command.push(']');
                }
                '{' | '}' | '[' | ']' | ')' => {
                    let message = format!("what `{char}` means in an interface is not known");
                    self.refuse(at, at + 1, &message);
                }
                _ => self.command.push(char),
            }
            at += char.len_utf8();
        }
        if let Some(start) = optional {
            self.refuse(start, start + 1, "a bracket is never closed");
        }
    }

    fn refuse(&mut self, start: usize, end: usize, message: &str) {
        self.is_broken = true;
        let span = self.value.part(start, end);
        self.out.push(
            Diagnostic::new(&codes::UNKNOWN_MODULE_PART, span, message)
                .help("known are `(NAME)`, `(NAME:default,VALUE)` and `[…]` around one of them"),
        );
    }

    /// `(NAME)` or `(NAME:default,VALUE)`.
    fn read_value(&mut self, start: usize, end: usize, is_optional: bool) {
        let value = self.value;
        let inside = &value.text[start + 1..end - 1];
        let (name, rest) = match inside.split_once(':') {
            Some((name, rest)) => (name, Some(rest)),
            None => (inside, None),
        };
        if !is_name(name) {
            let message = format!("`{name}` cannot be the name of an input");
            self.refuse(start + 1, start + 1 + name.len(), &message);
            return;
        }
        let default = match rest.map(|rest| rest.strip_prefix("default,")) {
            None => None,
            Some(Some(default)) => Some(default.to_owned()),
            Some(None) => {
                let message = format!(
                    "what `{}` says about `{name}` is not known",
                    rest.unwrap_or_default()
                );
                self.refuse(start + 2 + name.len(), end - 1, &message);
                return;
            }
        };
        self.command.push_str("{inputs.");
        self.command.push_str(name);
        self.command.push('}');
        let input = Input {
            name: name.to_owned(),
            default,
            is_optional,
        };
        self.declare(input, start, end);
    }

    fn declare(&mut self, input: Input, start: usize, end: usize) {
        let same = self
            .inputs
            .iter_mut()
            .find(|other| other.name.eq_ignore_ascii_case(&input.name));
        let Some(other) = same else {
            if input.default.is_none() && !input.is_optional {
                let message = format!(
                    "whether `{}` is data or a parameter is not said",
                    input.name
                );
                self.out.push(
                    Diagnostic::new(&codes::UNSAID_MODULE_PART, self.value.part(start, end), message)
                        .label("written as data")
                        .help("if it is a parameter, change its `type` to `string` and remove `is_resource`"),
                );
            }
            self.inputs.push(input);
            return;
        };
        if other.name != input.name {
            let message = format!(
                "`{}` and `{}` differ only in their letters' case",
                other.name, input.name
            );
            self.refuse(start, end, &message);
        } else if input.default.is_some() && other.default != input.default {
            let message = format!("`{}` has two defaults", input.name);
            self.refuse(start, end, &message);
        } else {
            // An input that is needed somewhere is needed.
            other.is_optional &= input.is_optional;
        }
    }
}

fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && chars.all(|char| char.is_ascii_alphanumeric() || char == '_')
}
