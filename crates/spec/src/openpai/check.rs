//! Cross references: every name that a job uses must be one that it defines.

use std::collections::HashMap;

use super::catalog::Catalog;
use super::marketplace::{Fetched, SCHEME};
use super::model::{Job, Kind, Name, Role};
use super::named::Named;
use crate::diagnostic::suggest::closest;
use crate::diagnostic::{Diagnostic, Diagnostics, codes};

/// Reports names that nothing defines and definitions that stand twice; notes which prerequisites are named.
pub fn references(
    job: &Job<'_>,
    catalog: &Catalog<'_>,
    fetched: &Fetched<'_>,
    named: &mut Named,
    out: &mut Diagnostics,
) {
    role_references(job, catalog, fetched, named, out);
    let required = catalog.iter().flat_map(|(id, _)| catalog.requires(id));
    required.for_each(|id| named.prerequisites.add(*id));
    deployments(job, out);
    plugin_roles(job, out);
    role_spellings(job, out);
}

fn role_references(
    job: &Job<'_>,
    catalog: &Catalog<'_>,
    fetched: &Fetched<'_>,
    named: &mut Named,
    out: &mut Diagnostics,
) {
    let mut unknown: Unknown<'_> = Unknown::default();
    for role in &job.roles {
        for name in &role.prerequisites {
            if name.text.starts_with(SCHEME) {
                continue;
            }
            match catalog.find(name.text) {
                None => unknown.add(None, *name, || catalog.unknown(*name, fetched)),
                Some(id) => {
                    named.prerequisites.add(id);
                    ambiguous(catalog, *name, out);
                }
            }
        }
        for (kind, name) in selected(role) {
            // A type that is itself wrong is reported where it stands; it may be this one.
            let untyped = || catalog.all_called(name.text).any(|one| one.kind.is_none());
            match catalog.of_kind(kind, name.text) {
                Some(id) => named.prerequisites.add(id),
                None if untyped() => {}
                None => unknown.add(Some(kind), name, || not_of_kind(catalog, kind, name)),
            }
        }
    }
    for diagnostic in unknown.list {
        out.push(diagnostic);
    }
}

/// The prerequisites that a role selects by type, in upstream's order of checking.
pub fn selected<'d>(role: &Role<'d>) -> impl Iterator<Item = (Kind, Name<'d>)> + use<'d> {
    let fields = [
        (Kind::Script, role.script),
        (Kind::Output, role.output),
        (Kind::Data, role.data),
        (Kind::DockerImage, role.docker_image),
    ];
    fields
        .into_iter()
        .filter_map(|(kind, name)| name.map(|name| (kind, name)))
}

/// So many different unknown names are reported.
const MOST_UNKNOWN: usize = 1_000;

/// Unknown names, each reported once with all places that use it.
#[derive(Default)]
struct Unknown<'d> {
    list: Vec<Diagnostic>,
    known: HashMap<(Option<Kind>, &'d str), usize>,
}

impl<'d> Unknown<'d> {
    fn add(&mut self, kind: Option<Kind>, name: Name<'d>, diagnostic: impl FnOnce() -> Diagnostic) {
        match self.known.get(&(kind, name.text)) {
            Some(first) => {
                let first = &mut self.list[*first];
                if first.related.len() < 10 && first.span != name.span {
                    first.related.push(crate::diagnostic::Label {
                        span: name.span,
                        message: "and named here".to_owned(),
                    });
                }
            }
            // More than these are never shown, and each costs a search for what was meant.
            None if self.list.len() >= MOST_UNKNOWN => {}
            None => {
                self.known.insert((kind, name.text), self.list.len());
                self.list.push(diagnostic());
            }
        }
    }
}

fn ambiguous(catalog: &Catalog<'_>, name: Name<'_>, out: &mut Diagnostics) {
    let twins = || {
        catalog
            .all_called(name.text)
            .filter(|twin| twin.kind != Some(Kind::DockerImage))
    };
    if twins().count() < 2 {
        return;
    }
    let message = format!(
        "`{}` names prerequisites of several types; the last one is used",
        name.text
    );
    let mut diagnostic = Diagnostic::new(&codes::AMBIGUOUS_PREREQUISITE, name.span, message)
        .help("give them different names");
    for twin in twins().take(4) {
        if let (Some(kind), Some(name)) = (twin.kind, twin.name) {
            diagnostic = diagnostic.related(name.span, format!("of type `{}`", kind.word()));
        }
    }
    out.push(diagnostic);
}

fn not_of_kind(catalog: &Catalog<'_>, kind: Kind, name: Name<'_>) -> Diagnostic {
    let word = kind.word();
    if let Some(other) = catalog.all_called(name.text).next() {
        let is = other.kind.map_or("unknown", Kind::word);
        let message = format!(
            "`{}` is a prerequisite of type `{is}`, not `{word}`",
            name.text
        );
        let diagnostic = Diagnostic::new(&codes::WRONG_PREREQUISITE_TYPE, name.span, message)
            .label(format!("must name one of type `{word}`"));
        return match other.name {
            Some(defined) => diagnostic.related(defined.span, "defined here"),
            None => diagnostic,
        };
    }
    let message = format!("there is no {word} prerequisite called `{}`", name.text);
    let diagnostic = Diagnostic::new(&codes::UNKNOWN_PREREQUISITE, name.span, message)
        .label("not defined in this job");
    let candidates = || {
        let fitting = catalog
            .iter()
            .filter(|(id, other)| catalog.is_own(*id) && other.kind == Some(kind));
        fitting
            .filter_map(|(_, other)| other.name)
            .map(|name| name.text)
    };
    match closest(name.text, candidates()) {
        Some(similar) => diagnostic.help(format!("did you mean `{similar}`?")).fix(
            "name the one that exists",
            name.span,
            similar,
        ),
        None => match candidates().next() {
            Some(_) => diagnostic.help(format!(
                "defined are {}",
                super::catalog::list(candidates())
            )),
            None => diagnostic.help(format!(
                "add one to `prerequisites`: `- {{name: {}, type: {word}, uri: …}}`",
                name.text
            )),
        },
    }
}

fn deployments(job: &Job<'_>, out: &mut Diagnostics) {
    let names = || {
        job.deployments
            .iter()
            .filter_map(|deployment| deployment.name)
    };
    if names().nth(1).is_some() {
        duplicate_deployments(names(), out);
    }
    for role in job.deployments.iter().flat_map(|one| &one.roles) {
        let effect = "this deployment's commands for it never run";
        unused_role(job, role.name, effect, out);
    }
    let Some(default) = job.default_deployment else {
        return;
    };
    let names = || names().map(|name| name.text);
    if names().any(|name| name == default.text) {
        return;
    }
    let message = format!("there is no deployment called `{}`", default.text);
    let diagnostic = Diagnostic::new(&codes::UNKNOWN_DEPLOYMENT, default.span, message)
        .label("not defined under `deployments`");
    out.push(match closest(default.text, names()) {
        Some(similar) => diagnostic.help(format!("did you mean `{similar}`?")).fix(
            "name the one that exists",
            default.span,
            similar,
        ),
        None if names().next().is_none() => {
            diagnostic.help("the job has no deployments; leave `defaults.deployment` out")
        }
        None => diagnostic.help(format!("defined are {}", super::catalog::list(names()))),
    });
}

fn duplicate_deployments<'d>(names: impl Iterator<Item = Name<'d>>, out: &mut Diagnostics) {
    let mut known: HashMap<&str, Name<'_>> = HashMap::new();
    for name in names {
        let Some(first) = known.get(name.text) else {
            known.insert(name.text, name);
            continue;
        };
        let message = format!("two deployments are called `{}`", name.text);
        out.push(
            Diagnostic::new(&codes::DUPLICATE_DEPLOYMENT, name.span, message)
                .label("the second one")
                .related(first.span, "the first one"),
        );
    }
}

