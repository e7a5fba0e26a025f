//! Parameters, secrets and prerequisites that nothing names.

use super::super::catalog::called;
use super::super::marketplace::SCHEME;
use super::super::model::{Kind, Name};
use super::super::read::entries;
use super::{Subject, each_scalar, place};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Edit, Fix, codes, suggest};
use crate::source::Span;
use crate::template::{self, Scope, Template};
use crate::yaml::{Entry, Node, Value};

/// So many keys are looked for in a text whose tags cannot be read.
const MOST_KEYS_IN_BROKEN_TEXT: usize = 512;

/// So many names that are not there are compared with those that are.
const MOST_GUESSES: usize = 256;

/// `in_clear` are the secrets that a text should name and does not: told already, and meant.
pub(super) fn check(subject: &Subject<'_, '_>, in_clear: Vec<Span>, out: &mut Diagnostics) {
    let Subject { job, named, .. } = subject;
    // Most jobs name all that they declare in what is read already.
    let has_all_parameters = named.parameters.has_all(entries(job.parameters).len());
    if !has_all_parameters || !named.secrets.has_all(entries(job.secrets).len()) {
        declared(subject, in_clear, out);
    }
    let own = subject.own_prerequisites().count();
    if !named.prerequisites.has_all(own) {
        prerequisites(subject, out);
    }
}

/// Looks for the keys of `parameters` and `secrets` in all texts.
fn declared(subject: &Subject<'_, '_>, in_clear: Vec<Span>, out: &mut Diagnostics) {
    let mut declared = [
        Declared::new(Scope::Parameters, subject.job.parameters),
        Declared::new(Scope::Secrets, subject.job.secrets),
    ];
    for document in subject.documents() {
        each_scalar(document, &mut |node| {
            if declared.iter().all(Declared::is_used_up) {
                return;
            }
            if let Some(text) = node.as_text().filter(|text| template::has_tag(text)) {
                let template = template::parse(text);
                for declared in &mut declared {
                    declared.note(&template);
                }
            }
        });
    }
    let mut copied = in_clear;
    collect_copied(subject.job.root, &mut copied);
    copied.sort_unstable();
    for declared in &declared {
        declared.report(subject, &copied, out);
    }
}

/// The keys of `parameters` or `secrets`, and which of them tags name.
struct Declared<'d> {
    scope: Scope,
    node: Option<&'d Node<'d>>,
    entries: &'d [Entry<'d>],
    /// Which of the entries are named, and how many are not.
    used: Vec<bool>,
    unused: usize,
    all_used: bool,
    guesses: usize,
}

impl<'d> Declared<'d> {
    fn new(scope: Scope, node: Option<&'d Node<'d>>) -> Self {
        let entries = entries(node);
        Declared {
            scope,
            node,
            entries,
            used: vec![false; entries.len()],
            unused: entries.len(),
            all_used: false,
            guesses: 0,
        }
    }

    /// Whether nothing more can be learnt: every key is named.
    fn is_used_up(&self) -> bool {
        self.all_used || self.unused == 0
    }

    fn set_used(&mut self, place: usize) {
        if let Some(used) = self.used.get_mut(place)
            && !std::mem::replace(used, true)
        {
            self.unused -= 1;
        }
    }

    fn note(&mut self, template: &Template<'_>) {
        if self.is_used_up() {
            return;
        }
        let entries = self.entries;
        let keys = entries.iter().map(|entry| &*entry.key.text);
        if !template.problems.is_empty() {
            // What a broken tag means is not known; every name in the text has the benefit.
            for (place, key) in keys.clone().take(MOST_KEYS_IN_BROKEN_TEXT).enumerate() {
                if template.text.contains(key) {
                    self.set_used(place);
                }
            }
        }
        let scope = self.scope;
        for tag in template.tags().filter(|tag| tag.scope == Some(scope)) {
            let place = |key: &str| self.node.and_then(|node| node.position(key));
            if let Some(known) = tag.path.first().and_then(|first| place(first.key)) {
                self.set_used(known);
                continue;
            }
            let guess = tag.path.first().filter(|_| self.guesses < MOST_GUESSES);
            self.guesses += 1;
            let meant = guess.and_then(|first| suggest::closest(first.key, keys.clone()));
            match meant.and_then(|key| self.node?.position(key)) {
                Some(meant) => self.set_used(meant),
                // The whole scope is meant, or nobody knows which of its keys.
                None => self.all_used = true,
            }
        }
    }

