//! The commands: one file each, holding the arguments, the help and the code.

mod check;
mod completions;
mod explain;
mod man;
mod schema;

use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use clap::{Parser, Subcommand};

use crate::terminal::{self, Color};

/// Reads ML job files, shows every problem in them, and explains what they would do.
///
/// Pinnace reads the job file that you already have, unchanged: OpenPAI jobs of protocol version 2
/// today. `pinnace check` finds every problem in it, each with line, column and fix; `pinnace explain`
/// shows what would run, and where every value comes from.
#[derive(Debug, Parser)]
#[command(
    name = "pinnace",
    version = env!("PINNACE_VERSION"),
    max_term_width = 100,
    after_help = "\
Examples:
  pinnace check job.yaml                    every problem in a job file
  pinnace explain job.yaml                  what it would do, and where each value comes from
  pinnace explain job.yaml -p batch=28      the same with another value for a parameter
  pinnace explain P0201                     what a problem's code means

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
            Command::Schema(schema) => schema.run(),
            Command::Completions(completions) => completions.run(),
            Command::Man(man) => man.run(),
        }
    }
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All is well; there may be warnings.
    Clean,
    /// There are problems in the files.
    Problems,
    /// The command was not used right, or a file cannot be read.
    Usage,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(match exit {
            Exit::Clean => 0,
            Exit::Problems => 1,
            Exit::Usage => 2,
        })
    }
}

/// Says what is wrong with the use of the command.
fn usage(color: Color, messages: &[String]) -> Exit {
    let style = if color.on(&std::io::stderr()) {
        Style::new().bold().fg_color(Some(AnsiColor::Red.into()))
    } else {
        Style::new()
    };
    for message in messages {
        terminal::talk(&format!("{style}error:{style:#} {message}\n"));
    }
    Exit::Usage
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
