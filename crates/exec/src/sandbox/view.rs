//! What a task sees of the machine's files.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};

use nix::mount::{MntFlags, MsFlags, umount2};
use nix::unistd::{chdir, pivot_root};
use serde::{Deserialize, Serialize};

use super::TaskFolder;
use super::machine::{FRESH, Machine, Mounted};
use super::mounting::{
    Outcome, attach, bind_folder, exists_already, make_folder, make_place, open_up, overlay,
    read_only_copy, say,
};
use super::path::{below, resolved, within};
use super::traces::{Places, Traces};
use crate::contract::Level;
use crate::data;
use crate::sys;

/// Without a wish of the job, `/dev/shm` has this size, as in Docker.
const DEFAULT_SHM_MB: u64 = 64;

/// Where OpenPAI keeps what its runtime needs.
const PAI_FOLDER: &str = "/usr/local/pai";

/// A file or folder that a task sees although it lies in a hidden one, or elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Bind {
    pub(crate) from: PathBuf,
    /// Absolute path in the task.
    pub(crate) to: PathBuf,
    pub(crate) access: Access,
}

/// How a task may use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Access {
    /// Only to read.
    Read,
    /// To read and write what is there.
    Write,
    /// As a copy of its own.
    Copy,
}

/// A file that is written for a task.
#[derive(Clone)]
pub(crate) struct WrittenFile {
    /// Absolute path in the task.
    pub(crate) to: PathBuf,
    pub(crate) content: String,
    /// Whether the content holds a secret, which must not come to a disk.
    pub(crate) secret: bool,
}

impl std::fmt::Debug for WrittenFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.to.fmt(f)
    }
}

/// What one task sees.
#[derive(Clone, Debug)]
pub(crate) struct View<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) level: Level,
    pub(crate) folder: &'a TaskFolder,
    /// To keep changes in memory, the task mounts some here; it goes with the task's namespace.
    pub(crate) memory: Option<&'a Path>,
    pub(crate) hidden: &'a [PathBuf],
    pub(crate) binds: Vec<Bind>,
    pub(crate) files: Vec<WrittenFile>,
    pub(crate) shm_mb: u64,
    /// Whether the task speaks of `/usr/local/pai`.
    pub(crate) pai_folder: bool,
    /// Whether anyone wants to know if the task leaves something behind.
    pub(crate) watched: bool,
}

