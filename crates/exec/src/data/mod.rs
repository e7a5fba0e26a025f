//! Data of tasks: what they find before they start, and what is taken from them when they end.
//!
//! 1. [`stage`] makes everything ready for a role, in a process of its own: a snapshot of the code, inputs
//!    (found on this machine, or fetched), folders for outputs. It says what is to be seen where.
//! 2. The sandbox shows that to the task: bound read-only, bound for writing, or as a copy of its own. Without a sandbox
//!    the task is told the real places instead.
//! 3. [`collect`] brings outputs to where they belong, in a process of its own; again after a crash, until it is done.

pub use digest::{Weighed, weigh};
pub use link::{Link, PINNACE_LINKS, link};
pub use snapshot::copy_folder;

pub(crate) mod collect;
mod copy;
mod digest;
pub(crate) mod hard_coded;
mod link;
mod place;
mod pointer;
mod python;
mod real;
mod remote;
mod snapshot;
pub(crate) mod stage;
mod tell;
mod zip;

use pinnace_core::plan::{Location, Scheme};

use crate::contract::Attempt;

pub(crate) use copy::copy_any;
pub(crate) use real::{RealPlaces, copy_of, laid_out, written};
pub(crate) use tell::{Tell, Teller};

/// How the names of variables begin that whoever moves the data of an attempt must have: where servers are and who asks,
/// where packages come from. Other attempts do without them, because they may hold secrets.
pub(crate) fn variables(attempt: &Attempt) -> Vec<&'static str> {
    let is_remote =
        |location: &Location| matches!(location.scheme(), Scheme::Http | Scheme::S3 | Scheme::Oss);
    let roles = || attempt.plan.roles.values();
    let inputs = roles().flat_map(|role| role.inputs.values().map(|input| &input.source));
    let outputs = roles().flat_map(|role| {
        let outputs = role.outputs.values();
        outputs.filter_map(|output| output.destination.as_ref())
    });
    let datasets = attempt.settings.datasets.values();
    let datasets: Vec<Location> = datasets
        .filter_map(|place| Location::parse(place, None).ok())
        .collect();
    let mut names = Vec::new();
    if inputs.chain(outputs).chain(&datasets).any(is_remote) {
        names.extend(["AWS_", "OSS_", "ALIBABA_CLOUD_"]);
    }
    if roles().any(|role| role.python.is_some()) {
        names.extend(["PIP_", "UV_", "XDG_", "PYENV_"]);
    }
    if !names.is_empty() {
        names.extend([
            "http_proxy",
            "https_proxy",
            "no_proxy",
            "all_proxy",
            "SSL_CERT_",
        ]);
        names.extend(["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"]);
    }
    names
}
