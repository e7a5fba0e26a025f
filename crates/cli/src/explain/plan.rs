//! The plan as a page for people.

use pinnace_core::plan::Plan;
use pinnace_core::text::{Piece, Text};
use pinnace_core::words;
use pinnace_spec::job::Job;

use super::origin::Speaker;
use super::page::{Line, Look, Page};
use super::secrets;

/// Where values start, counted from the indent of their labels.
const COLUMN: usize = 14;

/// What the page shows beside the plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// How wide the page is.
    pub(crate) width: usize,
    /// Whether to use colour.
    pub(crate) color: bool,
    /// Whether to show also what every task has.
    pub(crate) all: bool,
}

/// The whole page.
pub(crate) fn page(file: &str, job: &Job, options: Options) -> String {
    let mut view = View {
        page: Page::new(options.width, options.color),
        speaker: Speaker::new(file),
        job,
        all: options.all,
    };
    view.title(file);
    view.outcome();
    for (name, role) in &job.plan.roles {
        view.role(name, role);
    }
    view.command_line();
    view.placement();
    view.secrets();
    view.fidelity();
    view.page.finish()
}

/// A text with its secrets named and hidden.
pub(super) fn line_of(text: &Text) -> Line {
    let mut line = Line::default();
    for piece in text.pieces() {
        line = match piece {
            Piece::Literal(literal) => line.with(Look::Plain, literal),
            Piece::Secret { secret } => line.with(Look::Secret, secrets::hidden(secret)),
            Piece::Path { path } => line.with(Look::Plain, path),
        };
    }
    line
}

/// The page under way and what it is about.
pub(super) struct View<'a> {
    pub(super) page: Page,
    speaker: Speaker<'a>,
    job: &'a Job,
    pub(super) all: bool,
}

