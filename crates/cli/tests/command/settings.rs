use crate::environment::{HELLO, TestEnv, assert_snapshot};

fn job() -> String {
    HELLO
        .replace("taskRoles:", "parameters: {batch: 32, name: a}\ntaskRoles:")
        .replace(
            "echo hello",
            "echo <% $parameters.batch %> <% $parameters.name %>",
        )
}

#[test]
fn a_flag_shows_as_the_origin() {
    let env = TestEnv::new();
    env.write("job.yaml", job());
    let run = env
        .run(&[
            "explain",
            "job.yaml",
            "-p",
            "batch=28",
            "--set",
            "taskRoles.worker.instances=4",
        ])
        .expect(0);
    let row = |text: &str| {
        let line = run.stdout.lines().find(|line| line.contains(text));
        line.unwrap_or_else(|| panic!("no {text} in\n{}", run.stdout))
            .to_owned()
    };
    assert!(
        row("echo 28 a").ends_with("job.yaml:12 ← -p batch=28"),
        "{}",
        row("echo 28 a")
    );
    assert!(row("Role worker, 4 tasks").ends_with("--set taskRoles.worker.instances=4"));
}

#[test]
fn a_wrong_flag_is_shown_with_a_caret() {
    let env = TestEnv::new();
    env.write("job.yaml", job());
    let flags = [
        "-p",
        "batch=many",
        "-p",
        "nmae=b",
        "-p",
        "name",
        "--set",
        "taskRoles.worker.instances=no",
        "--set",
        "$..[=1",
        "--set",
        "$.a[?@.x].y=1",
        "--set",
        "secrets.token=x",
        "--set",
        "taskRoles.worker.instancez=3",
    ];
    let mut arguments = vec!["check", "job.yaml"];
    arguments.extend(flags);
    let run = env.run(&arguments).expect(1);
    assert_snapshot("settings-wrong", &run.transcript());
}

#[test]
fn a_missing_part_of_the_file_can_be_added() {
    let env = TestEnv::new();
    env.write("job.yaml", job());
    let set = "taskRoles.worker.completion.minFailedInstances=-1";
    let run = env
        .run(&[
            "explain",
            "job.yaml",
            "--set",
            set,
            "roles.worker.completion",
        ])
        .expect(0);
    assert!(
        run.stdout.contains("--set taskRoles.worker.completion"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_file_is_never_written_to() {
    let env = TestEnv::new();
    env.write("job.yaml", job());
    env.run(&[
        "explain",
        "job.yaml",
        "-p",
        "batch=1",
        "--set",
        "name=other",
    ])
    .expect(0);
    assert_eq!(
        std::fs::read_to_string(env.path().join("job.yaml")).unwrap(),
        job()
    );
}
