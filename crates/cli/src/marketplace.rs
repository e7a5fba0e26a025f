//! A marketplace that is a folder of item files: `DIR/data/mnist.yaml`, `DIR/script/pai_copy.yml`,
//! `DIR/mnist.yaml`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use pinnace_spec::library::{Answer, ItemRef, Library};

use crate::files::shown;

/// An item larger than this is not read.
const LARGEST_ITEM: u64 = 4 * 1024 * 1024;

/// A folder of item files.
#[derive(Debug)]
pub(crate) struct Folder {
    root: PathBuf,
    items: OnceLock<Vec<Item>>,
}

#[derive(Debug)]
struct Item {
    kind: Option<String>,
    name: String,
    path: PathBuf,
}

impl Item {
    fn reference(&self) -> String {
        ItemRef {
            kind: self.kind.clone(),
            name: self.name.clone(),
        }
        .to_string()
    }
}

impl Folder {
    pub(crate) fn new(root: PathBuf) -> Self {
        Folder {
            root,
            items: OnceLock::new(),
        }
    }

    /// The items, listed once. Only names found by listing are ever opened, so a reference cannot
    /// lead out of the folder.
    fn items(&self) -> &[Item] {
        self.items.get_or_init(|| {
            let mut items = Vec::new();
            for (path, is_folder) in sorted(&self.root) {
                if is_folder {
                    let kind = text_of(path.file_name());
                    for (path, is_folder) in sorted(&path) {
                        items.extend(item(path, kind.clone()).filter(|_| !is_folder));
                    }
                } else {
                    items.extend(item(path, None));
                }
            }
            items
        })
    }

    fn read(item: &Item) -> Answer {
        let too_large = std::fs::metadata(&item.path).is_ok_and(|file| file.len() > LARGEST_ITEM);
        let bytes = if too_large {
            Err("it is larger than 4 MiB".to_owned())
        } else {
            std::fs::read(&item.path).map_err(|error| error.to_string())
        };
        let text =
            bytes.and_then(|bytes| String::from_utf8(bytes).map_err(|error| error.to_string()));
        match text {
            Ok(text) => Answer::Item {
                name: shown(&item.path),
                text,
            },
            Err(reason) => Answer::Unreadable {
                reason: format!("{}: {reason}", shown(&item.path)),
            },
        }
    }
}

impl Library for Folder {
    fn find(&self, wanted: &ItemRef) -> Answer {
        let fits = |item: &&Item| {
            item.name == wanted.name && (wanted.kind.is_none() || item.kind == wanted.kind)
        };
        let found: Vec<&Item> = self.items().iter().filter(fits).collect();
        match found.as_slice() {
            [] => Answer::Missing {
                others: self.items().iter().map(Item::reference).collect(),
            },
            [only] => Self::read(only),
            // The short form means an item outside the folders of kinds, if there is one.
            several => match several.iter().find(|item| item.kind == wanted.kind) {
                Some(exact) => Self::read(exact),
                None => Answer::Ambiguous {
                    candidates: several.iter().map(|item| item.reference()).collect(),
                },
            },
        }
    }
}

fn sorted(folder: &Path) -> BTreeSet<(PathBuf, bool)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| (entry.path(), entry.path().is_dir()))
        .collect()
}

fn item(path: PathBuf, kind: Option<String>) -> Option<Item> {
    let known = matches!(path.extension()?.to_str()?, "yaml" | "yml" | "json");
    let name = text_of(path.file_stem())?;
    (known && !name.starts_with('.')).then_some(Item { kind, name, path })
}

fn text_of(name: Option<&std::ffi::OsStr>) -> Option<String> {
    Some(name?.to_str()?.to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, Folder) {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("data/mnist.yaml", "data"),
            ("script/mnist.yaml", "script"),
            ("script/pai_copy.yml", "copy"),
            ("top.json", "top"),
            ("README.md", ""),
        ] {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let folder = Folder::new(root.path().to_owned());
        (root, folder)
    }

    fn text(folder: &Folder, reference: &str) -> Option<String> {
        match folder.find(&ItemRef::parse(reference).unwrap()) {
            Answer::Item { text, .. } => Some(text),
            _ => None,
        }
    }

    #[test]
    fn items_are_found_by_kind_and_name() {
        let (_root, folder) = folder();
        assert_eq!(
            text(&folder, "marketplace://data/mnist").as_deref(),
            Some("data")
        );
        assert_eq!(
            text(&folder, "marketplace://pai_copy").as_deref(),
            Some("copy")
        );
        assert_eq!(text(&folder, "marketplace://top").as_deref(), Some("top"));
    }

    #[test]
    fn a_short_form_that_fits_two_items_is_ambiguous() {
        let (_root, folder) = folder();
        let candidates = ["marketplace://data/mnist", "marketplace://script/mnist"];
        assert_eq!(
            folder.find(&ItemRef::parse("marketplace://mnist").unwrap()),
            Answer::Ambiguous {
                candidates: candidates.map(str::to_owned).to_vec()
            }
        );
    }

    #[test]
    fn a_missing_item_names_those_that_exist() {
        let (_root, folder) = folder();
        match folder.find(&ItemRef::parse("marketplace://data/minst").unwrap()) {
            Answer::Missing { others } => assert_eq!(others.len(), 4),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn nothing_outside_the_folder_is_found() {
        let (root, folder) = folder();
        let inner = Folder::new(root.path().join("data"));
        let outside = ItemRef {
            kind: Some("..".to_owned()),
            name: "top".to_owned(),
        };
        assert!(matches!(inner.find(&outside), Answer::Missing { .. }));
        assert_eq!(ItemRef::parse("marketplace://../top"), None);
        drop(folder);
    }
}
