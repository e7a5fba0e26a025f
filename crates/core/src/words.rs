//! Policies in words: what a person would say of them.

use std::fmt::Write as _;

use indexmap::IndexMap;

use crate::plan::{Completion, Event, Retry, Role};

/// A sentence with more parts is not read by anyone.
const MOST_LISTED: usize = 8;

/// What decides the fate of a job, in sentences without full stops, meant to be joined by `; `.
///
/// A role's policy is read as the protocol carries it out: the first condition that comes true
/// ends the job; if every task has ended and none came true, the job succeeds.
pub fn fate(roles: &IndexMap<String, Role>) -> Vec<String> {
    let voices: Vec<Voice<'_>> = roles
        .iter()
        .map(|(name, role)| Voice::of(name, role))
        .collect();
    let successes: Vec<String> = voices.iter().filter_map(Voice::success).collect();
    let mut sentences = Vec::new();
    if successes.is_empty() {
        sentences.push(success_without_a_condition(&voices));
    } else {
        sentences.push(format!(
            "the job succeeds as soon as {}",
            any_of(&successes)
        ));
    }
    sentences.extend(failure(&voices));
    let silent: Vec<String> = voices
        .iter()
        .filter(|voice| voice.min_failed.is_none() && voice.min_succeeded.is_none())
        .map(|voice| format!("`{}`", voice.name))
        .collect();
    if !silent.is_empty() && silent.len() < voices.len() {
        let verb = if silent.len() == 1 {
            "never ends"
        } else {
            "never end"
        };
        sentences.push(format!("{} {verb} it", listed(&silent, "and")));
    }
    if !successes.is_empty() && voices.iter().all(Voice::can_stay_undecided) {
        sentences.push("if every task ends before any of this, it succeeds too".to_owned());
    }
    let ends_early = voices.iter().any(|voice| {
        voice.decides_early(voice.min_failed) || voice.decides_early(voice.min_succeeded)
    });
    let can_end = voices
        .iter()
        .any(|voice| voice.min_failed.is_some() || voice.min_succeeded.is_some());
    if can_end && (ends_early || voices.len() > 1) {
        sentences.push("tasks that still run then are stopped".to_owned());
    }
    sentences
}

/// How far a role is from what decides the fate of the job, such as `3/4 succeeded, the job succeeds at 4; 0 failed, it fails at 1`.
pub fn progress(succeeded: u32, failed: u32, total: u32, completion: Completion) -> String {
    let mut text = match completion.min_succeeded {
        Some(enough) => format!("{succeeded}/{enough} succeeded, the job succeeds at {enough}"),
        None => format!("{succeeded}/{total} succeeded"),
    };
    match completion.min_failed {
        Some(most) => {
            let job = match completion.min_succeeded {
                Some(_) => "it",
                None => "the job",
            };
            let _ = write!(text, "; {failed} failed, {job} fails at {most}");
        }
        None if failed > 0 => {
            let _ = write!(text, "; {failed} failed");
        }
        None => {}
    }
    text
}

/// How often something is tried again.
pub fn retry(retry: Retry) -> String {
    match retry.limit {
        -2 => "always, also after success".to_owned(),
        ..=-1 => "without end".to_owned(),
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        times => format!("up to {times} times"),
    }
}

/// When a step happens.
pub fn event(event: Event) -> &'static str {
    match event {
        Event::Start => "at start",
        Event::Success => "after success",
        Event::Failure => "after failure",
        Event::Always => "at the end",
    }
}

/// An amount of data, such as `3.5 MiB`.
pub fn bytes(amount: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if amount < 1024 {
        return format!("{amount} B");
    }
    let mut unit = 1024_u64;
    let mut names = UNITS.iter();
    let mut name = names.next().unwrap_or(&"KiB");
    while amount / unit >= 1024 {
        let Some(next) = names.next() else { break };
        name = next;
        unit *= 1024;
    }
    let tenths = u128::from(amount) * 10 / u128::from(unit);
    format!("{}.{} {name}", tenths / 10, tenths % 10)
}

/// A time, such as `1 h 30 min`.
pub fn seconds(seconds: u64) -> String {
    let parts = [
        (seconds / 3600, "h"),
        (seconds / 60 % 60, "min"),
        (seconds % 60, "s"),
    ];
    let shown: Vec<String> = parts
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, unit)| format!("{number} {unit}"))
        .collect();
    if shown.is_empty() {
        return "0 s".to_owned();
    }
    shown.join(" ")
}

/// A number of things: `1 task`, `4 tasks`.
pub fn count(number: usize, thing: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{s}")
}

/// `a`, `a or b`, `a, b or c`; of many only the first.
pub fn listed(items: &[String], conjunction: &str) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        many if many.len() > MOST_LISTED => {
            let (first, rest) = many.split_at(MOST_LISTED - 1);
            format!("{} {conjunction} {} more", first.join(", "), rest.len())
        }
        [first @ .., last] => format!("{} {conjunction} {last}", first.join(", ")),
    }
}

