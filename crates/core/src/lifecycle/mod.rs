//! The life of a job: a state machine that is fed with inputs and answers with effects.
//!
//! [`JobState::begin`] gives the first state and effects, [`step`] every later one. Nothing here has a
//! clock, a random source or a side effect, so the same inputs at the same times give the same states
//! and the same effects. The page `docs/lifecycle.md` describes the states and inputs,
//! `docs/retries.md` what is tried again.
//!
//! # Contract with the caller
//!
//! 1. The new state and the effects of one step are made durable in one transaction, and only then are
//!    the effects carried out, in order. Keeping the input and its time instead of the state is as
//!    good: replaying them gives the state again.
//! 2. Effects are idempotent by attempt id. After a crash, effects that may not have been carried out
//!    are carried out again. [`JobState::outstanding`] derives them from the state alone.
//! 3. Observations may come twice, late and out of order. What is not about a current attempt, or says
//!    nothing new, is ignored and leaves [`JobState::revision`] as it was.
//! 4. [`Input::TaskExited`] and [`Input::TaskLost`] mean that nothing of the attempt runs any more, and
//!    that it will not start later, not even if its launch is asked for again.
//! 5. A kill is answered with [`Input::TaskExited`], also for an attempt that never started. Until then
//!    the attempt counts as alive: no place is released and no successor starts.

mod completion;
mod job;
mod message;
mod outstanding;
mod retry;
mod state;
mod step;
mod task;
#[cfg(test)]
mod tests;
mod view;

pub use completion::{Condition, Trigger};
pub use job::{AttemptRecord, JobState, Outcome, Settings};
pub use message::{Effect, Group, Input, KillReason, Timer};
pub use retry::{Budget, Decision, Policy, Retries, Rule};
pub use state::{Shown, State};
pub use step::step;
pub use task::{TaskAttempt, TaskId, TaskRecord, Time, Times};
pub use view::{RoleProgress, TaskView};
