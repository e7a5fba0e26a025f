//! The pages about the life of a job say what the code does.

use super::*;

const PAGE: &str = include_str!("../../../../../docs/lifecycle.md");

/// The rows of the table below a heading, cell by cell, without its head.
fn table(heading: &str) -> Vec<Vec<String>> {
    let (_, below) = PAGE.split_once(&format!("\n## {heading}\n")).unwrap();
    let section = below.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with('|'));
    let cells = |line: &str| -> Vec<String> {
        let inside = line.trim_matches('|');
        inside
            .split('|')
            .map(|cell| cell.trim().to_owned())
            .collect()
    };
    rows.skip(2).map(cells).collect()
}

fn names_in(cell: &str) -> Vec<String> {
    let names = cell.split('`').skip(1).step_by(2);
    names.map(ToOwned::to_owned).collect()
}

fn name_of(value: &impl serde::Serialize, key: &str) -> String {
    let json = serde_json::to_value(value).unwrap();
    json[key].as_str().unwrap().to_owned()
}

fn inputs() -> Vec<Input> {
    let task = TaskAttempt {
        job_attempt: 0,
        task: TaskId { role: 0, index: 0 },
        attempt: 0,
    };
    let group = Group::Gang(0);
    let verdict = failure();
    let timer = Timer::JobRetry(0);
    let inputs = vec![
        Input::Placed { group },
        Input::PlaceRefused {
            group,
            verdict: verdict.clone(),
        },
        Input::LaunchFailed {
            group,
            verdict: verdict.clone(),
        },
        Input::TaskPreparing { task },
        Input::TaskStarted { task },
        Input::TaskExited { task, verdict },
        Input::TaskLost { task },
        Input::KillAccepted { task },
        Input::TaskEnding { task },
        Input::Preempted { group },
        Input::Stop { force: false },
        Input::TimerFired { timer },
    ];
    for input in &inputs {
        // A new input does not compile until it is listed here, above and on the page.
        match input {
            Input::Placed { .. }
            | Input::PlaceRefused { .. }
            | Input::LaunchFailed { .. }
            | Input::TaskPreparing { .. }
            | Input::TaskStarted { .. }
            | Input::TaskExited { .. }
            | Input::TaskLost { .. }
            | Input::KillAccepted { .. }
            | Input::TaskEnding { .. }
            | Input::Preempted { .. }
            | Input::Stop { .. }
            | Input::TimerFired { .. } => {}
        }
    }
    inputs
}

fn effects() -> Vec<Effect> {
    let task = TaskAttempt {
        job_attempt: 0,
        task: TaskId { role: 0, index: 0 },
        attempt: 0,
    };
    let group = Group::Gang(0);
    let effects = vec![
        Effect::Place { group },
        Effect::Withdraw { group },
        Effect::Launch { group },
        Effect::Kill {
            task,
            reason: KillReason::StopAsked,
            force: false,
        },
        Effect::Release { task },
        Effect::ScheduleTimer {
            at: Time(0),
            timer: Timer::JobRetry(0),
        },
        Effect::Finish { code: 0 },
    ];
    for effect in &effects {
        match effect {
            Effect::Place { .. }
            | Effect::Withdraw { .. }
            | Effect::Launch { .. }
            | Effect::Kill { .. }
            | Effect::Release { .. }
            | Effect::ScheduleTimer { .. }
            | Effect::Finish { .. } => {}
        }
    }
    effects
}

#[test]
fn the_table_of_states_is_that_of_the_code() {
    let shown: Vec<(Vec<String>, Vec<String>)> = table("States")
        .iter()
        .map(|row| (names_in(&row[0]), names_in(&row[4])))
        .collect();
    let name = |state: &State| format!("{state:?}");
    let real: Vec<(Vec<String>, Vec<String>)> = State::ALL
        .iter()
        .map(|state| {
            let successors = state.successors().iter().map(name).collect();
            (vec![name(state)], successors)
        })
        .collect();
    assert_eq!(shown, real);
}

#[test]
fn the_table_of_inputs_is_that_of_the_code() {
    let shown: Vec<String> = table("Inputs")
        .iter()
        .flat_map(|row| names_in(&row[0]))
        .collect();
    let real: Vec<String> = inputs()
        .iter()
        .map(|input| name_of(input, "input"))
        .collect();
    assert_eq!(shown, real);
}

#[test]
fn the_table_of_effects_is_that_of_the_code() {
    let rows = table("Effects");
    let shown: Vec<String> = rows.iter().flat_map(|row| names_in(&row[0])).collect();
    let real: Vec<String> = effects()
        .iter()
        .map(|effect| name_of(effect, "effect"))
        .collect();
    assert_eq!(shown, real);
    let known: Vec<String> = inputs()
        .iter()
        .map(|input| name_of(input, "input"))
        .collect();
    for answer in rows.iter().flat_map(|row| names_in(&row[2])) {
        assert!(known.contains(&answer), "`{answer}` is no input");
    }
}
