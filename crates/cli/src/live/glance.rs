//! A job at one moment, small enough to be handed to another thread often.

use pinnace_control::job::{Job, JobId};
use pinnace_control::view::RoleView;
use pinnace_core::lifecycle::{Shown, Time};
use pinnace_exec::TaskId;

/// What the live view shows of a job's state.
#[derive(Debug)]
pub(crate) struct Glance {
    pub(super) id: JobId,
    pub(super) state: Shown,
    pub(super) submitted: Time,
    /// How often the job was tried again.
    pub(super) retries: u32,
    /// Why it waits for a place, if it does.
    pub(super) waits: Option<String>,
    pub(super) roles: Vec<RoleView>,
    pub(super) tasks: Vec<TaskGlance>,
}

/// What the live view shows of a task's state.
#[derive(Debug)]
pub(super) struct TaskGlance {
    pub(super) id: TaskId,
    pub(super) state: Shown,
    /// How often the task was tried again.
    pub(super) retries: u32,
}

impl Glance {
    pub(super) fn of(job: &Job) -> Self {
        let state = &job.state;
        let tasks = state.tasks().map(|task| TaskGlance {
            id: job.engine_task(task.id),
            state: task.shown,
            retries: task.retries.total,
        });
        Self {
            id: job.id.clone(),
            state: state.shown(),
            submitted: state.submitted(),
            retries: state.retries().total,
            waits: job.waits.clone(),
            roles: state.progress().map(|role| RoleView::of(&role)).collect(),
            tasks: tasks.collect(),
        }
    }
}
