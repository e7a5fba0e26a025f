//! A component as written: typed, borrowed from its document, with the span of everything a problem
//! could be reported at. Fields that are missing or wrong are `None`; the shape check has said so.

use std::collections::{HashMap, HashSet};

use super::command::{Scope, Syntax};
use crate::yaml::Node;
pub use crate::yaml::access::Name;

/// What a component is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A single command.
    Command,
    /// One command in many ranks.
    Distributed,
    /// A Python script that gets files in small batches.
    Parallel,
    /// A module that Hemera runs.
    Hemera,
    /// A Scope script.
    Scope,
    /// Spark on HDInsight.
    HdInsight,
    /// Spark.
    Spark,
    /// A module that Starlite runs.
    Starlite,
    /// A module that AE365 runs.
    Ae365,
    /// A module that Aether runs.
    AetherBridge,
    /// A copy of data.
    DataTransfer,
    /// Many trials of another component.
    Sweep,
    /// A component whose inside is hidden.
    Protected,
    /// A graph of components.
    Pipeline,
}

/// The words of `type`, what each means, and how the command is written then.
const WORDS: &[(&str, Kind, Syntax)] = &[
    ("CommandComponent", Kind::Command, Syntax::V1),
    ("DistributedComponent", Kind::Distributed, Syntax::V1),
    ("ParallelComponent", Kind::Parallel, Syntax::V1),
    ("HemeraComponent", Kind::Hemera, Syntax::V1),
    ("ScopeComponent", Kind::Scope, Syntax::V1),
    ("HDInsightComponent", Kind::HdInsight, Syntax::V1),
    ("SparkComponent", Kind::Spark, Syntax::V1),
    ("StarliteComponent", Kind::Starlite, Syntax::V1),
    ("AE365ExePoolComponent", Kind::Ae365, Syntax::V1),
    ("AetherBridgeComponent", Kind::AetherBridge, Syntax::V1),
    ("DataTransferComponent", Kind::DataTransfer, Syntax::V1),
    ("SweepComponent", Kind::Sweep, Syntax::V1),
    (
        "IntellectualPropertyProtectedComponent",
        Kind::Protected,
        Syntax::V1,
    ),
    ("PipelineComponent", Kind::Pipeline, Syntax::V1),
    ("command", Kind::Command, Syntax::V2),
    ("parallel", Kind::Parallel, Syntax::V2),
    ("spark", Kind::Spark, Syntax::V2),
    ("sweep", Kind::Sweep, Syntax::V2),
    ("pipeline", Kind::Pipeline, Syntax::V2),
    ("data_transfer", Kind::DataTransfer, Syntax::V2),
    ("hemera", Kind::Hemera, Syntax::V2),
    ("scope", Kind::Scope, Syntax::V2),
    ("hdinsight", Kind::HdInsight, Syntax::V2),
    ("starlite", Kind::Starlite, Syntax::V2),
    ("ae365exepool", Kind::Ae365, Syntax::V2),
    ("aetherbridge", Kind::AetherBridge, Syntax::V2),
];

impl Kind {
    /// What a word of `type` means, without its label.
    pub fn from_word(word: &str) -> Option<(Kind, Syntax)> {
        WORDS
            .iter()
            .find(|(one, ..)| *one == word)
            .map(|(_, kind, syntax)| (*kind, *syntax))
    }

    /// What carries it out, if this machine cannot.
    pub fn engine(self) -> Option<&'static str> {
        match self {
            Kind::Command | Kind::Distributed | Kind::Parallel | Kind::Hemera => None,
            Kind::Scope => Some("Scope (Cosmos)"),
            Kind::HdInsight => Some("Spark on HDInsight"),
            Kind::Spark => Some("Spark"),
            Kind::Starlite => Some("Starlite"),
            Kind::Ae365 => Some("AE365"),
            Kind::AetherBridge => Some("Aether"),
            Kind::DataTransfer => Some("the data transfer service"),
            Kind::Sweep => Some("the sweep service"),
            Kind::Protected => Some("a protected compute target"),
            Kind::Pipeline => Some("the pipeline service"),
        }
    }

    /// The section in which the type's own settings stand.
    pub fn section(self) -> Option<&'static str> {
        match self {
            Kind::Distributed => Some("launcher"),
            Kind::Parallel => Some("parallel"),
            Kind::Hemera => Some("hemera"),
            Kind::Scope => Some("scope"),
            Kind::HdInsight => Some("hdinsight"),
            Kind::Starlite => Some("starlite"),
            Kind::Ae365 => Some("ae365exepool"),
            Kind::AetherBridge => Some("aether"),
            Kind::DataTransfer => Some("datatransfer"),
            _ => None,
        }
    }
}

