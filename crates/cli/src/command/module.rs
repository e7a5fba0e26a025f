use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use pinnace_control::control::now;
use pinnace_control::folder::StateFolder;
use pinnace_control::module::{Module, ModuleError, Modules, NewModule};
use pinnace_core::words;
use pinnace_spec::component::check::is_guid;
use pinnace_spec::component::entry::{self, NoStart};
use pinnace_spec::diagnostic::suggest;
use serde::Serialize;

use super::{Exit, Format, complain, print_json, usage};
use crate::disk::Disk;
use crate::files::{in_words, shown};
use crate::moment::ago;
use crate::state::{self, store_failed};
use crate::terminal::{self, Color};

/// More programs of a module are not listed.
const MOST_PROGRAMS: usize = 20;

/// The register of modules: what components name by an id
///
/// A Hemera component stands for a module and names it by its id (`hemera.ref_id`). A module is a folder of programs. It
/// is copied when it is added, so that what is changed in the folder later does not change what a job means.
#[derive(Debug, Args)]
#[command(
    name = "module",
    after_help = "\
Examples:
  pinnace module add ./lr-dnn --id c3d0fbd2-8b78-4231-a665-3a0de1796264
  pinnace module ls
  pinnace module show c3d0fbd2-8b78-4231-a665-3a0de1796264
  pinnace module check                              whether all are whole, and what their programs need
  pinnace module rm c3d0fbd2-8b78-4231-a665-3a0de1796264"
)]
pub(crate) struct ModuleArgs {
    #[command(subcommand)]
    command: ModuleCommand,
}

#[derive(Debug, Subcommand)]
enum ModuleCommand {
    /// Register a folder as a module
    Add {
        /// The folder with its programs
        #[arg(value_name = "DIR")]
        folder: PathBuf,

        /// The id by which components name it
        #[arg(long, value_name = "GUID")]
        id: String,

        /// What to call it
        #[arg(long, value_name = "TEXT")]
        name: Option<String>,

        /// Take the place of the module that has the id already
        #[arg(long)]
        replace: bool,

        /// How to show what was added
        #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
        output_format: Format,
    },
    /// List all modules
    Ls {
        /// How to show them
        #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
        output_format: Format,
    },
    /// Show a module: where its files lie, and how its programs are started here
    Show {
        /// Its id
        #[arg(value_name = "GUID")]
        id: String,

        /// How to show it
        #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
        output_format: Format,
    },
    /// Take modules out of the register; jobs that run one keep its files
    Rm {
        /// Their ids
        #[arg(value_name = "GUID", required = true)]
        ids: Vec<String>,
    },
    /// Check whether the files of modules are as they were added, and whether their programs can be started here
    #[command(
        after_help = "Exit status: 0 all is well, 1 a module is damaged or has a program that cannot be started here."
    )]
    Check {
        /// Their ids; all modules if none is given
        #[arg(value_name = "GUID")]
        ids: Vec<String>,

        /// How to show what was found
        #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
        output_format: Format,
    },
}

/// A module as it is shown.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct View {
    #[serde(flatten)]
    module: Module,
    folder: PathBuf,
    programs: Vec<Program>,
}

/// A program at the top of a module.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Program {
    name: String,
    /// The words that start it here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    starts: Vec<String>,
    /// Why it cannot be started here.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl ModuleArgs {
    pub(crate) fn run(self, color: Color) -> Exit {
        let done = match self.command {
            ModuleCommand::Add {
                folder,
                id,
                name,
                replace,
                output_format,
            } => add(&folder, &id, name, replace, output_format, color),
            ModuleCommand::Ls { output_format } => list(output_format, color),
            ModuleCommand::Show { id, output_format } => show(&id, output_format, color),
            ModuleCommand::Rm { ids } => remove(&ids, color),
            ModuleCommand::Check { ids, output_format } => check(&ids, output_format, color),
        };
        done.unwrap_or_else(|exit| exit)
    }
}

