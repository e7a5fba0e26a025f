//! What one field says against another, and what the SDK forgets to look at.

use std::collections::HashMap;

use super::fields::JOB_TYPES;
use super::mentions::{self, Bound};
use super::model::{Declared, Processor};
use super::names::variable_part;
use super::read::{any, given};
use crate::diagnostic::suggest::did_you_mean;
use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::yaml::Node;
use crate::yaml::access::Name;

/// Reports all that is wrong between fields. `bound` is what flags name.
pub fn check(processor: &Processor<'_>, bound: Bound<'_>, out: &mut Diagnostics) {
    job_type(processor, out);
    channels(processor, bound.inputs, out);
    repeated_names(processor, out);
    variables(processor, out);
    spot(processor, out);
    requirements(processor, out);
    let texts = command_texts(processor);
    output_folder(&texts, out);
    mentions::check(processor, &texts, bound, out);
}

/// What a command is made of.
fn command_texts<'d>(processor: &Processor<'d>) -> Vec<&'d Node<'d>> {
    match given(processor.root, "command") {
        Some(command) => match command.as_list() {
            Some(items) => items.iter().collect(),
            None => vec![command],
        },
        None => Vec::new(),
    }
}

fn job_type(processor: &Processor<'_>, out: &mut Diagnostics) {
    let Some(name) = processor
        .job_type
        .filter(|name| !JOB_TYPES.contains(&name.text))
    else {
        return;
    };
    let message = format!("PAI knows no type of job `{}`", name.text);
    let help = did_you_mean(name.text, JOB_TYPES.iter().copied())
        .unwrap_or_else(|| format!("the types are {}", listed(JOB_TYPES.iter().copied())));
    out.push(Diagnostic::new(&codes::ODD_JOB_TYPE, name.span, message).help(help));
}

fn channels(processor: &Processor<'_>, bound: &[&str], out: &mut Diagnostics) {
    for declared in [&processor.input_channels, &processor.output_channels] {
        repeated(declared, out);
    }
    let named = |name: &str| {
        bound.contains(&name) || processor.inputs.iter().any(|input| input.name.text == name)
    };
    for channel in &processor.input_channels {
        if channel.required && !named(channel.name.text) {
            let name = channel.name.text;
            let message = format!("the input `{name}` is required, and nothing says where it lies");
            let diagnostic = Diagnostic::new(&codes::MISSING_CHANNEL, channel.name.span, message)
                .help(format!(
                    "add `{name}: PATH` below `inputs`, or give `--input {name}=PATH`"
                ));
            out.push(diagnostic);
        }
    }
    if processor.input_channels.is_empty() {
        return;
    }
    let known = || {
        processor
            .input_channels
            .iter()
            .map(|channel| channel.name.text)
    };
    for input in &processor.inputs {
        if !known().any(|name| name == input.name.text) {
            let message = format!("`input_channels` does not list `{}`", input.name.text);
            let help = did_you_mean(input.name.text, known())
                .unwrap_or_else(|| format!("it lists {}", listed(known())));
            out.push(
                Diagnostic::new(&codes::UNDECLARED_CHANNEL, input.name.span, message).help(help),
            );
        }
    }
}

/// An object in a channel may say the name of the channel once more, and must not say another.
fn repeated_names(processor: &Processor<'_>, out: &mut Diagnostics) {
    for channel in processor.inputs.iter().chain(&processor.outputs) {
        let name = channel.name.text;
        if let Some(other) = channel.repeated.filter(|other| other.text != name) {
            let message = format!("the channel `{name}` calls itself `{}`", other.text);
            out.push(
                Diagnostic::new(&codes::ODD_CHANNEL_NAME, other.span, message)
                    .related(channel.name.span, "what counts")
                    .help("remove `name`, or rename the channel"),
            );
        }
    }
}

