//! From what was named on the command line to the texts to read.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::fcntl::{OFlag, openat};
use nix::sys::stat::Mode;
use pinnace_spec::diagnostic::suggest;

use crate::glob;

/// Something to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Input {
    /// What messages call it.
    pub(crate) name: String,
    place: Place,
    /// Whether it was named itself, and not found in a folder.
    pub(crate) named: bool,
    /// The absolute folder, if it was found in one: all files of a folder share it.
    folder: Option<Arc<str>>,
}

/// Where the bytes come from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    StandardInput,
    /// The file that the name says.
    AsNamed,
    /// A file whose path cannot be shown as it is.
    File(PathBuf),
}

impl Input {
    /// One file, or standard input if it is called `-`.
    pub(crate) fn named(name: &OsStr) -> Self {
        if name == "-" {
            return Input {
                name: "<stdin>".to_owned(),
                place: Place::StandardInput,
                named: true,
                folder: None,
            };
        }
        Input::file(name.into(), true, None)
    }

    fn file(path: OsString, named: bool, folder: Option<Arc<str>>) -> Self {
        let (name, place) = match path.into_string() {
            Ok(text) if is_plain(&text) => (text, Place::AsNamed),
            Ok(text) => (visible(&text), Place::File(text.into())),
            Err(path) => (shown(Path::new(&path)), Place::File(path.into())),
        };
        Input {
            name,
            place,
            named,
            folder,
        }
    }

    /// The file; none for standard input.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.place {
            Place::StandardInput => None,
            Place::AsNamed => Some(Path::new(&self.name)),
            Place::File(path) => Some(path),
        }
    }

    /// The absolute folder of the file; none for standard input.
    pub(crate) fn folder(&self) -> Option<Arc<str>> {
        match &self.folder {
            Some(folder) => Some(folder.clone()),
            None => absolute_folder(self.path()?),
        }
    }

    /// Puts the bytes in the place of what a buffer holds: at most `limit` and one more, so that the
    /// reader can tell that there are too many.
    pub(crate) fn read(&self, limit: usize, buffer: &mut Buffer) -> std::io::Result<()> {
        let limit = (limit as u64).saturating_add(1);
        buffer.bytes.clear();
        buffer.bytes.shrink_to(LARGEST_KEPT);
        buffer.bytes.reserve(USUAL);
        match self.path() {
            Some(path) => {
                let mut file = buffer.open(path, self.folder.as_ref())?;
                // What a walk has found is a file on a disk, which tells its end by giving less than was asked for.
                if self.folder.is_some() && begin(&mut file, &mut buffer.bytes)? < USUAL {
                    return Ok(());
                }
                let left = limit.saturating_sub(buffer.bytes.len() as u64);
                file.take(left).read_to_end(&mut buffer.bytes)?
            }
            None => std::io::stdin()
                .lock()
                .take(limit)
                .read_to_end(&mut buffer.bytes)?,
        };
        Ok(())
    }
}

/// Most files are shorter, and one call reads them.
const USUAL: usize = 8 * 1024;

/// Reads the beginning of a file; how much that is.
fn begin(file: &mut File, bytes: &mut Vec<u8>) -> std::io::Result<usize> {
    bytes.resize(USUAL, 0);
    let count = loop {
        match file.read(bytes) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            other => break other,
        }
    };
    bytes.truncate(*count.as_ref().unwrap_or(&0));
    count
}

/// What serves to read many files, one after another.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    /// What was read last.
    pub(crate) bytes: Vec<u8>,
    /// The folder of the file that was opened last, so that the way to it need not be walked for each of its files.
    folder: Option<(Arc<str>, File)>,
}

/// A buffer that a larger file has stretched beyond this is not kept for the next one.
const LARGEST_KEPT: usize = 1 << 20;

impl Buffer {
    /// What was read last, and with it the memory.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// Takes memory that is needed no more for the next file.
    pub(crate) fn give_back(&mut self, text: String) {
        self.bytes = text.into_bytes();
    }

    /// Opens a file; `folder` is told for those that a walk has found.
    fn open(&mut self, path: &Path, folder: Option<&Arc<str>>) -> std::io::Result<File> {
        match folder.and_then(|folder| self.open_in(path, folder)) {
            Some(file) => Ok(file),
            None => File::open(path),
        }
    }

