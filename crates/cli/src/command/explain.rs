use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;

use clap::{Args, ValueEnum};
use pinnace_core::fidelity::Account;
use pinnace_core::origin::{Cause, Origin, Origins, Place};
use pinnace_core::plan::{FORMAT, Plan};
use pinnace_core::script;
use pinnace_spec::component::command::CommandLine;
use pinnace_spec::diagnostic::{self, codes, render, suggest};
use pinnace_spec::job::Job;
use pinnace_spec::yaml::{self, Node, Value};
use serde::Serialize;

use super::{Exit, usage};
use crate::explain::chain::Chains;
use crate::explain::{overrides, plan};
use crate::files::{self, Buffer, Input};
use crate::reading::{ReadArgs, Reading, Wanted, colour};
use crate::tenant;
use crate::terminal::{self, Color};

/// Show what a job file would do, and where every value comes from
///
/// Shows the plan: the roles, what they need, the steps of each task in order, what decides the
/// outcome, and which fields of the file cannot be carried out as written. The right-hand column
/// tells where each value comes from.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: 0 the plan was shown, 1 there are errors in the file, 2 wrong use or an unreadable file.

Examples:
  pinnace explain job.yaml
  pinnace explain job.yaml -p batch=28                  with another value for a parameter
  pinnace explain job.yaml --script worker              the script that each `worker` task runs
  pinnace explain job.yaml roles.worker.command[1]      where one value comes from
  pinnace explain job.yaml parameters.batch             what a parameter has a part in
  pinnace explain job.yaml --format json                the plan for programs
  pinnace explain P0201                                 what a problem's code means")]
pub(crate) struct Explain {
    /// A job file, `-` for standard input, or the code of a problem
    #[arg(value_name = "FILE")]
    target: OsString,

    /// Show where one value comes from: a path in the plan or in the file; with `--config` also words such as `aml=eyeson`
    #[arg(value_name = "PATH")]
    rest: Vec<String>,

    /// How to show it
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,

    /// Print the script that each task of a role runs
    #[arg(long, value_name = "ROLE", conflicts_with = "format")]
    script: Option<String>,

    /// The shell that the script is for
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "SHELL",
        requires = "script"
    )]
    shell: Shell,

    /// Show also the variables that every task finds
    #[arg(long)]
    all: bool,

    #[command(flatten)]
    reading: ReadArgs,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Shell {
    /// Bash, with `pipefail`
    #[default]
    Bash,
    /// Any POSIX shell
    Sh,
}

impl Explain {
    pub(crate) fn run(self, color: Color) -> Exit {
        let path = Path::new(&self.target);
        if self.target != "-" && !path.exists() {
            return match self.target.to_str().and_then(codes::find) {
                Some(code) => {
                    terminal::print(diagnostic::page(code));
                    Exit::Clean
                }
                None => usage(color, &[unknown_target(path)]),
            };
        }
        let input = Input::named(&self.target);
        let (words, paths): (Vec<String>, Vec<String>) = self
            .rest
            .into_iter()
            .partition(|rest| tenant::is_word(rest));
        if paths.len() + usize::from(self.script.is_some()) > 1 {
            let message = "one value can be asked for, or one script";
            return usage(color, &[message.to_owned()]);
        }
        let mut reading = self.reading;
        reading.tenant.words = words;
        let Some(reader) = reading.reader(color, Wanted::Names) else {
            return Exit::Usage;
        };
        if !reader.tell_config_problems(None, color) {
            return Exit::Problems;
        }
        let mut reading = match reader.read(&input, true, &mut Buffer::default(), |_| true) {
            Ok(Some(reading)) => reading,
            Ok(None) => return Exit::Usage,
            Err(error) => {
                let reason = files::in_words(&error);
                return usage(color, &[format!("`{}`: {reason}", input.name)]);
            }
        };
        if !reading.outcome.diagnostics.is_empty() {
            let colour = colour(color.on(&std::io::stderr()));
            terminal::talk(&render::text(&[reading.report()], colour));
        }
        if !reader.tell_config_problems(Some(&reading), color) {
            return Exit::Problems;
        }
        let Some(mut job) = reading.outcome.job.take() else {
            return Exit::Problems;
        };
        hide_in_flags(&mut job, &reading);
        let options = plan::Options {
            width: terminal::width(),
            color: color.on(&std::io::stdout()),
            all: self.all,
        };
        let shown = if let Some(role) = &self.script {
            script_of(role, self.shell, &job)
        } else if let Some(path) = paths.first() {
            let chains = Chains::find(path, &job);
            chains.map(|chains| match self.format {
                Format::Text => chain_page(&chains, &input, &reading, options),
                Format::Json => chains.json(),
            })
        } else {
            Ok(match self.format {
                Format::Text => {
                    plan::page(&input.name, &job, options)
                        + &overrides::page(&reader, &reading, options)
                }
                Format::Json => json(&job, &reading),
            })
        };
        match shown {
            Ok(text) => {
                if let Some(diff) = overrides::diff(&reading) {
                    terminal::print(diff);
                }
                terminal::print(&text);
                Exit::Clean
            }
            Err(message) => usage(color, &[message]),
        }
    }
}

