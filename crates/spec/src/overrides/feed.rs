//! `remove_polymer_pkg_idx`: takes the lines of two package feeds, which only some tenants reach, out of lists
//! of packages.

use super::FeedRule;
use super::apply::Pass;
use super::operate::detach;
use crate::diagnostic::{Diagnostic, codes};
use crate::jsonpath::Place;
use crate::yaml::{Node, Value};

const FEEDS: [&str; 2] = ["/PolymerPythonPackages/", "/O365PythonPackagesV2/"];

/// Keys that name a file whose lines are not part of the document.
const FILES: [&str; 3] = [
    "conda_dependencies_file",
    "pip_requirements_file",
    "conda_file",
];

pub(super) fn remove(root: &mut Node<'_>, rule: &FeedRule, pass: &mut Pass<'_>) {
    let mut found = Vec::new();
    collect(root, &mut Vec::new(), &mut found, pass);
    // From the end, so that the places before stay what they are.
    for place in found.iter().rev() {
        pass.note_removal(root, place, &rule.name, rule.span);
        detach(root, place);
    }
}

fn collect(node: &Node<'_>, here: &mut Place, found: &mut Vec<Place>, pass: &mut Pass<'_>) {
    match &node.value {
        Value::Scalar(_) => {}
        Value::List(list) => {
            for (at, item) in list.iter().enumerate() {
                here.push(at as u32);
                if item.as_text().is_some_and(is_feed) {
                    found.push(here.clone());
                } else {
                    collect(item, here, found, pass);
                }
                here.pop();
            }
        }
        Value::Map(map) => {
            for (at, entry) in map.entries.iter().enumerate() {
                if FILES.contains(&&*entry.key.text) && entry.value.as_text().is_some() {
                    let message = "the feeds in this file are kept";
                    pass.out.push(
                        Diagnostic::new(&codes::KEPT_FEED_FILE, entry.value.span, message)
                            .label("another file, which is not changed")
                            .help("`remove_polymer_pkg_idx` acts on what stands in the document itself"),
                    );
                }
                here.push(at as u32);
                collect(&entry.value, here, found, pass);
                here.pop();
            }
        }
    }
}

/// Whether a line of a list of packages names one of the feeds.
fn is_feed(line: &str) -> bool {
    let line = line.trim();
    let url = ["--index-url", "--extra-index-url", "-i"]
        .iter()
        .find_map(|option| line.strip_prefix(option))
        .and_then(|rest| rest.strip_prefix([' ', '\t', '=']));
    url.is_some_and(|url| {
        FEEDS
            .iter()
            .any(|feed| format!("{}/", url.trim()).contains(feed))
    })
}
