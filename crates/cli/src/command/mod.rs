//! The commands: one file each, holding the arguments, the help and the code.

mod check;
mod completions;
mod control;
mod convert;
mod data;
mod engines;
mod explain;
mod logs;
mod man;
mod metrics;
mod module;
mod overrides;
mod prune;
mod ps;
mod retry;
mod rm;
pub(crate) mod run;
mod runner;
mod schema;
mod shell;
mod show;
mod stop;
mod wait;

use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use clap::{Args, FromArgMatches as _, Parser, Subcommand, ValueEnum};

use crate::terminal::{self, Color};

/// Runs ML jobs anywhere: reads the job file you already have, explains it, runs it.
///
/// Pinnace reads job files unchanged: OpenPAI jobs, Azure ML components, Alibaba PAI processors.
/// `pinnace check` finds every problem in one, each with line, column and fix; `pinnace explain` shows
/// what would run, and where every value comes from; `pinnace run` runs it here, without a daemon or a
/// container engine.
#[derive(Debug, Parser)]
#[command(
    name = "pinnace",
    version = env!("PINNACE_VERSION"),
    max_term_width = WIDEST_HELP,
    after_help = "\
Examples:
  pinnace check job.yaml                    every problem in a job file
  pinnace explain job.yaml                  what it would do, and where each value comes from
  pinnace explain P0201                     what a problem's code means
  pinnace run job.yaml                      run it here and now
  pinnace run job.yaml -p batch=28 -d       with another value for a parameter, in the background
  pinnace ps                                what runs, and what ran

`pinnace help COMMAND` tells more about a command."
)]
pub(crate) struct Pinnace {
    #[command(flatten)]
    common: Common,

    #[command(subcommand)]
    command: Command,
}

/// What every command takes.
#[derive(Debug, Args)]
struct Common {
    /// When to use colour
    #[arg(long, value_enum, default_value_t, global = true, value_name = "WHEN")]
    color: Color,
}

const WIDEST_HELP: usize = 100;

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Check),
    Explain(explain::Explain),
    Run(run::Run),
    Ps(ps::Ps),
    Show(show::Show),
    Logs(logs::Logs),
    Wait(wait::Wait),
    Stop(stop::Stop),
    Retry(retry::Retry),
    Shell(shell::Shell),
    Rm(rm::Rm),
    Prune(prune::Prune),
    Metrics(metrics::Metrics),
    Data(data::Data),
    Module(module::ModuleArgs),
    Engines(engines::Engines),
    #[command(hide = true)]
    Control(control::Control),
    #[command(hide = true)]
    Runner(runner::Runner),
    Convert(convert::Convert),
    Override(overrides::Override),
    Schema(schema::Schema),
    Completions(completions::Completions),
    Man(man::Man),
}

/// Adds the arguments of a command to its description.
type Describe = fn(clap::Command) -> clap::Command;

/// Commands that are often used and last shorter than clap takes to get to know all others.
const FREQUENT: [(&str, Describe); 6] = [
    ("check", check::Check::augment_args),
    ("explain", explain::Explain::augment_args),
    ("run", run::Run::augment_args),
    ("ps", ps::Ps::augment_args),
    ("show", show::Show::augment_args),
    ("logs", logs::Logs::augment_args),
];

impl Pinnace {
    /// Reads the command line, or ends with a message if it is wrong or asks for help.
    pub(crate) fn from_command_line() -> Self {
        let first = std::env::args_os().nth(1);
        let frequent = FREQUENT
            .iter()
            .find(|(name, _)| first.as_deref() == Some(name.as_ref()));
        let Some((name, describe)) = frequent else {
            return Pinnace::parse();
        };
        let matches = alone(name, *describe).get_matches();
        Pinnace::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }

    /// Carries the command out.
    pub(crate) fn run(self) -> Exit {
        let color = self.common.color;
        match self.command {
            Command::Check(check) => check.run(color),
            Command::Explain(explain) => explain.run(color),
            Command::Run(run) => run.run(color),
            Command::Ps(ps) => ps.run(color),
            Command::Show(show) => show.run(color),
            Command::Logs(logs) => logs.run(color),
            Command::Wait(wait) => wait.run(color),
            Command::Stop(stop) => stop.run(color),
            Command::Retry(retry) => retry.run(color),
            Command::Shell(shell) => shell.run(color),
            Command::Rm(rm) => rm.run(color),
            Command::Prune(prune) => prune.run(color),
            Command::Metrics(metrics) => metrics.run(color),
            Command::Data(data) => data.run(color),
            Command::Module(module) => module.run(color),
            Command::Engines(engines) => engines.run(color),
            Command::Control(control) => control.run(),
            Command::Runner(runner) => runner.run(color),
            Command::Convert(convert) => convert.run(color),
            Command::Override(overrides) => overrides.run(color),
            Command::Schema(schema) => schema.run(),
            Command::Completions(completions) => completions.run(),
            Command::Man(man) => man.run(),
        }
    }
}

/// The description of the whole, with one command of all.
fn alone(name: &'static str, describe: Describe) -> clap::Command {
    let whole = clap::Command::new("pinnace").max_term_width(WIDEST_HELP);
    Common::augment_args(whole).subcommand(describe(clap::Command::new(name)))
}

/// How a command ended, the worse the later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// All is well; there may be warnings.
    Clean,
    /// There are problems in the files, or the job failed.
    Problems,
    /// The command was not used right, or a file cannot be read.
    Usage,
    /// The engine or the state directory failed.
    Engine,
    /// The user ended it.
    Interrupted,
    /// The exit code of a task.
    Code(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(match exit {
            Exit::Clean => 0,
            Exit::Problems => 1,
            Exit::Usage => 2,
            Exit::Engine => 3,
            Exit::Interrupted => 130,
            Exit::Code(code) => code,
        })
    }
}

/// How results are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

/// Says what is wrong with the use of the command.
fn usage(color: Color, messages: &[String]) -> Exit {
    for message in messages {
        complain(color, message);
    }
    Exit::Usage
}

/// Says what is wrong.
pub(crate) fn complain(color: Color, message: &str) {
    let style = if color.on(&std::io::stderr()) {
        Style::new().bold().fg_color(Some(AnsiColor::Red.into()))
    } else {
        Style::new()
    };
    terminal::talk(&format!("{style}error:{style:#} {message}\n"));
}

/// Writes JSON for programs.
pub(crate) fn print_json(value: &impl serde::Serialize) {
    // Everything that is shown is made of structs, lists and maps with text keys, and can always be written.
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    terminal::print(&format!("{text}\n"));
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Pinnace::command().debug_assert();
    }

    #[test]
    fn a_frequent_command_is_described_alone_as_among_all() {
        for (name, describe) in FREQUENT {
            for words in [
                vec![name, "--help"],
                vec![name, "-h"],
                vec![name, "--colour", "never"],
                vec![name, "--color", "sometimes"],
                vec![name, "--no-such-flag", "x"],
            ] {
                let words = || std::iter::once("pinnace").chain(words.iter().copied());
                let among_all = Pinnace::command()
                    .try_get_matches_from(words())
                    .unwrap_err();
                let alone = alone(name, describe)
                    .try_get_matches_from(words())
                    .unwrap_err();
                assert_eq!(alone.to_string(), among_all.to_string());
            }
        }
    }
}
