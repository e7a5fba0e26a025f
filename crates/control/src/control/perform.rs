//! Carries out what is durable.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use pinnace_core::exit::{self, EngineReason, Verdict};
use pinnace_core::lifecycle::{Effect, Group, Input, TaskAttempt, Time};
use pinnace_exec::local::{Adoption, Cursor};
use pinnace_exec::{Attempt, FORMAT, Peer, Settings, TaskSpec};

use super::decide::Intent;
use super::{Control, ControlError, Following, now};
use crate::engine::Engine;
use crate::job::Launch;
use crate::{module, output};

impl<E: Engine> Control<E> {
    /// Carries out intents, in order, and tells what came of them.
    pub(super) fn perform(
        &mut self,
        intents: Vec<Intent>,
    ) -> Result<Vec<(Time, Input)>, ControlError> {
        let mut inputs = Vec::new();
        let mut kills: BTreeMap<(u32, bool), Vec<TaskAttempt>> = BTreeMap::new();
        for intent in intents {
            match intent {
                Intent::Launch(number) => self.launch(number, &mut inputs),
                Intent::Effect(Effect::Kill { task, force, .. }) => {
                    match self.job.launch_of(task).map(|launch| launch.number) {
                        Some(launch) => kills.entry((launch, force)).or_default().push(task),
                        None => inputs.push((now(), never_started(task))),
                    }
                }
                Intent::Effect(Effect::ScheduleTimer { at, timer }) => {
                    self.timers.insert((at, timer));
                }
                Intent::Effect(_) => {}
                Intent::Settle => self.settle(),
            }
        }
        for ((launch, force), tasks) in kills {
            self.kill(launch, force, &tasks, &mut inputs)?;
        }
        Ok(inputs)
    }

    fn launch(&mut self, number: u32, inputs: &mut Vec<(Time, Input)>) {
        let Some(launch) = self.job.launches.get(number as usize).cloned() else {
            return;
        };
        let folder = self.store.folder().launch(&self.job.id, number);
        let attempt = self.attempt(&launch);
        match self.engine.launch(&folder, &attempt, &self.secrets) {
            Ok(()) => self.follow(number),
            Err(why) => {
                let report = exit::ExitReport::from_engine(EngineReason::CreateFailed, why);
                let verdict = exit::classify(&report);
                let now = now();
                let mut failed = |group| {
                    let verdict = verdict.clone();
                    inputs.push((now, Input::LaunchFailed { group, verdict }));
                };
                match launch.tasks.first() {
                    Some(first) if self.job.state.is_gang() => {
                        failed(Group::Gang(first.task.job_attempt));
                    }
                    _ => launch
                        .tasks
                        .iter()
                        .for_each(|placed| failed(Group::Task(placed.task))),
                }
            }
        }
    }

    pub(super) fn follow(&mut self, number: u32) {
        let is_known = |following: &Following| following.launch == number;
        if !self.following.iter().any(is_known) {
            self.following.push(Following {
                launch: number,
                folder: self.store.folder().launch(&self.job.id, number),
                cursor: Cursor::default(),
                gone: false,
            });
        }
    }

    /// The engine's view of a launch.
    fn attempt(&self, launch: &Launch) -> Attempt {
        let options = &self.job.options;
        let number = launch
            .tasks
            .first()
            .map_or(0, |placed| placed.task.job_attempt);
        let tasks: Vec<TaskSpec> = launch
            .tasks
            .iter()
            .map(|placed| TaskSpec {
                id: self.job.engine_task(placed.task.task),
                attempt: placed.task.attempt,
                gpus: placed.gpus.clone(),
            })
            .collect();
        let is_other = |peer: &&Peer| {
            !tasks
                .iter()
                .any(|task| task.id.role == peer.role && task.id.index == peer.index)
        };
        let defaults = Settings::default();
        let mut plan = self.job.plan.clone().for_job(&self.job.id.to_string());
        let mut storages = options.storages.clone();
        module::open_datastores(&mut plan, &options.datastores, &mut storages);
        let settings = Settings {
            nounset: options.nounset,
            grace_seconds: options.grace_seconds.unwrap_or(defaults.grace_seconds),
            keep_on_failure_minutes: options.keep_on_failure(&self.job.plan),
            hidden: vec![self.store.folder().path().to_owned()],
            storages,
            cache: Some(self.store.folder().cache()),
            outputs: Some(self.store.folder().outputs(&self.job.id)),
            datastores: options.datastores.clone(),
            // A catalogue that cannot be read has no entry either; the task is told so.
            datasets: output::datasets_of(&self.job, &self.store).unwrap_or_default(),
            peers: self.peers.values().filter(is_other).cloned().collect(),
            ..defaults
        };
        Attempt {
            format: FORMAT.to_owned(),
            job: self.job.id.to_string(),
            number,
            user: options.user.clone(),
            plan,
            tasks,
            settings,
        }
    }

    /// Ends tasks of a launch; all of them at once where all are meant.
    fn kill(
        &mut self,
        number: u32,
        force: bool,
        tasks: &[TaskAttempt],
        inputs: &mut Vec<(Time, Input)>,
    ) -> Result<(), ControlError> {
        let folder = self.store.folder().launch(&self.job.id, number);
        let grace = force.then_some(Duration::ZERO);
        let live: Vec<TaskAttempt> = self.job.state.live_attempts().collect();
        let is_whole = self
            .job
            .launches
            .get(number as usize)
            .is_some_and(|launch| {
                let mut of_launch = launch.tasks.iter().map(|placed| placed.task);
                of_launch.all(|task| tasks.contains(&task) || !live.contains(&task))
            });
        let stopped = if is_whole {
            self.engine.stop(&folder, None, grace)
        } else {
            tasks.iter().try_for_each(|task| {
                let id = self.job.engine_task(task.task);
                self.engine.stop(&folder, Some(&id), grace)
            })
        };
        match stopped {
            Ok(()) => {
                let accepted = |task: &TaskAttempt| (now(), Input::KillAccepted { task: *task });
                inputs.extend(tasks.iter().map(accepted));
                self.follow(number);
                Ok(())
            }
            // Nobody is there to be asked: it was never begun, or it is over.
            Err(error) if is_absence(&error) => match self.engine.adopt(&folder)? {
                Adoption::NotStarted => {
                    inputs.extend(tasks.iter().map(|task| (now(), never_started(*task))));
                    Ok(())
                }
                Adoption::Over { .. } | Adoption::Alive(_) => {
                    self.follow(number);
                    Ok(())
                }
            },
            Err(error) => Err(error.into()),
        }
    }

    fn settle(&mut self) {
        if self.secrets.iter().next().is_some() {
            // If it fails, the next job with secrets gets another key all the same.
            let _ = self.store.wipe();
        }
        for following in std::mem::take(&mut self.following) {
            self.engine.forget(&following.folder);
        }
    }
}

fn never_started(task: TaskAttempt) -> Input {
    let verdict = Verdict::of(exit::code::ATTEMPT_OVER);
    Input::TaskExited { task, verdict }
}

fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::UnexpectedEof
    )
}
