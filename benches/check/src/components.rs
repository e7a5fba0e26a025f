//! Makes component specs: valid, varied, of realistic size (about 1 to 4 KB), always the same for a
//! number, of twenty types that the official client loads without its service. Sweeps, pipelines and
//! protected components are not among them.

use std::fmt::Write as _;

use crate::dice::Dice;

/// A spec and the files beside it.
pub(crate) struct Component {
    /// `type`, as a name of its folder.
    pub(crate) kind: &'static str,
    pub(crate) spec: String,
    /// Path from the folder of the spec, and text.
    pub(crate) files: Vec<(&'static str, &'static str)>,
}

/// How a type writes its inputs, types and placeholders.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// `{inputs.x}` and version 1.5.
    Old,
    /// `${{inputs.x}}` with the sections of version 1.5.
    Alias,
    /// Version 2.
    New,
}

const TYPES: &[(&str, Style)] = &[
    ("CommandComponent", Style::Old),
    ("command", Style::New),
    ("DistributedComponent", Style::Old),
    ("HemeraComponent", Style::Old),
    ("parallel", Style::New),
    ("ScopeComponent", Style::Old),
    ("ParallelComponent", Style::Old),
    ("spark", Style::New),
    ("HDInsightComponent", Style::Old),
    ("StarliteComponent", Style::Old),
    ("hemera", Style::Alias),
    ("AE365ExePoolComponent", Style::Old),
    ("scope", Style::Alias),
    ("AetherBridgeComponent", Style::Old),
    ("hdinsight", Style::Alias),
    ("DataTransferComponent", Style::Old),
    ("starlite", Style::Alias),
    ("ae365exepool", Style::Alias),
    ("aetherbridge", Style::Alias),
    ("data_transfer", Style::New),
];

const DATA: &[&str] = &[
    "training_data",
    "validation_data",
    "vocabulary",
    "pretrained_model",
    "lookup_table",
];
const RESULTS: &[&str] = &["trained_model", "metrics_report", "predictions", "samples"];
const PARAMETERS: &[&str] = &[
    "model_name",
    "batch_size",
    "learning_rate",
    "shuffle",
    "optimizer",
    "checkpoint_tag",
    "max_epochs",
    "dropout",
    "mixed_precision",
    "log_level",
    "run_note",
    "warmup_steps",
    "weight_decay",
    "keep_logs",
];
const REMARKS: &[&str] = &[
    "read before the first epoch begins",
    "the team's usual choice, from the last good run",
    "may be left out for a quick look",
    "must be given for every run in production",
];
const IMAGES: &[&str] = &[
    "mcr.microsoft.com/azureml/openmpi3.1.2-cuda10.1-cudnn7-ubuntu18.04",
    "registry.example.com/team/training:2024.1",
    "mcr.microsoft.com/azureml/base:intelmpi2018.3-ubuntu16.04",
];
const MODULE: &str = "c3d0fbd2-8b78-4231-a665-3a0de1796264";
const CONDA: &str = "name: training\nchannels:\n  - conda-forge\ndependencies:\n  - python=3.8\n  - pip:\n      - numpy==1.21.0\n      - torch==1.10.0\n";
const SCRIPT: &str = "import sys\n\n\ndef run(batch):\n    return batch\n\n\nif __name__ == \"__main__\":\n    print(sys.argv)\n";

/// The spec number `index`.
pub(crate) fn component(index: usize) -> Component {
    let (kind, style) = TYPES[index % TYPES.len()];
    let mut writer = Writer {
        dice: Dice::new(index),
        style,
        out: String::with_capacity(4_000),
        words: Vec::new(),
    };
    writer.header(kind, index);
    writer.ports(kind);
    writer.section(kind);
    Component {
        kind,
        spec: writer.out,
        files: vec![
            ("src/main.py", SCRIPT),
            // The client looks for it beside the spec when it checks, and in the code when it submits.
            ("src/conda.yaml", CONDA),
            ("conda.yaml", CONDA),
            ("src/lib/model.py", "class Model:\n    pass\n"),
            (
                "src/lib/data.py",
                "def load(path):\n    return open(path)\n",
            ),
            (
                "src/job.script",
                "Rows = EXTRACT Line FROM @Events@;\nOUTPUT Rows TO @Report@;\n",
            ),
        ],
    }
}

