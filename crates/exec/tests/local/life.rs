//! From the start of a task to its report.

use std::time::Duration;

use pinnace_core::plan::Event as When;
use pinnace_exec::local;
use pinnace_exec::log::Stream;
use pinnace_exec::{Level, PhaseName};

use crate::support::{Run, hook, ignored, role};

const LEVELS: [Level; 3] = [Level::Plain, Level::ReadOnly, Level::Overlay];

#[test]
fn a_command_runs_and_its_output_is_kept() {
    for level in LEVELS {
        let mut run = Run::of(role(&["echo out", "echo err >&2", "pwd"])).level(level);
        let report = run.run_to_end();
        assert_eq!(
            report.exit_code,
            0,
            "{report:#?} {}",
            run.log(Stream::Stderr)
        );
        assert!(report.succeeded());
        let work = local::Layout::new(&run.folder).work(&report.task);
        assert_eq!(
            run.log(Stream::Stdout),
            format!("out\n{}\n", work.display())
        );
        assert_eq!(run.log(Stream::Stderr), "err\n");
        assert_eq!(run.log(Stream::All).lines().count(), 3);
        assert_eq!(
            run.runtime(),
            [
                "[INFO] Starting to exec precommands",
                "[INFO] Precommands finished",
                "[INFO] USER COMMAND START",
                "[INFO] USER COMMAND END",
            ]
        );
        if level > Level::Plain && report.level != level {
            eprintln!("the kernel refuses {level:?}: {:?}", report.not_enforced);
        }
    }
}

#[test]
fn exit_codes_and_signals_are_told() {
    for (command, code, signal) in [
        ("exit 7", 7, None),
        ("false", 1, None),
        ("no_such_program", 127, None),
        ("kill -KILL $$", 137, Some(9)),
        ("kill -TERM $$", 143, Some(15)),
        ("kill -SEGV $$", 139, Some(11)),
        ("kill -INT $$", 130, Some(2)),
    ] {
        for level in [Level::Plain, Level::Overlay] {
            let report = Run::of(role(&[command])).level(level).run_to_end();
            assert_eq!(
                (report.exit_code, report.signal),
                (code, signal),
                "{command} {report:#?}"
            );
            assert_eq!(report.failed_in, Some(PhaseName::Command));
        }
    }
}

#[test]
fn hooks_surround_the_command_and_speak_in_the_runtime_log() {
    let mut role = role(&["echo command $WHERE $PWD; cd /; export WHERE=lost"]);
    role.before = vec![
        hook(
            "first",
            When::Start,
            &["echo 111", "export WHERE=here", "cd /usr"],
        ),
        hook("second", When::Start, &["echo aaa >&2", "exec >/dev/null"]),
        hook("third", When::Start, &["echo still $WHERE"]),
    ];
    role.after = vec![
        hook("second", When::Success, &["echo bbb $WHERE $PWD", "exit 0"]),
        hook("never", When::Failure, &["echo no"]),
        hook("first", When::Always, &["echo 333"]),
    ];
    for level in LEVELS {
        for shell in [pinnace_exec::ShellKind::Bash, pinnace_exec::ShellKind::Sh] {
            let mut run = Run::of(role.clone())
                .level(level)
                .with(|attempt| attempt.settings.shell = Some(shell));
            let report = run.run_to_end();
            assert_eq!(report.exit_code, 0, "{report:#?} {:?}", run.runtime());
            assert_eq!(
                run.runtime(),
                [
                    "[INFO] Starting to exec precommands",
                    "111",
                    "aaa",
                    "still here",
                    "[INFO] Precommands finished",
                    "[INFO] USER COMMAND START",
                    "[INFO] USER COMMAND END",
                    "bbb here /usr",
                    "333",
                ]
            );
            assert_eq!(run.log(Stream::Stdout), "command here /usr\n");
            let phases: Vec<String> = report
                .phases
                .iter()
                .map(|phase| phase.name.to_string())
                .collect();
            assert_eq!(
                phases,
                [
                    "queued",
                    "sandbox",
                    "start hook `first`",
                    "start hook `second`",
                    "start hook `third`",
                    "command",
                    "exit hook `second`",
                    "exit hook `first`"
                ]
            );
            assert!(report.phases.iter().all(|phase| phase.start <= phase.end));
        }
    }
}

