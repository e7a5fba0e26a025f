//! What a person sees of a job while it runs, and when it has ended.

pub(crate) mod follow;
mod picture;
pub(crate) mod plain;
pub(crate) mod screen;
mod transfer;
pub(crate) mod verdict;

use pinnace_control::control::News;
use pinnace_control::job::Job;
use pinnace_core::lifecycle::Shown;

/// Shows a job that runs.
pub(crate) trait Show {
    /// Something may have happened.
    fn update(&mut self, job: &Job, news: &[News]);
    /// The job has ended, or is left.
    fn end(&mut self, job: &Job);
    /// Something else to say.
    fn say(&mut self, text: &str);
}

/// Shows nothing, for programs that wait for the end.
#[derive(Debug)]
pub(crate) struct Silent;

impl Show for Silent {
    fn update(&mut self, _: &Job, _: &[News]) {}
    fn end(&mut self, _: &Job) {}
    fn say(&mut self, _: &str) {}
}

/// A state in a word.
pub(crate) fn word(state: Shown) -> &'static str {
    match state {
        Shown::Waiting => "waiting",
        Shown::Running => "running",
        Shown::Stopping => "stopping",
        Shown::Succeeded => "succeeded",
        Shown::Stopped => "stopped",
        Shown::Failed => "failed",
    }
}
