use std::time::Duration;

use clap::Args;
use pinnace_control::job::{Job, JobId};
use pinnace_control::store::Store;
use pinnace_control::view::JobView;

use super::run::{bold, exit_of};
use super::{Exit, Format, print_json};
use crate::live::verdict;
use crate::state;
use crate::terminal::{self, Color};

/// How often the store is looked at.
const PACE: Duration = Duration::from_millis(50);

/// Wait until a job has ended
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 the job succeeded, 1 it failed or was stopped, 3 the engine failed."
)]
pub(crate) struct Wait {
    /// The job
    #[arg(value_name = "JOB")]
    job: String,

    /// How to show what came of it
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output_format: Format,
}

impl Wait {
    pub(crate) fn run(self, color: Color) -> Exit {
        self.wait(color).unwrap_or_else(|exit| exit)
    }

    fn wait(&self, color: Color) -> Result<Exit, Exit> {
        let store = state::open(color)?;
        let id = state::find(&store, &self.job, color)?;
        let job = until_ended(&store, &id, color)?;
        let view = JobView::of(&job, store.folder());
        match self.output_format {
            Format::Json => print_json(&view),
            Format::Text => terminal::talk(&verdict::page(&view, bold(color))),
        }
        Ok(exit_of(&job))
    }
}

/// Waits until a job has ended, and sees to it that someone drives it.
pub(super) fn until_ended(store: &Store, id: &JobId, color: Color) -> Result<Job, Exit> {
    let mut looks = 0_u32;
    loop {
        let ended = store
            .has_ended(id)
            .map_err(|error| state::store_failed(color, &error))?;
        if ended {
            return state::load(store, id, color);
        }
        looks += 1;
        // Whoever drives it may be killed at any time.
        if looks.is_multiple_of(20) {
            state::look_after(store, id);
        }
        std::thread::sleep(PACE);
    }
}
