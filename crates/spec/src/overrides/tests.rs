use super::*;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::yaml::{self, Limits};

const SPEC: &str = "\
# A component.
name: canary-gpu
version: 0.10
tags: eyesoff   # who may look
environment:
  docker:
    image: polymerprod.azurecr.io/polymercd/prod_official/base
  conda:
    channels: [anaconda]
    conda_dependencies:
      dependencies:
        - python=3.7
        - pip:
          - azureml-core==1.27.0
          - --index-url https://x.visualstudio.com/_packaging/PolymerPythonPackages/pypi/simple/
          - --index-url=https://x.visualstudio.com/_packaging/O365PythonPackagesV2/pypi/simple
          - --index-url https://packages.example.com/simple
secrets: {token: polymerprod}
";

struct Done {
    text: String,
    changes: Vec<String>,
    problems: Vec<String>,
    keeps_layout: bool,
}

impl Done {
    #[track_caller]
    fn clean(self) -> Self {
        assert_eq!(self.problems, [""; 0]);
        self
    }

    /// The lines that differ, old ones with `-`, new ones with `+`.
    fn lines(&self, spec: &str) -> Vec<String> {
        let diff = similar::TextDiff::from_lines(spec, &self.text);
        diff.iter_all_changes()
            .filter(|change| change.tag() != similar::ChangeTag::Equal)
            .map(|change| format!("{}{}", change.tag(), change.value().trim_end()))
            .collect()
    }
}

fn problem(sources: &Sources, found: &Diagnostic) -> String {
    let place = sources.place(found.span);
    format!(
        "{} {}:{} {}",
        found.code.id, place.file, place.line, found.message
    )
}

fn run(config: &str, tenant: &str, spec: &str) -> Done {
    let sources = Sources::default();
    let loaded = yaml::load(sources.add("test.yaml", config), &Limits::default());
    assert!(!loaded.diagnostics.has_errors(), "{config}");
    let root = loaded.root.unwrap();
    let mut out = Diagnostics::default();
    let section = root.get(SECTION).unwrap();
    let overrides = Overrides::read(section, &Tenant::called(tenant), &sources, &mut out);
    let sources = overrides.sources();
    let limits = Limits {
        nodes: 1_000_000,
        ..Limits::default()
    };
    let source = sources.add("spec.yaml", spec);
    let mut document = yaml::load(source, &limits).root.unwrap();
    let report = apply(&mut document, &overrides, &mut out);
    for found in unused(&overrides, &report.used) {
        out.push(found);
    }
    let made = materialise(source, &document, &limits);
    let changes = report.changes.iter().take(20).map(|change| {
        let place = |span| sources.place(span).to_string();
        format!(
            "{}: {} ← {} ({}), was {} ({})",
            change.path,
            change.now.as_deref().unwrap_or("-"),
            change.rule,
            place(change.span),
            change.was.as_deref().unwrap_or("-"),
            change.was_span.map_or_else(|| "-".to_owned(), place),
        )
    });
    Done {
        changes: changes.collect(),
        text: made.text,
        keeps_layout: made.keeps_layout,
        problems: out
            .into_vec()
            .iter()
            .map(|found| problem(&sources, found))
            .collect(),
    }
}

/// The rules of a tenant `t`, each line indented below it.
fn rules(lines: &str) -> Done {
    let config = lines
        .lines()
        .fold("tenant_overrides:\n  t:\n".to_owned(), |config, line| {
            config + "    " + line + "\n"
        });
    run(&config, "t", SPEC)
}

#[test]
fn a_text_of_the_table_is_replaced_and_all_else_stays() {
    let done = rules("tags: {eyesoff: eyeson}\nversion: {0.10: 0.11}").clean();
    assert_eq!(
        done.lines(SPEC),
        [
            "-version: 0.10",
            "-tags: eyesoff   # who may look",
            "+version: 0.11",
            "+tags: eyeson   # who may look",
        ]
    );
    assert!(done.keeps_layout);
    assert_eq!(
        done.changes[0],
        "tags: eyeson ← tenant_overrides[\"t\"].tags (test.yaml:3), was eyesoff (spec.yaml:4)"
    );
}