fn repeated(channels: &[Declared<'_>], out: &mut Diagnostics) {
    let mut seen: HashMap<&str, Name<'_>> = HashMap::new();
    for channel in channels {
        if let Some(first) = seen.insert(channel.name.text, channel.name) {
            let message = format!("the channel `{}` is listed twice", channel.name.text);
            out.push(
                Diagnostic::new(&codes::REPEATED_CHANNEL, channel.name.span, message)
                    .related(first.span, "first listed here")
                    .help("remove one of the two"),
            );
        }
    }
}

/// Names that differ in a file and are one in a variable.
fn variables(processor: &Processor<'_>, out: &mut Diagnostics) {
    let parameters = processor.parameters.iter().map(|(name, _)| *name).collect();
    let inputs = processor.inputs.iter().map(|input| input.name).collect();
    let mut outputs: Vec<Name<'_>> = processor.outputs.iter().map(|output| output.name).collect();
    for declared in &processor.output_channels {
        if !outputs.iter().any(|name| name.text == declared.name.text) {
            outputs.push(declared.name);
        }
    }
    let groups: [(&str, Vec<Name<'_>>); 3] = [
        ("PAI_HPS_", parameters),
        ("PAI_INPUT_", inputs),
        ("PAI_OUTPUT_", outputs),
    ];
    for (prefix, names) in groups {
        let mut seen: HashMap<String, Name<'_>> = HashMap::new();
        for name in names {
            let variable = format!("{prefix}{}", variable_part(name.text));
            if let Some(first) = seen.get(&variable) {
                let message = format!(
                    "`{}` and `{}` have one variable, `{variable}`",
                    first.text, name.text
                );
                out.push(
                    Diagnostic::new(&codes::SHARED_VARIABLE, name.span, message)
                        .related(first.span, "the other one")
                        .help(format!("`{variable}` holds the value of `{}`", name.text)),
                );
            }
            seen.insert(variable, name);
        }
    }
}

fn spot(processor: &Processor<'_>, out: &mut Diagnostics) {
    let Some(spot) = given(processor.root, "spot_spec") else {
        return;
    };
    let strategy = any(spot, &["spot_strategy", "SpotStrategy"]);
    let limit = any(spot, &["spot_discount_limit", "SpotDiscountLimit"]);
    let limited = strategy.and_then(Node::as_text) == Some("SpotWithPriceLimit");
    match (strategy, limit) {
        (Some(strategy), None) if limited => {
            let message = "`SpotWithPriceLimit` needs a limit";
            out.push(
                Diagnostic::new(&codes::BAD_SPOT_LIMIT, strategy.span, message)
                    .help("add `spot_discount_limit: 0.5`, or use `SpotAsPriceGo`"),
            );
        }
        (Some(strategy), Some(limit)) if strategy.as_text() == Some("SpotAsPriceGo") => {
            let message = "`SpotAsPriceGo` has no limit";
            out.push(
                Diagnostic::new(&codes::BAD_SPOT_LIMIT, limit.span, message)
                    .related(strategy.span, "the strategy")
                    .help("remove `spot_discount_limit`, or use `SpotWithPriceLimit`"),
            );
        }
        (_, Some(limit)) => {
            let text = limit.as_text().unwrap_or_default();
            let number: Option<f64> = text.parse().ok();
            let decimals = text
                .split_once('.')
                .map_or(0, |(_, decimals)| decimals.trim_end_matches('0').len());
            let fits = |number: f64| number > 0.0 && number <= 1.0 && decimals <= 2;
            if number.is_some_and(|number| !fits(number)) {
                let message = format!(
                    "`spot_discount_limit` is a part of the price, above 0 and at most 1, with two decimals; found {text}"
                );
                out.push(
                    Diagnostic::new(&codes::BAD_SPOT_LIMIT, limit.span, message)
                        .help("0.5 is half of the price"),
                );
            }
        }
        _ => {}
    }
}

fn requirements(processor: &Processor<'_>, out: &mut Diagnostics) {
    for node in &processor.requirements {
        let text = node.as_text().unwrap_or_default().trim();
        let is_name = text.starts_with(|first: char| first.is_ascii_alphanumeric());
        let problem = if text.is_empty() {
            "an empty text names no package".to_owned()
        } else if text.starts_with('-') {
            format!("`{text}` is an option of pip, not a package")
        } else if text.contains(['\n', '\r']) {
            "a requirement is one line".to_owned()
        } else if !is_name && !text.starts_with(['.', '/']) {
            format!("`{text}` is not the name of a package")
        } else {
            continue;
        };
        out.push(
            Diagnostic::new(&codes::BAD_REQUIREMENT, node.span, problem).help(
                "write a package as in `requirements.txt`, such as `numpy==2.1.0`; options of pip go into its own settings",
            ),
        );
    }
}

/// The SDK's own documentation names a folder that no task ever sees.
fn output_folder(texts: &[&Node<'_>], out: &mut Diagnostics) {
    for node in texts {
        if node
            .as_text()
            .is_some_and(|text| text.contains("/ml/outputs/"))
        {
            let message = "the command names `/ml/outputs/`, and no task has such a folder";
            out.push(
                Diagnostic::new(&codes::ODD_OUTPUT_FOLDER, node.span, message).help(
                    "an output lies at `/ml/output/<channel>`, which `$PAI_OUTPUT_<CHANNEL>` holds",
                ),
            );
        }
    }
}

fn listed<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.map(|word| format!("`{word}`")).collect();
    words.join(", ")
}
