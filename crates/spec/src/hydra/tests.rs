use super::*;

/// Files by their paths.
struct Memory(Vec<(&'static str, &'static str)>);

impl Files for Memory {
    fn text(&self, path: &str) -> Option<Result<(String, String), String>> {
        let (name, text) = self.0.iter().find(|(name, _)| *name == path)?;
        Some(Ok((format!("{name}.yaml"), (*text).to_owned())))
    }

    fn options(&self, group: &str) -> Vec<String> {
        let names = self
            .0
            .iter()
            .filter_map(|(name, _)| name.strip_prefix(group)?.strip_prefix('/'));
        names.map(str::to_owned).collect()
    }
}

fn tree() -> Memory {
    Memory(vec![
        (
            "experiments/test",
            "defaults:\n- aml: off\n- compute: small\n- extra\nrun: {name: test, tags: [a]}\ncompute: {nodes: 2}\n",
        ),
        (
            "aml/off",
            "# @package _group_\ntenant: T-OFF\nworkspace_name: w-off\n",
        ),
        (
            "aml/on",
            "# @package _group_\ntenant: T-ON\nworkspace_name: w-on\nresource_group: rg\n",
        ),
        ("aml/alias", "# @package _group_\ntenant: ${ids.on}\n"),
        ("aml/twin", "tenant: t-on\n"),
        (
            "compute/small",
            "# @package _group_\nnodes: 1\nname: small\n",
        ),
        (
            "compute/large",
            "# @package _group_\nnodes: 9\nname: large\n",
        ),
        (
            "extra",
            "ids: {on: T-ON}\nrun: {name: extra, extra: true}\n",
        ),
    ])
}

fn composed(words: &[&str]) -> (Vec<String>, Tenant, Vec<String>) {
    let sources = Sources::default();
    let mut out = Diagnostics::default();
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let files = tree();
    let limits = Limits::default();
    let composed = compose(
        "experiments/test",
        &words,
        &files,
        &sources,
        &limits,
        &mut out,
    );
    let composed = composed.unwrap();
    let mut values = Vec::new();
    leaves(&composed.root, "", &sources, &mut values);
    let problems = out.into_vec();
    let problems = problems.iter().map(|found| {
        format!(
            "{} {:?} {}",
            found.code.id,
            sources.slice(found.span),
            found.message
        )
    });
    (values, composed.tenant(&files), problems.collect())
}

fn leaves(node: &Node<'_>, path: &str, sources: &Sources, found: &mut Vec<String>) {
    match &node.value {
        Value::Map(map) => {
            for entry in &map.entries {
                let path = format!("{path}.{}", entry.key.text);
                leaves(&entry.value, &path, sources, found);
            }
        }
        Value::List(_) => found.push(format!("{path} list {}", sources.place(node.span))),
        Value::Scalar(scalar) => {
            let path = path.trim_start_matches('.');
            found.push(format!(
                "{path}={} {}",
                scalar.text,
                sources.place(node.span)
            ));
        }
    }
}

#[test]
fn the_main_file_comes_after_its_defaults_and_every_value_knows_its_place() {
    let (values, tenant, problems) = composed(&[]);
    assert_eq!(problems, [""; 0]);
    assert_eq!(
        values,
        [
            "aml.tenant=T-OFF aml/off.yaml:2",
            "aml.workspace_name=w-off aml/off.yaml:3",
            "compute.nodes=2 experiments/test.yaml:6",
            "compute.name=small compute/small.yaml:3",
            "ids.on=T-ON extra.yaml:1",
            "run.name=test experiments/test.yaml:5",
            "run.extra=true extra.yaml:2",
            ".run.tags list experiments/test.yaml:5",
        ]
    );
    assert_eq!(tenant.id.as_deref(), Some("T-OFF"));
    assert_eq!(tenant.names, ["off"]);
}

