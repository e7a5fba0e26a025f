use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use pinnace_core::words;
use pinnace_spec::component::{self, Parts};
use pinnace_spec::diagnostic::{Diagnostics, Levels, render};
use pinnace_spec::overrides::{self, Materialised, Used};
use pinnace_spec::source::Source;
use pinnace_spec::yaml::{self, Limits};

use super::{Exit, complain, usage};
use crate::component_copy::{self, Place};
use crate::disk::Disk;
use crate::files::{self, Buffer, Input, shown};
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
/// overrides make it; comments and layout stay. Of a component its code, includes and files of packages are copied along. The files
/// themselves are never written to.
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

    /// Copy what another program does with several regular expressions that fit
    #[arg(long, value_enum, value_name = "PROGRAM")]
    compat: Option<CompatWord>,

    #[command(flatten)]
    tenant: TenantArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum CompatWord {
    /// The last of them counts, not the first
    Shrike,
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
            Ok(Some(mut loaded)) => {
                if self.compat.is_some() {
                    loaded.overrides.prefer_last_pattern();
                }
                loaded
            }
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
        let mut used = Used::default();
        let mut exit = Exit::Clean;
        let mut all = Vec::new();
        for input in &inputs {
            match changed(input, &loaded, &limits, color) {
                Ok(done) => all.push((input, done)),
                Err(failed) => exit = failed,
            }
        }
        let base = common_folder(
            &inputs,
            all.iter().filter_map(|(_, done)| done.parts.as_ref()),
        );
        for (input, done) in &all {
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
                let place = Place {
                    base: &base,
                    folder,
                    force: self.force,
                };
                let specs: Vec<&Path> = inputs.iter().filter_map(Input::path).collect();
                let written = write(input, place, &done.made).and_then(|target| {
                    let copied = match &done.parts {
                        Some(parts) => component_copy::copy(parts, &specs, place)?,
                        None => 0,
                    };
                    Ok((target, copied))
                });
                match written {
                    Ok((target, 0)) => terminal::talk(&format!("wrote {}\n", shown(&target))),
                    Ok((target, copied)) => terminal::talk(&format!(
                        "wrote {}, and {} of the component\n",
                        shown(&target),
                        words::count(copied, "file")
                    )),
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
    /// What belongs to it, if it is a component.
    parts: Option<Parts>,
}

fn changed(input: &Input, loaded: &Loaded, limits: &Limits, color: Color) -> Result<Done, Exit> {
    let mut buffer = Buffer::default();
    input.read(limits.bytes, &mut buffer).map_err(|error| {
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
    let text = match yaml::decode(buffer.take(), limits) {
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
    let folder = input.folder();
    let parts = folder.and_then(|folder| {
        component::parts(
            &root,
            &loaded.overrides,
            &folder,
            &sources,
            &Disk::new(None),
        )
    });
    Ok(Done {
        parts,
        diff: overrides::diff(source, &made, limits),
        made,
        used: report.used,
    })
}

/// The folder that all files and what belongs to them lie in, so that paths between them stay right and files of one name
/// keep apart.
fn common_folder<'a>(inputs: &[Input], parts: impl Iterator<Item = &'a Parts>) -> PathBuf {
    let files = inputs.iter().filter_map(|input| input.path()?.parent());
    let files = files.map(absolute);
    let parts = parts.flat_map(|parts| &parts.paths).map(|path| {
        let path = Path::new(path);
        let folder = if path.is_dir() {
            Some(path)
        } else {
            path.parent()
        };
        folder.unwrap_or(path).to_owned()
    });
    let mut folders = files.chain(parts);
    let Some(first) = folders.next() else {
        return PathBuf::new();
    };
    folders.fold(first, |common, folder| {
        let above = common.ancestors().find(|above| folder.starts_with(above));
        above.unwrap_or(Path::new("")).to_owned()
    })
}

/// A path from the root without `..`, as the parts of components have theirs.
fn absolute(path: &Path) -> PathBuf {
    let is_here = path.as_os_str().is_empty();
    let path = if is_here { Path::new(".") } else { path };
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut plain = PathBuf::new();
    for part in whole.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// Writes a file into the folder, never over the one that it is made of.
fn write(input: &Input, place: Place<'_>, made: &Materialised) -> Result<PathBuf, String> {
    let Some(path) = input.path() else {
        return Err("standard input has no name to be written under".to_owned());
    };
    let own = absolute(path.parent().unwrap_or(path)).join(path.file_name().unwrap_or_default());
    let target = place.target(&own)?;
    component_copy::write(&target, made.text.as_bytes(), &own, place.force)?;
    Ok(target)
}
