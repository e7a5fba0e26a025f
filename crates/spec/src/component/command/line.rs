//! A command line with its values, as people and programs look at it.

use pinnace_core::text::Text;
use serde::Serialize;

use super::powershell::{Binding, Value};
use super::render::Manner;

/// A command line with its values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandLine {
    /// How missing optional inputs were treated.
    pub manner: Manner,
    /// The words as a program gets them.
    pub words: Vec<Text>,
    /// The line for a shell.
    pub shell: Text,
    /// Whether the line asks the shell for more than splitting it, so that the words are only those that
    /// a reader sees.
    pub needs_shell: bool,
    /// What the PowerShell script behind the command makes of the words, if it can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<EntryArguments>,
}

/// What a PowerShell script makes of its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EntryArguments {
    /// The script, from the code folder.
    pub script: String,
    /// Its parameters in the order of their declaration.
    pub parameters: Vec<ParameterArgument>,
    /// What is left for `$args`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rest: Vec<String>,
    /// Why PowerShell would refuse to start it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refusals: Vec<String>,
}

/// What one parameter gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ParameterArgument {
    /// Its name.
    pub name: String,
    /// What the script finds in it.
    pub value: String,
    /// Why.
    pub by: GivenBy,
}

/// Why a parameter has its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum GivenBy {
    /// Its name stands before the value.
    Name,
    /// It was the next one without a value.
    Place,
    /// It takes all that is left.
    Rest,
    /// Nothing was given to it.
    Default,
}

impl EntryArguments {
    /// What a script gets.
    pub fn of(script: String, binding: &Binding) -> Self {
        let parameters = binding.values.iter().map(|(name, value)| {
            let by = match value {
                Value::Named(_) | Value::On => GivenBy::Name,
                Value::Positional(_) => GivenBy::Place,
                Value::Rest(_) => GivenBy::Rest,
                Value::Default(_) => GivenBy::Default,
            };
            ParameterArgument {
                name: name.clone(),
                value: value.shown(),
                by,
            }
        });
        EntryArguments {
            script,
            parameters: parameters.collect(),
            rest: binding.rest.clone(),
            refusals: binding.refusals.iter().map(ToString::to_string).collect(),
        }
    }
}
