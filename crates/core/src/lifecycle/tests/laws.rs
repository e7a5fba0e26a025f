//! The laws of a job's life, against arbitrary inputs in arbitrary order.
//!
//! Lawful transitions (L4) are asserted where states change, in `step.rs`; survival of crashes (L8) has
//! tests of its own. There is no rescaling, and so no law about it.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::plan::Completion;

fn any_role() -> impl Strategy<Value = Role> {
    let threshold = || prop_oneof![Just(-1i64), Just(0), 1i64..4];
    (1u32..4, threshold(), threshold(), -2i32..3).prop_map(
        |(instances, min_failed, min_succeeded, retries)| Role {
            instances,
            min_failed,
            min_succeeded,
            retries,
        },
    )
}

fn any_plan() -> impl Strategy<Value = Plan> {
    let roles = prop::collection::vec(any_role(), 1..4);
    (any::<bool>(), -2i32..3, roles, any::<Option<bool>>()).prop_map(
        |(gang, retries, roles, gang_release)| {
            let mut plan = plan(gang, retries, &roles);
            plan.placement.gang_release = gang_release;
            plan
        },
    )
}

/// Something that may happen next; which task and how is decided when it does.
#[derive(Clone, Copy, Debug)]
struct Whim {
    kind: u8,
    task: u8,
    /// Usually the current attempt, now and then the one before or after.
    shift: i8,
    behaviour: Behaviour,
}

fn any_whim() -> impl Strategy<Value = Whim> {
    let shift = prop_oneof![12 => Just(0i8), 1 => Just(-1), 1 => Just(1)];
    let behaviour = prop::sample::select(Behaviour::ALL.to_vec());
    (0u8..40, any::<u8>(), shift, behaviour).prop_map(|(kind, task, shift, behaviour)| Whim {
        kind,
        task,
        shift,
        behaviour,
    })
}

/// What an observer of inputs and effects knows, without looking into the state.
struct Watch {
    job: JobState,
    plan: Plan,
    now: Time,
    /// Launched and not known to have ended.
    alive: BTreeSet<TaskAttempt>,
    /// Holding a place.
    held: BTreeSet<TaskAttempt>,
    seen: Vec<(Input, Time)>,
}

impl Watch {
    fn new(plan: Plan) -> Watch {
        let (job, _) = JobState::begin(&plan, Settings::default(), Time(0));
        Watch {
            job,
            plan,
            now: Time(0),
            alive: BTreeSet::new(),
            held: BTreeSet::new(),
            seen: Vec::new(),
        }
    }

