//! Model → plan: the `/ml` contract of PAI spelled out, so that every engine can keep it.

mod data;
mod place;
mod variables;

use std::fmt::Display;

use indexmap::IndexMap;
use pinnace_core::origin::{Cause, Origin, Origins};
use pinnace_core::plan::{
    Action, Completion, Event, Image, MetricRule, OnFailure, Placement, Plan, PythonEnvironment,
    Resources, Retry, Role, RolePlacement, Step,
};
use pinnace_core::script;
use pinnace_core::text::Text;
use regex::Regex;

use super::model::Processor;
use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::job::Request;
use crate::library::Library;
use crate::setting::Binding;
use crate::source::Sources;
use crate::trace::Trace;
use crate::yaml::Node;
use crate::yaml::access::{integer, items, value};

/// The one role of a processor.
pub const ROLE: &str = "worker";

/// Where the code lies in a task, and where the command starts.
pub const CODE: &str = "/ml/usercode";
/// Where the files about a task's parameters lie.
pub const CONFIG: &str = "/ml/input/config";
/// Below it each input has a folder of its name.
pub const INPUTS: &str = "/ml/input/data";
/// Below it each output has a folder of its name.
pub const OUTPUTS: &str = "/ml/output";

/// As large as OpenPAI's, so that a framework that shares memory between processes works.
const SHM_MB: u64 = 512;

/// A regular expression may take so much memory when it is made ready.
const LARGEST_REGEX: usize = 1 << 20;

/// `--input`, `--output` and `--register`.
#[derive(Debug)]
pub struct Flags<'s> {
    /// `--input`
    pub inputs: Vec<Binding<'s>>,
    /// `--output`
    pub outputs: Vec<Binding<'s>>,
    /// `--register`
    pub registers: Vec<Binding<'s>>,
}

/// Looks at all that a plan is made of and reports what is wrong with it; makes the plan if it is
/// wanted.
pub fn lower(
    processor: &Processor<'_>,
    flags: &Flags<'_>,
    sources: &Sources,
    request: &Request<'_>,
    library: &dyn Library,
    out: &mut Diagnostics,
) -> Option<(Plan, Origins)> {
    let mut lowering = Lowering {
        processor,
        flags,
        request,
        library,
        out,
        trace: Trace::new(sources, request.plan || request.strict),
    };
    let plan = lowering.plan();
    let origins = lowering.trace.finish();
    (request.plan || request.strict).then_some((plan, origins))
}

struct Lowering<'a, 'd> {
    processor: &'a Processor<'d>,
    flags: &'a Flags<'a>,
    request: &'a Request<'a>,
    library: &'a dyn Library,
    out: &'a mut Diagnostics,
    trace: Trace<'a>,
}

