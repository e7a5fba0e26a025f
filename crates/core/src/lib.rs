//! The nouns and the decisions of Pinnace. Pure: no clock, no files, no network, no threads.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`plan`] | what will run: roles, steps, policies; dialect-free and serialisable |
//! | [`text`] | a string in which secrets are named, never held |
//! | [`origin`] | where each value of a plan comes from |
//! | [`fidelity`] | which features of a source an engine honours |
//! | [`ignore`] | what a `.gitignore` leaves out |
//! | [`environment`] | the variables that a task finds when it starts |
//! | [`script`] | a task's script, for a shell |
//! | [`exit`] | why a task ended, and what that says about trying again |
//! | [`lifecycle`] | the life of a job: inputs in, effects out |
//! | [`words`] | policies in words |

pub mod environment;
pub mod exit;
pub mod fidelity;
pub mod ignore;
pub mod lifecycle;
pub mod origin;
pub mod plan;
pub mod script;
pub mod text;
pub mod words;
