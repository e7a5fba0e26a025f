//! The plan as a page for people.

use pinnace_core::plan::{Action, Event, OnFailure, Plan, Role, Step};
use pinnace_core::text::{Piece, Text};
use pinnace_core::words;
use pinnace_spec::job::Job;

use super::origin::short_at;
use super::page::{Line, Look, Page};
use super::secrets;

/// Where values start, counted from the indent of their labels.
const COLUMN: usize = 12;

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
        job,
        all: options.all,
    };
    view.title(file);
    view.outcome();
    for (name, role) in &job.plan.roles {
        view.role(name, role);
    }
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
        };
    }
    line
}

struct View<'a> {
    page: Page,
    job: &'a Job,
    all: bool,
}

impl View<'_> {
    fn plan(&self) -> &Plan {
        &self.job.plan
    }

    fn origin(&self, path: &str) -> String {
        short_at(&self.job.origins, path)
    }

    fn heading(&mut self, text: &str) {
        self.page.blank();
        let line = Line::default().with(Look::Heading, text);
        self.page.row(0, &line, "");
    }

    fn value(&mut self, label: &str, value: &Line, path: &str) {
        let origin = self.origin(path);
        self.page.labelled(2, label, COLUMN, value, &origin);
    }

    fn title(&mut self, file: &str) {
        let digest = self.plan().digest();
        let line = Line::default().with(Look::Title, &self.plan().name).with(
            Look::Dim,
            format!(" · {} · {file}", self.job.dialect.title()),
        );
        self.page.row(0, &line, digest.get(..19).unwrap_or(&digest));
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

    fn role(&mut self, name: &str, role: &Role) {
        let path = format!("roles.{name}");
        self.page.blank();
        let line = Line::default()
            .with(Look::Heading, format!("Role {name}"))
            .with(
                Look::Plain,
                format!(", {}", words::count(role.instances as usize, "task")),
            );
        let origin = self.origin(&format!("{path}.instances"));
        self.page.row(0, &line, &origin);
        self.image(role, &path);
        self.needs(role, &path);
        for (label, count) in &role.ports {
            let first = role
                .ports
                .get_index(0)
                .is_some_and(|(first, _)| first == label);
            let line = Line::plain(format!("{count} × {label}"));
            self.value(
                if first { "ports" } else { "" },
                &line,
                &format!("{path}.ports.{label}"),
            );
        }
        for (index, mount) in role.mounts.iter().enumerate() {
            let line = Line::plain(format!(
                "{} at {}",
                plain(&mount.storage),
                plain(&mount.target)
            ));
            let label = if index == 0 { "mounts" } else { "" };
            self.value(label, &line, &format!("{path}.mounts[{index}].target"));
        }
        self.ends(role, &path);
        self.role_placement(role, &path);
        self.environment(role, &path);
        self.steps(role, &path);
    }

    fn image(&mut self, role: &Role, path: &str) {
        let Some(image) = &role.image else { return };
        self.value("image", &line_of(&image.uri), &format!("{path}.image.uri"));
        let Some(auth) = &image.auth else { return };
        let parts = [
            ("username", &auth.username),
            ("password", &auth.password),
            ("registry", &auth.registry),
        ];
        for (name, text) in parts {
            if let Some(text) = text {
                self.value(
                    &format!("  {name}"),
                    &line_of(text),
                    &format!("{path}.image.auth.{name}"),
                );
            }
        }
    }

    fn needs(&mut self, role: &Role, path: &str) {
        let needs = &role.resources;
        let mut rows = vec![
            ("cpu", words::count(needs.cpu as usize, "core")),
            ("memoryMB", format!("{} memory", mebibytes(needs.memory_mb))),
            ("gpu", words::count(needs.gpu as usize, "GPU")),
            ("shmMB", format!("{} of /dev/shm", mebibytes(needs.shm_mb))),
        ];
        if needs.infiniband {
            rows.push(("infiniband", "InfiniBand".to_owned()));
        }
        for (index, (key, words)) in rows.into_iter().enumerate() {
            let label = if index == 0 { "needs" } else { "" };
            self.value(
                label,
                &Line::plain(words),
                &format!("{path}.resources.{key}"),
            );
        }
    }

    fn ends(&mut self, role: &Role, path: &str) {
        let minimum = |minimum: Option<u32>, what: &str| match minimum {
            Some(minimum) => format!("{} {what}", words::count(minimum as usize, "task")),
            None => "never".to_owned(),
        };
        let completion = role.completion;
        let failed = Line::plain(minimum(completion.min_failed, "failed"));
        self.value(
            "fails job",
            &failed,
            &format!("{path}.completion.minFailed"),
        );
        let succeeded = Line::plain(minimum(completion.min_succeeded, "succeeded"));
        self.value(
            "ends job",
            &succeeded,
            &format!("{path}.completion.minSucceeded"),
        );
        let retries = Line::plain(words::retry(role.retry));
        self.value("tried again", &retries, &format!("{path}.retry.limit"));
    }

    fn role_placement(&mut self, role: &Role, path: &str) {
        let placement = &role.placement;
        let rows = [
            ("hardware", "sku", &placement.sku),
            ("cell", "pinnedCell", &placement.pinned_cell),
            ("near", "affinityGroup", &placement.affinity_group),
        ];
        for (label, key, value) in rows {
            if let Some(value) = value {
                self.value(
                    label,
                    &Line::plain(value),
                    &format!("{path}.placement.{key}"),
                );
            }
        }
    }

    fn environment(&mut self, role: &Role, path: &str) {
        for (index, (name, value)) in role.env.iter().enumerate() {
            let line = Line::plain(format!("{name}="));
            let line = value.pieces().iter().fold(line, |line, piece| match piece {
                Piece::Literal(literal) => line.with(Look::Plain, literal),
                Piece::Secret { secret } => line.with(Look::Secret, secrets::hidden(secret)),
            });
            let label = if index == 0 { "variables" } else { "" };
            self.value(label, &line, &format!("{path}.env.{name}"));
        }
        let _ = self.all;
    }

    fn steps(&mut self, role: &Role, path: &str) {
        self.page.labelled(2, "steps", 0, &Line::default(), "");
        let mut number = 0;
        for (index, step) in role.before.iter().enumerate() {
            number += 1;
            self.step(number, step, &format!("{path}.before[{index}]"));
        }
        number += 1;
        self.step_title(number, "command", "", "");
        self.lines(&role.command, &format!("{path}.command"));
        for (index, step) in role.after.iter().enumerate() {
            number += 1;
            self.step(number, step, &format!("{path}.after[{index}]"));
        }
    }

    fn step_title(&mut self, number: usize, when: &str, who: &str, origin: &str) {
        let line = Line::default()
            .with(Look::Title, format!("{number:>2}  {when}"))
            .with(Look::Plain, who);
        self.page.row(3, &line, origin);
    }

    fn step(&mut self, number: usize, step: &Step, path: &str) {
        let ignored = match (step.on_failure, step.on) {
            (OnFailure::Fail, _) => "",
            (OnFailure::Ignore, Event::Failure) => "",
            (OnFailure::Ignore, _) => ", its failure is ignored",
        };
        let who = format!(", {}{ignored}", step.name);
        let origin = self.origin(&format!("{path}.name"));
        self.step_title(number, words::event(step.on), &who, &origin);
        self.action(&step.action, &format!("{path}.action"));
    }

    fn action(&mut self, action: &Action, path: &str) {
        match action {
            Action::Shell { commands } => self.lines(commands, &format!("{path}.commands")),
            Action::Ssh {
                between_tasks,
                public_keys,
                barrier,
                barrier_timeout_minutes,
            } => {
                let mut line = "an SSH server".to_owned();
                if *between_tasks {
                    line.push_str("; tasks of the job can log in to each other");
                }
                if *barrier {
                    let minutes = words::count(*barrier_timeout_minutes as usize, "minute");
                    line += &format!("; the command waits up to {minutes} for all of them");
                }
                let origin = self.origin(&format!("{path}.betweenTasks"));
                self.page.row(7, &Line::plain(line), &origin);
                for (index, key) in public_keys.iter().enumerate() {
                    let origin = self.origin(&format!("{path}.publicKeys[{index}]"));
                    let line = Line::plain(format!("for {}", plain(key)));
                    self.page.row(7, &line, &origin);
                }
            }
            Action::GitClone {
                repository,
                options,
                directory,
            } => {
                let mut words = vec!["git clone".to_owned()];
                words.extend(options.iter().map(plain));
                words.push(plain(repository));
                words.extend(directory.as_ref().map(plain));
                let origin = self.origin(&format!("{path}.repository"));
                self.page.row(7, &Line::plain(words.join(" ")), &origin);
            }
            Action::TensorBoard { port, logdir } => {
                let port = port.map_or("a free port".to_owned(), |port| format!("port {port}"));
                let origin = self.origin(&format!("{path}.port"));
                self.page
                    .row(7, &Line::plain(format!("TensorBoard on {port}")), &origin);
                for (name, folder) in logdir {
                    let origin = self.origin(&format!("{path}.logdir.{name}"));
                    let line = Line::plain(format!("{name}: {}", plain(folder)));
                    self.page.row(9, &line, &origin);
                }
            }
        }
    }

    fn lines(&mut self, lines: &[Text], path: &str) {
        for (index, text) in lines.iter().enumerate() {
            let origin = self.origin(&format!("{path}[{index}]"));
            self.page.row(7, &line_of(text), &origin);
        }
    }

    fn placement(&mut self) {
        self.heading("Placement");
        let placement = self.plan().placement.clone();
        let cluster = Line::plain(placement.virtual_cluster);
        self.value("cluster", &cluster, "placement.virtualCluster");
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
        super::fidelity::show(&mut self.page, &self.job.fidelity);
    }
}

/// A text on one line, secrets named and hidden.
pub(super) fn plain(text: &Text) -> String {
    text.render(secrets::hidden)
}

fn mebibytes(amount: u64) -> String {
    if amount >= 1024 && amount.is_multiple_of(1024) {
        format!("{} GiB", amount / 1024)
    } else {
        format!("{amount} MiB")
    }
}