impl View<'_> {
    /// Moves this process, the first of new namespaces, into the view. Gives what tells of changes, if that is wanted and
    /// possible.
    pub(crate) fn enter(&self) -> Outcome<Option<Traces>> {
        if self.level == Level::Plain {
            return self.lay_out().map(|()| None);
        }
        if !self.machine.as_root {
            self.become_root_inside()?;
        }
        if !self.machine.is_private {
            attach(
                None::<&str>,
                "/",
                None,
                MsFlags::MS_REC | MsFlags::MS_PRIVATE,
                None,
            )?;
        }
        if let Some(memory) = self.memory {
            attach(
                Some("tmpfs"),
                memory,
                Some("tmpfs"),
                MsFlags::empty(),
                Some("mode=755"),
            )?;
        }
        // Where the root is mounted. An overlay of all files works in this folder, and needs no path to it.
        let root = &self.folder.changes().join("root.work");
        make_folder(self.folder.changes())?;
        make_folder(root)?;
        match (self.level, self.machine.as_root) {
            (Level::Overlay, true) => self.overlay_all(root)?,
            (Level::Overlay, false) => self.overlay_parts(root)?,
            _ => read_only_copy(root)?,
        }
        self.fresh(root)?;
        let mut hiding = Vec::new();
        for path in self.hidden {
            let inside = below(root, path);
            let shows = |bind: &Bind| bind.to.starts_with(path);
            // In the task's own `/tmp` nothing is there yet. What is shown needs its folders, which cost less in memory.
            if inside.is_dir() || self.binds.iter().any(shows) && make_folder(&inside).is_ok() {
                attach(
                    Some("tmpfs"),
                    &inside,
                    Some("tmpfs"),
                    MsFlags::empty(),
                    Some("size=1m,mode=755"),
                )?;
                hiding.push(inside);
            }
        }
        for (number, bind) in self.binds.iter().enumerate() {
            self.show(root, bind, number)?;
        }
        for (number, file) in self.files.iter().enumerate() {
            let from = match file.secret {
                true => below(root, Path::new("/dev/shm")).join(format!(".pinnace-{number}")),
                false => data::written(self.folder.changes(), number),
            };
            write_file(&from, file)?;
            let (to, access) = (file.to.clone(), Access::Write);
            self.show(root, &Bind { from, to, access }, number)?;
        }
        if self.pai_folder && self.level == Level::Overlay {
            make_folder(&below(root, Path::new(PAI_FOLDER)))?;
        }
        // From the new root, changes and memory cannot be seen.
        let traces = self
            .watched
            .then(|| Traces::watch(&self.places_of_traces(root, hiding)?).ok())
            .flatten();
        say(chdir(root), "enter", root)?;
        say(pivot_root(".", "."), "make it the root", root)?;
        say(umount2(".", MntFlags::MNT_DETACH), "leave", Path::new("/"))?;
        say(chdir("/"), "enter", Path::new("/"))?;
        Ok(traces.and_then(|mut traces| traces.begin().then_some(traces)))
    }

    /// Where the task can leave something. `None` if it cannot be told.
    fn places_of_traces(&self, root: &Path, hiding: Vec<PathBuf>) -> Option<Places> {
        let mut file_systems = vec![self.memory?.to_owned()];
        let layers = fs::read_dir(self.folder.changes()).ok()?.flatten();
        let mut folders: Vec<PathBuf> = layers
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_none_or(|end| end != "work"))
            .collect();
        let shm = below(root, Path::new("/dev/shm"));
        let shared_memory = shm.is_dir().then_some(shm);
        let own_root =
            (self.level == Level::Overlay && !self.machine.as_root).then(|| root.to_owned());
        file_systems.extend(hiding.into_iter().chain(shared_memory).chain(own_root));
        folders.extend(file_systems.iter().cloned());
        let work = within(root, &self.folder.work()).ok()?;
        folders.push(work.clone());
        Some(Places {
            file_systems,
            folders,
            work,
        })
    }

    /// Without mounts: what the task has a copy of is copied to where [`data::RealPlaces`] says.
    fn lay_out(&self) -> Outcome {
        let own = self.folder.changes();
        let copied = |bind: &Bind| bind.access == Access::Copy;
        if self.binds.iter().any(copied) || !self.files.is_empty() {
            make_folder(own)?;
        }
        for (number, bind) in self.binds.iter().enumerate() {
            if copied(bind) {
                copy_own(&bind.from, &data::copy_of(own, number))?;
            }
        }
        for file in &self.files {
            let path = data::laid_out(own, &file.to);
            make_folder(path.parent().unwrap_or(own))?;
            write_file(&path, file)?;
        }
        Ok(())
    }

    /// Shows a file or folder to the task.
    fn show(&self, root: &Path, bind: &Bind, number: usize) -> Outcome {
        let changes = self.folder.changes();
        let is_folder = bind.from.is_dir();
        let target = within(root, &bind.to)?;
        if let Err(error) = make_place(&target, is_folder) {
            let is_closed = matches!(
                error.kind(),
                std::io::ErrorKind::ReadOnlyFilesystem | std::io::ErrorKind::PermissionDenied
            );
            if !is_closed {
                return say(Err::<(), _>(error), "make", &bind.to);
            }
            open_up(root, &target, changes)?;
            say(make_place(&target, is_folder), "make", &bind.to)?;
        }
        match bind.access {
            Access::Read => bind_folder(&bind.from, &target, true),
            Access::Write => bind_folder(&bind.from, &target, false),
            Access::Copy => {
                let by_user = !self.machine.as_root;
                let name = format!("copy{number}");
                let can_overlay = is_folder && self.level == Level::Overlay;
                if can_overlay && overlay(&bind.from, changes, &name, &target, by_user).is_ok() {
                    return Ok(());
                }
                let own = data::copy_of(changes, number);
                copy_own(&bind.from, &own)?;
                bind_folder(&own, &target, false)
            }
        }
    }

    /// In a new user namespace: this user becomes root there, and no other user exists.
    fn become_root_inside(&self) -> Outcome {
        let write = |name: &str, text: String| {
            let path = Path::new("/proc/self").join(name);
            say(fs::write(&path, text), "write", &path)
        };
        write("setgroups", "deny".to_owned())?;
        write("uid_map", format!("0 {} 1", self.machine.uid))?;
        write("gid_map", format!("0 {} 1", self.machine.gid))
    }

    /// As root: one overlay of everything, and one of each file system mounted below.
    fn overlay_all(&self, root: &Path) -> Outcome {
        let changes = self.folder.changes();
        overlay(Path::new("/"), changes, "root", root, false)?;
        for (number, Mounted { path, read_only }) in self.machine.mounts.iter().enumerate() {
            let target = below(root, path);
            let is_hidden = self.hidden.iter().any(|hidden| path.starts_with(hidden));
            if is_hidden || !target.is_dir() {
                continue;
            }
            let name = format!("mount{number}");
            if *read_only || overlay(path, changes, &name, &target, false).is_err() {
                bind_folder(path, &target, true)?;
            }
        }
        Ok(())
    }

    /// As an ordinary user: an empty root with an overlay of each folder that has no mounts below.
    fn overlay_parts(&self, root: &Path) -> Outcome {
        attach(
            Some("tmpfs"),
            root,
            Some("tmpfs"),
            MsFlags::empty(),
            Some("mode=755"),
        )?;
        let mut number = 0;
        self.overlay_children(Path::new("/"), root, self.folder.changes(), &mut number)
    }

    fn overlay_children(
        &self,
        from: &Path,
        to: &Path,
        changes: &Path,
        number: &mut usize,
    ) -> Outcome {
        let Ok(entries) = fs::read_dir(from) else {
            return Ok(());
        };
        for entry in entries.flatten() {
            let (source, target) = (entry.path(), to.join(entry.file_name()));
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if kind.is_symlink() {
                if let Ok(leads_to) = fs::read_link(&source) {
                    let _ = symlink(leads_to, &target);
                }
            } else if kind.is_dir() {
                make_folder(&target)?;
                if FRESH.iter().any(|path| source == Path::new(path)) {
                    continue;
                }
                *number += 1;
                let mounts = &self.machine.mounts;
                let is_mount = mounts.iter().any(|mount| mount.path == source);
                if !is_mount && mounts.iter().any(|mount| mount.path.starts_with(&source)) {
                    self.overlay_children(&source, &target, changes, number)?;
                    continue;
                }
                self.prepare_mount_points(&source, &changes.join(number.to_string()))?;
                if overlay(&source, changes, &number.to_string(), &target, true).is_err() {
                    // What cannot even be shown is left out.
                    let _ = bind_folder(&source, &target, true);
                }
            } else if kind.is_file() && fs::write(&target, "").is_ok() {
                let _ = attach(Some(&source), &target, None, MsFlags::MS_BIND, None);
            }
        }
        Ok(())
    }

    /// An ordinary user may not make folders where the machine's files are those of others, not even in an
    /// overlay. So the folders at which something is mounted are there before the overlay is.
    fn prepare_mount_points(&self, lower: &Path, upper: &Path) -> Outcome {
        let pai = self.pai_folder.then(|| PathBuf::from(PAI_FOLDER));
        let folders = self.binds.iter().filter(|bind| bind.from.is_dir());
        let binds = folders.map(|bind| resolved(&bind.to));
        for path in binds.chain(pai) {
            let Ok(inner) = path.strip_prefix(lower) else {
                continue;
            };
            if path.exists() {
                continue;
            }
            make_folder(upper)?;
            let (mut lower, mut upper) = (lower.to_owned(), upper.to_owned());
            for part in inner {
                lower.push(part);
                upper.push(part);
                make_folder(&upper)?;
                // What lies in the upper layer also tells who may enter.
                if let Ok(known) = fs::metadata(&lower) {
                    say(
                        fs::set_permissions(&upper, known.permissions()),
                        "open",
                        &upper,
                    )?;
                }
            }
        }
        Ok(())
    }

    /// What every task gets anew.
    fn fresh(&self, root: &Path) -> Outcome {
        let no_programs = MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC | MsFlags::MS_NODEV;
        let inside = |path: &str| below(root, Path::new(path));
        attach(
            Some("proc"),
            inside("/proc"),
            Some("proc"),
            no_programs,
            None,
        )?;
        let sys = inside("/sys");
        let own = attach(
            Some("sysfs"),
            &sys,
            Some("sysfs"),
            no_programs | MsFlags::MS_RDONLY,
            None,
        );
        if own.is_err() {
            attach(
                Some("/sys"),
                &sys,
                None,
                MsFlags::MS_BIND | MsFlags::MS_REC,
                None,
            )?;
        }
        // Read-only folders still let devices be opened for writing.
        let dev = inside("/dev");
        attach(
            Some("/dev"),
            &dev,
            None,
            MsFlags::MS_BIND | MsFlags::MS_REC,
            None,
        )?;
        let _ = sys::make_read_only(&dev, false);
        let size = match self.shm_mb {
            0 => DEFAULT_SHM_MB,
            size => size,
        };
        let shm = inside("/dev/shm");
        if shm.is_dir() {
            let options = format!("size={size}m,mode=1777");
            let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
            attach(Some("tmpfs"), &shm, Some("tmpfs"), flags, Some(&options))?;
        }
        let (tmp, own) = (inside("/tmp"), self.folder.changes().join("tmp"));
        if tmp.is_dir() {
            let made = fs::DirBuilder::new()
                .mode(0o777)
                .create(&own)
                .or_else(exists_already);
            say(made, "make", &own)?;
            attach(Some(&own), &tmp, None, MsFlags::MS_BIND, None)?;
        }
        Ok(())
    }
}

fn copy_own(from: &Path, to: &Path) -> Outcome {
    data::copy_any(from, to).map_err(|error| format!("cannot make a copy for the task: {error}"))
}

fn write_file(path: &Path, file: &WrittenFile) -> Outcome {
    let mode = if file.secret { 0o600 } else { 0o644 };
    let written = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(mode)
        .open(path)
        .and_then(|mut to| to.write_all(file.content.as_bytes()));
    say(written, "write", &file.to)
}
