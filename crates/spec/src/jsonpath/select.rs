//! Which nodes a query selects.

use std::collections::HashSet;

use super::filter;
use super::syntax::{Segment, Selector, Step};
use super::{Query, TooMuchWork};
use crate::yaml::{Node, Value};

/// A list of more nodes is not made.
const MOST_NODES: usize = 500_000;

/// How much may still be done: about one unit for each node that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    left: u64,
}

impl Work {
    /// So many units.
    pub fn new(units: u64) -> Self {
        Work { left: units }
    }

    /// Does some of it.
    pub fn spend(&mut self, units: usize) -> Result<(), TooMuchWork> {
        match self.left.checked_sub(units as u64) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                self.left = 0;
                Err(TooMuchWork)
            }
        }
    }
}

/// The nodes that a query selects, by their addresses.
pub type Selected<'s> = HashSet<*const Node<'s>>;

/// Where a node stands: the position among the entries or items of each node above it.
pub type Place = Vec<u32>;

/// A node on the way, and whether it lies in the document's `secrets`, whose values no filter sees.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'n, 's> {
    pub(super) node: &'n Node<'s>,
    pub(super) hidden: bool,
}

impl Query {
    /// The nodes, in the order of the standard; one that is selected twice is there twice.
    pub fn select<'n, 's>(
        &self,
        root: &'n Node<'s>,
        work: &mut Work,
    ) -> Result<Vec<&'n Node<'s>>, TooMuchWork> {
        let start = Found {
            node: root,
            hidden: false,
        };
        let found = follow(&self.segments, start, root, work)?;
        Ok(found.into_iter().map(|found| found.node).collect())
    }
}

pub(super) fn follow<'n, 's>(
    segments: &[Segment],
    start: Found<'n, 's>,
    root: &'n Node<'s>,
    work: &mut Work,
) -> Result<Vec<Found<'n, 's>>, TooMuchWork> {
    let mut found = vec![start];
    for segment in segments {
        let mut next = Vec::new();
        for from in found {
            if segment.descendant {
                descend(segment, from, root, &mut next, work)?;
            } else {
                children(segment, from, root, &mut next, work)?;
            }
            if next.len() > MOST_NODES {
                return Err(TooMuchWork);
            }
        }
        found = next;
    }
    Ok(found)
}

/// The reader bounds how deep a document is, and so how deep this goes.
fn descend<'n, 's>(
    segment: &Segment,
    from: Found<'n, 's>,
    root: &'n Node<'s>,
    next: &mut Vec<Found<'n, 's>>,
    work: &mut Work,
) -> Result<(), TooMuchWork> {
    children(segment, from, root, next, work)?;
    if next.len() > MOST_NODES {
        return Err(TooMuchWork);
    }
    for below in below(from, root) {
        descend(segment, below, root, next, work)?;
    }
    Ok(())
}

fn children<'n, 's>(
    segment: &Segment,
    from: Found<'n, 's>,
    root: &'n Node<'s>,
    next: &mut Vec<Found<'n, 's>>,
    work: &mut Work,
) -> Result<(), TooMuchWork> {
    work.spend(1)?;
    for selector in &segment.selectors {
        match selector {
            Selector::Name(name) => {
                let entry = from.node.get(name);
                next.extend(entry.map(|entry| Found {
                    node: &entry.value,
                    hidden: is_hidden(from, root, name),
                }));
            }
            Selector::Index(index) => {
                let items = from.node.as_list().unwrap_or_default();
                let item = position(*index, items.len()).and_then(|at| items.get(at));
                next.extend(item.map(|node| Found { node, ..from }));
            }
            Selector::Wildcard => {
                work.spend(size(from.node))?;
                next.extend(below(from, root));
            }
            Selector::Slice { start, end, step } => {
                let items = from.node.as_list().unwrap_or_default();
                for at in slice(*start, *end, *step, items.len()) {
                    work.spend(1)?;
                    next.extend(items.get(at).map(|node| Found { node, ..from }));
                }
            }
            Selector::Filter(logical) => {
                for candidate in below(from, root) {
                    work.spend(1)?;
                    if filter::holds(logical, candidate, root, work)? {
                        next.push(candidate);
                    }
                }
            }
        }
    }
    Ok(())
}

fn is_hidden(from: Found<'_, '_>, root: &Node<'_>, name: &str) -> bool {
    from.hidden || (std::ptr::eq(from.node, root) && name == "secrets")
}