    fn attempts(&self) -> Vec<TaskAttempt> {
        let job_attempt = self.job.retries().total;
        let attempt = |task: TaskView<'_>| TaskAttempt {
            job_attempt,
            task: task.id,
            attempt: task.retries.total,
        };
        self.job.tasks().map(attempt).collect()
    }

    fn members(&self, group: Group) -> Vec<TaskAttempt> {
        match group {
            Group::Gang(_) => self.attempts(),
            Group::Task(task) => vec![task],
        }
    }

    fn input(&self, whim: Whim) -> Input {
        let attempts = self.attempts();
        let mut task = attempts[usize::from(whim.task) % attempts.len()];
        let shifted = |number: u32| number.saturating_add_signed(whim.shift.into());
        let mut gang = self.job.retries().total;
        if whim.task.is_multiple_of(2) {
            task.attempt = shifted(task.attempt);
        } else {
            task.job_attempt = shifted(task.job_attempt);
            gang = shifted(gang);
        }
        let group = if self.plan.placement.gang {
            Group::Gang(gang)
        } else {
            Group::Task(task)
        };
        let verdict = verdict(whim.behaviour);
        match whim.kind {
            0..10 => Input::Placed { group },
            10..16 => Input::TaskStarted { task },
            16..26 => Input::TaskExited { task, verdict },
            26 => Input::TaskPreparing { task },
            27 => Input::TaskLost { task },
            28 => Input::KillAccepted { task },
            29 => Input::TaskEnding { task },
            30 => Input::Preempted { group },
            31 if whim.task < 40 => Input::Stop {
                force: whim.task.is_multiple_of(2),
            },
            32 => Input::PlaceRefused { group, verdict },
            33 if whim.behaviour != Behaviour::Success => Input::LaunchFailed { group, verdict },
            34 if whim.task < 40 => Input::TimerFired {
                timer: Timer::TimeLimit(gang),
            },
            35..38 => Input::TimerFired {
                timer: Timer::TaskRetry(task),
            },
            _ => Input::TimerFired {
                timer: Timer::JobRetry(gang),
            },
        }
    }

    /// Feeds one input and checks every law.
    fn feed(&mut self, input: &Input) {
        self.now = self.now.after(7_000);
        self.seen.push((input.clone(), self.now));
        let before = self.job.clone();
        let effects = step(&mut self.job, input.clone(), self.now);
        if self.job.revision() == before.revision() {
            assert_eq!(self.job, before, "not heard and yet changed");
            assert_eq!(effects, []);
            return;
        }
        let ended: Vec<TaskAttempt> = match input {
            Input::TaskExited { task, .. } | Input::TaskLost { task } => vec![*task],
            Input::LaunchFailed {
                group: Group::Task(task),
                ..
            } => vec![*task],
            Input::LaunchFailed { .. } => self.alive.iter().copied().collect(),
            _ => vec![],
        };
        for task in ended {
            assert!(self.alive.remove(&task), "{task:?} ended and was not alive");
        }
        for effect in effects {
            self.watch(effect);
        }
        self.no_task_lives_twice();
        self.attempts_are_counted(&before);
        self.outcomes_are_written_once(&before);
        self.retries_follow_the_table();
        self.the_policy_is_carried_out();
        self.counters_are_right();
    }

    fn watch(&mut self, effect: Effect) {
        match effect {
            Effect::Launch { group } => {
                for task in self.members(group) {
                    assert!(self.alive.insert(task), "{task:?} launched twice");
                    assert!(self.held.insert(task), "{task:?} placed twice");
                }
            }
            Effect::Release { task } => {
                assert!(!self.alive.contains(&task), "{task:?} is still alive");
                assert!(self.held.remove(&task), "{task:?} holds nothing");
            }
            Effect::Kill { task, .. } => assert!(self.alive.contains(&task)),
            Effect::Finish { .. } => {
                assert!(self.alive.is_empty(), "finished while something lives");
                assert!(self.held.is_empty(), "finished while a place is held");
            }
            Effect::Place { .. } | Effect::Withdraw { .. } | Effect::ScheduleTimer { .. } => {}
        }
    }

    /// L1, and L10 for places.
    fn no_task_lives_twice(&self) {
        let tasks: BTreeSet<TaskId> = self.alive.iter().map(|attempt| attempt.task).collect();
        assert_eq!(tasks.len(), self.alive.len(), "two attempts of one task");
        let live: BTreeSet<TaskAttempt> = self.job.live_attempts().collect();
        assert_eq!(live, self.alive);
        if self.job.state() >= State::AttemptCompleted {
            assert!(self.alive.is_empty());
        }
    }

    /// L2.
    fn attempts_are_counted(&self, before: &JobState) {
        let retries = self.job.retries();
        assert!(retries.total >= before.retries().total);
        assert!(retries.counted <= retries.total);
        if let Ok(limit) = u32::try_from(self.plan.retry.limit) {
            assert!(retries.counted <= limit);
        }
        let roles: Vec<i32> = self
            .plan
            .roles
            .values()
            .map(|role| role.retry.limit)
            .collect();
        for (task, old) in self.job.tasks().zip(before.tasks()) {
            if retries.total == before.retries().total {
                assert!(task.retries.total >= old.retries.total);
            }
            if let Ok(limit) = u32::try_from(roles[task.id.role as usize]) {
                assert!(task.retries.counted <= limit);
            }
            assert!(!self.plan.placement.gang || task.retries.total == 0);
        }
    }

    /// L3.
    fn outcomes_are_written_once(&self, before: &JobState) {
        if self.job.retries().total != before.retries().total {
            return;
        }
        if let Some(outcome) = before.outcome() {
            assert_eq!(self.job.outcome(), Some(outcome));
        }
        for (task, old) in self.job.tasks().zip(before.tasks()) {
            if task.retries.total == old.retries.total && old.verdict.is_some() {
                assert_eq!(task.verdict, old.verdict);
            }
        }
    }

    /// L5 and L6.
    fn retries_follow_the_table(&self) {
        let fancy = self.plan.retry.limit != -2;
        let jobs = self
            .job
            .history()
            .map(|record| (fancy, &record.outcome.verdict, record.decision));
        let histories = self.job.tasks().flat_map(|task| task.history.iter());
        let tasks = histories.map(|record| (true, &record.verdict, record.decision));
        for (fancy, verdict, decision) in jobs.chain(tasks) {
            assert!(!matches!(verdict.code, -210 | -220 | -230));
            if fancy {
                assert_ne!(verdict.behaviour, Behaviour::Permanent);
                let transient = matches!(
                    verdict.behaviour,
                    Behaviour::Transient | Behaviour::TransientConflict
                );
                assert_eq!(transient, !decision.counted);
            }
        }
    }

    /// L7: the policy evaluated anew, from the tasks alone.
    fn the_policy_is_carried_out(&self) {
        let mut reached = false;
        for (position, role) in self.plan.roles.values().enumerate() {
            let successes: Vec<bool> = self
                .job
                .tasks()
                .filter(|task| task.id.role as usize == position)
                .filter(|task| task.state == State::Completed)
                .filter_map(|task| task.verdict)
                .filter(|verdict| verdict.code != -220)
                .map(Verdict::is_success)
                .collect();
            let succeeded = successes.iter().filter(|success| **success).count();
            let failed = successes.len() - succeeded;
            let Completion {
                min_failed,
                min_succeeded,
            } = role.completion;
            let enough = |minimum: Option<u32>, count: usize| {
                minimum.is_some_and(|minimum| minimum >= 1 && count >= minimum as usize)
            };
            reached |= enough(min_failed, failed) || enough(min_succeeded, succeeded);
        }
        let all = self.job.tasks().all(|task| task.state == State::Completed);
        match self.job.outcome() {
            None => assert!(!reached && !all, "undecided though the policy is reached"),
            Some(outcome) => {
                let trigger = outcome.trigger.task.and_then(|task| self.job.task(task));
                let own = trigger.and_then(|task| task.verdict);
                match outcome.trigger.condition {
                    Condition::MinFailed { failed, min_failed } => {
                        assert!(reached && failed == min_failed);
                        assert_eq!(own, Some(&outcome.verdict));
                    }
                    Condition::MinSucceeded {
                        succeeded,
                        min_succeeded,
                    } => {
                        assert!(reached && succeeded == min_succeeded);
                        assert_eq!(own, Some(&outcome.verdict));
                    }
                    Condition::AllCompleted { .. } => {
                        assert!(all && !reached && outcome.verdict.is_success());
                    }
                    _ => {}
                }
            }
        }
    }

    fn counters_are_right(&self) {
        for (position, progress) in self.job.progress().enumerate() {
            let tasks = || {
                let tasks = self.job.tasks();
                tasks.filter(|task| task.id.role as usize == position)
            };
            let running = tasks().filter(|task| task.state == State::AttemptRunning);
            assert_eq!(progress.running as usize, running.count());
            let ended = tasks()
                .filter(|task| task.state == State::Completed)
                .count() as u32;
            let counted = progress.succeeded + progress.failed + progress.stopped;
            assert_eq!(counted, ended);
            let others = progress.waiting + progress.running + progress.ending;
            assert_eq!(counted + others, progress.total);
        }
    }

    /// L9: after a stop, and once the engine has answered every kill, nothing is left.
    fn stop_and_answer(&mut self) {
        self.feed(&Input::Stop { force: true });
        for _ in 0..3 {
            for task in self.alive.clone() {
                let verdict = Verdict::of(137);
                self.feed(&Input::TaskExited { task, verdict });
            }
        }
        assert_eq!(self.job.state(), State::Completed);
        assert!(self.alive.is_empty() && self.held.is_empty());
        assert_eq!(self.job.outstanding(), []);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_the_laws_hold(
        plan in any_plan(),
        whims in prop::collection::vec(any_whim(), 0..120),
    ) {
        let mut watch = Watch::new(plan);
        for whim in whims {
            let input = watch.input(whim);
            watch.feed(&input);
        }
        watch.stop_and_answer();
    }

    #[test]
    fn replaying_the_inputs_gives_the_same_state(
        plan in any_plan(),
        whims in prop::collection::vec(any_whim(), 0..60),
    ) {
        let mut watch = Watch::new(plan.clone());
        for whim in whims {
            let input = watch.input(whim);
            watch.feed(&input);
        }
        let (mut again, _) = JobState::begin(&plan, Settings::default(), Time(0));
        for (input, now) in &watch.seen {
            let json = serde_json::to_string(input).unwrap();
            step(&mut again, serde_json::from_str(&json).unwrap(), *now);
        }
        prop_assert_eq!(&again, &watch.job);
        let json = serde_json::to_string(&again).unwrap();
        prop_assert_eq!(serde_json::from_str::<JobState>(&json).unwrap(), again);
    }
}