impl<'d> Lowering<'_, 'd> {
    fn field(&self, key: &str) -> Option<&'d Node<'d>> {
        value(self.processor.root, key).filter(|node| !node.is_null())
    }

    fn text(&self, key: &str) -> Option<&'d str> {
        self.field(key).and_then(Node::as_text)
    }

    /// Notes that the leaf at a path of the plan is the field of a key, or the default of it.
    fn by_field(&mut self, path: impl Display, key: &str, rule: &str) {
        let node = self.field(key);
        self.trace.value(path, node, key, rule);
    }

    /// Notes that the contract gives the value, from a part of the file if there is one.
    fn by_contract(&mut self, path: impl Display, how: &str, via: Option<Origin>) {
        self.trace.note(path, |_| Origin {
            cause: Cause::Made {
                how: how.to_owned(),
            },
            place: None,
            via: via.into_iter().collect(),
        });
    }

    fn plan(&mut self) -> Plan {
        self.by_field("name", "base_job_name", "the name `processor`");
        let labels = self.labels();
        let metrics = self.metrics();
        self.by_field("timeLimitSeconds", "max_run_time", "no limit");
        let role = self.role();
        for (path, rule) in [
            ("retry.limit", "a processor is not tried again"),
            ("placement.virtualCluster", "the virtual cluster `default`"),
            ("placement.priority", "the class `test`, which is 10"),
            ("placement.gang", "all instances start together"),
            ("placement.gangRelease", "left to the scheduler"),
            ("placement.lazyPreemption", "left to the scheduler"),
            ("placement.ignoreSuggestedNodes", "left to the scheduler"),
        ] {
            self.trace.value(path, None, "", rule);
        }
        Plan {
            name: self.text("base_job_name").unwrap_or("processor").to_owned(),
            labels,
            roles: IndexMap::from([(ROLE.to_owned(), role)]),
            retry: Retry { limit: 0 },
            placement: Placement {
                virtual_cluster: "default".to_owned(),
                priority: 10,
                gang: true,
                ..Placement::default()
            },
            time_limit_seconds: self
                .field("max_run_time")
                .and_then(integer)
                .and_then(|seconds| u64::try_from(seconds).ok()),
            metrics,
            ..Plan::default()
        }
    }

    fn labels(&mut self) -> IndexMap<String, String> {
        let mut labels = IndexMap::new();
        for entry in crate::yaml::access::entries(self.field("labels")) {
            let name = &*entry.key.text;
            if let Some(text) = entry.value.as_text() {
                labels.insert(name.to_owned(), text.to_owned());
                self.trace.value(
                    format_args!("labels.{name}"),
                    Some(&entry.value),
                    format_args!("labels.{name}"),
                    "",
                );
            }
        }
        labels
    }

    fn metrics(&mut self) -> Vec<MetricRule> {
        let mut rules: Vec<MetricRule> = Vec::new();
        for (index, metric) in self.processor.metrics.iter().enumerate() {
            let pattern = metric.regex.as_text().unwrap_or_default();
            let compiled = regex::RegexBuilder::new(pattern)
                .size_limit(LARGEST_REGEX)
                .build();
            if let Some(message) = pattern_problem(&compiled) {
                self.out.push(
                    Diagnostic::new(&codes::BAD_METRIC, metric.regex.span, message)
                        .help("put the number into a group, such as `loss=([0-9.]+)`"),
                );
                continue;
            }
            let at = rules.len();
            for (key, node) in [("name", metric.name), ("pattern", metric.regex)] {
                let written = if key == "pattern" { "regex" } else { key };
                self.trace.value(
                    format_args!("metrics[{at}].{key}"),
                    Some(node),
                    format_args!("metric_definitions[{index}].{written}"),
                    "",
                );
            }
            rules.push(MetricRule {
                name: metric.name.as_text().unwrap_or_default().to_owned(),
                pattern: pattern.to_owned(),
            });
        }
        rules
    }

    fn role(&mut self) -> Role {
        let inputs = self.inputs();
        let outputs = self.outputs();
        let code = self.code();
        let env = self.variables(&inputs, &outputs);
        let files = self.files();
        let command = self.command();
        let before = self.before();
        let python = self.python(code.as_ref());
        let image = self.text("image_uri").map(|uri| Image {
            uri: Text::from(uri),
            auth: None,
        });
        let at = |path: &str| format!("roles.{ROLE}.{path}");
        self.by_field(at("image.uri"), "image_uri", "");
        self.by_field(at("instances"), "instance_count", "one instance");
        self.by_field(
            at("placement.sku"),
            "instance_type",
            "the machine of the engine",
        );
        for (path, rule) in [
            ("image.auth", "the image asks for no login"),
            ("resources.cpu", "all of its machine"),
            ("resources.memoryMB", "all of its machine"),
            ("resources.gpu", "a processor names no number of cards"),
            ("resources.shmMB", "512 MB"),
            ("resources.infiniband", "no InfiniBand"),
            ("ports.http", "every instance has one `http` port"),
            (
                "completion.minFailed",
                "the job fails with the first instance that fails",
            ),
            (
                "completion.minSucceeded",
                "the job succeeds when all instances have succeeded",
            ),
            ("retry.limit", "an instance is not tried again"),
            ("placement.pinnedCell", "left to the scheduler"),
            ("placement.affinityGroup", "left to the scheduler"),
            ("workdir", "the command starts in the folder of the code"),
        ] {
            self.trace.value(at(path), None, "", rule);
        }
        let instances = self.processor.instances;
        Role {
            instances,
            image,
            resources: Resources {
                shm_mb: SHM_MB,
                ..Resources::default()
            },
            ports: IndexMap::from([("http".to_owned(), 1)]),
            env,
            before,
            command,
            completion: Completion {
                min_failed: Some(1),
                min_succeeded: Some(instances),
            },
            placement: RolePlacement {
                sku: self.text("instance_type").map(str::to_owned),
                ..RolePlacement::default()
            },
            code,
            files,
            inputs,
            outputs,
            python,
            workdir: Some(CODE.to_owned()),
            ..Role::default()
        }
    }

    /// A text runs in a shell of its own, so that it means what it means in PAI, whatever the shell of
    /// the task does on errors. A list is words, none of which a shell may touch.
    fn command(&mut self) -> Vec<Text> {
        let Some(node) = self.field("command") else {
            return Vec::new();
        };
        self.trace.value(
            format_args!("roles.{ROLE}.command[0]"),
            Some(node),
            "command",
            "",
        );
        let line = match node.as_text() {
            Some(text) => format!("sh -c {}", script::word(text.trim())),
            None => items(Some(node))
                .iter()
                .filter_map(Node::as_text)
                .map(script::word)
                .collect::<Vec<_>>()
                .join(" "),
        };
        vec![Text::from(line)]
    }

    /// What a framework needs to know of the other instances, beside the variables of every task.
    fn before(&mut self) -> Vec<Step> {
        let job_type = self.text("job_type");
        let (name, line) = match job_type {
            Some("TFJob") => ("tf-config", TF_CONFIG),
            Some("MPIJob") => ("mpi-ranks", MPI_RANKS),
            _ => return Vec::new(),
        };
        for part in ["name", "on", "action.do", "action.commands[0]", "onFailure"] {
            let via = self
                .field("job_type")
                .map(|node| self.trace.written(node, "job_type"));
            self.by_contract(
                format_args!("roles.{ROLE}.before[0].{part}"),
                "what a framework of this type reads",
                via,
            );
        }
        vec![Step {
            name: name.to_owned(),
            on: Event::Start,
            action: Action::Shell {
                commands: vec![Text::from(line)],
            },
            on_failure: OnFailure::Fail,
        }]
    }

    fn python(&mut self, code: Option<&pinnace_core::plan::Code>) -> Option<PythonEnvironment> {
        let file = code
            .filter(|code| self.has_requirements(code))
            .map(|_| "requirements.txt".to_owned());
        let requirements: Vec<Text> = self
            .processor
            .requirements
            .iter()
            .filter_map(|node| node.as_text())
            .map(|text| Text::from(text.trim()))
            .collect();
        if file.is_none() && requirements.is_empty() {
            return None;
        }
        for (index, node) in self.processor.requirements.iter().enumerate() {
            self.trace.value(
                format_args!("roles.{ROLE}.python.requirements[{index}]"),
                Some(node),
                format_args!("requirements[{index}]"),
                "",
            );
        }
        if file.is_some() {
            self.by_field(format_args!("roles.{ROLE}.python.file"), "source_dir", "");
        }
        Some(PythonEnvironment { requirements, file })
    }
}

/// All instances are workers: a processor names a number and no roles.
const TF_CONFIG: &str = r#"export TF_CONFIG="{\"cluster\": {\"worker\": [\"$(printf %s "$PAI_TASK_ROLE_worker_HOST_LIST" | sed 's/,/", "/g')\"]}, \"task\": {\"type\": \"worker\", \"index\": $PAI_TASK_INDEX}}""#;

/// Under the names that Open MPI's own launcher uses.
const MPI_RANKS: &str = r#"export OMPI_COMM_WORLD_SIZE="$WORLD_SIZE" OMPI_COMM_WORLD_RANK="$RANK" OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=1"#;

fn pattern_problem(compiled: &Result<Regex, regex::Error>) -> Option<String> {
    match compiled {
        Ok(regex) if regex.captures_len() > 1 => None,
        Ok(_) => Some("the expression has no group, so no number can be taken from it".to_owned()),
        Err(regex::Error::CompiledTooBig(_)) => Some("the expression is too large".to_owned()),
        Err(error) => {
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default();
            let reason = last.trim_start_matches("error: ");
            Some(format!("the expression cannot be read: {reason}"))
        }
    }
}
