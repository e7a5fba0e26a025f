#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;

const PLAIN: &str = r#"param([ValidateNotNull()] [string] $_TrainingDataDir,
[ValidateNotNullOrEmpty()] [string] $JobQueue)
Write-Host "Hello World!"
"#;

const WITH_CLUSTER: &str = r#"param([string] $Cluster,
[ValidateNotNull()] [string] $_TrainingDataDir,
[ValidateNotNullOrEmpty()] [string] $JobQueue)
Write-Host "Hello World!"
"#;

fn words(line: &str) -> Vec<String> {
    line.split(' ')
        .map(|word| word.trim_matches('"').to_owned())
        .collect()
}

/// What a script that writes all its parameters would write.
fn written(script: &str, line: &str) -> Vec<String> {
    let binding = read(script).unwrap().bind(&words(line));
    assert_eq!(binding.refusals, []);
    let values = binding.values.iter();
    values
        .map(|(name, value)| format!("{name}: {}", value.shown()))
        .collect()
}

/// The two outputs that the documentation of Hemera components shows.
#[test]
fn a_positional_argument_goes_to_the_first_parameter_that_is_empty() {
    let line = "%CLUSTER%=yarn_prod_bn2 -JobQueue AdsCP";
    assert_eq!(
        written(PLAIN, line),
        [
            "_TrainingDataDir: %CLUSTER%=yarn_prod_bn2",
            "JobQueue: AdsCP"
        ]
    );
    assert_eq!(
        written(WITH_CLUSTER, line),
        [
            "Cluster: %CLUSTER%=yarn_prod_bn2",
            "_TrainingDataDir: ",
            "JobQueue: AdsCP"
        ]
    );
}

#[test]
fn an_empty_named_argument_keeps_the_place() {
    let line = "-_TrainingDataDir \"\" %CLUSTER%=yarn_prod_bn2 -JobQueue AdsCP";
    let binding = read(PLAIN).unwrap().bind(&words(line));
    assert_eq!(
        binding.values,
        [
            ("_TrainingDataDir".to_owned(), Value::Named(String::new())),
            ("JobQueue".to_owned(), Value::Named("AdsCP".to_owned())),
        ]
    );
    assert_eq!(binding.rest, ["%CLUSTER%=yarn_prod_bn2"]);
}

#[test]
fn a_param_block_is_read_with_all_that_may_stand_in_it() {
    let script = read(
        r#"<# .SYNOPSIS
param([int] $not) #>
#requires -Version 5
using namespace System.IO
[CmdletBinding(PositionalBinding = $false)]
Param (
    # the first (of many)
    [Parameter(Mandatory, Position = 1, HelpMessage = "a, (b) = c")] [Alias('d', "dir")]
    [string] $Data = (Join-Path $PSScriptRoot 'a, b)'), # default
    [Parameter(Mandatory = $false)]
    [ValidateSet('x', 'y')] [string] $Mode = "x",
    [switch] $Fast,
    [System.Int32] ${Count} = 3,
    [string[]] $Names = @('a', "b`"c")
)
exit 0"#,
    )
    .unwrap();
    assert!(script.is_advanced && !script.positional_binding);
    let shown: Vec<_> = script
        .parameters
        .iter()
        .map(|found| {
            (
                &*found.name,
                found.kind,
                found.default.as_deref(),
                found.position,
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            (
                "Data",
                Type::Text,
                Some("(Join-Path $PSScriptRoot 'a, b)')"),
                Some(1)
            ),
            ("Mode", Type::Text, Some("\"x\""), None),
            ("Fast", Type::Switch, None, None),
            ("Count", Type::Integer, Some("3"), None),
            ("Names", Type::Text, Some("@('a', \"b`\"c\")"), None),
        ]
    );
    assert_eq!(script.parameters[0].aliases, ["d", "dir"]);
    assert!(script.parameters[0].is_mandatory && !script.parameters[1].is_mandatory);
    assert_eq!(script.parameters[1].choices, ["x", "y"]);
}

#[test]
fn what_is_no_param_block_is_not_guessed_at() {
    for text in [
        "",
        "Write-Host hi",
        "function f { param($x) }",
        "param(",
        "param([string $x)",
        "param($a $b)",
    ] {
        assert_eq!(read(text), None, "{text}");
    }
}

#[test]
fn names_can_be_shortened_and_glued() {
    let script =
        read("param([string] $Alpha, [string] $Beta, [switch] $Go, [string] $Gone)").unwrap();
    let binding = script.bind(&words("-al:1 -BETA 2 -Go 3"));
    let shown: Vec<_> = binding
        .values
        .iter()
        .map(|(_, value)| value.shown())
        .collect();
    assert_eq!(shown, ["1", "2", "True", "3"]);
    let binding = script.bind(&words("-g 1"));
    assert_eq!(binding.refusals, [Refusal::AmbiguousName("-g".to_owned())]);
}

#[test]
fn a_plain_script_leaves_what_it_does_not_know_and_an_advanced_one_refuses_it() {
    let plain = read("param($a)").unwrap().bind(&words("1 2 -x 3 -5"));
    assert_eq!(plain.values[0].1, Value::Positional("1".to_owned()));
    assert_eq!(plain.rest, ["-x", "2", "3", "-5"]);
    let advanced = read("param([Parameter()] $a)")
        .unwrap()
        .bind(&words("1 2 -x"));
    assert_eq!(
        advanced.refusals,
        [
            Refusal::UnknownName("-x".to_owned()),
            Refusal::NoPlace("2".to_owned())
        ]
    );
}

#[test]
fn positions_decide_where_they_are_written() {
    let script = read("param([Parameter(Position=1)] $a, [Parameter(Position=0)] $b, $c)").unwrap();
    let binding = script.bind(&words("1 2"));
    let shown: Vec<_> = binding
        .values
        .iter()
        .map(|(_, value)| value.shown())
        .collect();
    assert_eq!(shown, ["2", "1", ""]);
}

#[test]
fn the_rest_goes_to_whoever_asks_for_it() {
    let script = read("param($a, [Parameter(ValueFromRemainingArguments)] $more)").unwrap();
    let binding = script.bind(&words("1 2 3"));
    assert_eq!(
        binding.values[1].1,
        Value::Rest(vec!["2".to_owned(), "3".to_owned()])
    );
}

#[test]
fn refusals_are_told() {
    let script = read(
        "param([Parameter(Mandatory)] $m, [ValidateNotNullOrEmpty()] $e, [int] $i, [ValidateSet('x')] $s)",
    )
    .unwrap();
    let binding = script.bind(&words("-e \"\" -i two -s y -s"));
    let told: Vec<String> = binding.refusals.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "`s` is named twice",
            "`-s` has no value behind it",
            "the mandatory `m` gets nothing",
            "`e` refuses an empty text",
            "`i` cannot be `two`",
            "`s` cannot be `y`",
        ]
    );
}

proptest! {
    #[test]
    fn no_script_makes_it_panic(text in r#"(param|[ \n\[\](){}$,='"`#<>a-cö-]|Parameter|Position=|switch){0,60}"#) {
        if let Some(script) = read(&text) {
            script.bind(&words("-a b -c ü"));
        }
        let _ = read(&format!("param({text})"));
    }
}
