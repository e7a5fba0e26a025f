//! What is told of a job that failed, and how it is tried again.

use crate::support::{Place, job};

/// Runs until it is stopped.
const FOREVER: &str = "while true; do sleep 0.1; done";

#[test]
fn one_failure_fails_the_job_and_is_explained() {
    let place = Place::new();
    let text = job(
        "fails",
        &[(
            "worker",
            2,
            (1, -1),
            "echo on my way\n[ $PAI_TASK_INDEX = 0 ] && exit 17\nsleep 60",
        )],
    );
    let file = place.file("fails.yaml", &text);
    let said = place.pinnace(&["run", &file]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stderr.contains("decided by  worker[0]"), "{said:?}");
    assert!(said.stderr.contains("exit code 17"), "{said:?}");
    assert!(said.stderr.contains("    | on my way"), "{said:?}");
    let said = place.pinnace(&["run", &file, "--quiet", "--exit-code-from", "worker[0]"]);
    assert_eq!(said.code, Some(17), "{said:?}");
}

#[test]
fn a_job_is_tried_again_as_long_as_its_budget_lasts() {
    let place = Place::new();
    let text = job(
        "again",
        &[("worker", 1, (1, -1), "echo try $PAI_TASK_INDEX; exit 9")],
    )
    .replace("type: job\n", "type: job\njobRetryCount: 2\n");
    let file = place.file("again.yaml", &text);
    let said = place.pinnace(&["run", &file]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert_eq!(said.stdout.matches("try 0").count(), 3, "{said:?}");
    assert!(said.stderr.contains("tried 3 times"), "{said:?}");
}

#[test]
fn a_task_is_tried_again_by_itself_without_a_gang() {
    let place = Place::new();
    let text = job(
        "single",
        &[(
            "worker",
            2,
            (1, -1),
            "[ $PAI_TASK_INDEX = 0 ] || exit 9\necho fine",
        )],
    )
    .replace("    completion:", "    taskRetryCount: 1\n    completion:")
        + "extras:\n  gangAllocation: false\n";
    let file = place.file("single.yaml", &text);
    let said = place.pinnace(&["run", &file]);
    assert_eq!(said.code, Some(1), "{said:?}");
    let view = place.show("single");
    assert_eq!(view["tasks"][0]["retries"]["total"], 0, "{view}");
    assert_eq!(view["tasks"][1]["retries"]["total"], 1, "{view}");
}

#[test]
fn a_signal_is_told_by_its_number() {
    let place = Place::new();
    for (signal, code) in [("ABRT", 134), ("SEGV", 139)] {
        let text = job(
            "signal",
            &[("worker", 1, (1, -1), &format!("kill -{signal} $$"))],
        );
        let file = place.file("signal.yaml", &text);
        let said = place.pinnace(&["run", &file, "-q", "--exit-code-from", "worker"]);
        assert_eq!(said.code, Some(code), "{signal}: {said:?}");
    }
}

#[test]
fn a_job_that_takes_too_long_is_stopped_and_fails_and_its_verdict_says_so() {
    let place = Place::new();
    let file = place.file(
        "slow.yaml",
        &job("slow", &[("worker", 2, (1, -1), FOREVER)]),
    );
    let said = place.pinnace(&["run", &file, "--time-limit", "1s"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.stderr
            .contains("decided by  the time limit of the job has passed: 1 s"),
        "{said:?}"
    );
    assert!(
        said.stderr.contains("PodDeadlineExceeded (-1004)"),
        "{said:?}"
    );
}
