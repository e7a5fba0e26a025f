//! One file with ten mistakes, each of another kind: ten problems, each at its place, none spurious.

#![allow(missing_docs)]

use pinnace_spec::diagnostic::Levels;
use pinnace_spec::job::{self, Request};
use pinnace_spec::library::NoLibrary;
use pinnace_spec::source::Sources;

#[test]
fn ten_mistakes_give_ten_problems_each_at_its_place() {
    let sources = Sources::default();
    let source = sources.add("job.yaml", include_str!("fixtures/ten-mistakes.yaml"));
    let levels = Levels::default();
    let request = Request {
        plan: true,
        ..Request::new(&levels)
    };
    let found = job::read(&sources, source, &request, &NoLibrary).diagnostics;
    let found: Vec<(u32, u32, &str)> = found
        .iter()
        .map(|problem| {
            let place = sources.place(problem.span);
            (place.line, place.column, problem.code.name)
        })
        .collect();
    assert_eq!(
        found,
        [
            (3, 7, "bad-text"),
            (8, 3, "duplicate-key"),
            (16, 16, "bad-choice"),
            (21, 16, "out-of-range"),
            (23, 7, "unknown-key"),
            (24, 18, "unknown-prerequisite"),
            (26, 5, "missing-key"),
            (27, 12, "wrong-type"),
            (30, 64, "missing-reference"),
            (36, 23, "sku-and-cell"),
        ]
    );
}
