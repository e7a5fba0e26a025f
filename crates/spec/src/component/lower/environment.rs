//! The variables of the task: those of the spec, and those on which scripts for Azure ML rely.

use indexmap::IndexMap;
use pinnace_core::plan::{Action, Event, InputMode, OnFailure, Step};
use pinnace_core::text::Text;

use super::Lowering;
use super::command::{input_target, output_target, path_text};
use crate::component::model::Holds;
use crate::component::read::at;
use crate::component::variables;
use crate::yaml::access::entries;

/// An input of such a name must not take the place of what every program needs.
const KEPT: &[&str] = &[
    "PATH",
    "HOME",
    "PWD",
    "OLDPWD",
    "SHELL",
    "USER",
    "LANG",
    "TERM",
    "TMPDIR",
    "IFS",
    "PYTHONPATH",
    "PYTHONHOME",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "MASTER_ADDR",
    "MASTER_PORT",
];

/// What stands for the workspace that there is not.
const NO_ID: &str = "00000000-0000-0000-0000-000000000000";

impl Lowering<'_, '_> {
    /// The variables that are known before the task starts.
    pub(super) fn variables(&mut self) -> IndexMap<String, Text> {
        let mut env = IndexMap::new();
        self.azureml_variables(&mut env);
        self.path_variables(&mut env);
        for path in ["environment_variables", "runsettings.environment_variables"] {
            let Some(section) = at(self.component.root, path) else {
                continue;
            };
            if section.is_string() {
                let pairs = variables::of_json(section.as_text().unwrap_or_default());
                for (name, text) in pairs.unwrap_or_default() {
                    env.insert(name.clone(), Text::from(text));
                    self.trace
                        .note(Self::role_path(format_args!("env.{name}")), |trace| {
                            trace.written(section, path)
                        });
                }
            }
            for entry in entries(Some(section)) {
                let Some(text) = entry.value.as_text() else {
                    continue;
                };
                let name = entry.key.text.to_string();
                env.insert(name.clone(), Text::from(text));
                self.trace
                    .note(Self::role_path(format_args!("env.{name}")), |trace| {
                        trace.written(&entry.value, format_args!("{path}.{name}"))
                    });
            }
        }
        env
    }

    fn set(&mut self, env: &mut IndexMap<String, Text>, name: &str, value: Text, rule: &str) {
        env.insert(name.to_owned(), value);
        self.rule(Self::role_path(format_args!("env.{name}")), rule);
    }

    fn azureml_variables(&mut self, env: &mut IndexMap<String, Text>) {
        const STANDS_IN: &str = "stands for the workspace that there is not";
        let project = self.component.name.map_or("component", |name| name.text);
        let fixed = [
            ("AZUREML_ARM_SUBSCRIPTION", NO_ID),
            ("AZUREML_ARM_RESOURCEGROUP", "local"),
            ("AZUREML_ARM_WORKSPACE_NAME", "local"),
            ("AZUREML_WORKSPACE_ID", NO_ID),
            ("AZUREML_ARM_PROJECT_NAME", project),
        ];
        for (name, value) in fixed {
            self.set(env, name, Text::from(value), STANDS_IN);
        }
        let component = self.component;
        let mut modes = Vec::new();
        for input in component
            .inputs
            .iter()
            .filter(|input| input.holds == Holds::Data)
        {
            if self.values.inputs.contains_key(input.name.text) {
                let mode = match self.input_mode(input) {
                    InputMode::Mount => "mount",
                    InputMode::Download => "download",
                    InputMode::Direct => "direct",
                };
                modes.push(format!("{}:{mode}", input.name.text));
            }
        }
        let names = |is_link: bool| {
            let outputs = component.outputs.iter();
            let names: Vec<&str> = outputs
                .filter(|output| output.is_link == is_link)
                .map(|output| output.name.text)
                .collect();
            names.join(";")
        };
        let lists = [
            (
                "AZUREML_DATASET_ENVIRONMENT_VARS",
                modes.join(","),
                "the inputs that are data, with their modes",
            ),
            (
                "AZUREML_DATASET_FILE_OUTPUTS",
                names(false),
                "the outputs that are written",
            ),
            (
                "AZUREML_LINK_DATASET_OUTPUTS",
                names(true),
                "the outputs that are linked",
            ),
        ];
        for (name, list, rule) in lists {
            if !list.is_empty() {
                self.set(env, name, Text::from(list), rule);
            }
        }
    }

    /// Each input and output that is data is a variable with its path.
    fn path_variables(&mut self, env: &mut IndexMap<String, Text>) {
        const RULE: &str = "every input and output is also a variable with its path";
        let is_free = |name: &str| {
            !KEPT.contains(&name) && !name.contains('.') && !name.starts_with("PINNACE_")
        };
        let component = self.component;
        for input in &component.inputs {
            let name = input.name.text;
            let has_value = self.values.inputs.contains_key(name);
            if input.holds != Holds::Data || !is_free(name) || !has_value {
                continue;
            }
            let text = match self.input_mode(input) {
                InputMode::Direct => self.input_text(input).unwrap_or_default(),
                _ => path_text(&input_target(name)),
            };
            self.set(env, name, text, RULE);
        }
        for output in &component.outputs {
            let name = output.name.text;
            if is_free(name) {
                self.set(env, name, path_text(&output_target(name)), RULE);
            }
        }
    }

    /// Variables that are known only when the task runs.
    pub(super) fn run_step(&mut self, commands: Vec<Text>, index: usize) -> Step {
        let path = Self::role_path(format_args!("before[{index}]"));
        self.rule(format!("{path}.name"), "what it is for");
        self.rule(format!("{path}.on"), "variables come before the command");
        self.rule(
            format!("{path}.onFailure"),
            "a task without its variables fails",
        );
        self.rule(
            format!("{path}.action.do"),
            "variables are exported by the shell",
        );
        for line in 0..commands.len() {
            self.rule(
                format!("{path}.action.commands[{line}]"),
                "a variable on which scripts for Azure ML rely",
            );
        }
        Step {
            name: "azureml".to_owned(),
            on: Event::Start,
            action: Action::Shell { commands },
            on_failure: OnFailure::Fail,
        }
    }
}
