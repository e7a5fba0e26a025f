#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod account;
mod check;
mod repair;
mod schema;

use serde_json::{Number, Value};

use crate::diagnostic::{Diagnostic, Diagnostics, Edit};
use crate::openpai::fields;
use crate::source::{Source, Sources, Span};
use crate::yaml::node::Kind;
use crate::yaml::{self, Limits, Node};

macro_rules! fixture {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!("../../../tests/fixtures/", $name, ".yaml")),
        )
    };
}

macro_rules! example {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!("../../../../../examples/", $name, ".yaml")),
        )
    };
}

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

/// Jobs without mistakes, by name.
const CORPUS: &[(&str, &str)] = &[
    fixture!("openpai/every-field"),
    fixture!("openpai/distributed-tensorflow"),
    fixture!("openpai/prerequisites-proposal"),
    fixture!("openpai/prerequisites-backward"),
    fixture!("openpai/prerequisites-cmd"),
    fixture!("openpai/prerequisites-data"),
    fixture!("openpai/prerequisites-marketplace"),
    fixture!("openpai/prerequisites-multiple"),
    fixture!("openpai/prerequisites-parameters-secrets"),
    fixture!("openpai/prerequisites-wrong"),
    example!("completion-policies"),
    example!("deployments"),
    example!("hello"),
    example!("hived-scheduling"),
    example!("marketplace"),
    example!("parameters-and-secrets"),
    example!("prerequisites-with-require"),
    example!("quickstart"),
    example!("sweep"),
    example!("two-roles-over-a-port"),
];

/// The document of a text without mistakes in its YAML.
fn load(source: &Source) -> Node<'_> {
    let document = yaml::load(source, &Limits::default());
    assert!(
        document.diagnostics.is_empty(),
        "{:?}",
        document.diagnostics
    );
    document.root.unwrap()
}

/// The document as a JSON reader would have it.
fn to_json(node: &Node<'_>) -> Value {
    let text = node.as_text().unwrap_or_default();
    match node.kind() {
        Kind::Null => Value::Null,
        Kind::Bool => Value::Bool(node.as_bool().unwrap()),
        Kind::Integer => Value::Number(Number::from_i128(node.as_integer().unwrap()).unwrap()),
        Kind::Float => Value::Number(Number::from_f64(text.parse().unwrap()).unwrap()),
        Kind::Text => Value::String(text.to_owned()),
        Kind::List => node.as_list().unwrap().iter().map(to_json).collect(),
        Kind::Map => Value::Object(
            node.as_map()
                .unwrap()
                .entries
                .iter()
                .map(|entry| (entry.key.text.to_string(), to_json(&entry.value)))
                .collect(),
        ),
    }
}

/// A document without text, for tests that make many.
fn from_json(value: &Value) -> Node<'static> {
    let value = match value {
        Value::Array(items) => yaml::Value::List(items.iter().map(from_json).collect()),
        Value::Object(map) => yaml::Value::Map(yaml::Map {
            entries: map
                .iter()
                .map(|(key, value)| yaml::Entry {
                    key: yaml::Key {
                        text: key.clone().into(),
                        span: Span::default(),
                    },
                    value: from_json(value),
                    merged: None,
                })
                .collect(),
        }),
        Value::String(text) => yaml::Value::Scalar(yaml::Scalar {
            text: text.clone().into(),
            style: yaml::Style::DoubleQuoted,
        }),
        other => yaml::Value::Scalar(yaml::Scalar {
            text: other.to_string().into(),
            style: yaml::Style::Plain,
        }),
    };
    Node::new(Span::default(), value)
}

fn problems(text: &str) -> (Sources, Vec<Diagnostic>) {
    let sources = Sources::default();
    let mut diagnostics = Diagnostics::default();
    {
        let source = sources.add("job.yaml", text);
        let root = load(source);
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
    let fixes = list.iter().filter_map(|problem| problem.fix.as_ref());
    apply(text, fixes.flat_map(|fix| &fix.edits))
}

fn apply<'e>(text: &str, edits: impl Iterator<Item = &'e Edit>) -> String {
    let mut edits: Vec<_> = edits.collect();
    edits.sort_by_key(|edit| edit.span.start);
    let mut out = text.to_owned();
    for edit in edits.into_iter().rev() {
        out.replace_range(edit.span.range(), &edit.replacement);
    }
    out
}
