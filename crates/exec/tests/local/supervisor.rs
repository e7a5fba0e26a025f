//! What happens to tasks when something happens to their supervisor.

use std::collections::HashSet;
use std::fs;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use pinnace_exec::local::{self, Adoption, Identity};
use pinnace_exec::log::Stream;
use pinnace_exec::{ExitReport, Happening, Level, Secrets, TaskId};

use crate::support::{Run, as_ordinary_user, eventually, launcher, role, worker};

pub(crate) fn supervisor(run: &Run) -> Identity {
    match local::adopt(&run.folder).unwrap() {
        Adoption::Alive(identity) => identity,
        other => panic!("{other:?}"),
    }
}

#[test]
fn tasks_die_with_their_supervisor_and_are_told_as_lost() {
    let levels = [Level::Plain, Level::ReadOnly, Level::Overlay];
    for (level, ordinary) in levels
        .into_iter()
        .flat_map(|level| [(level, false), (level, true)])
    {
        let mark = format!("lost.{}.{level:?}.{ordinary}", std::process::id());
        let sleep = format!(
            "(setsid sh -c ': {mark}; trap \"\" TERM HUP; while :; do sleep 1000; done' &); echo up; : {mark}; sleep 1000"
        );
        let mut run = Run::of_roles(vec![
            ("worker", role(&[&sleep])),
            ("quick", role(&["true"])),
        ])
        .level(level);
        if ordinary {
            match as_ordinary_user(run) {
                Some(as_user) => run = as_user,
                None => continue,
            }
        }
        run.start();
        let quick = TaskId {
            role: "quick".to_owned(),
            index: 0,
        };
        run.wait_for(
            "quick end",
            |event| matches!(&event.what, Happening::Exited { report } if report.task == quick),
        );
        eventually("up", || run.log(Stream::Stdout) == "up\n");
        let identity = supervisor(&run);
        kill(Pid::from_raw(identity.pid), Signal::SIGKILL).unwrap();
        eventually("death", || !identity.is_alive());
        match local::adopt(&run.folder).unwrap() {
            Adoption::Over { reports, lost } => {
                assert_eq!(reports.len(), 1);
                assert_eq!(reports[0].task, quick);
                assert_eq!(lost, [worker(0)]);
            }
            other => panic!("{level:?}: {other:?}"),
        }
        assert!(!crate::life::is_running(&mark), "{level:?}");
        let layout = local::Layout::new(&run.folder);
        assert!(!layout.logs(&worker(0)).join("changes").exists());
        assert_eq!(groups(&run), "");
        run.forget();
    }
}

fn group_name(run: &Run) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in run.folder.as_os_str().as_encoded_bytes() {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("pinnace-{hash:016x}")
}

/// The control groups of an attempt that are there.
pub(crate) fn groups(run: &Run) -> String {
    let found = std::process::Command::new("find")
        .args(["/sys/fs/cgroup", "-maxdepth", "5", "-name"])
        .arg(group_name(run))
        .output()
        .unwrap();
    String::from_utf8_lossy(&found.stdout).into_owned()
}

#[test]
fn why_a_supervisor_cannot_begin_is_told() {
    let mut run = Run::of(role(&["true"]));
    run.attempt.settings.port_register = Some("/nowhere/ports".into());
    for _ in 0..2 {
        let launched = local::launch(&launcher(), &run.folder, &run.attempt, &Secrets::default());
        let error = launched.unwrap_err().to_string();
        assert!(error.contains("cannot choose ports"), "{error}");
        assert!(error.contains("/nowhere/ports"), "{error}");
    }
}

