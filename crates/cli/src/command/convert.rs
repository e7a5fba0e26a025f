use std::ffi::OsString;

use clap::Args;
use pinnace_spec::component::module;
use pinnace_spec::diagnostic::Diagnostics;
use pinnace_spec::diagnostic::render::{self, Report};
use pinnace_spec::secrets::Redactor;
use pinnace_spec::source::Sources;
use pinnace_spec::yaml::{self, Limits};

use super::{Exit, complain};
use crate::files::{Buffer, Input};
use crate::reading::colour;
use crate::terminal::{self, Color};

/// Turn the interface line of an Aether module into a component spec
///
/// Reads `<m c="Hemera" n="…" i="…"/>` and prints the spec of a component that gives the module the same command line, also where
/// optional inputs are missing. Quotes within `i` may stand there as they are. What is not known of such a line is told, never
/// guessed.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  pinnace convert module.xml --id c3d0fbd2-8b78-4231-a665-3a0de1796264 > component.yaml")]
pub(crate) struct Convert {
    /// The file with the module; `-` is standard input
    #[arg(value_name = "FILE")]
    file: OsString,

    /// The GUID of the module, which its interface line does not hold
    #[arg(long, value_name = "GUID", value_parser = parse_guid)]
    id: String,
}

impl Convert {
    pub(crate) fn run(self, color: Color) -> Exit {
        let input = Input::named(&self.file);
        let limits = Limits::default();
        let mut buffer = Buffer::default();
        if let Err(error) = input.read(limits.bytes, &mut buffer) {
            complain(color, &format!("cannot read `{}`: {error}", input.name));
            return Exit::Usage;
        }
        let sources = Sources::default();
        let mut out = Diagnostics::default();
        let spec = match yaml::decode(buffer.take(), &limits) {
            Ok(text) => module::convert(sources.add(input.name, text), &self.id, &mut out),
            Err(problem) => {
                let source = sources.add(input.name, problem.text.as_str());
                out.push(problem.diagnostic(source));
                None
            }
        };
        let report = Report {
            diagnostics: &out.into_vec(),
            sources: &sources,
            redactor: &Redactor::default(),
        };
        terminal::talk(&render::text(
            &[report],
            colour(color.on(&std::io::stderr())),
        ));
        match spec {
            Some(spec) => {
                terminal::print(&spec);
                Exit::Clean
            }
            None => Exit::Problems,
        }
    }
}

fn parse_guid(text: &str) -> Result<String, String> {
    let groups: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    let is_hex = text
        .chars()
        .all(|char| char == '-' || char.is_ascii_hexdigit());
    if is_hex && lengths == [8, 4, 4, 4, 12] {
        Ok(text.to_owned())
    } else {
        Err("a GUID is written as `c3d0fbd2-8b78-4231-a665-3a0de1796264`".to_owned())
    }
}
