//! Azure ML components, version 1.5 and 2.

pub mod command;
