use clap::Args;
use pinnace_control::store::Command;

use super::wait::until_ended;
use super::{Exit, Format, print_json};
use crate::live::word;
use crate::state::{self, store_failed};
use crate::terminal::{self, Color};

/// Stop jobs: their tasks are asked to end, and their exit hooks run
#[derive(Debug, Args)]
pub(crate) struct Stop {
    /// The jobs
    #[arg(required = true, value_name = "JOB")]
    jobs: Vec<String>,

    /// Kill the tasks at once
    #[arg(short, long)]
    force: bool,

    /// Do not wait until they have ended
    #[arg(long)]
    no_wait: bool,

    /// How to show what came of them
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output_format: Format,
}

impl Stop {
    pub(crate) fn run(self, color: Color) -> Exit {
        self.stop(color).unwrap_or_else(|exit| exit)
    }

    fn stop(&self, color: Color) -> Result<Exit, Exit> {
        let mut store = state::open(color)?;
        let mut ids = Vec::new();
        for word in &self.jobs {
            ids.push(state::find(&store, word, color)?);
        }
        for id in &ids {
            let job = state::load(&store, id, color)?;
            if job.finished.is_none() {
                let force = self.force;
                store
                    .change(|change| change.ask(&job, Command::Stop { force }))
                    .map_err(|error| store_failed(color, &error))?;
                state::look_after(&store, id);
            }
        }
        let mut summaries = Vec::new();
        for id in &ids {
            let job = match self.no_wait {
                true => state::load(&store, id, color)?,
                false => until_ended(&store, id, color)?,
            };
            if self.output_format == Format::Text {
                terminal::talk(&format!("{id}: {}\n", word(job.state.shown())));
            }
            summaries.push(job.summary());
        }
        if self.output_format == Format::Json {
            print_json(&summaries);
        }
        Ok(Exit::Clean)
    }
}
