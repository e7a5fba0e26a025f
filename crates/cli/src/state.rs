//! The state directory from the point of view of the commands: open it, find a job in it, see to it that
//! every job that has not ended is driven by someone.

use std::process::{Command, Stdio};

use pinnace_control::admit::Refused;
use pinnace_control::control::ControlError;
use pinnace_control::folder::STATE_VARIABLE;
use pinnace_control::job::{Job, JobId};
use pinnace_control::owner::Ownership;
use pinnace_control::store::{Found, Store, StoreError};

use pinnace_spec::diagnostic::suggest;

use crate::command::{Exit, complain};
use crate::terminal::Color;

/// Opens the store and sees to it that no job is left alone.
pub(crate) fn open(color: Color) -> Result<Store, Exit> {
    let store = Store::from_environment().map_err(|error| store_failed(color, &error))?;
    let unfinished = store
        .list(true)
        .map_err(|error| store_failed(color, &error))?;
    for job in unfinished {
        look_after(&store, &job.id);
    }
    Ok(store)
}

/// Starts a process that drives a job, if nobody does.
pub(crate) fn look_after(store: &Store, job: &JobId) {
    if let Ok(Some(free)) = Ownership::take(store.folder(), job) {
        drop(free);
        start_owner(store, job);
    }
}

/// Starts a process that drives a job and outlives this one.
pub(crate) fn start_owner(store: &Store, job: &JobId) {
    let Ok(program) = std::env::current_exe() else {
        return;
    };
    // If it does not start, the next command tries again.
    let _ = Command::new(program)
        .args(["control", job.as_str()])
        .env(STATE_VARIABLE, store.folder().path())
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
}

/// The job that a word of the user stands for.
pub(crate) fn find(store: &Store, word: &str, color: Color) -> Result<JobId, Exit> {
    match store
        .find(word)
        .map_err(|error| store_failed(color, &error))?
    {
        Found::One(id) => Ok(id),
        Found::None => {
            let jobs = store
                .list(false)
                .map_err(|error| store_failed(color, &error))?;
            let known = jobs
                .iter()
                .flat_map(|job| [job.id.as_str(), job.name.as_str()]);
            let help = suggest::did_you_mean(word, known)
                .unwrap_or_else(|| "`pinnace ps --all` lists all jobs".to_owned());
            complain(color, &format!("there is no job `{word}`; {help}"));
            Err(Exit::Usage)
        }
        Found::Several(ids) => {
            let ids: Vec<String> = ids.iter().map(|id| format!("`{id}`")).collect();
            let message = format!(
                "`{word}` is the beginning of several jobs: {}",
                ids.join(", ")
            );
            complain(color, &message);
            Err(Exit::Usage)
        }
    }
}

/// The jobs that words of the user stand for, each once. Those that are not there are told of, and do not keep
/// the others from being found.
pub(crate) fn find_all(store: &Store, words: &[String], color: Color) -> (Vec<JobId>, Exit) {
    let mut ids = Vec::new();
    let mut exit = Exit::Clean;
    for word in words {
        match find(store, word, color) {
            Ok(id) if ids.contains(&id) => {}
            Ok(id) => ids.push(id),
            Err(problem) => exit = problem,
        }
    }
    (ids, exit)
}

/// All that is known of a job.
pub(crate) fn load(store: &Store, id: &JobId, color: Color) -> Result<Job, Exit> {
    match store.load(id) {
        Ok(Some(job)) => Ok(job),
        Ok(None) => {
            complain(color, &format!("the job `{id}` was removed"));
            Err(Exit::Usage)
        }
        Err(error) => Err(store_failed(color, &error)),
    }
}

/// Says why the store cannot be used.
pub(crate) fn store_failed(color: Color, error: &StoreError) -> Exit {
    complain(color, &error.to_string());
    if let Some(help) = error.help() {
        crate::terminal::talk(&format!("  help: {help}\n"));
    }
    Exit::Engine
}

/// Says why this machine cannot run a job.
pub(crate) fn refused(color: Color, refused: &Refused) -> Exit {
    complain(color, &refused.to_string());
    crate::terminal::talk(&format!("  help: {}\n", refused.help));
    Exit::Engine
}

/// Says why a job cannot be driven on.
pub(crate) fn control_failed(color: Color, error: &ControlError) -> Exit {
    match error {
        ControlError::Store(error) => store_failed(color, error),
        ControlError::Engine(_) | ControlError::Owned | ControlError::Missing => {
            complain(color, &error.to_string());
            Exit::Engine
        }
    }
}
