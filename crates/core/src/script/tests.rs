use std::process::{Command, Output};

use indexmap::IndexMap;

use super::*;
use crate::plan::{Completion, Mount, Resources, Retry, RolePlacement};
use crate::text::SecretName;

fn role(before: Vec<Step>, command: &[&str], after: Vec<Step>) -> Role {
    Role {
        instances: 1,
        image: None,
        resources: Resources {
            cpu: 1,
            memory_mb: 1,
            gpu: 0,
            shm_mb: 0,
            infiniband: false,
        },
        ports: IndexMap::new(),
        env: IndexMap::new(),
        mounts: Vec::new(),
        before,
        command: command.iter().map(|line| Text::from(*line)).collect(),
        after,
        completion: Completion {
            min_failed: Some(1),
            min_succeeded: Some(1),
        },
        retry: Retry { limit: 0 },
        placement: RolePlacement::default(),
        ..Role::default()
    }
}

fn step(name: &str, on: Event, lines: &[&str]) -> Step {
    Step {
        name: name.to_owned(),
        on,
        action: Action::Shell {
            commands: lines.iter().map(|line| Text::from(*line)).collect(),
        },
        on_failure: OnFailure::Fail,
    }
}

fn ignored(step: Step) -> Step {
    Step {
        on_failure: OnFailure::Ignore,
        ..step
    }
}

/// Runs the script in both shells, sees that they agree, and gives status and output.
fn run(role: &Role) -> (Option<i32>, String, String) {
    let in_shell = |program: &str, shell| {
        let options = Options {
            shell,
            nounset: false,
        };
        let Output {
            status,
            stdout,
            stderr,
        } = Command::new(program)
            .arg("-c")
            .arg(render("worker", role, options))
            .env_remove("PINNACE_RUNTIME")
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (status.code(), text(stdout).replace('\n', " "), text(stderr))
    };
    let bash = in_shell("bash", Shell::Bash);
    let sh = in_shell("sh", Shell::Sh);
    assert_eq!((&bash.0, &bash.1), (&sh.0, &sh.1));
    bash
}

#[test]
fn hooks_surround_the_command() {
    let role = role(
        vec![
            step("first", Event::Start, &["echo 111", "echo 222"]),
            step("second", Event::Start, &["echo aaa"]),
        ],
        &["echo command"],
        vec![
            step("second", Event::Success, &["echo bbb"]),
            step("first", Event::Success, &["echo 333", "echo 444"]),
        ],
    );
    let (status, output, _) = run(&role);
    assert_eq!(
        (status, &*output),
        (Some(0), "111 222 aaa command bbb 333 444 ")
    );
}

#[test]
fn after_a_failure_only_failure_and_always_hooks_run() {
    let role = role(
        vec![],
        &["echo before", "false", "echo never"],
        vec![
            step("a", Event::Success, &["echo success"]),
            step("b", Event::Failure, &["echo failure"]),
            step("c", Event::Always, &["echo always"]),
        ],
    );
    let (status, output, _) = run(&role);
    assert_eq!((status, &*output), (Some(1), "before failure always "));
}

#[test]
fn the_status_of_the_command_is_kept() {
    let role = role(
        vec![],
        &["exit 7"],
        vec![step("a", Event::Failure, &["exit 9"])],
    );
    assert_eq!(run(&role).0, Some(7));
}

#[test]
fn a_failing_exit_hook_fails_the_task_and_the_others_still_run() {
    let hooks = |first: Step| {
        vec![
            first,
            step("b", Event::Success, &["echo still success"]),
            step("c", Event::Failure, &["echo no"]),
        ]
    };
    let failing = step("a", Event::Always, &["false", "echo never"]);
    let (status, output, _) = run(&role(vec![], &["true"], hooks(failing.clone())));
    assert_eq!((status, &*output), (Some(1), "still success "));
    let (status, output, _) = run(&role(vec![], &["true"], hooks(ignored(failing))));
    assert_eq!((status, &*output), (Some(0), "still success "));
}

#[test]
fn a_failing_start_hook_stops_the_command_unless_ignored() {
    let exit = || vec![step("x", Event::Failure, &["echo failure"])];
    let start = step("s", Event::Start, &["false", "echo on"]);
    let (status, output, _) = run(&role(vec![start.clone()], &["echo command"], exit()));
    assert_eq!((status, &*output), (Some(1), "failure "));
    let (status, output, _) = run(&role(
        vec![ignored(start)],
        &["echo command", "false"],
        exit(),
    ));
    assert_eq!((status, &*output), (Some(1), "on command failure "));
}

