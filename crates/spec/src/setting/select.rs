//! `--set PATH=VALUE`.

use super::put::{self, Author};
use super::{Typed, value};
use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::jsonpath::{self, Form, NamedStep, Place, Query, Step, Work};
use crate::source::Sources;
use crate::yaml::node::{By, Kind};
use crate::yaml::{Node, Value};

/// So many nodes may be written by one flag.
const MOST_NODES: usize = 500_000;

/// So many nodes may be looked at for one flag.
const MOST_WORK: u64 = 5_000_000;

pub(super) fn apply<'s>(
    root: &mut Node<'s>,
    setting: &Typed<'s>,
    sources: &'s Sources,
    diagnostics: &mut Diagnostics,
) {
    let Some(given) = value::read(setting, sources, diagnostics) else {
        return;
    };
    let outcome = parse(setting).and_then(|query| match query.singular() {
        Some(steps) => set_one(root, &steps, given, setting),
        None => set_all(root, &query, &given, setting),
    });
    if let Err(diagnostic) = outcome {
        diagnostics.push(*diagnostic);
    }
}

pub(super) type Outcome = Result<(), Box<Diagnostic>>;

fn set_one<'s>(
    root: &mut Node<'s>,
    steps: &[NamedStep],
    given: Node<'s>,
    setting: &Typed<'s>,
) -> Outcome {
    match steps.first().map(|segment| &segment.step) {
        None => Err(whole_refused(setting)),
        Some(Step::Key(key)) if key == "secrets" => Err(secrets_refused(setting)),
        Some(_) => put(root, steps, given, setting),
    }
}

/// Puts a value at one place, which is made if it is not there.
pub(super) fn put<'s>(
    root: &mut Node<'s>,
    steps: &[NamedStep],
    given: Node<'s>,
    setting: &Typed<'s>,
) -> Outcome {
    let author = Author {
        by: By::Flag(setting.name()),
        span: &|step| setting.target.part(step.start, step.end),
    };
    put::put(root, steps, given, &author)
        .map_err(|problem| nothing_there(problem.kind, &problem.step, setting))
}

fn set_all<'s>(
    root: &mut Node<'s>,
    query: &Query,
    given: &Node<'s>,
    setting: &Typed<'s>,
) -> Outcome {
    let too_much = |message: String| {
        Box::new(Diagnostic::new(
            &codes::TOO_MANY_NODES,
            setting.target,
            message,
        ))
    };
    let places = jsonpath::places(query, root, &mut Work::new(MOST_WORK))
        .map_err(|_| too_much(format!("this looks at more than {MOST_WORK} nodes")))?;
    let places = outermost(places);
    if places.is_empty() {
        let message = format!("`{}` selects nothing in this file", setting.target_text());
        return Err(Box::new(
            Diagnostic::new(&codes::NOTHING_SELECTED, setting.target, message)
                .help("only a path to a single place can add what is not there"),
        ));
    }
    if places.iter().any(Vec::is_empty) {
        return Err(whole_refused(setting));
    }
    let secrets = root.position("secrets").map(|at| at as u32);
    if secrets.is_some() && places.iter().any(|place| place.first().copied() == secrets) {
        return Err(secrets_refused(setting));
    }
    if places.len().saturating_mul(size(given)) > MOST_NODES {
        return Err(too_much(format!(
            "this would write more than {MOST_NODES} nodes"
        )));
    }
    for place in &places {
        if let Some(node) = jsonpath::node_at_mut(root, place) {
            setting.replace(node, given.clone());
        }
    }
    Ok(())
}

/// What lies below a node that is replaced is gone.
fn outermost(places: Vec<Place>) -> Vec<Place> {
    let mut kept: Vec<Place> = Vec::with_capacity(places.len());
    for place in places {
        if !kept.last().is_some_and(|last| place.starts_with(last)) {
            kept.push(place);
        }
    }
    kept
}

fn parse(setting: &Typed<'_>) -> Result<Query, Box<Diagnostic>> {
    let target = setting.target_text();
    Query::parse(target, Form::Short).map_err(|error| {
        let rest = target.get(error.at..).unwrap_or_default();
        let end = error.at + rest.chars().next().map_or(0, char::len_utf8);
        let message = format!("`{target}` is not a JSONPath");
        Box::new(
            Diagnostic::new(
                &codes::BAD_QUERY,
                setting.target.part(error.at, end),
                message,
            )
            .label(error.message)
            .help("a path is such as `taskRoles.worker.instances`, `$.prerequisites[0].uri` or `$..version`"),
        )
    })
}

fn size(node: &Node<'_>) -> usize {
    1 + match &node.value {
        Value::Map(map) => map.entries.iter().map(|entry| size(&entry.value)).sum(),
        Value::List(list) => list.iter().map(size).sum(),
        Value::Scalar(_) => 0,
    }
}

fn nothing_there(kind: Kind, segment: &NamedStep, setting: &Typed<'_>) -> Box<Diagnostic> {
    let span = setting.target.part(segment.start, segment.end);
    let message = format!("`{}` selects nothing in this file", setting.target_text());
    let label = match (&segment.step, kind) {
        (Step::Key(_), _) => format!("above this stands {kind}, which has no keys"),
        (Step::Index(_), Kind::List) => "the list has fewer entries".to_owned(),
        (Step::Index(_), Kind::Null) => "there is no list here".to_owned(),
        (Step::Index(_), _) => format!("above this stands {kind}, not a list"),
    };
    Box::new(Diagnostic::new(&codes::NOTHING_SELECTED, span, message).label(label))
}

fn whole_refused(setting: &Typed<'_>) -> Box<Diagnostic> {
    let message = "the whole document cannot be set";
    Box::new(Diagnostic::new(&codes::BAD_QUERY, setting.target, message))
}

fn secrets_refused(setting: &Typed<'_>) -> Box<Diagnostic> {
    let message = "a secret cannot be set on the command line";
    Box::new(
        Diagnostic::new(&codes::SECRET_IN_FLAG, setting.target, message)
            .help("everyone on this machine can see a command line; `--secret NAME` takes a variable, a file or the terminal"),
    )
}
