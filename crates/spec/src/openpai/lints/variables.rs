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

/// Keys below which commands stand.
const COMMANDS: &[&str] = &["commands", "preCommands", "postCommands"];

pub(super) fn check(subject: &Subject<'_, '_>, out: &mut Diagnostics) {
    let mut texts = Vec::new();
    collect_texts(subject, &mut texts);
    if texts.is_empty() {
        return;
    }
    let shapes: Vec<RoleShape<'_>> = subject
        .job
        .roles
        .iter()
        .map(|role| RoleShape {
            name: role.name.text,
            instances: role.instances,
            ports: role.ports.iter().map(|(label, _)| label.text).collect(),
        })
        .collect();
    let names = Names::new(&shapes);
    let assigned = LazyCell::new(|| {
        let texts = texts.iter().filter_map(|(node, _)| node.as_text());
        texts.flat_map(assigned_names).collect::<HashSet<&str>>()
    });
    let mut candidates: HashMap<Option<usize>, Vec<String>> = HashMap::new();
    let mut verdicts: HashMap<(&str, Option<usize>), Verdict<'_>> = HashMap::new();
    let mut count = 0;
    let mut asked = 0;
    for (node, role) in &texts {
        let (node, role) = (*node, *role);
        let Some(text) = node.as_text() else {
            continue;
        };
        for (name, range) in used_names(text) {
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
    }
}

/// The texts that a shell reads and that may name a variable, with the place of the role that runs them if it is one alone.
fn collect_texts<'d>(subject: &Subject<'_, 'd>, texts: &mut Vec<(&'d Node<'d>, Option<usize>)>) {
    let places = LazyCell::new(|| {
        let roles = subject.job.roles.iter().enumerate();
        roles
            .map(|(index, role)| (role.name.text, index))
            .collect::<HashMap<&str, usize>>()
    });
    let names_variable = |node: &&Node<'_>| {
        let text = node.as_text().unwrap_or_default();
        prefixes(text).next().is_some()
    };
    for (index, role) in subject.job.roles.iter().enumerate() {
        let commands = items(role.commands).iter().filter(names_variable);
        texts.extend(commands.map(|command| (command, Some(index))));
    }
    for deployment in &subject.job.deployments {
        for part in &deployment.roles {
            let role = places.get(part.name.text).copied();
            for list in [part.pre_commands, part.post_commands] {
                let commands = items(list).iter().filter(names_variable);
                texts.extend(commands.map(|command| (command, role)));
            }
        }
    }
    let mut add = |commands: &'d Node<'d>| {
        each_scalar(commands, &mut |node| {
            if names_variable(&node) {
                texts.push((node, None));
            }
        });
    };
    let mut add_all = |owner: &'d Node<'d>| {
        for callback in items(value(owner, "callbacks")) {
            value(callback, "commands").into_iter().for_each(&mut add);
        }
        let lists = entries(Some(owner)).iter();
        lists
            .filter(|entry| COMMANDS.contains(&&*entry.key.text))
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