#[test]
fn the_exact_text_comes_before_regular_expressions_and_the_first_of_them_wins() {
    let image = "polymerprod.azurecr.io/polymercd/prod_official/base";
    let table = |entries: &[&str]| {
        let done = rules(&format!(
            "environment.docker.image: {{{}}}",
            entries.join(", ")
        ));
        done.changes[0].split(' ').nth(1).unwrap().to_owned()
    };
    let (any, prod) = ("'.+': first", "'polymerprod(.+)': 'dev$1'");
    assert_eq!(table(&[any, prod, &format!("{image}: exact")]), "exact");
    assert_eq!(table(&[any, prod]), "first");
    assert_eq!(
        table(&[prod, any]),
        "dev.azurecr.io/polymercd/prod_official/base"
    );
}

#[test]
fn a_regular_expression_must_fit_the_whole_text() {
    let done =
        rules("environment.docker.image: {'polymerprod.*prod_official/': x, 'prod.*base': y}");
    assert!(done.changes.is_empty());
    assert_eq!(done.problems.len(), 2);
    assert!(done.problems[0].starts_with("P1085 test.yaml:3 this fits no value"));
    // A dot alone makes no regular expression of a text.
    assert!(rules("tags: {eye.off: x}").changes.is_empty());
}

#[test]
fn a_path_means_all_that_it_selects() {
    let done = rules("$..['image', 'name']: {'(.+)': 'x-$1'}").clean();
    assert_eq!(
        done.lines(SPEC),
        [
            "-name: canary-gpu",
            "+name: x-canary-gpu",
            "-    image: polymerprod.azurecr.io/polymercd/prod_official/base",
            "+    image: x-polymerprod.azurecr.io/polymercd/prod_official/base",
        ]
    );
    // A value that is reached twice is changed once.
    let twice = rules("$..*: {'([a-z]+)': 'x$1'}").clean();
    assert!(twice.text.contains("tags: xeyesoff "), "{}", twice.text);
    assert!(twice.text.contains("channels: [xanaconda]"));
    assert!(twice.text.contains("token: polymerprod"));
}

#[test]
fn lists_and_mappings_are_mapped_value_by_value() {
    let config = "tenant_overrides: {t: {tags: {eyesoff: eyeson, team: red, 'a(.)': 'b$1'}}}";
    let tags = |spec: &str| run(config, "t", spec).text;
    assert_eq!(tags("tags: eyesoff\n"), "tags: eyeson\n");
    assert_eq!(tags("tags: [eyesoff, x, a1]\n"), "tags: [eyeson, x, b1]\n");
    assert_eq!(
        tags("tags:\n  team: blue\n  who: eyesoff\n  other: a2\n"),
        "tags:\n  team: red\n  who: eyeson\n  other: b2\n"
    );
}

#[test]
fn items_and_keys_are_added_and_removed() {
    let done = rules(
        "environment.conda.channels: {$append: conda-forge, $prepend: [., anaconda], $remove: ana.*}\n\
         environment.conda.conda_dependencies.dependencies[1].pip: {$append: [numpy], $remove: ['azureml-(.+)']}\n\
         environment.docker.platform: {$set: {os: linux}}\n\
         labels: {$append: [a]}\n\
         environment.docker: {$append: {args: [--gpus, all], image: other}}\n\
         version: {$remove: true}\n\
         $..image: {$set: '1.0'}",
    );
    let done = done.clean();
    assert!(done.keeps_layout);
    assert_eq!(
        done.lines(SPEC),
        [
            "-version: 0.10",
            "-    image: polymerprod.azurecr.io/polymercd/prod_official/base",
            "+    image: \"1.0\"",
            "+    platform: {os: linux}",
            "+    args: [--gpus, all]",
            "-    channels: [anaconda]",
            "+    channels: [., conda-forge]",
            "-          - azureml-core==1.27.0",
            "+          - numpy",
            "+labels: [a]",
        ]
    );
}

#[test]
fn feeds_are_removed_only_on_request_also_when_they_stand_side_by_side() {
    let kept = rules("tags: {eyesoff: eyeson}");
    assert!(kept.text.contains("PolymerPythonPackages"));
    let done = rules("remove_polymer_pkg_idx: true").clean();
    assert_eq!(done.lines(SPEC).len(), 2);
    assert!(done.lines(SPEC).iter().all(|line| line.starts_with('-')));
    assert!(!done.text.contains("O365") && done.text.contains("packages.example.com"));
}

#[test]
fn feeds_are_removed_from_the_texts_of_files() {
    let feed = "--index-url https://example.org/_packaging/PolymerPythonPackages/pypi/simple/";
    let lines = format!("numpy  # a\n{feed}\n{feed}\nscipy");
    assert_eq!(
        without_feed_lines(&lines).as_deref(),
        Some("numpy  # a\nscipy")
    );
    assert_eq!(without_feed_lines("numpy\n"), None);
    let sources = Sources::default();
    let limits = Limits::default();
    let conda = format!("dependencies:\n- pip:\n  - {feed}\n  - numpy  # a\n");
    let source = sources.add("env.yml", conda);
    assert_eq!(
        without_feeds(source, &limits).as_deref(),
        Some("dependencies:\n- pip:\n  - numpy  # a\n")
    );
    assert_eq!(without_feeds(sources.add("", "a: [b]\n"), &limits), None);
}

