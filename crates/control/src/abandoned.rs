//! What is left of jobs whose process died before they were stored.

use std::fs;
use std::path::Path;

use pinnace_exec::local::{Layout, remove_folder};

use crate::job::JobId;
use crate::owner::Ownership;
use crate::store::{Store, StoreError};

/// Removes the folders of jobs that were never stored and of which nothing has begun.
pub fn sweep(store: &mut Store) -> Result<(), StoreError> {
    let jobs = store.folder().jobs();
    for entry in fs::read_dir(jobs).into_iter().flatten().flatten() {
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let id = JobId::stored(name);
        if has_begun(store, &id) {
            continue;
        }
        // Whoever is about to store it holds the lock. Whoever has stored it meanwhile is found now.
        let Ok(Some(_owner)) = Ownership::take(store.folder(), &id) else {
            continue;
        };
        if !store.change(|change| change.has(&id))? {
            // What cannot be removed now is left for the next time.
            let _ = remove_folder(&entry.path());
        }
    }
    Ok(())
}

/// Whether something was launched for a job, or lies here that someone may want.
fn has_begun(store: &Store, id: &JobId) -> bool {
    let folder = store.folder().job(id);
    let launches = fs::read_dir(folder.join("launches"));
    let was_launched = |launch: &Path| Layout::new(launch).attempt().exists();
    launches
        .into_iter()
        .flatten()
        .flatten()
        .any(|launch| was_launched(&launch.path()))
        || store.folder().outputs(id).exists()
}
