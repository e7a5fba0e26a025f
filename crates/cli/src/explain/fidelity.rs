//! What becomes of every field of the source.

use pinnace_core::fidelity::{Account, Honour};
use pinnace_core::words;

use super::origin::place;
use super::page::{Line, Look, Page};

pub(super) fn show(page: &mut Page, accounts: &[Account]) {
    let of = |status: Honour| {
        accounts
            .iter()
            .filter(move |account| account.status == status)
    };
    let count = |status: Honour| of(status).count();
    page.blank();
    page.row(0, &Line::default().with(Look::Heading, "Fidelity"), "");
    let lost = count(Honour::Approximated) + count(Honour::NotHonoured);
    let honoured = words::count(count(Honour::Honoured), "field");
    let total = if lost == 0 {
        format!("all {honoured} of the file honoured")
    } else {
        format!(
            "{honoured} of the file honoured, {} approximated, {} not honoured",
            count(Honour::Approximated),
            count(Honour::NotHonoured)
        )
    };
    page.row(2, &Line::plain(total), "");
    let groups = [
        (Honour::Approximated, "approximated"),
        (Honour::NotHonoured, "not honoured"),
    ];
    for (status, words) in groups {
        for account in of(status) {
            let line = Line::default()
                .with(Look::Warning, words)
                .with(Look::Plain, format!("  {}", account.path));
            page.row(2, &line, &place(Some(&account.place)));
            page.row(6, &Line::default().with(Look::Dim, &account.reason), "");
        }
    }
}