fn unknown_target(path: &Path) -> String {
    let name = path.to_str().unwrap_or_default();
    let is_code =
        name.starts_with(['P', 'p']) && name[1..].bytes().all(|byte| byte.is_ascii_digit());
    let known = codes::ALL.iter().flat_map(|code| [code.id, code.name]);
    match suggest::closest(name, known) {
        Some(near) if is_code => format!("there is no code `{name}`; did you mean `{near}`?"),
        _ => files::missing(path),
    }
}

fn script_of(role_name: &str, shell: Shell, job: &Job) -> Result<String, String> {
    let roles = &job.plan.roles;
    let Some(role) = roles.get(role_name) else {
        let names: Vec<&str> = roles.keys().map(String::as_str).collect();
        return Err(match suggest::closest(role_name, names.iter().copied()) {
            Some(near) => format!("there is no role `{role_name}`; did you mean `{near}`?"),
            None => format!(
                "there is no role `{role_name}`; the roles are {}",
                names.join(", ")
            ),
        });
    };
    let options = script::Options {
        shell: match shell {
            Shell::Bash => script::Shell::Bash,
            Shell::Sh => script::Shell::Sh,
        },
        nounset: false,
    };
    Ok(script::render(role_name, role, options))
}

/// What `--format json` writes; `docs/plan.md` tells of it.
#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    digest: String,
    dialect: &'static str,
    plan: &'a Plan,
    origins: &'a Origins,
    fidelity: &'a [Account],
    #[serde(rename = "commandLine", skip_serializing_if = "Option::is_none")]
    command_line: Option<&'a CommandLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    overrides: Option<Vec<overrides::ChangeView>>,
}

fn json(job: &Job, reading: &Reading) -> String {
    let document = Document {
        overrides: overrides::views(reading),
        format: FORMAT,
        digest: job.plan.digest(),
        dialect: job.dialect.word(),
        plan: &job.plan,
        origins: &job.origins,
        fidelity: &job.fidelity,
        command_line: job.command_line.as_ref(),
    };
    // Only maps with keys that are no texts cannot be written, and there are none.
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

/// A flag may hold what is a secret in the file.
fn hide_in_flags(job: &mut Job, reading: &Reading) {
    fn hide(origin: &mut Origin, reading: &Reading) {
        if let Cause::Flag { flag } = &mut origin.cause {
            *flag = reading.outcome.redactor.message(flag).into_owned();
        }
        for via in &mut origin.via {
            hide(via, reading);
        }
    }
    for origin in job.origins.values_mut() {
        hide(origin, reading);
    }
}

fn chain_page(
    chains: &Chains<'_>,
    input: &Input,
    reading: &Reading,
    options: plan::Options,
) -> String {
    let texts = written_texts(reading);
    let written = |place: &Place| {
        let text = texts.get(&(place.line, place.column));
        text.filter(|_| place.file == input.name).cloned()
    };
    chains.page(&written, options)
}

/// The texts of all scalars of the file by their places, but for its secrets.
fn written_texts(reading: &Reading) -> HashMap<(u32, u32), String> {
    fn collect(node: &Node<'_>, reading: &Reading, found: &mut HashMap<(u32, u32), String>) {
        match &node.value {
            Value::Map(map) => {
                for entry in &map.entries {
                    collect(&entry.value, reading, found);
                }
            }
            Value::List(list) => list.iter().for_each(|item| collect(item, reading, found)),
            Value::Scalar(scalar) => {
                let place = reading.sources.place(node.span);
                let text = reading.outcome.redactor.message(&scalar.text);
                found.insert((place.line, place.column), text.into_owned());
            }
        }
    }
    let source = reading.sources.get(reading.source);
    let mut found = HashMap::new();
    if let Some(mut root) = yaml::load(source, &yaml::Limits::default()).root {
        if let Value::Map(map) = &mut root.value {
            map.entries.retain(|entry| entry.key.text != "secrets");
        }
        collect(&root, reading, &mut found);
    }
    found
}
