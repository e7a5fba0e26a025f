//! Types of data that look like another type misspelt, and flags that only some types have.

use crate::component::fields;
use crate::component::model::{Component, Holds, Name};
use crate::diagnostic::suggest::closest;
use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::yaml::Node;
use crate::yaml::access::value;

/// Types of data that the service knows from the start.
const DATA_TYPES: &[&str] = &[
    "path",
    "AzureMLDataset",
    "AnyDirectory",
    "AnyFile",
    "DataFrameDirectory",
    "ModelDirectory",
    "ImageDirectory",
    "UntrainedModelDirectory",
    "TransformationDirectory",
    "ZipFile",
    "CsvFile",
    "CosmosStructuredStream",
    "uri_file",
    "uri_folder",
    "mltable",
    "mlflow_model",
    "custom_model",
    "triton_model",
    "model",
    "metrics",
];

pub(super) fn check(component: &Component<'_>, out: &mut Diagnostics) {
    for input in &component.inputs {
        if input.holds == Holds::Data {
            for name in &input.types {
                data_type(*name, out);
            }
        }
    }
    for output in &component.outputs {
        if output.holds == Holds::Data {
            data_type(output.type_name, out);
            early_value(output.name, output.type_name, output.node, out);
        }
    }
}

/// A type that nobody knows is a type of data of the user's own, unless it looks like another.
fn data_type(name: Name<'_>, out: &mut Diagnostics) {
    if DATA_TYPES.contains(&name.text) {
        return;
    }
    if name.text.contains(['<', '>']) {
        let message = format!("`{}` cannot be the name of a type", name.text);
        out.push(
            Diagnostic::new(&codes::BAD_TEXT, name.span, message)
                .help("a type has neither `<` nor `>` in its name"),
        );
        return;
    }
    let known = fields::PARAMETER_TYPES
        .iter()
        .chain(fields::BUILT_IN_TYPES)
        .chain(DATA_TYPES)
        .copied();
    let Some(meant) = closest(name.text, known) else {
        return;
    };
    let message = format!("the type `{}` looks like `{meant}` misspelt", name.text);
    out.push(
        Diagnostic::new(&codes::PROBABLE_TYPE, name.span, message)
            .help("as it stands it is a type of data of your own")
            .fix(format!("did you mean `{meant}`?"), name.span, meant),
    );
}

fn early_value(name: Name<'_>, type_name: Name<'_>, node: &Node<'_>, out: &mut Diagnostics) {
    let Some(early) = value(node, "early_available").filter(|node| node.as_bool() == Some(true))
    else {
        return;
    };
    let message = format!(
        "output `{}` cannot be available early: it is of type `{}`",
        name.text, type_name.text
    );
    out.push(
        Diagnostic::new(&codes::EARLY_DATA, early.span, message)
            .related(type_name.span, "this is data")
            .help("only a single value can be read before the job has ended: use a type such as `string` or `integer`"),
    );
}