/// The register, which need not exist yet.
fn register(color: Color) -> Result<Modules, Exit> {
    let state = StateFolder::path_from_environment();
    let state = state.map_err(|error| store_failed(color, &error))?;
    Ok(Modules::of(&state.canonicalize().unwrap_or(state)))
}

fn add(
    folder: &Path,
    id: &str,
    name: Option<String>,
    replace: bool,
    format: Format,
    color: Color,
) -> Result<Exit, Exit> {
    if !is_guid(id) {
        let message = format!("`{id}` is no GUID: 32 hexadecimal digits as 8-4-4-4-12");
        return Err(usage(color, &[message]));
    }
    let store = state::open(color)?;
    let modules = Modules::of(store.folder().path());
    let new = NewModule {
        id,
        name,
        source: folder,
        replace,
        now: now(),
    };
    let module = modules.add(&new).map_err(|error| failed(color, &error))?;
    modules
        .sweep(&store)
        .map_err(|error| store_failed(color, &error))?;
    match format {
        Format::Json => print_json(&view(&modules, module)),
        Format::Text => terminal::print(&format!("{}\n", module.id)),
    }
    Ok(Exit::Clean)
}

fn failed(color: Color, error: &ModuleError) -> Exit {
    complain(color, &error.to_string());
    match error {
        ModuleError::Taken(module) => {
            let from = shown(&module.source);
            terminal::talk(&format!(
                "  help: it was added from `{from}` {} ago; `--replace` puts this one in its place\n",
                ago(module.added)
            ));
            Exit::Usage
        }
        ModuleError::Source(_) => Exit::Usage,
        ModuleError::Register(..) => Exit::Engine,
    }
}

fn list(format: Format, color: Color) -> Result<Exit, Exit> {
    let modules = register(color)?.list();
    match format {
        Format::Json => print_json(&modules),
        Format::Text => {
            let mut page = String::new();
            for module in &modules {
                let _ = writeln!(
                    page,
                    "{} {:>10} {:>14}  {}",
                    module.id,
                    words::bytes(module.bytes),
                    format!("{} ago", ago(module.added)),
                    module.name.as_deref().unwrap_or_default()
                );
            }
            if modules.is_empty() {
                page.push_str(
                    "there are no modules yet; `pinnace module add DIR --id GUID` registers one\n",
                );
            }
            terminal::print(&page);
        }
    }
    Ok(Exit::Clean)
}

/// The module of an id, or all if there are no ids.
fn find(modules: &Modules, ids: &[String], color: Color) -> Result<Vec<Module>, Exit> {
    if ids.is_empty() {
        return Ok(modules.list());
    }
    let mut found = Vec::new();
    for id in ids {
        let Some(module) = modules.get(id) else {
            let known = modules.list();
            let known = known.iter().map(|module| module.id.as_str());
            let help = suggest::did_you_mean(id, known)
                .unwrap_or_else(|| "`pinnace module ls` lists all".to_owned());
            return Err(usage(
                color,
                &[format!("there is no module `{id}`; {help}")],
            ));
        };
        found.push(module);
    }
    Ok(found)
}

fn show(id: &str, format: Format, color: Color) -> Result<Exit, Exit> {
    let modules = register(color)?;
    for module in find(&modules, &[id.to_owned()], color)? {
        let view = view(&modules, module);
        match format {
            Format::Json => print_json(&view),
            Format::Text => terminal::print(&page(&view)),
        }
    }
    Ok(Exit::Clean)
}