fn plugin_roles(job: &Job<'_>, out: &mut Diagnostics) {
    for entry in &job.extras.plugins {
        for role in entry.roles.iter().flatten() {
            unused_role(job, *role, "the plugin does nothing for it", out);
        }
    }
}

/// A role that only a deployment or a plugin knows: legal upstream, and surely not meant.
fn unused_role(job: &Job<'_>, name: Name<'_>, effect: &str, out: &mut Diagnostics) {
    if job.role(name.text).is_some() {
        return;
    }
    let message = format!("the job has no task role `{}`; {effect}", name.text);
    let diagnostic =
        Diagnostic::new(&codes::UNUSED_ROLE, name.span, message).label("no such task role");
    let roles = job.roles.iter().map(|role| role.name.text);
    out.push(match closest(name.text, roles) {
        Some(similar) => diagnostic.help(format!("did you mean `{similar}`?")).fix(
            "name the role that exists",
            name.span,
            similar,
        ),
        None => diagnostic,
    });
}

/// So few roles are compared each with each.
const FEW_ROLES: usize = 8;

/// The letters of a role's short name.
fn short_letters(role: &Role<'_>) -> impl Iterator<Item = u8> {
    let bytes = role.name.text.bytes();
    let kept = bytes.filter(u8::is_ascii_alphanumeric);
    kept.map(|byte| byte.to_ascii_lowercase())
}

/// Two roles that differ only in case or punctuation share the short names of their variables.
fn role_spellings(job: &Job<'_>, out: &mut Diagnostics) {
    // Most jobs have few roles, and their short names differ in the first letters.
    if job.roles.len() <= FEW_ROLES {
        let alike = |(index, role): (usize, &Role<'_>)| {
            let mut before = job.roles[..index].iter();
            before.any(|other| short_letters(other).eq(short_letters(role)))
        };
        if !job.roles.iter().enumerate().any(alike) {
            return;
        }
    }
    let mut known: HashMap<String, Name<'_>> = HashMap::new();
    for role in &job.roles {
        let short: String = short_letters(role).map(char::from).collect();
        if let Some(first) = known.get(&short) {
            let message = format!(
                "task roles `{}` and `{}` are both `{short}` in the short names of variables",
                first.text, role.name.text
            );
            out.push(
                Diagnostic::new(&codes::ROLE_NAMES_COLLIDE, role.name.span, message)
                    .label("spelt almost like another role")
                    .related(first.span, "the other role")
                    .help("rename one of them, or use only the variables that spell the role as written"),
            );
        } else {
            known.insert(short, role.name);
        }
    }
}
