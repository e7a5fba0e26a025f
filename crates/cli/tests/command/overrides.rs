//! Tenant overrides with the real program: the same files for every tenant, and no file is written to.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::environment::{HELLO, TestEnv};

const MCR: &str = "mcr.microsoft.com/azureml/openmpi3.1.2-cuda10.1-cudnn7-ubuntu18.04";
const DEV: &str =
    "polymerdev.azurecr.io/polymercd/dev_official/azureml_base_gpu_openmpi312cuda101cudnn7";
const PROD: &str =
    "polymerprod.azurecr.io/polymercd/prod_official/azureml_base_gpu_openmpi312cuda101cudnn7";
const SPEC: &str = "components/canary-gpu/spec.yaml";
const MAIN: &str = "pipelines/config/experiments/test.yaml";

/// The fixture in a folder of its own.
fn fixture() -> TestEnv {
    let env = TestEnv::new();
    copy(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/overrides"),
        Path::new(""),
        &env,
    );
    env
}

fn copy(from: &Path, name: &Path, env: &TestEnv) {
    for entry in std::fs::read_dir(from.join(name)).unwrap().flatten() {
        let name = name.join(entry.file_name());
        if entry.path().is_dir() {
            copy(from, &name, env);
        } else {
            let text = std::fs::read_to_string(entry.path()).unwrap();
            env.write(name.to_str().unwrap(), text);
        }
    }
}

/// Every file below a folder with its bytes and the time of its last change.
fn state(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let modified = entry.metadata().unwrap().modified().unwrap();
                found.insert(path.clone(), (std::fs::read(&path).unwrap(), modified));
            }
        }
    }
    found
}

/// The image of the plan, and what the overrides did.
fn explained(env: &TestEnv, arguments: &[&str]) -> (String, serde_json::Value) {
    let mut all = vec!["explain", SPEC, "--format", "json"];
    all.extend(arguments);
    let run = env.run(&all).expect(0);
    let shown: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let image = shown["plan"]["roles"]["main"]["image"].clone();
    (image.to_string(), shown["overrides"].clone())
}

