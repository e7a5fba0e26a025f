//! The retry table, read from the page for users, and the limits that upstream lacks.

use super::*;
use crate::lifecycle::retry::{Circumstances, rule};

const PAGE: &str = include_str!("../../../../../docs/retries.md");
const K: u32 = 3;

fn decide(retries: Retries, policy: Policy, verdict: &Verdict, ran_for_ms: u64) -> Decision {
    let circumstances = Circumstances {
        settings: &Settings::default(),
        ran_for_ms,
        random_wait: true,
    };
    retries.decide(policy, verdict, circumstances)
}

fn cells() -> Vec<(Policy, Behaviour, String)> {
    let columns = [
        Behaviour::Success,
        Behaviour::Transient,
        Behaviour::TransientConflict,
        Behaviour::Permanent,
        Behaviour::Unknown,
    ];
    let mut cells = Vec::new();
    for line in PAGE.lines() {
        let row: Vec<&str> = line.split('|').map(str::trim).collect();
        let ["", fancy @ ("no" | "yes"), limit, outcomes @ .., ""] = row.as_slice() else {
            continue;
        };
        let limit = match *limit {
            "k" => K as i32,
            number => number.replace('−', "-").parse().unwrap(),
        };
        let policy = Policy {
            fancy: *fancy == "yes",
            limit,
        };
        assert_eq!(outcomes.len(), columns.len(), "{line}");
        for (behaviour, cell) in columns.into_iter().zip(outcomes) {
            cells.push((policy, behaviour, (*cell).to_owned()));
        }
    }
    cells
}

#[test]
fn every_cell_of_the_table_on_the_page_holds() {
    let cells = cells();
    assert_eq!(cells.len(), 8 * 5);
    for (policy, behaviour, cell) in cells {
        for counted in [0, K - 1, K] {
            let verdict = verdict(behaviour);
            let retries = Retries {
                total: counted,
                counted,
                streak: 0,
            };
            let decision = decide(retries, policy, &verdict, 0);
            let (again, is_counted) = match cell.as_str() {
                "stop" => (false, false),
                "up to k" => (counted < K, counted < K),
                "without end" => (true, true),
                "free" | "free, random wait" => (true, false),
                other => panic!("a cell says `{other}`"),
            };
            let place = format!("{policy:?} {behaviour:?} after {counted}: {decision:?}");
            assert_eq!(decision.again, again, "{place}");
            assert_eq!(decision.counted, is_counted, "{place}");
            let waits_at_random = cell == "free, random wait";
            assert_eq!(decision.rule == Rule::Conflict, waits_at_random, "{place}");
            if waits_at_random {
                assert!((60_000..=900_000).contains(&decision.delay_ms), "{place}");
            } else {
                let first_wait = if cell.starts_with("free") || cell == "without end" {
                    1_000
                } else {
                    0
                };
                assert_eq!(decision.delay_ms, first_wait, "{place}");
            }
        }
    }
}

#[test]
fn what_was_stopped_is_never_tried_again() {
    for code in [-210, -220, -230] {
        for limit in [-2, -1, 0, 3] {
            for fancy in [false, true] {
                let policy = Policy { fancy, limit };
                assert_eq!(rule(policy, &Verdict::of(code), 0), Rule::Stopped);
            }
        }
    }
}

const FANCY: Policy = Policy {
    fancy: true,
    limit: 0,
};

/// The waits before each retry, until it is given up.
fn waits(policy: Policy, verdict: &Verdict, ran_for_ms: u64, most: usize) -> Vec<u64> {
    let mut retries = Retries::default();
    let mut waits = Vec::new();
    while waits.len() < most {
        let decision = decide(retries, policy, verdict, ran_for_ms);
        if !decision.again {
            assert_eq!(decision.rule, Rule::TransientTooOften);
            break;
        }
        waits.push(decision.delay_ms);
        retries.go_on(decision);
    }
    waits
}

#[test]
fn free_retries_wait_longer_each_time_and_end_after_ten_in_a_row() {
    assert_eq!(
        waits(FANCY, &verdict(Behaviour::Transient), 0, 100),
        [1, 2, 4, 8, 16, 32, 64, 128, 256, 300].map(|seconds| seconds * 1_000)
    );
}

#[test]
fn an_attempt_that_ran_for_long_begins_a_new_row() {
    let long = Settings::default().steady_run_ms;
    let verdict = verdict(Behaviour::Transient);
    assert_eq!(waits(FANCY, &verdict, long, 50), [1_000; 50]);
}

#[test]
fn being_taken_away_costs_neither_waits_nor_patience() {
    assert_eq!(waits(FANCY, &Verdict::of(-101), 0, 50), [0; 50]);
}

