//! The flags that say how files are read, shared by the commands that read them.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use pinnace_core::fidelity::Engine;
use pinnace_spec::component::command::Manner;
use pinnace_spec::diagnostic::render::{self, Colour, Report};
use pinnace_spec::diagnostic::{Diagnostics, Levels};
use pinnace_spec::job::{self, Compat, Dialect, Outcome, OverrideRequest, Packages, Request};
use pinnace_spec::overrides::{Overrides, Used};
use pinnace_spec::secrets::Redactor;
use pinnace_spec::setting::{RunSettingsFile, Setting};
use pinnace_spec::source::{SourceId, Sources};
use pinnace_spec::yaml::{self, Limits};

use crate::command::complain;
use crate::disk::Disk;
use crate::files::{self, Buffer, Input, shown};
use crate::marketplace;
use crate::secret::SecretWord;
use crate::tenant::{ConfigProblems, Loaded, TenantArgs};
use crate::terminal::{self, Color};

/// How files are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "How files are read")]
pub(crate) struct ReadArgs {
    /// Use another value for a parameter of the file; can be given several times
    #[arg(short = 'p', long = "param", value_name = "NAME=VALUE")]
    parameters: Vec<String>,

    /// Change any value of the file before it is read; can be given several times
    ///
    /// PATH is a JSONPath (RFC 9535); the leading `$.` can be left out. All that it selects is set.
    /// A path to a single place, such as `taskRoles.worker.completion.minFailedInstances`, is made
    /// if it is not there. VALUE is read as YAML, so `[1, 2]` is a list. Comes after all of `-p`.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    sets: Vec<String>,

    /// Take the value of a secret from outside the file; can be given several times
    ///
    /// Of the variable NAME or `PINNACE_SECRET_NAME`, of another variable (`NAME=VARIABLE`), of a file (`NAME=@FILE`), or
    /// asked for at the terminal (`NAME=-`). Fills a secret that tags name, and replaces one that the file has.
    #[arg(long = "secret", value_name = "NAME[=VARIABLE|=@FILE|=-]")]
    secrets: Vec<String>,

    /// Give an input or a parameter of the file its value; can be given several times
    ///
    /// VALUE is a path, a URL (`file://`, `http://`, `https://`, `s3://`, `oss://`, `azureml://`), a
    /// `dataset:NAME[:VERSION]`, or the value of a parameter. A relative path is taken from here.
    #[arg(long = "input", value_name = "NAME=VALUE")]
    inputs: Vec<String>,

    /// Say where an output of the file goes; can be given several times
    ///
    /// PLACE is a path or a URL (`file://`, `s3://`, `oss://`). A relative path is taken from here.
    #[arg(long = "output", value_name = "NAME=PLACE")]
    outputs: Vec<String>,

    /// Make an output a dataset when the job has succeeded; can be given several times
    ///
    /// The dataset is a new version of its name; later jobs read it with `--input NAME=dataset:DATASET`.
    #[arg(long = "register", value_name = "OUTPUT=DATASET")]
    registers: Vec<String>,

    /// A YAML file that says how to run a component: nodes, time limit, variables and the like
    ///
    /// It wins over what the component says itself, and `--set runsettings.X=VALUE` wins over it.
    #[arg(long = "runsettings", value_name = "FILE")]
    run_settings: Option<PathBuf>,

    /// Install the packages of pip that a component lists, into an environment that is kept for later runs
    ///
    /// Without it a component runs with the Python of this machine and the packages that it has.
    #[arg(long)]
    install_packages: bool,

