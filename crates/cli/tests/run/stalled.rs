//! A reader that stands still (`pinnace run job | less`, Ctrl-S) holds up what is shown, and nothing else.

use std::process::Child;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::{Place, Said, has_ended, job, until, with_shared};

/// So many lines are more than a pipe holds, several times.
const LINES: usize = 4000;
const FLOOD: &str = "seq -f 'line %06g of many that nobody reads for a long time' 1 4000";

fn lines() -> Vec<String> {
    let line = |number| format!("line {number:06} of many that nobody reads for a long time");
    (1..=LINES).map(line).collect()
}

/// Starts a job of one task whose output nobody reads yet.
fn start_unread(place: &Place, name: &str, command: &str, more: &[&str]) -> Child {
    place.folder("shared");
    let text = with_shared(&job(name, &[("worker", 1, (1, -1), command)]));
    let text = text.replace("type: job\n", "type: job\njobRetryCount: 1\n");
    let file = place.file(&format!("{name}.yaml"), &text);
    let mut arguments = vec!["run", &file, "--storage", "shared=shared"];
    arguments.extend(more);
    place.start(&arguments)
}

fn state(place: &Place, job: &str) -> String {
    let said = place.pinnace(&["show", job, "-o", "json"]);
    match said.code {
        Some(0) => said.json()["state"].as_str().unwrap().to_owned(),
        // It is not there yet.
        _ => String::new(),
    }
}

fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
}

/// All that the task wrote was shown, once and in order.
fn assert_shown(said: &Said, written: &[String]) {
    let of_task = |line| str::strip_prefix(line, "worker[0] | ");
    let shown: Vec<&str> = said.stdout.lines().filter_map(of_task).collect();
    let differs = shown
        .iter()
        .zip(written)
        .position(|(one, other)| one != other);
    let at = differs.unwrap_or_else(|| shown.len().min(written.len()));
    // Not with all of both in the message: there are thousands of lines.
    assert_eq!(
        (shown.len(), shown.get(at)),
        (written.len(), written.get(at).map(String::as_str).as_ref()),
        "line {at}"
    );
}

#[test]
fn a_job_is_tried_again_and_ends_while_nobody_reads_and_every_line_is_there_for_who_reads_later() {
    let place = Place::in_sight();
    let command = format!("{FLOOD}\nmkdir /mnt/shared/tried 2>/dev/null && exit 9\necho again");
    let mut run = start_unread(&place, "again", &command, &[]);
    until("the job succeeds at its second try", || {
        state(&place, "again") == "SUCCEEDED"
    });
    assert_eq!(place.show("again")["attempt"], 1);
    assert!(
        !has_ended(&mut run),
        "there is more to show than a pipe holds"
    );
    let said: Said = run.wait_with_output().unwrap().into();
    let mut expected = lines();
    expected.extend(lines());
    expected.push("again".to_owned());
    assert_shown(&said, &expected);
    assert!(
        said.stderr.contains("worker[0]: failed with exit code 9"),
        "{said:?}"
    );
    assert!(said.stderr.contains(" succeeded after "), "{said:?}");
    said.succeeded();
}

#[test]
fn a_time_limit_is_kept_while_nobody_reads() {
    let place = Place::in_sight();
    let command = format!("{FLOOD}\nwhile true; do sleep 0.1; done");
    let run = start_unread(&place, "limit", &command, &["--time-limit", "3s"]);
    until("the job is out of time", || {
        state(&place, "limit") == "FAILED"
    });
    let said: Said = run.wait_with_output().unwrap().into();
    assert_eq!(said.code, Some(1), "{said:?}");
    let written = place.pinnace(&["logs", "limit", "worker[0]"]).succeeded();
    let written: Vec<String> = written.stdout.lines().map(str::to_owned).collect();
    assert_shown(&said, &written);
    assert!(said.stderr.contains("3 s"), "{said:?}");
}

#[test]
fn ctrl_c_is_heard_while_nobody_reads() {
    let place = Place::in_sight();
    // Once: the job stops in order.
    let command = format!("{FLOOD}\ntouch /mnt/shared/begun\nwhile true; do sleep 0.1; done");
    let mut run = start_unread(&place, "once", &command, &[]);
    let begun = place.path().join("shared/begun");
    until("the task runs", || begun.exists());
    send(&run, Signal::SIGINT);
    until("the job is stopped", || state(&place, "once") == "STOPPED");
    assert!(
        !has_ended(&mut run),
        "there is more to show than a pipe holds"
    );
    let said: Said = run.wait_with_output().unwrap().into();
    assert_eq!(said.code, Some(130), "{said:?}");
    assert_shown(&said, &lines());
    assert!(
        said.stderr.contains("stopping; Ctrl-C once more"),
        "{said:?}"
    );

    // Twice: a task that does not want to end is killed. Thrice: what is left to show is given up.
    std::fs::remove_file(&begun).unwrap();
    let command = format!(
        "trap 'touch /mnt/shared/told' TERM\n{FLOOD}\ntouch /mnt/shared/begun\nwhile true; do sleep 0.1 || true; done"
    );
    let mut run = start_unread(&place, "twice", &command, &[]);
    until("the task runs", || begun.exists());
    send(&run, Signal::SIGINT);
    let told = place.path().join("shared/told");
    until("the task is asked to end", || told.exists());
    send(&run, Signal::SIGINT);
    until("the job is stopped", || state(&place, "twice") == "STOPPED");
    assert_eq!(
        place.show("twice")["tasks"][0]["facts"]["report"]["killed"],
        true
    );
    assert!(
        !has_ended(&mut run),
        "there is more to show than a pipe holds"
    );
    send(&run, Signal::SIGINT);
    until("the program ends", || has_ended(&mut run));
    assert_eq!(run.wait().unwrap().code(), Some(130));
}
