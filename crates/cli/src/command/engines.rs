use clap::Args;
use pinnace_exec::machine;
use serde::Serialize;

use super::{Exit, Format, print_json};
use crate::terminal;

/// List the engines that can run jobs from here, and what they offer
#[derive(Debug, Args)]
pub(crate) struct Engines {
    /// How to show them
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output_format: Format,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Local {
    name: &'static str,
    usable: bool,
    capacity: machine::Capacity,
    shell: &'static str,
}

impl Engines {
    pub(crate) fn run(self) -> Exit {
        let (_, shell) = pinnace_exec::shell(None);
        let local = Local {
            name: "local",
            usable: true,
            capacity: machine::capacity(),
            shell,
        };
        match self.output_format {
            Format::Json => print_json(&[local]),
            Format::Text => {
                let capacity = &local.capacity;
                let cards: Vec<String> = capacity
                    .gpus
                    .iter()
                    .map(|card| format!("{} ({} MiB)", card.name, card.memory_mb))
                    .collect();
                let cards = match cards.is_empty() {
                    true => "no GPU cards".to_owned(),
                    false => cards.join(", "),
                };
                terminal::print(&format!(
                    "local  this machine: {} cores, {} MiB of memory, {cards}; tasks run in {shell}\n",
                    capacity.cpu, capacity.memory_mb
                ));
            }
        }
        Exit::Clean
    }
}
