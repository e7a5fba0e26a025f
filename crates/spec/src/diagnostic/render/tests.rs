#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::diagnostic::codes;

/// The span of the only place of `word`.
fn span(source: &Source, word: &str) -> Span {
    let start = source.text().find(word).unwrap();
    Span::new(source.id(), start, start + word.len())
}

fn plain(sources: &Sources, diagnostics: &[Diagnostic]) -> String {
    with_redactor(sources, diagnostics, &Redactor::default())
}

fn with_redactor(sources: &Sources, diagnostics: &[Diagnostic], redactor: &Redactor) -> String {
    let report = Report {
        diagnostics,
        sources,
        redactor,
    };
    let text = text(&[report], Colour::Never);
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_end().to_owned()
}

const JOB: &str = "name: hello
taskRoles:
  worker:
    completion:
      minFailedInstance: 1
";

fn unknown_key(source: &Source) -> Diagnostic {
    let key = span(source, "minFailedInstance");
    Diagnostic::new(
        &codes::UNKNOWN_KEY,
        key,
        "unknown key `minFailedInstance` in `completion`",
    )
    .label("not a key of `completion`")
    .related(span(source, "completion"), "in this mapping")
    .help("did you mean `minFailedInstances`?")
    .fix("rename the key", key, "minFailedInstances")
}

