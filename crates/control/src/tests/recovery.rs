//! The loop: what it makes of a job, and that it can die anywhere.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use pinnace_core::lifecycle::Shown;
use pinnace_core::plan::{Plan, Retry};
use pinnace_exec::Secrets;

use super::fake::Fake;
use super::{DEADLINE, finish, plan, role, scratch, submission};
use crate::control::{Control, hand_in};
use crate::job::Submission;
use crate::owner::Ownership;
use crate::place::Room;
use crate::store::{Command, Store};

fn store(folder: &tempfile::TempDir) -> Store {
    Store::open(folder.path()).unwrap()
}

fn run(plan: Plan) -> (Shown, Option<i32>) {
    let folder = scratch();
    let mut control = Control::submit(
        store(&folder),
        Fake::default(),
        submission(plan).admit().unwrap(),
    )
    .unwrap();
    finish(&mut control);
    let summary = control.job().summary();
    (summary.state, summary.code)
}

fn until_running(control: &mut Control<Fake>) {
    let begin = std::time::Instant::now();
    while control.job().state.shown() != Shown::Running {
        assert!(begin.elapsed() < DEADLINE);
        control.turn(Duration::from_millis(5)).unwrap();
    }
}

/// The jobs on which the loop is killed.
fn jobs() -> Vec<(Plan, Shown)> {
    let mut retried = plan(vec![("worker", role(2, "fail 2 times"))]);
    retried.retry = Retry { limit: 3 };
    let mut single = plan(vec![("worker", role(3, "fail 2 times"))]);
    single.placement.gang = false;
    single.roles["worker"].retry = Retry { limit: 2 };
    let mut server = role(2, "wait");
    server.completion.min_failed = None;
    let mut worker = role(3, "exit 0");
    worker.completion.min_succeeded = Some(3);
    vec![
        (plan(vec![("worker", role(3, "exit 0"))]), Shown::Succeeded),
        (plan(vec![("worker", role(3, "exit 9"))]), Shown::Failed),
        (
            plan(vec![("server", server), ("worker", worker)]),
            Shown::Succeeded,
        ),
        (retried, Shown::Succeeded),
        (single, Shown::Succeeded),
    ]
}

#[test]
fn a_job_reaches_the_verdict_of_its_exit_codes() {
    for (plan, expected) in jobs() {
        let (state, code) = run(plan);
        assert_eq!(state, expected, "{code:?}");
    }
}

#[test]
fn a_loop_that_dies_after_any_call_is_taken_up_and_starts_nothing_twice() {
    for (plan, expected) in jobs() {
        for lives in 0..18 {
            let folder = scratch();
            let fake = Fake::default();
            let id = hand_in(
                &mut store(&folder),
                submission(plan.clone()).admit().unwrap(),
            )
            .unwrap();
            // It dies after so many calls, again and again, each time a little later.
            for death in 0..=lives / 6 {
                fake.world.borrow_mut().calls_left = Some(lives % 6 + death);
                let _ = catch_unwind(AssertUnwindSafe(|| {
                    let mut control = Control::resume(store(&folder), fake.clone(), &id).unwrap();
                    finish(&mut control);
                }));
            }
            fake.world.borrow_mut().calls_left = None;
            let mut control = Control::resume(store(&folder), fake.clone(), &id).unwrap();
            finish(&mut control);
            assert_eq!(control.job().state.shown(), expected, "{lives}");
            assert!(fake.world.borrow().starts.values().all(|count| *count == 1));
            assert!(fake.world.borrow().running.values().all(Vec::is_empty));
        }
    }
}

#[test]
fn tasks_whose_supervisor_is_gone_are_lost_and_tried_again_for_free() {
    let folder = scratch();
    let fake = Fake::default();
    let mut control = Control::submit(
        store(&folder),
        fake.clone(),
        submission(plan(vec![("worker", role(2, "wait"))]))
            .admit()
            .unwrap(),
    )
    .unwrap();
    control.turn(Duration::ZERO).unwrap();
    let launch = control.store().folder().launch(&control.job().id, 0);
    fake.lose(&launch);
    let begin = std::time::Instant::now();
    while control.job().state.next_attempt_at().is_none() {
        assert!(begin.elapsed() < DEADLINE);
        control.turn(Duration::from_millis(5)).unwrap();
    }
    assert_eq!(control.job().state.outcome().unwrap().verdict.code, -1001);
}

