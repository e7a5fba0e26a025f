//! Where a node comes from.

use pinnace_core::origin::{Cause, Origin};

use super::Node;
use super::node::By;
use crate::source::Sources;

/// The origin of a node at a path of its document: where it is written, or which flag or rule put it
/// there, and instead of what.
pub fn origin(node: &Node<'_>, path: &str, sources: &Sources) -> Origin {
    let Some(replaced) = node.replaced() else {
        return Origin {
            cause: Cause::Written {
                path: path.to_owned(),
            },
            place: Some(sources.place(node.span)),
            via: Vec::new(),
        };
    };
    let (cause, place) = match &replaced.by {
        By::Flag(flag) => (Cause::Flag { flag: flag.clone() }, None),
        By::File => (
            Cause::Written {
                path: path.to_owned(),
            },
            Some(sources.place(node.span)),
        ),
        By::Rule(rule) => (
            Cause::Override { rule: rule.clone() },
            Some(sources.place(node.span)),
        ),
    };
    let was = replaced.was.iter();
    Origin {
        cause,
        place,
        via: was.map(|was| origin(was, path, sources)).collect(),
    }
}
