//! Starting, stopping, losing and being late.

use super::*;

fn kills(effects: &[Effect]) -> Vec<(u32, KillReason, bool)> {
    let kill = |effect: &Effect| match effect {
        Effect::Kill {
            task,
            reason,
            force,
        } => Some((task.task.index, *reason, *force)),
        _ => None,
    };
    effects.iter().filter_map(kill).collect()
}

#[test]
fn a_gang_is_placed_and_launched_as_one() {
    let (mut job, effects) = JobState::begin(
        &plan(true, 0, &[role(2, 1, 2)]),
        Settings::default(),
        Time(5),
    );
    let group = Group::Gang(0);
    assert_eq!(effects, [Effect::Place { group }]);
    assert_eq!(job.shown(), Shown::Waiting);
    let effects = step(&mut job, Input::Placed { group }, Time(9));
    assert_eq!(effects, [Effect::Launch { group }]);
    assert_eq!(job.state(), State::AttemptCreationRequested);
    let task = job.tasks().next().unwrap();
    assert_eq!(
        (task.times.started, task.times.placed),
        (Time(5), Some(Time(9)))
    );
}

#[test]
fn without_a_gang_every_task_goes_its_own_way() {
    let mut run = Run::of(&plan(false, 0, &[role(2, 1, 2)]));
    assert_eq!(run.open.len(), 2);
    let group = Group::Task(run.attempt(0, 1));
    assert_eq!(
        run.feed(Input::Placed { group }),
        [Effect::Launch { group }]
    );
    let states: Vec<State> = run.job.tasks().map(|task| task.state).collect();
    assert_eq!(
        states,
        [
            State::AttemptCreationPending,
            State::AttemptCreationRequested
        ]
    );
}

#[test]
fn a_job_runs_once_its_first_task_runs() {
    let mut run = Run::of(&plan(true, 0, &[role(2, 1, 2)]));
    run.feed(Input::Placed {
        group: Group::Gang(0),
    });
    let task = run.attempt(0, 1);
    run.feed(Input::TaskPreparing { task });
    assert_eq!(run.job.state(), State::AttemptPreparing);
    run.feed(Input::TaskStarted { task });
    assert_eq!(run.job.state(), State::AttemptRunning);
}

#[test]
fn stop_ends_every_task_and_the_job_waits_for_the_engine() {
    let mut run = Run::running(&plan(true, 3, &[role(2, 1, 2)]));
    let effects = run.feed(Input::Stop { force: false });
    assert_eq!(
        kills(&effects),
        [
            (0, KillReason::StopAsked, false),
            (1, KillReason::StopAsked, false)
        ]
    );
    assert_eq!(run.job.shown(), Shown::Stopping);
    let task = run.attempt(0, 0);
    run.feed(Input::KillAccepted { task });
    assert_eq!(run.job.state(), State::AttemptDeletionRequested);
    run.feed(Input::TaskEnding { task });
    assert_eq!(run.job.state(), State::AttemptDeleting);
    let effects = run.exit(0, 0, Verdict::of(143));
    assert_eq!(effects, [Effect::Release { task }]);
    let effects = run.exit(0, 1, Verdict::of(0));
    assert_eq!(effects.last(), Some(&Effect::Finish { code: -210 }));
    assert_eq!(
        (run.job.state(), run.job.shown()),
        (State::Completed, Shown::Stopped)
    );
    assert_eq!(run.codes(), [Some(-220), Some(-220)]);
}

#[test]
fn a_second_forceful_stop_kills_without_grace() {
    let mut run = Run::running(&plan(true, 0, &[role(1, 1, 1)]));
    run.feed(Input::Stop { force: false });
    assert!(run.feed(Input::Stop { force: false }).is_empty());
    let effects = run.feed(Input::Stop { force: true });
    assert_eq!(kills(&effects), [(0, KillReason::StopAsked, true)]);
    assert!(run.feed(Input::Stop { force: true }).is_empty());
}

#[test]
fn a_forceful_stop_also_hurries_a_task_that_is_being_preempted() {
    let mut run = Run::running(&plan(false, 0, &[role(1, 1, 1)]));
    let group = Group::Task(run.attempt(0, 0));
    run.feed(Input::Preempted { group });
    let effects = run.feed(Input::Stop { force: true });
    assert_eq!(kills(&effects), [(0, KillReason::StopAsked, true)]);
}

#[test]
fn a_stopped_job_that_waits_for_a_place_withdraws() {
    let mut run = Run::of(&plan(true, 0, &[role(2, 1, 2)]));
    let group = Group::Gang(0);
    let effects = run.feed(Input::Stop { force: false });
    assert_eq!(
        effects,
        [Effect::Withdraw { group }, Effect::Finish { code: -210 }]
    );
    assert!(run.feed(Input::Placed { group }).is_empty());
}

