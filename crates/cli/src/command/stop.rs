use clap::Args;
use pinnace_control::job::JobId;
use pinnace_control::store::{Command, Store};

use super::wait::until_ended;
use super::{Exit, Format, print_json};
use crate::live::word;
use crate::state::{self, store_failed};
use crate::terminal::{self, Color};

/// Stop jobs: their tasks are asked to end, and their exit hooks run
#[derive(Debug, Args)]
#[command(after_help = "Exit status: 0 all have ended, 2 one is not there.")]
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
        let (ids, exit) = state::find_all(&store, &self.jobs, color);
        let mut asked = Vec::new();
        for id in &ids {
            asked.push(ask_to_stop(&mut store, id, self.force, color)?);
        }
        let mut summaries = Vec::new();
        for (id, asked) in ids.iter().zip(asked) {
            let job = match self.no_wait {
                true => state::load(&store, id, color)?,
                false => until_ended(&store, id, color)?,
            };
            if self.output_format == Format::Text {
                let state = word(job.state.shown());
                terminal::talk(&match asked {
                    true => format!("{id}: {state}\n"),
                    false => format!("{id}: had ended already, {state}\n"),
                });
            }
            summaries.push(job.summary());
        }
        if self.output_format == Format::Json {
            print_json(&summaries);
        }
        Ok(exit)
    }
}

/// Asks whoever drives a job to stop it; false if it has ended already.
pub(super) fn ask_to_stop(
    store: &mut Store,
    id: &JobId,
    force: bool,
    color: Color,
) -> Result<bool, Exit> {
    let job = state::load(store, id, color)?;
    if job.finished.is_some() {
        return Ok(false);
    }
    store
        .change(|change| change.ask(&job, Command::Stop { force }))
        .map_err(|error| store_failed(color, &error))?;
    state::look_after(store, id);
    Ok(true)
}
