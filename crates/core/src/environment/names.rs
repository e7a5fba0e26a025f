//! Whether a name is one of the variables that a job's tasks find.

use std::collections::HashMap;

use super::{FAMILIES, PORTS_OF_EVERY_TASK, port_labels, short_name};

/// Candidates for suggestions name so many tasks of each role.
const TASKS_SUGGESTED: u32 = 4;

/// What the names depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleShape<'a> {
    /// The role's name as written.
    pub name: &'a str,
    /// How many tasks it has.
    pub instances: u32,
    /// The labels of the ports that it asks for.
    pub ports: Vec<&'a str>,
}

/// The names that exist in a job, ready to be asked.
#[derive(Debug)]
pub struct Names<'a> {
    roles: &'a [RoleShape<'a>],
    by_spelling: HashMap<String, Vec<usize>>,
}

/// Whether a name is a variable, and if not, what is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict<'a> {
    /// It is one.
    Defined,
    /// It would be one if the role had more tasks.
    NoSuchTask(&'a RoleShape<'a>),
    /// It would be one if the role had such a port.
    NoSuchPort(&'a RoleShape<'a>),
    /// It is none.
    Unknown,
}

impl<'a> Names<'a> {
    /// Prepares the names of a job's roles.
    pub fn new(roles: &'a [RoleShape<'a>]) -> Self {
        let mut by_spelling: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, role) in roles.iter().enumerate() {
            let short = short_name(role.name);
            if short != role.name && !short.is_empty() {
                by_spelling.entry(short).or_default().push(index);
            }
            by_spelling
                .entry(role.name.to_owned())
                .or_default()
                .push(index);
        }
        Names { roles, by_spelling }
    }

    /// Whether a task finds a variable of this name. `current` is the task's role, by its place;
    /// without it, it is enough that the tasks of some role find it.
    pub fn check(&self, name: &str, current: Option<usize>) -> Verdict<'a> {
        let mut verdict = Verdict::Unknown;
        for family in FAMILIES {
            match self.matches(family.pattern, name, current) {
                Verdict::Defined => return Verdict::Defined,
                Verdict::Unknown => {}
                better => verdict = better,
            }
        }
        verdict
    }

    fn matches(&self, pattern: &str, name: &str, current: Option<usize>) -> Verdict<'a> {
        let Some((before, after)) = pattern.split_once('<') else {
            return if pattern == name {
                Verdict::Defined
            } else {
                Verdict::Unknown
            };
        };
        let Some(rest) = name.strip_prefix(before) else {
            return Verdict::Unknown;
        };
        if let Some(behind) = after.strip_prefix("port>") {
            let current = current.and_then(|index| self.roles.get(index));
            return match current {
                Some(role) => port_of(role, behind, rest),
                None => any(self.roles.iter().map(|role| port_of(role, behind, rest))),
            };
        }
        let Some(behind) = after.strip_prefix("role>") else {
            return Verdict::Unknown;
        };
        // A role's name ends at a `_` or at the end.
        let ends = rest
            .match_indices('_')
            .map(|(at, _)| at)
            .chain([rest.len()]);
        any(ends.flat_map(|end| {
            let (spelling, rest) = rest.split_at(end);
            let roles = self.by_spelling.get(spelling).into_iter().flatten();
            roles
                .filter_map(|index| self.roles.get(*index))
                .map(move |role| behind_role(role, behind, rest))
        }))
    }

    /// Names to suggest for one that is not known.
    pub fn candidates(&self, current: Option<usize>) -> Vec<String> {
        let mut candidates = Vec::new();
        for family in FAMILIES {
            let mut add = |role: &RoleShape<'_>| {
                let named = family.pattern.replace("<role>", role.name);
                let tasks = if named.contains("<index>") {
                    role.instances.min(TASKS_SUGGESTED)
                } else {
                    1
                };
                for index in 0..tasks {
                    let named = named.replace("<index>", &index.to_string());
                    if named.contains("<port>") {
                        let labels = port_labels(role.ports.iter().copied());
                        candidates.extend(labels.map(|label| named.replace("<port>", label)));
                    } else {
                        candidates.push(named);
                    }
                }
            };
            if family.is_per_role() {
                self.roles.iter().for_each(add);
            } else if let Some(role) = self.roles.get(current.unwrap_or_default()) {
                add(role);
            }
        }
        candidates
    }
}

/// `Defined` if any is; otherwise the most telling.
fn any<'a>(verdicts: impl IntoIterator<Item = Verdict<'a>>) -> Verdict<'a> {
    let mut best = Verdict::Unknown;
    for verdict in verdicts {
        match verdict {
            Verdict::Defined => return verdict,
            Verdict::Unknown => {}
            better => best = better,
        }
    }
    best
}

/// Matches what follows `<role>` in a pattern.
fn behind_role<'a>(role: &'a RoleShape<'a>, pattern: &str, rest: &str) -> Verdict<'a> {
    let Some(pattern) = pattern.strip_prefix("_<index>") else {
        return if pattern == rest {
            Verdict::Defined
        } else {
            Verdict::Unknown
        };
    };
    let Some(rest) = rest.strip_prefix('_') else {
        return Verdict::Unknown;
    };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (index, rest) = rest.split_at(digits);
    if index.is_empty() || (index.len() > 1 && index.starts_with('0')) {
        return Verdict::Unknown;
    }
    let verdict = match pattern.strip_prefix("_<port>") {
        Some(behind) => match rest.strip_prefix('_') {
            Some(rest) => port_of(role, behind, rest),
            None => Verdict::Unknown,
        },
        None if rest.is_empty() => Verdict::Defined,
        None => Verdict::Unknown,
    };
    let there = index.parse().is_ok_and(|index: u32| index < role.instances);
    if verdict == Verdict::Defined && !there {
        return Verdict::NoSuchTask(role);
    }
    verdict
}

/// Matches `<port>` and what follows it.
fn port_of<'a>(role: &'a RoleShape<'a>, behind: &str, rest: &str) -> Verdict<'a> {
    match rest.strip_suffix(behind) {
        None | Some("") => Verdict::Unknown,
        Some(label) if PORTS_OF_EVERY_TASK.contains(&label) || role.ports.contains(&label) => {
            Verdict::Defined
        }
        Some(_) => Verdict::NoSuchPort(role),
    }
}
