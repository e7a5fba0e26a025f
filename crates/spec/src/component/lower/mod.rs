//! Model and values → plan. Inputs are bound to the values of flags and defaults, the command line is
//! made of them, and the role is laid out as Azure ML lays it out.

mod bind;
mod command;
mod environment;
mod hemera;
mod line;
mod packages;
mod parallel;
mod ranks;
mod role;
mod settings;

pub use parallel::DRIVER;

use indexmap::IndexMap;
use pinnace_core::origin::{Origin, Origins};
use pinnace_core::plan::{Placement, Plan, Retry};
use pinnace_core::text::SecretName;

use super::check::Templates;
use super::command::CommandLine;
use super::model::{Component, Kind};
use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::job::Request;
use crate::library::Library;
use crate::source::{Sources, Span};
use crate::trace::Trace;
use crate::yaml::Node;
use crate::yaml::access::value;
use bind::Values;
use settings::RunSettings;

/// Where a task finds its inputs.
const INPUTS: &str = "/mnt/input";

/// Where a task leaves its outputs.
const OUTPUTS: &str = "/mnt/outputs/default";

/// Where a task finds its code, and where it starts.
const CODE: &str = "/mnt/scripts";

/// The name of the one role.
const ROLE: &str = "main";

/// A plan with the origin of each of its leaves.
#[derive(Debug)]
pub struct Lowered {
    /// The plan.
    pub plan: Plan,
    /// Where it all comes from.
    pub origins: Origins,
    /// Its command line.
    pub command_line: Option<CommandLine>,
    /// The values of its secrets.
    pub secrets: Vec<(SecretName, String)>,
}

/// Binds inputs and outputs and reports what is wrong with the flags; makes the plan if `building`.
pub fn lower<'d>(
    component: &Component<'d>,
    templates: &Templates<'d>,
    sources: &'d Sources,
    request: &Request<'_>,
    library: &dyn Library,
    building: bool,
    out: &mut Diagnostics,
) -> Option<Lowered> {
    let values = Values::bind(component, sources, request, building, out);
    if !building {
        return None;
    }
    if request.run {
        cannot_run(component, out);
    }
    let mut lowering = Lowering {
        component,
        templates,
        settings: RunSettings::of(component.root),
        values,
        request,
        library,
        sources,
        trace: Trace::new(sources, true),
        secrets: Vec::new(),
    };
    let plan = lowering.plan();
    let command_line = lowering.command_line();
    Some(Lowered {
        plan,
        command_line,
        secrets: lowering.secrets,
        origins: lowering.trace.finish(),
    })
}

/// Says which engine is wanted, if it is none of this machine.
fn cannot_run(component: &Component<'_>, out: &mut Diagnostics) {
    let Some(engine) = component.kind.engine() else {
        return;
    };
    let span = component
        .type_name
        .map_or_else(|| first_key(component.root), |name| name.span);
    out.push(
        Diagnostic::new(
            &codes::NO_ENGINE,
            span,
            format!("this component needs {engine}, which this machine has not"),
        )
        .help("`pinnace explain` shows what would run"),
    );
}

fn first_key(root: &Node<'_>) -> Span {
    super::first_key(root)
}

/// What is at hand while a component is lowered.
struct Lowering<'a, 'd> {
    component: &'a Component<'d>,
    templates: &'a Templates<'d>,
    settings: RunSettings<'d>,
    values: Values<'d>,
    request: &'a Request<'a>,
    library: &'a dyn Library,
    sources: &'d Sources,
    trace: Trace<'a>,
    secrets: Vec<(SecretName, String)>,
}

impl Lowering<'_, '_> {
    fn plan(&mut self) -> Plan {
        let root = self.component.root;
        self.trace.value("name", value(root, "name"), "name", "");
        let labels = self.labels();
        let role = self.role();
        let mut roles = IndexMap::new();
        roles.insert(ROLE.to_owned(), role);
        let time_limit = self.time_limit();
        self.rule("retry.limit", "a component is not tried again");
        Plan {
            name: self
                .component
                .name
                .map_or_else(|| "component".to_owned(), |name| name.text.to_owned()),
            labels,
            roles,
            secrets: self.secrets.iter().map(|(name, _)| name.clone()).collect(),
            retry: Retry { limit: 0 },
            placement: self.placement(),
            notify: Vec::new(),
            time_limit_seconds: time_limit,
            module: self.module(),
            ..Plan::default()
        }
    }

    fn labels(&mut self) -> IndexMap<String, String> {
        let root = self.component.root;
        let mut labels = IndexMap::new();
        for (label, key) in [
            ("version", "version"),
            ("displayName", "display_name"),
            ("type", "type"),
            ("description", "description"),
        ] {
            let Some(node) = value(root, key) else {
                continue;
            };
            let Some(text) = node.as_text() else {
                continue;
            };
            labels.insert(label.to_owned(), text.trim().to_owned());
            self.trace.note(format_args!("labels.{label}"), |trace| {
                trace.written(node, key)
            });
        }
        if let Some(node) = value(root, "environment")
            && let Some(name) = node.as_text()
        {
            labels.insert("environment".to_owned(), name.to_owned());
            self.trace.note("labels.environment", |trace| {
                trace.written(node, "environment")
            });
        }
        if let Some(engine) = self.component.kind.engine() {
            labels.insert("engine".to_owned(), engine.to_owned());
            let node = value(root, "type");
            self.trace
                .value("labels.engine", node, "type", "the type of the component");
        }
        if let Some(id) = self.snapshot_id() {
            labels.insert("snapshot".to_owned(), id);
            self.rule(
                "labels.snapshot",
                "made of the names and bytes of the code's files",
            );
        }
        labels
    }

    fn placement(&mut self) -> Placement {
        let rules = [
            ("virtualCluster", "components know no virtual clusters"),
            ("priority", "the class `test`, which is 10"),
            ("gang", "all ranks start together"),
            ("gangRelease", "left to the scheduler"),
            ("lazyPreemption", "left to the scheduler"),
            ("ignoreSuggestedNodes", "left to the scheduler"),
        ];
        for (leaf, words) in rules {
            self.rule(format!("placement.{leaf}"), words);
        }
        let (cluster, queue) = self.cluster_and_queue();
        Placement {
            cluster,
            queue,
            virtual_cluster: "default".to_owned(),
            priority: 10,
            gang: true,
            gang_release: None,
            lazy_preemption: None,
            ignore_suggested_nodes: None,
        }
    }

    /// Notes that a rule gave a value.
    fn rule(&mut self, path: impl std::fmt::Display, words: &str) {
        self.trace.note(path, |_| Origin::default_rule(words));
    }

    /// Notes the place of a value in the role.
    fn role_path(leaf: impl std::fmt::Display) -> String {
        format!("roles.{ROLE}.{leaf}")
    }

    fn runs_here(&self) -> bool {
        self.component.kind.engine().is_none()
    }

    fn is(&self, kind: Kind) -> bool {
        self.component.kind == kind
    }
}
