#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;
use crate::diagnostic::Levels;
use crate::diagnostic::codes;
use crate::diagnostic::render::{self, Colour, Report};
use crate::job::{Request, read};
use crate::library::NoLibrary;
use crate::yaml::{Limits, load};

const SECRET: &str = "Hunter2Hunter2";

const JOB: &str = r#"protocolVersion: 2
name: train
type: job
extra: {a: [1, "2"]}
parameters: {batch: 32, rate: 0.1}
secrets:
  token: Hunter2Hunter2
  quoted: "Hunter2Hunter2"   # a comment
  single: 'Hunter2Hunter2'
  list: [a, Hunter2Hunter2, {b: Hunter2Hunter2}]
  block: |
    Hunter2Hunter2
prerequisites:
  - name: python
    type: dockerimage
    uri: python:3.12
    auth: {username: me, password: "<% $secrets.token %>"}
taskRoles:
  worker:
    instances: "two"
    dockerImage: pyton
    resourcePerInstance: {cpu: 1, memoryMB: 1024, gpu: 0, disk: 3}
    commands:
      - echo <% $secrets.token %> <% $parameters.bacth %>
      - |
        curl Hunter2Hunter2
"#;

fn masked(text: &str) -> String {
    let sources = Sources::default();
    let source = sources.add("job.yaml", text);
    let document = load(source, &Limits::default());
    let diagnostics = document.diagnostics.into_vec();
    let documents = [(source.id(), document.root.as_ref())];
    Redactor::new(&sources, documents, &diagnostics).masked(source)
}

fn masked_broken(text: &str) -> String {
    let sources = Sources::default();
    let source = sources.add("job.yaml", text);
    Redactor::from_broken_text(source).masked(source)
}

#[test]
fn values_below_secrets_are_masked_and_names_are_not() {
    assert_eq!(
        masked("name: job\nsecrets:\n  a: x\n  deep:\n    b: \"two words\"\nend: 1\n"),
        "name: job\nsecrets:\n  a: •\n  deep:\n    b: •••• ••••••\nend: 1\n"
    );
}

#[test]
fn a_value_is_masked_wherever_it_stands_but_not_in_keys() {
    assert_eq!(
        masked("worker: a-worker-b # worker\nsecrets:\n  w: worker\n"),
        "worker: a-••••••-b # ••••••\nsecrets:\n  w: ••••••\n"
    );
}

#[test]
fn comments_among_secrets_are_masked() {
    assert_eq!(
        masked("secrets: # was x\n  # old: y\n  a: zzzz # z\nb: 1 # kept\n"),
        "secrets: # ••• •\n  # •••• •\n  a: •••• # •\nb: 1 # kept\n"
    );
}

#[test]
fn a_password_is_a_secret_unless_it_names_one() {
    let text = "auth:\n  username: me\n  password: hunter22\n";
    assert_eq!(
        masked(text),
        "auth:\n  username: me\n  password: ••••••••\n"
    );
    let text = "auth:\n  password: <% $secrets.p %>\n";
    assert_eq!(masked(text), text);
}

#[test]
fn a_misspelt_or_misplaced_key_does_not_bare_its_secrets() {
    let shown = masked("secret: {a: hunter2}\nextras:\n  secrets: hunter2\n  password: hunter2\n");
    assert!(!shown.contains("hunter2"), "{shown}");
}

#[test]
fn messages_lose_what_they_quote() {
    let sources = Sources::default();
    let source = sources.add(
        "job.yaml",
        "secrets:\n  a: Tr0ub4dor\n  b: name\n  c: abc\n",
    );
    let document = load(source, &Limits::default());
    let redactor = Redactor::new(&sources, [(source.id(), document.root.as_ref())], &[]);
    assert_eq!(
        redactor.message("no `xTr0ub4dorx` here"),
        "no `x••••x` here"
    );
    assert_eq!(
        redactor.message("`username` is no `name`"),
        "`username` is no `••••`"
    );
    assert_eq!(
        redactor.message("`abc` is too short to mask"),
        "`abc` is too short to mask"
    );
    assert_eq!(format!("{redactor:?}"), "Redactor { places: 3, .. }");
}

#[test]
fn flags_and_stars_are_not_looked_for() {
    assert_eq!(
        masked("a: true\nsecrets:\n  b: true\n"),
        "a: true\nsecrets:\n  b: ••••\n"
    );
    assert_eq!(
        masked("a: '******'\nsecrets: '******'\n"),
        "a: '******'\nsecrets: ••••••••\n"
    );
}

#[test]
fn every_way_to_write_a_secret_is_masked() {
    let text = r#"
x: &token "hunter2\t1"
y: *token
secrets: !!map
  plain: hunter2-plain # hunter2-comment
  'quoted': 'it''s hunter2-quoted'
  list: [hunter2-a, {deep: hunter2-b}]
  block: |
    hunter2-line
      hunter2-more
  folded: >-
    hunter2-folded
    hunter2-words
  alias: *token
  <<: {merged: hunter2-merged}
prerequisites:
- type: dockerimage
  auth: {password: hunter2-password}
run: |
  echo hunter2-line hunter2-plain it's hunter2-quoted
  echo hunter2-words aHVudGVyMi1wbGFpbg== hunter2%091
"#;
    let shown = masked(text);
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(!shown.contains("aHVudGVyMi1wbGFpbg"), "{shown}");
    assert!(
        shown.contains("\n  list: ") && shown.contains("deep: "),
        "{shown}"
    );
    assert_eq!(shown.chars().count(), text.chars().count());
}

