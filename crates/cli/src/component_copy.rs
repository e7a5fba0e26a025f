//! Copies what belongs to a component beside its changed spec. Nothing is ever written over the original.

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use pinnace_core::ignore::Ignore;
use pinnace_spec::component::Parts;

use crate::files::shown;

/// Where copies go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    /// The folder above all originals.
    pub(crate) base: &'a Path,
    /// The folder that stands for it.
    pub(crate) folder: &'a Path,
    /// Whether files that are already there are replaced.
    pub(crate) force: bool,
}

impl Place<'_> {
    /// Where the copy of a file goes.
    pub(crate) fn target(&self, path: &Path) -> Result<PathBuf, String> {
        let inner = path.strip_prefix(self.base);
        inner
            .map(|inner| self.folder.join(inner))
            .map_err(|_| format!("`{}` lies outside the folder", shown(path)))
    }
}

/// Copies the parts of a component, but for the specs, which are written by themselves. Tells how many files there are.
pub(crate) fn copy(parts: &Parts, specs: &[&Path], place: Place<'_>) -> Result<usize, String> {
    let identity = |path: &Path| path.metadata().ok().map(|found| (found.dev(), found.ino()));
    let specs: Vec<_> = specs.iter().filter_map(|path| identity(path)).collect();
    let mut copier = Copier {
        parts,
        specs,
        place,
        own: identity(place.folder),
        copied: HashSet::new(),
    };
    for path in &parts.paths {
        let path = Path::new(path);
        if path.is_dir() {
            let ignore = parts
                .ignore
                .iter()
                .find_map(|name| fs::read(path.join(name)).ok());
            let ignore = ignore.map(|bytes| Ignore::parse(&String::from_utf8_lossy(&bytes)));
            copier.folder(path, "", &ignore.unwrap_or_default())?;
        } else {
            copier.file(path)?;
        }
    }
    Ok(copier.copied.len())
}

struct Copier<'a> {
    parts: &'a Parts,
    specs: Vec<(u64, u64)>,
    place: Place<'a>,
    /// The folder of the copies, which may lie in what is copied.
    own: Option<(u64, u64)>,
    /// What was copied: a file can be named twice.
    copied: HashSet<PathBuf>,
}

impl Copier<'_> {
    fn folder(&mut self, folder: &Path, inner: &str, ignore: &Ignore) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("`{}`: {error}", shown(folder));
        for entry in fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let inner = format!("{inner}{name}");
            // A link that leads nowhere is nothing to copy.
            let Ok(found) = path.metadata() else {
                continue;
            };
            let is_own = self.own == Some((found.dev(), found.ino()));
            if is_own || ignore.leaves_out_here(&inner, found.is_dir()) {
                continue;
            }
            if found.is_file() {
                self.file(&path)?;
            } else if found.is_dir() && path.is_symlink() {
                self.link(&path)?;
            } else if found.is_dir() {
                self.folder(&path, &format!("{inner}/"), ignore)?;
            }
        }
        Ok(())
    }

    /// A link to a folder stays one: what it leads to may be large, or the folder above it.
    fn link(&self, path: &Path) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("`{}`: {error}", shown(path));
        let target = self.place.target(path)?;
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        if self.place.force && target.is_symlink() {
            fs::remove_file(&target).map_err(failed)?;
        }
        let leads = fs::read_link(path).map_err(failed)?;
        symlink(leads, &target).map_err(failed)
    }

    fn file(&mut self, path: &Path) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("`{}`: {error}", shown(path));
        let found = path.metadata().map_err(failed)?;
        let is_spec = self.specs.contains(&(found.dev(), found.ino()));
        if is_spec || !self.copied.insert(path.to_owned()) {
            return Ok(());
        }
        let changed = self.parts.changed.as_ref();
        let changed = changed.filter(|(changed, _)| Path::new(changed) == path);
        let bytes = match changed {
            Some((_, text)) => text.clone().into_bytes(),
            None => fs::read(path).map_err(failed)?,
        };
        let target = self.place.target(path)?;
        write(&target, &bytes, path, self.place.force)?;
        let mode = fs::Permissions::from_mode(found.permissions().mode());
        fs::set_permissions(&target, mode).map_err(failed)?;
        Ok(())
    }
}

/// Writes a file in one step, never over the one that it is made of.
pub(crate) fn write(target: &Path, bytes: &[u8], own: &Path, force: bool) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("`{}`: {error}", shown(target));
    if let Ok(there) = target.metadata() {
        let own = own.metadata().map_err(failed)?;
        if (there.dev(), there.ino()) == (own.dev(), own.ino()) {
            return Err(format!(
                "`{}` is the file itself, which is never written to",
                shown(target)
            ));
        }
        if !force {
            let message = "is already there; `--force` replaces it";
            return Err(format!("`{}` {message}", shown(target)));
        }
    }
    if let Some(parent) = target.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    // What lies behind a link is someone else's file: a new one takes the link's place.
    let mut name = target.to_owned().into_os_string();
    name.push(format!(".{}.part", std::process::id()));
    let part = PathBuf::from(name);
    let file = OpenOptions::new().write(true).create_new(true).open(&part);
    let written = file.and_then(|mut file| file.write_all(bytes));
    let moved = written.and_then(|()| fs::rename(&part, target));
    if moved.is_err() {
        let _ = fs::remove_file(&part);
    }
    moved.map_err(failed)
}
