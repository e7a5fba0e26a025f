//! Random jobs and what befalls them.

use super::super::*;

/// A source of reproducible randomness.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    pub(super) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }
}

/// What one attempt of a task does once it is started.
#[derive(Clone, Copy)]
pub(super) struct Script {
    pub(super) behaviour: Behaviour,
    pub(super) lasts_ms: u64,
}

/// A job and everything that befalls it.
pub(super) struct Story {
    pub(super) seed: u64,
    pub(super) plan: Plan,
    pub(super) settings: Settings,
    /// All attempts of a task do the same, at most one task fails, and nothing is preempted or refused.
    pub(super) steady: bool,
    /// How many tasks the engine loses.
    pub(super) losses: u64,
    pub(super) stop_at: (u64, bool),
}

impl Story {
    pub(super) const HORIZON_MS: u64 = 20 * 60 * 1_000;

    pub(super) fn of(seed: u64) -> Story {
        let mut dice = Dice(seed);
        let gang = dice.below(2) == 0;
        let roles: Vec<Role> = (0..=dice.below(3))
            .map(|_| {
                let instances = 1 + dice.below(3) as u32;
                let all = i64::from(instances);
                Role {
                    instances,
                    min_failed: dice.pick(&[1, 1, 1, -1, all]),
                    min_succeeded: dice.pick(&[all, all, -1, 1]),
                    retries: dice.pick(&[0, 0, 1, 2, -1, -2]),
                }
            })
            .collect();
        let mut plan = plan(gang, dice.pick(&[0, 0, 1, 2, -1, -2]), &roles);
        plan.placement.gang_release = dice.pick(&[None, Some(true)]);
        let settings = Settings {
            time_limit_ms: dice.pick(&[None, None, Some(90_000)]),
            seed,
            ..Settings::default()
        };
        let stop_at = match dice.below(3) {
            0 => (dice.below(400_000), dice.below(2) == 0),
            _ => (Self::HORIZON_MS, true),
        };
        Story {
            seed,
            plan,
            settings,
            steady: false,
            losses: 0,
            stop_at,
        }
    }

    /// A job that waits for all its tasks, of which at most the first fails, again and again.
    pub(super) fn steady(seed: u64, losses: u64) -> Story {
        let mut dice = Dice(seed);
        let gang = dice.below(2) == 0;
        let roles: Vec<Role> = (0..=dice.below(3))
            .map(|_| role(1 + dice.below(3) as u32, 1, -1))
            .collect();
        Story {
            seed,
            plan: plan(gang, 0, &roles),
            settings: Settings::default(),
            steady: true,
            losses,
            stop_at: (Self::HORIZON_MS, true),
        }
    }

    pub(super) fn script(&self, task: TaskAttempt) -> Script {
        use Behaviour::{Permanent, Success, Transient, TransientConflict, Unknown};
        let own = u64::from(task.task.role) * 100 + u64::from(task.task.index);
        if self.steady {
            let fate = [Success, Success, Permanent, Unknown][(self.seed % 4) as usize];
            return Script {
                behaviour: if own == 0 { fate } else { Success },
                lasts_ms: 3_000 + own * 100,
            };
        }
        let attempts = u64::from(task.job_attempt) * 1_000 + u64::from(task.attempt);
        let mut dice = Dice(self.seed ^ (attempts * 100_000 + own).wrapping_mul(0x5851_f42d));
        Script {
            behaviour: dice.pick(&[
                Success,
                Success,
                Success,
                Success,
                Transient,
                Transient,
                TransientConflict,
                Permanent,
                Unknown,
                Unknown,
            ]),
            lasts_ms: dice.pick(&[1, 5_000, 60_000, 100_000, 700_000]) + dice.below(1_000),
        }
    }
}
