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
use clap::{Parser, Subcommand, ValueEnum};

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
    max_term_width = 100,
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
    /// When to use colour
    #[arg(long, value_enum, default_value_t, global = true, value_name = "WHEN")]
    color: Color,

    #[command(subcommand)]
    command: Command,
}

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

impl Pinnace {
    /// Carries the command out.
    pub(crate) fn run(self) -> Exit {
        let color = self.color;
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
}
