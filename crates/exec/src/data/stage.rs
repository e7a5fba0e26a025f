//! Before a role's first task: everything that its tasks find.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use pinnace_core::plan::{DataKind, Input, InputMode, Output, OutputMode, Role};
use pinnace_core::text::{Piece, Text};
use pinnace_core::words;
use serde::{Deserialize, Serialize};

use super::copy::{self, at};
use super::place::{self, Place};
use super::tell::{Tell, Teller};
use super::{link, python, remote, snapshot};
use crate::contract::{Attempt, Level, Secrets, Settings};
use crate::local::Layout;
use crate::probe::program;
use crate::sandbox::{Access, Bind};

/// What is ready, by role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Staged {
    pub(crate) roles: IndexMap<String, StagedRole>,
}

/// What is ready for the tasks of a role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StagedRole {
    /// What they see, outer folders before what is mounted inside.
    pub(crate) shown: Vec<Bind>,
    /// Real places that stand for targets where nothing can be mounted, beside those of `shown`.
    pub(crate) instead: Vec<(PathBuf, PathBuf)>,
    /// What tasks are told instead of targets that nobody makes: the addresses of data that they find themselves.
    #[serde(default)]
    pub(crate) told: Vec<(PathBuf, PathBuf)>,
    /// Variables that tell of it.
    pub(crate) variables: IndexMap<String, String>,
    /// Folders to be searched for programs first.
    pub(crate) programs: Vec<PathBuf>,
}

/// Whether anything is to be made ready before tasks of a role start.
pub(crate) fn is_needed(role: &Role) -> bool {
    role.code.is_some()
        || !role.inputs.is_empty()
        || !role.outputs.is_empty()
        || role.python.is_some()
        || role.workdir.is_some()
}

/// Where the data of a role lies.
#[derive(Clone, Debug)]
pub(crate) struct Folders {
    role: PathBuf,
    outputs: PathBuf,
}

impl Folders {
    pub(crate) fn of(role: &str, layout: &Layout, settings: &Settings) -> Self {
        let name = file_name(role);
        let outputs = match &settings.outputs {
            Some(folder) => folder.join(&name),
            None => layout.data().join("outputs").join(&name),
        };
        Self {
            role: layout.data().join(name),
            outputs,
        }
    }

    fn code(&self) -> PathBuf {
        self.role.join("code")
    }

    fn input(&self, name: &str) -> PathBuf {
        self.role.join("inputs").join(file_name(name))
    }

    /// Where the tasks say what they link.
    pub(crate) fn links(&self) -> PathBuf {
        self.role.join("links")
    }

    /// Where an output is written.
    pub(crate) fn output(&self, name: &str) -> PathBuf {
        self.outputs.join(file_name(name))
    }
}

/// A name as one part of a path.
fn file_name(name: &str) -> String {
    let name = name.replace(|char: char| char == '/' || char.is_control(), "_");
    match name.as_str() {
        "" | "." | ".." => format!("_{name}"),
        _ => name,
    }
}

/// Makes everything ready for all roles of the attempt, and tells of it.
pub(crate) fn stage(
    attempt: &Attempt,
    secrets: &Secrets,
    layout: &Layout,
    level: Level,
    teller: &Teller,
) {
    let mut staged = Staged::default();
    for (name, role) in &attempt.plan.roles {
        let runs = attempt.tasks.iter().any(|task| task.id.role == *name);
        if !runs || !is_needed(role) {
            continue;
        }
        let settings = &attempt.settings;
        let stage = Stage {
            settings,
            secrets,
            folders: Folders::of(name, layout, settings),
            level,
            teller,
            ready: StagedRole::default(),
        };
        match stage.role(role) {
            Ok(ready) => {
                staged.roles.insert(name.clone(), ready);
            }
            Err(why) => return teller.tell(&Tell::Failed(why)),
        }
    }
    teller.tell(&Tell::Staged(Box::new(staged)));
}

struct Stage<'a> {
    settings: &'a Settings,
    secrets: &'a Secrets,
    folders: Folders,
    level: Level,
    teller: &'a Teller,
    ready: StagedRole,
}

