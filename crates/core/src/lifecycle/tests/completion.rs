//! Completion policies.

use super::*;

fn end_all(run: &mut Run, verdicts: &[(u32, u32, Verdict)]) {
    for (role, index, verdict) in verdicts {
        run.exit(*role, *index, verdict.clone());
    }
    run.oblige();
}

#[test]
fn the_first_failure_ends_a_job_with_the_defaults() {
    let mut run = Run::running(&plan(true, 0, &[role(3, 1, 3)]));
    end_all(&mut run, &[(0, 1, failure())]);
    assert_eq!(run.code(), Some(1));
    assert_eq!(run.codes(), [Some(-220), Some(1), Some(-220)]);
    let trigger = &run.job.outcome().unwrap().trigger;
    assert_eq!(trigger.task, Some(TaskId { role: 0, index: 1 }));
    assert_eq!(
        trigger.condition.message(),
        "FailedTaskCount 1 has reached MinFailedTaskCount 1 in the TaskRole"
    );
}

#[test]
fn all_successes_end_a_job_with_the_defaults() {
    let mut run = Run::running(&plan(true, 0, &[role(2, 1, 2)]));
    end_all(&mut run, &[(0, 1, success()), (0, 0, success())]);
    assert_eq!(run.code(), Some(0));
    assert_eq!(
        run.condition().message(),
        "SucceededTaskCount 2 has reached MinSucceededTaskCount 2 in the TaskRole"
    );
}

#[test]
fn wait_for_all_succeeds_when_every_task_has_succeeded() {
    let mut run = Run::running(&plan(true, 0, &[role(1, 1, -1), role(2, 1, -1)]));
    end_all(&mut run, &[(1, 0, success()), (0, 0, success())]);
    assert_eq!(run.job.state(), State::AttemptRunning);
    end_all(&mut run, &[(1, 1, success())]);
    assert_eq!((run.job.state(), run.code()), (State::Completed, Some(0)));
    assert_eq!(
        run.condition().message(),
        "CompletedTaskCount 3 has reached TotalTaskCount 3 and no user specified conditions in \
         FrameworkAttemptCompletionPolicy have ever been triggered"
    );
    let last = run.job.outcome().unwrap().trigger.task;
    assert_eq!(last, Some(TaskId { role: 1, index: 1 }));
}

#[test]
fn the_master_decides_whatever_workers_do() {
    let roles = [role(1, 1, 1), role(3, -1, -1)];
    let mut run = Run::running(&plan(true, 0, &roles));
    end_all(&mut run, &[(1, 0, failure()), (1, 1, success())]);
    assert_eq!(run.job.state(), State::AttemptRunning);
    end_all(&mut run, &[(0, 0, success())]);
    assert_eq!(run.code(), Some(0));
    assert_eq!(run.codes(), [Some(0), Some(1), Some(0), Some(-220)]);
}

#[test]
fn workers_end_a_job_with_parameter_servers() {
    let roles = [role(2, 1, -1), role(3, 1, 3)];
    let mut run = Run::running(&plan(true, 0, &roles));
    let workers: Vec<_> = (0..3).map(|index| (1, index, success())).collect();
    end_all(&mut run, &workers);
    assert_eq!((run.job.state(), run.code()), (State::Completed, Some(0)));
    assert_eq!(run.codes()[..2], [Some(-220), Some(-220)]);
    assert_eq!(run.job.shown(), Shown::Succeeded);
    assert_eq!(run.job.tasks().next().unwrap().shown, Shown::Stopped);
}

#[test]
fn any_worker_will_do() {
    let mut run = Run::running(&plan(true, 0, &[role(3, 3, 1)]));
    end_all(&mut run, &[(0, 0, failure()), (0, 1, failure())]);
    assert_eq!(run.job.state(), State::AttemptRunning);
    end_all(&mut run, &[(0, 2, success())]);
    assert_eq!(run.code(), Some(0));
}

#[test]
fn the_failure_that_reaches_the_threshold_is_inherited() {
    let mut run = Run::running(&plan(true, 0, &[role(3, 2, -1)]));
    end_all(
        &mut run,
        &[(0, 2, failure()), (0, 0, verdict(Behaviour::Permanent))],
    );
    assert_eq!(run.code(), Some(210));
    assert_eq!(
        run.condition(),
        Condition::MinFailed {
            failed: 2,
            min_failed: 2
        }
    );
}

#[test]
fn a_job_succeeds_though_all_tasks_fail_if_no_failure_counts() {
    let mut run = Run::running(&plan(true, 0, &[role(2, -1, -1)]));
    end_all(&mut run, &[(0, 0, failure()), (0, 1, failure())]);
    assert_eq!((run.job.state(), run.code()), (State::Completed, Some(0)));
}

#[test]
fn the_first_role_to_succeed_ends_a_job_of_several_roles_with_the_defaults() {
    let mut run = Run::running(&plan(true, 0, &[role(1, 1, 1), role(2, 1, 2)]));
    end_all(&mut run, &[(0, 0, success())]);
    assert_eq!(run.codes(), [Some(0), Some(-220), Some(-220)]);
    assert_eq!(run.code(), Some(0));
}

#[test]
fn a_task_that_waits_for_another_attempt_counts_as_neither() {
    let worker = Role {
        retries: 0,
        ..role(2, 1, -1)
    };
    let mut run = Run::running(&plan(false, 0, &[worker]));
    run.exit(0, 0, verdict(Behaviour::Transient));
    assert_eq!(run.job.state(), State::AttemptRunning);
    let progress = run.job.progress().next().unwrap();
    assert_eq!(
        (progress.waiting, progress.running, progress.failed),
        (1, 1, 0)
    );
    run.exit(0, 1, failure());
    assert_eq!((run.job.state(), run.code()), (State::Completed, Some(1)));
    assert_eq!(run.codes(), [Some(200), Some(1)]);
}

#[test]
fn a_job_without_tasks_succeeds_at_once() {
    for roles in [vec![], vec![role(0, 1, 0)]] {
        let (job, effects) = JobState::begin(&plan(true, 0, &roles), Settings::default(), Time(0));
        assert_eq!(effects, [Effect::Finish { code: 0 }]);
        assert_eq!(job.state(), State::Completed);
    }
}

#[test]
fn thresholds_of_zero_are_never_reached() {
    let mut run = Run::running(&plan(true, 0, &[role(2, 0, 0)]));
    end_all(&mut run, &[(0, 0, failure())]);
    assert_eq!(run.job.state(), State::AttemptRunning);
}
