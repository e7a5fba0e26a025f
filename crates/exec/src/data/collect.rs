//! After a role's last task: outputs go to where they belong.
//!
//! Every file is put into its place in one step, so that a reader sees the old one or the new one. What cannot be brought
//! to its place stays where the tasks have written it. Doing it again changes nothing.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use pinnace_core::plan::{DataKind, Location, Output, OutputMode, Role};

use super::copy::{self, Kind, at};
use super::digest::weigh;
use super::place::{self, Place};
use super::stage::{Folders, Outputs};
use super::{Teller, link, pointer, remote};
use crate::contract::{Attempt, Collected, Settings};
use crate::local::{Layout, write_atomically};

/// Collects the outputs of a role and writes down what came of it. `may_clear`: what was brought to its place need not be
/// kept for another attempt.
pub(crate) fn collect(
    attempt: &Attempt,
    layout: &Layout,
    role_name: &str,
    may_clear: bool,
    teller: &Teller,
) -> Vec<Collected> {
    let Some(role) = attempt.plan.roles.get(role_name) else {
        return Vec::new();
    };
    let folders = Folders::of(role_name, layout, &attempt.settings);
    let collected = of_role(
        role_name,
        role,
        &folders,
        &attempt.settings,
        may_clear,
        teller,
    );
    let mut all = read(layout);
    all.retain(|earlier| earlier.role != role_name);
    all.extend(collected.iter().cloned());
    if let Ok(bytes) = serde_json::to_vec_pretty(&all) {
        let _ = write_atomically(&layout.collected(), &bytes);
    }
    collected
}

/// What was collected of an attempt until now.
pub(crate) fn read(layout: &Layout) -> Vec<Collected> {
    let bytes = fs::read(layout.collected()).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// Roles of an attempt whose tasks may have left outputs that nobody has collected.
pub(crate) fn outstanding(attempt: &Attempt, layout: &Layout) -> Vec<String> {
    let done = read(layout);
    attempt
        .plan
        .roles
        .iter()
        .filter(|(name, role)| {
            !role.outputs.is_empty()
                && attempt.tasks.iter().any(|task| task.id.role == **name)
                && !done.iter().any(|collected| collected.role == **name)
        })
        .map(|(name, _)| name.clone())
        .collect()
}

fn of_role(
    role_name: &str,
    role: &Role,
    folders: &Folders,
    settings: &Settings,
    may_clear: bool,
    teller: &Teller,
) -> Vec<Collected> {
    let links = link::read(&folders.links());
    let places = Outputs::of(role, folders, settings)
        .unwrap_or_default()
        .places;
    let mut all = Vec::new();
    for (name, output) in &role.outputs {
        let mut collected = Collected {
            role: role_name.to_owned(),
            output: name.clone(),
            location: String::new(),
            files: 0,
            bytes: 0,
            digest: None,
            linked: output.mode == OutputMode::Link,
            points_to: None,
            failure: None,
        };
        let done = if output.mode == OutputMode::Link {
            linked(name, &links, settings, &mut collected)
        } else {
            match places.get(name) {
                Some(place) => {
                    // What was moved away can no longer be read here.
                    let pointed = match output.pointer {
                        true => pointer::read(name, place).map(Some),
                        false => Ok(None),
                    };
                    moved(place, output, settings, may_clear, &mut collected, teller)
                        .and_then(|()| pointed.map(|pointed| collected.points_to = pointed))
                }
                None => Err("its place is not known".to_owned()),
            }
        };
        collected.failure = done.err();
        all.push(collected);
    }
    all
}

fn linked(
    name: &str,
    links: &Result<IndexMap<String, Location>, String>,
    settings: &Settings,
    collected: &mut Collected,
) -> Result<(), String> {
    let links = links.as_ref().map_err(Clone::clone)?;
    let location = links
        .get(name)
        .ok_or_else(|| format!("the output `{name}` was never linked"))?;
    collected.location = location.to_string();
    if let Place::Here(path) = place::find(location, settings)? {
        if !path.exists() {
            return Err(format!(
                "the output `{name}` is linked to `{}`, which is not there",
                path.display()
            ));
        }
        collected.location = path.to_string_lossy().into_owned();
        weigh_into(&path, collected)?;
    }
    Ok(())
}

fn weigh_into(path: &Path, collected: &mut Collected) -> Result<(), String> {
    let weighed = weigh(path).map_err(|error| copy::plain(&error))?;
    collected.files = weighed.files;
    collected.bytes = weighed.bytes;
    collected.digest = weighed.digest;
    Ok(())
}

fn moved(
    from: &Path,
    output: &Output,
    settings: &Settings,
    may_clear: bool,
    collected: &mut Collected,
    teller: &Teller,
) -> Result<(), String> {
    collected.location = from.to_string_lossy().into_owned();
    weigh_into(from, collected)?;
    let Some(destination) = &output.destination else {
        return Ok(());
    };
    if collected.files == 0 && !from.exists() {
        return Ok(());
    }
    let kept = |why: String| {
        format!(
            "the output `{}` cannot be brought to `{destination}`: {why}; it is kept in `{}`",
            collected.output,
            from.display()
        )
    };
    match place::find(destination, settings).map_err(kept)? {
        Place::Here(to) => {
            let to = if output.kind == DataKind::File && to.is_dir() {
                to.join(from.file_name().unwrap_or_default())
            } else {
                to
            };
            if !output.append {
                bring(from, &to).map_err(|error| kept(copy::plain(&error)))?;
                if may_clear {
                    clear(from);
                }
            }
            collected.location = to.to_string_lossy().into_owned();
            Ok(())
        }
        Place::There(location) => {
            remote::send(from, &location, teller).map_err(kept)?;
            if may_clear {
                clear(from);
            }
            collected.location = location.to_string();
            Ok(())
        }
    }
}

/// The destination has it all; what the tasks wrote is only another name of it, or a copy.
fn clear(from: &Path) {
    let _ = if from.is_dir() {
        fs::remove_dir_all(from)
    } else {
        fs::remove_file(from)
    };
}

/// Puts a file, or all that is in a folder, into its place. What lies there under other names stays.
fn bring(from: &Path, to: &Path) -> io::Result<()> {
    if !fs::metadata(from).map_err(at(from))?.is_dir() {
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder).map_err(at(folder))?;
        }
        return bring_file(from, to);
    }
    fs::create_dir_all(to).map_err(at(to))?;
    for entry in copy::walk(from)? {
        let (source, target) = (from.join(&entry.path), to.join(&entry.path));
        match entry.kind {
            Kind::Folder => {
                if !target.is_dir() {
                    fs::create_dir(&target).map_err(at(&target))?;
                }
            }
            Kind::File => bring_file(&source, &target)?,
            Kind::Link => {
                let new = beside(&target);
                let _ = fs::remove_file(&new);
                symlink(fs::read_link(&source)?, &new).map_err(at(&new))?;
                fs::rename(&new, &target).map_err(at(&target))?;
            }
        }
    }
    Ok(())
}

