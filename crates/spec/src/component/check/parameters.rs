//! Whether values fit their parameters.

use std::collections::HashMap;

use crate::component::model::{Component, Holds, Input, Name};
use crate::diagnostic::suggest::closest;
use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::yaml::Node;

/// Why a value does not fit a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Misfit {
    /// It is no value of that kind; says what it should be.
    Kind(&'static str),
    /// It is less than the least value.
    Below(String),
    /// It is more than the greatest value.
    Above(String),
    /// It is none of the values that there are.
    NoChoice,
}

/// Holds the written text of a value against its parameter.
pub fn fits(input: &Input<'_>, text: &str) -> Result<(), Misfit> {
    let is_listed = || input.choices.iter().any(|choice| choice.text == text);
    match input.holds {
        _ if !input.choices.is_empty() && !is_listed() => Err(Misfit::NoChoice),
        Holds::Data | Holds::Text | Holds::Choice => Ok(()),
        Holds::Flag if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") => {
            Ok(())
        }
        Holds::Flag => Err(Misfit::Kind("`True` or `False`")),
        Holds::Integer if text.trim().parse::<i64>().is_err() => {
            Err(Misfit::Kind("a whole number of 64 bits"))
        }
        Holds::Integer => number(text).map_or(Ok(()), |number| within(input, number)),
        Holds::Number => match number(text) {
            Some(number) => within(input, number),
            None => Err(Misfit::Kind("a number")),
        },
    }
}

fn number(text: &str) -> Option<f64> {
    let number: f64 = text.trim().parse().ok()?;
    number.is_finite().then_some(number)
}

fn bound(node: Option<&Node<'_>>) -> Option<f64> {
    number(node?.as_text()?)
}

fn within(input: &Input<'_>, number: f64) -> Result<(), Misfit> {
    let text =
        |node: Option<&Node<'_>>| node.and_then(Node::as_text).unwrap_or_default().to_owned();
    match (bound(input.min), bound(input.max)) {
        (Some(min), _) if number < min => Err(Misfit::Below(text(input.min))),
        (_, Some(max)) if number > max => Err(Misfit::Above(text(input.max))),
        _ => Ok(()),
    }
}

pub(super) fn check(component: &Component<'_>, out: &mut Diagnostics) {
    for input in &component.inputs {
        bounds(input, out);
        repeated_choices(input, out);
        if let Some(default) = input.default
            && let Some(text) = default.as_text()
            && let Err(misfit) = fits(input, text)
        {
            out.push(misfitting(
                &codes::BAD_DEFAULT,
                "the default",
                input,
                Name {
                    text,
                    span: default.span,
                },
                &misfit,
            ));
        }
    }
}

/// What is wrong with a value for a parameter, in words.
pub fn misfitting(
    code: &'static crate::diagnostic::Code,
    what: &str,
    input: &Input<'_>,
    value: Name<'_>,
    misfit: &Misfit,
) -> Diagnostic {
    let name = input.name.text;
    let (message, label, help) = match misfit {
        Misfit::Kind(kind) => (
            format!("{what} of `{name}` must be {kind}, found `{}`", value.text),
            format!("expected {kind}"),
            None,
        ),
        Misfit::Below(min) => (
            format!("{what} of `{name}` is `{}`, less than `min`", value.text),
            format!("must be at least {min}"),
            None,
        ),
        Misfit::Above(max) => (
            format!("{what} of `{name}` is `{}`, more than `max`", value.text),
            format!("must be at most {max}"),
            None,
        ),
        Misfit::NoChoice => {
            let choices = input.choices.iter().map(|choice| choice.text);
            let label = closest(value.text, choices.clone())
                .map(|meant| format!("did you mean `{meant}`?"))
                .unwrap_or_default();
            let all: Vec<&str> = choices.take(20).collect();
            (
                format!("{what} of `{name}` is none of its values: `{}`", value.text),
                label,
                Some(format!("it can be `{}`", all.join("`, `"))),
            )
        }
    };
    let mut diagnostic = Diagnostic::new(code, value.span, message).label(label);
    if let Some(help) = help {
        diagnostic = diagnostic.help(help);
    }
    if let Some(written) = input
        .types
        .first()
        .filter(|_| matches!(misfit, Misfit::Kind(_)))
    {
        diagnostic = diagnostic.related(written.span, "the type is here");
    }
    let limit = match misfit {
        Misfit::Below(_) => input.min,
        Misfit::Above(_) => input.max,
        _ => None,
    };
    if let Some(limit) = limit {
        diagnostic = diagnostic.related(limit.span, "the limit is here");
    }
    diagnostic
}

fn bounds(input: &Input<'_>, out: &mut Diagnostics) {
    let mut valid = true;
    for (key, node) in [("min", input.min), ("max", input.max)] {
        let Some(node) = node.filter(|_| matches!(input.holds, Holds::Integer | Holds::Number))
        else {
            continue;
        };
        if bound(Some(node)).is_none() {
            valid = false;
            let message = format!(
                "`{key}` of `{}` must be a number, found `{}`",
                input.name.text,
                node.as_text().unwrap_or_default()
            );
            out.push(Diagnostic::new(&codes::BAD_BOUNDS, node.span, message));
        }
    }
    if let (Some(min), Some(max), Some(node)) = (bound(input.min), bound(input.max), input.max)
        && valid
        && min > max
    {
        let message = format!(
            "no value fits `{}`: `min` is greater than `max`",
            input.name.text
        );
        let mut diagnostic =
            Diagnostic::new(&codes::BAD_BOUNDS, node.span, message).help("exchange the two");
        if let Some(min) = input.min {
            diagnostic = diagnostic.related(min.span, "`min` is here");
        }
        out.push(diagnostic);
    }
}

/// Up to so many values, comparing each with those before it is faster than hashing.
const FEW: usize = 16;

fn repeated_choices(input: &Input<'_>, out: &mut Diagnostics) {
    let mut report = |first: &Name<'_>, choice: &Name<'_>| {
        let message = format!(
            "`{}` stands twice in the values of `{}`",
            choice.text, input.name.text
        );
        out.push(
            Diagnostic::new(&codes::REPEATED_CHOICE, choice.span, message)
                .related(first.span, "the first is here"),
        );
    };
    if input.choices.len() <= FEW {
        for (place, choice) in input.choices.iter().enumerate() {
            let mut before = input.choices.iter().take(place);
            if let Some(first) = before.rfind(|first| first.text == choice.text) {
                report(first, choice);
            }
        }
        return;
    }
    let mut seen: HashMap<&str, &Name<'_>> = HashMap::new();
    for choice in &input.choices {
        if let Some(first) = seen.insert(choice.text, choice) {
            report(first, choice);
        }
    }
}