/// The nodes right below one.
fn below<'n, 's>(
    from: Found<'n, 's>,
    root: &'n Node<'s>,
) -> impl Iterator<Item = Found<'n, 's>> + use<'n, 's> {
    let entries = from.node.as_map().map(|map| map.entries.iter());
    let items = from.node.as_list().map(<[Node<'_>]>::iter);
    let values = entries.into_iter().flatten().map(move |entry| Found {
        node: &entry.value,
        hidden: is_hidden(from, root, &entry.key.text),
    });
    let items = items.into_iter().flatten();
    values.chain(items.map(move |node| Found { node, ..from }))
}

/// How many nodes stand right below one.
pub(super) fn size(node: &Node<'_>) -> usize {
    match &node.value {
        Value::Map(map) => map.entries.len(),
        Value::List(list) => list.len(),
        Value::Scalar(_) => 0,
    }
}

/// An index that counts from the end if it is negative.
fn position(index: i64, length: usize) -> Option<usize> {
    match usize::try_from(index) {
        Ok(index) => Some(index),
        Err(_) => length.checked_sub(usize::try_from(index.unsigned_abs()).ok()?),
    }
}

/// The positions of a slice, as the standard defines them.
fn slice(
    start: Option<i64>,
    end: Option<i64>,
    step: i64,
    length: usize,
) -> impl Iterator<Item = usize> {
    let length = length as i64;
    let normal = |index: i64| if index >= 0 { index } else { length + index };
    let (lower, upper) = if step >= 0 {
        (
            normal(start.unwrap_or(0)).clamp(0, length),
            normal(end.unwrap_or(length)).clamp(0, length),
        )
    } else {
        (
            end.map_or(-1, |end| normal(end).clamp(-1, length - 1)),
            start.map_or(length - 1, |start| normal(start).clamp(-1, length - 1)),
        )
    };
    let mut at = if step >= 0 { lower } else { upper };
    std::iter::from_fn(move || {
        let inside = match step {
            0 => false,
            1.. => at < upper,
            _ => at > lower,
        };
        let here = at;
        at = at.saturating_add(step);
        usize::try_from(here).ok().filter(|_| inside)
    })
}

/// Where the nodes stand that a query selects, in file order, each once.
pub fn places(query: &Query, root: &Node<'_>, work: &mut Work) -> Result<Vec<Place>, TooMuchWork> {
    if let Some(steps) = query.singular() {
        work.spend(1 + steps.len())?;
        let mut place = Vec::with_capacity(steps.len());
        let mut node = root;
        for named in &steps {
            let at = match &named.step {
                Step::Key(key) => node.position(key),
                Step::Index(index) => position(*index, node.as_list().map_or(0, <[_]>::len)),
            };
            let Some((at, below)) = at.and_then(|at| Some((at, child(node, at)?))) else {
                return Ok(Vec::new());
            };
            place.push(at as u32);
            node = below;
        }
        return Ok(vec![place]);
    }
    let selected: Selected<'_> = query
        .select(root, work)?
        .into_iter()
        .map(std::ptr::from_ref)
        .collect();
    let mut found = Vec::with_capacity(selected.len());
    if !selected.is_empty() {
        walk(root, &selected, &mut Vec::new(), &mut found, work)?;
    }
    Ok(found)
}

fn walk<'s>(
    node: &Node<'s>,
    selected: &Selected<'s>,
    here: &mut Place,
    found: &mut Vec<Place>,
    work: &mut Work,
) -> Result<(), TooMuchWork> {
    work.spend(1)?;
    if selected.contains(&std::ptr::from_ref(node)) {
        found.push(here.clone());
    }
    for at in 0..size(node) {
        if let Some(below) = child(node, at) {
            here.push(at as u32);
            walk(below, selected, here, found, work)?;
            here.pop();
        }
    }
    Ok(())
}

fn child<'n, 's>(node: &'n Node<'s>, at: usize) -> Option<&'n Node<'s>> {
    match &node.value {
        Value::Map(map) => map.entries.get(at).map(|entry| &entry.value),
        Value::List(list) => list.get(at),
        Value::Scalar(_) => None,
    }
}

/// The node at a place.
pub fn node_at<'n, 's>(root: &'n Node<'s>, place: &[u32]) -> Option<&'n Node<'s>> {
    place
        .iter()
        .try_fold(root, |node, at| child(node, *at as usize))
}

/// The node at a place, to be changed.
pub fn node_at_mut<'n, 's>(root: &'n mut Node<'s>, place: &[u32]) -> Option<&'n mut Node<'s>> {
    place
        .iter()
        .try_fold(root, |node, at| match &mut node.value {
            Value::Map(map) => map
                .entries
                .get_mut(*at as usize)
                .map(|entry| &mut entry.value),
            Value::List(list) => list.get_mut(*at as usize),
            Value::Scalar(_) => None,
        })
}