impl Stage<'_> {
    fn role(mut self, role: &Role) -> Result<StagedRole, String> {
        if let Some(code) = &role.code {
            let to = self.folders.code();
            // What an earlier process left behind when it was killed.
            let _ = fs::remove_dir_all(&to);
            let size = snapshot::take(code, &to, self.level == Level::Overlay, self.settings)?;
            self.teller.note(format!(
                "the code has {} in {}",
                words::bytes(size.bytes),
                words::count(size.files as usize, "file")
            ));
            self.show(to, &code.target, Access::Copy);
        } else if let Some(start) = &role.workdir
            && !Path::new(start).exists()
        {
            let to = self.folders.code();
            copy::open_folder(&to).map_err(|error| error.to_string())?;
            self.show(to, start, Access::Copy);
        }
        self.python(role)?;
        self.usual_name_of_python()?;
        for (name, input) in &role.inputs {
            let done = match input.mode {
                InputMode::Direct => self.address(input, role),
                InputMode::Mount | InputMode::Download => self.input(name, input),
            };
            done.map_err(|why| format!("the input `{name}`: {why}"))?;
        }
        for (name, output) in &role.outputs {
            // Better now than when the work is done.
            if let Some(destination) = &output.destination {
                place::find(destination, self.settings)
                    .map_err(|why| format!("the output `{name}`: {why}"))?;
            }
        }
        for shown in Outputs::of(role, &self.folders, self.settings)?.shown {
            copy::open_folder(&shown.from)
                .map_err(|error| format!("the outputs at `{}`: {error}", shown.to.display()))?;
            self.ready.shown.push(shown);
        }
        self.links(role)?;
        self.ready
            .shown
            .sort_by_key(|shown| shown.to.components().count());
        Ok(self.ready)
    }

    fn cache(&self) -> PathBuf {
        match &self.settings.cache {
            Some(cache) => cache.clone(),
            None => self.folders.role.join("cache"),
        }
    }

    /// Packages, in an environment that tasks see and cannot change.
    fn python(&mut self, role: &Role) -> Result<(), String> {
        let Some(wanted) = &role.python else {
            return Ok(());
        };
        let requirements: Vec<String> = wanted
            .requirements
            .iter()
            .map(|line| line.render(|name| self.secrets.get(name).to_owned()))
            .filter(|line| !line.trim().is_empty())
            .collect();
        let file = wanted
            .file
            .as_ref()
            .map(|file| self.folders.code().join(file));
        let file = file.filter(|file| role.code.is_some() && file.is_file());
        if requirements.is_empty() && file.is_none() {
            return Ok(());
        }
        let cache = self.cache();
        let code = role.code.as_ref().map(|_| self.folders.code());
        let environment = python::environment(
            &requirements,
            file.as_deref(),
            code.as_deref(),
            &cache,
            self.teller,
        )?;
        let place = environment.to_string_lossy().into_owned();
        self.ready.variables.insert("VIRTUAL_ENV".to_owned(), place);
        self.ready.programs.push(environment.join("bin"));
        self.show(environment.clone(), environment, Access::Read);
        Ok(())
    }

    /// Images with Python have it as `python`; many machines have it as `python3` alone.
    fn usual_name_of_python(&mut self) -> Result<(), String> {
        let is_missing = self.ready.programs.is_empty() && program("python").is_none();
        if !is_missing || program("python3").is_none() {
            return Ok(());
        }
        let folder = self.folders.role.join("programs");
        let made = copy::open_folder(&folder).and_then(|()| {
            let path = folder.join("python");
            fs::write(&path, "#!/bin/sh\nexec python3 \"$@\"\n").map_err(at(&path))?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).map_err(at(&path))
        });
        made.map_err(|error| copy::plain(&error))?;
        self.ready.programs.push(folder.clone());
        self.show(folder.clone(), folder, Access::Read);
        Ok(())
    }

    fn show(&mut self, from: PathBuf, to: impl AsRef<Path>, access: Access) {
        self.ready.shown.push(Bind {
            from,
            to: to.as_ref().to_owned(),
            access,
        });
    }

    /// Data of which a task is only told where it lies. What lies in a folder that every task has of its own is shown
    /// to it there.
    fn address(&mut self, input: &Input, role: &Role) -> Result<(), String> {
        let place = match place::find(&input.source, self.settings) {
            Ok(place) => place,
            Err(why) if names_path(role, &input.target) => return Err(why),
            // The task gets the address as it is written.
            Err(_) => return Ok(()),
        };
        let address = match place {
            Place::There(location) => PathBuf::from(location.as_str()),
            Place::Here(path) => {
                let is_near = |other: &PathBuf| other.starts_with(&path) || path.starts_with(other);
                let is_shown = self.settings.storages.values().any(is_near);
                let is_hidden = path.starts_with("/tmp") && path != Path::new("/tmp");
                if is_hidden && path.exists() && !is_shown {
                    self.show(path.clone(), &path, Access::Read);
                }
                path
            }
        };
        self.ready
            .told
            .push((PathBuf::from(&input.target), address));
        Ok(())
    }

    fn input(&mut self, name: &str, input: &Input) -> Result<(), String> {
        let (source, file) = match place::find(&input.source, self.settings)? {
            Place::Here(path) => {
                let file = path.file_name().unwrap_or_default().to_owned();
                (path, file)
            }
            Place::There(location) => {
                let folder = self.folders.input(name).with_extension("fetched");
                let path = remote::fetch(&location, &self.cache(), &folder, self.teller)?;
                (path, location.name().into())
            }
        };
        let kind = fs::metadata(&source).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => format!("there is no `{}`", source.display()),
            _ => at(&source)(error).to_string(),
        })?;
        let access = match input.mode {
            InputMode::Download => Access::Copy,
            _ => Access::Read,
        };
        let target = Path::new(&input.target);
        match (input.kind, kind.is_dir()) {
            (DataKind::File, true) => Err(format!(
                "`{}` is a folder, and a file is wanted",
                source.display()
            )),
            (DataKind::Folder, false) => Err(format!(
                "`{}` is a file, and a folder is wanted",
                source.display()
            )),
            (DataKind::Any, false) => {
                let file = if file.is_empty() { name.into() } else { file };
                let folder = self.folders.input(name);
                copy::open_folder(&folder).map_err(|error| error.to_string())?;
                let stand_in = folder.join(&file);
                let _ = fs::remove_file(&stand_in);
                std::os::unix::fs::symlink(&source, &stand_in)
                    .map_err(|error| at(&stand_in)(error).to_string())?;
                self.ready.instead.push((target.to_owned(), folder));
                self.show(source, target.join(file), access);
                Ok(())
            }
            _ => {
                self.show(source, target, access);
                Ok(())
            }
        }
    }

    fn links(&mut self, role: &Role) -> Result<(), String> {
        let linked: Vec<&str> = role
            .outputs
            .iter()
            .filter(|(_, output)| output.mode == OutputMode::Link)
            .map(|(name, _)| name.as_str())
            .collect();
        if linked.is_empty() {
            return Ok(());
        }
        let folder = self.folders.links();
        copy::open_folder(&folder).map_err(|error| error.to_string())?;
        let variables = &mut self.ready.variables;
        variables.insert(
            link::PINNACE_LINKS.to_owned(),
            folder.join(link::FILE).to_string_lossy().into_owned(),
        );
        variables.insert("AZUREML_LINK_DATASET_OUTPUTS".to_owned(), linked.join(";"));
        self.show(folder.clone(), folder, Access::Write);
        Ok(())
    }
}

