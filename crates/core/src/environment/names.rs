//! Whether a name is one of the variables that a job's tasks find.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashSet;

use super::{FAMILIES, port_labels, short_name};

/// Candidates for suggestions name so many tasks of each role.
const TASKS_SUGGESTED: u32 = 4;

/// So many candidates are made; a hostile job could have any number of them.
const MOST_CANDIDATES: usize = 512;

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
    /// The places of the roles by the spellings of their names, in order.
    by_spelling: Vec<(Cow<'a, str>, usize)>,
    /// The labels that each role asks for, once somebody wants to know.
    ports: OnceCell<Vec<HashSet<&'a str>>>,
    /// Those of all roles.
    all_ports: OnceCell<HashSet<&'a str>>,
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
        let mut by_spelling: Vec<(Cow<'a, str>, usize)> = Vec::with_capacity(roles.len() * 2);
        for (index, role) in roles.iter().enumerate() {
            let is_short = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
            if !role.name.bytes().all(is_short) {
                let short = short_name(role.name);
                if !short.is_empty() {
                    by_spelling.push((short.into(), index));
                }
            }
            by_spelling.push((role.name.into(), index));
        }
        by_spelling.sort();
        Names {
            roles,
            by_spelling,
            ports: OnceCell::new(),
            all_ports: OnceCell::new(),
        }
    }

    /// The places of the roles that a spelling means.
    fn spelt(&self, spelling: &str) -> impl Iterator<Item = usize> {
        let start = self
            .by_spelling
            .partition_point(|(other, _)| **other < *spelling);
        let from = self.by_spelling.get(start..).unwrap_or_default();
        let count = from.partition_point(|(other, _)| **other == *spelling);
        from.iter().take(count).map(|(_, index)| *index)
    }

    fn some_role_has_port(&self, label: &str) -> bool {
        let collect = || {
            let own = self
                .roles
                .iter()
                .flat_map(|role| role.ports.iter().copied());
            port_labels(own).collect()
        };
        !self.roles.is_empty() && self.all_ports.get_or_init(collect).contains(label)
    }

    /// Whether a task finds a variable of this name. `current` is the task's role, by its place;
    /// without it, it is enough that the tasks of some role find it.
    pub fn check(&self, name: &str, current: Option<usize>) -> Verdict<'a> {
        any(FAMILIES.iter().map(|family| match family.parts() {
            None if family.pattern == name => Verdict::Defined,
            None => Verdict::Unknown,
            Some((before, after)) => match name.strip_prefix(before) {
                Some(rest) => self.matches(after, rest, current),
                None => Verdict::Unknown,
            },
        }))
    }

    /// Matches what follows the fixed part of a pattern.
    fn matches(&self, pattern: &str, rest: &str, current: Option<usize>) -> Verdict<'a> {
        if let Some(behind) = pattern.strip_prefix("<port>") {
            return match (current, rest.strip_suffix(behind)) {
                (_, None | Some("")) => Verdict::Unknown,
                (None, Some(label)) if self.some_role_has_port(label) => Verdict::Defined,
                (None, Some(_)) => Verdict::Unknown,
                (Some(index), Some(label)) => self.port_of(index, label),
            };
        }
        let Some(behind) = pattern.strip_prefix("<role>") else {
            return Verdict::Unknown;
        };
        if !behind.contains('<') {
            let mut roles = rest
                .strip_suffix(behind)
                .into_iter()
                .flat_map(|spelling| self.spelt(spelling));
            return match roles.next() {
                Some(_) => Verdict::Defined,
                None => Verdict::Unknown,
            };
        }
        // A role's name ends at a `_`.
        any(rest.match_indices('_').flat_map(|(end, _)| {
            let (spelling, rest) = rest.split_at(end);
            let roles = self.spelt(spelling);
            roles.map(move |index| self.behind_role(index, behind, rest))
        }))
    }

    /// Matches what follows `<role>` in a pattern that has more placeholders.
    fn behind_role(&self, role: usize, pattern: &str, rest: &str) -> Verdict<'a> {
        let (Some(pattern), Some(rest)) =
            (pattern.strip_prefix("_<index>"), rest.strip_prefix('_'))
        else {
            return Verdict::Unknown;
        };
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (index, rest) = rest.split_at(digits);
        if index.is_empty() || (index.len() > 1 && index.starts_with('0')) {
            return Verdict::Unknown;
        }
        let verdict = match pattern.strip_prefix("_<port>") {
            Some(behind) => {
                let label = rest
                    .strip_prefix('_')
                    .and_then(|rest| rest.strip_suffix(behind));
                match label {
                    None | Some("") => Verdict::Unknown,
                    Some(label) => self.port_of(role, label),
                }
            }
            None if rest.is_empty() => Verdict::Defined,
            None => Verdict::Unknown,
        };
        let Some(role) = self.roles.get(role) else {
            return Verdict::Unknown;
        };
        let there = index.parse().is_ok_and(|index: u32| index < role.instances);
        if verdict == Verdict::Defined && !there {
            return Verdict::NoSuchTask(role);
        }
        verdict
    }

    fn port_of(&self, role: usize, label: &str) -> Verdict<'a> {
        let labels = |role: &RoleShape<'a>| port_labels(role.ports.iter().copied()).collect();
        let collect = || self.roles.iter().map(labels).collect();
        let ports = self.ports.get_or_init(collect);
        let (Some(role), Some(ports)) = (self.roles.get(role), ports.get(role)) else {
            return Verdict::Unknown;
        };
        if ports.contains(label) {
            Verdict::Defined
        } else {
            Verdict::NoSuchPort(role)
        }
    }

    /// Names to suggest for one that is not known.
    pub fn candidates(&self, current: Option<usize>) -> Vec<String> {
        let mut candidates = Vec::new();
        for family in FAMILIES {
            let mut add = |role: &RoleShape<'_>| {
                if candidates.len() >= MOST_CANDIDATES {
                    return;
                }
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
