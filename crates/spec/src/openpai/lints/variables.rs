//! `$PAI_…` names that no task finds.

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use pinnace_core::environment::{Names, PORTS_OF_EVERY_TASK, RoleShape, Verdict};

use super::super::read::{entries, items, value};
use super::{Subject, each_scalar, place};
use crate::diagnostic::{Diagnostic, Diagnostics, codes, suggest};
use crate::yaml::Node;

const PREFIX: &str = "PAI_";

/// So many places are told; whoever has more mends these first.
const MOST_PLACES: usize = 64;

/// So many names are judged without a look whether they were judged before.
const FEW_NAMES: usize = 64;

pub(super) fn check(subject: &Subject<'_, '_>, out: &mut Diagnostics) {
    let shapes: LazyCell<Vec<RoleShape<'_>>, _> = LazyCell::new(|| {
        let roles = subject.job.roles.iter();
        roles
            .map(|role| RoleShape {
                name: role.name.text,
                instances: role.instances,
                ports: role.ports.iter().map(|(label, _)| label.text).collect(),
            })
            .collect()
    });
    let names = LazyCell::new(|| Names::new(&shapes));
    let assigned = LazyCell::new(|| {
        let mut assigned: HashSet<&str> = HashSet::new();
        each_text(subject, &mut |_, text, _| {
            assigned.extend(assigned_names(text));
        });
        assigned
    });
    let mut candidates: HashMap<Option<usize>, Vec<String>> = HashMap::new();
    let mut verdicts: HashMap<(&str, Option<usize>), Verdict<'_>> = HashMap::new();
    let mut count = 0;
    let mut asked = 0;
    each_text(subject, &mut |node, text, role| {
        for (name, range) in used_names(text) {
            if count > MOST_PLACES {
                return;
            }
            asked += 1;
            let verdict = if asked <= FEW_NAMES {
                names.check(name, role)
            } else {
                *verdicts
                    .entry((name, role))
                    .or_insert_with(|| names.check(name, role))
            };
            if verdict == Verdict::Defined || assigned.contains(name) {
                continue;
            }
            count += 1;
            if count > MOST_PLACES {
                return;
            }
            let candidates = candidates
                .entry(role)
                .or_insert_with(|| names.candidates(role));
            out.push(unknown(subject, node, name, range, verdict, candidates));
        }
    });
}

/// Calls `visit` with the texts that a shell reads, and the place of the role that runs each if it is one alone.
fn each_text<'d>(
    subject: &Subject<'_, 'd>,
    visit: &mut impl FnMut(&'d Node<'d>, &'d str, Option<usize>),
) {
    let mut visit_role = |list: Option<&'d Node<'d>>, role: Option<usize>| {
        for node in items(list) {
            if let Some(text) = node.as_text() {
                visit(node, text, role);
            }
        }
    };
    for (index, role) in subject.job.roles.iter().enumerate() {
        visit_role(role.commands, Some(index));
    }
    for part in subject.job.deployments.iter().flat_map(|one| &one.roles) {
        let role = subject.job.role_place(part.name.text);
        visit_role(part.pre_commands, role);
        visit_role(part.post_commands, role);
    }
    let mut add = |commands: &'d Node<'d>| {
        each_scalar(commands, &mut |node| {
            if let Some(text) = node.as_text() {
                visit(node, text, None);
            }
        });
    };
    let mut add_all = |owner: &'d Node<'d>| {
        for callback in items(value(owner, "callbacks")) {
            value(callback, "commands").into_iter().for_each(&mut add);
        }
        let lists = entries(Some(owner)).iter();
        lists
            .filter(|entry| {
                matches!(
                    &*entry.key.text,
                    "commands" | "preCommands" | "postCommands"
                )
            })
            .for_each(|entry| add(&entry.value));
    };
    for prerequisite in subject.own_prerequisites() {
        add_all(prerequisite.node);
    }
    for plugin in &subject.job.extras.plugins {
        plugin.parameters.into_iter().for_each(&mut add_all);
    }
}

