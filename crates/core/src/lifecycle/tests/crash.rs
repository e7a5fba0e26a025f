//! A control loop with a durable store, against a scheduler and an engine that live on when it dies.
//!
//! The loop dies after every single effect, between carrying it out and noting that, and recovers.
//! Whatever it forgets, the end is the same as if it had never died.

mod story;
mod world;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use story::{Dice, Story};
use world::{Event, Process, World};

use super::*;

/// When the control loop dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deaths {
    Never,
    AfterEveryEffect,
    /// With this chance in a hundred, at each effect and each commit.
    Sometimes(u64),
}

/// How the control loop knows after a death what is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Memory {
    /// From effects that it kept, and from its state.
    KeepsEffects,
    /// From its state alone.
    StateAlone,
}

struct Loop<'a> {
    world: World<'a>,
    deaths: Deaths,
    memory: Memory,
    dice: Dice,
    // Durable:
    job: JobState,
    pending: VecDeque<Effect>,
    // Lost in a death:
    heard: usize,
    timers: BTreeSet<(u64, Timer)>,
    died: u32,
}

impl<'a> Loop<'a> {
    fn new(story: &'a Story, deaths: Deaths, memory: Memory) -> Self {
        let (job, effects) = JobState::begin(&story.plan, story.settings, Time(0));
        let (stop_at, force) = story.stop_at;
        let mut agenda = BTreeSet::from([
            (stop_at, Event::Stop(force)),
            (Story::HORIZON_MS, Event::Stop(true)),
        ]);
        if !story.steady && story.seed.is_multiple_of(3) {
            agenda.insert((50_000, Event::Preempt));
            agenda.insert((150_000, Event::Preempt));
        }
        agenda.extend((1..=story.losses).map(|turn| (turn * 1_700, Event::Lose)));
        Loop {
            world: World {
                story,
                now: 0,
                agenda,
                asked: BTreeMap::new(),
                held: BTreeSet::new(),
                processes: BTreeMap::new(),
                log: Vec::new(),
                finished: None,
            },
            deaths,
            memory,
            dice: Dice(story.seed ^ 0x77),
            job,
            pending: effects.into(),
            heard: 0,
            timers: BTreeSet::new(),
            died: 0,
        }
    }

    fn run(mut self) -> Self {
        self.carry_out();
        for _ in 0..100_000 {
            while let Some(input) = self.world.log.get(self.heard).cloned() {
                self.heard += 1;
                let effects = step(&mut self.job, input, Time(self.world.now));
                self.pending.extend(effects);
                if matches!(self.deaths, Deaths::Sometimes(_)) {
                    self.maybe_die();
                }
                self.carry_out();
            }
            if self.job.state() == State::Completed {
                return self;
            }
            self.advance();
        }
        panic!("story {} does not end", self.world.story.seed);
    }

    fn carry_out(&mut self) {
        while let Some(effect) = self.pending.front().copied() {
            self.world.perform(effect, &mut self.timers);
            self.maybe_die();
            self.pending.pop_front();
        }
    }

    fn advance(&mut self) {
        let outside = self.world.agenda.first().copied();
        let timer = self.timers.first().copied();
        let inside = timer.map(|(at, timer)| (at, Event::Timer(timer)));
        let next = outside.into_iter().chain(inside).min();
        let (at, event) = next.unwrap_or_else(|| panic!("nothing will ever happen"));
        if let Event::Timer(timer) = event {
            self.timers.remove(&(at, timer));
        } else {
            self.world.agenda.remove(&(at, event));
        }
        self.world.now = self.world.now.max(at);
        self.world.happen(event);
    }

    fn maybe_die(&mut self) {
        let dies = match self.deaths {
            Deaths::Never => false,
            Deaths::AfterEveryEffect => true,
            Deaths::Sometimes(percent) => self.dice.below(100) < percent,
        };
        if !dies {
            return;
        }
        self.died += 1;
        self.timers.clear();
        if self.died.is_multiple_of(128) {
            let json = serde_json::to_string(&self.job).unwrap();
            self.job = serde_json::from_str(&json).unwrap();
        }
        match self.memory {
            Memory::KeepsEffects => {
                for effect in self.pending.clone() {
                    self.world.perform(effect, &mut self.timers);
                }
            }
            Memory::StateAlone => {
                // The effect at the front is popped by the caller; its stand-in does nothing.
                let code = self.job.outcome().map_or(0, |outcome| outcome.verdict.code);
                self.pending.clear();
                if self.job.state() == State::Completed {
                    self.pending.push_back(Effect::Finish { code });
                    self.world
                        .perform(Effect::Finish { code }, &mut self.timers);
                }
                self.forget_what_nobody_wants();
            }
        }
        for effect in self.job.outstanding() {
            self.world.perform(effect, &mut self.timers);
        }
        self.hear_again();
    }

