use super::*;
use crate::yaml::node::Kind;
use crate::yaml::{self, Limits, Value};

const JOB: &str = "\
parameters:
  batch: 32
  model: resnet
  shuffle: true
  sizes: [1, 2]
  nested: {rate: 0.1}
  a.b: 1
secrets:
  token: hunter22
taskRoles:
  worker: {instances: 1, completion: }
  ps: {instances: 2}
prerequisites:
- {name: x, type: data}
- {name: y, type: script}
";

/// Applies the flags; gives the values at some places as JSON-like text, and the problems, each as
/// `code text-at-its-place message`.
fn applied(settings: &[Setting], places: &[&str]) -> (Vec<String>, Vec<String>) {
    let sources = Sources::default();
    let document = yaml::load(sources.add("job.yaml", JOB), &Limits::default());
    let mut root = document.root.unwrap();
    let mut diagnostics = Diagnostics::default();
    apply(&mut root, settings, &sources, &mut diagnostics);
    let values = places.iter().map(|place| shown(at(&root, place))).collect();
    let problems = diagnostics
        .into_vec()
        .iter()
        .map(|found| {
            format!(
                "{} {:?} {}",
                found.code.id,
                sources.slice(found.span),
                found.message
            )
        })
        .collect();
    (values, problems)
}

fn at<'n, 's>(root: &'n Node<'s>, place: &str) -> &'n Node<'s> {
    place.split('/').fold(root, |node, step| match &node.value {
        Value::List(list) => &list[step.parse::<usize>().unwrap()],
        _ => &node.get(step).unwrap_or_else(|| panic!("no {place}")).value,
    })
}