#[test]
fn a_failing_start_hook_keeps_the_command_from_starting() {
    let mut role = role(&["echo command"]);
    role.before = vec![hook(
        "setup",
        When::Start,
        &["export A=set", "false", "echo never"],
    )];
    role.after = vec![hook("report", When::Failure, &["echo failed with $A"])];
    let mut run = Run::of(role.clone());
    let report = run.run_to_end();
    assert_eq!(report.exit_code, 1);
    let name = "setup".to_owned();
    assert_eq!(report.failed_in, Some(PhaseName::Before { step: 0, name }));
    assert_eq!(run.log(Stream::Stdout), "");
    assert_eq!(
        run.runtime(),
        ["[INFO] Starting to exec precommands", "failed with set"]
    );

    role.before = vec![ignored(role.before.remove(0))];
    let mut run = Run::of(role);
    assert_eq!(run.run_to_end().exit_code, 0);
    assert_eq!(run.log(Stream::Stdout), "command\n");
}

#[test]
fn a_start_hook_that_leaves_the_shell_is_a_failure() {
    let mut role = role(&["echo command"]);
    role.before = vec![hook("setup", When::Start, &["exit 0"])];
    let mut run = Run::of(role);
    assert_eq!(run.run_to_end().exit_code, 1);
    assert_eq!(run.log(Stream::Stdout), "");
}

#[test]
fn a_failing_success_hook_fails_the_task_unless_ignored() {
    let mut role = role(&["true"]);
    role.after = vec![
        hook("upload", When::Success, &["exit 5"]),
        hook("mail", When::Success, &["echo mail"]),
    ];
    let mut run = Run::of(role.clone());
    let report = run.run_to_end();
    assert_eq!(report.exit_code, 5);
    assert!(matches!(
        report.failed_in,
        Some(PhaseName::After { step: 0, .. })
    ));
    assert_eq!(run.runtime().last().map(String::as_str), Some("mail"));

    role.after[0] = ignored(role.after[0].clone());
    assert_eq!(Run::of(role).run_to_end().exit_code, 0);
}

#[test]
fn exit_hooks_run_after_a_kill_and_after_the_command_replaced_its_shell() {
    for (command, code) in [
        ("kill -KILL $$", 137),
        ("exec sh -c 'exit 3'", 3),
        ("trap '' EXIT; exit 4", 4),
    ] {
        let mut role = role(&[command]);
        role.before = vec![hook("setup", When::Start, &["export A='it'\\''s set'"])];
        role.after = vec![hook("report", When::Failure, &["echo \"$A\""])];
        let mut run = Run::of(role);
        let report = run.run_to_end();
        assert_eq!(report.exit_code, code, "{command}");
        assert_eq!(run.runtime().last().map(String::as_str), Some("it's set"));
    }
}

#[test]
fn nothing_survives_a_task() {
    for level in LEVELS {
        let mark = format!("{}.{:?}", std::process::id(), level);
        // A daemon that has left its group, its session and its parent, and ignores signals.
        let daemon = format!(
            "(setsid sh -c 'trap \"\" TERM HUP; : {mark}; while :; do sleep 1000; done' &) ; sleep 0.05"
        );
        let mut run = Run::of(role(&[&daemon, "echo done"])).level(level);
        let report = run.run_to_end();
        assert_eq!(report.exit_code, 0, "{report:#?}");
        assert_eq!(run.log(Stream::Stdout), "done\n");
        assert!(!is_running(&mark), "{level:?}");
    }
}

/// Whether a process has this text in its arguments.
pub(crate) fn is_running(mark: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        std::fs::read(entry.path().join("cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains(mark))
    })
}

#[test]
fn a_stop_ends_a_task_gently_and_exit_hooks_still_run() {
    for level in LEVELS {
        let mut role = role(&["sleep 1000"]);
        role.after = vec![
            hook("save", When::Failure, &["echo saved"]),
            hook("no", When::Success, &["echo no"]),
        ];
        let mut run = Run::of(role).level(level);
        run.start();
        run.wait_for_command();
        local::stop(&run.folder, None, None).unwrap();
        let reports = run.finish();
        assert!(reports[0].stopped && !reports[0].killed && !reports[0].timed_out);
        assert_eq!(reports[0].exit_code, 143);
        assert_eq!(run.runtime().last().map(String::as_str), Some("saved"));
    }
}

