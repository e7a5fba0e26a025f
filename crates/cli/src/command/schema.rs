use clap::{Args, ValueEnum};

use pinnace_spec::openpai::fields;

use super::Exit;
use crate::terminal;

/// Print the JSON Schema of a kind of job file, for editors
///
/// With it an editor completes keys, shows what they mean, and marks mistakes while you type.
#[derive(Debug, Args)]
#[command(after_help = "\
Example, for editors that use yaml-language-server:
  pinnace schema openpai > openpai.schema.json
  and as the first line of the job file:
  # yaml-language-server: $schema=openpai.schema.json")]
pub(crate) struct Schema {
    /// The kind of job file
    #[arg(value_enum)]
    dialect: Dialect,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Dialect {
    /// OpenPAI job protocol, version 2
    Openpai,
}

impl Schema {
    pub(crate) fn run(self) -> Exit {
        let schema = match self.dialect {
            Dialect::Openpai => fields::json_schema(),
        };
        terminal::print(&format!("{schema:#}\n"));
        Exit::Clean
    }
}
