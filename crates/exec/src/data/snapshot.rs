//! A snapshot of the user's code. The folder itself is only read.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

use pinnace_core::ignore::Ignore;
use pinnace_core::plan::{Code, Location};

use super::copy::{self, at};
use super::place::{self, Place};
use super::zip;
use crate::contract::Settings;

/// Larger files are linked where tasks see a copy-on-write view of them: copying them takes longer than it is worth.
/// A program that changes such a file in place, instead of writing it anew, changes the snapshot too.
const LARGE: u64 = 1 << 20;

/// What a snapshot holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

/// Makes a snapshot in a new folder.
pub(crate) fn take(
    code: &Code,
    to: &Path,
    may_link: bool,
    settings: &Settings,
) -> Result<Size, String> {
    let words = |error: io::Error| format!("cannot copy the code: {}", copy::plain(&error));
    copy::open_folder(to).map_err(words)?;
    let source = local(&code.source, settings)?;
    let own = fs::metadata(to).map_err(words)?;
    let mut camera = Camera {
        may_link,
        own: (own.dev(), own.ino()),
        size: Size::default(),
        entered: HashSet::new(),
    };
    let kind = fs::metadata(&source)
        .map_err(|error| format!("the code is not there: {}", at(&source)(error)))?;
    if kind.is_dir() {
        let ignore = ignore_file(&source, &code.ignore).map_err(words)?;
        let root = source.canonicalize().map_err(at(&source)).map_err(words)?;
        camera
            .folder(&source, to, "", &root, &ignore)
            .map_err(words)?;
    } else {
        let name = source.file_name().unwrap_or_default();
        camera.file(&source, &to.join(name)).map_err(words)?;
    }
    for include in &code.includes {
        let source = local(include, settings)?;
        let target = to.join(source.file_name().unwrap_or_default());
        if target.symlink_metadata().is_ok() {
            return Err(format!(
                "the code has two things called `{}`: one of its own, and `{include}`",
                include.name()
            ));
        }
        if let Some(folder) = folder_to_zip(&source) {
            zip::write(&folder, &target).map_err(|error| {
                format!(
                    "`{}` cannot be zipped: {}",
                    folder.display(),
                    copy::plain(&error)
                )
            })?;
            camera.size.files += 1;
            camera.size.bytes += fs::metadata(&target).map_err(words)?.len();
            continue;
        }
        let kind = fs::metadata(&source)
            .map_err(|error| format!("`{include}` is not there: {}", copy::plain(&error)))?;
        if kind.is_dir() {
            copy::open_folder(&target).map_err(words)?;
            let root = source.canonicalize().map_err(words)?;
            camera
                .folder(&source, &target, "", &root, &Ignore::default())
                .map_err(words)?;
        } else {
            camera.file(&source, &target).map_err(words)?;
        }
    }
    Ok(camera.size)
}

/// Copies a folder whole, nothing left out, to a place that is empty.
pub fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    copy::open_folder(to)?;
    let own = fs::metadata(to)?;
    let root = from.canonicalize().map_err(at(from))?;
    let mut camera = Camera {
        may_link: false,
        own: (own.dev(), own.ino()),
        size: Size::default(),
        entered: HashSet::new(),
    };
    camera.folder(&root, to, "", &root, &Ignore::default())
}

/// The folder `x` for an include `x.zip` that is not there.
fn folder_to_zip(include: &Path) -> Option<PathBuf> {
    let is_zip = include.extension().is_some_and(|end| end == "zip");
    let folder = include.with_extension("");
    (is_zip && !include.exists() && folder.is_dir()).then_some(folder)
}

fn local(location: &Location, settings: &Settings) -> Result<PathBuf, String> {
    match place::find(location, settings)? {
        Place::Here(path) => Ok(path),
        Place::There(_) => Err(format!(
            "code must lie on this machine, and `{location}` does not"
        )),
    }
}

