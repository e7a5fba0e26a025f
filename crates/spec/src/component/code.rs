//! The code of a component as the outside has it: what belongs to its snapshot.

use pinnace_core::ignore::Ignore;

use super::includes::Include;
use super::{paths, snapshot};
use crate::library::{Library, Look};

/// The files that say what is left out of a snapshot; the first that exists is used.
pub(super) const IGNORE_FILES: &[&str] = &[".amlignore", ".gitignore"];

/// More than this is no code; its id is not worked out.
const MOST_FILES: usize = 2_000;
const MOST_BYTES: u64 = 32 << 20;

/// The snapshot id of a code folder with its includes; nothing if it cannot be read or is too large.
pub(super) fn snapshot_id(
    folder: &str,
    included: &[Include],
    library: &dyn Library,
) -> Option<String> {
    let ignore = IGNORE_FILES
        .iter()
        .map(|name| paths::absolute(folder, name))
        .find(|path| matches!(library.look(path), Look::File { .. }))
        .and_then(|path| library.text(&path).ok())
        .map(|text| Ignore::parse(&text))
        .unwrap_or_default();
    let mut content = Content {
        library,
        ignore: &ignore,
        entries: Vec::new(),
        bytes: 0,
    };
    content.folder(folder, "")?;
    for include in included {
        // The bytes of a zip file are not known before it is made, and Azure ML puts times into them.
        if library.look(&include.path) == Look::Missing {
            return None;
        }
        let name = paths::file_name(&include.path);
        match library.look(&include.path) {
            Look::Folder => {
                content.add(name.to_owned(), None)?;
                content.folder(&include.path, name)?;
            }
            _ => content.file(&include.path, name.to_owned())?,
        }
    }
    let entries = content.entries.iter();
    Some(snapshot::id(
        entries.map(|(path, bytes)| (path.as_str(), bytes.as_deref())),
    ))
}

/// What was read so far.
struct Content<'a> {
    library: &'a dyn Library,
    ignore: &'a Ignore,
    entries: Vec<(String, Option<Vec<u8>>)>,
    bytes: u64,
}

impl Content<'_> {
    /// Reads all below a folder that is not left out; nothing if that is too much.
    fn folder(&mut self, folder: &str, prefix: &str) -> Option<()> {
        for entry in self.library.tree(folder).ok()? {
            let path = match prefix {
                "" => entry.path.clone(),
                prefix => format!("{prefix}/{}", entry.path),
            };
            let is_folder = entry.look == Look::Folder;
            let is_list = !path.contains('/') && path.ends_with(".additional_includes");
            if is_list || self.ignore.leaves_out(&path, is_folder) {
                continue;
            }
            if is_folder {
                self.add(path, None)?;
            } else {
                self.file(&paths::absolute(folder, &entry.path), path)?;
            }
        }
        Some(())
    }

    fn file(&mut self, place: &str, path: String) -> Option<()> {
        let Look::File { size } = self.library.look(place) else {
            return Some(());
        };
        self.bytes = self
            .bytes
            .checked_add(size)
            .filter(|all| *all <= MOST_BYTES)?;
        let bytes = self.library.bytes(place).ok()?;
        self.add(path, Some(bytes))
    }

    fn add(&mut self, path: String, bytes: Option<Vec<u8>>) -> Option<()> {
        self.entries.push((path, bytes));
        (self.entries.len() <= MOST_FILES).then_some(())
    }
}
