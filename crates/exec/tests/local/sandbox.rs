//! What a task sees and may use.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use pinnace_core::plan::Mount;
use pinnace_exec::log::Stream;
use pinnace_exec::{ExitReport, Level};

use crate::support::{Run, as_ordinary_user, role};

/// Whether the level was had; says so if not.
fn has(report: &ExitReport, level: Level) -> bool {
    if report.level < level {
        eprintln!(
            "SKIPPED: the kernel refuses {level:?}: {:?}",
            report.not_enforced
        );
    }
    report.level >= level
}

/// As root and as an ordinary user.
fn both(mut run: impl FnMut() -> Run, mut check: impl FnMut(&mut Run)) {
    check(&mut run());
    if let Some(mut run) = as_ordinary_user(run()) {
        check(&mut run);
    }
}

#[test]
fn new_folders_and_lost_ones_stay_inside() {
    let name = format!("/pinnace-test-{}", std::process::id());
    let commands = [
        format!("mkdir -p {name}/deep && echo data > {name}/deep/file && cat {name}/deep/file"),
        "rm -rf /usr/share/doc/bash /usr/share/common-licenses 2>/dev/null || true".to_owned(),
        "test ! -e /tmp/anything && echo own > /tmp/anything".to_owned(),
        "id -u".to_owned(),
    ];
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    both(
        || Run::of(role(&commands)),
        |run| {
            let before = fs::read_dir("/usr/share").unwrap().count();
            let report = run.run_to_end();
            if has(&report, Level::Overlay) {
                assert_eq!(report.exit_code, 0, "{}", run.log(Stream::Stderr));
                assert_eq!(run.log(Stream::Stdout), "data\n0\n");
                assert!(!Path::new(&name).exists());
                assert!(!Path::new("/tmp/anything").exists());
                assert_eq!(fs::read_dir("/usr/share").unwrap().count(), before);
                let folder = pinnace_exec::local::Layout::new(&run.folder)
                    .tasks()
                    .join("worker-0");
                let left: Vec<PathBuf> = fs::read_dir(folder)
                    .unwrap()
                    .map(|entry| entry.unwrap().path())
                    .collect();
                assert!(
                    left.iter().all(|path| !path.ends_with("changes")),
                    "{left:?}"
                );
            }
        },
    );
}

#[test]
fn the_state_and_other_tasks_are_out_of_sight() {
    both(
        || {
            let mut worker = role(&[
                "ls -a \"$STATE\" | grep -v '^\\.' | tr '\\n' ' '",
                "ls \"$(dirname \"$(dirname \"$PWD\")\")\" | tr '\\n' ' '",
                "cat \"$PINNACE_PEERS\" >/dev/null",
                "! touch \"$PINNACE_PEERS\" 2>/dev/null",
                "echo mine > file; cat \"$HOME/file\"",
                "cat /proc/1/environ >/dev/null 2>&1 || true; ls /proc | grep -c '^[0-9]' ",
            ]);
            worker.instances = 2;
            let run = Run::of(worker);
            let home = run.home().to_owned();
            fs::write(home.join("vault"), "hush").unwrap();
            run.with(|attempt| {
                attempt.settings.hidden = vec![home.clone()];
                let state = home.to_string_lossy().into_owned();
                attempt
                    .settings
                    .environment
                    .insert("STATE".to_owned(), state);
            })
        },
        |run| {
            run.start();
            let reports = run.finish();
            if has(&reports[0], Level::ReadOnly) {
                for report in &reports {
                    let (out, err) = (
                        run.log_of(&report.task, Stream::Stdout),
                        run.log_of(&report.task, Stream::Stderr),
                    );
                    assert_eq!(report.exit_code, 0, "{out} {err}");
                    let own = format!("worker-{}", report.task.index);
                    assert!(out.starts_with(&format!("attempt {own} mine\n")), "{out}");
                    // The first process, the shell, and what the shell runs.
                    let processes: usize = out.lines().last().unwrap().parse().unwrap();
                    assert!(processes <= 5, "{processes} processes are visible");
                }
            }
        },
    );
}

#[test]
fn storages_are_mounted_and_shared_memory_has_its_size() {
    both(
        || {
            let mut worker = role(&[
                "cat /mnt/data/in",
                "echo result > /mnt/data/out",
                "df -k /dev/shm | awk 'NR==2 {print $2}'",
                "echo x > /dev/shm/x; echo x > /dev/null",
            ]);
            worker.resources.shm_mb = 8;
            worker.mounts.push(Mount {
                name: "data".to_owned(),
                storage: "nfs".into(),
                target: "/mnt/data".into(),
            });
            let run = Run::of(worker);
            let storage = run.home().join("storage");
            fs::create_dir(&storage).unwrap();
            fs::set_permissions(&storage, fs::Permissions::from_mode(0o777)).unwrap();
            fs::write(storage.join("in"), "content\n").unwrap();
            run.with(|attempt| {
                attempt.settings.storages.insert("nfs".to_owned(), storage);
            })
        },
        |run| {
            let report = run.run_to_end();
            if has(&report, Level::Overlay) {
                assert_eq!(report.exit_code, 0, "{}", run.log(Stream::Stderr));
                assert_eq!(run.log(Stream::Stdout), "content\n8192\n");
                let result = fs::read_to_string(run.home().join("storage/out")).unwrap();
                assert_eq!(result, "result\n");
            }
        },
    );
}

