//! What a filter says of a node.

use std::cmp::Ordering;

use super::TooMuchWork;
use super::pattern::Pattern;
use super::select::{Found, Work, follow, size};
use super::syntax::{Comparable, Comparison, Literal, Logical, MatchCall, MatchPattern, Nodes};
use crate::yaml::node::Kind;
use crate::yaml::{Node, Value};

/// To build a regular expression that the document brings costs as much as to look at so many nodes.
const PATTERN_COST: usize = 1_000;

type Answer<T> = Result<T, TooMuchWork>;

pub(super) fn holds<'n, 's>(
    logical: &Logical,
    here: Found<'n, 's>,
    root: &'n Node<'s>,
    work: &mut Work,
) -> Answer<bool> {
    Ok(match logical {
        Logical::Or(either) => {
            for logical in either {
                if holds(logical, here, root, work)? {
                    return Ok(true);
                }
            }
            false
        }
        Logical::And(all) => {
            for logical in all {
                if !holds(logical, here, root, work)? {
                    return Ok(false);
                }
            }
            true
        }
        Logical::Not(logical) => !holds(logical, here, root, work)?,
        Logical::Exists(nodes) => !found(nodes, here, root, work)?.is_empty(),
        Logical::Compare(left, comparison, right) => {
            let left = value(left, here, root, work)?;
            let right = value(right, here, root, work)?;
            match comparison {
                Comparison::Equal => equal(&left, &right, work)?,
                Comparison::NotEqual => !equal(&left, &right, work)?,
                Comparison::Less => less(&left, &right),
                Comparison::Greater => less(&right, &left),
                Comparison::LessOrEqual => less(&left, &right) || equal(&left, &right, work)?,
                Comparison::GreaterOrEqual => less(&right, &left) || equal(&left, &right, work)?,
            }
        }
        Logical::Match(call) => fits(call, here, root, work)?,
    })
}

fn found<'n, 's>(
    nodes: &Nodes,
    here: Found<'n, 's>,
    root: &'n Node<'s>,
    work: &mut Work,
) -> Answer<Vec<Found<'n, 's>>> {
    let start = match nodes.relative {
        true => here,
        false => Found {
            node: root,
            hidden: false,
        },
    };
    follow(&nodes.segments, start, root, work)
}

fn fits<'n, 's>(
    call: &MatchCall,
    here: Found<'n, 's>,
    root: &'n Node<'s>,
    work: &mut Work,
) -> Answer<bool> {
    let Operand::Text(text) = value(&call.text, here, root, work)? else {
        return Ok(false);
    };
    work.spend(text.len())?;
    match &call.pattern {
        MatchPattern::Fixed(pattern) => {
            Ok(pattern.as_ref().is_some_and(|pattern| pattern.fits(text)))
        }
        MatchPattern::Asked(asked) => {
            let Operand::Text(pattern) = value(asked, here, root, work)? else {
                return Ok(false);
            };
            work.spend(PATTERN_COST + pattern.len())?;
            Ok(Pattern::new(pattern, call.whole).is_some_and(|pattern| pattern.fits(text)))
        }
    }
}

/// A value on a side of a comparison.
#[derive(Clone, Copy, Debug)]
enum Operand<'a> {
    Nothing,
    Null,
    Bool(bool),
    Integer(i128),
    Float(f64),
    Text(&'a str),
    List(&'a [Node<'a>]),
    Map(&'a Node<'a>),
}