struct Writer {
    dice: Dice,
    style: Style,
    out: String,
    /// The words of the command that stand for inputs and outputs.
    words: Vec<String>,
}

impl Writer {
    fn line(&mut self, text: impl AsRef<str>) {
        self.out.push_str(text.as_ref());
        self.out.push('\n');
    }

    fn header(&mut self, kind: &str, index: usize) {
        let is_new = self.style == Style::New;
        let schema = match kind {
            "command" => "https://azuremlschemas.azureedge.net/latest/commandComponent.schema.json",
            "parallel" => {
                "https://azuremlschemas.azureedge.net/latest/parallelComponent.schema.json"
            }
            "spark" => "https://azuremlschemas.azureedge.net/latest/sparkComponent.schema.json",
            "data_transfer" => {
                "https://azuremlschemas.azureedge.net/latest/dataTransferComponent.schema.json"
            }
            _ => "",
        };
        let remark = self.dice.pick(REMARKS);
        self.line(format!("# {remark}"));
        match schema {
            "" if self.style == Style::Old => {
                self.line(format!(
                    "$schema: https://componentsdk.azureedge.net/jsonschema/{kind}.json"
                ));
            }
            "" => {}
            schema => self.line(format!("$schema: {schema}")),
        }
        let name = if is_new {
            format!("train_{index:04}")
        } else {
            format!("company.team.train_{index:04}")
        };
        self.line(format!(
            "name: {name}\nversion: 0.{}.{}",
            index % 7,
            index % 10
        ));
        self.line(format!(
            "display_name: Training number {index}\ntype: {kind}"
        ));
        let remark = self.dice.pick(REMARKS);
        self.line(format!(
            "description: |\n  Trains a model and writes a *report*;\n  {remark}."
        ));
        self.line("tags:\n  category: training\n  contact: crew@example.com");
        let often = self.dice.often();
        self.line(format!("is_deterministic: {often}"));
    }

    fn placeholder(&self, scope: &str, name: &str) -> String {
        match self.style {
            Style::Old => format!("{{{scope}.{name}}}"),
            _ => format!("${{{{{scope}.{name}}}}}"),
        }
    }

    fn ports(&mut self, kind: &str) {
        let copies = matches!(kind, "DataTransferComponent" | "data_transfer");
        let pairs = matches!(kind, "ScopeComponent" | "scope");
        self.line("inputs:");
        let data = self.dice.between(1, DATA.len());
        for (place, name) in DATA.iter().take(if copies { 1 } else { data }).enumerate() {
            self.data_input(kind, place, name);
        }
        let parameters = if copies {
            0
        } else {
            self.dice.between(4, PARAMETERS.len())
        };
        for (place, name) in PARAMETERS.iter().take(parameters).enumerate() {
            self.parameter(place, name, pairs);
        }
        self.line("outputs:");
        let results = self.dice.between(1, RESULTS.len());
        for name in RESULTS.iter().take(if copies { 1 } else { results }) {
            self.output(kind, name);
        }
    }

    fn data_input(&mut self, kind: &str, place: usize, name: &str) {
        let written = match (self.style, place % 3) {
            (Style::New, 0) => "uri_folder",
            (Style::New, 1) => "uri_file",
            (Style::New, _) => "mltable",
            (_, 0) => "path",
            (_, 1) => "AnyDirectory",
            (_, _) => "[AnyFile, AnyDirectory]",
        };
        let pairs = matches!(kind, "ScopeComponent" | "scope");
        let optional = place > 0 && !pairs && self.dice.often();
        let remark = self.dice.pick(REMARKS);
        self.line(format!(
            "  {name}:\n    type: {written}\n    description: {remark}"
        ));
        if self.style == Style::Old && self.dice.often() {
            self.line("    is_resource: true");
        }
        self.used("inputs", name, optional, pairs);
    }

