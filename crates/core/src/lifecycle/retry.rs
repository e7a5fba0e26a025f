//! Whether something is tried again, and when. `docs/retries.md` explains it to users.

use serde::{Deserialize, Serialize};

use super::job::Settings;
use crate::exit::code::{ATTEMPT_OVER, REMOVED, STOP_ASKED, TASK_UNWANTED};
use crate::exit::{Behaviour, Verdict};

const FIRST_BACKOFF_MS: u64 = 1_000;
const LONGEST_BACKOFF_MS: u64 = 5 * 60 * 1_000;
const SHORTEST_CONFLICT_MS: u64 = 60 * 1_000;
const LONGEST_CONFLICT_MS: u64 = 900 * 1_000;

/// Who may try again, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Policy {
    /// Whether the kind of failure counts, so that transient failures are free and permanent ones final.
    pub fancy: bool,
    /// How many counted retries; `-1` is without end, `-2` is also after success.
    pub limit: i32,
}

/// How often something was tried again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Retries {
    /// In all; also the number of the current attempt.
    pub total: u32,
    /// Those that count against the limit.
    pub counted: u32,
    /// Those without a limit of their own, in a row, since an attempt last ran for a good while.
    pub streak: u32,
}

/// The line of the retry table that decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Rule {
    /// Stopped on request or because the job's fate was decided: final.
    Stopped,
    /// A failure that passes: again, for free.
    Transient,
    /// Others were in the way: again, for free, after a random wait.
    Conflict,
    /// A failure that passes, but too often in a row: final.
    TransientTooOften,
    /// A failure that stays: final.
    Permanent,
    /// The policy says always.
    Always,
    /// The policy says without end.
    WithoutEnd,
    /// The budget is not spent.
    Budget,
    /// The budget is spent: final.
    BudgetSpent,
    /// It succeeded: final.
    Succeeded,
}

impl Rule {
    /// Whether the rule says to try again.
    pub fn again(self) -> bool {
        matches!(
            self,
            Rule::Transient | Rule::Conflict | Rule::Always | Rule::WithoutEnd | Rule::Budget
        )
    }

    /// Whether trying again counts against the limit.
    pub fn counted(self) -> bool {
        matches!(self, Rule::Always | Rule::WithoutEnd | Rule::Budget)
    }

    /// The rule in words, without a full stop.
    pub fn words(self) -> &'static str {
        match self {
            Rule::Stopped => "stopped, so not tried again",
            Rule::Transient => "a failure that passes: tried again for free",
            Rule::Conflict => "others were in the way: tried again for free, after a random wait",
            Rule::TransientTooOften => {
                "a failure that passes, but too many times in a row: not tried again"
            }
            Rule::Permanent => "a failure that stays: not tried again",
            Rule::Always => "tried again, as always",
            Rule::WithoutEnd => "tried again, without end",
            Rule::Budget => "tried again, as long as the budget lasts",
            Rule::BudgetSpent => "not tried again: the budget of retries is spent",
            Rule::Succeeded => "succeeded, so not tried again",
        }
    }
}

/// Whether another attempt follows. Made once, when an attempt has ended, and kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// Why.
    pub rule: Rule,
    /// Whether another attempt follows.
    pub again: bool,
    /// Whether it counts against the limit.
    pub counted: bool,
    /// How long to wait before it, in milliseconds.
    pub delay_ms: u64,
    /// The streak that it leaves.
    streak: u32,
}

/// What is left to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    /// Counted retries so far.
    pub counted: u32,
    /// Counted retries left; none if there is no end.
    pub left: Option<u32>,
    /// Free retries so far.
    pub free: u32,
    /// Free retries in a row left before it is given up; none if there is no end.
    pub free_left: Option<u32>,
}

