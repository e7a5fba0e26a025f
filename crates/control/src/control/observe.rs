//! From what the engine tells to inputs of the life of the job.

use std::collections::HashSet;
use std::path::Path;

use pinnace_core::lifecycle::{Input, TaskAttempt, Time};
use pinnace_exec::local::Adoption;
use pinnace_exec::{Event, Happening, Peer, TaskId};

use super::{Control, ControlError, News, now};
use crate::engine::Engine;
use crate::exit;

impl<E: Engine> Control<E> {
    /// New events of all launches that are followed.
    pub(super) fn observe_all(&mut self) -> Result<Vec<(Time, Input)>, ControlError> {
        let mut inputs = Vec::new();
        let mut over = Vec::new();
        for at in 0..self.following.len() {
            let Some(following) = self.following.get(at) else {
                break;
            };
            let (launch, gone) = (following.launch, following.gone);
            let folder = following.folder.clone();
            let (events, cursor) = self.engine.observe(&folder, following.cursor)?;
            if let Some(following) = self.following.get_mut(at) {
                following.cursor = cursor;
            }
            if !events.is_empty() {
                self.news.push(News::Told { launch });
            }
            let mut ended = false;
            for event in events {
                ended |= event.what == Happening::Ended;
                inputs.extend(self.input(launch, &event));
            }
            if ended || (gone && self.prove_end(launch, &folder, &mut inputs)) {
                over.push(launch);
            }
        }
        for launch in over {
            if let Some(at) = self.following.iter().position(|of| of.launch == launch) {
                self.over.push(self.following.swap_remove(at).folder);
            }
        }
        Ok(inputs)
    }

    /// Lets go of launches that are over. Their supervisors have cleared up and are about to end, beside what is done with
    /// the news of it.
    pub(super) fn forget_what_is_over(&mut self) {
        for folder in std::mem::take(&mut self.over) {
            self.engine.forget(&folder);
        }
    }

    /// Finds out about the launch of a supervisor that is gone: true if it is over.
    fn prove_end(&mut self, launch: u32, folder: &Path, inputs: &mut Vec<(Time, Input)>) -> bool {
        // What cannot be proven now is tried again with the next turn.
        let Ok(adoption) = self.engine.adopt(folder) else {
            return false;
        };
        match adoption {
            Adoption::Alive(_) => {
                for following in &mut self.following {
                    following.gone &= following.launch != launch;
                }
                false
            }
            Adoption::NotStarted => {
                self.lose(launch, inputs, |_| true);
                true
            }
            Adoption::Over { reports, lost } => {
                let at = now();
                for report in reports {
                    if let Some(task) = self.attempt_of(launch, &report.task) {
                        let verdict = exit::verdict(&report);
                        inputs.push((at, Input::TaskExited { task, verdict }));
                    }
                }
                let lost: HashSet<TaskId> = lost.into_iter().collect();
                self.lose(launch, inputs, |task| lost.contains(task));
                true
            }
        }
    }

    fn lose(
        &self,
        launch: u32,
        inputs: &mut Vec<(Time, Input)>,
        is_lost: impl Fn(&TaskId) -> bool,
    ) {
        let Some(launch) = self.job.launches.get(launch as usize) else {
            return;
        };
        let lost = launch
            .tasks
            .iter()
            .filter(|placed| is_lost(&self.job.engine_task(placed.task.task)));
        inputs.extend(lost.map(|placed| (now(), Input::TaskLost { task: placed.task })));
    }

    /// After a restart: takes up every launch of which something may be alive.
    pub(super) fn adopt_all(&mut self) -> Result<(), ControlError> {
        let live: HashSet<TaskAttempt> = self.job.state.live_attempts().collect();
        let launches: Vec<u32> = self
            .job
            .launches
            .iter()
            .filter(|launch| {
                launch
                    .tasks
                    .iter()
                    .any(|placed| live.contains(&placed.task))
            })
            .map(|launch| launch.number)
            .collect();
        for number in launches {
            let folder = self.store.folder().launch(&self.job.id, number);
            match self.engine.adopt(&folder)? {
                // What is outstanding has its launch in it.
                Adoption::NotStarted => {}
                Adoption::Alive(_) => self.follow(number),
                Adoption::Over { .. } => {
                    self.follow(number);
                    for following in &mut self.following {
                        following.gone |= following.launch == number;
                    }
                }
            }
        }
        let inputs = self.observe_all()?;
        self.go_on(inputs, Vec::new())
    }

    /// What an event means for the life of the job.
    fn input(&mut self, launch: u32, event: &Event) -> Option<(Time, Input)> {
        let input = match &event.what {
            Happening::Started { task, ports, .. } => {
                let peer = Peer {
                    role: task.role.clone(),
                    index: task.index,
                    address: pinnace_exec::Settings::default().address,
                    ports: ports.clone(),
                };
                self.peers.insert(task.clone(), peer);
                Input::TaskStarted {
                    task: self.attempt_of(launch, task)?,
                }
            }
            Happening::Exited { report } => Input::TaskExited {
                task: self.attempt_of(launch, &report.task)?,
                verdict: exit::verdict(report),
            },
            Happening::Supervising { .. }
            | Happening::Phase { .. }
            | Happening::Note { .. }
            | Happening::Transfer { .. }
            | Happening::Kept { .. }
            | Happening::Ended => return None,
        };
        Some((Time(event.at), input))
    }

    /// Which attempt of a task a launch has.
    fn attempt_of(&self, launch: u32, task: &TaskId) -> Option<TaskAttempt> {
        let id = self.job.task_of_engine(task)?;
        let launch = self.job.launches.get(launch as usize)?;
        let placed = launch.tasks.iter().find(|placed| placed.task.task == id)?;
        Some(placed.task)
    }
}
