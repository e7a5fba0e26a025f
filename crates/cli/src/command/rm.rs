use clap::Args;
use pinnace_control::job::JobId;
use pinnace_control::store::Store;

use super::{Exit, complain};
use crate::state::{self, store_failed};
use crate::terminal::{self, Color};

/// Remove jobs that have ended, with their logs and work folders
#[derive(Debug, Args)]
pub(crate) struct Rm {
    /// The jobs
    #[arg(required = true, value_name = "JOB")]
    jobs: Vec<String>,
}

impl Rm {
    pub(crate) fn run(self, color: Color) -> Exit {
        self.remove(color).unwrap_or_else(|exit| exit)
    }

    fn remove(&self, color: Color) -> Result<Exit, Exit> {
        let mut store = state::open(color)?;
        let mut exit = Exit::Clean;
        for word in &self.jobs {
            let id = state::find(&store, word, color)?;
            if remove_job(&mut store, &id, color)? {
                terminal::talk(&format!("removed {id}\n"));
            } else {
                let message =
                    format!("the job `{id}` has not ended; `pinnace stop {id}` stops it first");
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
        if let Err(error) = std::fs::remove_dir_all(&folder) {
            let message = format!("cannot remove `{}`: {error}", folder.display());
            complain(color, &message);
            return Err(Exit::Engine);
        }
    }
    Ok(gone)
}
