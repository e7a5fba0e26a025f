//! Retries of single tasks that gang allocation makes void.

use super::super::model::Role;
use super::super::read::{entries, integer};
use super::{Subject, place};
use crate::diagnostic::{Diagnostic, Diagnostics, Fix, codes};

const KEY: &str = "taskRetryCount";

pub(super) fn check(subject: &Subject<'_, '_>, out: &mut Diagnostics) {
    if subject.job.extras.gang_allocation() {
        let found = subject
            .job
            .roles
            .iter()
            .filter_map(|role| void_retry(subject, role));
        found.for_each(|found| out.push(found));
    }
}

fn void_retry(subject: &Subject<'_, '_>, role: &Role<'_>) -> Option<Diagnostic> {
    let node = role.task_retry_count?;
    integer(node).filter(|count| *count != 0)?;
    let message = format!("a failed task of `{}` is not tried again", role.name.text);
    let mut diagnostic = Diagnostic::new(&codes::VOID_RETRY, place::shown_span(node), message)
        .label("void, because all tasks are allocated together")
        .help("use `jobRetryCount` to try the whole job again")
        .help("or set `extras.gangAllocation: false`, so that each task starts for itself");
    let entry = role.node.get(KEY).filter(|entry| entry.merged.is_none());
    diagnostic.fix = entry
        .filter(|_| role.node.alias().is_none())
        .and_then(|entry| {
            let siblings = entries(Some(role.node)).len();
            place::remove_entry(subject.sources, entry, siblings)
        })
        .map(|edit| Fix {
            title: format!("remove `{KEY}`"),
            edits: vec![edit],
        });
    Some(diagnostic)
}
