//! The whole chain of one value: what it is, and how it came to be.

use indexmap::IndexMap;
use pinnace_core::origin::{Cause, Origin, Place};
use pinnace_spec::diagnostic::suggest;
use pinnace_spec::job::Job;
use serde_json::Value as Json;

use super::origin::{Speaker, cause, is_at_or_below, source_paths, uses};
use super::page::{Line, Look, Page};
use super::plan::Options;

/// A longer value of the source is not shown in a chain.
const LONGEST_VALUE: usize = 60;

/// The values at a path of the plan, or made from a path of the source.
pub(crate) struct Chains<'j> {
    job: &'j Job,
    path: &'j str,
    found: Vec<(&'j str, &'j Origin)>,
    /// Whether the path is one of the source.
    by_source: bool,
}

impl<'j> Chains<'j> {
    /// Finds them; or, if there are none, says why.
    pub(crate) fn find(path: &'j str, job: &'j Job) -> Result<Self, String> {
        let path = path.strip_prefix("$.").unwrap_or(path);
        let origins = || {
            job.origins
                .iter()
                .map(|(leaf, origin)| (leaf.as_str(), origin))
        };
        let at_path = origins().filter(|(leaf, _)| is_at_or_below(leaf, path));
        let mut found: Vec<(&str, &Origin)> = at_path.collect();
        let by_source = found.is_empty();
        if by_source {
            found = origins().filter(|(_, origin)| uses(origin, path)).collect();
        }
        if found.is_empty() {
            return Err(nothing_at(path, job));
        }
        Ok(Chains {
            job,
            path,
            found,
            by_source,
        })
    }

    /// For people. `written` tells what the source says at a place.
    pub(crate) fn page(
        &self,
        written: &dyn Fn(&Place) -> Option<String>,
        options: Options,
    ) -> String {
        let values = Values::of(self.job);
        // Asked for a value of the source, the links that do not lead to it are left out.
        let wanted = |via: &Origin| !self.by_source || uses(via, self.path);
        let mut page = Page::new(options.width, options.color);
        for (index, (leaf, origin)) in self.found.iter().enumerate() {
            if index > 0 {
                page.blank();
            }
            page.row(0, &Line::default().with(Look::Title, leaf), "");
            page.row(2, &values.line(leaf), "");
            link(&mut page, 2, "←", origin, None, &wanted, written);
        }
        page.finish()
    }

    /// For programs: a list of values with their paths and origins.
    pub(crate) fn json(&self) -> String {
        let values = Values::of(self.job);
        let chains: Vec<Json> = self
            .found
            .iter()
            .map(|(path, origin)| {
                let value = values.by_path.get(*path);
                serde_json::json!({"path": path, "value": value, "origin": origin})
            })
            .collect();
        format!("{:#}\n", Json::from(chains))
    }
}

/// One link of the chain, and those behind it. `value` tells what is written at a place, for links
/// that stand for a part of what the link before them says.
fn link(
    page: &mut Page,
    indent: usize,
    arrow: &str,
    origin: &Origin,
    value: Option<String>,
    wanted: &dyn Fn(&Origin) -> bool,
    written: &dyn Fn(&Place) -> Option<String>,
) {
    let is_short = |value: &String| !value.contains('\n') && value.chars().count() <= LONGEST_VALUE;
    let mut words = cause(origin);
    if let (Some(value), Cause::Written { .. }) = (value.filter(is_short), &origin.cause) {
        words.push_str(": ");
        words.push_str(&value);
    }
    let line = Line::default()
        .with(Look::Dim, format!("{arrow} "))
        .with(Look::Plain, words);
    page.row(
        indent,
        &line,
        &Speaker::new("").place(origin.place.as_ref()),
    );
    let replaces = matches!(origin.cause, Cause::Flag { .. } | Cause::Override { .. });
    for (index, via) in origin.via.iter().enumerate() {
        let repeated = origin.via.iter().take(index).any(|earlier| earlier == via);
        if repeated || !wanted(via) {
            continue;
        }
        let arrow = if replaces && index == 0 {
            "instead of"
        } else {
            "←"
        };
        let value = via.place.as_ref().and_then(written);
        link(page, indent + 2, arrow, via, value, wanted, written);
    }
}

fn nothing_at(path: &str, job: &Job) -> String {
    if job
        .fidelity
        .iter()
        .any(|account| is_at_or_below(&account.path, path))
    {
        return format!("nothing in the plan comes from `{path}`");
    }
    let mut known: Vec<&str> = job.origins.keys().map(String::as_str).collect();
    for origin in job.origins.values() {
        source_paths(origin, &mut known);
    }
    let mut candidates: Vec<&str> = Vec::new();
    for leaf in known {
        candidates.push(leaf);
        candidates.extend(leaf.match_indices(['.', '[']).map(|(at, _)| &leaf[..at]));
    }
    candidates.sort_unstable();
    candidates.dedup();
    match suggest::closest(path, candidates) {
        Some(near) => format!("there is no `{path}` in the plan; did you mean `{near}`?"),
        None => format!("there is no `{path}` in the plan; `--format json` shows all of it"),
    }
}

/// Every value of the plan by its path.
struct Values {
    by_path: IndexMap<String, Json>,
}

impl Values {
    fn of(job: &Job) -> Self {
        let mut by_path = IndexMap::new();
        // A plan is made of maps with text keys, lists and scalars: it is always JSON.
        if let Ok(plan) = serde_json::to_value(&job.plan) {
            collect(String::new(), plan, &mut by_path);
        }
        Values { by_path }
    }

    fn line(&self, path: &str) -> Line {
        match self.by_path.get(path) {
            None | Some(Json::Null) => Line::default().with(Look::Dim, "nothing"),
            Some(Json::String(text)) if text.is_empty() => Line::plain("\"\""),
            Some(Json::String(text)) => Line::plain(text),
            Some(Json::Array(pieces)) if !pieces.is_empty() => {
                pieces
                    .iter()
                    .fold(Line::default(), |line, piece| match piece {
                        Json::String(text) => line.with(Look::Plain, text),
                        _ => match (piece.get("secret"), piece.get("path")) {
                            (Some(Json::String(name)), _) => {
                                line.with(Look::Secret, format!("<{name} ••••>"))
                            }
                            (_, Some(Json::String(path))) => line.with(Look::Plain, path),
                            _ => line.with(Look::Plain, piece.to_string()),
                        },
                    })
            }
            Some(other) => Line::plain(other.to_string()),
        }
    }
}

fn collect(path: String, value: Json, found: &mut IndexMap<String, Json>) {
    match &value {
        Json::Object(entries) => {
            for (key, below) in entries {
                let path = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                collect(path, below.clone(), found);
            }
        }
        Json::Array(items) => {
            for (index, below) in items.iter().enumerate() {
                collect(format!("{path}[{index}]"), below.clone(), found);
            }
        }
        _ => {}
    }
    found.insert(path, value);
}