    fn parameter(&mut self, place: usize, name: &str, pairs: bool) {
        let is_new = self.style == Style::New;
        let remark = self.dice.pick(REMARKS);
        self.line(format!("  {name}:\n    description: {remark}"));
        let optional = !pairs && place % 5 != 4 && self.dice.up_to(3) == 0;
        let has_default = !optional && self.dice.often();
        let default = match place % 5 {
            0 => {
                self.line("    type: string");
                format!("'resnet{}'", self.dice.between(18, 152))
            }
            1 => {
                self.line("    type: integer\n    min: 1\n    max: 4096");
                self.dice.between(1, 512).to_string()
            }
            2 => {
                self.line(if is_new {
                    "    type: number"
                } else {
                    "    type: float"
                });
                self.line("    min: 0.0\n    max: 1.0");
                format!("0.{:03}", self.dice.between(1, 999))
            }
            3 => {
                self.line("    type: boolean");
                "false".to_owned()
            }
            _ if is_new => {
                self.line("    type: string");
                "adam".to_owned()
            }
            _ => {
                self.line("    type: enum\n    enum:\n      - adam\n      - sgd\n      - lamb");
                "adam".to_owned()
            }
        };
        if has_default {
            self.line(format!("    default: {default}"));
        }
        self.used("inputs", name, optional, pairs);
    }

    /// Notes how the command names an input or output.
    fn used(&mut self, scope: &str, name: &str, optional: bool, pairs: bool) {
        if optional {
            self.line("    optional: true");
        }
        let mut placeholder = self.placeholder(scope, name);
        if !pairs && self.dice.up_to(4) == 0 {
            placeholder = format!("\"{placeholder}\"");
        }
        self.words.push(match (optional, self.style) {
            (false, _) if pairs => format!("{name}={placeholder}"),
            (false, _) => format!("--{name} {placeholder}"),
            (true, Style::Old) => format!("[--{name} {placeholder}]"),
            (true, _) => format!("$[[--{name} {placeholder}]]"),
        });
    }

    fn output(&mut self, kind: &str, name: &str) {
        let written = match (self.style, kind) {
            (Style::New, _) => "uri_folder",
            (_, "HemeraComponent" | "hemera") => "AnyFile",
            _ if self.dice.often() => "AnyDirectory",
            _ => "path",
        };
        let remark = self.dice.pick(REMARKS);
        self.line(format!(
            "  {name}:\n    type: {written}\n    description: {remark}"
        ));
        let pairs = matches!(kind, "ScopeComponent" | "scope");
        self.used("outputs", name, false, pairs);
    }

    /// A text of the words so far, folded over lines, at a key.
    fn folded(&mut self, indent: &str, key: &str, start: &str) {
        let _ = writeln!(self.out, "{indent}{key}: >-");
        if !start.is_empty() {
            let _ = writeln!(self.out, "{indent}  {start}");
        }
        for word in std::mem::take(&mut self.words) {
            let _ = writeln!(self.out, "{indent}  {word}");
        }
    }

    fn environment(&mut self) {
        let image = self.dice.pick(IMAGES);
        match (self.style, self.dice.up_to(3)) {
            (Style::New, _) => self.line("environment: azureml:training:4"),
            (_, 0) => self.line("environment: azureml:AzureML-Minimal:1"),
            (_, 1) => self.line(format!(
                "environment:\n  docker:\n    image: {image}\n  conda:\n    conda_dependencies_file: conda.yaml\n  os: Linux"
            )),
            _ => self.line(format!(
                "environment:\n  docker:\n    image: {image}\n  conda:\n    conda_dependencies:\n      name: training\n      channels:\n        - conda-forge\n      dependencies:\n        - python=3.8\n        - pip:\n            - numpy==1.21.0\n            - torch==1.10.0\n  os: Linux"
            )),
        }
    }