#[test]
fn a_problem_is_shown_with_its_line_and_its_repair() {
    let sources = Sources::default();
    let source = sources.add("job.yaml", JOB);
    insta::assert_snapshot!(plain(&sources, &[unknown_key(source)]), @r##"
error[P0201]: unknown key `minFailedInstance` in `completion`
 --> job.yaml:5:7
  |
4 |     completion:
  |     ---------- in this mapping
5 |       minFailedInstance: 1
  |       ^^^^^^^^^^^^^^^^^ not a key of `completion`
  |
help: did you mean `minFailedInstances`?
  |
5 |       minFailedInstances: 1
  |                        +
"##);
}

#[test]
fn colour_is_used_on_demand() {
    let sources = Sources::default();
    let source = sources.add("job.yaml", JOB);
    let diagnostics = [unknown_key(source)];
    let report = Report {
        diagnostics: &diagnostics,
        sources: &sources,
        redactor: &Redactor::default(),
    };
    assert!(text(&[report], Colour::Always).contains('\u{1b}'));
    assert!(!text(&[report], Colour::Never).contains('\u{1b}'));
}

#[test]
fn places_in_other_files_and_far_away_are_shown() {
    let sources = Sources::default();
    let far = format!("start: 1\n{}end: 2\n", "x: 0\n".repeat(500));
    let source = sources.add("job.yaml", far);
    let item = sources.add("market/mnist.yaml", "type: dta\n");
    let diagnostic = Diagnostic::new(&codes::BAD_CHOICE, span(source, "end"), "bad item")
        .related(span(source, "start"), "far away")
        .related(span(item, "dta"), "in the item")
        .help("one")
        .help("two")
        .fix("mend the item", span(item, "dta"), "data");
    insta::assert_snapshot!(plain(&sources, &[diagnostic]), @r##"
error[P0206]: bad item
   --> job.yaml:502:1
    |
502 | end: 2
    | ^^^
    |
   ::: job.yaml:1:1
    |
  1 | start: 1
    | ----- far away
    |
   ::: market/mnist.yaml:1:7
    |
  1 | type: dta
    |       --- in the item
    |
    = help: one
    = help: two
help: mend the item
   --> market/mnist.yaml:1:1
    |
  1 | type: data
    |        +
"##);
}

#[test]
fn a_flag_is_shown_as_typed() {
    let sources = Sources::default();
    let flag = sources.add("-p", "batch=many");
    let diagnostic = Diagnostic::new(
        &codes::WRONG_TYPE,
        span(flag, "many"),
        "`batch` is a number",
    )
    .label("not a number")
    .fix("give a number", span(flag, "many"), "32");
    insta::assert_snapshot!(plain(&sources, &[diagnostic]), @r##"
error[P0203]: `batch` is a number
--> command line
 |
 | -p batch=many
 |          ^^^^ not a number
 |
help: give a number
 |
 - -p batch=many
 + -p batch=32
 |
"##);
}

#[test]
fn secrets_are_masked_in_place() {
    let sources = Sources::default();
    let source = sources.add(
        "job.yaml",
        "secrets:\n  token: hunter2-x # old\nname: curl -H hunter2-x\n",
    );
    let redactor = Redactor::from_broken_text(source);
    let run = span(source, "curl");
    let diagnostics = [
        Diagnostic::new(&codes::BAD_TEXT, run, "`hunter2-x` in clear")
            .label("hunter2-x")
            .related(span(source, "token"), "of hunter2-x")
            .help("drop hunter2-x")
            .fix("mend hunter2-x", run, "hunter2-x"),
    ];
    let report = Report {
        diagnostics: &diagnostics,
        sources: &sources,
        redactor: &redactor,
    };
    insta::assert_snapshot!(with_redactor(&sources, &diagnostics, &redactor), @r##"
error[P0205]: `••••` in clear
 --> job.yaml:3:7
  |
2 |   •••••• ••••••••• • •••
  |   ----- of ••••
3 | name: curl -H •••••••••
  |       ^^^^ ••••
  |
  = help: drop ••••
"##);
    for output in [
        json(&[report], 1),
        sarif(&[report], "0"),
        text(&[report], Colour::Always),
    ] {
        assert!(!output.contains("hunter2"), "{output}");
    }
}

#[test]
fn nothing_acts_on_a_terminal() {
    let sources = Sources::default();
    let source = sources.add(
        "a\u{1b}[31m\n.yaml",
        "k\u{1b}]0;x\u{7}: \u{9b}31m\u{202e}\r\u{e000}1:2\nb: 1\r\n",
    );
    let all = Span::new(source.id(), 0, 3);
    let diagnostics =
        [
            Diagnostic::new(&codes::UNKNOWN_KEY, all, "no \u{1b}[2J\n\u{9b}0m \u{e000}0")
                .label("\u{1b}c")
                .help("\u{1b}c\n")
                .fix("\u{1b}c", all, "\u{1b}c\u{85}"),
        ];
    let report = Report {
        diagnostics: &diagnostics,
        sources: &sources,
        redactor: &Redactor::default(),
    };
    for output in [
        text(&[report], Colour::Never),
        json(&[report], 1),
        sarif(&[report], "0"),
    ] {
        let obeyed = |char: &char| char.is_control() && *char != '\n';
        assert_eq!(output.chars().find(obeyed), None, "{output}");
        assert!(!output.contains('\u{202e}'));
    }
    assert!(text(&[report], Colour::Never).contains("--> a␛[31m␊.yaml:1:1\n"));
}

#[test]
fn odd_places_are_shown() {
    let sources = Sources::default();
    let empty = sources.add("empty.yaml", "");
    let unclosed = sources.add("end.yaml", "a: [1,\r\n\tb: 名前 \"x\r\n\r\n");
    let at_end = unclosed.text().len();
    let diagnostics = [
        Diagnostic::new(&codes::EMPTY_FILE, Span::new(empty.id(), 0, 0), "empty"),
        Diagnostic::new(
            &codes::SYNTAX,
            Span::new(unclosed.id(), at_end, at_end),
            "unclosed",
        ),
        Diagnostic::new(
            &codes::SYNTAX,
            Span::new(unclosed.id(), 3, at_end),
            "several lines",
        ),
        Diagnostic::new(&codes::SYNTAX, span(unclosed, "\"x"), "wide"),
    ];
    insta::assert_snapshot!(plain(&sources, &diagnostics), @r##"
error[P0112]: empty
--> empty.yaml

error[P0101]: unclosed
 --> end.yaml:2:10
  |
2 |     b: 名前 "x
  |               ^

error[P0101]: several lines
 --> end.yaml:1:4
  |
1 | a: [1,
  |    ^^^

error[P0101]: wide
 --> end.yaml:2:8
  |
2 |     b: 名前 "x
  |             ^^
"##);
}

#[test]
fn long_lines_are_cut() {
    let sources = Sources::default();
    let source = sources.add(
        "job.yaml",
        format!(
            "a: [{}NEEDLE{}]",
            "x, ".repeat(300_000),
            ", y".repeat(300_000)
        ),
    );
    let word = span(source, "NEEDLE");
    let diagnostic = Diagnostic::new(&codes::WRONG_TYPE, word, "long")
        .label("here")
        .fix("mend", word, "THREAD");
    let huge = Diagnostic::new(
        &codes::WRONG_TYPE,
        Span::new(source.id(), 3, source.text().len()),
        "k".repeat(1_000_000),
    );
    let shown = plain(&sources, &[diagnostic, huge]);
    assert!(shown.len() < 3_000, "{}", shown.len());
    insta::assert_snapshot!(shown.lines().take(10).collect::<Vec<_>>().join("\n"), @r##"
error[P0203]: long
 --> job.yaml:1:900005
  |
1 | … x, x, x, x, x, x, x, x, x, x, x, x, x, NEEDLE, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, …
  |                                          ^^^^^^ here
  |
help: mend
  |
1 - … x, x, x, x, x, x, x, x, x, x, x, x, x, NEEDLE, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, …
1 + … x, x, x, x, x, x, x, x, x, x, x, x, x, THREAD, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, y, …
"##);
}

#[test]
fn json_has_all_of_a_problem() {
    let sources = Sources::default();
    let source = sources.add("job.yaml", JOB);
    let diagnostics = [unknown_key(source)];
    let report = Report {
        diagnostics: &diagnostics,
        sources: &sources,
        redactor: &Redactor::default(),
    };
    insta::assert_snapshot!(json(&[report], 1), @r##"
{
  "format": "pinnace.diagnostics/1",
  "diagnostics": [
    {
      "code": "P0201",
      "name": "unknown-key",
      "severity": "error",
      "message": "unknown key `minFailedInstance` in `completion`",
      "file": "job.yaml",
      "span": {
        "start": {
          "line": 5,
          "column": 7,
          "offset": 55
        },
        "end": {
          "line": 5,
          "column": 24,
          "offset": 72
        }
      },
      "label": "not a key of `completion`",
      "related": [
        {
          "message": "in this mapping",
          "file": "job.yaml",
          "span": {
            "start": {
              "line": 4,
              "column": 5,
              "offset": 37
            },
            "end": {
              "line": 4,
              "column": 15,
              "offset": 47
            }
          }
        }
      ],
      "help": [
        "did you mean `minFailedInstances`?"
      ],
      "fix": {
        "title": "rename the key",
        "edits": [
          {
            "file": "job.yaml",
            "span": {
              "start": {
                "line": 5,
                "column": 7,
                "offset": 55
              },
              "end": {
                "line": 5,
                "column": 24,
                "offset": 72
              }
            },
            "replacement": "minFailedInstances"
          }
        ]
      },
      "page": "docs/diagnostics/P0201.md"
    }
  ],
  "summary": {
    "errors": 1,
    "warnings": 0,
    "files": 1
  }
}
"##);
}

#[test]
fn sarif_has_what_its_schema_demands() {
    let sources = Sources::default();
    let source = sources.add("jobs/a b.yaml", JOB);
    let flag = sources.add("--set", "x=1");
    let diagnostics = [
        unknown_key(source),
        Diagnostic::new(&codes::BAD_CHOICE, span(flag, "1"), "bad"),
    ];
    let report = Report {
        diagnostics: &diagnostics,
        sources: &sources,
        redactor: &Redactor::default(),
    };
    let log: Value = serde_json::from_str(&sarif(&[report], "0.1.0")).unwrap();
    let schema: Value = serde_json::from_str(include_str!("sarif-essentials.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let problems: Vec<String> = validator
        .iter_errors(&log)
        .map(|error| error.to_string())
        .collect();
    assert!(problems.is_empty(), "{problems:?}\n{log:#}");

    let run = &log["runs"][0];
    let result = &run["results"][0];
    let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
    assert_eq!(
        run["tool"]["driver"]["rules"][index]["id"],
        result["ruleId"]
    );
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "jobs/a%20b.yaml");
    assert_eq!(place["region"]["startLine"], 5);
    assert_eq!(place["region"]["startColumn"], 7);
    assert_eq!(
        run["results"][1]["locations"][0]["logicalLocations"][0]["name"],
        "--set"
    );
}

proptest! {
    #[test]
    fn any_span_of_any_text_is_shown(
        content in "[ -~\\n\\r\\täß名🚢\u{200d}\u{1b}]{0,60}",
        spans in prop::collection::vec((0_usize..80, 0_usize..80), 1..4),
        replacement in "[a-z\\n]{0,10}",
    ) {
        let sources = Sources::default();
        let source = sources.add("job.yaml", content.clone());
        let span = |(start, end)| Span::new(source.id(), start, end);
        let mut diagnostic = Diagnostic::new(&codes::SYNTAX, span(spans[0]), "any").label("label");
        for other in &spans[1..] {
            diagnostic = diagnostic.related(span(*other), "other");
        }
        diagnostic = diagnostic.fix("fix", span(spans[0]), replacement);
        let diagnostics = [diagnostic];
        let redactor = Redactor::from_broken_text(source);
        let report = Report { diagnostics: &diagnostics, sources: &sources, redactor: &redactor };
        prop_assert!(text(&[report], Colour::Never).starts_with("error[P0101]: any\n"));
        prop_assert!(serde_json::from_str::<Value>(&json(&[report], 1)).is_ok());
        prop_assert!(serde_json::from_str::<Value>(&sarif(&[report], "0")).is_ok());
    }
}
