//! What a tenant's overrides changed.

use pinnace_core::origin::Place;
use pinnace_core::words;
use pinnace_spec::overrides::Change;
use serde::Serialize;

use super::origin::Speaker;
use super::page::{Line, Look, Page};
use super::plan::Options;
use crate::reading::{Reader, Reading};

/// So many changes are listed.
const MOST: usize = 100;

/// The changes, each with its rule and what stood there before; nothing without overrides.
pub(crate) fn page(reader: &Reader, reading: &Reading, options: Options) -> String {
    let (Some(loaded), Some(overridden)) = (reader.overrides(), &reading.outcome.overridden) else {
        return String::new();
    };
    let mut page = Page::new(options.width, options.color);
    page.blank();
    let title = format!("Overrides for tenant {}", loaded.tenant);
    let count = match overridden.report.count {
        0 => "nothing changed".to_owned(),
        count => words::count(count, "value") + " changed",
    };
    let title = Line::default()
        .with(Look::Heading, title)
        .with(Look::Plain, format!(": {count}"));
    page.row(0, &title, "");
    let changes = &overridden.report.changes;
    for change in changes.iter().take(MOST) {
        page.row(2, &line(change, reading), "");
    }
    if changes.len() > MOST {
        let more = words::count(overridden.report.count - MOST, "more change");
        page.row(2, &Line::plain(format!("and {more}")), "");
    }
    page.finish()
}

/// Such as `image: new ← rule (test.yaml:21), was old (spec.yaml:16)`.
fn line(change: &Change, reading: &Reading) -> Line {
    let hidden = |text: &str| reading.outcome.redactor.message(text).into_owned();
    let place = |span| {
        let place = reading.sources.place(span);
        Speaker::new("").place(Some(&place))
    };
    let now = match &change.now {
        Some(now) => hidden(now),
        None => "taken away".to_owned(),
    };
    let line = Line::default()
        .with(Look::Label, format!("{}: ", change.path))
        .with(Look::Plain, now)
        .with(
            Look::Dim,
            format!(" ← {} ({})", change.rule, place(change.span)),
        );
    match (&change.was, change.was_span) {
        (Some(was), Some(span)) => line.with(
            Look::Plain,
            format!(", was {} ({})", hidden(was), place(span)),
        ),
        _ => line.with(Look::Plain, ", was not there"),
    }
}

/// The changes as a diff, if it was asked for.
pub(crate) fn diff(reading: &Reading) -> Option<&str> {
    let overridden = reading.outcome.overridden.as_ref()?;
    overridden.diff.as_deref()
}

/// A change for programs.
#[derive(Debug, Serialize)]
pub(crate) struct ChangeView {
    path: String,
    rule: String,
    place: Place,
    #[serde(skip_serializing_if = "Option::is_none")]
    now: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    was: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    was_place: Option<Place>,
}

/// The changes for programs; none without overrides.
pub(crate) fn views(reading: &Reading) -> Option<Vec<ChangeView>> {
    let overridden = reading.outcome.overridden.as_ref()?;
    let hidden = |text: &String| reading.outcome.redactor.message(text).into_owned();
    let changes = overridden.report.changes.iter();
    let views = changes.map(|change| ChangeView {
        path: change.path.clone(),
        rule: change.rule.clone(),
        place: reading.sources.place(change.span),
        now: change.now.as_ref().map(hidden),
        was: change.was.as_ref().map(hidden),
        was_place: change.was_span.map(|span| reading.sources.place(span)),
    });
    Some(views.collect())
}
