//! Any text as a template: no panic, every problem can be told at a place in the text, and the way without the rendered text finds
//! the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pinnace_spec::source::{Sources, Span};
use pinnace_spec::template::{Scopes, Site, diagnose, parse, plain_length, render};
use pinnace_spec::yaml::{Limits, load};

const SCOPES: &str = "\
parameters: {name: x, list: [1, two, [three]], map: {deep: {er: 0.10}}, a-b: y, a.b: z, nothing: }
secrets: {token: hunter2, registry: {password: hunter3}}
data: {name: d, uri: [one, two]}
";

fuzz_target!(|text: &str| {
    let sources = Sources::default();
    let scopes = load(sources.add("scopes.yaml", SCOPES), &Limits::default());
    let node = |key| {
        scopes
            .root
            .as_ref()
            .and_then(|root| root.get(key))
            .map(|entry| &entry.value)
    };
    let source = sources.add("template", text);
    let span = Span::new(source.id(), 0, text.len());
    for compat in [false, true] {
        let template = parse(source.text());
        let scopes = Scopes {
            parameters: node("parameters"),
            secrets: node("secrets"),
            data: node("data"),
            compat,
            ..Scopes::default()
        };
        let rendered = render(&template, &scopes, usize::MAX);
        let length = rendered.length;
        if let Some(known) = plain_length(source.text(), &scopes, usize::MAX, |_, _| {}) {
            assert!(known == length && rendered.problems.is_empty());
        }
        let room = length / 2;
        assert_eq!(
            render(&template, &scopes, room).length > room,
            length > room
        );
        let site = Site::new(&sources, span);
        for problem in &rendered.problems {
            let diagnostic = diagnose(&template, problem, &site);
            assert!(source.text().get(diagnostic.span.range()).is_some());
            for secret in ["hunter2", "hunter3"] {
                assert!(text.contains(secret) || !diagnostic.message.contains(secret));
            }
        }
    }
});
