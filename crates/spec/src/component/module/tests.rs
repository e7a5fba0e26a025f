#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;
use crate::diagnostic::Levels;
use crate::job::{self, Request};
use crate::library::NoLibrary;
use crate::source::Sources;

const GUID: &str = "c3d0fbd2-8b78-4231-a665-3a0de1796264";

/// The example of the Hemera documentation, with its quotes as they are there.
const SAMPLE: &str = r#"<m c="Hemera" dm="1" n="Hemera module sample" i="run.bat -_TrainingDataDir "[(TrainingDataDir)]" %CLUSTER%=(YarnCluster:default,yarn_prod_bn2) -JobQueue (JobQueue:default,AdsCP)" />"#;

fn converted(text: &str) -> (Option<String>, Vec<String>) {
    let sources = Sources::default();
    let source = sources.add("module.xml", text);
    let mut out = Diagnostics::default();
    let spec = convert(source, GUID, &mut out);
    let told = out.iter().map(|problem| {
        let at = sources.slice(problem.span);
        format!("{} {at}: {}", problem.code.id, problem.message)
    });
    (spec, told.collect())
}

#[test]
fn the_sample_of_the_documentation_becomes_a_component() {
    let (spec, told) = converted(SAMPLE);
    assert_eq!(told, [r#"P1067 dm="1": what `dm` means is not known"#]);
    assert_eq!(
        spec.unwrap(),
        r#"$schema: https://componentsdk.azureedge.net/jsonschema/HemeraComponent.json
name: Hemera_module_sample
version: 0.0.1
display_name: Hemera module sample
type: HemeraComponent
inputs:
  TrainingDataDir:
    type: path
    optional: true
    is_resource: true
  YarnCluster:
    type: string
    default: yarn_prod_bn2
  JobQueue:
    type: string
    default: AdsCP
command: >-
  run.bat -_TrainingDataDir "[{inputs.TrainingDataDir}]" %CLUSTER%={inputs.YarnCluster} -JobQueue {inputs.JobQueue}
hemera:
  ref_id: c3d0fbd2-8b78-4231-a665-3a0de1796264
"#
    );
}

#[test]
fn escaped_quotes_give_the_same_component() {
    let inner = SAMPLE.replace("\"[", "&quot;[").replace("]\"", "]&#34;");
    assert_eq!(converted(&inner).0, converted(SAMPLE).0);
    let declared = format!(
        "<?xml version=\"1.0\"?>\n<!-- mine -->\n{}</m>\n",
        SAMPLE.replace("/>", ">")
    );
    assert_eq!(converted(&declared).0, converted(SAMPLE).0);
}

#[test]
fn what_is_not_known_is_told_where_it_stands() {
    let module = |interface: &str| format!("<m c='Hemera' n='x' i='{interface}'/>");
    for (text, told) in [
        ("", "P1065 : the file does not begin with a module `<m …/>`"),
        (
            "<module/>",
            "P1065 <: the file does not begin with a module `<m …/>`",
        ),
        ("<m c=Hemera/>", "P1065 H: a value is not quoted"),
        ("<m c='Hemera", "P1065 ': a value never ends"),
        (
            "<m c='Hemera' c='x'/>",
            "P1065 c='x': `c` stands here twice",
        ),
        (
            "<m c='Scope' n='x' i='y'/>",
            "P1066 Scope: modules of the cloud `Scope` are not known",
        ),
        (
            "<m c='Hemera' i='y'/>",
            "P1065 <m: `n` is missing: the name of the module",
        ),
        (
            "<m c='Hemera' n='a&b' i='y'/>",
            "P1065 &: this is no entity of XML",
        ),
        (
            &module("a (x:int,1)"),
            "P1066 int,1: what `int,1` says about `x` is not known",
        ),
        (
            &module("a {in:x}"),
            "P1066 {: what `{` means in an interface is not known",
        ),
        (
            &module("a [b]"),
            "P1066 [b]: brackets hold one value, so that is what is optional",
        ),
        (&module("a (x"), "P1066 (: a parenthesis is never closed"),
        (&module("a [(x)"), "P1066 [: a bracket is never closed"),
        (
            &module("&lt;(x y)"),
            "P1066 x y: `x y` cannot be the name of an input",
        ),
        (
            &module("(x:default,1) (x:default,2)"),
            "P1066 (x:default,2): `x` has two defaults",
        ),
        (
            &module("a (x)"),
            "P1067 (x): whether `x` is data or a parameter is not said",
        ),
    ] {
        let (_, all) = converted(text);
        assert_eq!(all.first().map(String::as_str), Some(told), "{text}");
    }
}

#[test]
fn two_modules_are_refused() {
    let (spec, told) = converted(&format!("{}\n{SAMPLE}", SAMPLE.replace(" dm=\"1\"", "")));
    assert_eq!(spec, None);
    assert_eq!(
        told,
        ["P1065 <: something follows the module: convert one at a time"]
    );
}

/// The errors that the reader of components finds in a spec.
fn errors(spec: &str) -> Vec<String> {
    let sources = Sources::default();
    let source = sources.add("component.yaml", spec);
    let levels = Levels::default();
    let outcome = job::read(&sources, source, &Request::new(&levels), &NoLibrary);
    let errors = outcome.diagnostics.into_iter();
    let errors = errors.filter(|found| found.severity == crate::diagnostic::Severity::Error);
    errors.map(|found| found.message).collect()
}

proptest! {
    #[test]
    fn whatever_is_converted_is_a_component_without_errors(
        name in "[ -~ü]{0,12}",
        words in proptest::collection::vec(
            prop_oneof![
                Just("[(A)]".to_owned()),
                Just("(B)".to_owned()),
                "[a-z0-9 ,;:#'&-]{0,8}".prop_map(|text| format!("(C:default,{text})")),
                "[ -'*-Z^-z~|]{0,8}",
            ],
            0..6,
        ),
    ) {
        let escape = |text: &str| text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
        let line = words.join(" ");
        let module = format!("<m c=\"Hemera\" n=\"{}\" i=\"run.bat {}\"/>", escape(&name), escape(&line));
        if let (Some(spec), _) = converted(&module) {
            prop_assert_eq!(errors(&spec), Vec::<String>::new(), "{}", spec);
        }
    }

    #[test]
    fn no_file_makes_it_panic(text in r#"(<m|/>|[a-c='"&;#()\[\]{}:, \n]|default|&#x?[0-9]+;){0,40}"#) {
        converted(&text);
        converted(&format!("<m c='Hemera' n='x' i='{text}'/>"));
    }
}