#[test]
fn words_choose_options_and_set_values() {
    let (values, tenant, problems) = composed(&[
        "aml=on",
        "compute=large",
        "compute.nodes=4",
        "run.submit=True",
        "~run.tags",
        "+new.list=[1, 2]",
        "run.name=",
    ]);
    assert_eq!(problems, [""; 0]);
    assert_eq!(
        values,
        [
            "aml.tenant=T-ON aml/on.yaml:2",
            "aml.workspace_name=w-on aml/on.yaml:3",
            "aml.resource_group=rg aml/on.yaml:4",
            "compute.nodes=4 --config:1",
            "compute.name=large compute/large.yaml:3",
            "ids.on=T-ON extra.yaml:1",
            "run.name= --config:1",
            "run.extra=true extra.yaml:2",
            "run.submit=True --config:1",
            ".new.list list --config:1",
        ]
    );
    // All workspace configurations of a tenant are names of it.
    assert_eq!(tenant.names, ["on", "twin"]);
    assert_eq!(
        composed(&["aml.tenant=T-on"]).1.names,
        ["off", "on", "twin"]
    );
}

#[test]
fn references_are_followed() {
    assert_eq!(composed(&["aml=alias"]).1.id.as_deref(), Some("T-ON"));
    assert_eq!(composed(&["aml.tenant=${aml.tenant}"]).1.id, None);
    assert_eq!(composed(&["aml.tenant='???'"]).1.id, None);
}

#[test]
fn a_tenant_is_known_by_an_id_a_name_or_a_workspace() {
    let files = tree();
    let called = |word| tenant_called(word, &files);
    assert_eq!(called("on").id.as_deref(), Some("T-ON"));
    assert_eq!(called("t-on").names, ["t-on", "on", "twin"]);
    assert_eq!(called("other").names, ["other"]);
    let sources = Sources::default();
    let workspace = |text: &str| {
        let document = yaml::load(sources.add("config.json", text), &Limits::default());
        tenant_of_workspace(&document.root.unwrap(), Some(&files))
    };
    let found =
        workspace(r#"{"workspace_name": "w-on", "resource_group": "RG", "subscription_id": "s"}"#);
    assert_eq!(
        (found.id.as_deref(), found.names),
        (Some("T-ON"), vec!["w-on".to_owned(), "on".to_owned()])
    );
    let found = workspace(r#"{"workspace_name": "w-on", "resource_group": "another"}"#);
    assert_eq!((found.id, found.names), (None, vec!["w-on".to_owned()]));
}

#[test]
fn what_is_wrong_is_told_where_it_is() {
    let problems = composed(&[
        "aml=onn",
        "+compute@backup=large",
        "db=x",
        "modules",
        "~nothing.here",
        "=x",
        "run.name.x=1",
        "a b=1",
        "x=[1",
    ])
    .2;
    assert_eq!(
        problems,
        [
            "P1093 \"onn\" there is no configuration `aml/onn`",
            "P1092 \"modules\" `modules` changes no configuration",
            "P1092 \"nothing.here\" there is no `nothing.here` to take away",
            "P1092 \"=x\" `=x` changes no configuration",
            "P1092 \"run.name.x\" `run.name.x` cannot be set",
            "P1092 \"a b=1\" `a b` names no value of a configuration",
            "P1092 \"[1\" `[1` cannot be read",
        ]
    );
    assert_eq!(
        composed(&["compute@backup=large"]).2,
        ["P1092 \"compute@backup\" the `defaults` have no group `compute`"]
    );
}

#[test]
fn other_forms_of_defaults() {
    let files = Memory(vec![
        (
            "main",
            "defaults:\n- _self_\n- db@backup: one\n- db: one\n- db: null\n- {db@x.y: two, optional: true}\n- hydra/launcher: slurm\n- [1]\n- {a: 1, b: 2}\nvalue: main\n",
        ),
        ("db/one", "# @package _group_\nport: 1\n"),
        ("db/two", "defaults: [x]\nport: 2\n"),
        ("list", "- a\n"),
    ]);
    let sources = Sources::default();
    let mut out = Diagnostics::default();
    let limits = Limits::default();
    let composed = compose(
        "main",
        &["+db@z=one".to_owned()],
        &files,
        &sources,
        &limits,
        &mut out,
    )
    .unwrap();
    for (path, wanted) in [
        ("backup.port", "1"),
        ("db.port", "1"),
        ("x.y.port", "2"),
        ("z.port", "1"),
        ("value", "main"),
    ] {
        assert_eq!(composed.text(path).as_deref(), Some(wanted), "{path}");
    }
    assert_eq!(out.into_vec().len(), 3);
    let mut out = Diagnostics::default();
    assert!(compose("list", &[], &files, &sources, &limits, &mut out).is_none());
    assert!(out.has_errors());
}