/// Whether the command of a role names a path of the task.
fn names_path(role: &Role, wanted: &str) -> bool {
    let mut pieces = role.command.iter().flat_map(Text::pieces);
    pieces.any(|piece| matches!(piece, Piece::Path { path } if path == wanted))
}

/// Where the outputs of a role are written.
#[derive(Debug, Default)]
pub(crate) struct Outputs {
    /// The folders that tasks see.
    shown: Vec<Bind>,
    /// The real place of each output, by name.
    pub(crate) places: IndexMap<String, PathBuf>,
}

impl Outputs {
    pub(crate) fn of(role: &Role, folders: &Folders, settings: &Settings) -> Result<Self, String> {
        let mut outputs = Self::default();
        for (name, output) in &role.outputs {
            outputs
                .add(name, output, folders, settings)
                .map_err(|why| format!("the output `{name}`: {why}"))?;
        }
        Ok(outputs)
    }

    fn add(
        &mut self,
        name: &str,
        output: &Output,
        folders: &Folders,
        settings: &Settings,
    ) -> Result<(), String> {
        let target = Path::new(&output.target);
        let mut place = folders.output(name);
        if let Some(destination) = output.destination.as_ref().filter(|_| output.append) {
            match place::find(destination, settings)? {
                Place::Here(path) => place = path,
                Place::There(_) => {
                    return Err(format!(
                        "nothing can be added to `{destination}` while a task runs"
                    ));
                }
            }
        } else if output.kind == DataKind::File {
            place = place.join(target.file_name().unwrap_or_default());
        }
        let (from, to) = if output.kind == DataKind::File {
            // A file that is mounted by itself could not be replaced by another; so its folder is.
            let outer = target.parent().filter(|outer| outer.parent().is_some());
            let outer = outer.ok_or_else(|| format!("`{}` lies in no folder", output.target))?;
            if let Some(folder) = self.real(outer) {
                let file = target.file_name().unwrap_or_default();
                self.places.insert(name.to_owned(), folder.join(file));
                return Ok(());
            }
            (place.parent().unwrap_or(&place).to_owned(), outer)
        } else {
            (place.clone(), target)
        };
        self.places.insert(name.to_owned(), place);
        self.shown.push(Bind {
            from,
            to: to.to_owned(),
            access: Access::Write,
        });
        Ok(())
    }

    /// The real place of a folder that tasks write to.
    fn real(&self, path: &Path) -> Option<PathBuf> {
        let around = self
            .shown
            .iter()
            .filter(|shown| path.starts_with(&shown.to));
        let nearest = around.max_by_key(|shown| shown.to.components().count())?;
        let rest = path.strip_prefix(&nearest.to).ok()?;
        Some(nearest.from.join(rest))
    }
}