#[test]
fn another_process_can_ask_for_a_stop() {
    let folder = scratch();
    let plan = plan(vec![("worker", role(2, "wait"))]);
    let mut control = Control::submit(
        store(&folder),
        Fake::default(),
        submission(plan).admit().unwrap(),
    )
    .unwrap();
    until_running(&mut control);
    let mut other = store(&folder);
    let job = other.load(&control.job().id).unwrap().unwrap();
    other
        .change(|change| change.ask(&job, Command::Stop { force: false }))
        .unwrap();
    finish(&mut control);
    assert_eq!(control.job().state.shown(), Shown::Stopped);
}

#[test]
fn a_request_is_heard_also_if_the_loop_dies_before() {
    let folder = scratch();
    let plan = plan(vec![("worker", role(1, "wait"))]);
    let fake = Fake::default();
    let mut control = Control::submit(
        store(&folder),
        fake.clone(),
        submission(plan).admit().unwrap(),
    )
    .unwrap();
    control.turn(Duration::ZERO).unwrap();
    let id = control.job().id.clone();
    let mut store_of_other = control.leave();
    let job = store_of_other.load(&id).unwrap().unwrap();
    store_of_other
        .change(|change| change.ask(&job, Command::Stop { force: true }))
        .unwrap();
    let mut control = Control::resume(store(&folder), fake, &id).unwrap();
    finish(&mut control);
    assert_eq!(control.job().state.shown(), Shown::Stopped);
}

#[test]
fn a_job_has_one_driver() {
    let folder = scratch();
    let plan = plan(vec![("worker", role(1, "wait"))]);
    let fake = Fake::default();
    let control = Control::submit(
        store(&folder),
        fake.clone(),
        submission(plan).admit().unwrap(),
    )
    .unwrap();
    let id = control.job().id.clone();
    assert!(Control::resume(store(&folder), fake, &id).is_err());
    let store = control.leave();
    assert!(Ownership::take(store.folder(), &id).unwrap().is_some());
}

#[test]
fn a_job_waits_for_the_memory_that_another_has() {
    let most = Room::here(false).memory_mb;
    let folder = scratch();
    let large = |command| {
        let mut role = role(1, command);
        role.resources.memory_mb = most - 1;
        submission(plan(vec![("worker", role)])).admit().unwrap()
    };
    let mut first = Control::submit(store(&folder), Fake::default(), large("wait")).unwrap();
    let mut second = Control::submit(store(&folder), Fake::default(), large("exit 0")).unwrap();
    second.turn(Duration::ZERO).unwrap();
    let why = second.job().waits.clone().unwrap();
    assert!(why.contains("are in use"), "{why}");
    first.turn(Duration::ZERO).unwrap();
    first.stop(false).unwrap();
    finish(&mut first);
    finish(&mut second);
    assert_eq!(second.job().state.shown(), Shown::Succeeded);
    assert_eq!(second.job().waits, None);
}

#[test]
fn a_job_that_waits_can_be_stopped_and_is_never_launched() {
    let most = Room::here(false).memory_mb;
    let folder = scratch();
    let large = || {
        let mut role = role(1, "wait");
        role.resources.memory_mb = most;
        submission(plan(vec![("worker", role)])).admit().unwrap()
    };
    let _first = Control::submit(store(&folder), Fake::default(), large()).unwrap();
    let mut second = Control::submit(store(&folder), Fake::default(), large()).unwrap();
    second.stop(false).unwrap();
    finish(&mut second);
    assert_eq!(second.job().state.shown(), Shown::Stopped);
    assert!(second.job().launches.is_empty());
}

#[test]
fn more_than_the_machine_has_is_refused_unless_it_is_simulated() {
    let mut plan = plan(vec![("worker", role(1, "exit 0"))]);
    plan.roles["worker"].resources.memory_mb = 1 << 40;
    assert!(submission(plan.clone()).admit().is_err());
    let folder = scratch();
    let mut simulated = submission(plan);
    simulated.options.simulate_resources = true;
    let mut control =
        Control::submit(store(&folder), Fake::default(), simulated.admit().unwrap()).unwrap();
    finish(&mut control);
    assert_eq!(control.job().state.shown(), Shown::Succeeded);
}

