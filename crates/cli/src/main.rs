//! The `pinnace` command. Results go to standard output, talk goes to standard error.

mod command;
mod explain;
mod files;
mod glob;
mod marketplace;
mod reading;
mod terminal;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    command::Pinnace::parse().run().into()
}
