//! Jobs run by the real program, as a user runs them.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

mod cases;
mod chaos;
mod commands;
mod component;
mod crash;
mod data;
mod endings;
mod engine;
mod failure;
mod hemera;
mod overrides;
mod packages;
mod prerequisites;
mod processor;
mod recipes;
mod secrets;
mod ssh;
mod stalled;
mod support;
mod terminal;
mod trouble;
