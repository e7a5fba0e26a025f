//! All prerequisites that a job can name, who requires whom, and what is inherited from whom.

mod items;

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::marketplace::{Fetched, SCHEME};
use super::model::{Job, Kind, Name, Prerequisite};
use super::read;
use crate::diagnostic::suggest::closest;
use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::source::{Sources, Span};
use crate::yaml::Node;
use crate::yaml::node::same_text;

/// Whether a key says what a prerequisite is, rather than gives a value that others could inherit.
fn is_own_key(key: &str) -> bool {
    matches!(
        key,
        "protocolVersion"
            | "name"
            | "type"
            | "version"
            | "contributor"
            | "description"
            | "plugin"
            | "require"
            | "callbacks"
            | "failurePolicy"
            | "preCommands"
            | "postCommands"
    )
}

/// Steps through the graph that one job may cost; a sane job costs less than a thousand.
const WORK: usize = 2_000_000;

/// The index of a prerequisite in its [`Catalog`].
pub type Id = usize;

/// All prerequisites, the job's own first.
#[derive(Debug)]
pub struct Catalog<'d> {
    all: Vec<Prerequisite<'d>>,
    own: usize,
    /// The job's own in the order of their names, without those that stand twice.
    by_name: Vec<(&'d str, Id)>,
    by_reference: HashMap<String, Id>,
    requires: Vec<Vec<Id>>,
    /// Those that require an item which could not be looked up.
    unresolved: Vec<Id>,
    work: Cell<usize>,
}

/// What `this.key` of a prerequisite means.
#[derive(Debug, PartialEq, Eq)]
pub enum Inherited<'d> {
    /// It has the key itself.
    Own(&'d Node<'d>),
    /// The nearest one that it requires has it.
    From(Id, &'d Node<'d>),
    /// Equally near ones have different values.
    Conflict(Vec<Id>),
    /// Nobody has it.
    Missing,
}

impl<'d> Catalog<'d> {
    /// Takes the job's prerequisites, joins them with the fetched items and reports what does not fit.
    pub fn new(
        job: &mut Job<'d>,
        fetched: &'d Fetched<'_>,
        sources: &Sources,
        plan: bool,
        out: &mut Diagnostics,
    ) -> Self {
        let all = std::mem::take(&mut job.prerequisites);
        let mut catalog = Catalog {
            own: all.len(),
            all,
            by_name: Vec::new(),
            by_reference: HashMap::new(),
            requires: Vec::new(),
            unresolved: Vec::new(),
            work: Cell::new(WORK),
        };
        catalog.index_names(out);
        let item_siblings = catalog.add_items(fetched, job, sources, plan, out);
        catalog.link(&item_siblings, fetched, out);
        catalog.report_cycles(out);
        catalog
    }