#[test]
fn a_policy_without_end_has_no_end_but_waits() {
    for limit in [-1, -2] {
        let policy = Policy { fancy: true, limit };
        for behaviour in [Behaviour::Transient, Behaviour::Unknown] {
            let waits = waits(policy, &verdict(behaviour), 0, 30);
            assert_eq!(waits.len(), 30);
            assert_eq!(waits.last(), Some(&300_000));
        }
    }
}

#[test]
fn conflicts_wait_differently_in_different_jobs_and_attempts() {
    let wait = |seed, total| {
        let settings = Settings {
            seed,
            ..Settings::default()
        };
        let circumstances = Circumstances {
            settings: &settings,
            ran_for_ms: 0,
            random_wait: true,
        };
        let retries = Retries {
            total,
            ..Retries::default()
        };
        retries
            .decide(FANCY, &Verdict::of(251), circumstances)
            .delay_ms
    };
    let waits: std::collections::BTreeSet<u64> = (0..100)
        .map(|seed| wait(seed, 0))
        .chain((1..100).map(|attempt| wait(7, attempt)))
        .collect();
    assert!(waits.len() > 190);
    assert!(waits.iter().all(|wait| (60_000..=900_000).contains(wait)));
    assert_eq!(wait(7, 3), wait(7, 3));
}

#[test]
fn the_budget_that_is_left_can_be_seen() {
    let retries = Retries {
        total: 5,
        counted: 1,
        streak: 4,
    };
    let policy = Policy {
        fancy: true,
        limit: 3,
    };
    assert_eq!(
        retries.budget(policy, &Settings::default()),
        Budget {
            counted: 1,
            left: Some(2),
            free: 4,
            free_left: Some(6)
        }
    );
}

// The examples of the framework controller, with its policy of one counted retry for jobs and tasks.

fn example(gang: bool, behaviour: Behaviour, rounds: usize) -> Run {
    let worker = Role {
        retries: 1,
        ..role(1, 1, -1)
    };
    let mut run = Run::running(&plan(gang, 1, &[worker]));
    for _ in 0..rounds {
        if run.job.state() != State::Completed {
            run.exit(0, 0, verdict(behaviour));
            run.oblige();
        }
    }
    run
}

#[test]
fn a_permanent_failure_runs_once() {
    let run = example(false, Behaviour::Permanent, 1);
    assert_eq!((run.job.state(), run.code()), (State::Completed, Some(210)));
    assert_eq!(run.job.retries().total, 0);
}

#[test]
fn an_unknown_failure_runs_twice_in_each_of_two_attempts() {
    let run = example(false, Behaviour::Unknown, 3);
    assert_eq!(run.job.state(), State::AttemptRunning);
    let run = example(false, Behaviour::Unknown, 4);
    assert_eq!((run.job.state(), run.code()), (State::Completed, Some(1)));
    assert_eq!(run.job.retries().counted, 1);
    assert_eq!(run.job.tasks().next().unwrap().retries.counted, 1);
}

#[test]
fn success_runs_once() {
    let run = example(false, Behaviour::Success, 1);
    assert_eq!((run.job.state(), run.code()), (State::Completed, Some(0)));
}

#[test]
fn a_transient_failure_of_a_gang_is_tried_again_for_free_until_it_is_too_often() {
    let run = example(true, Behaviour::Transient, 10);
    assert_eq!(run.job.state(), State::AttemptRunning);
    assert_eq!(
        (run.job.retries().total, run.job.retries().counted),
        (10, 0)
    );
    let run = example(true, Behaviour::Transient, 11);
    assert_eq!((run.job.state(), run.code()), (State::Completed, Some(200)));
    assert_eq!(run.job.decision().unwrap().rule, Rule::TransientTooOften);
}

#[test]
fn a_conflict_of_a_gang_waits_at_random() {
    let mut run = Run::running(&plan(true, 1, &[role(1, 1, -1)]));
    let effects = run.exit(0, 0, verdict(Behaviour::TransientConflict));
    let Some(Effect::ScheduleTimer { at, timer }) = effects.last() else {
        panic!("{effects:?}");
    };
    assert_eq!(*timer, Timer::JobRetry(0));
    assert!((60_000..=900_000).contains(&at.since(run.now)));
    assert_eq!(run.job.next_attempt_at(), Some(*at));
    assert_eq!(run.job.shown(), Shown::Running);
}

#[test]
fn tasks_of_a_gang_are_not_tried_again_by_themselves() {
    let worker = Role {
        retries: 5,
        ..role(2, -1, -1)
    };
    let mut run = Run::running(&plan(true, 0, &[worker]));
    run.exit(0, 0, verdict(Behaviour::Transient));
    let task = run.job.tasks().next().unwrap();
    assert_eq!((task.state, task.retries.total), (State::Completed, 0));
}
