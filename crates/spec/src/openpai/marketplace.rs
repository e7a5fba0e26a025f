//! Fetches the marketplace items that a job names, and those that the items name in turn.

use std::collections::HashMap;

use super::fields;
use super::model::Job;
use super::read;
use crate::library::{Answer, ItemRef, Library};
use crate::shape::{Object, Shape, Unknown, field};
use crate::source::Sources;
use crate::yaml::access::{names, value};
use crate::yaml::{self, Document, Limits};

/// The scheme of a marketplace reference.
pub const SCHEME: &str = "marketplace://";

/// More items than this are not fetched for one job.
const MOST_ITEMS: usize = 1_000;

/// An item that is written like a job: only its prerequisites count.
pub static ITEM_JOB: Shape = Shape::Object(&Object {
    name: "marketplace item",
    doc: "A job whose prerequisites are offered to others.",
    fields: &[field(
        "prerequisites",
        Shape::List {
            of: &fields::PREREQUISITE,
            min: 1,
        },
        "What is offered.",
    )
    .required()],
    unknown: Unknown::Keep,
    absent: &[],
});

/// What came of the references of one job.
#[derive(Debug, Default)]
pub struct Fetched<'s> {
    /// The items' documents, each once.
    pub documents: Vec<Document<'s>>,
    /// By reference as written: its document, or why there is none.
    pub references: HashMap<String, Result<usize, Failure>>,
}

/// Why a reference has no document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The text after `marketplace://` names nothing.
    Malformed,
    /// The job names more items than are fetched.
    TooMany,
    /// The marketplace's own answer.
    Answer(Answer),
}

/// Fetches all that a job names, directly or through other items.
pub fn fetch<'s>(
    job: &Job<'_>,
    sources: &'s Sources,
    library: &dyn Library,
    limits: &Limits,
) -> Fetched<'s> {
    let mut fetched = Fetched::default();
    let mut by_name: HashMap<String, usize> = HashMap::new();
    let mut open = references(job);
    while let Some(reference) = open.pop() {
        if fetched.references.contains_key(&reference) {
            continue;
        }
        let result = match ItemRef::parse(&reference) {
            None => Err(Failure::Malformed),
            Some(_) if fetched.documents.len() >= MOST_ITEMS => Err(Failure::TooMany),
            Some(item) => match library.find(&item) {
                Answer::Item { name, text } => {
                    Ok(*by_name.entry(name.clone()).or_insert_with(|| {
                        let document = yaml::load(sources.add(name, text), limits);
                        if let Some(root) = &document.root {
                            open.extend(references(&read::job(root)));
                        }
                        fetched.documents.push(document);
                        fetched.documents.len() - 1
                    }))
                }
                other => Err(Failure::Answer(other)),
            },
        };
        fetched.references.insert(reference, result);
    }
    fetched
}

/// The references in a job's roles and in the `require` lists of a job or an item.
fn references(job: &Job<'_>) -> Vec<String> {
    let own = names(value(job.root, "require"));
    let required = job.prerequisites.iter().flat_map(|one| &one.require);
    let listed = job.roles.iter().flat_map(|role| &role.prerequisites);
    let texts = own
        .iter()
        .chain(required)
        .chain(listed)
        .map(|name| name.text);
    let references = texts.filter(|text| text.starts_with(SCHEME));
    references.map(str::to_owned).collect()
}