    /// One of them.
    pub fn get(&self, id: Id) -> &Prerequisite<'d> {
        &self.all[id]
    }

    /// All of them, the job's own first.
    pub fn all(&self) -> &[Prerequisite<'d>] {
        &self.all
    }

    /// All of them with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (Id, &Prerequisite<'d>)> {
        self.all.iter().enumerate()
    }

    /// How many there are.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether it stands in the job's own file.
    pub fn is_own(&self, id: Id) -> bool {
        id < self.own
    }

    /// The job's own prerequisite of a type and name.
    pub fn of_kind(&self, kind: Kind, name: &str) -> Option<Id> {
        let mut candidates = self.called(name).iter().map(|(_, id)| *id);
        candidates.find(|id| self.all[*id].kind == Some(kind))
    }

    /// What a role's `prerequisites` entry means. Of several types under one name the last that is
    /// no image wins.
    pub fn find(&self, name: &str) -> Option<Id> {
        if name.starts_with(SCHEME) {
            return self.by_reference.get(name).copied();
        }
        let candidates = self.called(name);
        let not_image = |(_, id): &&(&str, Id)| self.all[*id].kind != Some(Kind::DockerImage);
        candidates
            .iter()
            .rev()
            .find(not_image)
            .or(candidates.last())
            .map(|(_, id)| *id)
    }

    /// The job's own prerequisites of a name, whatever their types.
    pub fn all_called(&self, name: &str) -> impl Iterator<Item = &Prerequisite<'d>> {
        self.called(name).iter().map(|(_, id)| &self.all[*id])
    }

    fn called(&self, name: &str) -> &[(&'d str, Id)] {
        let range = called(&self.by_name, name, |(other, _)| other);
        &self.by_name[range]
    }

    /// The names of the job's own, for suggestions.
    pub fn names(&self) -> impl Iterator<Item = &'d str> + '_ {
        self.all[..self.own]
            .iter()
            .filter_map(|prerequisite| prerequisite.name)
            .map(|name| name.text)
    }

    /// The direct requirements of one.
    pub fn requires(&self, id: Id) -> &[Id] {
        &self.requires[id]
    }

    /// What a list of names brings along: dependencies first, each once. Exit order is its reverse.
    pub fn in_order(&self, roots: impl Iterator<Item = Id>) -> Vec<Id> {
        let mut order = Vec::new();
        let mut roots = roots.peekable();
        if roots.peek().is_none() {
            return order;
        }
        let mut seen = vec![false; self.all.len()];
        let mut stack: Vec<(Id, usize)> = Vec::new();
        for root in roots {
            if std::mem::replace(&mut seen[root], true) {
                continue;
            }
            stack.push((root, 0));
            while let Some((id, next)) = stack.last_mut() {
                if !self.spend() {
                    return order;
                }
                if let Some(child) = self.requires[*id].get(*next).copied() {
                    *next += 1;
                    if !std::mem::replace(&mut seen[child], true) {
                        stack.push((child, 0));
                    }
                } else {
                    order.push(*id);
                    stack.pop();
                }
            }
        }
        order
    }

    /// Whether it requires, directly or not, an item that could not be looked up.
    pub fn is_incomplete(&self, id: Id) -> bool {
        !self.unresolved.is_empty()
            && self
                .in_order(std::iter::once(id))
                .iter()
                .any(|id| self.unresolved.contains(id))
    }

    /// Looks a key up in a prerequisite and then, level by level, in those it requires.
    pub fn lookup(&self, id: Id, key: &str) -> Inherited<'d> {
        if let Some(own) = read::value(self.all[id].node, key) {
            return Inherited::Own(own);
        }
        if is_own_key(key) {
            return Inherited::Missing;
        }
        let mut seen = HashSet::from([id]);
        let mut level = vec![id];
        while !level.is_empty() {
            let mut next: Vec<Id> = Vec::new();
            let mut holders: Vec<(Id, &'d Node<'d>)> = Vec::new();
            for child in level
                .iter()
                .flat_map(|parent| &self.requires[*parent])
                .copied()
            {
                if !self.spend() || !seen.insert(child) {
                    continue;
                }
                next.push(child);
                if let Some(node) = read::value(self.all[child].node, key) {
                    holders.push((child, node));
                }
            }
            match holders.as_slice() {
                [] => level = next,
                [(holder, node), rest @ ..] if rest.iter().all(|(_, other)| same(node, other)) => {
                    return Inherited::From(*holder, node);
                }
                several => return Inherited::Conflict(several.iter().map(|(id, _)| *id).collect()),
            }
        }
        Inherited::Missing
    }

    /// The keys that `this.` can name, own and inherited, for suggestions.
    pub fn keys(&self, id: Id) -> Vec<&'d str> {
        let mut keys = Vec::new();
        for member in self.in_order(std::iter::once(id)) {
            for entry in read::entries(Some(self.all[member].node)) {
                let key: &'d str = &entry.key.text;
                if (member == id || !is_own_key(key)) && !keys.contains(&key) {
                    keys.push(key);
                }
            }
        }
        keys
    }

    /// Whether the graph was too large to follow to its end.
    pub fn exhausted(&self) -> bool {
        self.work.get() == 0
    }

    fn spend(&self) -> bool {
        let left = self.work.get();
        self.work.set(left.saturating_sub(1));
        left > 0
    }

    fn index_names(&mut self, out: &mut Diagnostics) {
        let all = self.all.iter().enumerate();
        let mut named: Vec<(&'d str, Id)> = all
            .filter_map(|(id, prerequisite)| Some((prerequisite.name?.text, id)))
            .collect();
        named.sort_unstable();
        if named.windows(2).all(|pair| pair[0].0 != pair[1].0) {
            self.by_name = named;
            return;
        }
        self.by_name = Vec::with_capacity(named.len());
        let mut group = 0;
        for (text, id) in named {
            let prerequisite = &self.all[id];
            if self.by_name.last().is_none_or(|(last, _)| *last != text) {
                group = self.by_name.len();
            }
            let mut same_name = self.by_name[group..].iter().map(|(_, id)| &self.all[*id]);
            let twin = same_name.find(|other| other.kind == prerequisite.kind);
            if let (Some(twin), Some(name), Some(kind)) = (
                twin.and_then(|twin| twin.name),
                prerequisite.name,
                prerequisite.kind,
            ) {
                let message = format!(
                    "two `{}` prerequisites are called `{}`",
                    kind.word(),
                    name.text
                );
                out.push(
                    Diagnostic::new(&codes::DUPLICATE_PREREQUISITE, name.span, message)
                        .label("the second one")
                        .related(twin.span, "the first one")
                        .help("give each prerequisite of one type a name of its own"),
                );
            } else {
                self.by_name.push((text, id));
            }
        }
    }

    /// Resolves every `require`.
    fn link(&mut self, item_siblings: &[Vec<Id>], fetched: &Fetched<'_>, out: &mut Diagnostics) {
        let mut requires = Vec::with_capacity(self.all.len());
        let mut unresolved = Vec::new();
        for (id, prerequisite) in self.all.iter().enumerate() {
            let mut targets = Vec::new();
            let item = id.checked_sub(self.own);
            let siblings = item.and_then(|item| item_siblings.get(item));
            for required in &prerequisite.require {
                let mut siblings = siblings.into_iter().flatten().copied();
                let sibling = siblings.find(|other| {
                    self.all[*other]
                        .name
                        .is_some_and(|name| name.text == required.text)
                });
                match sibling.or_else(|| self.find(required.text)) {
                    Some(target) => targets.push(target),
                    None if required.text.starts_with(SCHEME) => unresolved.push(id),
                    None if out.is_full() => {}
                    None => out.push(self.unknown(*required, fetched)),
                }
            }
            requires.push(targets);
        }
        self.requires = requires;
        self.unresolved = unresolved;
    }

    /// The diagnostic for a name that no prerequisite has.
    pub fn unknown(&self, name: Name<'_>, fetched: &Fetched<'_>) -> Diagnostic {
        let message = format!("there is no prerequisite called `{}`", name.text);
        let diagnostic = Diagnostic::new(&codes::UNKNOWN_PREREQUISITE, name.span, message)
            .label("not defined in this job");
        let others = fetched.references.keys().map(String::as_str);
        match closest(name.text, self.names().chain(others)) {
            Some(similar) => diagnostic.help(format!("did you mean `{similar}`?")).fix(
                "name the one that exists",
                name.span,
                similar,
            ),
            None if self.own == 0 => {
                diagnostic.help("the job has no `prerequisites` section; add one")
            }
            None => diagnostic.help(format!("defined are {}", list(self.names()))),
        }
    }

    /// Reports each cycle of `require` once, as the cycle it is.
    fn report_cycles(&self, out: &mut Diagnostics) {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            Open,
            Done,
        }
        let mut marks = vec![Mark::New; self.all.len()];
        let mut path: Vec<(Id, usize)> = Vec::new();
        for root in 0..self.all.len() {
            if marks[root] != Mark::New {
                continue;
            }
            // What requires nothing closes no circle.
            if self.requires[root].is_empty() {
                marks[root] = Mark::Done;
                continue;
            }
            path.push((root, 0));
            marks[root] = Mark::Open;
            while let Some((id, next)) = path.last_mut() {
                let Some(child) = self.requires[*id].get(*next).copied() else {
                    marks[*id] = Mark::Done;
                    path.pop();
                    continue;
                };
                *next += 1;
                match marks[child] {
                    Mark::Done => {}
                    Mark::New => {
                        marks[child] = Mark::Open;
                        path.push((child, 0));
                    }
                    Mark::Open => {
                        let start = path
                            .iter()
                            .position(|(id, _)| *id == child)
                            .unwrap_or_default();
                        let cycle: Vec<Id> = path[start..].iter().map(|(id, _)| *id).collect();
                        out.push(self.cycle(&cycle));
                    }
                }
            }
        }
    }

    fn cycle(&self, members: &[Id]) -> Diagnostic {
        let titles = members
            .iter()
            .chain(members.first())
            .map(|id| format!("`{}`", self.all[*id].title()));
        let chain = titles.collect::<Vec<_>>().join(" requires ");
        let edge = |from: Id, to: Id| -> Span {
            let position = self.requires[from]
                .iter()
                .position(|target| *target == to)
                .unwrap_or_default();
            let written = self.all[from].require.get(position);
            written.map_or(self.all[from].node.span, |name| name.span)
        };
        let pairs = members.iter().zip(members.iter().cycle().skip(1));
        let spans: Vec<(Span, Id)> = pairs.map(|(from, to)| (edge(*from, *to), *to)).collect();
        let (last, _) = spans.last().copied().unwrap_or_default();
        let message = format!("prerequisites require each other in a circle: {chain}");
        let mut diagnostic = Diagnostic::new(&codes::REQUIRE_CYCLE, last, message)
            .label("this closes the circle")
            .help("take one `require` entry out, so that one of them can start first");
        for (span, to) in spans.iter().rev().skip(1).rev().take(20) {
            diagnostic = diagnostic.related(*span, format!("requires `{}`", self.all[*to].title()));
        }
        diagnostic
    }
}

/// Whether two nodes say the same, wherever they stand.
fn same(one: &Node<'_>, other: &Node<'_>) -> bool {
    std::ptr::eq(one, other)
        || one
            .as_scalar()
            .zip(other.as_scalar())
            .is_some_and(|(one, other)| one.text == other.text)
}

/// Some names, for a message.
pub fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.take(12).map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// Up to so many names, looking at each is faster than halving.
const FEW: usize = 16;

/// The places of a name in a list that is in the order of its names.
pub(crate) fn called<T>(sorted: &[T], name: &str, name_of: impl Fn(&T) -> &str) -> Range<usize> {
    let is_name = |one: &T| same_text(name_of(one), name);
    if sorted.len() > FEW {
        let start = sorted.partition_point(|one| name_of(one) < name);
        return start..start + sorted[start..].partition_point(is_name);
    }
    let start = sorted.iter().position(is_name).unwrap_or(sorted.len());
    let more = sorted[start..].iter().take_while(|one| is_name(one));
    start..start + more.count()
}
