//! The engine by itself: what it finds on this machine, and one attempt without a store.

use std::process::{Command, Stdio};

use crate::support::{Place, job, until};

#[test]
fn the_probe_finds_what_a_job_then_gets() {
    let place = Place::new();
    let engines = place.pinnace(&["engines", "-o", "json"]).succeeded().json();
    let local = &engines[0];
    assert_eq!(local["usable"], true);
    let file = place.file(
        "job.yaml",
        &job("probed", &[("worker", 1, (1, -1), "true")]),
    );
    place.pinnace(&["run", "-q", &file]).succeeded();
    let shown = place.show("probed");
    let report = &shown["tasks"][0]["facts"]["report"];
    assert_eq!(local["probe"]["sandbox"], report["level"]);
    assert_eq!(local["probe"]["notEnforced"], report["notEnforced"]);
    // Nothing of the trial is left.
    let left = std::fs::read_dir(place.state()).unwrap().flatten();
    let left = left.filter(|entry| entry.file_name().to_string_lossy().starts_with("probe-"));
    assert_eq!(left.count(), 0);
}

#[test]
fn what_a_job_may_miss_is_listed_with_its_remedy() {
    let place = Place::new();
    let said = place
        .command(&["engines"])
        .env("PATH", place.path())
        .output()
        .unwrap();
    assert!(said.status.success(), "{said:?}");
    let page = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(page.starts_with("local  this machine, as "), "{page}");
    assert!(
        page.contains("  no   git            not installed\n"),
        "{page}"
    );
    assert!(page.contains("install the package `git`"), "{page}");
    assert!(
        page.contains("a job that asks for cards is refused"),
        "{page}"
    );
}

/// The attempt of a job that was run, as the engine got it.
fn attempt_of(place: &Place, id: &str) -> String {
    let path = place
        .state()
        .join("jobs")
        .join(id)
        .join("launches/0/attempt.json");
    path.to_str().unwrap().to_owned()
}

#[test]
fn one_task_of_an_attempt_runs_in_the_foreground_and_gives_its_exit_code() {
    let place = Place::new();
    let command = "echo ${#TOKEN} > length\n[ $PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX = 1 ] && exit 7\ntrue";
    let text = job("pair", &[("worker", 2, (2, -1), command)])
        .replace("taskRoles:", "secrets: {token: four-letters}\ntaskRoles:")
        .replace("echo $", "export TOKEN=<% $secrets.token %>; echo $");
    let file = place.file("job.yaml", &text);
    let id = place.pinnace(&["run", "-d", &file]).succeeded().stdout;
    place.pinnace(&["wait", id.trim()]);
    let attempt = attempt_of(&place, id.trim());
    place.file("secrets.json", "{\"token\": \"open-sesame\"}");
    let again = place.path().join("again");
    let said = place.pinnace(&[
        "runner",
        &attempt,
        "--task",
        "worker[1]",
        "--folder",
        again.to_str().unwrap(),
        "--secrets",
        "secrets.json",
    ]);
    assert_eq!(said.code, Some(7), "{said:?}");
    let events: Vec<serde_json::Value> = said
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(events.last().unwrap()["event"], "ended");
    let exits = events.iter().filter(|event| event["event"] == "exited");
    assert_eq!(exits.count(), 1);
    let length = std::fs::read_to_string(again.join("tasks/worker-1/work/length")).unwrap();
    assert_eq!(length, "11\n");
}

#[test]
fn an_attempt_in_the_foreground_can_be_stopped() {
    let place = Place::new();
    let command = "trap 'exit 9' TERM\ntouch begun\nwhile true; do sleep 0.05; done";
    let file = place.file(
        "job.yaml",
        &job("endless", &[("worker", 1, (1, -1), command)]),
    );
    let id = place.pinnace(&["run", "-d", &file]).succeeded().stdout;
    let attempt = attempt_of(&place, id.trim());
    until("the job is launched", || {
        std::path::Path::new(&attempt).exists()
    });
    place.pinnace(&["stop", "--force", id.trim()]).succeeded();
    let folder = place.path().join("again");
    let mut runner = place
        .command(&["runner", &attempt, "--folder", folder.to_str().unwrap()])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    until("the task runs", || {
        folder.join("tasks/worker-0/work/begun").exists()
    });
    let pid = runner.id().to_string();
    assert!(Command::new("kill").arg(pid).status().unwrap().success());
    assert_eq!(runner.wait().unwrap().code(), Some(9));
}

#[test]
fn an_attempt_that_cannot_be_read_is_refused_with_its_reason() {
    let place = Place::new();
    let other = place.file("other.json", "{\"format\": \"other/1\"}");
    for arguments in [&["runner", "missing.json"] as &[&str], &["runner", &other]] {
        let said = place.pinnace(arguments);
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(said.stderr.starts_with("error: `"), "{said:?}");
    }
}
