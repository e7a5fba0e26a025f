//! Puts marketplace items into the catalog, and says what is wrong with a reference or an item.

use super::{Catalog, Id, list};
use crate::diagnostic::suggest::closest;
use crate::diagnostic::{Diagnostic, Diagnostics, Severity, codes};
use crate::library::{Answer, ItemRef};
use crate::openpai::marketplace::{self, Failure, Fetched, SCHEME};
use crate::openpai::model::{Job, Kind, Name};
use crate::openpai::{fields, read};
use crate::shape;
use crate::source::Sources;
use crate::yaml::Document;

impl<'d> Catalog<'d> {
    /// Adds the prerequisites of every item document; tells the siblings of each added one.
    pub(super) fn add_items(
        &mut self,
        fetched: &'d Fetched<'_>,
        job: &Job<'d>,
        sources: &Sources,
        plan: bool,
        out: &mut Diagnostics,
    ) -> Vec<Vec<Id>> {
        let mut siblings: Vec<Vec<Id>> = Vec::new();
        let mut documents: Vec<Vec<Id>> = Vec::new();
        for document in &fetched.documents {
            let first = self.all.len();
            if let Some(root) = &document.root {
                if root.get("prerequisites").is_some() || root.get("taskRoles").is_some() {
                    self.all.extend(read::prerequisites(root, Some("")));
                } else if root.as_map().is_some() {
                    self.all.push(read::prerequisite(root, None, Some("")));
                }
            }
            let ids: Vec<Id> = (first..self.all.len()).collect();
            siblings.extend(ids.iter().map(|_| ids.clone()));
            documents.push(ids);
        }
        let listed = job.roles.iter().flat_map(|role| &role.prerequisites);
        let required = self
            .all
            .iter()
            .flat_map(|prerequisite| &prerequisite.require);
        let sites: Vec<Name<'d>> = listed
            .chain(required)
            .filter(|site| site.text.starts_with(SCHEME))
            .copied()
            .collect();
        for site in sites {
            if self.by_reference.contains_key(site.text) {
                continue;
            }
            let found = match fetched.references.get(site.text) {
                Some(Ok(document)) => self.pick(
                    site,
                    &documents[*document],
                    &fetched.documents[*document],
                    sources,
                ),
                Some(Err(failure)) => Err(Box::new(failure_diagnostic(site, failure, plan))),
                None => Err(Box::new(failure_diagnostic(site, &Failure::TooMany, plan))),
            };
            match found {
                Ok(id) => {
                    self.all[id].item = Some(site.text.to_owned());
                    self.by_reference.insert(site.text.to_owned(), id);
                }
                Err(diagnostic) => out.push(*diagnostic),
            }
        }
        siblings
    }

