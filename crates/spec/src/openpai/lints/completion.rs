//! Completion policies that end a job otherwise than meant.

use super::super::model::Role;
use super::super::read::{entries, value};
use super::{Subject, place};
use crate::diagnostic::{Diagnostic, Diagnostics, Edit, Fix, codes};
use crate::source::Span;
use crate::yaml::Node;
use crate::yaml::node::Kind;

/// So many roles are shown and mended at once.
const MOST_ROLES: usize = 6;

const SUCCEEDED: &str = "minSucceededInstances";
const FAILED: &str = "minFailedInstances";

pub(super) fn check(subject: &Subject<'_, '_>, out: &mut Diagnostics) {
    let roles = &subject.job.roles;
    if roles.is_empty() || !roles.iter().all(is_readable) {
        return;
    }
    let found = [early_success(subject, roles), never_fails(subject, roles)];
    found
        .into_iter()
        .flatten()
        .for_each(|found| out.push(found));
}

/// Whether the policy is what the file says, not a default in place of something wrong.
fn is_readable(role: &Role<'_>) -> bool {
    entries(value(role.node, "completion")).iter().all(|entry| {
        let known = [FAILED, SUCCEEDED].contains(&&*entry.key.text);
        known && matches!(entry.value.kind(), Kind::Integer | Kind::Null)
    })
}

fn bound<'d>(role: &Role<'d>, key: &str) -> Option<&'d Node<'d>> {
    value(value(role.node, "completion")?, key)
}

/// Where the bound is written, or else the role's name.
fn bound_span(role: &Role<'_>, key: &str) -> Span {
    bound(role, key).map_or(role.name.span, place::shown_span)
}

/// Two roles that can each end the job race: the one that is done first stops the other. One role
/// alone is a recipe: it does the work, and the others, with −1, serve it.
fn early_success(subject: &Subject<'_, '_>, roles: &[Role<'_>]) -> Option<Diagnostic> {
    let deciders = roles.iter().filter_map(|role| {
        let wanted = role.effective_min_succeeded()?;
        (wanted <= role.instances).then_some((role, wanted))
    });
    if deciders.clone().count() < 2 {
        return None;
    }
    let deciders: Vec<(&Role<'_>, u32)> = deciders.collect();
    let is_default = |role: &Role<'_>| matches!(role.min_succeeded, None | Some(0));
    let primary = deciders
        .iter()
        .position(|(role, _)| is_default(role))
        .unwrap_or_default();
    let label = |role: &Role<'_>, wanted: u32| {
        let tasks = match (wanted, role.instances) {
            (1, 1) => "its task has succeeded".to_owned(),
            (_, all) if all == wanted => format!("all {all} of its tasks have succeeded"),
            (1, all) => format!("1 of its {all} tasks has succeeded"),
            (_, all) => format!("{wanted} of its {all} tasks have succeeded"),
        };
        let default = if is_default(role) { ", by default" } else { "" };
        format!("`{}` ends the job once {tasks}{default}", role.name.text)
    };
    let mut diagnostic: Option<Diagnostic> = None;
    let (before, from) = deciders.split_at(primary);
    for (role, wanted) in from.iter().chain(before).take(MOST_ROLES) {
        let span = bound_span(role, SUCCEEDED);
        diagnostic = Some(match diagnostic {
            Some(diagnostic) => diagnostic.related(span, label(role, *wanted)),
            None => {
                let message = "the task role that succeeds first ends the job and stops the others";
                Diagnostic::new(&codes::EARLY_SUCCESS, span, message).label(label(role, *wanted))
            }
        });
    }
    let mut diagnostic = diagnostic?
        .help("set `completion.minSucceededInstances: -1` in each role that must not end the job")
        .help("with -1 in every role the job waits for all tasks");
    if deciders.len() > MOST_ROLES {
        let more = deciders.len() - MOST_ROLES;
        diagnostic = diagnostic.help(format!("{more} more task roles can end the job as well"));
        return Some(diagnostic);
    }
    let edits: Option<Vec<Edit>> = deciders
        .iter()
        .map(|(role, _)| never_succeeding(subject, role))
        .collect();
    diagnostic.fix = edits.map(|edits| Fix {
        title: "wait for all tasks".to_owned(),
        edits,
    });
    Some(diagnostic)
}

/// The edit that gives a role −1.
fn never_succeeding(subject: &Subject<'_, '_>, role: &Role<'_>) -> Option<Edit> {
    let completion = value(role.node, "completion");
    let edit = match (completion, bound(role, SUCCEEDED)) {
        (_, Some(written)) if written.alias().is_none() && !written.span.is_empty() => Edit {
            span: written.span,
            replacement: "-1".to_owned(),
        },
        (_, Some(_)) => return None,
        (Some(completion), None) => {
            let entry = format!("{SUCCEEDED}: -1");
            place::insert_first(subject.sources, completion, |_| entry.clone(), &entry)?
        }
        (None, None) => place::insert_first(
            subject.sources,
            role.node,
            |indent| format!("completion:\n{indent}  {SUCCEEDED}: -1"),
            &format!("completion: {{{SUCCEEDED}: -1}}"),
        )?,
    };
    (edit.span.source == subject.job.root.span.source).then_some(edit)
}

fn never_fails(subject: &Subject<'_, '_>, roles: &[Role<'_>]) -> Option<Diagnostic> {
    let reachable = |role: &Role<'_>| {
        role.effective_min_failed()
            .is_some_and(|wanted| wanted <= role.instances)
    };
    if roles.iter().any(reachable) {
        return None;
    }
    let (first, others) = roles.split_first()?;
    let span = bound_span(first, FAILED);
    let mut diagnostic = Diagnostic::new(
        &codes::NEVER_FAILS,
        span,
        "the job succeeds even if every task fails",
    )
    .label(format!("no failure in `{}` fails the job", first.name.text));
    for role in others.iter().take(MOST_ROLES) {
        diagnostic = diagnostic.related(
            bound_span(role, FAILED),
            format!("nor in `{}`", role.name.text),
        );
    }
    diagnostic =
        diagnostic.help("set `minFailedInstances` to 1 or more in each role whose failure matters");
    let in_file = span.source == subject.job.root.span.source;
    if others.is_empty()
        && in_file
        && bound(first, FAILED).is_some_and(|node| node.alias().is_none())
    {
        diagnostic = diagnostic.fix("let a failed task fail the job", span, "1");
    }
    Some(diagnostic)
}
