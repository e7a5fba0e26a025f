//! The files of this machine as a [`Library`].

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use pinnace_control::folder::StateFolder;
use pinnace_control::module::Modules;
use pinnace_spec::library::{Answer, Entry, ItemRef, Library, Look, Module, Registered};

use pinnace_exec::probe;

use crate::marketplace;

/// A larger file is not read into memory.
const LARGEST_FILE: u64 = 256 << 20;

/// More entries than this below a folder are not listed.
const MOST_ENTRIES: usize = 1_000_000;

/// The files of this machine, and a folder of marketplace items if there is one.
#[derive(Debug)]
pub(crate) struct Disk {
    marketplace: Option<marketplace::Folder>,
}

impl Disk {
    pub(crate) fn new(marketplace: Option<marketplace::Folder>) -> Self {
        Disk { marketplace }
    }
}

impl Library for Disk {
    fn find(&self, item: &ItemRef) -> Answer {
        match &self.marketplace {
            Some(folder) => folder.find(item),
            None => Answer::NoMarketplace,
        }
    }

    fn module(&self, id: &str) -> Registered {
        let Some(state) = state_folder() else {
            return Registered::NoRegister;
        };
        let modules = Modules::of(&state);
        if let Some(module) = modules.get(id) {
            return Registered::Module(Module {
                folder: modules.folder(&module).to_string_lossy().into_owned(),
                digest: module.digest,
            });
        }
        let others: Vec<String> = modules.list().into_iter().map(|one| one.id).collect();
        match others.is_empty() {
            true => Registered::NoRegister,
            false => Registered::Missing { others },
        }
    }

    fn is_executable(&self, path: &str) -> bool {
        fs::metadata(path)
            .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    }

    fn has_program(&self, name: &str) -> bool {
        probe::program(name).is_some()
    }

    fn look(&self, path: &str) -> Look {
        match fs::metadata(path) {
            Ok(found) => look_of(&found),
            Err(error) => match error.kind() {
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Look::Missing,
                _ => Look::Unknown,
            },
        }
    }

    fn bytes(&self, path: &str) -> Result<Vec<u8>, String> {
        let size = fs::metadata(path).map_err(|error| error.to_string())?.len();
        if size > LARGEST_FILE {
            return Err(format!("it is larger than {} MiB", LARGEST_FILE >> 20));
        }
        fs::read(path).map_err(|error| error.to_string())
    }

    fn tree(&self, folder: &str) -> Result<Vec<Entry>, String> {
        let mut found = Vec::new();
        walk(Path::new(folder), "", &mut found)?;
        Ok(found)
    }
}

/// The state directory, if there is one.
fn state_folder() -> Option<PathBuf> {
    let path = StateFolder::path_from_environment().ok()?;
    path.canonicalize().ok()
}

fn look_of(found: &fs::Metadata) -> Look {
    if found.is_dir() {
        Look::Folder
    } else {
        Look::File { size: found.len() }
    }
}

fn walk(folder: &Path, prefix: &str, found: &mut Vec<Entry>) -> Result<(), String> {
    let words = |error: std::io::Error| format!("`{}`: {error}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(words)? {
        let entry = entry.map_err(words)?;
        let look = look_of(&entry.metadata().map_err(words)?);
        names.push((entry.file_name().to_string_lossy().into_owned(), look));
    }
    names.sort_by(|one, other| one.0.cmp(&other.0));
    for (name, look) in names {
        if found.len() >= MOST_ENTRIES {
            return Err(format!("there are more than {MOST_ENTRIES} files"));
        }
        let path = format!("{prefix}{name}");
        let below = format!("{path}/");
        found.push(Entry { path, look });
        if look == Look::Folder {
            walk(&folder.join(&name), &below, found)?;
        }
    }
    Ok(())
}
