//! Decides, and makes the decision durable, in one transaction.

use std::collections::VecDeque;

use pinnace_core::exit::{self, EngineReason, Verdict};
use pinnace_core::lifecycle::{Effect, Group, Input, TaskAttempt, Time, step};

use super::{Control, ControlError, News, now};
use crate::admit::Admitted;
use crate::engine::Engine;
use crate::job::{Job, JobId, Launch, PlacedTask};
use crate::place::{self, Answer, Room, Want};
use crate::store::{Change, Store, StoreError};

/// What is to be done once it is durable.
#[derive(Debug)]
pub(super) enum Intent {
    /// Start a launch, or make sure that it was started.
    Launch(u32),
    /// `Kill` and `ScheduleTimer`.
    Effect(Effect),
    /// Let go of what has ended.
    Settle,
}

/// A state of so many tasks is kept whole after so many inputs; until then they are replayed.
const TASKS_PER_INPUT: u64 = 2;

impl<E: Engine> Control<E> {
    /// Feeds the inputs to the life of the job. The effects are those that wait to be carried out, from the
    /// beginning of a life or after a restart.
    pub(super) fn decide(
        &mut self,
        inputs: Vec<(Time, Input)>,
        effects: Vec<Effect>,
    ) -> Result<Vec<Intent>, ControlError> {
        let waiting = std::mem::take(&mut self.waiting);
        let is_fleeting = waiting.is_empty()
            && effects.is_empty()
            && inputs.iter().all(|(_, input)| is_fleeting(input));
        let mut decision = Decision::begin(&mut self.job, &mut self.room, &mut self.news);
        decision.inputs = inputs.into();
        let kept = &mut self.kept;
        let heard = self.heard;
        let decide = |change: &Change<'_>| {
            for group in waiting {
                decision.place(change, group)?;
            }
            decision.note_all(change, effects)?;
            if let Some(heard) = heard {
                change.drop_commands(decision.job, heard)?;
            }
            decision.keep(change, kept)?;
            Ok((decision.intents, decision.waiting))
        };
        let (intents, waiting) = match is_fleeting {
            true => self.store.note(decide),
            false => self.store.change(decide),
        }?;
        self.waiting = waiting;
        Ok(intents)
    }

    /// Takes in a new job and decides how it begins.
    pub(super) fn begin(
        store: &mut Store,
        id: &JobId,
        admitted: Admitted,
    ) -> Result<Beginning, StoreError> {
        let Admitted {
            submission,
            mut room,
        } = admitted;
        let mut news = Vec::new();
        let (job, intents, waiting) = store.change(|change| {
            let (mut job, effects) = change.submit(id, submission, now())?;
            let mut decision = Decision::begin(&mut job, &mut room, &mut news);
            decision.note_all(change, effects)?;
            decision.keep(change, &mut 0)?;
            let (intents, waiting) = (decision.intents, decision.waiting);
            Ok((job, intents, waiting))
        })?;
        Ok(Beginning {
            job,
            room,
            intents,
            waiting,
            news,
        })
    }
}

/// How a job begins.
pub(super) struct Beginning {
    pub(super) job: Job,
    pub(super) room: Option<Room>,
    pub(super) intents: Vec<Intent>,
    pub(super) waiting: Vec<Group>,
    pub(super) news: Vec<News>,
}

/// Whether it means nothing once the machine has stopped and with it all that ran. Such an input is durable with the
/// next one that is not.
pub(super) fn is_fleeting(input: &Input) -> bool {
    matches!(
        input,
        Input::TaskStarted { .. } | Input::KillAccepted { .. }
    )
}

/// A decision on its way.
struct Decision<'a> {
    job: &'a mut Job,
    room: &'a mut Option<Room>,
    now: Time,
    inputs: VecDeque<(Time, Input)>,
    intents: Vec<Intent>,
    /// Tasks that got a place.
    placed: Vec<PlacedTask>,
    /// Those of them that are to be launched; the rest was stopped meanwhile.
    launching: Vec<PlacedTask>,
    waiting: Vec<Group>,
    waits: Option<String>,
    news: &'a mut Vec<News>,
}

type Done = Result<(), StoreError>;

impl<'a> Decision<'a> {
    fn begin(job: &'a mut Job, room: &'a mut Option<Room>, news: &'a mut Vec<News>) -> Self {
        Self {
            job,
            room,
            now: now(),
            inputs: VecDeque::new(),
            intents: Vec::new(),
            placed: Vec::new(),
            launching: Vec::new(),
            waiting: Vec::new(),
            waits: None,
            news,
        }
    }

    /// Takes in effects, and then all that was heard and comes of it.
    fn note_all(&mut self, change: &Change<'_>, effects: Vec<Effect>) -> Done {
        for effect in effects {
            self.note(change, effect)?;
        }
        self.run(change)
    }

    fn run(&mut self, change: &Change<'_>) -> Done {
        while let Some((at, input)) = self.inputs.pop_front() {
            let before = self.job.state.revision();
            let effects = step(&mut self.job.state, input.clone(), at);
            if self.job.state.revision() == before {
                continue;
            }
            change.append(self.job, at, &input)?;
            self.news.push(News::Heard { at, input });
            for effect in effects {
                self.note(change, effect)?;
            }
        }
        Ok(())
    }