/// A component.
#[derive(Debug)]
pub struct Component<'d> {
    /// The whole document.
    pub root: &'d Node<'d>,
    /// `type` without its label, or what a missing one stands for.
    pub kind: Kind,
    /// How its command is written.
    pub syntax: Syntax,
    /// `type` as written.
    pub type_name: Option<Name<'d>>,
    /// What stands behind the `@` of `type`.
    pub label: Option<&'d str>,
    /// `name`
    pub name: Option<Name<'d>>,
    /// `version`, as written.
    pub version: Option<Name<'d>>,
    /// `inputs`
    pub inputs: Vec<Input<'d>>,
    /// `outputs`
    pub outputs: Vec<Output<'d>>,
    /// Where each input stands in `inputs`.
    pub input_places: Places<'d>,
    /// Where each output stands in `outputs`.
    pub output_places: Places<'d>,
    /// The names of inputs and outputs that are themselves wrong, and so left out.
    pub left_out: HashSet<(Scope, &'d str)>,
    /// The texts with places for inputs and outputs, in the order of the type.
    pub lines: Vec<Line<'d>>,
    /// The folder of the code, as written.
    pub code: Option<Name<'d>>,
    /// The path at which it is written: `code`, or `task.code`.
    pub code_path: &'static str,
    /// `environment`, if it is a mapping.
    pub environment: Option<&'d Node<'d>>,
}

impl<'d> Component<'d> {
    /// The input of a name.
    pub fn input(&self, name: &str) -> Option<&Input<'d>> {
        self.inputs.get(self.input_place(name)?)
    }

    /// The output of a name.
    pub fn output(&self, name: &str) -> Option<&Output<'d>> {
        self.outputs.get(self.output_place(name)?)
    }

    /// Where the input of a name stands among all.
    pub fn input_place(&self, name: &str) -> Option<usize> {
        let names = self.inputs.iter().map(|input| input.name.text);
        self.input_places.of(name, names)
    }

    /// Where the output of a name stands among all.
    pub fn output_place(&self, name: &str) -> Option<usize> {
        let names = self.outputs.iter().map(|output| output.name.text);
        self.output_places.of(name, names)
    }

    /// Whether there is an input or output of this name, even one that is itself wrong.
    pub fn declares(&self, scope: Scope, name: &str) -> bool {
        let place = match scope {
            Scope::Inputs => self.input_place(name),
            Scope::Outputs => self.output_place(name),
            Scope::SearchSpace => None,
        };
        place.is_some() || self.left_out.contains(&(scope, name))
    }

    /// Whether the command is Python's own words, as the label `1-legacy` says.
    pub fn is_python_style(&self) -> bool {
        self.label == Some("1-legacy")
    }
}

/// Finds names in a list: few by a look at each, many by their hash, so that a command with as many
/// names as there are inputs is no square.
#[derive(Debug, Default)]
pub struct Places<'d> {
    /// Empty if the names are few.
    many: HashMap<&'d str, usize>,
}

impl<'d> Places<'d> {
    /// Up to so many names, looking at each is faster than hashing.
    const FEW: usize = 32;

    /// The places of some names. Of two equal ones the first counts.
    pub fn new(names: impl ExactSizeIterator<Item = &'d str>) -> Self {
        let mut many = HashMap::new();
        if names.len() > Self::FEW {
            for (place, name) in names.enumerate() {
                many.entry(name).or_insert(place);
            }
        }
        Places { many }
    }

    fn of<'n>(&self, name: &str, mut names: impl Iterator<Item = &'n str>) -> Option<usize> {
        if self.many.is_empty() {
            names.position(|one| one == name)
        } else {
            self.many.get(name).copied()
        }
    }
}

/// A text with places for inputs and outputs.
#[derive(Clone, Copy, Debug)]
pub struct Line<'d> {
    /// Its path, such as `launcher.additional_arguments`.
    pub path: &'static str,
    /// The text.
    pub node: &'d Node<'d>,
}

/// What an input or output holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Data: a file or a folder.
    Data,
    /// A text.
    Text,
    /// `True` or `False`.
    Flag,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// One of some texts.
    Choice,
}

impl Holds {
    /// What a word of `type` means.
    pub fn from_word(word: &str) -> Self {
        match word {
            "String" | "string" | "Script" | "ColumnPicker" | "Credential" | "ParameterRange" => {
                Holds::Text
            }
            "Boolean" | "boolean" => Holds::Flag,
            "Integer" | "integer" | "Int" | "int" => Holds::Integer,
            "Float" | "float" | "Double" | "double" | "Number" | "number" => Holds::Number,
            "Enum" | "enum" => Holds::Choice,
            _ => Holds::Data,
        }
    }
}

/// One of `inputs`.
#[derive(Debug)]
pub struct Input<'d> {
    /// Its key.
    pub name: Name<'d>,
    /// Its mapping.
    pub node: &'d Node<'d>,
    /// `type`, one or several.
    pub types: Vec<Name<'d>>,
    /// What it holds.
    pub holds: Holds,
    /// `optional`
    pub optional: bool,
    /// `default`
    pub default: Option<&'d Node<'d>>,
    /// `min`
    pub min: Option<&'d Node<'d>>,
    /// `max`
    pub max: Option<&'d Node<'d>>,
    /// `enum`
    pub choices: Vec<Name<'d>>,
}

/// One of `outputs`.
#[derive(Debug)]
pub struct Output<'d> {
    /// Its key.
    pub name: Name<'d>,
    /// Its mapping.
    pub node: &'d Node<'d>,
    /// `type`
    pub type_name: Name<'d>,
    /// What it holds.
    pub holds: Holds,
    /// `is_link_mode`, or a mode that says so.
    pub is_link: bool,
}

impl Output<'_> {
    /// Whether it is a single file; else it is a folder.
    pub fn is_file(&self) -> bool {
        self.holds != Holds::Data || matches!(self.type_name.text, "AnyFile" | "uri_file")
    }
}