    /// The folder of marketplace items that `marketplace://` names, such as `DIR/data/mnist.yaml`
    #[arg(
        long,
        value_name = "DIR",
        env = "PINNACE_MARKETPLACE",
        hide_env_values = true
    )]
    marketplace: Option<PathBuf>,

    /// Make every field that cannot be carried out as written an error
    #[arg(long)]
    strict: bool,

    /// Copy what a platform does with a mistake, and warn of it
    #[arg(long, value_enum, value_name = "PLATFORM")]
    compat: Option<CompatWord>,

    /// What becomes of a component's optional inputs that have no value
    #[arg(long, value_enum, value_name = "MANNER", default_value = "aml")]
    manner: MannerWord,

    /// Do not tell of a warning, by its code (`P0208`) or name; several with commas between them
    #[arg(long, value_name = "CODE")]
    allow: Vec<String>,

    /// Make a warning an error, by its code or name; `warnings` means all of them
    #[arg(long, value_name = "CODE")]
    deny: Vec<String>,

    /// The kind of job file, if it cannot be told from its keys
    #[arg(long, value_enum, value_name = "DIALECT")]
    dialect: Option<DialectWord>,

    /// The largest file to read, such as `512KiB` or `16MiB`
    #[arg(long, value_name = "SIZE", default_value = "4MiB", value_parser = parse_size)]
    max_size: usize,

    #[command(flatten)]
    pub(crate) tenant: TenantArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum CompatWord {
    /// A template that finds nothing stays as it is written
    Openpai,
    /// What the clients of Azure ML accept is only a warning
    Azureml,
    /// Of several regular expressions of an override that fit, the last counts
    Shrike,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MannerWord {
    /// As in Azure ML: the group in which the input stands disappears
    Aml,
    /// As in Aether: the argument stays, with an empty text as its value
    Aether,
}

/// A kind of job file, as a word of the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum DialectWord {
    /// OpenPAI job protocol, version 2
    Openpai,
    /// Azure ML component, version 1.5 or 2
    Component,
    /// Alibaba PAI processor
    Processor,
}

impl From<DialectWord> for Dialect {
    fn from(word: DialectWord) -> Self {
        match word {
            DialectWord::Openpai => Dialect::OpenPai,
            DialectWord::Component => Dialect::Component,
            DialectWord::Processor => Dialect::Processor,
        }
    }
}

/// What is wanted of a file, and of the secrets that flags name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// To look at it; the secrets' names are enough.
    Names,
    /// To run it; the secrets' values are needed.
    Values,
}

/// Reads files as the flags say.
#[derive(Debug)]
pub(crate) struct Reader {
    settings: Vec<Setting>,
    /// Secrets that are still to be asked for, with their places among the settings.
    questions: Vec<(usize, SecretWord)>,
    inputs: Vec<Setting>,
    outputs: Vec<Setting>,
    registers: Vec<Setting>,
    run_settings: Option<RunSettingsFile>,
    packages: Packages,
    here: Option<String>,
    compat: Compat,
    manner: Manner,
    strict: bool,
    levels: Levels,
    dialect: Option<Dialect>,
    limits: Limits,
    library: Disk,
    run: bool,
    overrides: Option<Loaded>,
    diff: bool,
}

/// A file that was read.
#[derive(Debug)]
pub(crate) struct Reading {
    /// Its text, and those of flags and marketplace items.
    pub(crate) sources: Sources,
    /// Which of them is the file.
    pub(crate) source: SourceId,
    /// What was found.
    pub(crate) outcome: Outcome,
}

impl Reading {
    /// The problems, ready to be shown.
    pub(crate) fn report(&self) -> Report<'_> {
        Report {
            diagnostics: &self.outcome.diagnostics,
            sources: &self.sources,
            redactor: &self.outcome.redactor,
        }
    }
}

