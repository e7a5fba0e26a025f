#![allow(clippy::unwrap_used, clippy::panic)]

//! Tests of the life of a job, and the small language in which they speak.

mod completion;
mod crash;
mod laws;
mod life;
mod pages;
mod retries;
mod scale;

use super::*;
use crate::exit::{Behaviour, Verdict};
use crate::plan::Plan;

/// A role in a few numbers; −1 means never, as in the protocol.
#[derive(Clone, Copy, Debug)]
struct Role {
    instances: u32,
    min_failed: i64,
    min_succeeded: i64,
    retries: i32,
}

fn role(instances: u32, min_failed: i64, min_succeeded: i64) -> Role {
    Role {
        instances,
        min_failed,
        min_succeeded,
        retries: 0,
    }
}

fn plan(gang: bool, retries: i32, roles: &[Role]) -> Plan {
    let never = |number: i64| u32::try_from(number).ok();
    let roles: serde_json::Map<String, serde_json::Value> = roles
        .iter()
        .enumerate()
        .map(|(position, role)| {
            let json = serde_json::json!({
                "instances": role.instances, "image": null,
                "resources": {"cpu": 1, "memoryMB": 64, "gpu": 0, "shmMB": 64, "infiniband": false},
                "ports": {}, "env": {}, "mounts": [], "before": [], "command": [], "after": [],
                "completion": {"minFailed": never(role.min_failed), "minSucceeded": never(role.min_succeeded)},
                "retry": {"limit": role.retries}, "placement": {},
            });
            (format!("role{position}"), json)
        })
        .collect();
    serde_json::from_value(serde_json::json!({
        "name": "job", "labels": {}, "secrets": [], "notify": [], "roles": roles, "retry": {"limit": retries},
        "placement": {"virtualCluster": "default", "priority": 10, "gang": gang, "gangRelease": null,
            "lazyPreemption": null, "ignoreSuggestedNodes": null},
    }))
    .unwrap()
}

/// A failure of the given kind. The codes are those with which programs can say so themselves.
fn verdict(behaviour: Behaviour) -> Verdict {
    let code = match behaviour {
        Behaviour::Success => 0,
        Behaviour::Transient => 200,
        Behaviour::TransientConflict => 201,
        Behaviour::Permanent => 210,
        Behaviour::Unknown => 1,
    };
    Verdict {
        behaviour,
        ..Verdict::of(code)
    }
}

fn success() -> Verdict {
    verdict(Behaviour::Success)
}

fn failure() -> Verdict {
    verdict(Behaviour::Unknown)
}

/// A job with an obliging scheduler and engine, which the test can stop from obliging.
struct Run {
    job: JobState,
    now: Time,
    /// Effects that nobody has answered yet.
    open: Vec<Effect>,
}

impl Run {
    fn of(plan: &Plan) -> Run {
        Run::with(plan, Settings::default())
    }

    fn with(plan: &Plan, settings: Settings) -> Run {
        let now = Time(1_000_000);
        let (job, open) = JobState::begin(plan, settings, now);
        Run { job, now, open }
    }

    /// A job all of whose tasks run.
    fn running(plan: &Plan) -> Run {
        let mut run = Run::of(plan);
        run.oblige();
        run
    }

    fn feed(&mut self, input: Input) -> Vec<Effect> {
        let effects = step(&mut self.job, input, self.now);
        self.open.extend(&effects);
        effects
    }

    fn attempt(&self, role: u32, index: u32) -> TaskAttempt {
        let task = TaskId { role, index };
        TaskAttempt {
            job_attempt: self.job.retries().total,
            task,
            attempt: self.job.task(task).unwrap().retries.total,
        }
    }

    fn exit(&mut self, role: u32, index: u32, verdict: Verdict) -> Vec<Effect> {
        let task = self.attempt(role, index);
        self.feed(Input::TaskExited { task, verdict })
    }

    fn members(&self, group: Group) -> Vec<TaskAttempt> {
        match group {
            Group::Task(task) => vec![task],
            Group::Gang(_) => self
                .job
                .tasks()
                .map(|task| self.attempt(task.id.role, task.id.index))
                .collect(),
        }
    }

    /// Gives places, starts what is launched and ends what is killed, until nothing is open.
    fn oblige(&mut self) {
        while !self.open.is_empty() {
            for effect in std::mem::take(&mut self.open) {
                match effect {
                    Effect::Place { group } => {
                        self.feed(Input::Placed { group });
                    }
                    Effect::Launch { group } => {
                        for task in self.members(group) {
                            self.feed(Input::TaskStarted { task });
                        }
                    }
                    Effect::Kill { task, .. } => {
                        let verdict = Verdict::of(143);
                        self.feed(Input::TaskExited { task, verdict });
                    }
                    Effect::ScheduleTimer { timer, .. }
                        if !matches!(timer, Timer::TimeLimit(_)) =>
                    {
                        self.feed(Input::TimerFired { timer });
                    }
                    _ => {}
                }
            }
        }
    }

    /// The exit codes of all tasks, role by role.
    fn codes(&self) -> Vec<Option<i32>> {
        let verdicts = self.job.tasks().map(|task| task.verdict.cloned());
        verdicts
            .map(|verdict| verdict.map(|verdict| verdict.code))
            .collect()
    }

    fn code(&self) -> Option<i32> {
        self.job.outcome().map(|outcome| outcome.verdict.code)
    }

    fn condition(&self) -> Condition {
        self.job.outcome().unwrap().trigger.condition.clone()
    }
}