#[test]
fn a_start_hook_that_leaves_early_is_a_failure() {
    let (status, output, errors) = run(&role(
        vec![step("s", Event::Start, &["exit 0"])],
        &["echo command"],
        vec![],
    ));
    assert_eq!((status, &*output), (Some(1), ""));
    assert!(errors.contains("before the command could run"), "{errors}");
}

#[test]
fn what_a_start_hook_exports_and_where_it_goes_is_seen_by_all_that_follows() {
    let (status, output, _) = run(&role(
        vec![step("s", Event::Start, &["export WHERE=here", "cd /"])],
        &["echo $WHERE $PWD"],
        vec![step("x", Event::Always, &["echo $WHERE $PWD"])],
    ));
    assert_eq!((status, &*output), (Some(0), "here / here / "));
}

#[test]
fn the_command_cannot_skip_exit_hooks() {
    for command in [
        "exec echo command",
        "trap 'echo command' EXIT",
        "set +e; echo command; exit 0",
    ] {
        let (status, output, _) = run(&role(
            vec![],
            &[command],
            vec![step("x", Event::Always, &["echo exit"])],
        ));
        assert_eq!((status, &*output), (Some(0), "command exit "), "{command}");
    }
}

#[test]
fn exit_hooks_run_after_a_signal() {
    let (status, output, _) = run(&role(
        vec![],
        &["kill -TERM $$", "sleep 0"],
        vec![step("x", Event::Failure, &["echo exit"])],
    ));
    assert_eq!((status, &*output), (Some(143), "exit "));
}

#[test]
fn constructs_may_be_spread_over_lines_and_hold_here_documents() {
    let lines = [
        "if [ -z ${NOTHING+x} ]; then",
        "cat <<END\n  kept  as is\nEND",
        "else",
        "echo wrong",
        "fi",
    ];
    let (status, output, _) = run(&role(
        vec![step("s", Event::Start, &lines)],
        &lines,
        vec![step("x", Event::Success, &lines)],
    ));
    assert_eq!(status, Some(0));
    assert_eq!(output, "  kept  as is ".repeat(3));
}

#[test]
fn a_failure_inside_a_pipe_counts_in_bash() {
    let role = role(vec![], &["false | cat"], vec![]);
    let status = |shell| {
        let options = Options {
            shell,
            nounset: false,
        };
        let script = render("worker", &role, options);
        Command::new("bash")
            .arg("-c")
            .arg(script)
            .status()
            .unwrap()
            .code()
    };
    assert_eq!((status(Shell::Bash), status(Shell::Sh)), (Some(1), Some(0)));
}

#[test]
fn what_a_shell_cannot_do_is_left_to_the_runner() {
    let ssh = Step {
        action: Action::Ssh {
            between_tasks: true,
            public_keys: vec!["ssh-ed25519 AAAA o'neill".into()],
            barrier: true,
            barrier_timeout_minutes: 30,
        },
        ..step("ssh", Event::Start, &[])
    };
    let (status, output, errors) = run(&role(vec![ssh], &["echo command"], vec![]));
    assert_eq!((status, &*output), (Some(0), "command "));
    assert_eq!(
        errors,
        "pinnace: left to the runner: ssh --between-tasks --barrier=30m --public-key=ssh-ed25519 AAAA o'neill\n"
    );
}

#[test]
fn values_reach_the_shell_as_they_are() {
    let values = [
        "it's",
        "$HOME `id` \\",
        "",
        " a  b ",
        "a\nb",
        "!{x}*?[y]~#;&|<>()",
        "\"",
        "ß…",
    ];
    let mut role = role(vec![], &[], vec![]);
    for (index, value) in values.iter().enumerate() {
        role.env.insert(format!("V{index}"), (*value).into());
        role.command
            .push(format!("printf '%s|' \"$V{index}\"").into());
    }
    let (status, output, _) = run(&role);
    assert_eq!(status, Some(0));
    assert_eq!(output, format!("{}|", values.join("|")).replace('\n', " "));
}

#[test]
fn the_whole_text() {
    let mut clone = Text::from("git clone https://");
    clone.push_secret(SecretName("token".into()));
    clone.push_literal("@host/x");
    let mut role = role(
        vec![ignored(step(
            "install\ntools",
            Event::Start,
            &["npm install x"],
        ))],
        &["true"],
        vec![step("upload", Event::Success, &["cp a b"])],
    );
    role.command.insert(0, clone);
    role.env.insert("GREETING".to_owned(), "it's me".into());
    role.mounts.push(Mount {
        name: "nfs".to_owned(),
        storage: "nfs".into(),
        target: "/mnt/nfs".into(),
    });
    let options = Options {
        shell: Shell::Bash,
        nounset: true,
    };
    assert_eq!(render("worker", &role, options), include_str!("example.sh"));
}