#[test]
fn what_a_problem_keeps_out_of_the_tree_is_masked() {
    let shown = masked("secrets:\n  a: hunter2-1\n  a: hunter2-2\nsecrets:\n  b: hunter2-3\n");
    assert!(!shown.contains("hunter2"), "{shown}");
    let shown = masked("secrets:\n  a: [hunter2-1\n  b: hunter2-2\nname: \"x\n");
    assert!(!shown.contains("hunter2"), "{shown}");
}

#[test]
fn a_secret_in_a_flag_is_masked() {
    let sources = Sources::default();
    let flag = sources.add("--set", "secrets.a=x1");
    let span = Span::new(flag.id(), 0, 9);
    let problem = Diagnostic::new(&codes::SECRET_IN_FLAG, span, "secret");
    let redactor = Redactor::new(&sources, [], &[problem]);
    assert_eq!(redactor.masked(flag), "secrets.a=••");
}

#[test]
fn a_broken_block_is_masked_to_its_end() {
    assert_eq!(
        masked_broken("a: [1\nsecrets :\n  x: one\n\tbad\n- odd\n  k: |\n   lines\n\nname: 1\n"),
        "a: [1\nsecrets :\n  •• •••\n\t•••\n• •••\n  •• •\n   •••••\n\nname: 1\n"
    );
    assert_eq!(masked_broken("'secrets': abc"), "'secrets': •••");
    assert_eq!(
        masked_broken("? secrets\n: abc\nb: 1"),
        "? secrets\n• •••\n•• •"
    );
}

#[test]
fn a_broken_flow_is_masked_to_its_end() {
    assert_eq!(
        masked_broken(r#"{"a": 1, "secrets": {"x": "}y", "z": [1]}, "b": 2"#),
        r#"{"a": 1, "secrets": ••••• ••••• •••• ••••, "b": 2"#
    );
    assert_eq!(
        masked_broken("secrets: {a: b,\n c: d"),
        "secrets: ••• ••\n •• •"
    );
    assert_eq!(
        masked_broken("{x: 1, secrets: abcd, y: abcd}"),
        "{x: 1, secrets: ••••, y: ••••}"
    );
    assert_eq!(
        masked_broken("secrets: &x !y {a: b}\nc: d"),
        "secrets: •• •• ••• ••\nc: d"
    );
}

#[test]
fn a_value_of_a_broken_file_is_masked_elsewhere() {
    assert_eq!(
        masked_broken("secrets:\n  token: s3cr3t\nname: echo s3cr3t [\n"),
        "secrets:\n  •••••• ••••••\nname: echo •••••• [\n"
    );
}

#[test]
fn long_hostile_lines_take_linear_time() {
    masked_broken(&("   ".repeat(100_000) + &"secrets ".repeat(100_000)));
    masked_broken(&"{secrets:!x,".repeat(100_000));
    masked_broken(&"secrets: {\n".repeat(100_000));
}

proptest! {
    #[test]
    fn no_value_survives_in_a_broken_text(
        before in "[ \\na-z:{\\[]{0,20}",
        value in "[A-Z0-9]{6,12}",
        after in "[ \\na-z}\\]\"']{0,20}",
    ) {
        let text = format!("{before}\nsecrets:\n  key: {value}\n{after} {value}\n");
        prop_assert!(!masked_broken(&text).contains(&value));
        let text = format!("{{\"secrets\": {{\"key\": \"{value}\"{after} {value}\n");
        prop_assert!(!masked_broken(&text).contains(&value));
    }

    #[test]
    fn any_text_is_fine(text in "\\PC*") {
        masked_broken(&text);
        masked_broken(&format!("secrets: {text}"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_damage_to_a_job_bares_a_secret(
        edits in prop::collection::vec((0_usize..JOB.len(), "[-:{}\\[\\],\"'|>&*!?#%@` \\n\\ta-z0-9]{0,3}", 0_usize..3), 1..4),
    ) {
        let mut text = JOB.to_owned();
        for (at, inserted, removed) in edits {
            let at = at.min(text.len());
            let end = (at + removed).min(text.len());
            let spoils_secret = text.match_indices(SECRET).any(|(start, _)| {
                at < start + SECRET.len() && start < end || (start < at && at < start + SECRET.len())
            });
            let spoils_key = text.match_indices("secrets").any(|(start, _)| {
                at <= start + 8 && start <= end
            });
            if !spoils_secret && !spoils_key && text.get(at..end).is_some() {
                text.replace_range(at..end, &inserted);
            }
        }
        let sources = Sources::default();
        let source = sources.add("job.yaml", text.as_str());
        let levels = Levels::default();
        let request = Request {
            strict: true,
            plan: true,
            ..Request::new(&levels)
        };
        let outcome = read(&sources, source, &request, &NoLibrary);
        let report = Report {
            diagnostics: &outcome.diagnostics,
            sources: &sources,
            redactor: &outcome.redactor,
        };
        for output in [
            render::text(&[report], Colour::Never),
            render::json(&[report], 1),
            render::sarif(&[report], "0"),
        ] {
            prop_assert!(!output.contains(SECRET), "{text}\n=>\n{output}");
        }
        if let Some(job) = outcome.job {
            let plan = serde_json::to_string(&job.plan).unwrap();
            prop_assert!(!plan.contains(SECRET), "{text}\n=>\n{plan}");
        }
    }
}
