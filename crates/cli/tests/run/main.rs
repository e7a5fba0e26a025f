//! Jobs run by the real program, as a user runs them.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

mod cases;
mod chaos;
mod commands;
mod completion;
mod crash;
mod engine;
mod prerequisites;
mod secrets;
mod ssh;
mod support;
