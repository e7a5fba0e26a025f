//! `$set`, `$append`, `$prepend` and `$remove`: what a table from old to new cannot say.

use super::apply::{Pass, path_of, same, size};
use super::rule::{Entry, Operation, Operator, Rule};
use crate::diagnostic::{Diagnostic, codes};
use crate::jsonpath::{self, NamedStep, Place, Step, TooMuchWork};
use crate::setting::put::{self, Author};
use crate::yaml::node::{By, Kind};
use crate::yaml::{Map, Node, Value};

/// Carries out the operations of a rule, in file order, at the places that its path selects.
pub(super) fn all(
    root: &mut Node<'_>,
    rule: &Rule,
    index: usize,
    mut places: Vec<Place>,
    pass: &mut Pass<'_>,
) -> Result<(), TooMuchWork> {
    for operation in &rule.operations {
        match &operation.kind {
            Operator::Set(given) | Operator::Add { given, .. } if places.is_empty() => {
                make(root, rule, index, operation, given, pass)?;
                places = jsonpath::places(&rule.query, root, &mut pass.work)?;
            }
            Operator::Set(given) => {
                for place in outermost(&places) {
                    let Some(node) = jsonpath::node_at_mut(root, place) else {
                        continue;
                    };
                    if !same(node, given) {
                        pass.grow(size(given))?;
                        put::replace(node, given.clone(), By::Rule(rule.name.clone()));
                        pass.note(root, place, &rule.name, given.span);
                    }
                }
            }
            Operator::Add { given, first } => {
                for place in &places {
                    add(root, place, rule, operation, given, *first, pass)?;
                }
            }
            Operator::Remove { from, to } => {
                for place in &places {
                    remove(root, place, rule, index, *from..*to, pass)?;
                }
            }
            Operator::RemoveWhole => {
                // From the end, so that the places before stay what they are.
                for place in outermost(&places).into_iter().rev() {
                    take(root, place, rule, operation.span, pass);
                }
                places.clear();
            }
        }
    }
    Ok(())
}

fn outermost(places: &[Place]) -> Vec<&Place> {
    let mut kept: Vec<&Place> = Vec::new();
    for place in places {
        if !kept.last().is_some_and(|last| place.starts_with(last)) {
            kept.push(place);
        }
    }
    kept
}

/// Makes a value that is not there, if the path names one place.
fn make(
    root: &mut Node<'_>,
    rule: &Rule,
    index: usize,
    operation: &Operation,
    given: &Node<'static>,
    pass: &mut Pass<'_>,
) -> Result<(), TooMuchWork> {
    let Some(steps) = rule.query.singular() else {
        return Ok(());
    };
    pass.report.used.rule(index);
    if is_secret(&steps) || steps.is_empty() {
        let message = "a secret is not overridden";
        pass.out.push(Diagnostic::new(
            &codes::BAD_OPERATION,
            rule.path_span,
            message,
        ));
        return Ok(());
    }
    let given = match &operation.kind {
        Operator::Add { .. } if matches!(given.value, Value::Scalar(_)) => {
            Node::new(given.span, Value::List(vec![given.clone()]))
        }
        _ => given.clone(),
    };
    pass.grow(size(&given))?;
    let span = given.span;
    let author = Author {
        by: By::Rule(rule.name.clone()),
        span: &|_| rule.path_span,
    };
    if let Err(problem) = put::put(root, &steps, given, &author) {
        let message = format!("`{}` cannot be made in this document", rule.path);
        let what = match &problem.step.step {
            Step::Key(key) => format!("above `{key}` stands {}", problem.kind),
            Step::Index(index) => format!("there is no item {index}"),
        };
        pass.out
            .push(Diagnostic::new(&codes::BAD_OPERATION, operation.span, message).label(what));
        return Ok(());
    }
    if let Some(place) = jsonpath::places(&rule.query, root, &mut pass.work)?.first() {
        pass.note(root, place, &rule.name, span);
    }
    Ok(())
}

fn is_secret(steps: &[NamedStep]) -> bool {
    let first = steps.first().map(|named| &named.step);
    matches!(first, Some(Step::Key(key)) if key == "secrets")
}