fn bring_file(from: &Path, to: &Path) -> io::Result<()> {
    let new = beside(to);
    let _ = fs::remove_file(&new);
    if fs::hard_link(from, &new).is_err()
        && let Err(error) = copy::copy_file(from, &new)
    {
        let _ = fs::remove_file(&new);
        // The name that it has for a moment tells nobody anything.
        let text = error
            .to_string()
            .replace(&*new.to_string_lossy(), &to.to_string_lossy());
        return Err(io::Error::new(error.kind(), text));
    }
    let placed = fs::rename(&new, to).map_err(at(to));
    // If both are names of one file already, renaming does nothing and leaves both.
    let _ = fs::remove_file(&new);
    placed
}

/// A name for a file that is not complete yet.
fn beside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".pinnace-");
    name.push(path.file_name().unwrap_or_default());
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bringing_twice_changes_nothing_and_keeps_what_lies_there() {
        let scratch = tempfile::tempdir().unwrap();
        let (from, to) = (scratch.path().join("from"), scratch.path().join("to"));
        fs::create_dir_all(from.join("sub")).unwrap();
        fs::create_dir_all(&to).unwrap();
        fs::write(from.join("sub/model"), "new").unwrap();
        symlink("sub/model", from.join("latest")).unwrap();
        fs::write(to.join("older"), "stays").unwrap();
        for _ in 0..2 {
            bring(&from, &to).unwrap();
            let names: Vec<String> = copy::walk(&to)
                .unwrap()
                .iter()
                .map(|entry| entry.path.to_string_lossy().into_owned())
                .collect();
            assert_eq!(names, ["latest", "older", "sub", "sub/model"]);
        }
        assert_eq!(fs::read(to.join("latest")).unwrap(), b"new");
    }
}
