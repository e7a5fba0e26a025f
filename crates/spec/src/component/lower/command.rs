//! The command line with its values.

use pinnace_core::origin::Origin;
use pinnace_core::plan::{InputMode, Location, Scheme};
use pinnace_core::text::Text;

use super::bind::Giver;
use super::{INPUTS, Lowering, OUTPUTS};
use crate::component::command::{Placeholder, Rendered, Scope};
use crate::component::model::{Holds, Input, Kind};
use crate::component::read::at;
use crate::yaml::Node;
use crate::yaml::access::value;

/// Azure ML's shell goes on after a part that failed; the last part decides.
const GO_ON: &str = "set +o errexit; set +o pipefail 2>/dev/null || :";

impl<'d> Lowering<'_, 'd> {
    /// The lines that every task runs.
    pub(super) fn command(&mut self) -> Vec<Text> {
        let lines: Vec<(Text, Origin)> = match self.component.kind {
            Kind::Parallel => vec![self.parallel_line()],
            Kind::Hemera => self.module_line().into_iter().collect(),
            Kind::Scope => self.program("scope.script", None),
            Kind::HdInsight => self.program("hdinsight.file", Some("spark-submit")),
            Kind::Spark => self.program("entry.file", Some("spark-submit")),
            _ => self.own_line().into_iter().collect(),
        };
        let mut command = Vec::new();
        for (line, origin) in lines {
            let has_parts = line
                .pieces()
                .iter()
                .any(|piece| matches!(piece, pinnace_core::text::Piece::Literal(text) if text.contains([';', '\n', '&', '|'])));
            if has_parts && self.runs_here() {
                self.rule(
                    Self::role_path(format_args!("command[{}]", command.len())),
                    "Azure ML's shell goes on after a part that failed",
                );
                command.push(Text::from(GO_ON));
            }
            let path = Self::role_path(format_args!("command[{}]", command.len()));
            self.trace.note(path, |_| origin);
            command.push(line);
        }
        command
    }

    /// The line that the component is: `command` or `launcher.additional_arguments`.
    pub(super) fn own_line(&mut self) -> Option<(Text, Origin)> {
        let (rendered, origin) = self.rendered(0)?;
        let line = if self.component.is_python_style() {
            let mut line = Text::from("python ");
            line.append(&rendered.line);
            line
        } else {
            rendered.line
        };
        Some((line, origin))
    }

    /// A program of another engine and its arguments.
    fn program(&mut self, path: &str, launcher: Option<&str>) -> Vec<(Text, Origin)> {
        let root = self.component.root;
        let Some((node, program)) =
            at(root, path).and_then(|node| Some((node, node.as_text()?.to_owned())))
        else {
            return self.own_line().into_iter().collect();
        };
        let mut line = Text::default();
        if let Some(launcher) = launcher {
            line.push_literal(launcher);
            line.push_literal(" ");
        }
        line.push_literal(&program);
        let mut origin = self.trace.written(node, path);
        if let Some((rendered, arguments)) = self.rendered(0) {
            line.push_literal(" ");
            line.append(&rendered.line);
            origin.via.push(arguments);
        }
        vec![(line, origin)]
    }

    /// One of the component's lines with values in it, and its origin.
    pub(super) fn rendered(&mut self, index: usize) -> Option<(Rendered, Origin)> {
        let (line, template) = self.templates.get(index)?;
        let rendered = template.render(|placeholder| self.value(placeholder), self.request.manner);
        let mut origin = self.trace.written(line.node, line.path);
        origin.via.extend(self.used(template.references()));
        Some((rendered, origin))
    }

    /// The origins of the values that stand for some placeholders.
    pub(super) fn used<'p, 't: 'p>(
        &self,
        placeholders: impl Iterator<Item = &'p Placeholder<'t>>,
    ) -> Vec<Origin> {
        let mut origins = Vec::new();
        for placeholder in placeholders {
            let input = match placeholder.scope {
                Scope::Inputs => self.component.input(placeholder.name),
                _ => None,
            };
            let origin = input.and_then(|input| {
                self.values
                    .origin(input, |node, path| self.trace.written(node, path))
            });
            origins.extend(origin.filter(|origin| !origins.contains(origin)));
        }
        origins
    }

    pub(super) fn value(&self, placeholder: &Placeholder<'_>) -> Option<Text> {
        match placeholder.scope {
            Scope::Outputs => Some(path_text(&output_target(placeholder.name))),
            Scope::Inputs => match self.component.input(placeholder.name) {
                Some(input) => self.input_text(input),
                None => Some(Text::from(self.unfilled(placeholder))),
            },
            Scope::SearchSpace => Some(Text::from(self.unfilled(placeholder))),
        }
    }

    fn unfilled(&self, placeholder: &Placeholder<'_>) -> String {
        self.component
            .syntax
            .placeholder(placeholder.scope, placeholder.name)
    }

    /// What stands for an input in the command; nothing if it is left out.
    pub(super) fn input_text(&self, input: &Input<'d>) -> Option<Text> {
        let giver = self.values.inputs.get(input.name.text);
        if giver.is_none() && input.optional {
            return None;
        }
        let placeholder = || {
            self.component
                .syntax
                .placeholder(Scope::Inputs, input.name.text)
        };
        match (input.holds, giver) {
            (Holds::Data, giver) if self.input_mode(input) == InputMode::Direct => {
                let location = self.values.locations.get(input.name.text);
                // A module knows neither datasets nor datastores; what they stand for is put in when it runs.
                let is_name = |location: &Location| {
                    matches!(location.scheme(), Scheme::Dataset | Scheme::Datastore)
                };
                if self.is(Kind::Hemera) && location.is_some_and(is_name) {
                    return Some(path_text(&input_target(input.name.text)));
                }
                let text = location
                    .map(|location| location.as_str().to_owned())
                    .or_else(|| giver.map(|giver| giver.text().to_owned()));
                Some(Text::from(text.unwrap_or_else(placeholder)))
            }
            (Holds::Data, _) => Some(path_text(&input_target(input.name.text))),
            (_, None) => Some(Text::from(placeholder())),
            (Holds::Flag, Some(giver)) => {
                let is_true = giver.text().eq_ignore_ascii_case("true");
                Some(Text::from(if is_true { "True" } else { "False" }))
            }
            (_, Some(Giver::Flag(_) | Giver::Default(_))) => {
                giver.map(|giver| Text::from(giver.text()))
            }
        }
    }

    /// How an input comes to the task.
    pub(super) fn input_mode(&self, input: &Input<'d>) -> InputMode {
        let word = ["datastore_mode", "mode"]
            .iter()
            .find_map(|key| value(input.node, key).and_then(Node::as_text));
        let is_resource = value(input.node, "is_resource").and_then(Node::as_bool) == Some(true);
        let by_address = self.is(Kind::Hemera) || !self.runs_here();
        match word {
            Some("download" | "eval_download") => InputMode::Download,
            Some("direct") => InputMode::Direct,
            _ if is_resource && by_address => InputMode::Direct,
            _ => InputMode::Mount,
        }
    }
}

/// Where a task finds an input.
pub(super) fn input_target(name: &str) -> String {
    format!("{INPUTS}/{name}")
}

/// Where a task leaves an output.
pub(super) fn output_target(name: &str) -> String {
    format!("{OUTPUTS}/{name}")
}

/// A path of the task as a text.
pub(super) fn path_text(path: &str) -> Text {
    let mut text = Text::default();
    text.push_path(path);
    text
}
