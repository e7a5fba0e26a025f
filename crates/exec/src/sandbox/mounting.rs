//! The mounts that a view is made of.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use nix::mount::{MntFlags, MsFlags, mount, umount2};

use crate::sys;

/// What went wrong, in words.
pub(super) type Outcome<T = ()> = Result<T, String>;

/// An overlay of a folder, its changes in `changes/NAME`.
pub(super) fn overlay(
    lower: &Path,
    changes: &Path,
    name: &str,
    target: &Path,
    by_user: bool,
) -> Outcome {
    let (upper, work) = (changes.join(name), changes.join(format!("{name}.work")));
    make_folder(&upper)?;
    make_folder(&work)?;
    let mut options = format!(
        "lowerdir={},upperdir={},workdir={},volatile",
        escaped(lower),
        escaped(&upper),
        escaped(&work)
    );
    if by_user {
        options.push_str(",userxattr");
    }
    attach(
        Some("overlay"),
        target,
        Some("overlay"),
        MsFlags::empty(),
        Some(&options),
    )
}

/// Removes the mark by which the kernel knows an overlay that it must not mount again. Nobody will.
pub(crate) fn remove_mark(changes: &Path) {
    let _ = fs::remove_dir_all(changes.join("root.work/work/incompat"));
}

/// The kernel splits the options of an overlay at commas and colons.
fn escaped(path: &Path) -> String {
    path.to_string_lossy()
        .replace('\\', "\\\\")
        .replace(',', "\\,")
        .replace(':', "\\:")
}

pub(super) fn read_only_copy(root: &Path) -> Outcome {
    attach(
        Some("/"),
        root,
        None,
        MsFlags::MS_BIND | MsFlags::MS_REC,
        None,
    )?;
    say(sys::make_read_only(root, true), "make read-only", root)
}

pub(super) fn bind_folder(from: &Path, to: &Path, read_only: bool) -> Outcome {
    attach(
        Some(from),
        to,
        None,
        MsFlags::MS_BIND | MsFlags::MS_REC,
        None,
    )?;
    if read_only {
        say(sys::make_read_only(to, true), "make read-only", to)?;
    }
    Ok(())
}

/// Makes something to mount over.
pub(super) fn make_place(path: &Path, is_folder: bool) -> std::io::Result<()> {
    if is_folder {
        return fs::create_dir_all(path);
    }
    if path.exists() {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::File::create(path).map(drop)
}

/// Makes room for a path in a folder in which nothing can be made: an empty one in its place shows all that is in it.
pub(super) fn open_up(root: &Path, target: &Path, changes: &Path) -> Outcome {
    let folder = target
        .ancestors()
        .skip(1)
        .find(|folder| folder.is_dir())
        .unwrap_or(root);
    let mut number = 0;
    let held = loop {
        let held = changes.join(format!("opened{number}"));
        if !held.exists() {
            break held;
        }
        number += 1;
    };
    make_folder(&held)?;
    let with_all_below = MsFlags::MS_BIND | MsFlags::MS_REC;
    attach(Some(folder), &held, None, with_all_below, None)?;
    attach(
        Some("tmpfs"),
        folder,
        Some("tmpfs"),
        MsFlags::empty(),
        Some("mode=755"),
    )?;
    for entry in say_all(fs::read_dir(&held), "list", folder)?.flatten() {
        let (source, shown) = (entry.path(), folder.join(entry.file_name()));
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_symlink() {
            if let Ok(leads_to) = fs::read_link(&source) {
                let _ = symlink(leads_to, &shown);
            }
        } else if make_place(&shown, kind.is_dir()).is_ok() {
            attach(Some(&source), &shown, None, with_all_below, None)?;
        }
    }
    say(umount2(&held, MntFlags::MNT_DETACH), "let go of", folder)
}

pub(super) fn attach<S: AsRef<Path> + ?Sized, T: AsRef<Path>>(
    source: Option<&S>,
    target: T,
    kind: Option<&str>,
    flags: MsFlags,
    options: Option<&str>,
) -> Outcome {
    let target = target.as_ref();
    let verb = match (kind, source) {
        (Some("overlay"), _) => "mount an overlay at",
        (Some("proc"), _) => "mount proc at",
        (Some(_), _) => "mount a file system at",
        (None, Some(_)) => "bind a folder to",
        (None, None) => "make private",
    };
    say(
        mount(source.map(AsRef::as_ref), target, kind, flags, options),
        verb,
        target,
    )
}

pub(super) fn say<T, E: std::fmt::Display>(
    result: Result<T, E>,
    verb: &str,
    path: &Path,
) -> Outcome {
    result
        .map(drop)
        .map_err(|error| format!("cannot {verb} {}: {error}", path.display()))
}

pub(super) fn say_all<T, E: std::fmt::Display>(
    result: Result<T, E>,
    verb: &str,
    path: &Path,
) -> Outcome<T> {
    result.map_err(|error| format!("cannot {verb} {}: {error}", path.display()))
}

pub(super) fn exists_already(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::AlreadyExists {
        Ok(())
    } else {
        Err(error)
    }
}

pub(super) fn make_folder(path: &Path) -> Outcome {
    if fs::create_dir(path).is_ok() {
        return Ok(());
    }
    say(fs::create_dir_all(path), "make", path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_an_overlay_are_escaped() {
        assert_eq!(escaped(Path::new("/a,b:c")), "/a\\,b\\:c");
    }
}
