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

/// Wait until jobs have ended
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 all succeeded, 1 one failed or was stopped, 2 one is not there, 3 the engine failed."
)]
pub(crate) struct Wait {
    /// The jobs
    #[arg(required = true, value_name = "JOB")]
    jobs: Vec<String>,

    /// How to show what came of them; several jobs are a list in JSON
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output_format: Format,
}

impl Wait {
    pub(crate) fn run(self, color: Color) -> Exit {
        self.wait(color).unwrap_or_else(|exit| exit)
    }

    fn wait(&self, color: Color) -> Result<Exit, Exit> {
        let store = state::open(color)?;
        let (ids, mut exit) = state::find_all(&store, &self.jobs, color);
        let mut views = Vec::new();
        for id in &ids {
            let job = until_ended(&store, id, color)?;
            let view = JobView::of(&job, store.folder());
            if self.output_format == Format::Text {
                terminal::talk(&verdict::page(&view, bold(color)));
            }
            views.push(view);
            exit = exit.max(exit_of(&job));
        }
        match (self.output_format, views.as_slice()) {
            (Format::Text, _) => {}
            (Format::Json, [view]) if self.jobs.len() == 1 => print_json(view),
            (Format::Json, views) => print_json(&views),
        }
        Ok(exit)
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