/// The retry table: the line for an ending, exactly as upstream has it.
pub(super) fn rule(policy: Policy, verdict: &Verdict, counted: u32) -> Rule {
    if matches!(verdict.code, STOP_ASKED | ATTEMPT_OVER | TASK_UNWANTED) {
        return Rule::Stopped;
    }
    if policy.fancy {
        match verdict.behaviour {
            Behaviour::TransientConflict => return Rule::Conflict,
            Behaviour::Transient => return Rule::Transient,
            Behaviour::Permanent => return Rule::Permanent,
            Behaviour::Success | Behaviour::Unknown => {}
        }
    }
    match policy.limit {
        ..=-2 => Rule::Always,
        _ if verdict.is_success() => Rule::Succeeded,
        -1 => Rule::WithoutEnd,
        limit if i64::from(counted) < i64::from(limit) => Rule::Budget,
        _ => Rule::BudgetSpent,
    }
}

/// What the waits depend on beside the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circumstances<'a> {
    pub(super) settings: &'a Settings,
    /// How long the attempt ran, in milliseconds.
    pub(super) ran_for_ms: u64,
    /// Whether a conflict is worth a long random wait: it is for a job, not for a task.
    pub(super) random_wait: bool,
}

impl Retries {
    pub(super) fn is_none(&self) -> bool {
        *self == Retries::default()
    }

    /// Decides about another attempt: the table, and then the limits and waits that it lacks.
    pub(super) fn decide(
        self,
        policy: Policy,
        verdict: &Verdict,
        circumstances: Circumstances<'_>,
    ) -> Decision {
        let settings = circumstances.settings;
        let mut rule = rule(policy, verdict, self.counted);
        let progressed = circumstances.ran_for_ms >= settings.steady_run_ms;
        let streak = if progressed { 0 } else { self.streak };
        let free = rule.again() && !rule.counted();
        let taken_away = free && verdict.code == REMOVED;
        let too_often = settings
            .free_retries
            .is_some_and(|most| policy.limit >= 0 && streak >= most);
        if free && !taken_away && too_often {
            rule = match rule {
                Rule::Transient | Rule::Conflict => Rule::TransientTooOften,
                other => other,
            };
        }
        let limited = matches!(rule, Rule::Budget);
        let delay_ms = match rule {
            _ if !rule.again() || limited || taken_away => 0,
            Rule::Conflict if circumstances.random_wait => {
                conflict_wait(settings.seed, self.total).max(backoff(streak))
            }
            _ => backoff(streak),
        };
        let lengthens = rule.again() && !limited && !taken_away;
        Decision {
            rule,
            again: rule.again(),
            counted: rule.counted(),
            delay_ms,
            streak: streak.saturating_add(u32::from(lengthens)),
        }
    }

    /// Goes on to the next attempt.
    pub(super) fn go_on(&mut self, decision: Decision) {
        self.total = self.total.saturating_add(1);
        self.counted = self.counted.saturating_add(u32::from(decision.counted));
        self.streak = decision.streak;
    }

    pub(super) fn budget(self, policy: Policy, settings: &Settings) -> Budget {
        let limited = u32::try_from(policy.limit).ok();
        Budget {
            counted: self.counted,
            left: limited.map(|limit| limit.saturating_sub(self.counted)),
            free: self.total.saturating_sub(self.counted),
            free_left: match (limited, policy.fancy) {
                (_, false) => Some(0),
                (None, true) => None,
                (Some(_), true) => settings
                    .free_retries
                    .map(|most| most.saturating_sub(self.streak)),
            },
        }
    }
}

/// One second, doubled with each retry in a row, at most five minutes.
fn backoff(streak: u32) -> u64 {
    FIRST_BACKOFF_MS
        .saturating_mul(1 << streak.min(20))
        .min(LONGEST_BACKOFF_MS)
}

/// Between one and fifteen minutes, different for each job and attempt, so that jobs that were in each
/// other's way part.
fn conflict_wait(seed: u64, attempt: u32) -> u64 {
    let span = LONGEST_CONFLICT_MS - SHORTEST_CONFLICT_MS + 1;
    SHORTEST_CONFLICT_MS + mix(seed ^ mix(u64::from(attempt))) % span
}

/// SplitMix64: spreads the bits of a number.
fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