fn shown(node: &Node<'_>) -> String {
    match &node.value {
        Value::Scalar(scalar) if node.kind() == Kind::Text => format!("{:?}", scalar.text),
        Value::Scalar(scalar) => scalar.text.to_string(),
        Value::List(list) => format!(
            "[{}]",
            list.iter().map(shown).collect::<Vec<_>>().join(", ")
        ),
        Value::Map(map) => {
            let entries = map.entries.iter();
            let entries =
                entries.map(|entry| format!("{}: {}", entry.key.text, shown(&entry.value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

fn p(text: &str) -> Setting {
    Setting::parameter(text)
}

fn set(text: &str) -> Setting {
    Setting::set(text)
}

#[test]
fn a_parameter_gets_another_value() {
    let settings = [
        p("batch=28"),
        p("model=a: b # c"),
        p("nested.rate=1"),
        p("a.b=2"),
        p("sizes=[3]"),
    ];
    let places = [
        "parameters/batch",
        "parameters/model",
        "parameters/nested/rate",
        "parameters/a.b",
        "parameters/sizes",
    ];
    let (values, problems) = applied(&settings, &places);
    assert_eq!(values, ["28", "\"a: b # c\"", "1", "2", "[3]"]);
    assert_eq!(problems, [""; 0]);
}

#[test]
fn what_replaces_a_text_stays_a_text() {
    assert_eq!(applied(&[p("model=")], &["parameters/model"]).0, ["\"\""]);
    assert_eq!(
        applied(&[p("model=0.10")], &["parameters/model"]).0,
        ["\"0.10\""]
    );
}

#[test]
fn a_changed_node_remembers_the_flag_and_what_it_was() {
    let sources = Sources::default();
    let document = yaml::load(sources.add("job.yaml", JOB), &Limits::default());
    let mut root = document.root.unwrap();
    let settings = [p("batch=28"), set("taskRoles.worker.instances=4")];
    apply(&mut root, &settings, &sources, &mut Diagnostics::default());
    let batch = at(&root, "parameters/batch");
    let replaced = batch.replaced().unwrap();
    assert_eq!(replaced.by, By::Flag("-p batch=28".to_owned()));
    let was = replaced.was.as_ref().unwrap();
    assert_eq!(
        (shown(was), sources.place(was.span).line),
        ("32".to_owned(), 2)
    );
    assert_eq!(sources.place(batch.span).to_string(), "-p:1");
    let instances = at(&root, "taskRoles/worker/instances");
    assert_eq!(
        instances.replaced().unwrap().by,
        By::Flag("--set taskRoles.worker.instances=4".to_owned())
    );
}

#[test]
fn an_unknown_parameter_is_refused() {
    let settings = [
        p("bacth=1"),
        p("nested.rat=1"),
        p("zzz=1"),
        p("sizes[9]=1"),
        p("secrets.token=1"),
    ];
    let (_, problems) = applied(&settings, &[]);
    assert_eq!(
        problems,
        [
            "P0702 \"bacth\" there is no parameter `bacth`",
            "P0702 \"rat\" there is no parameter `nested.rat`",
            "P0702 \"zzz\" there is no parameter `zzz`",
            "P0702 \"[9]\" there is no parameter `sizes[9]`",
            "P0702 \"secrets\" there is no parameter `secrets.token`",
        ]
    );
}

#[test]
fn a_value_of_another_type_is_refused_at_the_flag() {
    let settings = [
        p("batch=many"),
        p("shuffle=1"),
        p("sizes=1,2"),
        p("nested=[1]"),
    ];
    let (values, problems) = applied(&settings, &["parameters/batch"]);
    assert_eq!(values, ["32"]);
    assert_eq!(
        problems,
        [
            "P0203 \"many\" `batch` must be a number",
            "P0203 \"1\" `shuffle` must be true or false",
            "P0203 \"1,2\" `sizes` must be a list",
            "P0203 \"[1]\" `nested` must be a mapping",
        ]
    );
}

#[test]
fn the_last_of_two_counts_and_the_first_is_told_of() {
    let (values, problems) = applied(&[p("batch=1"), p("batch=2")], &["parameters/batch"]);
    assert_eq!(values, ["2"]);
    assert_eq!(
        problems,
        ["P0706 \"batch\" `batch` is set more than once; the last one counts"]
    );
}

#[test]
fn a_path_sets_one_place() {
    let settings = [
        set("taskRoles.worker.instances=4"),
        set("$.prerequisites[1].name=\"z\""),
        set("prerequisites[-1]['type']={a: [1, 2]}"),
    ];
    let (values, problems) = applied(
        &settings,
        &["taskRoles/worker/instances", "prerequisites/1"],
    );
    assert_eq!(values, ["4", "{name: \"z\", type: {a: [1, 2]}}"]);
    assert_eq!(problems, [""; 0]);
}

#[test]
fn a_path_to_one_place_makes_what_is_missing() {
    let settings = [
        set("taskRoles.worker.completion.minFailedInstances=2"),
        set("extras.a.b=1"),
        set("defaults={}"),
        set("taskRoles.ps.x="),
    ];
    let (values, problems) = applied(&settings, &["taskRoles", "extras", "defaults"]);
    assert_eq!(
        values,
        [
            "{worker: {instances: 1, completion: {minFailedInstances: 2}}, ps: {instances: 2, x: \"\"}}",
            "{a: {b: 1}}",
            "{}",
        ]
    );
    assert_eq!(problems, [""; 0]);
}

#[test]
fn a_query_sets_all_that_it_selects() {
    let settings = [
        set("taskRoles.*.instances=7"),
        set("$.prerequisites[?@.type=='data'].name=q"),
    ];
    let (values, problems) = applied(&settings, &["taskRoles", "prerequisites"]);
    assert_eq!(
        values,
        [
            "{worker: {instances: 7, completion: }, ps: {instances: 7}}",
            "[{name: \"q\", type: \"data\"}, {name: \"y\", type: \"script\"}]",
        ]
    );
    assert_eq!(problems, [""; 0]);
}

#[test]
fn a_path_that_selects_nothing_is_refused() {
    let settings = [
        set("$..nothing=1"),
        set("prerequisites[5].name=1"),
        set("parameters.batch.x=1"),
        set("taskRoles[0]=1"),
        set("extras.list[0]=1"),
        set("$=1"),
    ];
    let (_, problems) = applied(&settings, &[]);
    let places: Vec<&str> = problems
        .iter()
        .map(|problem| problem.split(" `").next().unwrap())
        .collect();
    assert_eq!(
        places,
        [
            "P0704 \"$..nothing\"",
            "P0704 \"[5]\"",
            "P0704 \"x\"",
            "P0704 \"[0]\"",
            "P0704 \"[0]\"",
            "P0703 \"$\" the whole document cannot be set",
        ]
    );
}

#[test]
fn a_wrong_query_is_refused_at_its_place() {
    let (_, problems) = applied(
        &[set("$.taskRoles[?].x=1"), set("$..[=1]=2"), set("a b=1")],
        &[],
    );
    assert!(
        problems.iter().all(|problem| problem.starts_with("P0703")),
        "{problems:#?}"
    );
    assert_eq!(
        problems[0],
        "P0703 \"]\" `$.taskRoles[?].x` is not a JSONPath"
    );
}

#[test]
fn secrets_are_neither_set_nor_told() {
    for path in [
        "secrets.token",
        "$['secrets']",
        "$.secrets.*",
        "$..token",
        "$..*",
        "$.*",
    ] {
        let (values, problems) = applied(&[set(&format!("{path}=x"))], &["secrets"]);
        assert_eq!(values, ["{token: \"hunter22\"}"], "{path}");
        assert_eq!(problems.len(), 1);
        assert!(problems[0].starts_with("P0705"), "{problems:?}");
    }
    // A filter cannot ask for the value either.
    let (_, problems) = applied(
        &[set("$.taskRoles[?$.secrets.token=='hunter22'].instances=1")],
        &[],
    );
    assert!(problems[0].starts_with("P0704"), "{problems:?}");
}

#[test]
fn a_flag_without_an_equals_sign_is_refused() {
    let (_, problems) = applied(&[p("batch"), set("=1")], &[]);
    assert_eq!(
        problems,
        [
            "P0701 \"batch\" `-p` has no `=`",
            "P0701 \"=1\" `--set` says nothing before its `=`"
        ]
    );
}

#[test]
fn a_value_that_is_no_yaml_is_refused_at_its_place() {
    let (_, problems) = applied(&[set("parameters.batch=[1, {")], &[]);
    assert!(!problems.is_empty());
    assert!(
        problems.iter().all(|problem| problem.starts_with("P01")),
        "{problems:?}"
    );
}

#[test]
fn many_places_at_once() {
    let sources = Sources::default();
    let text = "items:\n".to_owned() + &"- {name: n}\n".repeat(30_000);
    let document = yaml::load(
        sources.add("job.yaml", text),
        &Limits {
            nodes: 1_000_000,
            ..Limits::default()
        },
    );
    let mut root = document.root.unwrap();
    let mut diagnostics = Diagnostics::default();
    apply(
        &mut root,
        &[set("$.items[*].name=x")],
        &sources,
        &mut diagnostics,
    );
    assert!(diagnostics.is_empty());
    assert_eq!(shown(at(&root, "items/29999/name")), "\"x\"");
    let large = format!("$.items[*].name=[{}1]", "1,".repeat(100));
    apply(&mut root, &[set(&large)], &sources, &mut diagnostics);
    assert!(diagnostics.has_errors());
}

#[test]
fn a_nested_query_does_not_take_forever() {
    for query in [
        "$[?".to_owned() + &"(".repeat(500),
        "$[?".to_owned() + &"(".repeat(7),
        "$".to_owned() + &"[0]".repeat(2000),
    ] {
        let (_, problems) = applied(&[set(&format!("{query}=1"))], &[]);
        assert_eq!(problems.len(), 1, "{query}");
    }
}

proptest::proptest! {
    #[test]
    fn no_flag_makes_it_panic(text in ".{0,40}", path in "[$.a-z\\[\\]'\"*?@=0-9 -]{0,30}") {
        applied(&[p(&text), set(&text), set(&format!("{path}=1")), p(&format!("{path}=x"))], &[]);
    }
}

#[test]
fn a_secret_from_outside_replaces_one_of_the_file() {
    let given = Setting::secret("token", Some("from-outside".to_owned()));
    assert!(!format!("{given:?}").contains("from-outside"));
    let (values, problems) = applied(&[given], &["secrets/token"]);
    assert_eq!(values, ["\"from-outside\""]);
    assert_eq!(problems, [""; 0]);
}

#[test]
fn a_secret_that_the_file_neither_has_nor_uses_is_refused_with_a_suggestion() {
    let (_, problems) = applied(&[Setting::secret("tokne", None)], &[]);
    assert_eq!(problems, ["P0707 \"tokne\" there is no secret `tokne`"]);
}

/// Applies the flags to a text, and gives the secrets that come of it, in the order of their names.
fn secrets_of(text: &str, settings: &[Setting]) -> Vec<(String, String)> {
    let sources = Sources::default();
    let document = yaml::load(sources.add("job.yaml", text), &Limits::default());
    let mut root = document.root.unwrap();
    let mut diagnostics = Diagnostics::default();
    apply(&mut root, settings, &sources, &mut diagnostics);
    assert!(diagnostics.is_empty());
    let secrets = crate::secrets::SecretValues::of_document(&root);
    let mut secrets: Vec<(String, String)> = secrets
        .into_iter()
        .map(|(name, value)| (name.0, value))
        .collect();
    secrets.sort_unstable();
    secrets
}

#[test]
fn a_secret_that_only_tags_name_is_filled() {
    let given = [
        Setting::secret("token", Some("one".to_owned())),
        Setting::secret("registry.password", Some("two".to_owned())),
    ];
    let wanted = [
        ("registry.password".to_owned(), "two".to_owned()),
        ("token".to_owned(), "one".to_owned()),
    ];
    let tags = "commands: [\"<% $secrets.token %>\", \"<% $secrets.registry.password %>\"]";
    // No secrets, none yet, and the mask of an exported job.
    for secrets in ["", "secrets:\n", "secrets: '******'\n"] {
        assert_eq!(secrets_of(&format!("{secrets}{tags}"), &given), wanted);
    }
}
