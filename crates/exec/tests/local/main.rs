//! The local engine with real processes.
//!
//! Run as root these tests use the sandbox of root; the module `ordinary` starts the same supervisor as
//! an ordinary user. What the kernel refuses is said and skipped.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    missing_docs
)]

mod support;

mod data;
mod environment;
mod follow;
mod life;
mod remote;
mod sandbox;
mod secrets;
mod supervisor;