impl ReadArgs {
    /// What the flags ask for, or what is wrong with them, shown.
    pub(crate) fn reader(self, color: Color, wanted: Wanted) -> Option<Reader> {
        let levels = levels(&self.allow, &self.deny, color)?;
        if let Some(folder) = self.marketplace.as_ref().filter(|folder| !folder.is_dir()) {
            complain(
                color,
                &format!("the marketplace `{}` is no folder", shown(folder)),
            );
            return None;
        }
        let first = self.parameters.len() + self.sets.len();
        let parameters = self.parameters.into_iter().map(Setting::parameter);
        let sets = self.sets.into_iter().map(Setting::set);
        let mut questions = Vec::new();
        let secrets = self.secrets.iter().zip(first..).map(|(word, at)| {
            let word = SecretWord::parse(word)?;
            let value = match wanted {
                Wanted::Names => None,
                Wanted::Values if word.is_asked_for() => {
                    questions.push((at, word.clone()));
                    None
                }
                Wanted::Values => Some(word.value()?),
            };
            Ok(Setting::secret(word.name, value))
        });
        let secrets: Result<Vec<Setting>, String> = secrets.collect();
        let secrets = secrets
            .inspect_err(|message| complain(color, message))
            .ok()?;
        let limits = Limits {
            bytes: self.max_size,
            ..Limits::default()
        };
        let overrides = self.tenant.load(&limits);
        let mut overrides = overrides
            .inspect_err(|message| complain(color, message))
            .ok()?;
        if let (Some(CompatWord::Shrike), Some(loaded)) = (self.compat, &mut overrides) {
            loaded.overrides.prefer_last_pattern();
        }
        let run_settings = self
            .run_settings
            .map(|path| read_run_settings(&path, &limits));
        let run_settings = run_settings
            .transpose()
            .inspect_err(|message| complain(color, message))
            .ok()?;
        Some(Reader {
            overrides,
            diff: self.tenant.show_diff,
            settings: parameters.chain(sets).chain(secrets).collect(),
            questions,
            inputs: self.inputs.into_iter().map(Setting::input).collect(),
            outputs: self.outputs.into_iter().map(Setting::output).collect(),
            registers: self.registers.into_iter().map(Setting::register).collect(),
            run_settings,
            packages: match self.install_packages {
                true => Packages::Installed,
                false => Packages::OfMachine,
            },
            here: std::env::current_dir()
                .ok()
                .and_then(|folder| folder.into_os_string().into_string().ok()),
            compat: match self.compat {
                Some(CompatWord::Openpai) => Compat::OpenPai,
                Some(CompatWord::Azureml) => Compat::AzureMl,
                Some(CompatWord::Shrike) | None => Compat::None,
            },
            manner: match self.manner {
                MannerWord::Aml => Manner::Aml,
                MannerWord::Aether => Manner::Aether,
            },
            strict: self.strict,
            levels,
            dialect: self.dialect.map(Dialect::from),
            limits,
            library: Disk::new(self.marketplace.map(marketplace::Folder::new)),
            run: wanted == Wanted::Values,
        })
    }
}

impl Reader {
    /// Whether the user must be asked before a job can run.
    pub(crate) fn has_questions(&self) -> bool {
        !self.questions.is_empty()
    }

    /// Asks for what only the user knows.
    pub(crate) fn ask(&mut self) -> Result<(), String> {
        for (at, word) in self.questions.drain(..) {
            let value = word.value()?;
            if let Some(setting) = self.settings.get_mut(at) {
                *setting = Setting::secret(word.name, Some(value));
            }
        }
        Ok(())
    }

    /// Whose mistakes are copied.
    pub(crate) fn compat(&self) -> Compat {
        self.compat
    }

    /// The tenant's overrides, if any were asked for.
    pub(crate) fn overrides(&self) -> Option<&Loaded> {
        self.overrides.as_ref()
    }

    /// What is wrong with the configuration of the overrides; after the files were read, also which of
    /// them had no effect.
    pub(crate) fn config_problems(&self, used: Option<&Used>) -> Option<ConfigProblems> {
        let loaded = self.overrides.as_ref()?;
        Some(loaded.problems(used, &self.levels))
    }

    /// Tells what is wrong with the configuration of the overrides, or what had no effect in the one file that
    /// was read; whether it can be used.
    pub(crate) fn tell_config_problems(&self, read: Option<&Reading>, color: Color) -> bool {
        let overridden = read.and_then(|reading| reading.outcome.overridden.as_ref());
        let used = overridden.map(|overridden| &overridden.report.used);
        let Some(problems) = self.config_problems(used) else {
            return true;
        };
        // Before a file is read only errors matter: all else is told once, afterwards.
        let sound = !problems.has_errors();
        if !problems.diagnostics.is_empty() && (read.is_some() || !sound) {
            let colour = colour(color.on(&std::io::stderr()));
            terminal::talk(&render::text(&[problems.report()], colour));
        }
        sound
    }