/// What one role has to say. Conditions that can never come true are left out.
struct Voice<'a> {
    name: &'a str,
    instances: u32,
    min_failed: Option<u32>,
    min_succeeded: Option<u32>,
}

impl<'a> Voice<'a> {
    fn of(name: &'a str, role: &Role) -> Self {
        let reachable = |minimum: &u32| *minimum >= 1 && *minimum <= role.instances;
        Voice {
            name,
            instances: role.instances,
            min_failed: role.completion.min_failed.filter(reachable),
            min_succeeded: role.completion.min_succeeded.filter(reachable),
        }
    }

    fn success(&self) -> Option<String> {
        let minimum = self.min_succeeded?;
        Some(format!("{} succeeded", self.so_many_have(minimum)))
    }

    fn failure(&self) -> Option<String> {
        let minimum = self.min_failed?;
        Some(match (minimum, self.instances) {
            (1, 1) => format!("`{}` fails", self.name),
            (1, _) => format!("one `{}` task fails", self.name),
            _ => format!("{} failed", self.so_many_have(minimum)),
        })
    }

    fn so_many_have(&self, minimum: u32) -> String {
        let Voice {
            name, instances, ..
        } = self;
        match (minimum, *instances) {
            (1, 1) => format!("`{name}` has"),
            (2, 2) => format!("both `{name}` tasks have"),
            (all, of) if all == of => format!("all {of} `{name}` tasks have"),
            (1, _) => format!("one `{name}` task has"),
            (some, of) => format!("{some} of the {of} `{name}` tasks have"),
        }
    }

    /// Whether all tasks of the role can end without any of its conditions coming true.
    fn can_stay_undecided(&self) -> bool {
        let needed = |minimum: Option<u32>| u64::from(minimum.unwrap_or(self.instances + 1));
        needed(self.min_failed) + needed(self.min_succeeded) >= u64::from(self.instances) + 2
    }

    fn decides_early(&self, minimum: Option<u32>) -> bool {
        minimum.is_some_and(|minimum| minimum < self.instances)
    }
}

