use crate::environment::{TestEnv, assert_snapshot};

#[test]
fn the_help_of_every_command() {
    let env = TestEnv::new();
    for command in [
        "",
        "check",
        "explain",
        "run",
        "ps",
        "show",
        "logs",
        "wait",
        "stop",
        "retry",
        "shell",
        "rm",
        "prune",
        "metrics",
        "data",
        "module",
        "engines",
        "convert",
        "schema",
        "completions",
        "man",
    ] {
        let arguments: Vec<&str> = [command, "--help"]
            .into_iter()
            .filter(|word| !word.is_empty())
            .collect();
        let run = env.run(&arguments).expect(0);
        let name = if command.is_empty() {
            "pinnace"
        } else {
            command
        };
        assert_snapshot(&format!("help-{name}"), &run.stdout);
    }
}

#[test]
fn the_version_names_the_commit() {
    let run = TestEnv::new().run(&["--version"]).expect(0);
    let version = concat!("pinnace ", env!("CARGO_PKG_VERSION"));
    assert!(run.stdout.starts_with(version), "{}", run.stdout);
}

#[test]
fn the_schema_is_json() {
    let run = TestEnv::new().run(&["schema", "openpai"]).expect(0);
    let schema: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(schema["properties"]["taskRoles"].is_object(), "{schema}");
}

#[test]
fn completions_for_every_shell() {
    let env = TestEnv::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = env.run(&["completions", shell]).expect(0);
        assert!(run.stdout.contains("explain"), "{shell}");
    }
}

#[test]
fn man_pages_for_every_command() {
    let env = TestEnv::new();
    env.run(&["man", "pages"]).expect(0);
    for page in ["pinnace.1", "pinnace-check.1", "pinnace-explain.1"] {
        let text = std::fs::read_to_string(env.path().join("pages").join(page)).unwrap();
        assert!(text.contains(".SH NAME"), "{page}");
    }
}

#[test]
fn wrong_use_is_told_with_the_likely_word() {
    let run = TestEnv::new().run(&["chekc", "job.yaml"]).expect(2);
    assert!(run.stderr.contains("check"), "{}", run.stderr);
    let run = TestEnv::new()
        .run(&["check", "--formt", "json", "job.yaml"])
        .expect(2);
    assert!(run.stderr.contains("--format"), "{}", run.stderr);
}
