//! What a person sees of a job while it runs, and when it has ended.

pub(crate) mod follow;
mod glance;
mod picture;
pub(crate) mod plain;
pub(crate) mod screen;
mod transfer;
pub(crate) mod verdict;
pub(crate) mod viewer;

use glance::Glance;
use pinnace_control::control::News;
use pinnace_control::job::Job;
use pinnace_core::lifecycle::Shown;
use pinnace_exec::Event;

/// Shows a job that runs. Only a [`viewer::Viewer`] calls it, which may wait for the reader.
pub(crate) trait Show {
    /// Which news is worth a line of its own; asked by whoever drives the job, while the job is as it was then.
    fn line(&self) -> fn(&Job, &News) -> Option<String>;
    /// Whether the state of the job is shown, beside what is told.
    fn wants_glances(&self) -> bool;
    /// A launch has told something.
    fn on_event(&mut self, launch: u32, event: &Event);
    /// Something else to say.
    fn say(&mut self, text: &str);
    /// All that has happened until now is told: time to show it.
    fn refresh(&mut self, glance: Option<Glance>);
    /// The job has ended.
    fn end(&mut self);
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