#[test]
fn a_stopped_job_that_waits_for_its_next_attempt_ends_at_once() {
    let mut run = Run::running(&plan(true, 0, &[role(1, 1, 1)]));
    run.exit(0, 0, verdict(Behaviour::Transient));
    assert_eq!(run.job.state(), State::AttemptCompleted);
    let effects = run.feed(Input::Stop { force: false });
    assert_eq!(effects, [Effect::Finish { code: -210 }]);
    assert_eq!((run.job.retries().total, run.code()), (1, Some(-210)));
    assert!(
        run.feed(Input::TimerFired {
            timer: Timer::JobRetry(0)
        })
        .is_empty()
    );
}

#[test]
fn a_stop_while_a_failed_attempt_ends_prevents_the_next_one() {
    let mut run = Run::running(&plan(true, 5, &[role(2, 1, 2)]));
    run.exit(0, 0, failure());
    assert!(run.feed(Input::Stop { force: false }).is_empty());
    let effects = run.exit(0, 1, Verdict::of(143));
    assert_eq!(effects.last(), Some(&Effect::Finish { code: -210 }));
}

#[test]
fn the_time_limit_counts_from_the_first_task_and_is_final() {
    let settings = Settings {
        time_limit_ms: Some(60_000),
        ..Settings::default()
    };
    let mut run = Run::with(&plan(true, 5, &[role(2, 1, 2)]), settings);
    run.oblige();
    let timer = Timer::TimeLimit(0);
    let at = run.now.after(60_000);
    assert_eq!(run.job.outstanding(), [Effect::ScheduleTimer { at, timer }]);
    let effects = run.feed(Input::TimerFired { timer });
    assert_eq!(kills(&effects).len(), 2);
    run.oblige();
    assert_eq!(
        (run.job.state(), run.code()),
        (State::Completed, Some(-1004))
    );
}

#[test]
fn a_preempted_gang_is_tried_again_at_once_and_for_free() {
    let mut run = Run::running(&plan(true, 0, &[role(2, 1, 2)]));
    let effects = run.feed(Input::Preempted {
        group: Group::Gang(0),
    });
    assert_eq!(kills(&effects)[0].1, KillReason::Preempted);
    run.exit(0, 0, Verdict::of(143));
    let effects = run.exit(0, 1, Verdict::of(143));
    assert_eq!(
        effects.last(),
        Some(&Effect::Place {
            group: Group::Gang(1)
        })
    );
    assert_eq!(run.job.retries().counted, 0);
    assert_eq!(run.job.history().next().unwrap().outcome.verdict.code, -101);
}

#[test]
fn a_preempted_task_keeps_its_outcome_and_comes_back_alone() {
    let mut run = Run::running(&plan(false, 0, &[role(2, 1, 2)]));
    let group = Group::Task(run.attempt(0, 1));
    assert_eq!(kills(&run.feed(Input::Preempted { group })).len(), 1);
    assert!(run.feed(Input::Preempted { group }).is_empty());
    run.exit(0, 1, success());
    let task = run.job.task(TaskId { role: 0, index: 1 }).unwrap();
    assert_eq!(
        (task.retries.total, task.history[0].verdict.code),
        (1, -101)
    );
    assert_eq!(run.job.state(), State::AttemptRunning);
}

#[test]
fn a_lost_task_is_a_failure_that_passes() {
    let mut run = Run::running(&plan(true, 0, &[role(1, 1, 1)]));
    let task = run.attempt(0, 0);
    run.feed(Input::TaskLost { task });
    assert_eq!(run.code(), Some(-1001));
    assert_eq!(run.job.decision().unwrap().rule, Rule::Transient);
}

#[test]
fn a_job_that_fits_nowhere_fails_with_the_schedulers_reason() {
    let mut run = Run::of(&plan(true, 0, &[role(2, 1, 2)]));
    let verdict = Verdict {
        message: Some("8 GPUs asked for, 0 there".into()),
        ..Verdict::of(-200)
    };
    let group = Group::Gang(0);
    run.feed(Input::PlaceRefused { group, verdict });
    let outcome = run.job.outcome().unwrap();
    assert_eq!(
        outcome.verdict.reason(),
        "the engine does not take this task: 8 GPUs asked for, 0 there"
    );
    assert_eq!(run.job.state(), State::Completed);
}

#[test]
fn a_gang_without_places_in_time_waits_at_random() {
    let mut run = Run::of(&plan(true, 0, &[role(2, 1, 2)]));
    let verdict = Verdict::of(crate::exit::code::GANG_TIMEOUT);
    let group = Group::Gang(0);
    run.feed(Input::PlaceRefused { group, verdict });
    assert_eq!(run.job.decision().unwrap().rule, Rule::Conflict);
}

#[test]
fn a_gang_that_cannot_be_launched_leaves_nothing_behind() {
    let mut run = Run::of(&plan(true, 0, &[role(2, 1, 2)]));
    let group = Group::Gang(0);
    run.feed(Input::Placed { group });
    let verdict = Verdict::of(-310);
    let effects = run.feed(Input::LaunchFailed {
        group,
        verdict: verdict.clone(),
    });
    let released = effects
        .iter()
        .filter(|effect| matches!(effect, Effect::Release { .. }));
    assert_eq!(released.count(), 2);
    assert_eq!(effects.last(), Some(&Effect::Finish { code: -310 }));
    assert!(run.feed(Input::LaunchFailed { group, verdict }).is_empty());
}

