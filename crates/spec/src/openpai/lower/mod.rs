//! Model → plan. Every template of the file is rendered here, so every problem in one is found
//! here, also in parts that no task will use.

mod actions;
mod parameters;
mod role;
mod steps;

use std::fmt::Display;

use indexmap::IndexMap;
use pinnace_core::origin::{Origin, Origins};
use pinnace_core::plan::{Moment, Placement, Plan, Retry};
use pinnace_core::text::{SecretName, Text};
use pinnace_core::words;

use super::catalog::Catalog;
use super::model::{Job, Kind, Prerequisite};
use super::named::Named;
use super::read;
use crate::diagnostic::{Diagnostic, Diagnostics, Severity, codes};
use crate::secrets::ClearSecrets;
use crate::source::Sources;
use crate::template::{self, Fault, Problem, Rendered, Scope, Scopes, Site, Template};
use crate::trace::Trace;
use crate::yaml::Node;

/// A plan with the origin of each of its leaves.
#[derive(Debug)]
pub struct Lowered {
    /// The plan.
    pub plan: Plan,
    /// Where it all comes from.
    pub origins: Origins,
}

/// So many bytes the texts of a plan may have in all. Tags take values, and roles take prerequisites, any number of
/// times, so a small file could ask for more than a machine has.
const MOST_TEXT: usize = 8 << 20;

/// Renders everything and reports what is wrong; makes the plan only if `building`. Notes what the texts name.
pub fn lower<'d>(
    job: &Job<'d>,
    catalog: &Catalog<'d>,
    sources: &Sources,
    compat: bool,
    building: bool,
    named: &mut Named,
    out: &mut Diagnostics,
) -> Option<Lowered> {
    let mut lowering = Lowering {
        job,
        catalog,
        sources,
        compat,
        building,
        out,
        trace: Trace::new(sources, building),
        named,
        used: vec![None; catalog.len()],
        room: MOST_TEXT,
        overfull: false,
        no_role: false,
        this_incomplete: false,
        clear: if building {
            ClearSecrets::of_document(job.root)
        } else {
            ClearSecrets::default()
        },
    };
    let mut roles = IndexMap::new();
    for role in &job.roles {
        if let Some(lowered) = lowering.role(role) {
            roles.insert(role.name.text.to_owned(), lowered);
        }
    }
    lowering.unused_texts();
    building.then(|| Lowered {
        plan: lowering.job(roles),
        origins: lowering.trace.finish(),
    })
}

/// What is at hand while a job is lowered.
#[allow(clippy::struct_excessive_bools)]
struct Lowering<'a, 'd> {
    job: &'a Job<'d>,
    catalog: &'a Catalog<'d>,
    sources: &'a Sources,
    compat: bool,
    building: bool,
    out: &'a mut Diagnostics,
    named: &'a mut Named,
    trace: Trace<'a>,
    /// The prerequisites that some role brings along.
    used: Vec<Option<Used<'d>>>,
    /// How many bytes of texts there may yet be.
    room: usize,
    /// There were more.
    overfull: bool,
    /// No role is known for the text at hand, so `$data` and the like cannot be judged.
    no_role: bool,
    /// The prerequisite at hand requires an item that could not be looked up, so what it inherits
    /// cannot be judged.
    this_incomplete: bool,
    clear: ClearSecrets<'d>,
}

/// How a role brought a prerequisite along.
#[derive(Clone, Copy)]
struct Used<'d> {
    /// What the role selects as data, script and output.
    selected: [Option<&'d str>; 3],
    /// How many bytes of texts it took.
    length: usize,
}