#[test]
fn a_read_only_view_lets_only_own_folders_be_written() {
    both(
        || {
            Run::of(role(&[
                "! mkdir /pinnace-never 2>/dev/null",
                "! touch /usr/pinnace-never 2>/dev/null",
                "echo x > /tmp/x; echo x > $HOME/x; echo fine",
            ]))
            .level(Level::ReadOnly)
        },
        |run| {
            let report = run.run_to_end();
            if has(&report, Level::ReadOnly) {
                assert_eq!(
                    run.log(Stream::Stdout),
                    "fine\n",
                    "{}",
                    run.log(Stream::Stderr)
                );
            }
        },
    );
}

#[test]
fn a_task_above_its_memory_is_killed_and_the_cause_is_told() {
    let mut worker =
        role(&["head -c 200000000 /dev/zero | tail -n 1 >/dev/null; echo not reached"]);
    worker.resources.memory_mb = 64;
    let report = Run::of(worker).run_to_end();
    if report
        .not_enforced
        .iter()
        .any(|text| text.contains("memory"))
    {
        eprintln!(
            "SKIPPED: no memory controller here: {:?}",
            report.not_enforced
        );
        return;
    }
    assert!(report.out_of_memory, "{report:#?}");
    assert_eq!(report.exit_code, 137);
}

#[test]
fn limits_of_cpu_are_set_and_the_groups_are_gone_afterwards() {
    let mut worker = role(&["cat /proc/self/cgroup"]);
    worker.resources.cpu = 1;
    worker.resources.memory_mb = 512;
    let mut run = Run::of(worker);
    let report = run.run_to_end();
    assert_eq!(report.exit_code, 0);
    let groups = run.log(Stream::Stdout);
    if report.not_enforced.iter().any(|text| text.contains("cpu")) {
        eprintln!("SKIPPED: no cpu controller here");
        return;
    }
    assert!(groups.contains("pinnace-"), "{groups}");
    for line in groups.lines().filter(|line| line.contains("pinnace-")) {
        let (controller, path) = line.split_once(':').unwrap().1.split_once(':').unwrap();
        let folder = Path::new("/sys/fs/cgroup")
            .join(controller)
            .join(path.trim_start_matches('/'));
        assert!(!folder.exists(), "{} is left", folder.display());
        assert!(!folder.parent().unwrap().ends_with("worker-0"));
    }
}

#[test]
fn a_storage_that_is_not_there_fails_the_task_and_does_not_open_the_sandbox() {
    let mut worker = role(&["true"]);
    worker.mounts.push(Mount {
        name: "data".to_owned(),
        storage: "nfs".into(),
        target: "/mnt/data".into(),
    });
    let unknown = Run::of(worker.clone()).run_to_end();
    assert!(
        unknown
            .start_failure
            .unwrap()
            .contains("no folder is known for the storage `nfs`")
    );
    let missing = Run::of(worker)
        .with(|attempt| {
            let nowhere = PathBuf::from("/nonexistent");
            attempt.settings.storages.insert("nfs".to_owned(), nowhere);
        })
        .run_to_end();
    assert!(missing.start_failure.unwrap().contains("/nonexistent"));
    assert_eq!(missing.exit_code, 126);
}

#[test]
fn changes_may_be_kept_in_memory() {
    both(
        || {
            Run::of(role(&[
                "mkdir /new && echo x > /new/file && echo y > /tmp/y && cat /new/file /tmp/y",
            ]))
            .with(|attempt| attempt.settings.changes = pinnace_exec::Changes::Memory)
        },
        |run| {
            let report = run.run_to_end();
            if has(&report, Level::Overlay) {
                assert_eq!(
                    run.log(Stream::Stdout),
                    "x\ny\n",
                    "{}",
                    run.log(Stream::Stderr)
                );
                assert!(!Path::new("/new").exists());
            }
            let left: Vec<_> = fs::read_dir(&run.folder)
                .unwrap()
                .flatten()
                .map(|entry| entry.file_name())
                .collect();
            assert!(
                !left.iter().any(|name| name == "memory" || name == "root"),
                "{left:?}"
            );
        },
    );
}
