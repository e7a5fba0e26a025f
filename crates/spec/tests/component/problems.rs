//! Which problems a spec has, and where.

use pinnace_spec::diagnostic::codes;
use pinnace_spec::job::{Compat, Dialect};
use pinnace_spec::source::Sources;
use pinnace_spec::yaml::{self, Limits};

use crate::corpus::{Case, bad, check, good, read_with};

#[test]
fn there_are_more_than_a_hundred_specs() {
    assert!(good().len() >= 60, "{}", good().len());
    assert!(bad().len() >= 100, "{}", bad().len());
}

#[test]
fn a_good_spec_has_no_problem_at_all() {
    for case in good() {
        let read = check(&case);
        assert_eq!(
            read.problems(),
            Vec::<String>::new(),
            "{}: {:#?}",
            case.title,
            read.messages()
        );
    }
}

#[test]
fn a_bad_spec_has_its_problems_where_they_are_and_no_others() {
    let mut report = Vec::new();
    for case in bad() {
        let read = check(&case);
        let mut wanted = case.problems.clone();
        wanted.sort();
        if read.problems() != wanted {
            report.push(format!(
                "{}: wanted {wanted:?}, found {:#?}",
                case.title,
                read.messages()
            ));
        }
    }
    assert!(report.is_empty(), "{}", report.join("\n"));
}

/// Problems that only a run or a flag can have.
const OF_RUNS: &[&str] = &["P1026", "P1027", "P1028", "P1033", "P1034", "P1035"];

#[test]
fn every_code_of_components_is_in_the_corpus() {
    let shown: Vec<String> = bad()
        .iter()
        .flat_map(|case| case.problems.clone())
        .collect();
    for code in codes::ALL
        .iter()
        .filter(|code| ("P1001".."P1050").contains(&code.id))
    {
        let is_shown = shown.iter().any(|problem| problem.starts_with(code.id));
        assert!(
            is_shown || OF_RUNS.contains(&code.id),
            "{} is nowhere",
            code.id
        );
    }
}

#[test]
fn specs_are_told_by_their_keys() {
    for case in good() {
        let sources = Sources::default();
        let source = sources.add("spec.yaml", case.text.as_str());
        let document = yaml::load(source, &Limits::default());
        let dialect = Dialect::detect(document.root.as_ref().unwrap());
        assert_eq!(dialect, Some(Dialect::Component), "{}", case.title);
    }
}

#[test]
fn compat_accepts_what_the_official_clients_accept() {
    let accepted = [
        "names: is_deterministic as a word",
        "types: hdinsight with memory in capitals",
        "ports: choice without values",
        "runsettings: no nodes",
        "environment: another key in docker",
        "types: v2 resources with another key",
        "commands: input that is not declared",
        "types: no hemera section",
        "types: hemera with an id that is no GUID",
        "types: hemera output that is a folder",
        "ports: default below its bound",
        "ports: bounds in the wrong order",
        "sweep: trial that is not there",
        "sweep: parameter that the trial has not",
        "files: entry script that is not there",
    ];
    let refused = [
        "names: no name",
        "files: code in a repository",
        "ports: bound that is no number",
        "ports: misspelt attribute",
        "names: inputs that differ in case",
        "names: input with a dash",
        "commands: input that is not declared in v2",
        "commands: optional input outside a group",
        "types: type that does not exist",
        "types: no launcher",
        "types: v2 command without an environment",
        "types: command that is a list",
        "ports: input without a type",
        "environment: conda file that is not there",
        "parallel: input that is not there",
    ];
    let find = |title: &str| -> Case {
        let found = bad().into_iter().find(|case| case.title == title);
        found.unwrap_or_else(|| panic!("no case {title}"))
    };
    let errors = |case: &Case, compat| {
        read_with(case, |request| pinnace_spec::job::Request {
            compat,
            ..request
        })
        .errors()
        .len()
    };
    for title in accepted {
        let case = find(title);
        assert_eq!(errors(&case, Compat::AzureMl), 0, "{title}");
        assert_ne!(errors(&case, Compat::None), 0, "{title}");
    }
    for title in refused {
        assert_ne!(errors(&find(title), Compat::AzureMl), 0, "{title}");
    }
}

/// Cuts and changes a text in many places.
fn damaged(text: &str) -> impl Iterator<Item = String> {
    let lines: Vec<&str> = text.lines().collect();
    let without: Vec<String> = (0..lines.len())
        .map(|gone| {
            let kept = lines.iter().enumerate().filter(|(line, _)| *line != gone);
            kept.map(|(_, line)| *line).collect::<Vec<_>>().join("\n")
        })
        .collect();
    let cut: Vec<String> = text
        .char_indices()
        .step_by(7)
        .map(|(at, _)| text[..at].to_owned())
        .collect();
    let changed = ["{", "}", "[", ":", "\"", "null", "- ", "\u{e4}"]
        .into_iter()
        .map(|with| text.replace(' ', with));
    without
        .into_iter()
        .chain(cut)
        .chain(changed.collect::<Vec<_>>())
}

#[test]
fn no_damage_of_a_spec_makes_a_panic() {
    for case in good() {
        for text in damaged(&case.text) {
            let case = Case {
                title: case.title.clone(),
                text,
                files: case.files.clone(),
                problems: Vec::new(),
            };
            read_with(&case, |request| pinnace_spec::job::Request {
                plan: true,
                compat: Compat::AzureMl,
                ..request
            });
        }
    }
}
