//! Origins in words: short for the right-hand column, whole for the chain of one value.

use std::path::Path;

use pinnace_core::origin::{Cause, Origin, Origins, Place};

/// A longer name of a file is left out where it can be.
const LONGEST_NAME: usize = 16;

/// Says where things stand. Places in the file that the whole page is about are said in short.
#[derive(Clone, Copy, Debug)]
pub(super) struct Speaker<'a> {
    file: &'a str,
}

impl<'a> Speaker<'a> {
    pub(super) fn new(file: &'a str) -> Self {
        Speaker { file }
    }

    /// The origin of the leaf at a path, in a few words.
    pub(super) fn origin_at(self, origins: &Origins, path: &str) -> String {
        origins
            .get(path)
            .map(|origin| self.origin(origin))
            .unwrap_or_default()
    }

    /// An origin in a few words: `job.yaml:14`, `default`, `-p batch=28`.
    pub(super) fn origin(self, origin: &Origin) -> String {
        let place = self.place(origin.place.as_ref());
        match &origin.cause {
            Cause::Flag { flag } => flag.clone(),
            Cause::Override { .. } => format!("override {place}"),
            Cause::Default { .. } => "default".to_owned(),
            Cause::Inherited { from } => format!("inherited from {from} ({place})"),
            Cause::Written { .. } | Cause::Made { .. } if place.is_empty() => {
                let via = origin.via.iter().map(|via| self.origin(via));
                via.collect::<Vec<_>>().join(", ")
            }
            // Where the values of a template stand can be asked for; that a flag or another
            // prerequisite has its hand in it must be seen.
            Cause::Written { .. } | Cause::Made { .. } => {
                let mut words = place;
                for via in &origin.via {
                    match &via.cause {
                        Cause::Flag { flag } => words = format!("{words} ← {flag}"),
                        Cause::Override { .. } => {
                            words = format!("{words} ← {}", self.origin(via));
                        }
                        Cause::Inherited { from } => words = format!("{words} ← {from}"),
                        _ => {}
                    }
                }
                words
            }
        }
    }

    /// A place with the last part of its file's name, or only the line if that name is long and
    /// stands in the title.
    pub(super) fn place(self, place: Option<&Place>) -> String {
        let Some(place) = place else {
            return String::new();
        };
        let name = Path::new(&place.file)
            .file_name()
            .and_then(|name| name.to_str());
        let name = name.unwrap_or(&place.file);
        if place.file == self.file && name.chars().count() > LONGEST_NAME {
            format!("line {}", place.line)
        } else {
            format!("{name}:{}", place.line)
        }
    }
}

/// How a value came to be, in words for the chain.
pub(super) fn cause(origin: &Origin) -> String {
    match &origin.cause {
        Cause::Written { path } => path.clone(),
        Cause::Flag { flag } => format!("{flag} on the command line"),
        Cause::Override { rule } => rule.clone(),
        Cause::Default { rule } if rule.is_empty() => "default".to_owned(),
        Cause::Default { rule } => format!("default: {rule}"),
        Cause::Inherited { from } => format!("inherited from {from}"),
        Cause::Made { how } => how.clone(),
    }
}

/// Whether a source's own path, or one below it, has a part in a value.
pub(super) fn uses(origin: &Origin, source_path: &str) -> bool {
    let own = match &origin.cause {
        Cause::Written { path } => is_at_or_below(path, source_path),
        _ => false,
    };
    own || origin.via.iter().any(|via| uses(via, source_path))
}

/// Whether a path is another one or lies below it.
pub(super) fn is_at_or_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Every path of the source that an origin speaks of.
pub(super) fn source_paths<'o>(origin: &'o Origin, found: &mut Vec<&'o str>) {
    if let Cause::Written { path } = &origin.cause {
        found.push(path);
    }
    for via in &origin.via {
        source_paths(via, found);
    }
}
