use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::{Exit, Pinnace};
use crate::terminal;

/// Print a script that completes commands and flags in a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pinnace completions bash > ~/.local/share/bash-completion/completions/pinnace
  pinnace completions zsh > ~/.zfunc/_pinnace
  pinnace completions fish > ~/.config/fish/completions/pinnace.fish")]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> Exit {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Pinnace::command(), "pinnace", &mut script);
        terminal::print(&String::from_utf8_lossy(&script));
        Exit::Clean
    }
}