    fn report(&self, subject: &Subject<'_, 'd>, copied: &[Span], out: &mut Diagnostics) {
        if self.is_used_up() {
            return;
        }
        for (entry, used) in self.entries.iter().zip(&self.used) {
            if *used
                || entry.merged.is_some()
                || (entry.value.alias().is_none() && is_copied(entry.value.span, copied))
            {
                continue;
            }
            let path = template::dotted([self.scope.name(), &*entry.key.text]);
            let (code, what): (&'static Code, _) = match self.scope {
                Scope::Secrets => (&codes::UNUSED_SECRET, "secret"),
                _ => (&codes::UNUSED_PARAMETER, "parameter"),
            };
            let message = format!("nothing uses the {what} `{}`", entry.key.text);
            let mut diagnostic = Diagnostic::new(code, entry.key.span, message)
                .help(format!("name it as `<% {path} %>`, or remove it"));
            diagnostic.fix = place::remove_entry(subject.sources, entry, self.entries.len())
                .map(|edit| removal(what, edit));
            out.push(diagnostic);
        }
    }
}

/// Whether an alias copies something inside a span; `copied` is sorted. Spans lie inside or beside
/// each other, so the first that starts in it tells.
fn is_copied(span: Span, copied: &[Span]) -> bool {
    let from = copied.partition_point(|copy| (copy.source, copy.start) < (span.source, span.start));
    copied
        .get(from)
        .is_some_and(|copy| copy.source == span.source && copy.start < span.end)
}

fn removal(what: &str, edit: Edit) -> Fix {
    Fix {
        title: format!("remove the {what}"),
        edits: vec![edit],
    }
}

/// The spans of what aliases copied.
fn collect_copied(node: &Node<'_>, copied: &mut Vec<Span>) {
    if node.alias().is_some() {
        copied.push(node.span);
        return;
    }
    match &node.value {
        Value::Scalar(_) => {}
        Value::List(items) => items.iter().for_each(|item| collect_copied(item, copied)),
        Value::Map(map) => {
            for entry in &map.entries {
                collect_copied(&entry.value, copied);
            }
        }
    }
}

/// A prerequisite of the job's own file.
struct Own<'d> {
    name: Name<'d>,
    kind: Option<Kind>,
    node: &'d Node<'d>,
    used: bool,
}

impl Own<'_> {
    fn name(&self) -> &str {
        self.name.text
    }
}

/// A prerequisite is used by whoever names it: a role, by its field for the type or in its list, or
/// another prerequisite that requires it.
fn prerequisites(subject: &Subject<'_, '_>, out: &mut Diagnostics) {
    let mut own: Vec<Own<'_>> = Vec::with_capacity(subject.prerequisites.len());
    own.extend(subject.own_prerequisites().filter_map(|prerequisite| {
        Some(Own {
            name: prerequisite.name?,
            kind: prerequisite.kind,
            node: prerequisite.node,
            used: false,
        })
    }));
    own.sort_by_key(|own| own.name.text);
    // The types of names that mean nothing: one of that type was meant, nobody knows which.
    let mut lost: Vec<Option<Kind>> = Vec::new();
    let mut refer = |name: Name<'_>, wanted: Option<Kind>| {
        let mut meant = called(&own, name.text, Own::name);
        if meant.is_empty() {
            let names = subject.own_prerequisites().filter_map(|own| own.name);
            let similar = suggest::closest(name.text, names.map(|name| name.text));
            meant = similar.map_or(meant, |similar| called(&own, similar, Own::name));
        }
        if !meant.is_empty() {
            let meant = &mut own[meant];
            // Named as another type than it has: that is an error, and the name was still meant.
            let wanted = wanted.filter(|kind| meant.iter().any(|own| own.kind == Some(*kind)));
            for own in meant {
                own.used |= wanted.is_none() || own.kind == wanted;
            }
        } else if !name.text.starts_with(SCHEME) && !lost.contains(&wanted) {
            lost.push(wanted);
        }
    };
    for role in &subject.job.roles {
        for (name, kind) in [
            (role.docker_image, Kind::DockerImage),
            (role.data, Kind::Data),
            (role.output, Kind::Output),
            (role.script, Kind::Script),
        ] {
            if let Some(name) = name {
                refer(name, Some(kind));
            }
        }
        role.prerequisites
            .iter()
            .for_each(|name| refer(*name, None));
    }
    for prerequisite in subject.prerequisites {
        prerequisite
            .require
            .iter()
            .for_each(|name| refer(*name, None));
    }
    let count = own.len();
    for prerequisite in own.iter().filter(|own| !own.used) {
        let name = prerequisite.name;
        let is_image = prerequisite.kind == Some(Kind::DockerImage);
        let is_lost = lost.contains(&prerequisite.kind) || (!is_image && lost.contains(&None));
        if is_lost {
            continue;
        }
        let message = format!("nothing uses the prerequisite `{}`", name.text);
        let help = match prerequisite.kind {
            Some(Kind::DockerImage) => "name it as `dockerImage` of a task role, or remove it",
            _ => "list it in `prerequisites` of a task role, or remove it",
        };
        let mut diagnostic =
            Diagnostic::new(&codes::UNUSED_PREREQUISITE, name.span, message).help(help);
        diagnostic.fix = place::remove_item(subject.sources, prerequisite.node, count)
            .map(|edit| removal("prerequisite", edit));
        out.push(diagnostic);
    }
}
