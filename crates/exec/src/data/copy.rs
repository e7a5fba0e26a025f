//! Copies of files and folders. A copy shares its blocks with the original where the file system can do that.

use std::fs::{self, File, FileTimes, Metadata};
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

/// Something below a folder, with its path from there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
}

/// What it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    Link,
}

/// All files, folders and links below a folder, a folder before what is in it, sorted. Links are not followed;
/// sockets, pipes and devices are no data.
pub(crate) fn walk(folder: &Path) -> io::Result<Vec<Found>> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(inner) = open.pop() {
        let mut entries = Vec::new();
        for entry in fs::read_dir(folder.join(&inner)).map_err(at(&folder.join(&inner)))? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let kind = if kind.is_symlink() {
                Kind::Link
            } else if kind.is_dir() {
                Kind::Folder
            } else if kind.is_file() {
                Kind::File
            } else {
                continue;
            };
            entries.push(Found {
                path: inner.join(entry.file_name()),
                kind,
            });
        }
        let folders = entries.iter().filter(|entry| entry.kind == Kind::Folder);
        open.extend(folders.map(|entry| entry.path.clone()));
        found.append(&mut entries);
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// Copies a file, with its mode and time.
pub(crate) fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to).map_err(|error| match error.kind() {
        io::ErrorKind::StorageFull => at(to)(error),
        _ => both(from, to)(error),
    })?;
    keep_times(&fs::metadata(from)?, to);
    Ok(())
}

/// The time of the original says which of two copies is newer; a file system without times is no reason to fail.
fn keep_times(original: &Metadata, copy: &Path) {
    if let (Ok(modified), Ok(file)) = (original.modified(), File::options().write(true).open(copy))
    {
        let _ = file.set_times(FileTimes::new().set_modified(modified));
    }
}

/// Copies a file, or a folder with all that is in it, to a place that is empty.
pub(crate) fn copy_any(from: &Path, to: &Path) -> io::Result<()> {
    if !fs::metadata(from).map_err(at(from))?.is_dir() {
        return copy_file(from, to);
    }
    fs::create_dir_all(to).map_err(at(to))?;
    for entry in walk(from)? {
        let (source, target) = (from.join(&entry.path), to.join(&entry.path));
        match entry.kind {
            Kind::Folder => fs::create_dir(&target).map_err(at(&target))?,
            Kind::Link => symlink(fs::read_link(&source)?, &target).map_err(at(&target))?,
            Kind::File => copy_file(&source, &target)?,
        }
    }
    Ok(())
}

/// Makes a folder that tasks of any user may enter.
pub(crate) fn open_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path).map_err(at(path))?;
    let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o755));
    Ok(())
}

/// Puts the path into an error.
pub(crate) fn at(path: &Path) -> impl Fn(io::Error) -> io::Error + '_ {
    move |error| {
        io::Error::new(
            error.kind(),
            format!("`{}`: {}", path.display(), plain(&error)),
        )
    }
}

fn both<'p>(from: &'p Path, to: &'p Path) -> impl Fn(io::Error) -> io::Error + 'p {
    move |error| {
        io::Error::new(
            error.kind(),
            format!(
                "cannot copy `{}` to `{}`: {}",
                from.display(),
                to.display(),
                plain(&error)
            ),
        )
    }
}

/// An error of the system in its own words, without its number.
pub(crate) fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_lowercase(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_everything_and_its_times() {
        let scratch = tempfile::tempdir().unwrap();
        let (from, to) = (scratch.path().join("from"), scratch.path().join("to"));
        fs::create_dir_all(from.join("sub/empty")).unwrap();
        fs::write(from.join("sub/file"), "text").unwrap();
        fs::set_permissions(from.join("sub/file"), fs::Permissions::from_mode(0o750)).unwrap();
        symlink("file", from.join("sub/link")).unwrap();
        copy_any(&from, &to).unwrap();
        assert_eq!(walk(&from).unwrap(), walk(&to).unwrap());
        let (old, new) = (
            fs::metadata(from.join("sub/file")).unwrap(),
            fs::metadata(to.join("sub/file")).unwrap(),
        );
        assert_eq!(old.modified().unwrap(), new.modified().unwrap());
        assert_eq!(new.permissions().mode() & 0o777, 0o750);
        assert_eq!(
            fs::read_link(to.join("sub/link")).unwrap(),
            Path::new("file")
        );
    }
}
