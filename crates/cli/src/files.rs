//! From what was named on the command line to the texts to read.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};

use pinnace_spec::diagnostic::suggest;

use crate::glob;

/// Something to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Input {
    /// What messages call it.
    pub(crate) name: String,
    /// The file; `None` is standard input.
    path: Option<PathBuf>,
    /// Whether it was named itself, and not found in a folder.
    pub(crate) named: bool,
}

impl Input {
    /// One file, or standard input if it is called `-`.
    pub(crate) fn named(name: &OsStr) -> Self {
        if name == "-" {
            return Input {
                name: "<stdin>".to_owned(),
                path: None,
                named: true,
            };
        }
        Input {
            name: shown(Path::new(name)),
            path: Some(name.into()),
            named: true,
        }
    }

    /// The file; none for standard input.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    fn found(path: PathBuf) -> Self {
        Input {
            name: shown(&path),
            path: Some(path),
            named: false,
        }
    }

    /// The absolute folder of the file; none for standard input.
    pub(crate) fn folder(&self) -> Option<String> {
        let path = std::path::absolute(self.path.as_ref()?).ok()?;
        Some(path.parent()?.to_str()?.to_owned())
    }

    /// Puts the bytes in the place of what a buffer holds: at most `limit` and one more, so that the
    /// reader can tell that there are too many.
    pub(crate) fn read(&self, limit: usize, buffer: &mut Vec<u8>) -> std::io::Result<()> {
        let limit = (limit as u64).saturating_add(1);
        buffer.clear();
        buffer.reserve(8 * 1024);
        match &self.path {
            Some(path) => std::fs::File::open(path)?.take(limit).read_to_end(buffer)?,
            None => std::io::stdin().lock().take(limit).read_to_end(buffer)?,
        };
        Ok(())
    }
}

/// Everything that the names stand for, in their order, each file once; or what is wrong with them.
pub(crate) fn find(names: &[OsString]) -> Result<Vec<Input>, Vec<String>> {
    let mut inputs = Vec::new();
    let mut problems = Vec::new();
    for name in names {
        let path = Path::new(name);
        if name == "-" {
            inputs.push(Input::named(name));
        } else if path.is_dir() {
            let before = inputs.len();
            walk(path, &mut inputs);
            if inputs.len() == before {
                problems.push(format!("no .yaml, .yml or .json file in `{}`", shown(path)));
            }
        } else if path.exists() {
            inputs.push(Input::named(name));
        } else if glob::is_pattern(name) {
            let files = glob::expand(path);
            if files.is_empty() {
                problems.push(format!("no file fits `{}`", shown(path)));
            }
            inputs.extend(files.into_iter().map(|file| Input::named(file.as_os_str())));
        } else {
            problems.push(missing(path));
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    // A folder alone holds each file once.
    if names.len() > 1 || inputs.iter().any(|input| input.named) {
        let mut seen = HashSet::new();
        inputs.retain(|input| seen.insert(input.path.clone()));
    }
    Ok(inputs)
}

/// "No such file", with the name that was probably meant.
pub(crate) fn missing(path: &Path) -> String {
    let mut message = format!("no such file: `{}`", shown(path));
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let siblings: Vec<String> = listed(folder)
        .filter_map(|(sibling, _)| Some(sibling.file_name()?.to_str()?.to_owned()))
        .collect();
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    if let Some(near) = suggest::closest(name, siblings.iter().map(String::as_str)) {
        message.push_str("; did you mean `");
        message.push_str(&shown(&path.with_file_name(near)));
        message.push_str("`?");
    }
    message
}

fn walk(folder: &Path, inputs: &mut Vec<Input>) {
    let known = |path: &Path| {
        let extension = path.extension().and_then(OsStr::to_str);
        matches!(extension, Some("yaml" | "yml" | "json"))
    };
    let mut entries: Vec<(PathBuf, bool)> = listed(folder).collect();
    // As bytes: to compare paths part by part costs more than to read a small file.
    entries.sort_unstable_by(|(one, _), (other, _)| one.as_os_str().cmp(other.as_os_str()));
    for (path, is_folder) in entries {
        if is_folder {
            if !is_skipped_folder(&path) {
                walk(&path, inputs);
            }
        } else if known(&path) && !is_hidden(&path) {
            inputs.push(Input::found(path));
        }
    }
}

/// What stands in a folder, and whether it is a folder itself; a link to a folder is not followed.
pub(crate) fn listed(folder: &Path) -> impl Iterator<Item = (PathBuf, bool)> {
    let here = folder.as_os_str().is_empty();
    let place = if here { Path::new(".") } else { folder };
    let plain = here || folder == Path::new(".");
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    entries.map(move |entry| {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let path = if plain {
            entry.file_name().into()
        } else {
            entry.path()
        };
        (path, is_folder)
    })
}

/// Folders that hold no one's own jobs.
pub(crate) fn is_skipped_folder(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    is_hidden(path) || name == "node_modules" || name == "target"
}

fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.as_encoded_bytes().first() == Some(&b'.')
}

/// A path for people: bytes that are no text and control characters are made visible.
pub(crate) fn shown(path: &Path) -> String {
    let text = path.to_string_lossy();
    if !text.contains(char::is_control) {
        return text.into_owned();
    }
    text.chars()
        .flat_map(|char| {
            let escaped = char.is_control().then(|| char.escape_default());
            let plain = (!char.is_control()).then_some(char);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect()
}

/// Why something cannot be read.
pub(crate) fn in_words(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::PermissionDenied => "no permission to read it".to_owned(),
        std::io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        _ => error.to_string(),
    }
}
