//! The whole program, as a user meets it: arguments in, exit status and both streams out.
//!
//! Snapshots lie in `snapshots/`; `PINNACE_UPDATE_SNAPSHOTS=1 cargo test -p pinnace --test command`
//! writes them anew.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

mod check;
mod component;
mod environment;
mod explain;
mod files;
mod overrides;
mod rest;
mod run_settings;
mod secrets;
mod settings;
