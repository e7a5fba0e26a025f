//! Tasks that follow each other in one sandbox.

use std::collections::HashSet;
use std::path::Path;
use std::time::Instant;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use pinnace_exec::local::{self, Adoption};
use pinnace_exec::log::Stream;
use pinnace_exec::{Changes, ExitReport, Happening, Level};

use crate::supervisor::{groups, supervisor};
use crate::support::{DEADLINE, Run, as_ordinary_user, eventually, role, worker};

/// So many tasks that some must wait for others, where tasks can follow each other.
const TASKS: u32 = 60;

fn many(command: &[&str]) -> Run {
    let mut many = role(command);
    many.instances = TASKS;
    Run::of(many).with(|attempt| attempt.settings.changes = Changes::Memory)
}

/// Runs to the end, as root and as an ordinary user, at both levels that have sandboxes.
fn everywhere(run: impl Fn() -> Run, check: impl Fn(&Run, &[ExitReport])) {
    for level in [Level::ReadOnly, Level::Overlay] {
        for mut run in [Some(run()), as_ordinary_user(run())].into_iter().flatten() {
            run.attempt.settings.sandbox = level;
            run.start();
            let reports = run.finish();
            assert_eq!(reports.len(), TASKS as usize);
            check(&run, &reports);
        }
    }
}

#[test]
fn a_task_has_its_own_name_streams_and_work_folder_wherever_it_runs() {
    everywhere(
        || many(&["echo $RANK $PWD $HOME $(ls $PWD/../..)", "echo $RANK >&2"]),
        |run, reports| {
            for report in reports {
                let (task, index) = (&report.task, report.task.index);
                assert_eq!(report.exit_code, 0, "{report:#?}");
                let work = local::Layout::new(&run.folder).work(task);
                let work = work.display();
                let seen = match report.level {
                    Level::Plain => continue,
                    _ => format!("{index} {work} {work} worker-{index}\n"),
                };
                assert_eq!(run.log_of(task, Stream::Stdout), seen);
                assert_eq!(run.log_of(task, Stream::Stderr), format!("{index}\n"));
                assert_eq!(run.log_of(task, Stream::Runtime).lines().count(), 4);
            }
        },
    );
}

/// Every task looks whether all is as it should be, and then every other one leaves something behind.
#[test]
fn what_a_task_leaves_behind_is_found_by_no_other() {
    let look = [
        "test -z \"$(ls -A /tmp | grep -v '^\\.tmp')\"",
        "test -z \"$(ls -A /dev/shm)\"",
        "test -z \"$(ls -A .)\"",
        "test ! -e /pinnace-left && test ! -e /usr/pinnace-left",
        "test ! -e \"$PWD/../../pinnace-left\"",
        "test $(stat -c %a .) = 755",
        "test $(stat -c %a /dev/shm) = 1777",
        "! grep -q pinnace-left /proc/mounts",
        "! grep -q '^sleep$' /proc/[0-9]*/comm",
    ];
    let leave = "case $((RANK % 20)) in
        1) touch /tmp/left ;;
        3) touch /dev/shm/left ;;
        5) touch left ;;
        7) touch /pinnace-left || true ;;
        9) touch /usr/pinnace-left || true ;;
        11) touch \"$PWD/../../pinnace-left\" ;;
        13) chmod 700 . ;;
        15) chmod 700 /dev/shm ;;
        17) mount -t tmpfs pinnace-left /mnt || true ;;
        19) sleep 600 & ;;
        esac 2>/dev/null";
    let mut lines = look.to_vec();
    lines.push(leave);
    everywhere(
        || many(&lines),
        |run, reports| {
            for report in reports {
                let said = run.log_of(&report.task, Stream::All);
                assert!(
                    report.exit_code == 0 || report.level == Level::Plain,
                    "{report:#?} {said}"
                );
            }
        },
    );
}

#[test]
fn tasks_that_leave_nothing_follow_each_other() {
    let begin = Instant::now();
    // On a machine so busy that no task ends before all are started, each has a sandbox of its own.
    loop {
        let mut run = many(&["true"]);
        run.start();
        let reports = run.finish();
        let is_kept_apart = reports.iter().all(|report| report.level > Level::Plain);
        let processes: HashSet<i32> = run
            .events()
            .into_iter()
            .filter_map(|event| match event.what {
                Happening::Started { pid, .. } => Some(pid),
                _ => None,
            })
            .collect();
        if processes.len() < TASKS as usize {
            break;
        }
        if !is_kept_apart {
            eprintln!("SKIPPED: there are no sandboxes here");
            break;
        }
        assert!(begin.elapsed() < DEADLINE, "no task followed another");
    }
}

