//! Jobs of ten thousand tasks.

use super::*;

#[test]
fn the_work_of_a_step_does_not_grow_with_the_job() {
    // Ten thousand steps over a thousand times more tasks would take minutes if each looked at all.
    for gang in [true, false] {
        let mut run = Run::running(&plan(gang, 0, &[role(10_000, -1, -1)]));
        for index in 0..10_000 {
            run.exit(0, index, failure());
        }
        assert_eq!((run.job.state(), run.code()), (State::Completed, Some(0)));
    }
}

#[test]
fn one_failure_ends_ten_thousand_tasks() {
    let mut run = Run::running(&plan(true, 0, &[role(10_000, 1, 10_000)]));
    let effects = run.exit(0, 9_999, failure());
    assert_eq!(effects.len(), 1 + 9_999);
    run.oblige();
    assert_eq!((run.job.state(), run.code()), (State::Completed, Some(1)));
}

#[test]
fn the_state_of_ten_thousand_tasks_takes_about_two_hundred_bytes_each() {
    let mut run = Run::running(&plan(true, 0, &[role(10_000, -1, -1)]));
    for index in 0..9_999 {
        run.exit(0, index, failure());
    }
    let json = serde_json::to_string(&run.job).unwrap();
    assert!(json.len() < 10_000 * 300, "{} bytes", json.len());
    assert_eq!(serde_json::from_str::<JobState>(&json).unwrap(), run.job);
}
