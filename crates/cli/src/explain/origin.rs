//! Origins in words: short for the right-hand column, whole for the chain of one value.

use std::path::Path;

use pinnace_core::origin::{Cause, Origin, Origins, Place};

/// The origin of the leaf at a path, in a few words.
pub(super) fn short_at(origins: &Origins, path: &str) -> String {
    origins.get(path).map(short).unwrap_or_default()
}

/// An origin in a few words: `job.yaml:14`, `default`, `-p batch=28`.
pub(super) fn short(origin: &Origin) -> String {
    let mut words = match &origin.cause {
        Cause::Written { .. } | Cause::Made { .. } => place(origin.place.as_ref()),
        Cause::Flag { flag } => return flag.clone(),
        Cause::Default { .. } => "default".to_owned(),
        Cause::Inherited { from } => {
            return format!("inherited from {from} ({})", place(origin.place.as_ref()));
        }
    };
    if words.is_empty() {
        words = origin.via.iter().map(short).collect::<Vec<_>>().join(", ");
    } else {
        // Where the values of a template stand can be asked for; that a flag or another
        // prerequisite has its hand in it must be seen.
        let notable: Vec<String> = origin
            .via
            .iter()
            .filter(|via| matches!(via.cause, Cause::Flag { .. } | Cause::Inherited { .. }))
            .map(short)
            .collect();
        for via in notable {
            words.push_str(" ← ");
            words.push_str(&via);
        }
    }
    words
}

/// A place with the last part of its file's name; the title of the page has the whole.
pub(super) fn place(place: Option<&Place>) -> String {
    place.map_or_else(String::new, |place| {
        let name = Path::new(&place.file)
            .file_name()
            .and_then(|name| name.to_str());
        format!("{}:{}", name.unwrap_or(&place.file), place.line)
    })
}

/// How a value came to be, in words for the chain.
pub(super) fn cause(origin: &Origin) -> String {
    match &origin.cause {
        Cause::Written { path } => path.clone(),
        Cause::Flag { flag } => format!("{flag} on the command line"),
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
