use std::process::Command;

use crate::environment::{HELLO, TestEnv, assert_snapshot, finish, fixture};

#[test]
fn the_long_example_of_the_proposal() {
    let env = TestEnv::new();
    env.write("job.yaml", fixture("prerequisites-proposal.yaml"));
    let run = env.run(&["explain", "job.yaml"]).expect(0);
    assert_snapshot("explain-proposal", &run.transcript());
    let at = |text: &str| run.stdout.find(text).unwrap_or_else(|| panic!("no {text}"));
    assert!(
        at("nfsconfig at /mnt/nfs-storage-1") < at("export MNIST_DIR=/mnt/nfs-storage-1/mnist")
    );
    assert!(at("npm install") < at("export OUTPUT_DIR"));
    assert_eq!(run.stdout.matches("npm install").count(), 1);
}

#[test]
fn the_example_of_the_protocol() {
    let env = TestEnv::with_fixture("distributed-tensorflow.yaml");
    let run = env
        .run(&["explain", "distributed-tensorflow.yaml"])
        .expect(0);
    assert_snapshot("explain-distributed-tensorflow", &run.transcript());
    assert!(!run.stdout.contains("<%"), "{}", run.stdout);
}

#[test]
fn a_narrow_page_loses_nothing() {
    let env = TestEnv::with_fixture("distributed-tensorflow.yaml");
    let words = |columns: &str| {
        let mut command = env.command();
        command
            .args(["explain", "distributed-tensorflow.yaml"])
            .env("COLUMNS", columns);
        let run = finish(&mut command, b"").expect(0);
        let mut words: Vec<String> = run.stdout.split_whitespace().map(str::to_owned).collect();
        words.sort();
        words
    };
    assert_eq!(words("60"), words("160"));
}

#[test]
fn the_plan_as_json() {
    let env = TestEnv::new();
    env.write("job.yaml", HELLO);
    let run = env
        .run(&["explain", "job.yaml", "--format", "json"])
        .expect(0);
    let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(document["format"], "pinnace.plan/1");
    assert!(document["digest"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(
        document["plan"]["roles"]["worker"]["command"][0],
        "echo hello"
    );
    assert_eq!(
        document["origins"]["roles.worker.command[0]"]["place"]["line"],
        11
    );
    assert!(document["fidelity"].as_array().unwrap().len() > 5);
}

#[test]
fn the_chain_of_one_value() {
    let env = TestEnv::new();
    env.write("job.yaml", fixture("distributed-tensorflow.yaml"));
    let explain = |arguments: &[&str]| {
        let mut all = vec!["explain", "job.yaml"];
        all.extend(arguments);
        env.run(&all)
    };
    let run = explain(&["roles.worker.command[3]", "-p", "batchsize=28"]).expect(0);
    assert_snapshot("explain-chain", &run.transcript());
    let run = explain(&["parameters.batchsize", "-p", "batchsize=28"]).expect(0);
    assert_snapshot("explain-chain-of-parameter", &run.transcript());
    let run = explain(&["roles.worker.resources"]).expect(0);
    assert_eq!(run.stdout.matches('←').count(), 5, "{}", run.stdout);
    let run = explain(&["taskRoles.worker.instances"]).expect(0);
    assert!(
        run.stdout.starts_with("roles.worker.instances\n  1\n"),
        "{}",
        run.stdout
    );
    let run = explain(&["taskRoles.worker.instances", "--format", "json"]).expect(0);
    let chains: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(chains[0]["path"], "roles.worker.instances");
    assert_eq!(
        (&chains[0]["value"], &chains[0]["origin"]["kind"]),
        (&1.into(), &"written".into())
    );
    let run = explain(&["roles.worker.resource"]).expect(2);
    assert_eq!(
        run.stderr,
        "error: there is no `roles.worker.resource` in the plan; did you mean `roles.worker.resources`?\n"
    );
    let run = explain(&["secrets.github_token"]).expect(0);
    assert!(!run.stdout.contains("cGFzc3dvcmQ="), "{}", run.stdout);
}

/// The lines that a script writes in a shell.
fn output_of(script: &str, shell: &str) -> Vec<String> {
    let run = finish(
        Command::new(shell)
            .arg("-c")
            .arg(script)
            .env_remove("PINNACE_RUNTIME"),
        b"",
    );
    assert_eq!(run.code, Some(0), "{}", run.transcript());
    run.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn the_script_runs_in_real_shells() {
    let cases = [
        ("prerequisites-cmd.yaml", vec!["111", "222", "333", "444"]),
        (
            "prerequisites-multiple.yaml",
            vec!["111", "aaa", "bbb", "222"],
        ),
    ];
    for (name, wanted) in cases {
        let env = TestEnv::with_fixture(name);
        for shell in ["bash", "sh"] {
            let run = env
                .run(&["explain", name, "--script", "taskrole", "--shell", shell])
                .expect(0);
            assert_eq!(output_of(&run.stdout, shell), wanted, "{name} in {shell}");
        }
    }
}

#[test]
fn the_script_of_a_role_that_is_not_there() {
    let env = TestEnv::new();
    env.write("job.yaml", HELLO);
    let run = env
        .run(&["explain", "job.yaml", "--script", "workr"])
        .expect(2);
    assert_eq!(
        run.stderr,
        "error: there is no role `workr`; did you mean `worker`?\n"
    );
}

#[test]
fn a_file_with_errors_has_no_plan() {
    let env = TestEnv::with_fixture("prerequisites-wrong.yaml");
    let run = env.run(&["explain", "prerequisites-wrong.yaml"]).expect(1);
    assert_eq!(run.stdout, "");
    assert!(
        run.stderr.contains("did you mean `justecho`?"),
        "{}",
        run.stderr
    );
}

#[test]
fn losses_are_errors_when_none_is_accepted() {
    let env = TestEnv::new();
    env.write("job.yaml", HELLO);
    let run = env.run(&["explain", "--strict", "job.yaml"]).expect(1);
    assert!(
        run.stderr.contains("prerequisites[0].uri"),
        "{}",
        run.stderr
    );
}

#[test]
fn the_page_of_a_code() {
    let env = TestEnv::new();
    for word in ["P0201", "p0201", "unknown-key"] {
        let run = env.run(&["explain", word]).expect(0);
        assert!(run.stdout.contains("P0201"), "{}", run.stdout);
    }
    let run = env.run(&["explain", "P0200"]).expect(2);
    assert!(
        run.stderr.contains("there is no code `P0200`"),
        "{}",
        run.stderr
    );
}

#[test]
fn nothing_in_a_file_can_command_the_terminal() {
    let env = TestEnv::new();
    let job = HELLO
        .replace("echo hello", "\"echo \\e[31m\\x9b\\u202e\"")
        .replace("type: job", "type: job\ndescription: \"\\e]0;x\\a\"");
    env.write("job.yaml", job);
    let run = env.run(&["explain", "job.yaml"]).expect(0);
    let quiet = |char: char| char == '\n' || !char.is_control() && char != '\u{202e}';
    assert!(run.stdout.chars().all(quiet), "{:?}", run.stdout);
}
