use clap::Args;
use pinnace_control::job::JobId;
use pinnace_control::store::{Dataset, Store};
use pinnace_core::words;

use super::stop::ask_to_stop;
use super::wait::until_ended;
use super::{Exit, complain};
use crate::state::{self, store_failed};
use crate::terminal::{self, Color};

/// Remove jobs that have ended, with their logs and work folders
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 all are removed, 2 one is not there, has not ended or holds datasets."
)]
pub(crate) struct Rm {
    /// The jobs
    #[arg(required = true, value_name = "JOB")]
    jobs: Vec<String>,

    /// Remove also jobs that have not ended, whose tasks are killed, and jobs with files that datasets point at
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
            let datasets = datasets_of(&store, id, color)?;
            if !datasets.is_empty() && !self.force {
                let message = format!(
                    "{} files of the job `{id}`; `pinnace rm --force {id}` removes them all the same",
                    point_at(&datasets)
                );
                complain(color, &message);
                exit = Exit::Usage;
                continue;
            }
            if self.force {
                ask_to_stop(&mut store, id, true, color)?;
                until_ended(&store, id, color)?;
            }
            if remove_job(&mut store, id, color)? {
                terminal::talk(&format!("removed {id}\n"));
                if !datasets.is_empty() {
                    let text = format!("warning: {} files that are gone\n", point_at(&datasets));
                    terminal::talk(&text);
                }
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

/// The datasets of the catalogue that point at files of a job.
pub(super) fn datasets_of(store: &Store, id: &JobId, color: Color) -> Result<Vec<Dataset>, Exit> {
    store
        .datasets_below(&store.folder().job(id))
        .map_err(|error| store_failed(color, &error))
}

/// Says that datasets point at something.
pub(super) fn point_at(datasets: &[Dataset]) -> String {
    let names: Vec<String> = datasets
        .iter()
        .map(|dataset| format!("`{}:{}`", dataset.name, dataset.version))
        .collect();
    let names = words::listed(&names, "and");
    match datasets {
        [_] => format!("the dataset {names} points at"),
        _ => format!("the datasets {names} point at"),
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