fn unknown(
    subject: &Subject<'_, '_>,
    node: &Node<'_>,
    name: &str,
    range: Range<usize>,
    verdict: Verdict<'_>,
    candidates: &[String],
) -> Diagnostic {
    let part = place::part_span(subject.sources, node, range);
    let span = part.unwrap_or_else(|| place::shown_span(node));
    let message = format!("no task finds a variable `{name}`");
    let mut diagnostic = Diagnostic::new(&codes::UNKNOWN_VARIABLE, span, message);
    match verdict {
        Verdict::NoSuchTask(role) => {
            let last = role.instances.saturating_sub(1);
            return diagnostic.help(match last {
                0 => format!("`{}` has 1 task, number 0", role.name),
                _ => format!("`{}` has {} tasks, 0 to {last}", role.name, role.instances),
            });
        }
        Verdict::NoSuchPort(role) => {
            let own = role
                .ports
                .iter()
                .filter(|port| !PORTS_OF_EVERY_TASK.contains(port));
            let all: Vec<String> = PORTS_OF_EVERY_TASK
                .iter()
                .chain(own)
                .map(|port| format!("`{port}`"))
                .collect();
            diagnostic =
                diagnostic.help(format!("`{}` has the ports {}", role.name, all.join(", ")));
        }
        Verdict::Defined | Verdict::Unknown => {}
    }
    match suggest::closest(name, candidates.iter().map(String::as_str)) {
        Some(meant) => {
            let diagnostic = diagnostic.help(format!("did you mean `{meant}`?"));
            match part {
                Some(part) => diagnostic.fix(format!("write `{meant}`"), part, meant),
                None => diagnostic,
            }
        }
        None if diagnostic.help.is_empty() => diagnostic.help(
            "names are made of the task roles and their ports; `docs/environment.md` lists them",
        ),
        None => diagnostic,
    }
}

/// The names that a shell would expand, with their bytes. One whose absence is provided for, as in
/// `${PAI_X:-0}`, or that is put together from parts, is left out.
fn used_names(text: &str) -> impl Iterator<Item = (&str, Range<usize>)> {
    prefixes(text).filter_map(move |start| {
        let before = text.get(..start)?;
        let (dollar, braced) = match before.strip_suffix("${") {
            Some(before) => (before, true),
            None => (before.strip_suffix('$')?, false),
        };
        if dollar.ends_with(['\\', '$']) {
            return None;
        }
        let rest = text.get(start..)?;
        let name = word(rest);
        let behind = rest.get(name.len()..)?;
        let provided = braced && behind.trim_start_matches(':').starts_with(['-', '+', '=']);
        let composed = name.ends_with('_') || behind.starts_with("<%");
        (!provided && !composed).then_some((name, start..start + name.len()))
    })
}

/// The names that the job's own commands give a value.
fn assigned_names(text: &str) -> impl Iterator<Item = &str> {
    prefixes(text).filter_map(move |start| {
        let before = text.get(..start)?;
        if before.ends_with(|char: char| char.is_alphanumeric() || matches!(char, '_' | '$' | '{'))
        {
            return None;
        }
        let rest = text.get(start..)?;
        let name = word(rest);
        let behind = rest.get(name.len()..)?;
        let words = [
            "export", "read", "for", "declare", "local", "readonly", "typeset",
        ];
        let set = behind.starts_with('=') || behind.starts_with("+=");
        let last_word = before
            .trim_end()
            .rsplit(|char: char| !char.is_alphanumeric())
            .next();
        (set || last_word.is_some_and(|word| words.contains(&word))).then_some(name)
    })
}

/// Where a name may begin.
fn prefixes(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    let is_prefix = |start: &usize| bytes[*start..].starts_with(PREFIX.as_bytes());
    memchr::memchr_iter(b'P', bytes).filter(is_prefix)
}

fn word(text: &str) -> &str {
    let end = text.bytes().position(|byte| !IS_WORD[usize::from(byte)]);
    end.map_or(text, |end| &text[..end])
}

/// The bytes of which names are made.
static IS_WORD: [bool; 256] = {
    let mut is_word = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        is_word[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
        byte += 1;
    }
    is_word
};
