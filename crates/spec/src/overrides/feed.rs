//! `remove_polymer_pkg_idx`: takes the lines of two package feeds, which only some tenants reach, out of lists
//! of packages.

use super::FeedRule;
use super::apply::Pass;
use super::operate::detach;
use super::text::materialise;
use crate::jsonpath::Place;
use crate::source::Source;
use crate::yaml::{self, Limits, Node, Value};

const FEEDS: [&str; 2] = ["/PolymerPythonPackages/", "/O365PythonPackagesV2/"];

pub(super) fn remove(root: &mut Node<'_>, rule: &FeedRule, pass: &mut Pass<'_>) {
    let mut found = Vec::new();
    collect(root, &mut Vec::new(), &mut found);
    // From the end, so that the places before stay what they are.
    for place in found.iter().rev() {
        pass.note_removal(root, place, &rule.name, rule.span);
        detach(root, place);
    }
}

fn collect(node: &Node<'_>, here: &mut Place, found: &mut Vec<Place>) {
    match &node.value {
        Value::Scalar(_) => {}
        Value::List(list) => {
            for (at, item) in list.iter().enumerate() {
                here.push(at as u32);
                if item.as_text().is_some_and(is_feed) {
                    found.push(here.clone());
                } else {
                    collect(item, here, found);
                }
                here.pop();
            }
        }
        Value::Map(map) => {
            for (at, entry) in map.entries.iter().enumerate() {
                here.push(at as u32);
                collect(&entry.value, here, found);
                here.pop();
            }
        }
    }
}

/// The text of a conda file without the lines of the feeds; nothing if it has none.
pub fn without_feeds(source: &Source, limits: &Limits) -> Option<String> {
    let mut root = yaml::load(source, limits).root?;
    let mut found = Vec::new();
    collect(&root, &mut Vec::new(), &mut found);
    for place in found.iter().rev() {
        detach(&mut root, place);
    }
    (!found.is_empty()).then(|| materialise(source, &root, limits).text)
}

/// The text of a requirements file without the lines of the feeds; nothing if it has none.
pub fn without_feed_lines(text: &str) -> Option<String> {
    let left: Vec<&str> = text
        .split_inclusive('\n')
        .filter(|line| !is_feed(line))
        .collect();
    let left = left.concat();
    (left.len() < text.len()).then_some(left)
}

/// Whether a line of a list of packages names one of the feeds.
pub fn is_feed(line: &str) -> bool {
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