impl<'a> View<'a> {
    pub(super) fn plan(&self) -> &'a Plan {
        &self.job.plan
    }

    pub(super) fn job(&self) -> &'a Job {
        self.job
    }

    pub(super) fn origin(&self, path: &str) -> String {
        self.speaker.origin_at(&self.job.origins, path)
    }

    pub(super) fn heading(&mut self, text: &str) {
        self.page.blank();
        let line = Line::default().with(Look::Heading, text);
        self.page.row(0, &line, "");
    }

    /// A value with its label and its origin.
    pub(super) fn value(&mut self, label: &str, value: &Line, path: &str) {
        let origin = self.origin(path);
        self.page.labelled(2, label, COLUMN, value, &origin);
    }

    fn title(&mut self, file: &str) {
        let digest = self.plan().digest();
        let digest = digest.get(..19).unwrap_or(&digest);
        let dialect = self.job.dialect.title();
        let name = Line::default().with(Look::Title, &self.plan().name);
        self.page.row(0, &name, "");
        let line = Line::default().with(Look::Dim, format!("{dialect} · {file} · plan {digest}"));
        self.page.row(0, &line, "");
        if let Some(module) = self.plan().module.clone() {
            let line = match &module.digest {
                Some(digest) => Line::plain(&module.id).with(
                    Look::Dim,
                    format!("  {}", digest.get(..19).unwrap_or(digest)),
                ),
                None => Line::plain(&module.id).with(Look::Dim, "  not registered here"),
            };
            self.value("module", &line, "module.id");
        }
        let labels = self.plan().labels.clone();
        for (key, value) in &labels {
            self.value(key, &Line::plain(value), &format!("labels.{key}"));
        }
    }

    fn outcome(&mut self) {
        self.heading("Outcome");
        let mut sentences = words::fate(&self.plan().roles);
        if let Some(first) = sentences.first_mut() {
            first.replace_range(..1, &first[..1].to_uppercase());
        }
        let fate = Line::plain(format!("{}.", sentences.join("; ")));
        self.page.row(2, &fate, "");
        let retries = words::retry(self.plan().retry);
        self.value("tried again", &Line::plain(retries), "retry.limit");
        if let Some(seconds) = self.plan().time_limit_seconds {
            let line = Line::plain(format!("after {}", words::seconds(seconds)));
            self.value("stopped", &line, "timeLimitSeconds");
        }
        if let Some(minutes) = self.plan().keep_on_failure_minutes {
            let span = words::seconds(u64::from(minutes) * 60);
            let line = Line::plain(format!("{span} after a failure, for a look into it"));
            self.value("kept", &line, "keepOnFailureMinutes");
        }
        for (index, metric) in self.plan().metrics.iter().enumerate() {
            let label = if index == 0 { "metrics" } else { "" };
            let line = Line::plain(format!("{} from lines like ", metric.name))
                .with(Look::Dim, &metric.pattern);
            self.value(label, &line, &format!("metrics[{index}].pattern"));
        }
        if !self.plan().notify.is_empty() {
            let moments: Vec<String> = self
                .plan()
                .notify
                .iter()
                .map(|moment| format!("{moment:?}").to_lowercase())
                .collect();
            let line = Line::plain(format!("when {}", words::listed(&moments, "or")));
            self.value("told", &line, "notify[0]");
        }
    }

    fn placement(&mut self) {
        self.heading("Placement");
        let placement = self.plan().placement.clone();
        match placement.cluster {
            Some(cluster) => self.value("cluster", &Line::plain(cluster), "placement.cluster"),
            None => {
                let cluster = Line::plain(placement.virtual_cluster);
                self.value("cluster", &cluster, "placement.virtualCluster");
            }
        }
        if let Some(queue) = placement.queue {
            self.value("queue", &Line::plain(queue), "placement.queue");
        }
        let priority = match placement.priority {
            -1 => "-1, opportunistic".to_owned(),
            priority => priority.to_string(),
        };
        self.value("priority", &Line::plain(priority), "placement.priority");
        let start = if placement.gang {
            "all tasks start together"
        } else {
            "tasks start as they can"
        };
        self.value("start", &Line::plain(start), "placement.gang");
        let flags = [
            (
                "gangRelease",
                placement.gang_release,
                "resources are freed together",
                "resources are freed task by task",
            ),
            (
                "lazyPreemption",
                placement.lazy_preemption,
                "preempted tasks may stay until needed",
                "preempted tasks go at once",
            ),
            (
                "ignoreSuggestedNodes",
                placement.ignore_suggested_nodes,
                "the cluster's suggested nodes are ignored",
                "the cluster's suggested nodes are used",
            ),
        ];
        for (key, flag, yes, no) in flags {
            if let Some(flag) = flag {
                let words = if flag { yes } else { no };
                self.value("", &Line::plain(words), &format!("placement.{key}"));
            }
        }
    }

    fn secrets(&mut self) {
        let names = self.plan().secrets.clone();
        if names.is_empty() {
            return;
        }
        self.heading("Secrets");
        let column = names
            .iter()
            .map(|name| name.0.chars().count() + 2)
            .max()
            .unwrap_or(0)
            .clamp(COLUMN, 40);
        for (index, name) in names.iter().enumerate() {
            let users = secrets::users(self.plan(), name);
            let users = if users.is_empty() {
                "nothing uses it".to_owned()
            } else {
                format!("for {}", words::listed(&users, "and"))
            };
            let line = Line::default()
                .with(Look::Secret, "••••")
                .with(Look::Plain, format!("  {users}"));
            let origin = self.origin(&format!("secrets[{index}]"));
            self.page.labelled(2, &name.0, column, &line, &origin);
        }
    }

    fn fidelity(&mut self) {
        super::fidelity::show(&mut self.page, &self.job.fidelity, self.speaker);
    }
}

/// A text on one line, secrets named and hidden.
pub(super) fn plain(text: &Text) -> String {
    text.render(secrets::hidden)
}