    /// Takes in an effect: what is about the store is done here, the rest becomes an intent.
    fn note(&mut self, change: &Change<'_>, effect: Effect) -> Done {
        match effect {
            Effect::Place { group } => self.place(change, group)?,
            Effect::Withdraw { group } => {
                self.waiting.retain(|waiting| *waiting != group);
                for task in tasks_of(self.job, group) {
                    change.unclaim(self.job, task)?;
                }
            }
            Effect::Release { task } => change.unclaim(self.job, task)?,
            Effect::Launch { group } => self.launch(group),
            Effect::Kill { .. } | Effect::ScheduleTimer { .. } => {
                self.intents.push(Intent::Effect(effect));
            }
            Effect::Finish { .. } => {
                self.job.finished = Some(self.now);
                change.settle(self.job, self.now)?;
                self.intents.push(Intent::Settle);
            }
        }
        Ok(())
    }

    fn place(&mut self, change: &Change<'_>, group: Group) -> Done {
        let tasks = tasks_of(self.job, group);
        if self.job.options.simulate_resources {
            let places = tasks.into_iter().map(|task| PlacedTask {
                task,
                gpus: Vec::new(),
            });
            self.placed.extend(places);
            self.inputs.push_back((self.now, Input::Placed { group }));
            return Ok(());
        }
        let wants: Vec<Want> = tasks.iter().map(|task| want(self.job, *task)).collect();
        let with_cards = wants.iter().any(|want| want.gpus > 0);
        if self
            .room
            .as_ref()
            .is_none_or(|room| with_cards && room.cards.is_empty())
        {
            *self.room = Some(Room::here(with_cards));
        }
        let room = self.room.get_or_insert_with(|| Room::here(with_cards));
        match place::decide(&wants, room, &change.claims(self.job)?) {
            Answer::Placed(claims) => {
                for claim in claims {
                    change.claim(self.job, &claim)?;
                    self.placed.push(PlacedTask {
                        task: claim.task,
                        gpus: claim.cards.unwrap_or_default(),
                    });
                }
                self.inputs.push_back((self.now, Input::Placed { group }));
            }
            Answer::Wait(why) => {
                for want in wants {
                    change.claim(self.job, &want.waiting())?;
                }
                self.waiting.push(group);
                self.waits = Some(why);
            }
            Answer::Refused(why) => {
                for task in tasks {
                    change.unclaim(self.job, task)?;
                }
                let verdict = refusal(why);
                let input = Input::PlaceRefused { group, verdict };
                self.inputs.push_back((self.now, input));
            }
        }
        Ok(())
    }

    /// Tasks that are launched by one decision share a launch. After a restart they have one already.
    fn launch(&mut self, group: Group) {
        for task in tasks_of(self.job, group) {
            if let Some(at) = self.placed.iter().position(|placed| placed.task == task) {
                self.launching.push(self.placed.swap_remove(at));
            } else if let Some(launch) = self.job.launch_of(task) {
                let number = launch.number;
                let is_same =
                    |intent: &Intent| matches!(intent, Intent::Launch(other) if *other == number);
                if !self.intents.iter().any(is_same) {
                    self.intents.push(Intent::Launch(number));
                }
            }
        }
    }

    /// Writes down what was decided.
    fn keep(&mut self, change: &Change<'_>, kept: &mut u64) -> Done {
        for placed in std::mem::take(&mut self.placed) {
            change.unclaim(self.job, placed.task)?;
        }
        if !self.launching.is_empty() {
            self.launching.sort_by_key(|placed| placed.task);
            let launch = Launch {
                number: self.job.launches.len() as u32,
                tasks: std::mem::take(&mut self.launching),
            };
            change.add_launch(self.job, &launch)?;
            self.intents.insert(0, Intent::Launch(launch.number));
            self.job.launches.push(launch);
        }
        if self.waits != self.job.waits {
            if let Some(why) = self.waits.clone() {
                self.news.push(News::Waits { why });
            }
            self.job.waits = self.waits.take();
        }
        let revision = self.job.state.revision();
        let tasks: u64 = self
            .job
            .state
            .progress()
            .map(|role| u64::from(role.total))
            .sum();
        if self.job.finished.is_some() || (revision - *kept) * TASKS_PER_INPUT >= tasks {
            change.keep_state(self.job)?;
            *kept = revision;
        }
        change.keep_summary(self.job)
    }
}

/// The current attempts of the tasks of a group.
fn tasks_of(job: &Job, group: Group) -> Vec<TaskAttempt> {
    match group {
        Group::Task(task) => vec![task],
        Group::Gang(job_attempt) => job
            .state
            .tasks()
            .map(|task| TaskAttempt {
                job_attempt,
                task: task.id,
                attempt: 0,
            })
            .collect(),
    }
}

fn want(job: &Job, task: TaskAttempt) -> Want {
    let role = job.plan.roles.get_index(task.task.role as usize);
    Want {
        task,
        memory_mb: role.map_or(0, |(_, role)| role.resources.memory_mb),
        gpus: role.map_or(0, |(_, role)| role.resources.gpu),
    }
}

fn refusal(why: String) -> Verdict {
    exit::classify(&exit::ExitReport::from_engine(EngineReason::Refused, why))
}
