//! The register of modules: folders of programs that components name by an id, such as the `ref_id` of a Hemera
//! component.
//!
//! | path in the state directory | what it is |
//! | --- | --- |
//! | `modules/ID/module.json` | the entry; without it nothing is registered under the id |
//! | `modules/ID/N/` | the module's files as they were when it was added for the N-th time |
//! | `modules/lock` | held by whoever changes the register |
//!
//! A plan names the folder of one revision, so that what is added later does not change what an earlier job means.
//! Revisions that neither the register nor a job names are removed by [`Modules::sweep`].

use std::collections::HashSet;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use pinnace_core::lifecycle::Time;
use pinnace_core::plan::{Mount, Plan};
use pinnace_core::text::Text;
use pinnace_exec::data;
use pinnace_exec::local::remove_folder;
use serde::{Deserialize, Serialize};

use crate::folder::private_folder;
use crate::store::{Store, StoreError};

/// An entry of the register.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Module {
    /// Its id, in small letters.
    pub id: String,
    /// Its name, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Counts from 1 with every time that something is added under the id.
    pub revision: u32,
    /// `sha256:` and the digest of its files.
    pub digest: String,
    /// How many files.
    pub files: u64,
    /// How many bytes.
    pub bytes: u64,
    /// The folder that was added.
    pub source: PathBuf,
    /// When.
    pub added: Time,
}

/// What is to be added.
#[derive(Clone, Debug)]
pub struct NewModule<'a> {
    /// Its id; its letters may be large.
    pub id: &'a str,
    /// Its name, for people.
    pub name: Option<String>,
    /// The folder to copy.
    pub source: &'a Path,
    /// Whether it may take the place of another one.
    pub replace: bool,
    /// When.
    pub now: Time,
}

/// Why the register cannot do what it is asked.
#[derive(Debug)]
pub enum ModuleError {
    /// Something is registered under the id.
    Taken(Box<Module>),
    /// What is to be added is no folder that can be read; the words say why.
    Source(String),
    /// The register itself cannot be read or written.
    Register(PathBuf, io::Error),
}

impl fmt::Display for ModuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModuleError::Taken(module) => {
                write!(f, "the module `{}` is registered already", module.id)
            }
            ModuleError::Source(why) => f.write_str(why),
            ModuleError::Register(path, error) => {
                write!(f, "`{}` cannot be used: {error}", path.display())
            }
        }
    }
}

impl std::error::Error for ModuleError {}

const ENTRY: &str = "module.json";
const UNFINISHED: &str = ".new";

/// The register.
#[derive(Clone, Debug)]
pub struct Modules {
    root: PathBuf,
}

impl Modules {
    /// The register of a state directory, which need not exist.
    pub fn of(state: &Path) -> Self {
        Modules {
            root: state.join("modules"),
        }
    }

    /// All entries, by id. None if there is no register yet; entries that cannot be read are left out.
    pub fn list(&self) -> Vec<Module> {
        let entries = fs::read_dir(&self.root).into_iter().flatten().flatten();
        let mut modules: Vec<Module> = entries
            .filter_map(|entry| self.get(entry.file_name().to_str()?))
            .collect();
        modules.sort_by(|one, other| one.id.cmp(&other.id));
        modules
    }

    /// The entry of an id.
    pub fn get(&self, id: &str) -> Option<Module> {
        let id = id.to_ascii_lowercase();
        if id.contains(['/', '.']) {
            return None;
        }
        let bytes = fs::read(self.root.join(&id).join(ENTRY)).ok()?;
        let module: Module = serde_json::from_slice(&bytes).ok()?;
        (module.id == id).then_some(module)
    }

    /// The absolute folder with a module's files.
    pub fn folder(&self, module: &Module) -> PathBuf {
        self.root.join(&module.id).join(module.revision.to_string())
    }

