//! Document → model. Takes what is well-formed and leaves out the rest: the shape check has
//! already reported it.

use super::model::{Channel, Declared, Metric, Place, Processor};
use crate::yaml::access::{Name, entries, integer, items, name, value};
use crate::yaml::node::Kind;
use crate::yaml::{Entry, Node};

/// Reads a processor.
pub fn processor<'d>(root: &'d Node<'d>) -> Processor<'d> {
    let pairs = |key| -> Vec<(Name<'d>, &'d Node<'d>)> {
        entries(value(root, key))
            .iter()
            .map(|entry| (Name::of_key(entry), &entry.value))
            .collect()
    };
    let declared =
        |key| -> Vec<Declared<'d>> { items(value(root, key)).iter().filter_map(channel).collect() };
    Processor {
        root,
        source_dir: given(root, "source_dir").and_then(name),
        job_type: given(root, "job_type")
            .filter(|node| node.kind() == Kind::Text)
            .and_then(name),
        parameters: pairs("parameters"),
        environments: pairs("environments"),
        requirements: items(value(root, "requirements"))
            .iter()
            .filter(|node| node.as_text().is_some())
            .collect(),
        inputs: places(value(root, "inputs"), &["input_uri", "InputUri", "uri"]),
        outputs: places(value(root, "outputs"), &["output_uri", "OutputUri", "uri"]),
        input_channels: declared("input_channels"),
        output_channels: declared("output_channels"),
        metrics: items(value(root, "metric_definitions"))
            .iter()
            .filter_map(metric)
            .collect(),
        instances: value(root, "instance_count")
            .and_then(integer)
            .and_then(|count| u32::try_from(count).ok())
            .unwrap_or(1),
    }
}

/// The value of a key; `null` is none.
pub fn given<'d>(node: &'d Node<'d>, key: &str) -> Option<&'d Node<'d>> {
    value(node, key).filter(|node| !node.is_null())
}

/// The value of the first of some spellings.
pub fn any<'d>(node: &'d Node<'d>, keys: &[&str]) -> Option<&'d Node<'d>> {
    keys.iter().find_map(|key| given(node, key))
}

fn places<'d>(node: Option<&'d Node<'d>>, uri: &[&str]) -> Vec<Channel<'d>> {
    let place = |entry: &'d Entry<'d>| {
        let node = &entry.value;
        if node.as_text().is_some() {
            return Some(Place::Uri(node)).filter(|_| !node.is_null());
        }
        let text = |keys: &[&str]| any(node, keys).filter(|node| node.as_text().is_some());
        match (text(uri), text(&["dataset_id", "DatasetId"])) {
            (Some(uri), Some(dataset)) => Some(Place::Both { uri, dataset }),
            (Some(uri), None) => Some(Place::Uri(uri)),
            (None, dataset) => dataset.map(Place::Dataset),
        }
    };
    entries(node)
        .iter()
        .map(|entry| Channel {
            name: Name::of_key(entry),
            place: place(entry),
            repeated: any(&entry.value, &["name", "Name"]).and_then(name),
            node: &entry.value,
        })
        .collect()
}

fn channel<'d>(node: &'d Node<'d>) -> Option<Declared<'d>> {
    let flag = |node: &Node<'_>| node.as_bool() == Some(true) || node.as_text() == Some("true");
    let properties = any(node, &["properties", "Properties"]);
    Some(Declared {
        name: any(node, &["name", "Name"]).and_then(name)?,
        required: any(node, &["required", "Required"]).is_some_and(flag),
        appendable: properties
            .and_then(|properties| value(properties, "ossAppendable"))
            .is_some_and(flag),
    })
}

fn metric<'d>(node: &'d Node<'d>) -> Option<Metric<'d>> {
    let text = |keys: &[&str]| any(node, keys).filter(|node| node.as_text().is_some());
    Some(Metric {
        name: text(&["name", "Name"])?,
        regex: text(&["regex", "Regex"])?,
    })
}
