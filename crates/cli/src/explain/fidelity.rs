//! What becomes of every field of the source.

use pinnace_core::fidelity::{Account, Honour, losses};
use pinnace_core::words;

use super::origin::Speaker;
use super::page::{Line, Look, Page};

/// The losses, those of one reason together, and the count of what is honoured.
pub(super) fn show(page: &mut Page, accounts: &[Account], speaker: Speaker<'_>) {
    page.blank();
    page.row(0, &Line::default().with(Look::Heading, "Fidelity"), "");
    page.row(2, &Line::plain(total(accounts)), "");
    let mut groups: Vec<Vec<&Account>> = Vec::new();
    for account in losses(accounts) {
        let alike = |group: &&mut Vec<&Account>| {
            let first = group.first();
            first.is_some_and(|first| {
                first.status == account.status && first.reason == account.reason
            })
        };
        match groups.iter_mut().find(alike) {
            Some(group) => group.push(account),
            None => groups.push(vec![account]),
        }
    }
    groups.sort_by_key(|group| group.first().map(|account| account.status));
    for group in groups {
        let Some(Account { status, reason, .. }) = group.first() else {
            continue;
        };
        let words = match status {
            Honour::Honoured => "honoured",
            Honour::Approximated => "approximated",
            Honour::NotHonoured => "not honoured",
        };
        let line = Line::default()
            .with(Look::Warning, words)
            .with(Look::Plain, format!(": {reason}"));
        page.row(2, &line, "");
        for account in group {
            page.row(
                4,
                &Line::plain(&account.path),
                &speaker.place(Some(&account.place)),
            );
        }
    }
}

fn total(accounts: &[Account]) -> String {
    let count = |status| {
        accounts
            .iter()
            .filter(|account| account.status == status)
            .count()
    };
    let (near, lost) = (count(Honour::Approximated), count(Honour::NotHonoured));
    let honoured = words::count(count(Honour::Honoured), "field");
    match (near, lost) {
        (0, 0) => format!("honoured: all {honoured} of the file"),
        (near, 0) => format!("honoured: {honoured} of the file; approximated: {near}"),
        (0, lost) => format!("honoured: {honoured} of the file; not honoured: {lost}"),
        (near, lost) => {
            format!("honoured: {honoured} of the file; approximated: {near}; not honoured: {lost}")
        }
    }
}