#[test]
fn each_tenant_gets_its_image_and_tags_and_no_file_is_touched() {
    let env = fixture();
    let before = state(env.path());
    for (aml, image, tags) in [
        ("eyesoff", PROD, "eyesoff"),
        ("eyeson", MCR, "eyeson"),
        ("dev", DEV, "dev"),
        ("personal", DEV, "eyesoff"),
    ] {
        let word = format!("aml={aml}");
        let (found, changes) = explained(&env, &["--config", MAIN, &word]);
        assert!(found.contains(image), "{aml}: {found}");
        let changes = changes.as_array().unwrap().clone();
        let tag = changes.iter().find(|change| change["path"] == "tags");
        let tag = tag.map_or("eyesoff", |change| change["now"].as_str().unwrap());
        assert_eq!(tag, tags, "{aml}");
        assert_eq!(
            changes.len(),
            usize::from(image != PROD) + usize::from(tags != "eyesoff")
        );
        // The spelling of the original command line means the same.
        let dir = [
            "--config-dir",
            "pipelines/config",
            "--config-name",
            "experiments/test",
            &word,
        ];
        assert_eq!(explained(&env, &dir).0, found);
        let diff = env
            .run(&["override", "apply", SPEC, "--config", MAIN, &word])
            .expect(0)
            .stdout;
        assert!(!diff.contains("index-url"), "{diff}");
        assert_eq!(
            diff.contains(&format!("+    image: {image}")),
            image != PROD
        );
    }
    // By the default of the configuration, by id, by name, by the workspace.
    assert!(explained(&env, &["--config", MAIN]).0.contains(PROD));
    for tenant in ["72F988BF-86f1-41af-91ab-2d7cd011db47", "eyeson"] {
        let (image, _) = explained(&env, &["--config", MAIN, "--tenant", tenant]);
        assert!(image.contains(MCR));
    }
    env.write("w.json", r#"{"subscription_id": "48bbc269-ce89-4f6f-9a12-c6f91fcb772d", "resource_group": "aml1p-rg", "workspace_name": "aml1p-ml-eyeson"}"#);
    let (image, _) = explained(&env, &["--config", MAIN, "--workspace", "w.json"]);
    assert!(image.contains(MCR));
    std::fs::remove_file(env.path().join("w.json")).unwrap();
    assert_eq!(state(env.path()), before);
}

#[test]
fn explain_tells_of_each_change_and_the_origin_of_the_value() {
    let env = fixture();
    let run = env
        .run(&[
            "explain",
            SPEC,
            "--config",
            MAIN,
            "aml=eyeson",
            "roles.main.image",
        ])
        .expect(0);
    let rule =
        "tenant_overrides[\"72f988bf-86f1-41af-91ab-2d7cd011db47\"].environment.docker.image";
    assert!(run.stdout.contains(&format!("← {rule}")), "{}", run.stdout);
    assert!(run.stdout.contains("instead of environment.docker.image"));
    assert!(run.stdout.contains("test.yaml:20") && run.stdout.contains("spec.yaml:16"));
    let page = env
        .run(&["explain", SPEC, "--config", MAIN, "aml=eyeson"])
        .expect(0)
        .stdout;
    let words: Vec<&str> = page.split_whitespace().collect();
    let wanted = format!(
        "environment.docker.image: {MCR} ← {rule} (test.yaml:20), was {PROD} (spec.yaml:16)"
    );
    assert!(words.join(" ").contains(&wanted), "{page}");
}

#[test]
fn the_same_section_switches_the_images_of_another_dialect() {
    let env = TestEnv::new();
    env.write("job.yaml", HELLO);
    env.write(
        "tenants.yaml",
        "tenant_overrides:\n  dev:\n    $.prerequisites[?@.type == 'dockerimage'].uri:\n      '(.+)': 'dev.example/$1'\n",
    );
    let run = env
        .run(&[
            "explain",
            "job.yaml",
            "--overrides",
            "tenants.yaml",
            "--tenant",
            "dev",
            "--set",
            "name=last",
        ])
        .expect(0);
    assert!(run.stdout.contains("dev.example/"), "{}", run.stdout);
    assert!(
        run.stdout.contains("override tenants.yaml:4"),
        "{}",
        run.stdout
    );
    let check = env
        .run(&[
            "check",
            "job.yaml",
            "--overrides",
            "tenants.yaml",
            "--tenant",
            "dev",
            "--show-diff",
        ])
        .expect(0);
    assert!(check.stdout.contains("\n+"), "{}", check.stdout);
}

#[test]
fn a_rule_is_unused_only_if_no_file_uses_it() {
    let env = TestEnv::new();
    env.write("a.yaml", HELLO);
    env.write("b.yaml", HELLO.replace("name: hello", "name: other"));
    env.write(
        "tenants.yaml",
        "tenant_overrides: {dev: {name: {other: third, nobody: x}}}\n",
    );
    let flags = ["--overrides", "tenants.yaml", "--tenant", "dev"];
    let mut both = vec!["check", "a.yaml", "b.yaml"];
    both.extend(flags);
    let run = env.run(&both).expect(0);
    assert_eq!(
        run.stdout.matches("warning[P1085]").count(),
        1,
        "{}",
        run.stdout
    );
    both.extend(["--allow", "P1085"]);
    assert_eq!(env.run(&both).expect(0).stdout, "");
    let mut one = vec!["check", "a.yaml", "--deny", "unused-entry"];
    one.extend(flags);
    let run = env.run(&one).expect(1);
    assert_eq!(
        run.stdout.matches("error[P1085]").count(),
        2,
        "{}",
        run.stdout
    );
}

#[test]
fn a_copy_is_written_on_request_and_never_over_the_source() {
    let env = fixture();
    let before = state(env.path());
    let apply = |more: &[&str]| {
        let mut all = vec!["override", "apply", SPEC, "--config", MAIN, "aml=eyeson"];
        all.extend(more);
        env.run(&all)
    };
    apply(&["--write", "out"]).expect(0);
    let written = std::fs::read_to_string(env.path().join("out/spec.yaml")).unwrap();
    let original = std::fs::read_to_string(env.path().join(SPEC)).unwrap();
    assert_eq!(
        written,
        original
            .replace(PROD, MCR)
            .replace("tags: eyesoff", "tags: eyeson")
    );
    apply(&["--write", "out"]).expect(2);
    apply(&["--write", "out", "--force"]).expect(0);
    let refused = apply(&["--write", "components/canary-gpu", "--force"]).expect(2);
    assert!(
        refused.stderr.contains("is the file itself"),
        "{}",
        refused.stderr
    );
    std::fs::remove_dir_all(env.path().join("out")).unwrap();
    assert_eq!(state(env.path()), before);
}

#[test]
fn what_is_wrong_with_the_flags_is_told() {
    let env = fixture();
    for (arguments, said) in [
        (
            vec!["--tenant", "x"],
            "needs `--overrides FILE` or `--config FILE`",
        ),
        (vec!["aml=eyeson"], "`--config FILE` names one"),
        (
            vec!["--overrides", "nothing.yaml", "--tenant", "x"],
            "no such file",
        ),
        (
            vec![
                "--config-dir",
                "pipelines/config",
                "--config-name",
                "nothing",
            ],
            "there is no configuration `nothing`",
        ),
    ] {
        let mut all = vec!["check", SPEC];
        all.extend(arguments);
        let run = env.run(&all).expect(2);
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
    let json = env
        .run(&[
            "check",
            SPEC,
            "--config",
            MAIN,
            "aml=eyesn",
            "--format",
            "json",
        ])
        .expect(1);
    assert!(json.stdout.contains("P1093"), "{}", json.stdout);
    env.run(&["run", SPEC, "--config", MAIN, "aml=eyesn"])
        .expect(2);
}

#[test]
fn a_diff_shows_no_secret() {
    let env = TestEnv::new();
    let job = HELLO.replace(
        "name: hello",
        "name: hello\nsecrets: {token: not-a-real-token}",
    );
    env.write("job.yaml", job);
    env.write(
        "t.yaml",
        "tenant_overrides: {dev: {name: {hello: other}, $..token: {'(.+)': 'x$1'}}}\n",
    );
    let run = env.run(&[
        "override",
        "apply",
        "job.yaml",
        "--overrides",
        "t.yaml",
        "--tenant",
        "dev",
    ]);
    let run = run.expect(0);
    assert!(run.stdout.contains("+name: other"), "{}", run.stdout);
    assert!(!(run.stdout.clone() + &run.stderr).contains("not-a-real-token"));
}

const FEED: &str = "--index-url https://example.org/_packaging/PolymerPythonPackages/pypi/simple/";

/// A component whose code, includes and packages stand in other places than its spec.
fn scattered() -> TestEnv {
    let env = TestEnv::new();
    env.write(
        "project/specs/train/spec.yaml",
        "name: train\nversion: 1\ntype: CommandComponent\ncode: ../../src\ncommand: python train.py\n\
         environment:\n  docker: {image: old}\n  conda: {conda_dependencies_file: env/conda.yaml}\n",
    );
    env.write(
        "project/specs/train/spec.additional_includes",
        "../../shared\n",
    );
    env.write("project/src/train.py", "print(1)\n");
    env.write("project/src/.amlignore", "*.log\n");
    env.write("project/src/run.log", "old\n");
    env.write(
        "project/src/env/conda.yaml",
        format!("dependencies:  # all\n  - python=3.8\n  - pip:\n    - {FEED}\n    - numpy  # for sums\n"),
    );
    env.write("project/shared/lib.py", "x = 1\n");
    env.write(
        "tenants.yaml",
        "tenant_overrides:\n  dev:\n    remove_polymer_pkg_idx: true\n    environment.docker.image: {old: new}\n",
    );
    env
}

#[test]
fn a_whole_component_is_written_on_request() {
    let env = scattered();
    let before = state(env.path());
    let arguments = [
        "override",
        "apply",
        "project/specs/train/spec.yaml",
        "--overrides",
        "tenants.yaml",
        "--tenant",
        "dev",
        "--write",
        "project/src/out",
    ];
    let run = env.run(&arguments).expect(0);
    assert!(
        run.stderr.contains("and 5 files of the component"),
        "{}",
        run.stderr
    );
    let out = env.path().join("project/src/out");
    let files: Vec<String> = state(&out)
        .keys()
        .map(|path| {
            path.strip_prefix(&out)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    let expected = [
        "shared/lib.py",
        "specs/train/spec.additional_includes",
        "specs/train/spec.yaml",
        "src/.amlignore",
        "src/env/conda.yaml",
        "src/train.py",
    ];
    assert_eq!(files, expected);
    let conda = std::fs::read_to_string(out.join("src/env/conda.yaml")).unwrap();
    assert_eq!(
        conda,
        "dependencies:  # all\n  - python=3.8\n  - pip:\n    - numpy  # for sums\n"
    );
    let spec = out.join("specs/train/spec.yaml");
    env.run(&["check", spec.to_str().unwrap()]).expect(0);
    std::fs::remove_dir_all(out).unwrap();
    assert_eq!(state(env.path()), before);
}

#[test]
fn a_task_finds_its_file_of_packages_without_the_feeds() {
    let env = scattered();
    let arguments = [
        "explain",
        "project/specs/train/spec.yaml",
        "--overrides",
        "tenants.yaml",
        "--tenant",
        "dev",
        "--install-packages",
        "--format",
        "json",
    ];
    let run = env.run(&arguments).expect(0);
    let shown: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let main = &shown["plan"]["roles"]["main"];
    let path = "/mnt/scripts/env/conda.yaml";
    let file = main["files"][path].as_str().unwrap();
    assert!(
        file.contains("numpy") && !file.contains("index-url"),
        "{file}"
    );
    assert_eq!(main["python"]["requirements"], serde_json::json!(["numpy"]));
    let origin = &shown["origins"][format!("roles.main.files.{path}")];
    assert_eq!(origin["kind"], "override", "{origin}");
}

#[test]
fn the_last_pattern_counts_with_the_manners_of_shrike() {
    let env = TestEnv::new();
    env.write("job.yaml", HELLO);
    env.write(
        "t.yaml",
        "tenant_overrides: {dev: {name: {'(h.*)': 'first-$1', '(he.*)': 'last-$1'}}}\n",
    );
    let apply = |more: &[&str]| {
        let mut all = vec![
            "override",
            "apply",
            "job.yaml",
            "--overrides",
            "t.yaml",
            "--tenant",
            "dev",
        ];
        all.extend(more);
        env.run(&all).expect(0).stdout
    };
    assert!(apply(&[]).contains("+name: first-hello"));
    assert!(apply(&["--compat", "shrike"]).contains("+name: last-hello"));
    let explain = [
        "explain",
        "job.yaml",
        "--overrides",
        "t.yaml",
        "--tenant",
        "dev",
        "--compat",
        "shrike",
    ];
    let run = env.run(&explain).expect(0);
    assert!(run.stdout.contains("last-hello"), "{}", run.stdout);
}