fn add(
    root: &mut Node<'_>,
    place: &Place,
    rule: &Rule,
    operation: &Operation,
    given: &Node<'static>,
    first: bool,
    pass: &mut Pass<'_>,
) -> Result<(), TooMuchWork> {
    let Some(node) = jsonpath::node_at_mut(root, place) else {
        return Ok(());
    };
    let by = || By::Rule(rule.name.clone());
    if node.is_null() {
        let empty = match given.value {
            Value::Map(_) => Value::Map(Map::default()),
            _ => Value::List(Vec::new()),
        };
        put::replace(node, Node::new(rule.path_span, empty), by());
    }
    let kind = node.kind();
    let mut added = Vec::new();
    match (&mut node.value, &given.value) {
        (Value::List(list), _) => {
            let one = std::slice::from_ref(given);
            let items = given.as_list().unwrap_or(one);
            pass.work.spend(list.len().saturating_mul(items.len()))?;
            let start = if first { 0 } else { list.len() };
            let fresh: Vec<Node<'_>> = items
                .iter()
                .filter(|item| !list.iter().any(|known| same(known, item)))
                .map(|item| put::made(item.clone(), by()))
                .collect();
            for (offset, item) in fresh.into_iter().enumerate() {
                pass.grow(size(&item))?;
                added.push((start + offset, item.span));
                list.insert(start + offset, item);
            }
        }
        (Value::Map(map), Value::Map(more)) => {
            pass.work
                .spend(map.entries.len().saturating_mul(more.entries.len()))?;
            let mut start = if first { 0 } else { map.entries.len() };
            for entry in &more.entries {
                if map.get(&entry.key.text).is_none() {
                    pass.grow(size(&entry.value))?;
                    let mut entry = entry.clone();
                    entry.value = put::made(entry.value, by());
                    added.push((start, entry.value.span));
                    map.entries.insert(start, entry);
                    start += 1;
                }
            }
            // The order of keys that a large mapping keeps is that of before.
            let entries = std::mem::take(map);
            let replaced = node.replaced().cloned();
            *node = Node::new(node.span, Value::Map(entries));
            if let Some(replaced) = replaced {
                node.set_replaced(replaced);
            }
        }
        _ => {
            let needs = match given.kind() {
                Kind::Map => "a mapping",
                _ => "a list",
            };
            let message = format!("nothing can be added to `{}`", path_of(root, place));
            pass.out.push(
                Diagnostic::new(&codes::BAD_OPERATION, operation.span, message)
                    .label(format!("it is {kind}, not {needs}")),
            );
            return Ok(());
        }
    }
    for (at, span) in added {
        let mut here = place.clone();
        here.push(at as u32);
        pass.note(root, &here, &rule.name, span);
    }
    Ok(())
}

/// Takes away the items of a list, or the keys of a mapping, that entries name.
fn remove(
    root: &mut Node<'_>,
    place: &Place,
    rule: &Rule,
    index: usize,
    entries: std::ops::Range<usize>,
    pass: &mut Pass<'_>,
) -> Result<(), TooMuchWork> {
    let Some(node) = jsonpath::node_at(root, place) else {
        return Ok(());
    };
    let texts: Vec<Option<&str>> = match &node.value {
        Value::List(list) => list.iter().map(Node::as_text).collect(),
        Value::Map(map) => map
            .entries
            .iter()
            .map(|entry| Some(&*entry.key.text))
            .collect(),
        Value::Scalar(_) => Vec::new(),
    };
    let named = rule.entries.get(entries.clone()).unwrap_or_default();
    let mut gone = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        let Some(text) = text else {
            continue;
        };
        for (offset, entry) in named.iter().enumerate() {
            let weight = entry.pattern.as_ref().map_or(0, |pattern| pattern.weight);
            pass.work.spend(1 + text.len() * weight / 4)?;
            if names(entry, text) {
                pass.report.used.entry(index, entries.start + offset);
                gone.push((at, entry.span));
                break;
            }
        }
    }
    for (at, span) in gone.into_iter().rev() {
        let mut here = place.clone();
        here.push(at as u32);
        take(root, &here, rule, span, pass);
    }
    Ok(())
}

fn names(entry: &Entry, text: &str) -> bool {
    let fits = |pattern: &super::rule::Pattern| pattern.fits(text);
    entry.text == text || entry.pattern.as_ref().is_some_and(fits)
}

/// Takes the node at a place out of what holds it.
fn take(
    root: &mut Node<'_>,
    place: &Place,
    rule: &Rule,
    span: crate::source::Span,
    pass: &mut Pass<'_>,
) {
    pass.note_removal(root, place, &rule.name, span);
    detach(root, place);
}

/// Takes the node at a place out of what holds it; the root stays.
pub(super) fn detach(root: &mut Node<'_>, place: &[u32]) {
    let Some((at, above)) = place.split_last() else {
        return;
    };
    let Some(holder) = jsonpath::node_at_mut(root, above) else {
        return;
    };
    match &mut holder.value {
        Value::List(list) if (*at as usize) < list.len() => {
            list.remove(*at as usize);
        }
        Value::Map(map) if (*at as usize) < map.entries.len() => {
            map.entries.remove(*at as usize);
            let entries = std::mem::take(map);
            let replaced = holder.replaced().cloned();
            *holder = Node::new(holder.span, Value::Map(entries));
            if let Some(replaced) = replaced {
                holder.set_replaced(replaced);
            }
        }
        _ => {}
    }
}
