//! Notes the origin of every leaf while the plan is made; costs nothing when nobody asks.

use std::fmt::Display;

use pinnace_core::origin::{Cause, Origin, Origins};

use crate::source::Sources;
use crate::template::{Scope, Use};
use crate::yaml::{self, Node};

/// The origins noted so far.
#[derive(Debug)]
pub(crate) struct Trace<'a> {
    sources: &'a Sources,
    origins: Option<Origins>,
}

impl<'a> Trace<'a> {
    /// Notes origins only if `on`.
    pub(crate) fn new(sources: &'a Sources, on: bool) -> Self {
        Trace {
            sources,
            origins: on.then(Origins::default),
        }
    }

    /// Notes the origin of the leaf at a path.
    pub(crate) fn note(&mut self, path: impl Display, origin: impl FnOnce(&Self) -> Origin) {
        if self.origins.is_some() {
            let origin = origin(self);
            if let Some(origins) = &mut self.origins {
                origins.insert(path.to_string(), origin);
            }
        }
    }

    /// Notes a value that is either written at a node or given by a rule.
    pub(crate) fn value(
        &mut self,
        path: impl Display,
        node: Option<&Node<'_>>,
        doc_path: impl Display,
        rule: &str,
    ) {
        self.note(path, |trace| match node {
            Some(node) => trace.written(node, doc_path),
            None => Origin::default_rule(rule),
        });
    }

    /// The origin of a node: where it is written, or who put it there instead of what.
    pub(crate) fn written(&self, node: &Node<'_>, doc_path: impl Display) -> Origin {
        yaml::origin(node, &doc_path.to_string(), self.sources)
    }

    /// The origin of a value that a template took.
    pub(crate) fn used(&self, taken: &Use<'_>) -> Origin {
        let scope = match taken.scope {
            Scope::This => "this",
            scope => scope.name().trim_start_matches('$'),
        };
        let path = if taken.path.is_empty() {
            scope.to_owned()
        } else {
            format!("{scope}.{}", taken.path)
        };
        let written = self.written(taken.node, path);
        match taken.from {
            Some(from) => Origin {
                cause: Cause::Inherited {
                    from: from.to_owned(),
                },
                place: written.place.clone(),
                via: vec![written],
            },
            None => written,
        }
    }

    /// All that was noted.
    pub(crate) fn finish(self) -> Origins {
        self.origins.unwrap_or_default()
    }
}
