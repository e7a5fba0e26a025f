//! The `pinnace` command. Results go to standard output, talk goes to standard error.

mod apart;
mod command;
mod component_copy;
mod config_folder;
mod disk;
mod explain;
mod files;
mod foreground;
mod glob;
mod interrupt;
mod live;
mod marketplace;
mod moment;
mod reading;
mod secret;
mod state;
mod task;
mod tenant;
mod terminal;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    // A supervisor forks, so it must come before anything that could start a thread.
    if arguments.next().is_some_and(|word| word == "supervisor") {
        let code = pinnace_exec::local::supervisor::main(arguments);
        return ExitCode::from(u8::try_from(code).unwrap_or(3));
    }
    command::Pinnace::from_command_line().run().into()
}