#[test]
fn both_forms_of_the_section_are_read() {
    let mapping = |allow: &str| {
        let config = format!(
            "tenant_overrides:\n  allow_override: {allow}\n  keep_modified_files: false\n  mapping:\n    T-1:\n      tags: {{eyesoff: eyeson}}\n"
        );
        run(&config, "t-1", SPEC)
    };
    let on = mapping("true").clean();
    assert!(on.changes[0].contains("tenant_overrides.mapping[\"T-1\"].tags (test.yaml:6)"));
    let off = mapping("false");
    assert!(off.changes.is_empty());
    assert_eq!(
        off.problems,
        ["P1086 test.yaml:2 the overrides are off: `allow_override` is not true"]
    );
    let mixed = "tenant_overrides: {mapping: {}, t: {tags: {a: b}}, keep_modified_files: true}";
    assert_eq!(run(mixed, "t", SPEC).problems.len(), 3);
}

#[test]
fn the_first_key_that_means_the_tenant_counts() {
    let config = "tenant_overrides: {other: {tags: {eyesoff: a}}, t: {tags: {eyesoff: b}}, T: {tags: {eyesoff: c}}}";
    assert!(run(config, "T", SPEC).text.contains("tags: b "));
    assert!(run(config, "nobody", SPEC).clean().changes.is_empty());
    let sources = Sources::default();
    let text = "tenant_overrides: {personal: {tags: {eyesoff: b}}}";
    let root = yaml::load(sources.add("", text), &Limits::default())
        .root
        .unwrap();
    let tenant = Tenant {
        id: Some("1111".to_owned()),
        names: vec!["personal".to_owned()],
    };
    let mut out = Diagnostics::default();
    let overrides = Overrides::read(root.get(SECTION).unwrap(), &tenant, &sources, &mut out);
    assert_eq!(overrides.chosen.as_deref(), Some("personal"));
}

#[test]
fn what_is_wrong_is_told_at_its_line() {
    let done = rules(
        "tags: {'(': x, '(?=a)b': y, 'a(b)': 'x$2', '((a{500}){500}){500}': z}\n\
         a..: {b: c}\n\
         name: new\n\
         version: {$apend: x, $remove: [[1]]}\n\
         tags.x.y: {$set: 1}\n\
         name.z: {$append: [1]}",
    );
    let start = |text: &str| text.split(" at ").next().unwrap().to_owned();
    assert_eq!(
        done.problems
            .iter()
            .filter(|text| !text.starts_with("P1085"))
            .map(|text| start(text))
            .collect::<Vec<_>>(),
        [
            "P1082 test.yaml:3 `(` is not a regular expression",
            "P1082 test.yaml:3 `(?=a)b` is not a regular expression",
            "P1083 test.yaml:3 the regular expression has no group `$2`",
            "P1082 test.yaml:3 the regular expression is too large",
            "P1081 test.yaml:4 `a..` is not a JSONPath",
            "P1080 test.yaml:5 `name` has no table from old values to new ones",
            "P1088 test.yaml:6 there is no operation `$apend`",
            "P1088 test.yaml:6 `$remove` takes texts, or `true` for the whole value",
            "P1088 test.yaml:7 `tags.x.y` cannot be made in this document",
            "P1088 test.yaml:8 `name.z` cannot be made in this document",
        ]
    );
}

#[test]
fn a_rule_that_selects_nothing_is_told_of() {
    let done = rules("nothing.here: {a: b}\n$..nothing: {a: b}");
    assert_eq!(
        done.problems,
        [
            "P1084 test.yaml:3 `nothing.here` selects nothing",
            "P1084 test.yaml:4 `$..nothing` selects nothing",
        ]
    );
}

#[test]
fn a_value_that_aliases_share_is_changed_where_it_is_meant() {
    let spec = "a: &x {image: old}\nb: *x\nc: {<<: *x}\n";
    let config = "tenant_overrides: {t: {b.image: {old: new}}}";
    let done = run(config, "t", spec).clean();
    assert!(!done.keeps_layout);
    assert_eq!(
        done.text,
        "a:\n  image: old\nb:\n  image: new\nc:\n  image: old\n"
    );
}