    fn open_in(&mut self, path: &Path, folder: &Arc<str>) -> Option<File> {
        let bytes = path.as_os_str().as_bytes();
        let (parent, name) = bytes.split_at(memchr::memrchr(b'/', bytes)? + 1);
        let is_held = |(held, _): &(Arc<str>, File)| Arc::ptr_eq(held, folder);
        if !self.folder.as_ref().is_some_and(is_held) {
            let opened = File::open(OsStr::from_bytes(parent)).ok()?;
            self.folder = Some((folder.clone(), opened));
        }
        let (_, folder) = self.folder.as_ref()?;
        let flags = OFlag::O_RDONLY | OFlag::O_CLOEXEC;
        let file = openat(folder, OsStr::from_bytes(name), flags, Mode::empty());
        file.ok().map(File::from)
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
        inputs.retain(|input| seen.insert(input.path().map(Path::to_path_buf)));
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

/// The absolute folder of a file.
fn absolute_folder(file: &Path) -> Option<Arc<str>> {
    let file = std::path::absolute(file).ok()?;
    Some(file.parent()?.to_str()?.into())
}

fn walk(folder: &Path, inputs: &mut Vec<Input>) {
    // By their names alone: to take paths apart costs more than to read a small file.
    let mut entries: Vec<(u64, OsString, bool)> = entries(folder)
        .filter(|entry| !is_stream(entry))
        .map(|entry| (entry.file_name(), is_folder(&entry)))
        .filter(|(name, is_folder)| match is_folder {
            true => !is_skipped_folder(name),
            false => may_hold_a_job(name) && !is_hidden(name),
        })
        .map(|(name, is_folder)| (beginning(&name), name, is_folder))
        .collect();
    entries.sort_unstable();
    let parent = match is_here(folder) {
        true => PathBuf::new(),
        false => folder.join(""), // ends in a slash
    };
    let mut absolute = None;
    for (_, name, is_folder) in entries {
        let mut path = OsString::with_capacity(parent.as_os_str().len() + name.len());
        path.push(&parent);
        path.push(name);
        if is_folder {
            walk(Path::new(&path), inputs);
        } else {
            let absolute = absolute.get_or_insert_with(|| absolute_folder(Path::new(&path)));
            inputs.push(Input::file(path, false, absolute.clone()));
        }
    }
}

/// The first bytes of a name as a number that sorts as they do, so that most names need not be compared.
fn beginning(name: &OsStr) -> u64 {
    let name = name.as_bytes();
    let mut first = [0; 8];
    let count = name.len().min(first.len());
    first[..count].copy_from_slice(&name[..count]);
    u64::from_be_bytes(first)
}

fn may_hold_a_job(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    [".yaml", ".yml", ".json"]
        .iter()
        .any(|ending| name.ends_with(ending.as_bytes()))
}

/// What stands in a folder, and whether it is a folder itself; a link to a folder is not followed.
pub(crate) fn listed(folder: &Path) -> impl Iterator<Item = (PathBuf, bool)> {
    let here = is_here(folder);
    entries(folder).map(move |entry| {
        let path = if here {
            entry.file_name().into()
        } else {
            entry.path()
        };
        (path, is_folder(&entry))
    })
}

fn entries(folder: &Path) -> impl Iterator<Item = std::fs::DirEntry> {
    let place = if is_here(folder) {
        Path::new(".")
    } else {
        folder
    };
    std::fs::read_dir(place).into_iter().flatten().flatten()
}

/// Whether a folder is the current one, whose files are shown by their names alone.
fn is_here(folder: &Path) -> bool {
    folder.as_os_str().is_empty() || folder == Path::new(".")
}

fn is_folder(entry: &std::fs::DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| kind.is_dir())
}

/// Whether it is a pipe, a socket or a device: nobody has asked for what it would say, if ever it said anything.
fn is_stream(entry: &std::fs::DirEntry) -> bool {
    let holds = |kind: std::fs::FileType| kind.is_file() || kind.is_dir() || kind.is_symlink();
    entry.file_type().is_ok_and(|kind| !holds(kind))
}

/// Folders that hold no one's own jobs, by their names.
pub(crate) fn is_skipped_folder(name: &OsStr) -> bool {
    is_hidden(name) || name == "node_modules" || name == "target"
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().first() == Some(&b'.')
}

/// A path for people: bytes that are no text and control characters are made visible.
pub(crate) fn shown(path: &Path) -> String {
    let text = path.to_string_lossy();
    match is_plain(&text) {
        true => text.into_owned(),
        false => visible(&text),
    }
}

/// Whether a text has no control characters.
fn is_plain(text: &str) -> bool {
    let plain = |byte: &u8| matches!(byte, b' '..=b'~');
    text.as_bytes().iter().all(plain) || !text.contains(char::is_control)
}

/// A text with its control characters made visible.
fn visible(text: &str) -> String {
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
