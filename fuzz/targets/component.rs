//! Any bytes as a component, and any bytes as every file beside it: no panic, no hang, and every place that a problem
//! names lies in its text. The other file stands behind the spec, after a NUL.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pinnace_spec::component::command::Manner;
use pinnace_spec::diagnostic::Levels;
use pinnace_spec::diagnostic::render::{self, Colour, Report};
use pinnace_spec::job::{self, Compat, Dialect, Request};
use pinnace_spec::library::{Answer, Entry, ItemRef, Library, Look, Module, Registered};
use pinnace_spec::source::{Sources, Span};
use pinnace_spec::yaml::{Limits, decode};

/// An outside in which every path is the same file.
struct Everywhere<'b>(&'b [u8]);

impl Library for Everywhere<'_> {
    fn find(&self, _: &ItemRef) -> Answer {
        Answer::NoMarketplace
    }

    fn module(&self, id: &str) -> Registered {
        Registered::Module(Module {
            folder: format!("/modules/{id}"),
            digest: "sha256:0".to_owned(),
        })
    }

    fn look(&self, path: &str) -> Look {
        match path.len() % 8 {
            0 => Look::Folder,
            1 => Look::Missing,
            _ => Look::File {
                size: self.0.len() as u64,
            },
        }
    }

    fn bytes(&self, _: &str) -> Result<Vec<u8>, String> {
        Ok(self.0.to_vec())
    }

    fn tree(&self, _: &str) -> Result<Vec<Entry>, String> {
        let look = Look::File {
            size: self.0.len() as u64,
        };
        let entry = |path: &str, look| Entry {
            path: path.to_owned(),
            look,
        };
        Ok(vec![
            entry("a", Look::Folder),
            entry("a/b.py", look),
            entry("c.py", look),
        ])
    }
}

fuzz_target!(|bytes: &[u8]| {
    let end = bytes
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(bytes.len());
    let (spec, other) = bytes.split_at(end);
    let limits = Limits {
        nodes: 20_000,
        ..Limits::default()
    };
    let Ok(text) = decode(spec.to_vec(), &limits) else {
        return;
    };
    let levels = Levels::default();
    for (compat, manner) in [
        (Compat::None, Manner::Aml),
        (Compat::AzureMl, Manner::Aether),
    ] {
        let sources = Sources::default();
        let source = sources.add("spec.yaml", &*text);
        let request = Request {
            folder: Some("/job"),
            here: Some("/here"),
            compat,
            manner,
            dialect: Some(Dialect::Component),
            limits: limits.clone(),
            plan: true,
            ..Request::new(&levels)
        };
        let outcome = job::read(
            &sources,
            source,
            &request,
            &Everywhere(other.get(1..).unwrap_or_default()),
        );
        let check = |span: Span| {
            let text = sources.get(span.source).text();
            assert!(
                text.get(span.range()).is_some(),
                "{span:?} is not in its text"
            );
        };
        for problem in &outcome.diagnostics {
            check(problem.span);
            problem.related.iter().for_each(|label| check(label.span));
            problem
                .fix
                .iter()
                .flat_map(|fix| &fix.edits)
                .for_each(|edit| check(edit.span));
        }
        let report = Report {
            diagnostics: &outcome.diagnostics,
            sources: &sources,
            redactor: &outcome.redactor,
        };
        render::text(&[report], Colour::Never);
    }
});