#[test]
fn the_failure_to_launch_a_running_gang_is_not_believed() {
    let mut run = Run::running(&plan(true, 0, &[role(2, 1, 2)]));
    let group = Group::Gang(0);
    let verdict = Verdict::of(-310);
    assert!(run.feed(Input::LaunchFailed { group, verdict }).is_empty());
    assert_eq!(run.job.state(), State::AttemptRunning);
}

#[test]
fn the_places_of_a_gang_are_released_together_if_the_plan_says_so() {
    let mut plan = plan(true, 0, &[role(2, -1, -1)]);
    plan.placement.gang_release = Some(true);
    let mut run = Run::running(&plan);
    assert!(run.exit(0, 0, success()).is_empty());
    let effects = run.exit(0, 1, success());
    let released = effects
        .iter()
        .filter(|effect| matches!(effect, Effect::Release { .. }));
    assert_eq!(released.count(), 2);
}

#[test]
fn observations_that_come_twice_late_or_about_nobody_change_nothing() {
    let mut run = Run::running(&plan(false, 0, &[role(2, 1, 2)]));
    let old = run.attempt(0, 0);
    run.exit(0, 0, verdict(Behaviour::Transient));
    run.oblige();
    let before = run.job.clone();
    let nobody = TaskAttempt {
        task: TaskId { role: 7, index: 7 },
        ..old
    };
    let future = TaskAttempt { attempt: 9, ..old };
    for task in [old, nobody, future] {
        let verdict = success();
        for input in [
            Input::TaskPreparing { task },
            Input::TaskStarted { task },
            Input::TaskExited {
                task,
                verdict: verdict.clone(),
            },
            Input::TaskLost { task },
            Input::KillAccepted { task },
            Input::TaskEnding { task },
            Input::Preempted {
                group: Group::Task(task),
            },
            Input::Placed {
                group: Group::Task(task),
            },
            Input::PlaceRefused {
                group: Group::Task(task),
                verdict: verdict.clone(),
            },
            Input::LaunchFailed {
                group: Group::Task(task),
                verdict,
            },
            Input::TimerFired {
                timer: Timer::TaskRetry(task),
            },
        ] {
            assert!(run.feed(input).is_empty());
        }
    }
    assert!(
        run.feed(Input::Placed {
            group: Group::Gang(0)
        })
        .is_empty()
    );
    assert_eq!(run.job, before);
}

#[test]
fn a_state_survives_json_and_names_its_version() {
    let mut run = Run::running(&plan(false, 2, &[role(2, 1, 2)]));
    run.exit(0, 0, verdict(Behaviour::Transient));
    let json = serde_json::to_string(&run.job).unwrap();
    assert!(json.starts_with(r#"{"format":"pinnace.job/1","#));
    assert_eq!(serde_json::from_str::<JobState>(&json).unwrap(), run.job);
    let newer = json.replace("pinnace.job/1", "pinnace.job/2");
    assert!(serde_json::from_str::<JobState>(&newer).is_err());
}

#[test]
fn a_damaged_state_is_not_read() {
    let run = Run::running(&plan(true, 0, &[role(2, 1, 2), role(1, 1, 1)]));
    let whole = serde_json::to_string(&run.job).unwrap();
    for (part, damage) in [
        (r#""live":3"#, r#""live":2"#),
        (r#""completed":0"#, r#""completed":1"#),
        (r#""instances":2"#, r#""instances":4000000000"#),
        (r#""instances":1"#, r#""instances":0"#),
        (r#""first":2"#, r#""first":1"#),
        (r#""state":"AttemptRunning""#, r#""state":"Completed""#),
        (r#""index":1"#, r#""index":0"#),
        (r#""states":[0,0,0,2"#, r#""states":[2,0,0,0"#),
    ] {
        let damaged = whole.replacen(part, damage, 1);
        assert_ne!(damaged, whole, "{part}");
        let error = serde_json::from_str::<JobState>(&damaged).unwrap_err();
        assert!(error.to_string().contains("contradicts itself"), "{error}");
    }
}

#[test]
fn states_are_shown_as_clients_of_openpai_expect() {
    use State::*;
    let words = |state: State, code| (state.shown(code), state.shown_attempt(code));
    assert_eq!(words(AttemptPreparing, None).0, Shown::Waiting);
    assert_eq!(words(AttemptDeleting, Some(-210)).0, Shown::Stopping);
    assert_eq!(words(AttemptDeleting, Some(1)).0, Shown::Running);
    assert_eq!(
        words(AttemptCompleted, Some(1)),
        (Shown::Running, Shown::Failed)
    );
    assert_eq!(
        words(AttemptCompleted, Some(-220)),
        (Shown::Stopping, Shown::Stopped)
    );
    assert_eq!(words(Completed, Some(0)).0, Shown::Succeeded);
    assert_eq!(words(Completed, Some(-220)).0, Shown::Stopped);
    assert_eq!(words(Completed, Some(1)).0, Shown::Failed);
}
