//! Document → model. Takes what is well-formed and leaves out the rest: the shape check has
//! already reported it.

use std::collections::HashSet;

use super::command::{Scope, Syntax};
use super::model::{Component, Holds, Input, Kind, Line, Name, Output, Places};
use crate::yaml::access::{entries, items, name, value};
use crate::yaml::{Entry, Node};

/// Reads a component; `None` if its type is none that is known.
pub fn component<'d>(root: &'d Node<'d>) -> Option<Component<'d>> {
    let type_name = value(root, "type").and_then(name);
    let (word, label) = match type_name.map(|name| name.text) {
        None => ("CommandComponent", None),
        Some(text) => match text.split_once('@') {
            Some((word, label)) => (word, Some(label)),
            None => (text, None),
        },
    };
    let (kind, syntax) = Kind::from_word(word)?;
    let code_path = match at(root, "task.code").filter(|_| kind == Kind::Parallel) {
        Some(_) => "task.code",
        None => "code",
    };
    let mut left_out = HashSet::new();
    let inputs = ports(root, Scope::Inputs, input, &mut left_out);
    let outputs = ports(root, Scope::Outputs, output, &mut left_out);
    Some(Component {
        root,
        kind,
        syntax,
        type_name,
        label,
        name: value(root, "name").and_then(name),
        version: value(root, "version").and_then(name),
        input_places: Places::new(inputs.iter().map(|input| input.name.text)),
        output_places: Places::new(outputs.iter().map(|output| output.name.text)),
        inputs,
        outputs,
        left_out,
        lines: lines(root, kind, syntax),
        code: at(root, code_path).and_then(name),
        code_path,
        environment: value(root, "environment").filter(|node| node.as_map().is_some()),
    })
}

/// The inputs or outputs that can be read; the names of the others are noted.
fn ports<'d, P>(
    root: &'d Node<'d>,
    scope: Scope,
    read: impl Fn(&'d Entry<'d>) -> Option<P>,
    left_out: &mut HashSet<(Scope, &'d str)>,
) -> Vec<P> {
    let entries = entries(value(root, scope.name()));
    let mut ports = Vec::with_capacity(entries.len());
    for entry in entries {
        match read(entry) {
            Some(port) => ports.push(port),
            None => {
                left_out.insert((scope, &*entry.key.text));
            }
        }
    }
    ports
}

/// Where a type has texts with places for inputs and outputs.
pub fn line_paths(kind: Kind, syntax: Syntax) -> &'static [&'static str] {
    match (kind, syntax) {
        (Kind::Command | Kind::Hemera | Kind::Starlite | Kind::Ae365 | Kind::AetherBridge, _) => {
            &["command"]
        }
        (Kind::Distributed, _) => &["launcher.additional_arguments"],
        (Kind::Parallel, Syntax::V1) => &["parallel.args"],
        (Kind::Parallel, Syntax::V2) => &["task.program_arguments", "task.args"],
        (Kind::Scope, _) => &["scope.args"],
        (Kind::HdInsight, _) => &["hdinsight.args"],
        (Kind::Spark, _) => &["args"],
        _ => &[],
    }
}

fn lines<'d>(root: &'d Node<'d>, kind: Kind, syntax: Syntax) -> Vec<Line<'d>> {
    line_paths(kind, syntax)
        .iter()
        .filter_map(|path| {
            let node = at(root, path).filter(|node| node.is_string())?;
            Some(Line { path, node })
        })
        .collect()
}

/// The value at a path of plain keys.
pub fn at<'d>(root: &'d Node<'d>, path: &str) -> Option<&'d Node<'d>> {
    path.split('.').try_fold(root, value)
}

fn input<'d>(entry: &'d Entry<'d>) -> Option<Input<'d>> {
    let node = &entry.value;
    let written = value(node, "type")?;
    let types: Vec<Name<'d>> = match written.as_list() {
        Some(list) => list.iter().filter_map(name).collect(),
        None => name(written).into_iter().collect(),
    };
    let holds = match (written.as_list(), types.first()) {
        (None, Some(only)) => Holds::from_word(only.text),
        _ => Holds::Data,
    };
    let scalar = |key| value(node, key).filter(|node| node.as_text().is_some());
    Some(Input {
        name: Name::of_key(entry),
        node,
        types,
        holds,
        optional: value(node, "optional").and_then(Node::as_bool) == Some(true),
        default: scalar("default"),
        min: scalar("min"),
        max: scalar("max"),
        choices: items(value(node, "enum")).iter().filter_map(name).collect(),
    })
}

fn output<'d>(entry: &'d Entry<'d>) -> Option<Output<'d>> {
    let node = &entry.value;
    let type_name = value(node, "type").and_then(name)?;
    let says_link = |key| value(node, key).and_then(Node::as_text) == Some("link");
    Some(Output {
        name: Name::of_key(entry),
        node,
        type_name,
        holds: Holds::from_word(type_name.text),
        is_link: value(node, "is_link_mode").and_then(Node::as_bool) == Some(true)
            || says_link("datastore_mode")
            || says_link("mode"),
    })
}