    /// Copies a folder into the register.
    pub fn add(&self, new: &NewModule<'_>) -> Result<Module, ModuleError> {
        let kind = fs::metadata(new.source).map_err(|_| {
            ModuleError::Source(format!("there is no folder `{}`", new.source.display()))
        })?;
        if !kind.is_dir() {
            let words = format!("`{}` is no folder", new.source.display());
            return Err(ModuleError::Source(words));
        }
        let id = new.id.to_ascii_lowercase();
        let own = self.root.join(&id);
        let failed = |path: &Path, error| ModuleError::Register(path.to_owned(), error);
        private_folder(&own).map_err(|error| failed(&own, error))?;
        let _lock = self.lock().map_err(|error| failed(&self.root, error))?;
        if let Some(module) = self.get(&id).filter(|_| !new.replace) {
            return Err(ModuleError::Taken(Box::new(module)));
        }
        let draft = own.join(UNFINISHED);
        remove_folder(&draft).map_err(|error| failed(&draft, error))?;
        let copied = data::copy_folder(new.source, &draft).and_then(|()| data::weigh(&draft));
        let weighed = match copied {
            Ok(weighed) => weighed,
            Err(error) => {
                let _ = remove_folder(&draft);
                return Err(ModuleError::Source(format!(
                    "the module cannot be copied: {error}"
                )));
            }
        };
        let Some(digest) = weighed.digest else {
            let _ = remove_folder(&draft);
            let words = format!("there are no files in `{}`", new.source.display());
            return Err(ModuleError::Source(words));
        };
        let revision = revisions(&own).into_iter().max().unwrap_or(0) + 1;
        let module = Module {
            id,
            name: new.name.clone(),
            revision,
            digest,
            files: weighed.files,
            bytes: weighed.bytes,
            source: new
                .source
                .canonicalize()
                .unwrap_or_else(|_| new.source.to_owned()),
            added: new.now,
        };
        let folder = self.folder(&module);
        fs::rename(&draft, &folder).map_err(|error| failed(&folder, error))?;
        self.write(&module).map_err(|error| failed(&own, error))?;
        Ok(module)
    }

    fn write(&self, module: &Module) -> io::Result<()> {
        let own = self.root.join(&module.id);
        let draft = own.join("module.json.new");
        fs::write(&draft, serde_json::to_vec_pretty(module)?)?;
        File::open(&draft)?.sync_all()?;
        fs::rename(&draft, own.join(ENTRY))
    }

    /// Takes an entry out of the register; false if there is none. Its files stay until they are swept away.
    pub fn remove(&self, id: &str) -> Result<bool, ModuleError> {
        let Some(module) = self.get(id) else {
            return Ok(false);
        };
        let path = self.root.join(&module.id).join(ENTRY);
        self.lock()
            .and_then(|_lock| fs::remove_file(&path))
            .map_err(|error| ModuleError::Register(path.clone(), error))?;
        Ok(true)
    }

    /// Removes the files that neither the register nor a job of the store names.
    pub fn sweep(&self, store: &Store) -> Result<(), StoreError> {
        if !self.root.is_dir() {
            return Ok(());
        }
        let Ok(_lock) = self.lock() else {
            return Ok(());
        };
        let mut unnamed = Vec::new();
        for entry in fs::read_dir(&self.root).into_iter().flatten().flatten() {
            let own = entry.path();
            let current = entry.file_name().to_str().and_then(|id| self.get(id));
            let current = current.map(|module| module.revision);
            let others = revisions(&own).into_iter();
            let others = others.filter(|revision| Some(*revision) != current);
            unnamed.extend(others.map(|revision| own.join(revision.to_string())));
        }
        if unnamed.is_empty() {
            return Ok(());
        }
        let used = folders_of_jobs(store)?;
        for folder in unnamed.iter().filter(|folder| !used.contains(*folder)) {
            // What cannot be removed now is left for the next time; so is a folder that still holds something.
            let _ = remove_folder(folder);
            if let Some(own) = folder.parent() {
                let _ = fs::remove_dir(own);
            }
        }
        Ok(())
    }

    fn lock(&self) -> io::Result<File> {
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(self.root.join("lock"))?;
        lock.lock()?;
        Ok(lock)
    }
}

/// Shows the tasks of a module the folders of all datastores, for writing and where they really lie: a module writes its
/// result to a place of its own choice, and its outputs only say where that is.
pub(crate) fn open_datastores(
    plan: &mut Plan,
    datastores: &IndexMap<String, PathBuf>,
    storages: &mut IndexMap<String, PathBuf>,
) {
    if plan.module.is_none() {
        return;
    }
    for (name, folder) in datastores {
        let storage = format!("datastore:{name}");
        for role in plan.roles.values_mut() {
            role.mounts.push(Mount {
                name: storage.clone(),
                storage: Text::from(storage.as_str()),
                target: Text::from(folder.to_string_lossy().as_ref()),
            });
        }
        storages.insert(storage, folder.clone());
    }
}