#[test]
fn an_attempt_is_carried_out_once() {
    let mut run = Run::of(role(&["echo once >> \"$HOME/count\"; cat \"$HOME/count\""]));
    assert!(matches!(
        local::adopt(&run.folder).unwrap(),
        Adoption::NotStarted
    ));
    run.start();
    let again = local::launch(&launcher(), &run.folder, &run.attempt, &Secrets::default()).unwrap();
    assert!(!again.is_new());
    run.finish();
    let again = local::launch(&launcher(), &run.folder, &run.attempt, &Secrets::default()).unwrap();
    assert!(!again.is_new());
    assert_eq!(run.log(Stream::Stdout), "once\n");
    match local::adopt(&run.folder).unwrap() {
        Adoption::Over { reports, lost } => assert!(reports.len() == 1 && lost.is_empty()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn many_launches_at_once_start_one_supervisor() {
    let run = Run::of(role(&["echo once"]));
    let started = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6)
            .map(|_| {
                scope.spawn(|| {
                    let mut handle =
                        local::launch(&launcher(), &run.folder, &run.attempt, &Secrets::default())
                            .unwrap();
                    handle.wait();
                    handle.is_new()
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .filter(|new| *new)
            .count()
    });
    assert_eq!(started, 1);
    run.wait_for("end", |event| event.what == Happening::Ended);
    assert_eq!(run.log(Stream::Stdout), "once\n");
}

#[test]
fn two_hundred_tasks_run_at_once_with_ports_of_their_own() {
    let mut role = role(&[
        "echo $PAI_CONTAINER_HOST_PORT $PAI_CONTAINER_SSH_PORT",
        "until [ -e \"$GO\" ]; do sleep 0.1; done",
    ]);
    role.instances = 200;
    let run = Run::of(role);
    let go = run.home().join("go");
    let mut run = run.level(Level::Plain).with(|attempt| {
        attempt
            .settings
            .environment
            .insert("GO".to_owned(), go.to_string_lossy().into_owned());
    });
    run.start();
    let tasks: Vec<TaskId> = (0..200).map(worker).collect();
    eventually("all up", || {
        tasks
            .iter()
            .all(|task| run.log_of(task, Stream::Stdout).ends_with('\n'))
    });
    fs::write(&go, "").unwrap();
    let reports = run.finish();
    assert!(reports.iter().all(ExitReport::succeeded));
    assert_eq!(reports.len(), 200);
    let ports: Vec<String> = tasks
        .iter()
        .flat_map(|task| {
            run.log_of(task, Stream::Stdout)
                .split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(ports.len(), 400);
    assert_eq!(ports.iter().collect::<HashSet<_>>().len(), 400);
    let sequence: Vec<u64> = run.events().iter().map(|event| event.seq).collect();
    assert!(
        sequence
            .iter()
            .enumerate()
            .all(|(place, seq)| *seq == place as u64 + 1)
    );
}

#[test]
fn one_task_can_be_stopped_alone() {
    let mut role = role(&["echo up; sleep 1000"]);
    role.instances = 2;
    let mut run = Run::of(role);
    run.start();
    eventually("up", || {
        (0..2).all(|index| run.log_of(&worker(index), Stream::Stdout) == "up\n")
    });
    local::stop(&run.folder, Some(&worker(1)), None).unwrap();
    run.wait_for(
        "end of one",
        |event| matches!(&event.what, Happening::Exited { report } if report.task == worker(1)),
    );
    assert_eq!(run.reports().len(), 1);
    assert!(local::stop(&run.folder, Some(&worker(7)), None).is_err());
    local::stop(&run.folder, None, Some(Duration::ZERO)).unwrap();
    let reports = run.finish();
    assert!(reports[1].stopped && reports[1].killed);
}

#[test]
fn a_signal_to_the_supervisor_stops_all() {
    let mut run = Run::of(role(&["echo up; sleep 1000"]));
    run.start();
    eventually("up", || run.log(Stream::Stdout) == "up\n");
    kill(Pid::from_raw(supervisor(&run).pid), Signal::SIGTERM).unwrap();
    assert!(run.finish()[0].stopped);
}

#[test]
fn a_failed_task_is_kept_and_can_be_entered() {
    for (level, ordinary) in [
        (Level::Overlay, false),
        (Level::Overlay, true),
        (Level::Plain, false),
    ] {
        let mut run = Run::of(role(&["mkdir -p \"$HOME/made\"; echo x > /tmp/x; exit 3"]))
            .level(level)
            .with(|attempt| attempt.settings.keep_on_failure_minutes = Some(30));
        if ordinary {
            match as_ordinary_user(run) {
                Some(as_user) => run = as_user,
                None => continue,
            }
        }
        run.start();
        let event = run.wait_for("kept", |event| matches!(event.what, Happening::Kept { .. }));
        let Happening::Kept { pid, .. } = event.what else {
            unreachable!()
        };
        assert!(run.reports().is_empty());
        let output = run.enter(
            pid,
            level,
            "echo $PAI_TASK_INDEX; ls; cat $TMPDIR/x; exit 4",
        );
        let text = String::from_utf8_lossy(&output.stdout);
        if level == Level::Overlay {
            assert_eq!(
                text,
                "0\nmade\nx\n",
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            assert_eq!(output.status.code(), Some(4));
        }
        local::stop(&run.folder, Some(&worker(0)), None).unwrap();
        let report = run.finish().remove(0);
        assert_eq!(report.exit_code, 3);
        assert!(!report.stopped);
    }
    let mut fine = Run::of(role(&["true"]))
        .with(|attempt| attempt.settings.keep_on_failure_minutes = Some(30));
    assert!(fine.run_to_end().succeeded());
}

#[test]
fn a_supervisor_killed_at_any_moment_leaves_nothing() {
    for (round, started) in [0, 1, 3, 8, 15, 20].into_iter().enumerate() {
        let mark = format!("any.{}.{round}", std::process::id());
        let mut role = role(&[&format!("sh -c ': {mark}; sleep 1000'")]);
        role.instances = 20;
        role.resources.memory_mb = 256;
        let mut run = Run::of(role);
        run.start();
        let count = |run: &Run| {
            let events = run.events();
            events
                .iter()
                .filter(|event| matches!(event.what, Happening::Started { .. }))
                .count()
        };
        eventually("some have started", || count(&run) >= started);
        let identity = supervisor(&run);
        kill(Pid::from_raw(identity.pid), Signal::SIGKILL).unwrap();
        eventually("death", || !identity.is_alive());
        match local::adopt(&run.folder).unwrap() {
            Adoption::Over { reports, lost } => assert!(reports.is_empty() && lost.len() == 20),
            other => panic!("{other:?}"),
        }
        assert!(!crate::life::is_running(&mark), "round {round}");
        let again =
            local::launch(&launcher(), &run.folder, &run.attempt, &Secrets::default()).unwrap();
        assert!(!again.is_new());
        assert_eq!(groups(&run), "", "round {round}");
        run.forget();
    }
}

#[test]
fn a_supervisor_started_ahead_does_nothing_until_it_is_told() {
    let run = Run::of(role(&["echo once"]));
    let ahead = |run: &Run| local::start_ahead(&launcher(), &run.folder, &run.attempt.plan);
    drop(ahead(&run).unwrap());
    assert!(matches!(
        local::adopt(&run.folder).unwrap(),
        Adoption::NotStarted
    ));
    assert_eq!(groups(&run), "");
    let expected = ahead(&run);
    let secrets = Secrets::default();
    let mut handle =
        local::launch_expected(&launcher(), &run.folder, &run.attempt, &secrets, expected).unwrap();
    assert!(handle.is_new());
    run.wait_for("end", |event| event.what == Happening::Ended);
    assert!(handle.wait());
    assert_eq!(run.log(Stream::Stdout), "once\n");
}
