use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use pinnace_spec::diagnostic::{Diagnostics, Levels, render};
use pinnace_spec::overrides::{self, Materialised, Used};
use pinnace_spec::source::Source;
use pinnace_spec::yaml::{self, Limits};

use super::{Exit, complain, usage};
use crate::files::{self, Input, shown};
use crate::reading::colour;
use crate::tenant::{self, Loaded, TenantArgs};
use crate::terminal::{self, Color};

/// Apply a tenant's overrides to files
///
/// `check`, `explain` and `run` apply them in memory; this is for those who want to see or keep the result.
#[derive(Debug, Args)]
pub(crate) struct Override {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Apply(Apply),
}

/// Show what overrides change in files, or write the changed files into a folder
///
/// Without `--write` the changes are shown as a diff. With it, each file is written into the folder as the
/// overrides make it; comments and layout stay. The files themselves are never written to.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: 0 done, 1 errors in a file or in the configuration, 2 wrong use or an unreadable file.

Examples:
  pinnace override apply spec.yaml --overrides tenants.yaml --tenant 72f988bf-86f1-41af-91ab-2d7cd011db47
  pinnace override apply components/*/spec.yaml --config config/experiments/train.yaml aml=eyeson --write out")]
struct Apply {
    /// Files of any kind; with `--config` also words such as `aml=eyeson`
    #[arg(required = true, value_name = "FILE")]
    files: Vec<OsString>,

    /// Write the changed files into this folder, which is made if it is not there
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,

    /// Replace files of the folder that are already there
    #[arg(long, requires = "write")]
    force: bool,

    #[command(flatten)]
    tenant: TenantArgs,
}

impl Override {
    pub(crate) fn run(self, color: Color) -> Exit {
        match self.action {
            Action::Apply(apply) => apply.run(color),
        }
    }
}

impl Apply {
    fn run(self, color: Color) -> Exit {
        let (words, files) = tenant::split_words(self.files);
        let mut tenant = self.tenant;
        tenant.words = words;
        let show_diff = tenant.show_diff || self.write.is_none();
        tenant.show_diff = false;
        let limits = Limits::default();
        let loaded = match tenant.load(&limits) {
            Ok(Some(loaded)) => loaded,
            Ok(None) => {
                let message = "`--overrides FILE` or `--config FILE` says what to apply";
                return usage(color, &[message.to_owned()]);
            }
            Err(message) => return usage(color, &[message]),
        };
        let levels = Levels::default();
        let problems = loaded.problems(None, &levels);
        if problems.has_errors() {
            terminal::talk(&render::text(&[problems.report()], talking(color)));
            return Exit::Problems;
        }
        let inputs = match files::find(&files) {
            Ok(inputs) => inputs,
            Err(problems) => return usage(color, &problems),
        };
        let base = common_folder(&inputs);
        let mut used = Used::default();
        let mut exit = Exit::Clean;
        for input in &inputs {
            let done = match changed(input, &loaded, &limits, color) {
                Ok(done) => done,
                Err(failed) => {
                    exit = failed;
                    continue;
                }
            };
            used.add(&done.used);
            if show_diff {
                terminal::print(&done.diff);
            }
            if !done.made.keeps_layout {
                terminal::talk(&format!(
                    "note: {} shares values between places, so it is written anew, without its comments\n",
                    input.name
                ));
            }
            if let Some(folder) = &self.write {
                match write(input, &base, folder, self.force, &done.made) {
                    Ok(target) => terminal::talk(&format!("wrote {}\n", shown(&target))),
                    Err(message) => {
                        complain(color, &message);
                        exit = Exit::Usage;
                    }
                }
            }
        }
        let problems = loaded.problems(Some(&used), &levels);
        if !problems.diagnostics.is_empty() {
            terminal::talk(&render::text(&[problems.report()], talking(color)));
        }
        exit
    }
}

fn talking(color: Color) -> render::Colour {
    colour(color.on(&std::io::stderr()))
}

/// A file as the overrides make it.
struct Done {
    made: Materialised,
    diff: String,
    used: Used,
}

fn changed(input: &Input, loaded: &Loaded, limits: &Limits, color: Color) -> Result<Done, Exit> {
    let mut bytes = Vec::new();
    input.read(limits.bytes, &mut bytes).map_err(|error| {
        usage(
            color,
            &[format!("`{}`: {}", input.name, files::in_words(&error))],
        )
    })?;
    let sources = loaded.overrides.sources();
    let show = |source: &Source, found: Diagnostics| {
        let diagnostics = found.into_vec();
        let redactor = pinnace_spec::secrets::Redactor::from_broken_text(source);
        let report = render::Report {
            diagnostics: &diagnostics,
            sources: &sources,
            redactor: &redactor,
        };
        if !diagnostics.is_empty() {
            terminal::talk(&render::text(&[report], talking(color)));
        }
    };
    let mut out = Diagnostics::default();
    let text = match yaml::decode(&bytes, limits) {
        Ok(text) => text,
        Err(problem) => {
            let source = sources.add(input.name.as_str(), problem.text.as_str());
            out.push(problem.diagnostic(source));
            show(source, out);
            return Err(Exit::Problems);
        }
    };
    let source = sources.add(input.name.as_str(), text);
    let document = yaml::load(source, limits);
    let mut root = document.root;
    out.extend(document.diagnostics);
    let report = match &mut root {
        Some(root) if !out.has_errors() => overrides::apply(root, &loaded.overrides, &mut out),
        _ => overrides::Report::default(),
    };
    let failed = out.has_errors();
    show(source, out);
    let Some(root) = root.filter(|_| !failed) else {
        return Err(Exit::Problems);
    };
    let made = overrides::materialise(source, &root, limits);
    Ok(Done {
        diff: overrides::diff(source, &made, limits),
        made,
        used: report.used,
    })
}

/// The folder that all files lie in, so that files of one name keep apart.
fn common_folder(inputs: &[Input]) -> PathBuf {
    let folders = inputs.iter().filter_map(|input| input.path()?.parent());
    let mut folders = folders.map(Path::to_owned);
    let Some(first) = folders.next() else {
        return PathBuf::new();
    };
    folders.fold(first, |common, folder| {
        let above = common.ancestors().find(|above| folder.starts_with(above));
        above.unwrap_or(Path::new("")).to_owned()
    })
}

/// Writes a file into the folder, never over the one that it is made of.
fn write(
    input: &Input,
    base: &Path,
    folder: &Path,
    force: bool,
    made: &Materialised,
) -> Result<PathBuf, String> {
    let Some(path) = input.path() else {
        return Err("standard input has no name to be written under".to_owned());
    };
    let target = folder.join(path.strip_prefix(base).unwrap_or(path));
    let failed = |error: std::io::Error| format!("`{}`: {error}", shown(&target));
    if !target.starts_with(folder) {
        return Err(format!("`{}` lies outside the folder", shown(&target)));
    }
    if let Ok(there) = target.metadata() {
        let own = path.metadata().map_err(failed)?;
        if (there.dev(), there.ino()) == (own.dev(), own.ino()) {
            return Err(format!(
                "`{}` is the file itself, which is never written to",
                shown(&target)
            ));
        }
        if !force {
            let message = "is already there; `--force` replaces it";
            return Err(format!("`{}` {message}", shown(&target)));
        }
    }
    if let Some(parent) = target.parent() {
        std::fs::create_dir_all(parent).map_err(failed)?;
    }
    // What lies behind a link is someone else's file: a new one takes the link's place.
    let mut name = target.clone().into_os_string();
    name.push(format!(".{}.part", std::process::id()));
    let part = PathBuf::from(name);
    let file = OpenOptions::new().write(true).create_new(true).open(&part);
    let written = file.and_then(|mut file| file.write_all(made.text.as_bytes()));
    let moved = written.and_then(|()| std::fs::rename(&part, &target));
    if moved.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    moved.map_err(failed)?;
    Ok(target)
}
