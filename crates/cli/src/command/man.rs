use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory as _};

use super::{Exit, Pinnace};
use crate::files::shown;
use crate::terminal;

/// Write the man pages into a folder
///
/// One page for `pinnace` and one for each command. Read one with `man -l DIR/pinnace.1`, or write
/// them into a folder that `man` searches, such as `~/.local/share/man/man1`.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The folder; it is made if it does not exist
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Man {
    pub(crate) fn run(self) -> Exit {
        match write_pages(&self.folder) {
            Ok(()) => Exit::Clean,
            Err(error) => {
                terminal::talk(&format!("error: `{}`: {error}\n", shown(&self.folder)));
                Exit::Usage
            }
        }
    }
}

fn write_pages(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    clap_mangen::generate_to(Pinnace::command(), folder)
}
