//! One role: what its tasks need, and what they find.

use std::collections::HashSet;

use pinnace_core::environment::{self, Value, Variable};
use pinnace_core::plan::{Action, Resources, Role};
use pinnace_core::text::{Piece, Text};
use pinnace_core::words;

use super::page::{Line, Look};
use super::plan::{View, line_of};

/// Of so many roles each knows all others; with more, the list of what they know is left out.
const MOST_ROLES: usize = 64;

impl View<'_> {
    pub(super) fn role(&mut self, name: &str, role: &Role) {
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
        self.ports(role, &path);
        self.ends(role, &path);
        self.role_placement(role, &path);
        self.data(role, &path);
        self.environment(name, role, &path);
        self.steps(role, &path);
    }

    fn ports(&mut self, role: &Role, path: &str) {
        for (index, (label, count)) in role.ports.iter().enumerate() {
            let line = Line::plain(format!("{count} × {label}"));
            let heading = if index == 0 { "ports" } else { "" };
            self.value(heading, &line, &format!("{path}.ports.{label}"));
        }
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
        if *needs == Resources::default() {
            let line = Line::plain("no amount of anything, so there is no limit");
            self.value("needs", &line, &format!("{path}.resources.cpu"));
            return;
        }
        let cores = match needs.cpu {
            0 => "as many cores as there are".to_owned(),
            cores => words::count(cores as usize, "core"),
        };
        let memory = match needs.memory_mb {
            0 => "as much memory as there is".to_owned(),
            memory => format!("{} memory", mebibytes(memory)),
        };
        let mut rows = vec![
            ("cpu", cores),
            ("memoryMB", memory),
            ("gpu", gpus(needs.gpu)),
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
        let when = |minimum: Option<u32>, what: &str| match minimum {
            Some(1) => format!("when 1 task has {what}"),
            Some(minimum) => format!("when {minimum} tasks have {what}"),
            None => "not by this role".to_owned(),
        };
        let completion = role.completion;
        let failed = Line::plain(when(completion.min_failed, "failed"));
        self.value(
            "job fails",
            &failed,
            &format!("{path}.completion.minFailed"),
        );
        let succeeded = Line::plain(when(completion.min_succeeded, "succeeded"));
        self.value(
            "job succeeds",
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
            ("affinity", "affinityGroup", &placement.affinity_group),
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

    /// The variables that the plan adds, those that the role's own texts speak of, and how many more
    /// every task finds.
    fn environment(&mut self, name: &str, role: &Role, path: &str) {
        let mut heading = "environment";
        for (variable, value) in &role.env {
            let line = line_of(value).after(format!("{variable}="));
            self.value(heading, &line, &format!("{path}.env.{variable}"));
            heading = "";
        }
        if self.plan().roles.len() > MOST_ROLES {
            let words = "too many roles to list all that their tasks know of each other";
            self.value(heading, &Line::default().with(Look::Dim, words), "");
            return;
        }
        let variables = environment::variables(self.plan(), name);
        let spoken = words_of(role);
        let mut shown = 0;
        for variable in &variables {
            if !self.all && !spoken.iter().any(|word| names(variable, word)) {
                continue;
            }
            shown += 1;
            let line = Line::plain(format!("{}=", variable.name));
            let line = match &variable.value {
                Value::Known(value) => line.with(Look::Plain, value),
                Value::AtRun(words) => line.with(Look::Dim, format!("({words})")),
            };
            self.value(heading, &line, "");
            heading = "";
        }
        let rest = variables.len() - shown;
        if rest > 0 {
            let thing = if shown > 0 {
                "more variable"
            } else {
                "variable"
            };
            let words = format!("{}; `--all` shows them", words::count(rest, thing));
            self.value(heading, &Line::default().with(Look::Dim, words), "");
        }
    }
}

/// Whether a word is the name of a variable, or of one in a family of them.
fn names(variable: &Variable, word: &str) -> bool {
    let Some(tasks) = variable.tasks else {
        return variable.name == word;
    };
    let (before, after) = variable
        .name
        .split_once('*')
        .unwrap_or((&variable.name, ""));
    let index = word
        .strip_prefix(before)
        .and_then(|rest| rest.strip_suffix(after));
    index
        .and_then(|index| index.parse().ok())
        .is_some_and(|index: u32| index < tasks)
}

/// The words of the role's command and steps that could be names of variables.
fn words_of(role: &Role) -> HashSet<&str> {
    let steps = role.before.iter().chain(&role.after);
    let steps = steps.flat_map(|step| match &step.action {
        Action::Shell { commands } => commands.as_slice(),
        _ => &[],
    });
    let pieces = role.command.iter().chain(steps).flat_map(Text::pieces);
    let literals = pieces.filter_map(|piece| match piece {
        Piece::Literal(literal) => Some(literal.as_str()),
        Piece::Secret { .. } | Piece::Path { .. } => None,
    });
    literals
        .flat_map(|text| text.split(|char: char| !char.is_ascii_alphanumeric() && char != '_'))
        .collect()
}

fn gpus(number: u32) -> String {
    match number {
        0 => "no GPU".to_owned(),
        number => words::count(number as usize, "GPU"),
    }
}

fn mebibytes(amount: u64) -> String {
    if amount >= 1024 && amount.is_multiple_of(1024) {
        format!("{} GiB", amount / 1024)
    } else {
        format!("{amount} MiB")
    }
}
