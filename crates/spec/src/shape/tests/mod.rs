#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod check;
mod load;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::openpai::fields;
use crate::source::Sources;

/// A job without a mistake, to which tests add some.
const GOOD: &str = "\
protocolVersion: 2
name: good
type: job
prerequisites:
  - name: image
    type: dockerimage
    uri: ubuntu:22.04
taskRoles:
  worker:
    instances: 2
    dockerImage: image
    resourcePerInstance:
      cpu: 1
      memoryMB: 1024
      gpu: 0
    commands:
      - echo hello
";

fn problems(text: &str) -> (Sources, Vec<Diagnostic>) {
    let sources = Sources::default();
    let mut diagnostics = Diagnostics::default();
    {
        let source = sources.add("job.yaml", text);
        let root = load::load(source);
        super::check(&root, &fields::SHAPE, &sources, &mut diagnostics);
    }
    let list = diagnostics.iter().cloned().collect();
    (sources, list)
}

/// Each problem on one line: position, code, the text it points at, message.
fn report(text: &str) -> String {
    let (sources, list) = problems(text);
    let lines: Vec<String> = list
        .iter()
        .map(|problem| {
            let place = sources.place(problem.span);
            format!(
                "{}:{} {} [{}] {}",
                place.line,
                place.column,
                problem.code.id,
                sources.slice(problem.span),
                problem.message
            )
        })
        .collect();
    lines.join("\n")
}

/// The text after all fixes.
fn fixed(text: &str) -> String {
    let (_, list) = problems(text);
    let mut edits: Vec<_> = list
        .iter()
        .filter_map(|problem| problem.fix.as_ref())
        .flat_map(|fix| &fix.edits)
        .collect();
    edits.sort_by_key(|edit| edit.span.start);
    let mut out = text.to_owned();
    for edit in edits.into_iter().rev() {
        out.replace_range(edit.span.range(), &edit.replacement);
    }
    out
}