    /// What only the type has.
    fn section(&mut self, kind: &str) {
        if self.style == Style::Old || kind == "command" || kind == "spark" {
            self.line("code: ./src");
        } else if kind != "data_transfer" && kind != "parallel" {
            self.line("code: src");
        }
        let tool = |section: &str, more: &str| format!("{section}:\n{more}  ref_id: {MODULE}");
        match kind {
            "CommandComponent" | "command" => {
                self.folded("", "command", "python main.py");
                self.environment();
                self.line("environment_variables:\n  LEVEL: '3'\n  NCCL_DEBUG: INFO");
            }
            "DistributedComponent" => {
                self.line("launcher:\n  type: mpi");
                self.folded("  ", "additional_arguments", "python main.py");
                self.environment();
            }
            "ParallelComponent" => {
                self.line("parallel:\n  input_data: inputs.training_data\n  output_data: outputs.trained_model\n  entry: main.py");
                self.words.retain(|word| {
                    !word.contains(".training_data") && !word.contains(".trained_model")
                });
                self.folded("  ", "args", "");
                self.environment();
            }
            "parallel" => {
                let input = self.placeholder("inputs", "training_data");
                let output = self.placeholder("outputs", "trained_model");
                self.line(format!("input_data: {input}\nmini_batch_size: '10'\nmini_batch_error_threshold: 5\nlogging_level: INFO\nmax_concurrency_per_instance: 2\nretry_settings:\n  max_retries: 3\n  timeout: 60\nresources:\n  instance_count: 2"));
                self.words.retain(|word| {
                    !word.contains(".training_data") && !word.contains(".trained_model")
                });
                self.line("task:\n  type: run_function\n  code: ./src\n  entry_script: main.py\n  environment: azureml:training:4");
                self.folded("  ", "program_arguments", "");
                self.line(format!("  append_row_to: {output}"));
            }
            "HemeraComponent" | "hemera" => {
                self.folded("", "command", "run.bat %CLUSTER%=mtprime-bn2-0");
                self.line(tool("hemera", ""));
            }
            "ScopeComponent" | "scope" => {
                self.line("scope:\n  script: job.script");
                self.folded("  ", "args", "");
                self.line("  adla_account_name: account\n  scope_param: -tokens 50\n  custom_job_name_suffix: nightly");
            }
            "HDInsightComponent" | "hdinsight" => {
                self.line("hdinsight:\n  file: main.py\n  files:\n    - lib/data.py\n  py_files:\n    - lib/model.py");
                self.folded("  ", "args", "");
                self.line("  driver_memory: 4g\n  driver_cores: 2\n  executor_memory: 512m\n  executor_cores: 2\n  number_executors: 10");
            }
            "spark" => {
                self.line("entry:\n  file: main.py\npy_files:\n  - lib/model.py\nconf:\n  spark.driver.cores: 1\n  spark.driver.memory: 2g\n  spark.executor.cores: 2\n  spark.executor.memory: 2g\n  spark.executor.instances: 4");
                self.folded("", "args", "");
            }
            "StarliteComponent" | "starlite" => {
                self.folded("", "command", "starlite -queue default");
                self.line(tool("starlite", ""));
            }
            "AE365ExePoolComponent" | "ae365exepool" => {
                self.folded("", "command", "cax.eyesonmodule.exe");
                self.line(tool("ae365exepool", ""));
            }
            "AetherBridgeComponent" | "aetherbridge" => {
                self.folded("", "command", "scrape.exe");
                self.line(tool("aether", "  module_type: ScrapingCloud\n"));
            }
            "DataTransferComponent" => self.line("datatransfer:\n  cloud_type: aether"),
            _ => self.line("task: copy_data\ndata_copy_mode: merge_with_overwrite"),
        }
    }
}
