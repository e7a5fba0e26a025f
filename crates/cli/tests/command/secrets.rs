//! The value of a secret is in no output of any command, in any format.

use crate::environment::{TestEnv, fixture};

const PASSWORD: &str = "Zq7-docker-password-Zq7";
const TOKEN: &str = "Xk9-github-token-Xk9";

fn assert_hidden(env: &TestEnv, file: &str) {
    let commands: &[&[&str]] = &[
        &["check"],
        &["check", "--format", "json"],
        &["check", "--format", "sarif"],
        &["check", "--strict"],
        &["check", "--strict", "--format", "json"],
        &["check", "--deny", "warnings", "--color", "always"],
        &["explain"],
        &["explain", "--all"],
        &["explain", "--color", "always"],
        &["explain", "--format", "json"],
        &["explain", "--script", "worker"],
        &["explain", "-p", "model=Xk9-github-token-Xk9"],
        &[
            "explain",
            "--format",
            "json",
            "-p",
            "model=Xk9-github-token-Xk9",
        ],
        &["check", "-p", "modle=Xk9-github-token-Xk9"],
        &[
            "check",
            "--set",
            "secrets.github_token=Xk9-github-token-Xk9",
        ],
        &[
            "check",
            "--set",
            "taskRoles.worker.instances=Xk9-github-token-Xk9",
        ],
    ];
    for command in commands {
        let mut arguments = vec![command[0], file];
        arguments.extend(&command[1..]);
        let run = env.run(&arguments);
        let all = run.transcript();
        for value in [PASSWORD, TOKEN] {
            assert!(!all.contains(value), "{arguments:?} shows {value}:\n{all}");
        }
    }
    for path in [
        "secrets",
        "roles",
        "secrets.github_token",
        "roles.worker.image",
        "parameters.model",
    ] {
        let all = env.run(&["explain", file, path]).transcript();
        assert!(
            !all.contains(PASSWORD) && !all.contains(TOKEN),
            "{path}:\n{all}"
        );
    }
}

fn job() -> String {
    fixture("distributed-tensorflow.yaml")
        .replace(
            "docker_password: password",
            &format!("docker_password: {PASSWORD}"),
        )
        .replace(
            "github_token: cGFzc3dvcmQ=",
            &format!("github_token: {TOKEN}"),
        )
}

#[test]
fn of_a_good_job() {
    let env = TestEnv::new();
    env.write("job.yaml", job());
    env.run(&["check", "job.yaml"]).expect(0);
    assert_hidden(&env, "job.yaml");
}

#[test]
fn of_a_job_that_writes_one_in_clear() {
    let env = TestEnv::new();
    let job = job()
        .replace(
            "--model=<% $parameters.model %>",
            &format!("--token={TOKEN}"),
        )
        .replace(
            "description: cifar10 dataset,",
            &format!("description: {PASSWORD}"),
        );
    env.write("job.yaml", job);
    assert_hidden(&env, "job.yaml");
}

#[test]
fn of_jobs_with_mistakes() {
    let mistakes = [
        ("jobRetryCount: 1", "jobRetryCount: many"),
        ("secrets:\n", "secrets:\n  again: &a [1, 2\n"),
        ("  github_token:", "  github_token: one\n  github_token:"),
        ("defaults:", "secrets: {}\ndefaults:"),
        (
            "<% $secrets.docker_password %>",
            "<% $secrets.docker_passwort %>",
        ),
        ("secrets:\n", "secrets:\n\t"),
    ];
    for (right, wrong) in mistakes {
        let env = TestEnv::new();
        env.write("job.yaml", job().replacen(right, wrong, 1));
        assert_hidden(&env, "job.yaml");
    }
}
