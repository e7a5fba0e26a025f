//! A plan for people: the page, and the chain of one value.

pub(crate) mod chain;
mod command_line;
mod data;
mod fidelity;
mod origin;
pub(crate) mod overrides;
mod page;
pub(crate) mod plan;
mod role;
mod secrets;
mod steps;