#[test]
fn secrets_are_wiped_when_the_job_has_ended() {
    let folder = scratch();
    let name = pinnace_core::text::SecretName("token".to_owned());
    let secrets: Secrets = [(name.clone(), "open-sesame".to_owned())]
        .into_iter()
        .collect();
    let begun = Submission {
        secrets,
        ..submission(plan(vec![("worker", role(1, "wait"))]))
    };
    let mut control =
        Control::submit(store(&folder), Fake::default(), begun.admit().unwrap()).unwrap();
    until_running(&mut control);
    let other = store(&folder);
    let job = other.load(&control.job().id).unwrap().unwrap();
    assert_eq!(other.secrets(&job).unwrap().get(&name), "open-sesame");
    let key = std::fs::read(folder.path().join("vault.key")).unwrap();
    control.stop(true).unwrap();
    finish(&mut control);
    assert_eq!(other.secrets(&job).unwrap().get(&name), "");
    // The log of the database may still hold what was encrypted, but there is nothing left to decrypt it with.
    let later = std::fs::read(folder.path().join("vault.key")).unwrap();
    assert_eq!((later.len(), later == key), (key.len(), false));
}

#[test]
fn the_key_stays_while_another_job_needs_it() {
    let folder = scratch();
    let name = pinnace_core::text::SecretName("token".to_owned());
    let begin = |value: &str| {
        let secrets: Secrets = [(name.clone(), value.to_owned())].into_iter().collect();
        let begun = Submission {
            secrets,
            ..submission(plan(vec![("worker", role(1, "wait"))]))
        };
        Control::submit(store(&folder), Fake::default(), begun.admit().unwrap()).unwrap()
    };
    let (mut first, mut second) = (begin("open-sesame"), begin("open-barley"));
    let secret = |control: &Control<Fake>| {
        let other = store(&folder);
        let job = other.load(&control.job().id).unwrap().unwrap();
        other.secrets(&job).unwrap().get(&name).to_owned()
    };
    first.stop(true).unwrap();
    finish(&mut first);
    assert_eq!((&*secret(&first), &*secret(&second)), ("", "open-barley"));
    let mut third = begin("open-rye");
    second.stop(true).unwrap();
    finish(&mut second);
    assert_eq!(secret(&third), "open-rye");
    third.stop(true).unwrap();
    finish(&mut third);
}

#[test]
fn a_large_job_is_rebuilt_from_its_last_kept_state_and_the_inputs_after_it() {
    let folder = scratch();
    let mut plan = plan(vec![
        ("worker", role(100, "exit 0")),
        ("server", role(1, "wait")),
    ]);
    plan.roles["server"].completion.min_succeeded = Some(1);
    let fake = Fake::default();
    let mut control = Control::submit(
        store(&folder),
        fake.clone(),
        submission(plan).admit().unwrap(),
    )
    .unwrap();
    for _ in 0..3 {
        control.turn(Duration::ZERO).unwrap();
    }
    let other = store(&folder);
    let loaded = other.load(&control.job().id).unwrap().unwrap();
    assert_eq!(loaded.state, control.job().state);
    assert_eq!(loaded.launches, control.job().launches);
}

#[test]
fn the_time_limit_of_a_plan_ends_the_job_and_an_option_counts_more() {
    let mut limited = plan(vec![("worker", role(1, "wait"))]);
    limited.time_limit_seconds = Some(1);
    assert_eq!(
        run(limited.clone()),
        (Shown::Failed, Some(pinnace_core::exit::code::TIME_LIMIT))
    );
    let mut options = crate::job::Options::default();
    assert_eq!(options.time_limit(&limited), Some(1));
    options.time_limit_seconds = Some(0);
    assert_eq!(options.time_limit(&limited), None);
    options.time_limit_seconds = Some(7200);
    assert_eq!(options.time_limit(&limited), Some(7200));
}

#[test]
fn a_burst_of_events_is_stored_in_few_transactions() {
    let folder = scratch();
    let mut control = Control::submit(
        store(&folder),
        Fake::default(),
        submission(plan(vec![("worker", role(1000, "exit 0"))]))
            .admit()
            .unwrap(),
    )
    .unwrap();
    finish(&mut control);
    assert_eq!(control.job().summary().succeeded, 1000);
    // All tasks start and end before the loop looks again: one for the job and its launch, one for the burst.
    let commits = control.store().commits();
    assert_eq!(commits, 2);
}
