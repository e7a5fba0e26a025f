//! Component specs from text to plan. `component/good` has specs without any problem, `component/bad`
//! specs with all of theirs: a spec begins with `=== title`, a file beside it with `+++ path`, and
//! `--- CODE:LINE …` tells the problems.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

#[path = "component/corpus.rs"]
mod corpus;
#[path = "component/fields.rs"]
mod fields;
mod leaves;
#[path = "component/many.rs"]
mod many;
#[path = "component/plan.rs"]
mod plan;
#[path = "component/problems.rs"]
mod problems;
