//! Starts, watches and stops what runs.
//!
//! # The local engine, in the order of its use
//!
//! ```no_run
//! use pinnace_exec::{Attempt, Happening, Secrets, local};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let plan: pinnace_core::plan::Plan = serde_json::from_str("{}")?;
//! let folder = std::path::Path::new("/state/jobs/j1/attempts/0"); // absolute; names the attempt
//! let mut attempt = Attempt::whole("j1", 0, "ann", plan); // all tasks, or set `attempt.tasks`
//! attempt.settings.hidden = vec!["/state".into()]; // tasks do not see this folder
//! let secrets: Secrets = [].into_iter().collect(); // values; they go through a pipe
//! let launcher = local::Launcher::this_program()?; // `pinnace supervisor FOLDER`
//!
//! let mut handle = local::launch(&launcher, folder, &attempt, &secrets)?; // harmless if repeated
//! let mut watch = local::Watch::begin(folder)?; // a descriptor to poll, or `wait`
//! let mut cursor = local::Cursor::default(); // can be stored
//! 'follow: loop {
//!     let (events, next) = local::observe(folder, cursor)?;
//!     cursor = next;
//!     for event in events {
//!         match event.what {
//!             Happening::Exited { report } => println!("{}: {}", report.task, report.exit_code),
//!             Happening::Ended => break 'follow,
//!             _ => {}
//!         }
//!     }
//!     watch.wait(std::time::Duration::from_secs(5))?;
//! }
//! handle.wait();
//! # Ok(()) }
//! ```
//!
//! - The command line must offer the hidden command `supervisor FOLDER`, which calls
//!   [`local::supervisor::main`] with the arguments behind it, before any thread is started, and ends with its code.
//! - [`local::adopt`] after a restart: [`local::Adoption::Alive`] (observe and watch as above), `NotStarted` (launch), or
//!   `Over` with the reports and the lost tasks, of which it is proven that nothing runs.
//! - [`local::stop`] ends one task or all; the events tell when they have ended. A second call may give a shorter grace.
//!   With a grace of zero it is a kill.
//! - Logs lie in [`local::Layout::logs`]; [`log::LogReader`] follows them, [`log::tail`] gives their last bytes. They hold no secrets.
//! - [`local::enter`] opens a shell in a task that runs or is kept (events `Started` and `Kept` have its process).
//! - [`machine::capacity`] tells cores, memory and GPU cards; whoever places tasks sets [`TaskSpec::gpus`], and keeps them disjoint.
//! - [`shell`] tells which shell will be used, [`probe::probe`] what the sandbox can do here.
//! - [`local::carry_out`] does all of the above for one attempt and returns when it has ended.
//!
//! # What holds
//!
//! 1. A folder is carried out at most once. Of two launches, one starts a supervisor; the other changes nothing.
//! 2. Nothing of a task is alive when its `Exited` event is written, not even daemons.
//! 3. If a supervisor dies, all its tasks die; the lock in the folder is held until the last of them is gone.
//! 4. The value of a secret is in no file, no argument, and in the environment only of the job's own tasks.
//! 5. `unsafe` is in `sys.rs` alone.
//!
//! # Choices that a reader may wonder about
//!
//! - **Two shells.** Start hooks and command share a shell; exit hooks have a second one which takes over the exported
//!   variables and the folder as they were before the command. So they run after `SIGKILL`, want of memory and `exec` too.
//! - **The grace period** covers exit hooks: if there are any for a failed task, a command that does not end is killed
//!   when three quarters of it (all but ten seconds, if that is more) are over, and the hooks have the rest.
//! - **No file per report.** A report is part of its event: one line, one write.
//! - **No probing.** The supervisor tries the wished [`Level`]; what the kernel refuses is told in
//!   [`ExitReport::not_enforced`], and the next lower level is used from then on.
//! - **Large jobs** of more than [`MOST_SPELLED_OUT_TASKS`] tasks get variables about single peers only if they speak of them.

mod contract;
pub mod data;
mod environment;
mod flat;
pub mod local;
pub mod log;
pub mod machine;
pub mod metric;
pub mod probe;
mod runner;
mod sandbox;
mod signals;
mod sys;
mod variables;

pub use contract::*;
pub use environment::MOST_SPELLED_OUT_TASKS;
pub use runner::shell;
