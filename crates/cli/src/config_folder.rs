//! A folder of configuration files, as Hydra lays it out: a folder for each group, a file for each option.

use std::path::{Component, Path, PathBuf};

use pinnace_spec::hydra::{self, Files};

use crate::files::{in_words, listed, shown};

/// The main file lies at most so many folders below the folder of the groups.
const DEEPEST: usize = 4;

const ENDINGS: [&str; 2] = ["yaml", "yml"];

/// The folder.
#[derive(Debug)]
pub(crate) struct ConfigFolder {
    root: PathBuf,
}

impl ConfigFolder {
    pub(crate) fn new(root: PathBuf) -> Self {
        ConfigFolder { root }
    }

    /// The folder above a main file that has the groups which it names, and the file's path in it.
    pub(crate) fn of_main_file(file: &Path) -> std::io::Result<(Self, String)> {
        let text = String::from_utf8_lossy(&std::fs::read(file)?).into_owned();
        let groups = hydra::groups(&text);
        let file = std::path::absolute(file)?;
        let above = || file.ancestors().skip(1).take(DEEPEST);
        let has = |root: &Path| {
            groups
                .iter()
                .filter(|group| root.join(group).is_dir())
                .count()
        };
        let most = above().map(has).max().unwrap_or_default();
        let root = above().find(|root| has(root) == most).unwrap_or(&file);
        let main = file.strip_prefix(root).unwrap_or(&file).with_extension("");
        // What was typed is shown again; an absolute path only if one was typed.
        let folder = ConfigFolder::new(relative_to_here(root));
        Ok((folder, main.to_string_lossy().into_owned()))
    }

    fn file(&self, path: &str) -> Option<PathBuf> {
        let path = Path::new(path);
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        if path.as_os_str().is_empty() || !path.components().all(is_plain) {
            return None;
        }
        Some(self.root.join(path))
    }
}

fn relative_to_here(path: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    match path.strip_prefix(here) {
        Ok(relative) => relative.to_owned(),
        Err(_) => path.to_owned(),
    }
}

impl Files for ConfigFolder {
    fn text(&self, path: &str) -> Option<Result<(String, String), String>> {
        let base = self.file(path)?;
        for ending in ENDINGS {
            let mut name = base.clone().into_os_string();
            name.push(".");
            name.push(ending);
            let file = PathBuf::from(name);
            match std::fs::read(&file) {
                Ok(bytes) => {
                    let text =
                        String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned());
                    return Some(text.map(|text| (shown(&file), text)));
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Some(Err(in_words(&error))),
            }
        }
        None
    }

    fn options(&self, group: &str) -> Vec<String> {
        let Some(folder) = self.file(group).filter(|folder| folder.is_dir()) else {
            return Vec::new();
        };
        let mut names: Vec<String> = listed(&folder)
            .filter(|(path, is_folder)| {
                let ending = path.extension().and_then(|ending| ending.to_str());
                !is_folder && ending.is_some_and(|ending| ENDINGS.contains(&ending))
            })
            .filter_map(|(path, _)| Some(path.file_stem()?.to_str()?.to_owned()))
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}