#[test]
fn many_entries_and_many_places_are_done_in_time() {
    let mut config = "tenant_overrides:\n  t:\n    $..image:\n".to_owned();
    for index in 0..10_000 {
        let entry = format!("      registry.example/old/{index}: registry.example/new/{index}\n");
        config.push_str(&entry);
    }
    let spec = (0..10_000).fold("items:\n".to_owned(), |spec, index| {
        spec + &format!("- {{image: registry.example/old/{index}}}\n")
    });
    let done = run(&config, "t", &spec).clean();
    assert_eq!(done.text, spec.replace("/old/", "/new/"));
    let many = "items:\n".to_owned() + &"- {image: a}\n".repeat(100_000);
    let done = run(
        "tenant_overrides: {t: {'$..image': {'(a+)+': '$1b'}}}",
        "t",
        &many,
    )
    .clean();
    assert_eq!(done.text.matches("image: ab}").count(), 100_000);
}

#[test]
fn what_would_take_too_long_is_refused() {
    let many = "items: [".to_owned() + &"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,".repeat(20_000) + "]\n";
    let one = |config: String| {
        let done = run(&config, "t", &many);
        let refused = done
            .problems
            .iter()
            .filter(|text| text.starts_with("P1089"));
        assert!(refused.count() > 0, "{:?}", done.problems.first());
        assert!(!done.problems.iter().any(|text| text.starts_with("P1084")));
    };
    one("tenant_overrides: {t: {'$..[?$..*]': {a: b}}}".to_owned());
    let selectors = (0..10_000).map(|index| format!("'$..x{index}': {{a: b}}"));
    one(format!(
        "tenant_overrides: {{t: {{{}}}}}",
        selectors.collect::<Vec<_>>().join(", ")
    ));
    let patterns = |count: usize| {
        let entries = (0..count).map(|index| format!("'(a*)*{index}': x"));
        let entries = entries.collect::<Vec<_>>().join(", ");
        format!("tenant_overrides: {{t: {{'items[*]': {{{entries}}}}}}}")
    };
    one(patterns(200));
    one(patterns(2_000));
    let longer = "'(a+)': '".to_owned() + &"$1".repeat(200) + "'";
    one(format!(
        "tenant_overrides: {{t: {{'items[*]': {{{longer}}}}}}}"
    ));
}

proptest::proptest! {
    #[test]
    fn what_is_written_reads_as_what_was_meant(
        old in "[a-z #:'\"\\-{}\\[\\],|>&*!%@0-9.~\\n]{0,12}",
        new in "[a-z #:'\"\\-{}\\[\\],|>&*!%@0-9.~\\n\u{e9}]{0,12}",
    ) {
        let quoted = |text: &str| serde_json::to_string(text).unwrap();
        let spec = format!("a:\n  - x: {}  # kept\n  - y\nb: {{c: {}}}\n", quoted(&old), quoted(&old));
        let config = format!("tenant_overrides: {{t: {{'$..*': {{'.+': 'z', $remove: nothing}}, 'b.c': {{$set: {}}}, 'a[0].x': {{$set: {}}}}}}}", quoted(&new), quoted(&new));
        let done = run(&config, "t", &spec);
        let sources = Sources::default();
        let root = yaml::load(sources.add("", done.text.as_str()), &Limits::default()).root.unwrap();
        let at = |place: &[u32]| crate::jsonpath::node_at(&root, place).and_then(|node| node.as_text().map(str::to_owned));
        proptest::prop_assert_eq!(at(&[1, 0]), Some(new.clone()));
        proptest::prop_assert_eq!(at(&[0, 0, 0]), Some(new));
        proptest::prop_assert!(done.keeps_layout, "{}", done.text);
    }
}

#[test]
fn a_list_in_a_block_keeps_its_lines() {
    let spec = "channels:\n  - a # first\n  - b\n  - c\nother: x\n";
    let text = |operations: &str| {
        let config = format!("tenant_overrides: {{t: {{channels: {{{operations}}}}}}}");
        run(&config, "t", spec).clean().text
    };
    assert_eq!(
        text("$prepend: [x, y], $append: z, $remove: b"),
        "channels:\n  - x\n  - y\n  - a # first\n  - c\n  - z\nother: x\n"
    );
    assert_eq!(
        text("$remove: '[ab]', $append: z"),
        "channels:\n  - c\n  - z\nother: x\n"
    );
    assert_eq!(text("$remove: '[abc]'"), "channels: []\nother: x\n");
}