#[test]
fn a_task_that_moved_in_can_be_stopped_and_fails_alone() {
    let mut run = many(&["case $RANK in 50) exit 7;; 55) exec sleep 600;; esac"]);
    run.start();
    run.wait_for(
        "the long task",
        |event| matches!(&event.what, Happening::Started { task, .. } if *task == worker(55)),
    );
    // Once it is started it runs; whether it runs already when it is stopped does not matter.
    local::stop(&run.folder, Some(&worker(55)), None).unwrap();
    let reports = run.finish();
    assert_eq!(reports.len(), TASKS as usize);
    for report in reports {
        let expected = match report.task.index {
            50 => (7, false),
            55 => (143, true),
            _ => (0, false),
        };
        assert_eq!((report.exit_code, report.stopped), expected, "{report:#?}");
    }
}

#[test]
fn groups_are_used_again_and_gone_afterwards() {
    let mut limited = role(&["cat /proc/self/cgroup"]);
    (
        limited.instances,
        limited.resources.cpu,
        limited.resources.memory_mb,
    ) = (TASKS, 1, 512);
    let mut run = Run::of(limited).with(|attempt| attempt.settings.changes = Changes::Memory);
    run.start();
    for report in run.finish() {
        assert_eq!(report.exit_code, 0, "{report:#?}");
        let groups = run.log_of(&report.task, Stream::Stdout);
        for line in groups.lines().filter(|line| line.contains("pinnace-")) {
            let (controller, path) = line.split_once(':').unwrap().1.split_once(':').unwrap();
            let folder = Path::new("/sys/fs/cgroup")
                .join(controller)
                .join(path.trim_start_matches('/'));
            assert!(!folder.exists(), "{} is left", folder.display());
        }
    }
}

#[test]
fn a_supervisor_killed_while_tasks_follow_each_other_leaves_nothing() {
    for started in [5, 20, 50] {
        let mark = format!("follow.{}.{started}", std::process::id());
        let long = format!("case $RANK in *9) sh -c ': {mark}; sleep 1000' ;; esac");
        let mut run = many(&[&long]);
        if let Some(role) = run.attempt.plan.roles.get_mut("worker") {
            role.resources.memory_mb = 256;
        }
        run.start();
        eventually("some have started", || starts(&run) >= started);
        let identity = supervisor(&run);
        kill(Pid::from_raw(identity.pid), Signal::SIGKILL).unwrap();
        eventually("death", || !identity.is_alive());
        match local::adopt(&run.folder).unwrap() {
            Adoption::Over { reports, lost } => {
                assert_eq!(reports.len() + lost.len(), TASKS as usize);
                assert!(reports.iter().all(ExitReport::succeeded));
            }
            other => panic!("{other:?}"),
        }
        assert!(!crate::life::is_running(&mark));
        assert_eq!(groups(&run), "");
        run.forget();
    }
}

#[test]
fn a_first_process_has_no_stream_of_another_task() {
    everywhere(
        || many(&["readlink /proc/1/fd/0 /proc/1/fd/1"]),
        |run, reports| {
            for report in reports.iter().filter(|report| report.level > Level::Plain) {
                let seen = run.log_of(&report.task, Stream::Stdout);
                assert_eq!(seen, "/dev/null\n/dev/null\n", "{report:#?}");
            }
        },
    );
}

#[test]
fn a_stop_while_tasks_follow_each_other_leaves_nothing() {
    for started in [5, 20, 50] {
        let mut run = many(&["case $RANK in *9) exec sleep 600 ;; esac"]);
        if let Some(role) = run.attempt.plan.roles.get_mut("worker") {
            role.resources.memory_mb = 256;
        }
        run.start();
        eventually("some have started", || starts(&run) >= started);
        local::stop(&run.folder, None, None).unwrap();
        let reports = run.finish();
        assert_eq!(reports.len(), TASKS as usize);
        let as_expected = |report: &ExitReport| report.stopped || report.succeeded();
        assert!(reports.iter().all(as_expected), "{reports:#?}");
        assert_eq!(groups(&run), "");
    }
}

/// How many tasks were started.
fn starts(run: &Run) -> usize {
    let events = run.events();
    let starts = events
        .iter()
        .filter(|event| matches!(event.what, Happening::Started { .. }));
    starts.count()
}
