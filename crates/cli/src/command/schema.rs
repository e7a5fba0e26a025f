use clap::Args;

use pinnace_spec::{component, openpai, processor};

use super::Exit;
use crate::reading::DialectWord;
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
    dialect: DialectWord,
}

impl Schema {
    pub(crate) fn run(self) -> Exit {
        let schema = match self.dialect {
            DialectWord::Openpai => openpai::fields::json_schema(),
            DialectWord::Component => component::fields::json_schema(),
            DialectWord::Processor => processor::fields::json_schema(),
        };
        terminal::print(&format!("{schema:#}\n"));
        Exit::Clean
    }
}