/// The rules of the first ignore file that exists.
fn ignore_file(folder: &Path, names: &[String]) -> io::Result<Ignore> {
    for name in names {
        match fs::read(folder.join(name)) {
            Ok(bytes) => return Ok(Ignore::parse(&String::from_utf8_lossy(&bytes))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(at(&folder.join(name))(error)),
        }
    }
    Ok(Ignore::default())
}

/// Whether an overlay of this user can make a changed copy of a file: in a user namespace, one of another group has an
/// owner that it cannot give.
fn can_be_changed(found: &fs::Metadata) -> bool {
    let (user, group) = (nix::unistd::geteuid(), nix::unistd::getegid());
    user.is_root() || (found.uid() == user.as_raw() && found.gid() == group.as_raw())
}

struct Camera {
    may_link: bool,
    /// The snapshot itself, which may lie in what a link leads to.
    own: (u64, u64),
    size: Size,
    /// Folders that links from outside lead to, so that a ring of links ends.
    entered: HashSet<PathBuf>,
}

impl Camera {
    /// `inner` is the path from the folder of the ignore file, with a `/` at its end unless it is empty.
    fn folder(
        &mut self,
        from: &Path,
        to: &Path,
        inner: &str,
        root: &Path,
        ignore: &Ignore,
    ) -> io::Result<()> {
        for entry in fs::read_dir(from).map_err(at(from))? {
            let entry = entry?;
            let name = entry.file_name();
            let (source, target) = (entry.path(), to.join(&name));
            let kind = entry.file_type()?;
            let inner = format!("{inner}{}", name.to_string_lossy());
            if ignore.leaves_out_here(&inner, kind.is_dir()) {
                continue;
            }
            if kind.is_symlink() {
                self.link(&source, &target, &inner, root, ignore)?;
            } else if kind.is_dir() {
                let found = entry.metadata()?;
                if (found.dev(), found.ino()) == self.own {
                    continue;
                }
                fs::create_dir(&target).map_err(at(&target))?;
                self.folder(&source, &target, &format!("{inner}/"), root, ignore)?;
            } else if kind.is_file() {
                self.file(&source, &target)?;
            }
        }
        Ok(())
    }

    /// A link within the folder stays one. For one that leads out, what it leads to is taken: the task would not
    /// find it.
    fn link(
        &mut self,
        from: &Path,
        to: &Path,
        inner: &str,
        root: &Path,
        ignore: &Ignore,
    ) -> io::Result<()> {
        let written = fs::read_link(from)?;
        let Ok(real) = from.canonicalize() else {
            // It leads nowhere, and goes on doing so.
            return symlink(written, to).map_err(at(to));
        };
        if written.is_relative() && real.starts_with(root) {
            return symlink(written, to).map_err(at(to));
        }
        if !real.is_dir() {
            return self.file(&real, to);
        }
        if !self.entered.insert(real.clone()) {
            return Ok(());
        }
        fs::create_dir(to).map_err(at(to))?;
        self.folder(&real, to, &format!("{inner}/"), root, ignore)
    }

    fn file(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let found = fs::metadata(from).map_err(at(from))?;
        let bytes = found.len();
        self.size.files += 1;
        self.size.bytes += bytes;
        let may_link = self.may_link && bytes > LARGE && can_be_changed(&found);
        if may_link && fs::hard_link(from, to).is_ok() {
            return Ok(());
        }
        copy::copy_file(from, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(source: &Path) -> Code {
        Code {
            source: Location::parse(&source.to_string_lossy(), None).unwrap(),
            target: "/code".to_owned(),
            ignore: vec![".amlignore".to_owned(), ".gitignore".to_owned()],
            includes: Vec::new(),
        }
    }

    fn names(folder: &Path) -> Vec<String> {
        let found = copy::walk(folder).unwrap();
        found
            .iter()
            .map(|entry| entry.path.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn the_first_ignore_file_counts_and_links_that_lead_out_are_resolved() {
        let scratch = tempfile::tempdir().unwrap();
        let (source, outside) = (scratch.path().join("src"), scratch.path().join("outside"));
        fs::create_dir_all(source.join("pkg/__pycache__")).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("data.txt"), "outside").unwrap();
        symlink("..", outside.join("up")).unwrap();
        fs::write(source.join(".amlignore"), "__pycache__/\n").unwrap();
        fs::write(source.join(".gitignore"), "*.py\n").unwrap();
        fs::write(source.join("pkg/__pycache__/x"), "x").unwrap();
        fs::write(source.join("pkg/main.py"), "main").unwrap();
        symlink("pkg/main.py", source.join("inner")).unwrap();
        symlink(&outside, source.join("outer")).unwrap();
        let to = scratch.path().join("to");
        take(&code(&source), &to, false, &Settings::default()).unwrap();
        let names = names(&to);
        assert!(names.contains(&"pkg/main.py".to_owned()), "{names:?}");
        assert!(!names.iter().any(|name| name.contains("pycache")));
        assert!(fs::symlink_metadata(to.join("inner")).unwrap().is_symlink());
        assert_eq!(fs::read(to.join("outer/data.txt")).unwrap(), b"outside");
        assert!(!fs::symlink_metadata(to.join("outer")).unwrap().is_symlink());
    }

    #[test]
    fn includes_have_names_of_their_own() {
        let scratch = tempfile::tempdir().unwrap();
        let source = scratch.path().join("src");
        let shared = scratch.path().join("shared");
        fs::create_dir_all(&source).unwrap();
        fs::create_dir_all(shared.join("deep")).unwrap();
        fs::write(shared.join("deep/lib.py"), "lib").unwrap();
        let mut code = code(&source);
        code.includes = vec![Location::parse(&shared.to_string_lossy(), None).unwrap()];
        let to = scratch.path().join("to");
        let size = take(&code, &to, false, &Settings::default()).unwrap();
        assert_eq!(fs::read(to.join("shared/deep/lib.py")).unwrap(), b"lib");
        assert_eq!(size, Size { files: 1, bytes: 3 });
        fs::write(source.join("shared"), "x").unwrap();
        let error = take(
            &code,
            &scratch.path().join("again"),
            false,
            &Settings::default(),
        );
        assert!(error.unwrap_err().contains("two things called `shared`"));
    }

    #[test]
    fn a_single_file_is_code_too() {
        let scratch = tempfile::tempdir().unwrap();
        fs::write(scratch.path().join("main.py"), "main").unwrap();
        let to = scratch.path().join("to");
        take(
            &code(&scratch.path().join("main.py")),
            &to,
            true,
            &Settings::default(),
        )
        .unwrap();
        assert_eq!(names(&to), ["main.py"]);
    }
}
