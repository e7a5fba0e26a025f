//! The OpenPAI job protocol, version 2, with the whole prerequisites proposal.
//!
//! Document → [`fields`] (shape) → [`read`] (model) → [`catalog`] (prerequisites and marketplace)
//! → [`check`] (cross references) → [`lower`] (templates, plan) → [`lints`] (warnings).

pub mod catalog;
pub mod check;
pub mod fields;
pub mod hived;
pub mod lints;
pub mod lower;
pub mod marketplace;
pub mod model;
pub mod named;
pub mod plugins;
pub mod read;

use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::job::{Compat, Dialect, Job, Request};
use crate::library::Library;
use crate::secrets::SecretValues;
use crate::shape;
use crate::source::Sources;
use crate::yaml::{Comment, Node};
use named::Named;

/// Checks the fields of a document by themselves.
pub fn check_shape(root: &Node<'_>, sources: &Sources, out: &mut Diagnostics) {
    shape::check(root, &fields::SHAPE, sources, out);
}

/// Reads a complete document: every problem in it, and its plan if that is wanted.
pub fn read_job(
    root: &Node<'_>,
    comments: &[Comment<'_>],
    sources: &Sources,
    request: &Request<'_>,
    library: &dyn Library,
    out: &mut Diagnostics,
) -> Option<Job> {
    check_shape(root, sources, out);
    root.as_map()?;
    let mut job = read::job(root);
    let fetched = marketplace::fetch(&job, sources, library, &request.limits);
    let catalog = catalog::Catalog::new(&mut job, &fetched, sources, request.plan, out);
    let mut named = Named::default();
    check::references(&job, &catalog, &fetched, &mut named, out);
    hived::check(&job, out);
    let building = (request.plan || request.strict) && !out.has_errors();
    let lowered = lower::lower(
        &job,
        &catalog,
        sources,
        request.compat == Compat::OpenPai,
        building,
        &mut named,
        out,
    );
    if catalog.exhausted() {
        let message = "the prerequisites require each other too often to follow";
        out.push(
            Diagnostic::new(
                &codes::TANGLED_PREREQUISITES,
                job.roles.first()?.name.span,
                message,
            )
            .help("list fewer prerequisites in `require`"),
        );
    }
    let subject = lints::Subject {
        job: &job,
        prerequisites: catalog.all(),
        comments,
        named,
        sources,
    };
    lints::check(&subject, out);
    let lowered = lowered?;
    Some(Job {
        dialect: Dialect::OpenPai,
        plan: lowered.plan,
        command_line: None,
        origins: lowered.origins,
        fidelity: shape::account(root, &fields::SHAPE, request.engine, sources),
        secrets: SecretValues::of_document(root),
    })
}
