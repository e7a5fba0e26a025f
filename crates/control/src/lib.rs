//! The one loop: commands and observations in, pure decisions, durable intent, effects out.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`admit`] | whether this machine can run a job at all |
//! | [`folder`] | the state directory: the database, the vault's key, a folder per job |
//! | [`store`] | the database; the only place with SQL |
//! | [`job`] | a job as the store knows it: plan, options, state, launches |
//! | [`module`] | the register of modules that components name by their ids |
//! | [`execution_log`] | what the platform of a module would say of a job while it runs |
//! | [`output`] | what became of the outputs of a job |
//! | [`owner`] | who drives a job: one process at a time |
//! | [`control`] | the loop of one job |
//! | [`engine`] | what the loop asks of whatever runs tasks, and the local engine |
//! | [`place`] | whether this machine has room for a group of tasks |
//! | [`view`] | what people and programs want to see of a job |
//! | [`exit`] | from what the engine reports of a task's end to its verdict |
//!
//! # What holds
//!
//! 1. Everything that is done was durable as an intent before: the inputs that were heard, the launches and the
//!    places are written in one transaction, and only then are processes started or ended.
//! 2. A job is driven by the process that holds the lock in its folder. The kernel frees the lock when that
//!    process dies, at whatever moment; the next process loads the job and does again what may not have been done.
//! 3. Other processes talk to the driver through rows of the table `commands`.
//! 4. A failed transaction ends the loop with an error and leaves the store as it was. What runs goes on,
//!    and whoever drives the job next finds out how it went.
//! 5. The value of a secret is in the table `vault`, encrypted, until the job ends, and nowhere else. The key is
//!    overwritten when nothing is left to decrypt.
//! 6. What means nothing after the machine has stopped is written without waiting for the disk.

pub mod abandoned;
pub mod admit;
pub mod control;
pub mod engine;
pub mod execution_log;
pub mod exit;
pub mod folder;
pub mod job;
pub mod module;
pub mod output;
pub mod owner;
pub mod place;
pub mod store;

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests;
pub mod view;
