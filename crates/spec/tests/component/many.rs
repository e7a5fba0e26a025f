//! Specs with very much of something: they are judged like small ones.

use std::fmt::Write as _;

use crate::corpus::{Case, check};

fn case(text: String) -> Case {
    Case {
        text,
        ..Case::default()
    }
}

/// A component with inputs `i0`, `i1`, … of a form, and what else it has.
fn component(kind: &str, count: usize, form: &str, rest: &str) -> Case {
    let mut text = format!("name: company.team.many\nversion: 1\ntype: {kind}\ninputs:\n");
    for index in 0..count {
        let _ = writeln!(text, "  i{index}: {form}");
    }
    text.push_str(rest);
    case(text)
}

/// The pieces for all indices, with blanks between them.
fn all(count: usize, piece: impl Fn(usize) -> String) -> String {
    (0..count).map(piece).collect::<Vec<_>>().join(" ")
}

#[test]
fn as_many_names_in_the_command_as_there_are_inputs() {
    let count = 30_000;
    let names = all(count, |index| format!("{{inputs.i{index}}}"));
    let used = component(
        "CommandComponent",
        count,
        "{type: string}",
        &format!("command: run {names}\n"),
    );
    assert_eq!(check(&used).problems(), [""; 0]);

    let others = all(count, |index| format!("{{inputs.j{index}}}"));
    let undeclared = component(
        "CommandComponent",
        count,
        "{type: string}",
        &format!("command: run {others}\n"),
    );
    let problems = check(&undeclared).problems();
    assert!(problems.len() > 1_000, "{}", problems.len());
}

#[test]
fn a_line_that_no_shell_would_take_is_refused_before_it_is_read() {
    for (kind, line) in [
        ("CommandComponent", "command"),
        ("HDInsightComponent", "hdinsight:\n  file: main.py\n  args"),
    ] {
        let rest = format!("{line}: {}\n", "x".repeat(600 << 10));
        let mut spec = component(kind, 1, "{type: string}", &rest);
        spec.files.insert("main.py".to_owned(), String::new());
        let messages = check(&spec).messages();
        assert_eq!(messages.len(), 1, "{messages:?}");
        assert!(messages[0].contains("longer than 512 KiB"), "{messages:?}");
    }
}

#[test]
fn ten_thousand_groups() {
    let count = 10_000;
    let groups = all(count, |index| format!("[--f{index} {{inputs.i{index}}}]"));
    let spec = component(
        "CommandComponent",
        count,
        "{type: string, optional: true}",
        &format!("command: run {groups}\n"),
    );
    assert_eq!(check(&spec).problems(), [""; 0]);
}

#[test]
fn a_problem_with_thousands_of_places_shows_some_of_them() {
    let count = 5_000;
    let names = all(count, |index| format!("{{inputs.i{index}}}"));
    let spec = component(
        "CommandComponent",
        count,
        "{type: string, optional: true}",
        &format!("command: run [--all {names}]\n"),
    );
    let read = check(&spec);
    let [problem] = read.outcome.diagnostics.as_slice() else {
        panic!("{:?}", read.messages());
    };
    assert!(problem.message.contains("5000 optional inputs"));
    assert!((1..100).contains(&problem.related.len()));

    let groups = all(count, |index| format!("[-f {{inputs.i{index}}}]"));
    let hemera = component(
        "HemeraComponent",
        count,
        "{type: string, optional: true}",
        &format!(
            "command: run.bat {groups} %CLUSTER%=x\nhemera: {{ref_id: c3d0fbd2-8b78-4231-a665-3a0de1796264}}\n"
        ),
    );
    let read = check(&hemera);
    let [problem] = read.outcome.diagnostics.as_slice() else {
        panic!("{:?}", read.messages());
    };
    assert!((1..100).contains(&problem.related.len()));
}

#[test]
fn thousands_of_names_that_a_parallel_component_shares_out() {
    let count = 20_000;
    let names = |prefix: &str| {
        let names: Vec<String> = (0..count)
            .map(|index| format!("inputs.{prefix}{index}"))
            .collect();
        names.join(", ")
    };
    let rest = |names: String| {
        format!(
            "outputs:\n  o: {{type: path}}\nparallel:\n  entry: main.py\n  output_data: outputs.o\n  input_data: [{names}]\n"
        )
    };
    let mut good = component(
        "ParallelComponent",
        count,
        "{type: path}",
        &rest(names("i")),
    );
    good.files.insert("main.py".to_owned(), String::new());
    assert_eq!(check(&good).problems(), [""; 0]);
    let mut bad = component(
        "ParallelComponent",
        count,
        "{type: path}",
        &rest(names("strange")),
    );
    bad.files.insert("main.py".to_owned(), String::new());
    let read = check(&bad);
    let longest = read
        .outcome
        .diagnostics
        .iter()
        .flat_map(|problem| &problem.help);
    assert!(longest.map(String::len).max().unwrap_or_default() < 1_000);
    assert!(read.outcome.diagnostics.len() > 1_000);
}

#[test]
fn names_are_compared_the_same_way_when_there_are_many() {
    for count in [2, 40] {
        let names = all(count, |index| format!("{{inputs.i{index}}}"));
        let spec = component(
            "CommandComponent",
            count,
            "{type: string}",
            &format!("  I1: {{type: string}}\ncommand: run {names} {{inputs.I1}} {{inputs.i}}\n"),
        );
        let problems = check(&spec).problems();
        assert_eq!(problems.len(), 2, "{problems:?}");
    }
}

#[test]
fn choices_are_compared_the_same_way_when_there_are_many() {
    for count in [3, 40] {
        let choices = all(count, |index| format!("c{index},"));
        let spec = case(format!(
            "name: company.team.many\nversion: 1\ntype: CommandComponent\ninputs:\n  a: {{type: enum, enum: [{choices} c1]}}\ncommand: run {{inputs.a}}\n"
        ));
        let messages = check(&spec).messages();
        assert_eq!(messages.len(), 1, "{messages:?}");
        assert!(messages[0].contains("`c1` stands twice"), "{messages:?}");
    }
}

#[test]
fn an_input_can_be_used_as_a_variable() {
    for (command, used) in [
        ("run $lr", true),
        ("run ${lr}", true),
        ("run ${lr:-1}", true),
        ("run $lr/x", true),
        ("run ${lrate}", false),
        ("run $other", false),
        ("run lr", false),
    ] {
        let spec = case(format!(
            "name: company.team.many\nversion: 1\ntype: CommandComponent\ninputs:\n  lr: {{type: string}}\ncommand: {command}\n"
        ));
        assert_eq!(check(&spec).problems().is_empty(), used, "{command}");
    }
}
