//! Data of tasks: what they find before they start, and what is taken from them when they end.
//!
//! 1. [`stage`] makes everything ready for a role, in a process of its own: a snapshot of the code, inputs
//!    (found on this machine, or fetched), folders for outputs. It says what is to be seen where.
//! 2. The sandbox shows that to the task: bound read-only, bound for writing, or as a copy of its own. Without a sandbox
//!    the task is told the real places instead.
//! 3. [`collect`] brings outputs to where they belong, in a process of its own; again after a crash, until it is done.

pub use digest::{Weighed, weigh};
pub use link::{Link, PINNACE_LINKS, link};

pub(crate) mod collect;
mod copy;
mod digest;
pub(crate) mod hard_coded;
mod link;
mod place;
mod python;
mod real;
mod snapshot;
pub(crate) mod stage;
mod tell;

pub(crate) use copy::copy_any;
pub(crate) use real::{RealPlaces, copy_of, written};
pub(crate) use tell::{Tell, Teller};
