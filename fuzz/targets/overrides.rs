//! Any text as a path, as words that change a configuration, and as a configuration with rules for a tenant: no panic,
//! no hang, and a path that is wrong is wrong at a place in its text. Paths and words stand on lines, the configuration
//! behind them, after a NUL.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pinnace_spec::diagnostic::Diagnostics;
use pinnace_spec::hydra::{self, Files};
use pinnace_spec::jsonpath::{Form, Query, Work};
use pinnace_spec::overrides::{self, Overrides, SECTION, Tenant};
use pinnace_spec::source::Sources;
use pinnace_spec::yaml::{Limits, load};

const JOB: &str = "\
name: canary
tags: [a, b, {c: d}]
environment:
  docker: {image: registry.example/team/base:1.0}
  conda: {dependencies: [python=3.8, {pip: [--index-url https://feed.example/simple, numpy]}]}
inputs: {x: {type: path, optional: true}, 'y z': {type: Enum, enum: [2.0, yes]}}
secrets: {token: hunter2}
";

/// A folder in which every file is the same.
struct Same<'t>(&'t str);

impl Files for Same<'_> {
    fn text(&self, path: &str) -> Option<Result<(String, String), String>> {
        match path {
            "main" => Some(Ok((path.to_owned(), self.0.to_owned()))),
            _ if path.ends_with('x') => None,
            _ => Some(Ok((
                path.to_owned(),
                "# @package _group_\ntenant: t\nname: n\n".to_owned(),
            ))),
        }
    }

    fn options(&self, group: &str) -> Vec<String> {
        match group {
            "aml" | "compute" => vec!["eyeson".to_owned(), "eyesoff".to_owned()],
            _ => Vec::new(),
        }
    }
}

fuzz_target!(|text: &str| {
    let (lines, configuration) = text.split_once('\0').unwrap_or((text, text));
    let limits = Limits {
        nodes: 20_000,
        ..Limits::default()
    };
    let sources = Sources::default();
    let job = load(sources.add("job.yaml", JOB), &limits)
        .root
        .expect("a document");
    for line in lines.lines() {
        for form in [Form::Standard, Form::Short] {
            match Query::parse(line, form) {
                Ok(query) => {
                    for step in query.singular().into_iter().flatten() {
                        assert!(line.get(step.start..step.end).is_some());
                    }
                    let _ = query.select(&job, &mut Work::new(20_000));
                }
                Err(problem) => assert!(line.get(problem.at..).is_some(), "{problem:?}"),
            }
        }
    }
    let words: Vec<String> = lines.lines().map(str::to_owned).collect();
    let sources = Sources::default();
    let mut out = Diagnostics::default();
    let composed = hydra::compose(
        "main",
        &words,
        &Same(configuration),
        &sources,
        &limits,
        &mut out,
    );
    let Some(section) = composed
        .as_ref()
        .and_then(|composed| composed.root.get(SECTION))
    else {
        return;
    };
    let rules = Overrides::read(section, &Tenant::called("t"), &sources, &mut out);
    let sources = rules.sources();
    let source = sources.add("job.yaml", JOB);
    let mut job = load(source, &limits).root.expect("a document");
    overrides::apply(&mut job, &rules, &mut out);
    let made = overrides::materialise(source, &job, &limits);
    overrides::diff(source, &made, &limits);
});
