//! The outputs of jobs: what became of them, and which of them are datasets.

use pinnace_core::lifecycle::Time;
use pinnace_core::plan::Scheme;
use pinnace_exec::{Collected, local};

use crate::folder::StateFolder;
use crate::job::Job;
use crate::store::{Dataset, Store, StoreError};

/// What became of the outputs of a job, by its latest attempts.
pub fn collected(job: &Job, folder: &StateFolder) -> Vec<Collected> {
    let mut all: Vec<Collected> = Vec::new();
    if job.plan.roles.values().all(|role| role.outputs.is_empty()) {
        return all;
    }
    for launch in &job.launches {
        for output in local::collected(&folder.launch(&job.id, launch.number)) {
            let is_same =
                |other: &Collected| other.role == output.role && other.output == output.output;
            all.retain(|earlier| !is_same(earlier));
            all.push(output);
        }
    }
    all
}

/// The outputs that a job registers when it has succeeded.
pub(crate) fn to_register(job: &Job, folder: &StateFolder, now: Time) -> Vec<Dataset> {
    let succeeded = job
        .state
        .outcome()
        .is_some_and(|outcome| outcome.verdict.is_success());
    if !succeeded {
        return Vec::new();
    }
    let entry = |collected: Collected| {
        let role = job.plan.roles.get(&collected.role)?;
        let register = role.outputs.get(&collected.output)?.register.as_ref()?;
        Some(Dataset {
            name: register.name.clone(),
            version: 0,
            location: collected.location,
            digest: collected.digest,
            files: Some(collected.files),
            bytes: Some(collected.bytes),
            description: register.description.clone(),
            job: Some(job.id.to_string()),
            output: Some(collected.output),
            added: now,
        })
    };
    let collected = collected(job, folder).into_iter();
    collected
        .filter(|collected| collected.failure.is_none())
        .filter_map(entry)
        .collect()
}

/// What the datasets that a job reads stand for now.
pub(crate) fn datasets_of(
    job: &Job,
    store: &Store,
) -> Result<indexmap::IndexMap<String, String>, StoreError> {
    let mut found = indexmap::IndexMap::new();
    let inputs = job
        .plan
        .roles
        .values()
        .flat_map(|role| role.inputs.values());
    for input in inputs.filter(|input| input.source.scheme() == Scheme::Dataset) {
        let Some((name, version)) = input.source.dataset() else {
            continue;
        };
        // No dataset has a version that is no number, and the task is told so.
        let Ok(version) = version.map(str::parse).transpose() else {
            continue;
        };
        if let Some(dataset) = store.dataset(name, version)? {
            found.insert(input.source.to_string(), dataset.location);
        }
    }
    Ok(found)
}
