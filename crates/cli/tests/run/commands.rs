//! The commands around a job that runs or has run.

use std::io::Read as _;
use std::process::Command;

use crate::support::{Place, job, until};

const FOREVER: &str = "echo begun\ntrap 'echo told; exit 3' TERM\nwhile true; do sleep 0.1; done";

fn forever(place: &Place) -> String {
    place.file(
        "forever.yaml",
        &job("forever", &[("worker", 1, (1, -1), FOREVER)]),
    )
}

fn signal(pid: u32, name: &str) {
    let status = Command::new("kill")
        .args([format!("-{name}"), pid.to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn a_job_in_the_background_can_be_listed_followed_stopped_and_removed() {
    let place = Place::new();
    let file = forever(&place);
    let id = place
        .pinnace(&["run", "--detach", &file])
        .succeeded()
        .stdout;
    let id = id.trim();
    assert!(id.starts_with("forever-"), "{id}");
    until("the task speaks", || {
        place.pinnace(&["logs", id]).stdout == "worker[0] | begun\n"
    });
    // The task may speak before its start is stored.
    until("it is listed as running", || {
        let listed = place.pinnace(&["ps"]).succeeded().stdout;
        assert!(listed.contains(id), "{listed}");
        listed.contains("running")
    });
    let shown = place.pinnace(&["show", "forever"]).succeeded().stdout;
    assert!(
        shown.contains("worker[0]") && shown.contains("command"),
        "{shown}"
    );
    assert_eq!(place.pinnace(&["rm", id]).code, Some(2));

    let follower = place.start(&["logs", "-f", id, "worker[0]"]);
    let stopped = place.pinnace(&["stop", id]).succeeded();
    assert_eq!(stopped.stderr, format!("{id}: stopped\n"));
    let followed = follower.wait_with_output().unwrap();
    let followed = String::from_utf8_lossy(&followed.stdout).into_owned();
    assert!(
        followed.starts_with("begun\n") && followed.ends_with("told\n"),
        "{followed}"
    );
    assert_eq!(place.pinnace(&["wait", id]).code, Some(1));

    place.pinnace(&["rm", id]).succeeded();
    assert!(!place.state().join("jobs").join(id).exists());
    let said = place.pinnace(&["show", id]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("there is no job"), "{said:?}");
}

#[test]
fn an_interrupt_stops_the_job_and_a_second_one_kills_it() {
    let place = Place::new();
    let text = job(
        "stubborn",
        &[(
            "worker",
            1,
            (1, -1),
            "trap 'echo no' TERM\necho begun\nwhile true; do sleep 0.1; done",
        )],
    );
    let file = place.file("stubborn.yaml", &text);
    let mut run = place.start(&["run", &file]);
    until("the task speaks", || {
        place
            .pinnace(&["logs", "stubborn"])
            .stdout
            .contains("begun")
    });
    signal(run.id(), "INT");
    until("the task is told", || {
        place.pinnace(&["logs", "stubborn"]).stdout.contains("no")
    });
    signal(run.id(), "INT");
    let status = run.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    let mut stderr = String::new();
    run.stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    assert!(stderr.contains("Ctrl-C once more kills"), "{stderr}");
    assert_eq!(place.show("stubborn")["state"], "STOPPED");
}

#[test]
fn a_job_can_be_run_once_more_and_asks_for_its_secrets() {
    let place = Place::new();
    let text = job(
        "once",
        &[("worker", 1, (1, -1), "echo <% $secrets.word %> | wc -c")],
    )
    .replace("taskRoles:", "secrets:\n  word: four-letters\ntaskRoles:");
    let file = place.file("once.yaml", &text);
    let first = place.pinnace(&["run", "-q", &file]).succeeded();
    assert_eq!(first.stdout, "worker[0] | 13\n");
    let said = place.pinnace(&["retry", "-q", "once"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.stderr.contains("PINNACE_SECRET_WORD"), "{said:?}");
    let again = place
        .command(&["retry", "-q", "once"])
        .env("PINNACE_SECRET_WORD", "three-words")
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&again.stdout), "worker[0] | 12\n");
    place.file("word.txt", "one");
    let again = place
        .pinnace(&["retry", "-q", "once", "--secret", "word=@word.txt"])
        .succeeded();
    assert_eq!(again.stdout, "worker[0] | 4\n");
    let said = place.pinnace(&["retry", "once", "--secret", "wrod=@word.txt"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.stderr.contains("did you mean `word`?"), "{said:?}");
}

#[test]
fn a_failed_task_is_kept_and_can_be_entered() {
    let place = Place::new();
    let text = job(
        "kept",
        &[("worker", 1, (1, -1), "echo 42 > answer\nexit 1")],
    ) + "extras: {pinnace: {keepOnFailureMinutes: 10}}\n";
    let file = place.file("kept.yaml", &text);
    let id = place.pinnace(&["run", "-d", &file]).succeeded().stdout;
    let id = id.trim();
    until("the task is kept", || {
        place.show(id)["tasks"][0]["facts"]["keptUntil"].is_u64()
    });
    let said = place.pinnace(&["shell", id, "worker[0]", "--", "cat answer"]);
    assert_eq!((said.code, &*said.stdout), (Some(0), "42\n"), "{said:?}");
    place.pinnace(&["stop", "--force", id]).succeeded();
    // A flag counts more than the file.
    let said = place.pinnace(&["run", "-q", "--keep-on-failure", "0", &file]);
    assert_eq!(said.code, Some(1), "{said:?}");
}

#[test]
fn a_flag_keeps_a_failed_task_until_its_time_is_over() {
    let place = Place::new();
    let file = place.file(
        "kept.yaml",
        &job("kept", &[("worker", 1, (1, -1), "exit 1")]),
    );
    let id = place
        .pinnace(&["run", "-d", "--keep-on-failure", "10m", &file])
        .succeeded()
        .stdout;
    until("the task is kept", || {
        place.show(id.trim())["tasks"][0]["facts"]["keptUntil"].is_u64()
    });
    place.pinnace(&["stop", "--force", id.trim()]).succeeded();
}

#[test]
fn one_wrong_name_does_not_keep_a_command_from_the_others() {
    let place = Place::new();
    let file = forever(&place);
    let short = place.file(
        "short.yaml",
        &job(
            "short",
            &[("worker", 1, (1, -1), "mkdir -p a/b; chmod 0 a")],
        ),
    );
    place.pinnace(&["run", "-q", &short]).succeeded();
    place.pinnace(&["run", "-d", &file]).succeeded();
    let said = place.pinnace(&["stop", "shrot", "forever", "short", "forever"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.stderr.contains("did you mean `short`?"), "{said:?}");
    assert_eq!(said.stderr.matches(": stopped").count(), 1, "{said:?}");
    assert!(
        said.stderr.contains(": had ended already, succeeded"),
        "{said:?}"
    );
    let said = place.pinnace(&["wait", "short", "forever", "-o", "json"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert_eq!(said.json().as_array().unwrap().len(), 2);
    let said = place.pinnace(&["rm", "nothing", "short"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.stderr.contains("removed short-"), "{said:?}");
}

#[test]
fn a_job_that_runs_is_removed_by_force_alone() {
    let place = Place::new();
    let file = forever(&place);
    place.pinnace(&["run", "-d", &file]).succeeded();
    let said = place.pinnace(&["rm", "forever"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.stderr.contains("pinnace rm --force"), "{said:?}");
    place.pinnace(&["rm", "--force", "forever"]).succeeded();
    assert_eq!(place.pinnace(&["ps", "--all"]).stderr, "no jobs yet\n");
    let jobs = std::fs::read_dir(place.state().join("jobs")).unwrap();
    assert_eq!(jobs.count(), 0);
}

#[test]
fn what_has_ended_can_be_pruned() {
    let place = Place::new();
    let file = place.file(
        "short.yaml",
        &job("short", &[("worker", 1, (1, -1), "true")]),
    );
    for _ in 0..2 {
        place.pinnace(&["run", "-q", &file]).succeeded();
    }
    let kept = place
        .pinnace(&["prune", "--older-than", "1h", "-o", "json"])
        .succeeded();
    assert_eq!(kept.json().as_array().unwrap().len(), 0);
    let would = place
        .pinnace(&["prune", "--dry-run", "-o", "json"])
        .succeeded();
    assert_eq!(would.json().as_array().unwrap().len(), 2);
    let removed = place.pinnace(&["prune", "-o", "json"]).succeeded();
    assert_eq!(removed.json().as_array().unwrap().len(), 2);
    assert_eq!(place.pinnace(&["ps"]).stderr, "no jobs yet\n");
}

#[test]
fn what_is_left_of_a_job_that_was_never_stored_goes_with_prune() {
    let place = Place::new();
    let file = place.file(
        "short.yaml",
        &job("short", &[("worker", 1, (1, -1), "true")]),
    );
    place.pinnace(&["run", "-q", &file]).succeeded();
    let jobs = place.state().join("jobs");
    // As a process leaves it that is killed before its job is stored, or after somebody has moved the database away.
    std::fs::create_dir_all(jobs.join("early-00000000/launches/0")).unwrap();
    std::fs::create_dir_all(jobs.join("other-00000000/launches/0")).unwrap();
    std::fs::write(jobs.join("other-00000000/launches/0/attempt.json"), "{}").unwrap();
    place.pinnace(&["prune", "--older-than", "1h"]).succeeded();
    let mut left: Vec<String> = std::fs::read_dir(&jobs)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left.len(), 2, "{left:?}");
    assert!(
        left[0] == "other-00000000" && left[1].starts_with("short-"),
        "{left:?}"
    );
}

#[test]
fn wrong_words_are_told_before_anything_is_stored() {
    let place = Place::new();
    let file = forever(&place);
    for arguments in [
        &["run", &file, "--exit-code-from", "server"] as &[&str],
        &["run", &file, "--storage", "nfs"],
        &["run", "missing.yaml"],
        &["run", &file, "--keep-on-failure", "soon"],
    ] {
        let said = place.pinnace(arguments);
        assert_eq!(said.code, Some(2), "{said:?}");
    }
    assert!(!place.state().exists());
}

#[test]
fn a_state_directory_that_cannot_be_used_is_told_of() {
    let place = Place::new();
    let file = forever(&place);
    place.file("state", "a file in the way");
    for arguments in [&["run", &file] as &[&str], &["ps"]] {
        let said = place.pinnace(arguments);
        assert_eq!(said.code, Some(3), "{said:?}");
        assert!(
            said.stderr
                .starts_with("error: cannot use the state directory"),
            "{said:?}"
        );
        assert!(said.stderr.contains("help: `PINNACE_STATE`"), "{said:?}");
    }
}

#[test]
fn a_job_with_files_that_datasets_point_at_is_removed_by_force_alone() {
    let place = Place::new();
    let file = place.file("made.yaml", &job("made", &[("worker", 1, (1, -1), "true")]));
    place.pinnace(&["run", "-q", &file]).succeeded();
    let id = place.show("made")["id"].as_str().unwrap().to_owned();
    let made = place.state().join("jobs").join(&id).join("launches");
    let made = made.canonicalize().unwrap();
    for name in ["first", "second"] {
        let arguments = ["data", "add", name, made.to_str().unwrap()];
        place.pinnace(&arguments).succeeded();
    }
    let said = place.pinnace(&["rm", &id]);
    assert_eq!(said.code, Some(2), "{said:?}");
    let words = "the datasets `first:1` and `second:1` point at files";
    assert!(said.stderr.contains(words), "{said:?}");
    let said = place.pinnace(&["prune"]).succeeded();
    assert!(
        said.stderr
            .contains(&format!("kept {id}: the datasets `first:1`")),
        "{said:?}"
    );
    assert!(made.exists());
    let said = place.pinnace(&["rm", "--force", &id]).succeeded();
    assert!(said.stderr.contains("warning: the datasets"), "{said:?}");
    assert!(!made.exists());
}
