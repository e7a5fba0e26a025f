//! The variables and files that tell a task about its parameters and data.

use indexmap::IndexMap;
use pinnace_core::origin::{Cause, Origin};
use pinnace_core::plan::{DataKind, Input, Output};
use pinnace_core::script;
use pinnace_core::text::Text;
use pinnace_core::words;

use super::{CODE, CONFIG, Lowering, ROLE};
use crate::diagnostic::{Diagnostic, codes};
use crate::processor::names::variable_part;
use crate::processor::python;
use crate::yaml::Node;

/// What Linux takes as one variable, with its name and without the zero byte at its end.
const LONGEST_VARIABLE: usize = (128 << 10) - 1;

impl<'d> Lowering<'_, 'd> {
    /// Later ones win: what the user sets is what the task sees.
    pub(super) fn variables(
        &mut self,
        inputs: &IndexMap<String, Input>,
        outputs: &IndexMap<String, Output>,
    ) -> IndexMap<String, Text> {
        let mut env = IndexMap::new();
        self.set(
            &mut env,
            "PAI_WORKING_DIR",
            folder(CODE),
            "where the code lies",
        );
        self.set(
            &mut env,
            "PAI_CONFIG_DIR",
            folder(CONFIG),
            "where the parameters lie",
        );
        let texts = self.parameter_texts();
        let json = serde_json::to_string(&texts).unwrap_or_default();
        let mut long: Vec<String> = Vec::new();
        let mut longest = None;
        let mut can_be_passed = |name: &str, value: &str| {
            let fits = name.len() + 1 + value.len() <= LONGEST_VARIABLE;
            if !fits {
                long.push(format!("`{name}`"));
            }
            fits
        };
        if can_be_passed("PAI_HPS", &json) {
            let how = "all parameters as texts";
            self.set(&mut env, "PAI_HPS", Text::from(json), how);
        }
        let words: Vec<String> = texts
            .iter()
            .map(|(name, value)| format!("--{name} {}", script::word(value)))
            .collect();
        let words = words.join(" ");
        if can_be_passed("PAI_USER_ARGS", &words) {
            let how = "all parameters as arguments";
            self.set(&mut env, "PAI_USER_ARGS", Text::from(words), how);
        }
        if self
            .text("job_type")
            .is_none_or(|kind| kind == "PyTorchJob")
        {
            let how = "one process for each instance, as on machines without cards";
            self.set(&mut env, "NPROC_PER_NODE", Text::from("1"), how);
        }
        for (name, node) in &self.processor.parameters {
            let variable = format!("PAI_HPS_{}", variable_part(name.text));
            let text = python::str(node);
            if !can_be_passed(&variable, &text) {
                longest.get_or_insert(*node);
                continue;
            }
            let path = format!("parameters.{}", name.text);
            self.trace.value(
                format_args!("roles.{ROLE}.env.{variable}"),
                Some(node),
                path,
                "",
            );
            env.insert(variable, Text::from(text));
        }
        self.tell_long(&long, longest);
        for (name, input) in inputs {
            let value = match input.kind {
                DataKind::File => path(&input.target),
                _ => folder(&input.target),
            };
            let variable = format!("PAI_INPUT_{}", variable_part(name));
            self.set(&mut env, &variable, value, "where the task finds the input");
        }
        for (name, output) in outputs {
            let variable = format!("PAI_OUTPUT_{}", variable_part(name));
            let how = "where the task puts the output";
            self.set(&mut env, &variable, folder(&output.target), how);
        }
        for (name, node) in &self.processor.environments {
            if let Some(text) = node.as_text() {
                let leaf = format!("roles.{ROLE}.env.{}", name.text);
                let path = format!("environments.{}", name.text);
                self.trace.value(leaf, Some(node), path, "");
                env.insert(name.text.to_owned(), Text::from(text));
            }
        }
        env
    }

    /// Tells of the variables that no program can be given; the files of the parameters have them all.
    fn tell_long(&mut self, long: &[String], node: Option<&Node<'d>>) {
        let Some(node) = node.or_else(|| self.field("parameters")) else {
            return;
        };
        if long.is_empty() {
            return;
        }
        let all = words::listed(long, "and");
        let message = format!("left out, as no program can be given a variable of 128 KiB: {all}");
        self.out.push(
            Diagnostic::new(&codes::LONG_VARIABLE, node.span, message)
                .help("read `hyperparameters.json` in `$PAI_CONFIG_DIR`, or make an input of what is long"),
        );
    }

    fn set(&mut self, env: &mut IndexMap<String, Text>, name: &str, value: Text, how: &str) {
        self.by_contract(format_args!("roles.{ROLE}.env.{name}"), how, None);
        env.insert(name.to_owned(), value);
    }

    /// The parameters as PAI has them.
    fn parameter_texts(&self) -> IndexMap<&'d str, String> {
        self.processor
            .parameters
            .iter()
            .map(|(name, node)| (name.text, python::str(node)))
            .collect()
    }

    /// `hyperparameters.json` as PAI writes it, and `parameters.json` with the types kept.
    pub(super) fn files(&mut self) -> IndexMap<String, Text> {
        let typed: serde_json::Map<String, serde_json::Value> = self
            .processor
            .parameters
            .iter()
            .map(|(name, node)| (name.text.to_owned(), python::json(node)))
            .collect();
        let texts = self.parameter_texts();
        let contents = [
            ("hyperparameters.json", serde_json::to_string_pretty(&texts)),
            ("parameters.json", serde_json::to_string_pretty(&typed)),
        ];
        let via: Vec<Origin> = self
            .field("parameters")
            .map(|node| self.trace.written(node, "parameters"))
            .into_iter()
            .collect();
        let mut files = IndexMap::new();
        for (name, content) in contents {
            let path = format!("{CONFIG}/{name}");
            self.trace
                .note(format_args!("roles.{ROLE}.files.{path}"), |_| Origin {
                    cause: Cause::Made {
                        how: "the parameters as JSON".to_owned(),
                    },
                    place: None,
                    via: via.clone(),
                });
            files.insert(path, Text::from(content.unwrap_or_default() + "\n"));
        }
        files
    }
}

fn path(path: &str) -> Text {
    let mut text = Text::default();
    text.push_path(path);
    text
}

/// PAI writes folders with a `/` behind them.
fn folder(target: &str) -> Text {
    let mut text = path(target);
    text.push_literal("/");
    text
}
