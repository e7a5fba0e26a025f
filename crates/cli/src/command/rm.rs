use clap::Args;
use pinnace_control::job::JobId;
use pinnace_control::store::Store;

use super::stop::ask_to_stop;
use super::wait::until_ended;
use super::{Exit, complain};
use crate::state::{self, store_failed};
use crate::terminal::{self, Color};

/// Remove jobs that have ended, with their logs and work folders
#[derive(Debug, Args)]
#[command(after_help = "Exit status: 0 all are removed, 2 one is not there or has not ended.")]
pub(crate) struct Rm {
    /// The jobs
    #[arg(required = true, value_name = "JOB")]
    jobs: Vec<String>,

    /// Kill the tasks of jobs that have not ended, and remove those jobs too
    #[arg(short, long)]
    force: bool,
}

impl Rm {
    pub(crate) fn run(self, color: Color) -> Exit {
        self.remove(color).unwrap_or_else(|exit| exit)
    }

    fn remove(&self, color: Color) -> Result<Exit, Exit> {
        let mut store = state::open(color)?;
        let (ids, mut exit) = state::find_all(&store, &self.jobs, color);
        for id in &ids {
            if self.force {
                ask_to_stop(&mut store, id, true, color)?;
                until_ended(&store, id, color)?;
            }
            if remove_job(&mut store, id, color)? {
                terminal::talk(&format!("removed {id}\n"));
            } else {
                let message = format!(
                    "the job `{id}` has not ended; `pinnace rm --force {id}` kills it first"
                );
                complain(color, &message);
                exit = Exit::Usage;
            }
        }
        Ok(exit)
    }
}

/// Removes a job and its files; false if it has not ended.
pub(super) fn remove_job(store: &mut Store, id: &JobId, color: Color) -> Result<bool, Exit> {
    let gone = store
        .change(|change| change.forget(id))
        .map_err(|error| store_failed(color, &error))?;
    if gone {
        let folder = store.folder().job(id);
        pinnace_exec::local::remove_folder(&folder).map_err(|error| {
            complain(
                color,
                &format!("cannot remove `{}`: {error}", folder.display()),
            );
            Exit::Engine
        })?;
    }
    Ok(gone)
}