    /// After a death without kept effects: places that no live attempt needs are free.
    fn forget_what_nobody_wants(&mut self) {
        let live: BTreeSet<TaskAttempt> = self.job.live_attempts().collect();
        let waiting: BTreeSet<Group> = self
            .job
            .outstanding()
            .into_iter()
            .filter_map(|effect| match effect {
                Effect::Place { group } => Some(group),
                _ => None,
            })
            .collect();
        for (task, process) in &self.world.processes {
            assert!(*process == Process::Ended || live.contains(task), "a leak");
        }
        let wanted = |group: &Group, world: &World<'_>| {
            let members = world.members(*group);
            waiting.contains(group) || members.iter().any(|task| live.contains(task))
        };
        let groups: Vec<Group> = self.world.asked.keys().copied().collect();
        for group in groups {
            if !wanted(&group, &self.world) {
                self.world.asked.insert(group, false);
                for task in self.world.members(group) {
                    self.world.held.remove(&task);
                }
            }
        }
        if !self.job.is_gang() || self.world.story.plan.placement.gang_release.is_none() {
            let keeps = |task: &TaskAttempt| {
                live.contains(task)
                    || waiting.contains(&Group::Task(*task))
                    || waiting.contains(&Group::Gang(task.job_attempt))
            };
            self.world.held.retain(keeps);
        }
    }

    /// The engine tells the new loop old news again, in any order. None of it matters.
    fn hear_again(&mut self) {
        for _ in 0..self.heard.min(4) {
            let at = self.dice.below(self.heard as u64) as usize;
            let input = self.world.log[at].clone();
            if matches!(input, Input::Stop { .. }) {
                continue;
            }
            let before = self.job.revision();
            let effects = step(&mut self.job, input, Time(self.world.now));
            assert_eq!((self.job.revision(), effects), (before, vec![]), "old news");
        }
    }

    fn assert_nothing_is_left(&self) {
        let seed = self.world.story.seed;
        assert_eq!(self.job.state(), State::Completed);
        assert_eq!(
            self.world.finished,
            self.job.outcome().map(|o| o.verdict.code),
            "{seed}"
        );
        let alive = self
            .world
            .processes
            .values()
            .filter(|process| **process != Process::Ended);
        assert_eq!(alive.count(), 0, "story {seed}");
        assert!(
            self.world.held.is_empty(),
            "story {seed}: {:?}",
            self.world.held
        );
        assert!(
            self.world.asked.values().all(|waits| !waits),
            "story {seed}"
        );
        assert_eq!(self.job.outstanding(), []);
    }
}

#[test]
fn dying_after_every_single_effect_changes_nothing() {
    let mut died = 0;
    let mut retried = 0;
    for seed in 0..2_000 {
        let story = Story::of(seed);
        let calm = Loop::new(&story, Deaths::Never, Memory::KeepsEffects).run();
        calm.assert_nothing_is_left();
        retried += calm.job.retries().total;
        for (deaths, memory) in [
            (Deaths::AfterEveryEffect, Memory::KeepsEffects),
            (Deaths::AfterEveryEffect, Memory::StateAlone),
            (Deaths::Sometimes(20), Memory::KeepsEffects),
            (Deaths::Sometimes(20), Memory::StateAlone),
        ] {
            let rough = Loop::new(&story, deaths, memory).run();
            died += rough.died;
            rough.assert_nothing_is_left();
            assert_eq!(rough.job, calm.job, "story {seed}, {deaths:?}, {memory:?}");
        }
    }
    assert!(died > 50_000, "died {died} times");
    assert!(retried > 1_000, "retried {retried} times");
}

#[test]
fn tasks_that_the_engine_loses_cost_nothing_but_free_attempts() {
    let mut lost = 0;
    for seed in 0..500 {
        let calm_story = Story::steady(seed, 0);
        let calm = Loop::new(&calm_story, Deaths::Never, Memory::KeepsEffects).run();
        let story = Story::steady(seed, 4);
        let rough = Loop::new(&story, Deaths::AfterEveryEffect, Memory::KeepsEffects).run();
        rough.assert_nothing_is_left();
        let code = |job: &JobState| job.outcome().map(|outcome| outcome.verdict.code);
        assert_eq!(code(&rough.job), code(&calm.job), "story {seed}");
        assert_eq!(rough.job.retries().counted, 0);
        lost += rough.job.retries().total;
        lost += rough
            .job
            .tasks()
            .map(|task| task.retries.total)
            .sum::<u32>();
    }
    assert!(lost > 500, "{lost} lost");
}