    /// Reads a file by way of a buffer, which serves for many. `keep` may say from its bytes that it
    /// is not wanted.
    pub(crate) fn read(
        &self,
        input: &Input,
        plan: bool,
        buffer: &mut Buffer,
        keep: impl FnOnce(&[u8]) -> bool,
    ) -> std::io::Result<Option<Reading>> {
        input.read(self.limits.bytes, buffer)?;
        if !keep(&buffer.bytes) {
            return Ok(None);
        }
        // The rules speak of places in their own texts, which come first.
        let overrides = self.overrides.as_ref().map(|loaded| &loaded.overrides);
        let sources = overrides.map(Overrides::sources).unwrap_or_default();
        let (source, outcome) = match yaml::decode(buffer.take(), &self.limits) {
            Ok(text) => {
                let source = sources.add(input.name.as_str(), text);
                let folder = input.folder();
                let request = Request {
                    overrides: overrides.map(|rules| OverrideRequest {
                        rules,
                        diff: self.diff,
                    }),
                    settings: &self.settings,
                    inputs: &self.inputs,
                    outputs: &self.outputs,
                    registers: &self.registers,
                    run_settings: self.run_settings.as_ref(),
                    packages: self.packages,
                    folder: folder.as_deref(),
                    here: self.here.as_deref(),
                    compat: self.compat,
                    manner: self.manner,
                    engine: Engine::Local,
                    strict: self.strict,
                    levels: &self.levels,
                    dialect: self.dialect,
                    limits: self.limits,
                    plan,
                    run: self.run,
                };
                let outcome = job::read(&sources, source, &request, &self.library);
                (source.id(), outcome)
            }
            Err(problem) => {
                let source = sources.add(input.name.as_str(), problem.text.as_str());
                let outcome = Outcome {
                    diagnostics: vec![problem.diagnostic(source)],
                    job: None,
                    redactor: Redactor::from_broken_text(source),
                    overridden: None,
                };
                (source.id(), outcome)
            }
        };
        Ok(Some(Reading {
            sources,
            source,
            outcome,
        }))
    }
}

fn read_run_settings(path: &Path, limits: &Limits) -> Result<RunSettingsFile, String> {
    let input = Input::named(path.as_os_str());
    let mut buffer = Buffer::default();
    input
        .read(limits.bytes, &mut buffer)
        .map_err(|error| format!("`{}`: {}", shown(path), files::in_words(&error)))?;
    let text = yaml::decode(buffer.take(), limits)
        .map_err(|_| format!("`{}` is no text that can be read as YAML", shown(path)))?;
    Ok(RunSettingsFile {
        name: input.name,
        text,
    })
}

fn levels(allow: &[String], deny: &[String], color: Color) -> Option<Levels> {
    let sources = Sources::default();
    let mut levels = Levels::default();
    let mut problems = Diagnostics::default();
    for word in allow {
        levels.allow(sources.add("--allow", word.as_str()), &mut problems);
    }
    for word in deny {
        if word == "warnings" {
            levels.deny_warnings();
        } else {
            levels.deny(sources.add("--deny", word.as_str()), &mut problems);
        }
    }
    if problems.is_empty() {
        return Some(levels);
    }
    let report = Report {
        diagnostics: &problems.into_vec(),
        sources: &sources,
        redactor: &Redactor::default(),
    };
    terminal::talk(&render::text(
        &[report],
        colour(color.on(&std::io::stderr())),
    ));
    None
}

/// The renderer's word for it.
pub(crate) fn colour(on: bool) -> Colour {
    if on { Colour::Always } else { Colour::Never }
}

fn parse_size(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|char: char| char.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        _ => return Err("the unit is none of KiB, MiB and GiB".to_owned()),
    };
    let number: usize = digits.parse().map_err(|_| "this is no size".to_owned())?;
    // Positions are kept in 32 bits.
    number
        .checked_mul(unit)
        .filter(|size| *size > 0 && *size < u32::MAX as usize)
        .ok_or_else(|| "a size lies between 1 byte and 4 GiB".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_size("12"), Ok(12));
        assert_eq!(parse_size("4MiB"), Ok(4 << 20));
        assert_eq!(parse_size("4k"), Ok(4096));
        for wrong in [
            "",
            "MiB",
            "4 MiB",
            "4XB",
            "-1",
            "4GiB",
            "0",
            "99999999999999999999",
        ] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }
}