fn page(view: &View) -> String {
    let module = &view.module;
    let mut page = format!("{}, added {} ago\n", module.id, ago(module.added));
    let mut field = |name: &str, value: &str| {
        let _ = writeln!(page, "  {name:<10} {value}");
    };
    if let Some(name) = &module.name {
        field("name", name);
    }
    field("from", &shown(&module.source));
    let files = words::count(module.files as usize, "file");
    field(
        "size",
        &format!("{} in {files}", words::bytes(module.bytes)),
    );
    field("digest", &module.digest);
    field("files", &view.folder.display().to_string());
    for (index, program) in view.programs.iter().enumerate() {
        let label = if index == 0 { "programs" } else { "" };
        let how = match &program.problem {
            Some(problem) => format!("cannot be started here: {problem}"),
            None => format!("is started as `{}`", program.starts.join(" ")),
        };
        field(label, &format!("`{}` {how}", program.name));
    }
    page
}

fn view(modules: &Modules, module: Module) -> View {
    let folder = modules.folder(&module);
    let programs = programs(&folder);
    View {
        module,
        folder,
        programs,
    }
}

/// The programs at the top of a module: those with a name that Windows would start, and all that may be started here.
fn programs(folder: &Path) -> Vec<Program> {
    let library = Disk::new(None);
    let place = folder.to_string_lossy();
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter(|entry| entry.path().is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort_unstable();
    let program = |name: &String| match entry::start(name, &place, &library) {
        Ok(starts) => Some(Program {
            name: name.clone(),
            starts,
            problem: None,
        }),
        Err(NoStart::Foreign {
            wanted,
            not_executable,
            ..
        }) if wanted.first() != Some(name) => Some(Program {
            name: name.clone(),
            starts: Vec::new(),
            problem: Some(match not_executable.first() {
                Some(file) => format!("`{file}` is not executable"),
                None => format!("put `{}` beside it", wanted.join("` or `")),
            }),
        }),
        Err(_) => None,
    };
    names
        .iter()
        .filter_map(program)
        .take(MOST_PROGRAMS)
        .collect()
}

fn remove(ids: &[String], color: Color) -> Result<Exit, Exit> {
    let store = state::open(color)?;
    let modules = Modules::of(store.folder().path());
    for module in find(&modules, ids, color)? {
        modules
            .remove(&module.id)
            .map_err(|error| failed(color, &error))?;
        terminal::print(&format!("{}\n", module.id));
    }
    modules
        .sweep(&store)
        .map_err(|error| store_failed(color, &error))?;
    Ok(Exit::Clean)
}

/// What was found of one module.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Checked {
    id: String,
    problems: Vec<String>,
}

fn check(ids: &[String], format: Format, color: Color) -> Result<Exit, Exit> {
    let modules = register(color)?;
    let checked: Vec<Checked> = find(&modules, ids, color)?
        .into_iter()
        .map(|module| checked(&modules, module))
        .collect();
    match format {
        Format::Json => print_json(&checked),
        Format::Text => {
            let mut page = String::new();
            for one in &checked {
                let _ = match &one.problems[..] {
                    [] => writeln!(page, "{} is whole", one.id),
                    problems => writeln!(page, "{}: {}", one.id, problems.join("; ")),
                };
            }
            if checked.is_empty() {
                page.push_str("there are no modules\n");
            }
            terminal::print(&page);
        }
    }
    Ok(match checked.iter().all(|one| one.problems.is_empty()) {
        true => Exit::Clean,
        false => Exit::Problems,
    })
}

fn checked(modules: &Modules, module: Module) -> Checked {
    let mut problems = Vec::new();
    match pinnace_exec::data::weigh(&modules.folder(&module)) {
        Ok(weighed) if weighed.digest.as_ref() == Some(&module.digest) => {}
        Ok(_) => problems.push("its files are not those that were added".to_owned()),
        Err(error) => problems.push(format!("its files cannot be read: {}", in_words(&error))),
    }
    let view = view(modules, module);
    for program in view.programs {
        if let Some(problem) = program.problem {
            problems.push(format!(
                "`{}` cannot be started here: {problem}",
                program.name
            ));
        }
    }
    Checked {
        id: view.module.id,
        problems,
    }
}
