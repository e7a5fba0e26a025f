//! Processes that are killed at any moment.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::Command;

use nix::fcntl::OFlag;
use nix::pty::{PtyMaster, grantpt, posix_openpt, ptsname_r, unlockpt};

use crate::support::{Place, job, processes_of, skipped, until, with_shared};

fn kill(pid: &str) {
    let status = Command::new("kill").args(["-9", pid]).status().unwrap();
    assert!(status.success());
}

/// Writes down that it has begun, waits for a word, and ends.
fn task(place: &Place) -> String {
    std::fs::create_dir_all(place.path().join("shared")).unwrap();
    let command = "echo begun >> /mnt/shared/$PAI_TASK_INDEX\n\
                   while [ ! -e /mnt/shared/go ]; do sleep 0.05; done\necho done";
    with_shared(&job("crash", &[("worker", 2, (1, 2), command)]))
}

fn starts(place: &Place, index: u32) -> usize {
    let path = place.path().join(format!("shared/{index}"));
    std::fs::read_to_string(path)
        .unwrap_or_default()
        .lines()
        .count()
}

#[test]
fn a_killed_run_goes_on_and_no_task_runs_twice() {
    let place = Place::new();
    let file = place.file("crash.yaml", &task(&place));
    let mut run = place.start(&["run", &file, "--storage", "shared=shared"]);
    until("both tasks have begun", || {
        starts(&place, 0) + starts(&place, 1) == 2
    });
    run.kill().unwrap();
    run.wait().unwrap();
    // Any command takes the job up again.
    place.pinnace(&["ps"]).succeeded();
    place.file("shared/go", "");
    let said = place.pinnace(&["wait", "crash"]).succeeded();
    assert!(said.stderr.contains("succeeded"), "{said:?}");
    assert_eq!((starts(&place, 0), starts(&place, 1)), (1, 1));
}

#[test]
fn the_end_of_a_job_is_found_also_if_nobody_looked() {
    let place = Place::new();
    let file = place.file("crash.yaml", &task(&place));
    let mut run = place.start(&["run", &file, "--storage", "shared=shared"]);
    until("both tasks have begun", || {
        starts(&place, 0) + starts(&place, 1) == 2
    });
    run.kill().unwrap();
    run.wait().unwrap();
    let jobs = place.state().join("jobs");
    let job = std::fs::read_dir(&jobs)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    place.file("shared/go", "");
    until("the supervisor has ended", || {
        let events = std::fs::read_to_string(job.join("launches/0/events.jsonl")).unwrap();
        events.contains("\"event\":\"ended\"")
    });
    place.pinnace(&["wait", "crash"]).succeeded();
    assert_eq!(place.show("crash")["state"], "SUCCEEDED");
}

#[test]
fn a_killed_supervisor_takes_its_tasks_with_it_and_the_job_is_tried_again() {
    let place = Place::new();
    let file = place.file("crash.yaml", &task(&place));
    let run = place.start(&["run", &file, "--storage", "shared=shared"]);
    until("both tasks have begun", || {
        starts(&place, 0) + starts(&place, 1) == 2
    });
    let jobs = place.state().join("jobs");
    let job = std::fs::read_dir(&jobs)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let identity = std::fs::read_to_string(job.join("launches/0/supervisor.json")).unwrap();
    let identity: serde_json::Value = serde_json::from_str(&identity).unwrap();
    kill(&identity["pid"].to_string());
    place.file("shared/go", "");
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!((starts(&place, 0), starts(&place, 1)), (2, 2));
    let view = place.show("crash");
    assert_eq!(view["attempt"], 1, "{view}");
    assert_eq!(view["history"][0]["outcome"]["verdict"]["code"], -1001);
}

/// A new terminal that no other process gets by chance, and the path to its other end.
fn terminal() -> (PtyMaster, String) {
    let flags = OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
    let master = posix_openpt(flags).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let path = ptsname_r(&master).unwrap();
    (master, path)
}

#[test]
fn a_terminal_that_hangs_up_leaves_the_job_running() {
    let place = Place::new();
    let file = place.file("crash.yaml", &task(&place));
    let (master, path) = terminal();
    let [stdin, stdout, stderr] = [(); 3].map(|()| {
        let mut slave = File::options();
        slave
            .read(true)
            .write(true)
            .custom_flags(OFlag::O_NOCTTY.bits());
        slave.open(&path).unwrap()
    });
    let run = place.command(&["run", &file, "--storage", "shared=shared"]);
    let mut in_terminal = Command::new("setsid");
    in_terminal
        .arg("--ctty")
        .arg(run.get_program())
        .args(run.get_args());
    for (name, value) in run.get_envs() {
        in_terminal.env(name, value.unwrap_or_default());
    }
    let mut run = in_terminal
        .current_dir(place.path())
        .stdin(stdin)
        .stdout(stdout)
        .stderr(stderr)
        .spawn()
        .unwrap();
    drop(in_terminal);
    until("both tasks have begun", || {
        starts(&place, 0) + starts(&place, 1) == 2
    });
    drop(master);
    let status = run.wait().unwrap();
    assert_eq!(status.code(), Some(130), "{status:?}");
    let follower = place.start(&["logs", "--follow", "crash", "worker[0]"]);
    place.file("shared/go", "");
    place.pinnace(&["wait", "crash"]).succeeded();
    let followed = follower.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&followed.stdout), "done\n");
    assert_eq!((starts(&place, 0), starts(&place, 1)), (1, 1));
}

#[test]
fn control_groups_are_removed_also_from_elsewhere_in_their_tree() {
    let place = Place::new();
    let file = place.file("crash.yaml", &task(&place));
    let root = Path::new("/sys/fs/cgroup/pids");
    let other = root.join(format!("elsewhere-{}", std::process::id()));
    if std::fs::create_dir(&other).is_err() {
        skipped("control groups of another session: no group of version 1 can be made here");
        return;
    }
    // The job runs in a group of its own, as in another session of its user.
    let door = other.join("cgroup.procs");
    let run = place.command(&["run", "--detach", &file, "--storage", "shared=shared"]);
    let mut inside = Command::new("sh");
    inside.args([
        "-c",
        &format!("echo $$ > {} && exec \"$0\" \"$@\"", door.display()),
    ]);
    inside.arg(run.get_program()).args(run.get_args());
    for (name, value) in run.get_envs() {
        inside.env(name, value.unwrap_or_default());
    }
    assert!(
        inside
            .current_dir(place.path())
            .output()
            .unwrap()
            .status
            .success()
    );
    until("both tasks have begun", || {
        starts(&place, 0) + starts(&place, 1) == 2
    });
    let groups = || {
        std::fs::read_dir(&other)
            .unwrap()
            .flatten()
            .filter(|entry| entry.path().is_dir())
            .count()
    };
    assert_eq!(groups(), 1);
    for (pid, line) in processes_of(&place.state()) {
        if line.contains("\0control\0") || line.contains("\0supervisor\0") {
            let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
        }
    }
    place.file("shared/go", "");
    place.pinnace(&["wait", "crash"]).succeeded();
    assert_eq!(groups(), 0);
    std::fs::remove_dir(&other).unwrap();
}
