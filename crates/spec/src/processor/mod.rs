//! Alibaba PAI processors: a `Processor(...).run(...)` call as a file.
//!
//! Document → [`fields`] (shape) → [`read`] (model) → [`check`] (one field against another) →
//! [`lower`] (the `/ml` contract, plan).

pub mod check;
pub mod fields;
pub mod lower;
pub mod mentions;
pub mod model;
pub mod names;
pub mod python;
pub mod read;

use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::job::{Dialect, Job, Request};
use crate::library::Library;
use crate::secrets::SecretValues;
use crate::setting::{self, Binding};
use crate::shape;
use crate::source::Sources;
use crate::yaml::{Node, Value};

/// Checks the fields of a document by themselves.
pub fn check_shape(root: &Node<'_>, sources: &Sources, out: &mut Diagnostics) {
    shape::check(root, &fields::SHAPE, sources, out);
}

/// Whether a document looks like a processor.
pub fn is_processor(root: &Node<'_>) -> bool {
    let has = |key: &str| root.get(key).is_some();
    has("image_uri") || (has("command") && (has("source_dir") || has("instance_type")))
}

/// Reads a complete document: every problem in it, and its plan if that is wanted.
pub fn read_job(
    root: &Node<'_>,
    sources: &Sources,
    request: &Request<'_>,
    library: &dyn Library,
    out: &mut Diagnostics,
) -> Option<Job> {
    check_shape(root, sources, out);
    root.as_map()?;
    if text_size(root) > MOST_TEXT {
        let message = "the texts of the processor have more than 8 MiB";
        let span = root
            .get("parameters")
            .map_or(root.span, |entry| entry.key.span);
        out.push(
            Diagnostic::new(&codes::TOO_MUCH_TEXT, span, message)
                .help("give the code long values as an input"),
        );
        return None;
    }
    let processor = read::processor(root);
    let inputs = setting::bindings(request.inputs, sources, out);
    let outputs = setting::bindings(request.outputs, sources, out);
    let inputs = well_named(inputs, out);
    let outputs = well_named(outputs, out);
    let bound = mentions::Bound {
        inputs: &inputs.iter().map(Binding::name_text).collect::<Vec<_>>(),
        outputs: &outputs.iter().map(Binding::name_text).collect::<Vec<_>>(),
    };
    check::check(&processor, bound, out);
    let registers = setting::bindings(request.registers, sources, out);
    let flags = lower::Flags {
        inputs,
        outputs,
        registers,
    };
    let lowered = lower::lower(&processor, &flags, sources, request, library, out);
    let (plan, origins) = lowered.filter(|_| !out.has_errors())?;
    Some(Job {
        dialect: Dialect::Processor,
        plan,
        command_line: None,
        origins,
        fidelity: shape::account(root, &fields::SHAPE, request.engine, sources),
        secrets: SecretValues::of_document(root),
    })
}

/// Several copies of all texts are made for a plan; more of them than this are a mistake.
const MOST_TEXT: usize = 8 << 20;

/// How long all texts are. An alias counts as often as it is used.
fn text_size(node: &Node<'_>) -> usize {
    match &node.value {
        Value::Scalar(scalar) => scalar.text.len(),
        Value::List(items) => items.iter().map(text_size).sum(),
        Value::Map(map) => {
            let entries = map.entries.iter();
            entries
                .map(|entry| entry.key.text.len() + text_size(&entry.value))
                .sum()
        }
    }
}

/// The flags whose names can be those of channels; the others are reported.
fn well_named<'s>(flags: Vec<Binding<'s>>, out: &mut Diagnostics) -> Vec<Binding<'s>> {
    let rule = &fields::CHANNEL_RULE;
    let fits = |flag: &Binding<'s>| {
        let name = flag.name_text();
        (rule.accepts)(name) && name.len() <= rule.max_length
    };
    let (good, bad): (Vec<_>, Vec<_>) = flags.into_iter().partition(fits);
    for flag in &bad {
        let message = format!("channel `{}` must be {}", flag.name_text(), rule.words);
        out.push(
            Diagnostic::new(&codes::BAD_TEXT, flag.name, message)
                .help("name a channel of the processor"),
        );
    }
    good
}