impl<'d> Lowering<'_, 'd> {
    fn job(&mut self, roles: IndexMap<String, pinnace_core::plan::Role>) -> Plan {
        let root = self.job.root;
        self.trace
            .value("name", read::value(root, "name"), "name", "");
        let mut labels = IndexMap::new();
        for key in ["version", "contributor", "description"] {
            self.label(&mut labels, key, read::value(root, key), key);
        }
        self.label(
            &mut labels,
            "submitFrom",
            self.job.extras.submit_from,
            "extras.submitFrom",
        );
        let retries = read::value(root, "jobRetryCount");
        self.trace.value(
            "retry.limit",
            retries,
            "jobRetryCount",
            "a job is not tried again unless it says so",
        );
        Plan {
            name: self
                .job
                .name
                .map(|name| name.text.to_owned())
                .unwrap_or_default(),
            labels,
            roles,
            secrets: self.secrets(),
            retry: Retry {
                limit: integer(retries).unwrap_or(0),
            },
            placement: self.placement(),
            notify: self.notify(),
            keep_on_failure_minutes: self.keep_on_failure(),
            ..Plan::default()
        }
    }

    fn label(
        &mut self,
        labels: &mut IndexMap<String, String>,
        key: &str,
        node: Option<&'d Node<'d>>,
        path: &str,
    ) {
        let Some((node, text)) = node.and_then(|node| node.as_text().map(|text| (node, text)))
        else {
            return;
        };
        labels.insert(key.to_owned(), self.clear.mask(text.trim()));
        self.trace.note(format_args!("labels.{key}"), |trace| {
            trace.written(node, path)
        });
    }

    fn secrets(&mut self) -> Vec<SecretName> {
        let mut names = Vec::new();
        for (name, node) in self.clear.iter() {
            self.trace
                .note(format_args!("secrets[{}]", names.len()), |trace| {
                    trace.written(node, format_args!("secrets.{name}"))
                });
            names.push(name.clone());
        }
        names
    }

    fn placement(&mut self) -> Placement {
        let extras = &self.job.extras;
        let defaults = read::value(self.job.root, "defaults");
        let cluster = defaults.and_then(|defaults| read::value(defaults, "virtualCluster"));
        self.trace.value(
            "placement.virtualCluster",
            cluster,
            "defaults.virtualCluster",
            "the virtual cluster `default`",
        );
        self.trace.value(
            "placement.gang",
            extras.gang,
            "extras.gangAllocation",
            "all tasks start together unless `gangAllocation` is false",
        );
        let hived = |key: &str| extras.hived.and_then(|hived| read::value(hived, key));
        let path = |key: &str| format!("extras.{}.{key}", extras.hived_key);
        let class = hived("jobPriorityClass");
        self.trace.value(
            "placement.priority",
            class,
            path("jobPriorityClass"),
            "the class `test`, which is 10",
        );
        let mut flag = |name: &str, key: &str| {
            self.trace.value(
                format_args!("placement.{name}"),
                hived(key),
                path(key),
                "left to the scheduler",
            );
            hived(key).and_then(Node::as_bool)
        };
        Placement {
            cluster: None,
            queue: None,
            gang_release: flag("gangRelease", "gangReleaseEnable"),
            lazy_preemption: flag("lazyPreemption", "lazyPreemptionEnable"),
            ignore_suggested_nodes: flag("ignoreSuggestedNodes", "ignoreK8sSuggestedNodes"),
            virtual_cluster: cluster
                .and_then(Node::as_text)
                .unwrap_or("default")
                .to_owned(),
            priority: priority(class.and_then(Node::as_text)),
            gang: extras.gang_allocation(),
        }
    }

    fn keep_on_failure(&mut self) -> Option<u32> {
        let node = self.job.extras.keep_on_failure?;
        let minutes = integer(Some(node)).filter(|minutes| *minutes > 0)?;
        self.trace.note("keepOnFailureMinutes", |trace| {
            trace.written(node, "extras.pinnace.keepOnFailureMinutes")
        });
        Some(minutes)
    }

    fn notify(&mut self) -> Vec<Moment> {
        let Some(wanted) = self.job.extras.notification else {
            return Vec::new();
        };
        let all = [
            ("running", Moment::Running),
            ("succeeded", Moment::Succeeded),
            ("failed", Moment::Failed),
            ("stopped", Moment::Stopped),
            ("retried", Moment::Retried),
        ];
        let mut moments = Vec::new();
        for (key, moment) in all {
            if let Some(node) = read::value(wanted, key).filter(|node| node.as_bool() == Some(true))
            {
                self.trace
                    .note(format_args!("notify[{}]", moments.len()), |trace| {
                        trace.written(
                            node,
                            format_args!("extras.jobStatusChangeNotification.{key}"),
                        )
                    });
                moments.push(moment);
            }
        }
        moments
    }

    /// Renders what no role uses, for its problems only: other deployments, prerequisites that are
    /// not listed.
    fn unused_texts(&mut self) {
        let active = self.job.default_deployment.map(|name| name.text);
        for deployment in &self.job.deployments {
            for part in &deployment.roles {
                let role = self.job.role(part.name.text);
                if deployment.name.map(|name| name.text) == active && role.is_some() {
                    continue;
                }
                let scopes = role.map_or_else(|| self.job_scopes(), |role| self.role_scopes(role));
                for list in [part.pre_commands, part.post_commands]
                    .into_iter()
                    .flatten()
                {
                    for node in read::items(Some(list)) {
                        self.render(node, &scopes, "");
                    }
                }
            }
        }
        for (id, prerequisite) in self.catalog.iter() {
            if prerequisite.kind == Some(Kind::DockerImage) {
                self.image(prerequisite, "");
            } else if self.used[id].is_none() {
                let scopes = self.job_scopes();
                self.no_role = true;
                self.prerequisite_steps(id, &scopes);
                self.no_role = false;
            }
        }
    }

    /// What every template of the job can name.
    fn job_scopes<'t>(&self) -> Scopes<'t, 'd>
    where
        'd: 't,
    {
        Scopes {
            parameters: self.job.parameters,
            secrets: self.job.secrets,
            compat: self.compat,
            ..Scopes::default()
        }
    }

    /// A path in the document or the plan; empty if nobody asks for origins.
    fn path(&self, path: std::fmt::Arguments<'_>) -> String {
        if self.building {
            path.to_string()
        } else {
            String::new()
        }
    }

    /// The path of a prerequisite; empty if nobody asks for origins.
    fn path_of(&self, prerequisite: &Prerequisite<'_>) -> String {
        if self.building {
            prerequisite.path()
        } else {
            String::new()
        }
    }

    fn cannot_know(&self, fault: &Fault) -> bool {
        match fault {
            Fault::NoScope(_) => self.no_role,
            Fault::Missing { within, .. } => self.this_incomplete && within == Scope::This.name(),
            _ => false,
        }
    }

    /// Renders the text of a node and reports what is wrong with it; only the latter without a plan.
    fn render(
        &mut self,
        node: &'d Node<'d>,
        scopes: &Scopes<'_, 'd>,
        doc_path: impl Display,
    ) -> (Text, Option<Origin>) {
        let nothing = (Text::default(), None);
        if !self.building {
            self.judge(node, scopes);
            return nothing;
        }
        let text = written(node);
        if self.overfull {
            return nothing;
        }
        if !template::has_tag(text) {
            if !self.spend(text.len(), node) {
                return nothing;
            }
            let text = self.clear.hide(&Text::from(text.trim()));
            return (text, Some(self.trace.written(node, doc_path)));
        }
        let template = template::parse(text.trim());
        let rendered = self.render_template(node, &template, scopes);
        self.named.add_tags(&template, scopes);
        let mut origin = self.trace.written(node, doc_path);
        origin
            .via
            .extend(rendered.uses.iter().map(|taken| self.trace.used(taken)));
        (self.clear.hide(&rendered.text), Some(origin))
    }

    /// Reports what is wrong with the text of a node that nobody wants to have.
    fn judge(&mut self, node: &'d Node<'d>, scopes: &Scopes<'_, 'd>) {
        let text = written(node);
        if self.overfull {
            return;
        }
        if !template::has_tag(text) {
            self.spend(text.len(), node);
            return;
        }
        if self.out.is_full() {
            return;
        }
        let text = text.trim();
        let name = |scope, place| self.named.add(scope, place);
        match template::plain_length(text, scopes, self.room, name) {
            Some(length) => {
                self.spend(length, node);
            }
            None => {
                self.render_template(node, &template::parse(text), scopes);
            }
        }
    }

    /// The same for all texts of a list.
    fn judge_all(&mut self, list: Option<&'d Node<'d>>, scopes: &Scopes<'_, 'd>) {
        for node in read::items(list) {
            self.judge(node, scopes);
        }
    }

    fn render_template(
        &mut self,
        node: &Node<'_>,
        template: &Template<'_>,
        scopes: &Scopes<'_, 'd>,
    ) -> Rendered<'d> {
        let rendered = template::render(template, scopes, self.room);
        self.report(node, template, &rendered.problems);
        self.spend(rendered.length, node);
        rendered
    }

    /// Takes the length of a text from the room that is left; says so once if there is none.
    fn spend(&mut self, length: usize, node: &Node<'_>) -> bool {
        if let Some(left) = self.room.checked_sub(length) {
            self.room = left;
        } else if !self.overfull {
            self.overfull = true;
            self.out.push(too_much_text(node));
        }
        !self.overfull
    }

    fn report(&mut self, node: &Node<'_>, template: &Template<'_>, problems: &[Problem]) {
        if problems.is_empty() {
            return;
        }
        let site = Site::new(self.sources, node.span);
        for problem in problems {
            if self.cannot_know(&problem.fault) {
                continue;
            }
            let mut diagnostic = template::diagnose(template, problem, &site);
            if problem.kept {
                diagnostic.severity = Severity::Warning;
            }
            self.out.push(diagnostic);
        }
    }
}

/// The text of a scalar as it stands in the file.
fn written<'d>(node: &'d Node<'_>) -> &'d str {
    node.as_scalar().map_or("", |scalar| &*scalar.text)
}

fn too_much_text(node: &Node<'_>) -> Diagnostic {
    let most = words::bytes(MOST_TEXT as u64);
    let message = format!("the texts of the job are longer than {most} in all");
    Diagnostic::new(&codes::TOO_MUCH_TEXT, node.span, message)
        .label("with this one, its tags replaced by their values")
        .help("give a task long values as a file that its command reads, not as a parameter")
}

/// HiveD's numbers for its priority classes.
fn priority(class: Option<&str>) -> i32 {
    match class {
        Some("crit") => 120,
        Some("prod") => 100,
        Some("oppo") => -1,
        _ => 10,
    }
}

fn integer<T: TryFrom<i128>>(node: Option<&Node<'_>>) -> Option<T> {
    node.and_then(Node::as_integer)
        .and_then(|number| T::try_from(number).ok())
}
