//! The OpenPAI job protocol, version 2, with the whole prerequisites proposal.

pub mod fields;
pub mod model;
pub mod read;