fn revisions(own: &Path) -> Vec<u32> {
    let entries = fs::read_dir(own).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// The folders from which the jobs of a store take their code.
fn folders_of_jobs(store: &Store) -> Result<HashSet<PathBuf>, StoreError> {
    let mut folders = HashSet::new();
    for summary in store.list(false)? {
        let Some(job) = store.load(&summary.id)? else {
            continue;
        };
        let codes = job
            .plan
            .roles
            .values()
            .filter_map(|role| role.code.as_ref());
        folders.extend(codes.filter_map(|code| code.source.local().map(PathBuf::from)));
    }
    Ok(folders)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::control::{hand_in, now};
    use crate::tests::{plan, role, submission};
    use pinnace_core::plan::{Code, Location};

    const ID: &str = "C3D0FBD2-8b78-4231-a665-3a0de1796264";

    struct Scratch {
        folder: tempfile::TempDir,
        modules: Modules,
    }

    impl Scratch {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let modules = Modules::of(&folder.path().join("state"));
            fs::create_dir(folder.path().join("source")).unwrap();
            let scratch = Scratch { folder, modules };
            scratch.write("one");
            scratch
        }

        fn source(&self) -> PathBuf {
            self.folder.path().join("source")
        }

        fn write(&self, text: &str) {
            fs::write(self.source().join("run.sh"), text).unwrap();
        }

        fn add(&self, replace: bool) -> Result<Module, ModuleError> {
            self.modules.add(&NewModule {
                id: ID,
                name: None,
                source: &self.source(),
                replace,
                now: now(),
            })
        }

        fn text(&self, module: &Module) -> String {
            fs::read_to_string(self.modules.folder(module).join("run.sh")).unwrap()
        }
    }

    #[test]
    fn a_module_is_found_by_its_id_in_any_case_and_keeps_its_files() {
        let scratch = Scratch::new();
        assert_eq!(scratch.modules.list(), []);
        let added = scratch.add(false).unwrap();
        scratch.write("changed");
        let found = scratch.modules.get(ID).unwrap();
        assert_eq!(found, added);
        assert_eq!(scratch.modules.get(&ID.to_lowercase()), Some(added));
        assert_eq!(scratch.text(&found), "one");
        assert_eq!(scratch.modules.list().len(), 1);
        assert_eq!(scratch.modules.get("../modules"), None);
    }

    #[test]
    fn an_id_is_given_to_another_folder_only_if_that_is_wanted() {
        let scratch = Scratch::new();
        let first = scratch.add(false).unwrap();
        assert!(matches!(scratch.add(false), Err(ModuleError::Taken(_))));
        scratch.write("two");
        let second = scratch.add(true).unwrap();
        assert_ne!(first.digest, second.digest);
        assert_eq!(scratch.text(&first), "one");
        assert_eq!(scratch.text(&second), "two");
        assert_eq!(scratch.modules.get(ID), Some(second));
    }

    #[test]
    fn a_folder_without_files_is_no_module() {
        let scratch = Scratch::new();
        fs::remove_file(scratch.source().join("run.sh")).unwrap();
        let error = scratch.add(false).unwrap_err().to_string();
        assert!(error.contains("no files"), "{error}");
        fs::remove_dir(scratch.source()).unwrap();
        let error = scratch.add(false).unwrap_err().to_string();
        assert!(error.contains("there is no folder"), "{error}");
        assert_eq!(scratch.modules.list(), []);
    }

    #[test]
    fn files_that_a_job_needs_outlive_their_entry() {
        let scratch = Scratch::new();
        let mut store = Store::open(&scratch.folder.path().join("state")).unwrap();
        let [first, second] = [scratch.add(false).unwrap(), scratch.add(true).unwrap()];
        let mut runs = role(1, "exit 0");
        let source = scratch.modules.folder(&first);
        runs.code = Some(Code {
            source: Location::parse(source.to_str().unwrap(), None).unwrap(),
            target: "/code".to_owned(),
            ignore: Vec::new(),
            includes: Vec::new(),
        });
        let admitted = submission(plan(vec![("main", runs)])).admit().unwrap();
        let id = hand_in(&mut store, admitted).unwrap();
        assert!(scratch.modules.remove(ID).unwrap());
        assert!(!scratch.modules.remove(ID).unwrap());
        scratch.modules.sweep(&store).unwrap();
        assert!(scratch.modules.folder(&first).exists());
        assert!(!scratch.modules.folder(&second).exists());
        fs::remove_dir_all(store.folder().job(&id)).unwrap();
        drop(store);
    }
}