    /// The prerequisite in an item's document that a reference means.
    fn pick(
        &self,
        site: Name<'d>,
        ids: &[Id],
        document: &Document<'_>,
        sources: &Sources,
    ) -> Result<Id, Box<Diagnostic>> {
        let mut problems = Diagnostics::default();
        if let Some(root) = &document.root {
            let shape = if root.get("prerequisites").is_some() || root.get("taskRoles").is_some() {
                &marketplace::ITEM_JOB
            } else {
                &fields::PREREQUISITE
            };
            shape::check(root, shape, sources, &mut problems);
        }
        let broken = document.diagnostics.iter().chain(problems.iter());
        let errors: Vec<&Diagnostic> = broken
            .filter(|problem| problem.severity == Severity::Error)
            .take(3)
            .collect();
        if let [first, ..] = errors.as_slice() {
            let message = format!("the marketplace item `{}` is itself wrong", site.text);
            let mut diagnostic = Diagnostic::new(&codes::INVALID_ITEM, site.span, message)
                .label("named here")
                .help(format!("mend the item: {}", first.message));
            for error in errors {
                diagnostic = diagnostic.related(error.span, error.message.clone());
            }
            return Err(Box::new(diagnostic));
        }
        let reference = ItemRef::parse(site.text);
        let wanted = reference.as_ref().and_then(|item| item.kind.as_deref());
        let name = reference.as_ref().map_or("", |item| &item.name);
        let fits = |id: &&Id| {
            wanted.is_none_or(|kind| self.all[**id].kind.is_some_and(|own| own.word() == kind))
        };
        let named = |id: &&Id| self.all[**id].name.is_some_and(|own| own.text == name);
        let not_image = |id: &&Id| self.all[**id].kind != Some(Kind::DockerImage);
        let choice = match ids {
            [only] => Some(only).filter(fits),
            several => several.iter().filter(fits).find(named).or_else(|| {
                let mut others = several.iter().filter(fits).filter(not_image);
                others.next().filter(|_| others.next().is_none())
            }),
        };
        choice.copied().ok_or_else(|| {
            let kind = wanted.unwrap_or("such");
            let message = format!(
                "the marketplace item `{}` holds no {kind} prerequisite",
                site.text
            );
            let mut diagnostic =
                Diagnostic::new(&codes::WRONG_ITEM_TYPE, site.span, message).label("named here");
            for id in ids {
                let prerequisite = &self.all[*id];
                if let (Some(kind), Some(node)) =
                    (prerequisite.kind, read::value(prerequisite.node, "type"))
                {
                    let note = format!("this is a prerequisite of type `{}`", kind.word());
                    diagnostic = diagnostic.related(node.span, note);
                }
            }
            let right = ids.iter().find_map(|id| self.all[*id].kind);
            match right {
                Some(right) if wanted.is_some() => {
                    let correct = format!("{SCHEME}{}/{name}", right.word());
                    Box::new(diagnostic.help(format!("did you mean `{correct}`?")).fix(
                        "name the item by its type",
                        site.span,
                        correct,
                    ))
                }
                _ => Box::new(diagnostic),
            }
        })
    }
}

/// Without a marketplace nothing can be said of an item; only a plan needs it.
fn failure_diagnostic(site: Name<'_>, failure: &Failure, plan: bool) -> Diagnostic {
    let reference = site.text;
    let missing = |message: String| Diagnostic::new(&codes::MISSING_ITEM, site.span, message);
    match failure {
        Failure::Malformed => missing(format!("`{reference}` names no marketplace item")).help(
            "write `marketplace://data/NAME`, `marketplace://script/NAME` or `marketplace://NAME`",
        ),
        Failure::TooMany => {
            missing("the job names more than a thousand marketplace items".to_owned())
        }
        Failure::Answer(Answer::Ambiguous { candidates }) => missing(format!(
            "`{reference}` could be any of {} marketplace items",
            candidates.len()
        ))
        .help(format!(
            "write one of {}",
            list(candidates.iter().map(String::as_str))
        )),
        Failure::Answer(Answer::Unreadable { reason }) => missing(format!(
            "the marketplace item `{reference}` cannot be read: {reason}"
        )),
        Failure::Answer(Answer::Missing { others }) => {
            let diagnostic = missing(format!("the marketplace has no item `{reference}`"));
            match closest(reference, others.iter().map(String::as_str)) {
                Some(similar) => diagnostic.help(format!("did you mean `{similar}`?")).fix(
                    "name the item that exists",
                    site.span,
                    similar,
                ),
                None if others.is_empty() => diagnostic.help("the marketplace is empty"),
                None => diagnostic.help(format!(
                    "it has {}",
                    list(others.iter().map(String::as_str))
                )),
            }
        }
        Failure::Answer(_) => {
            let message = format!("no marketplace is set up to look for `{reference}`");
            let mut diagnostic = Diagnostic::new(&codes::NO_MARKETPLACE, site.span, message)
                .help("name a folder of items with `--marketplace DIR` or `PINNACE_MARKETPLACE`");
            if plan {
                diagnostic.severity = Severity::Error;
            }
            diagnostic
        }
    }
}