fn success_without_a_condition(voices: &[Voice<'_>]) -> String {
    let strict = |voice: &Voice<'_>| voice.min_failed == Some(1);
    if voices.iter().all(|voice| voice.min_failed.is_none()) {
        return "the job succeeds when every task has ended, even if all of them fail".to_owned();
    }
    match voices {
        [only] if strict(only) => {
            format!(
                "the job succeeds when {} succeeded",
                only.so_many_have(only.instances)
            )
        }
        _ if voices.iter().all(strict) => {
            "the job succeeds when every task has succeeded".to_owned()
        }
        _ => "the job succeeds when every task has ended and nothing has failed it".to_owned(),
    }
}

fn failure(voices: &[Voice<'_>]) -> Option<String> {
    let clauses: Vec<String> = voices.iter().filter_map(Voice::failure).collect();
    if clauses.is_empty() {
        let can_succeed = voices.iter().any(|voice| voice.min_succeeded.is_some());
        return can_succeed.then(|| "no failure of a task fails it".to_owned());
    }
    let any_task = voices.len() > 1 && voices.iter().all(|voice| voice.min_failed == Some(1));
    Some(if any_task {
        "it fails as soon as any task fails".to_owned()
    } else {
        format!("it fails as soon as {}", any_of(&clauses))
    })
}

fn any_of(clauses: &[String]) -> String {
    listed(clauses, "or")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Resources, RolePlacement};

    fn role(instances: u32, min_failed: i64, min_succeeded: i64) -> Role {
        Role {
            instances,
            image: None,
            resources: Resources {
                cpu: 1,
                memory_mb: 1,
                gpu: 0,
                shm_mb: 0,
                infiniband: false,
            },
            ports: IndexMap::new(),
            env: IndexMap::new(),
            mounts: Vec::new(),
            before: Vec::new(),
            command: Vec::new(),
            after: Vec::new(),
            completion: Completion {
                min_failed: u32::try_from(min_failed).ok(),
                min_succeeded: u32::try_from(min_succeeded).ok(),
            },
            retry: Retry { limit: 0 },
            placement: RolePlacement::default(),
            ..Role::default()
        }
    }

    fn fate_of(roles: &[(&str, u32, i64, i64)]) -> String {
        let roles = roles
            .iter()
            .map(|(name, instances, failed, succeeded)| {
                ((*name).to_owned(), role(*instances, *failed, *succeeded))
            })
            .collect();
        fate(&roles).join("; ")
    }

    #[test]
    fn amounts_of_data_have_one_digit_too_many_at_most() {
        let table = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1536, "1.5 KiB"),
            (1 << 30, "1.0 GiB"),
            (u64::MAX, "16383.9 PiB"),
        ];
        for (amount, shown) in table {
            assert_eq!(bytes(amount), shown);
        }
    }

    #[test]
    fn one_role_with_the_defaults_of_the_protocol() {
        assert_eq!(
            fate_of(&[("worker", 4, 1, 4)]),
            "the job succeeds as soon as all 4 `worker` tasks have succeeded; it fails as soon as one \
             `worker` task fails; tasks that still run then are stopped"
        );
        assert_eq!(
            fate_of(&[("taskrole", 1, 1, 1)]),
            "the job succeeds as soon as `taskrole` has succeeded; it fails as soon as `taskrole` fails"
        );
    }

    #[test]
    fn wait_for_all() {
        assert_eq!(
            fate_of(&[("a", 2, 1, -1), ("b", 3, 1, -1)]),
            "the job succeeds when every task has succeeded; it fails as soon as any task fails; tasks \
             that still run then are stopped"
        );
    }

    #[test]
    fn the_master_decides() {
        assert_eq!(
            fate_of(&[("master", 1, 1, 1), ("worker", 8, -1, -1)]),
            "the job succeeds as soon as `master` has succeeded; it fails as soon as `master` fails; \
             `worker` never ends it; tasks that still run then are stopped"
        );
    }

    #[test]
    fn parameter_servers_and_workers() {
        assert_eq!(
            fate_of(&[("ps", 2, 1, -1), ("worker", 4, 1, 4)]),
            "the job succeeds as soon as all 4 `worker` tasks have succeeded; it fails as soon as any \
             task fails; tasks that still run then are stopped"
        );
    }

    #[test]
    fn any_worker_will_do() {
        assert_eq!(
            fate_of(&[("worker", 4, 4, 1)]),
            "the job succeeds as soon as one `worker` task has succeeded; it fails as soon as all 4 \
             `worker` tasks have failed; tasks that still run then are stopped"
        );
    }

    #[test]
    fn nothing_can_fail_it() {
        assert_eq!(
            fate_of(&[("a", 2, -1, -1), ("b", 2, -1, -1)]),
            "the job succeeds when every task has ended, even if all of them fail"
        );
        assert_eq!(
            fate_of(&[("a", 2, -1, 2)]),
            "the job succeeds as soon as both `a` tasks have succeeded; no failure of a task fails it; \
             if every task ends before any of this, it succeeds too"
        );
    }

    #[test]
    fn a_condition_that_cannot_come_true_is_not_spoken_of() {
        assert_eq!(
            fate_of(&[("a", 2, 3, 2)]),
            "the job succeeds as soon as both `a` tasks have succeeded; no failure of a task fails it; \
             if every task ends before any of this, it succeeds too"
        );
    }

    #[test]
    fn a_gap_between_the_two_conditions_is_spoken_of() {
        assert_eq!(
            fate_of(&[("a", 4, 2, 4)]),
            "the job succeeds as soon as all 4 `a` tasks have succeeded; it fails as soon as 2 of the 4 \
             `a` tasks have failed; if every task ends before any of this, it succeeds too; tasks that \
             still run then are stopped"
        );
        assert_eq!(
            fate_of(&[("a", 4, 2, -1)]),
            "the job succeeds when every task has ended and nothing has failed it; it fails as soon as \
             2 of the 4 `a` tasks have failed; tasks that still run then are stopped"
        );
    }

    #[test]
    fn long_lists_are_cut() {
        let items: Vec<String> = (1..=9).map(|number| number.to_string()).collect();
        assert_eq!(listed(&items[..3], "or"), "1, 2 or 3");
        assert_eq!(listed(&items[..8], "or"), "1, 2, 3, 4, 5, 6, 7 or 8");
        assert_eq!(listed(&items, "or"), "1, 2, 3, 4, 5, 6, 7 or 2 more");
    }

    #[test]
    fn retries_are_counted_in_words() {
        let words: Vec<String> = [-2, -1, 0, 1, 2, 3]
            .into_iter()
            .map(|limit| retry(Retry { limit }))
            .collect();
        assert_eq!(
            words,
            [
                "always, also after success",
                "without end",
                "never",
                "once",
                "twice",
                "up to 3 times"
            ]
        );
    }

    #[test]
    fn progress_is_told_against_what_decides_the_job() {
        let told = |min_succeeded, min_failed| {
            let completion = Completion {
                min_failed,
                min_succeeded,
            };
            progress(3, 1, 4, completion)
        };
        assert_eq!(
            told(Some(4), Some(2)),
            "3/4 succeeded, the job succeeds at 4; 1 failed, it fails at 2"
        );
        assert_eq!(
            told(None, Some(2)),
            "3/4 succeeded; 1 failed, the job fails at 2"
        );
        assert_eq!(told(None, None), "3/4 succeeded; 1 failed");
    }
}