#[test]
fn a_program_that_missed_the_signal_is_told_again() {
    // As if it had been started a moment too late to be told.
    let program = "sh -c 'trap \"exec sleep 1000\" TERM; echo ready; while :; do sleep 0.05; done'";
    for level in LEVELS {
        let mut run = Run::of(role(&[program, "true"])).level(level);
        run.start();
        run.wait_for_command();
        crate::support::eventually("ready", || run.log(Stream::Stdout) == "ready\n");
        local::stop(&run.folder, None, None).unwrap();
        let reports = run.finish();
        assert!(reports[0].stopped && !reports[0].killed, "{reports:#?}");
        assert_eq!(reports[0].exit_code, 143);
    }
}

#[test]
fn a_program_of_the_command_has_its_time_to_save_its_work() {
    let program = "sh -c 'trap \"echo saving; sleep 1; echo saved; exit 0\" TERM; echo ready; while :; do sleep 0.05; done'";
    for level in LEVELS {
        for hooks in [vec![], vec![hook("after", When::Always, &["echo after"])]] {
            let mut role = role(&[program, "true"]);
            role.after = hooks;
            let mut run = Run::of(role).level(level);
            run.start();
            run.wait_for_command();
            crate::support::eventually("ready", || run.log(Stream::Stdout) == "ready\n");
            local::stop(&run.folder, None, None).unwrap();
            let reports = run.finish();
            assert!(reports[0].stopped && !reports[0].killed, "{reports:#?}");
            assert_eq!(run.log(Stream::Stdout), "ready\nsaving\nsaved\n");
        }
    }
}

#[test]
fn a_task_that_does_not_listen_is_killed_after_the_grace_period() {
    for level in LEVELS {
        let mut role = role(&["trap '' TERM", "echo deaf", "while :; do sleep 1000; done"]);
        role.after = vec![hook("save", When::Always, &["echo saved"])];
        let mut run = Run::of(role).level(level);
        run.start();
        run.wait_for_command();
        crate::support::eventually("deaf", || run.log(Stream::Stdout) == "deaf\n");
        local::stop(&run.folder, None, Some(Duration::from_secs(1))).unwrap();
        let reports = run.finish();
        assert!(reports[0].stopped && reports[0].killed, "{reports:#?}");
        assert_eq!(reports[0].exit_code, 137);
        assert_eq!(run.runtime().last().map(String::as_str), Some("saved"));
    }
}

#[test]
fn a_task_ends_when_its_time_is_over() {
    let mut role = role(&["sleep 1000"]);
    role.after = vec![hook("save", When::Failure, &["echo saved"])];
    let mut run = Run::of(role).with(|attempt| attempt.settings.time_limit_seconds = Some(1));
    let report = run.run_to_end();
    assert!(report.timed_out && !report.stopped && !report.succeeded());
    assert_eq!(run.runtime().last().map(String::as_str), Some("saved"));
}

#[test]
fn an_unset_variable_is_a_failure_only_if_asked() {
    let command = ["echo -$NO_SUCH_VARIABLE-"];
    assert_eq!(Run::of(role(&command)).run_to_end().exit_code, 0);
    let mut strict = Run::of(role(&command)).with(|attempt| attempt.settings.nounset = true);
    assert_ne!(strict.run_to_end().exit_code, 0);
}

#[test]
fn output_with_broken_characters_and_very_long_lines_survives() {
    let command = r"head -c 3000000 /dev/zero | tr '\0' x; printf '\303'; printf '\n\377\n'";
    let mut run = Run::of(role(&[command]));
    assert_eq!(run.run_to_end().exit_code, 0);
    let path = local::Layout::new(&run.folder)
        .logs(&crate::support::worker(0))
        .join("stdout");
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(bytes.len(), 3_000_000 + 4);
    assert!(bytes.ends_with(b"x\xc3\n\xff\n"));
}