fn value<'a, 'n: 'a, 's>(
    comparable: &'a Comparable,
    here: Found<'n, 's>,
    root: &'n Node<'s>,
    work: &mut Work,
) -> Answer<Operand<'a>> {
    Ok(match comparable {
        Comparable::Literal(Literal::Null) => Operand::Null,
        Comparable::Literal(Literal::Bool(flag)) => Operand::Bool(*flag),
        Comparable::Literal(Literal::Number(number)) => Operand::Float(*number),
        Comparable::Literal(Literal::Text(text)) => Operand::Text(text),
        Comparable::Single(nodes) | Comparable::Value(nodes) => {
            match found(nodes, here, root, work)?.as_slice() {
                [single] => of_node(*single),
                _ => Operand::Nothing,
            }
        }
        Comparable::Length(inside) => match value(inside, here, root, work)? {
            Operand::Text(text) => Operand::Integer(text.chars().count() as i128),
            Operand::List(list) => Operand::Integer(list.len() as i128),
            Operand::Map(map) => Operand::Integer(size(map) as i128),
            _ => Operand::Nothing,
        },
        Comparable::Count(nodes) => Operand::Integer(found(nodes, here, root, work)?.len() as i128),
    })
}

fn of_node<'a>(found: Found<'a, '_>) -> Operand<'a> {
    let node = found.node;
    match &node.value {
        _ if found.hidden => Operand::Null,
        Value::List(list) => Operand::List(list),
        Value::Map(_) => Operand::Map(node),
        Value::Scalar(scalar) => match node.kind() {
            Kind::Null => Operand::Null,
            Kind::Bool => Operand::Bool(node.as_bool().unwrap_or_default()),
            Kind::Integer => match node.as_integer() {
                Some(integer) => Operand::Integer(integer),
                None => Operand::Text(&scalar.text),
            },
            Kind::Float => match scalar.text.parse() {
                Ok(float) => Operand::Float(float),
                Err(_) => Operand::Text(&scalar.text),
            },
            _ => Operand::Text(&scalar.text),
        },
    }
}

fn equal(left: &Operand<'_>, right: &Operand<'_>, work: &mut Work) -> Answer<bool> {
    work.spend(1)?;
    Ok(match (left, right) {
        (Operand::Nothing, Operand::Nothing) | (Operand::Null, Operand::Null) => true,
        (Operand::Bool(left), Operand::Bool(right)) => left == right,
        (Operand::Text(left), Operand::Text(right)) => left == right,
        (Operand::List(left), Operand::List(right)) => {
            if left.len() != right.len() {
                return Ok(false);
            }
            for (left, right) in left.iter().zip(*right) {
                if !equal(&of_shown(left), &of_shown(right), work)? {
                    return Ok(false);
                }
            }
            true
        }
        (Operand::Map(left), Operand::Map(right)) => {
            if size(left) != size(right) {
                return Ok(false);
            }
            for entry in left.as_map().into_iter().flat_map(|map| &map.entries) {
                let Some(other) = right.get(&entry.key.text) else {
                    return Ok(false);
                };
                if !equal(&of_shown(&entry.value), &of_shown(&other.value), work)? {
                    return Ok(false);
                }
            }
            true
        }
        _ => compare_numbers(left, right) == Some(Ordering::Equal),
    })
}

fn of_shown<'a>(node: &'a Node<'_>) -> Operand<'a> {
    of_node(Found {
        node,
        hidden: false,
    })
}

fn less(left: &Operand<'_>, right: &Operand<'_>) -> bool {
    match (left, right) {
        (Operand::Text(left), Operand::Text(right)) => left < right,
        _ => compare_numbers(left, right) == Some(Ordering::Less),
    }
}

/// As numbers with a fraction, unless both are integers; the standard's integers lose nothing by it.
#[allow(clippy::cast_precision_loss)]
fn compare_numbers(left: &Operand<'_>, right: &Operand<'_>) -> Option<Ordering> {
    let float = |operand: &Operand<'_>| match operand {
        Operand::Integer(integer) => Some(*integer as f64),
        Operand::Float(float) => Some(*float),
        _ => None,
    };
    match (left, right) {
        (Operand::Integer(left), Operand::Integer(right)) => Some(left.cmp(right)),
        _ => float(left)?.partial_cmp(&float(right)?),
    }
}
