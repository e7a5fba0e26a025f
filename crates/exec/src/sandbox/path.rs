//! Where the paths of a task lead: a link must not lead out of its root.

use std::fs;
use std::path::{Path, PathBuf};

use super::mounting::Outcome;

/// Where a path of the task lies below its root. A link in it leads to what the task would find, and not to the machine.
pub(super) fn within(root: &Path, path: &Path) -> Outcome<PathBuf> {
    const MOST_LINKS: usize = 40;
    let mut links = 0;
    let mut rest: Vec<std::ffi::OsString> = parts_reversed(path);
    let mut inside = PathBuf::from("/");
    while let Some(part) = rest.pop() {
        let next = inside.join(&part);
        match fs::read_link(below(root, &next)) {
            Ok(leads_to) => {
                links += 1;
                if links > MOST_LINKS {
                    return Err(format!("too many links in {}", path.display()));
                }
                if leads_to.is_absolute() {
                    inside = PathBuf::from("/");
                }
                rest.extend(parts_reversed(&leads_to));
            }
            Err(_) if part == ".." => {
                inside.pop();
            }
            Err(_) => inside = next,
        }
    }
    Ok(below(root, &inside))
}

fn parts_reversed(path: &Path) -> Vec<std::ffi::OsString> {
    use std::path::Component;
    path.components()
        .rev()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            _ => None,
        })
        .collect()
}

/// The same path without symbolic links, as far as it exists. Followed from outside, a link such as `/var/run`
/// would lead out of the task's root.
pub(super) fn resolved(path: &Path) -> PathBuf {
    for known in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (known.canonicalize(), path.strip_prefix(known)) {
            return real.components().chain(rest.components()).collect();
        }
    }
    path.to_owned()
}

/// An absolute path, seen from another root.
pub(super) fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_on_the_way_are_followed_and_the_rest_stays() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        symlink(&real, real.join("link")).unwrap();
        assert_eq!(resolved(&real.join("link/a/b")), real.join("a/b"));
    }

    #[test]
    fn links_stay_within_the_root() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path();
        fs::create_dir(root.join("run")).unwrap();
        fs::create_dir(root.join("var")).unwrap();
        symlink("/run", root.join("var/run")).unwrap();
        symlink("../../../run", root.join("var/up")).unwrap();
        symlink("ring", root.join("ring")).unwrap();
        let within = |path: &str| within(root, Path::new(path));
        assert_eq!(within("/var/run/x"), Ok(root.join("run/x")));
        assert_eq!(within("/var/up/x"), Ok(root.join("run/x")));
        assert_eq!(within("/new/../deep/x"), Ok(root.join("deep/x")));
        assert!(within("/ring/x").is_err());
    }
}
