//! Warnings about what is legal and surely not meant.
//!
//! A lint stays silent where an error has already been reported: what a misspelt name probably
//! meant counts as used, and a field that cannot be read is not judged.

mod completion;
mod place;
mod retry;
mod secrets;
#[cfg(test)]
mod tests;
mod unused;
mod variables;

use super::model::{Job, Prerequisite};
use super::named::Named;
use crate::diagnostic::Diagnostics;
use crate::source::Sources;
use crate::yaml::{Comment, Node, Value};

/// What the lints look at.
#[derive(Debug)]
pub struct Subject<'a, 'd> {
    /// The job.
    pub job: &'a Job<'d>,
    /// Its own prerequisites and the marketplace items that it uses.
    pub prerequisites: &'a [Prerequisite<'d>],
    /// The comments of the job's file.
    pub comments: &'a [Comment<'a>],
    /// What is known to be named.
    pub named: Named,
    /// The texts.
    pub sources: &'a Sources,
}

impl<'a, 'd> Subject<'a, 'd> {
    /// The prerequisites that stand in the job's own file.
    fn own_prerequisites(&self) -> impl Iterator<Item = &'a Prerequisite<'d>> {
        self.prerequisites
            .iter()
            .filter(|prerequisite| prerequisite.item.is_none())
    }

    /// The job's document and the prerequisites that come from elsewhere.
    fn documents(&self) -> impl Iterator<Item = &'d Node<'d>> {
        let items = self
            .prerequisites
            .iter()
            .filter(|prerequisite| prerequisite.item.is_some());
        std::iter::once(self.job.root).chain(items.map(|item| item.node))
    }
}

/// Adds the warnings of a job.
pub fn check(subject: &Subject<'_, '_>, out: &mut Diagnostics) {
    completion::check(subject, out);
    retry::check(subject, out);
    let in_clear = secrets::check(subject, out);
    unused::check(subject, in_clear, out);
    variables::check(subject, out);
}

/// Calls `visit` with every scalar below a node.
fn each_scalar<'d>(node: &'d Node<'d>, visit: &mut impl FnMut(&'d Node<'d>)) {
    match &node.value {
        Value::Scalar(_) => visit(node),
        Value::List(items) => items.iter().for_each(|item| each_scalar(item, visit)),
        Value::Map(map) => {
            for entry in &map.entries {
                each_scalar(&entry.value, visit);
            }
        }
    }
}
