//! The same texts through granit-parser: both must accept or refuse, and see the same tree.

use granit_parser::{Event as Theirs, Parser, ScalarStyle};
use proptest::prelude::*;

use super::oracle::{Builder, Event, Refusal, show};
use super::{show_untagged, with};
use crate::yaml::Style;

/// What granit-parser makes of a text: the first document's tree and whether there are others.
fn theirs(text: &str) -> Result<(Result<Option<String>, Refusal>, bool), String> {
    let mut events = Vec::new();
    let mut documents = 0;
    for next in Parser::new_from_str(text) {
        let (event, span) = next.map_err(|error| error.to_string())?;
        let anchor = |id: usize| (id > 0).then(|| id.to_string());
        let event = match event {
            Theirs::DocumentStart(..) => {
                documents += 1;
                continue;
            }
            Theirs::Alias(id) => Event::Alias(id.to_string()),
            Theirs::Scalar(text, style, id, _) => Event::Scalar {
                text: match span.byte_range() {
                    Some(range) if range.is_empty() && style == ScalarStyle::Plain => String::new(),
                    _ => text.into_owned(),
                },
                style: match style {
                    ScalarStyle::Plain => Style::Plain,
                    ScalarStyle::SingleQuoted => Style::SingleQuoted,
                    ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
                    ScalarStyle::Literal => Style::Literal,
                    ScalarStyle::Folded => Style::Folded,
                },
                anchor: anchor(id),
            },
            Theirs::SequenceStart(_, id, _) => Event::ListStart { anchor: anchor(id) },
            Theirs::MappingStart(_, id, _) => Event::MapStart { anchor: anchor(id) },
            Theirs::SequenceEnd | Theirs::MappingEnd => Event::End,
            _ => continue,
        };
        if documents == 1 {
            events.push(event);
        }
    }
    let tree = Builder::new(events).node();
    Ok((
        tree.and_then(|tree| tree.as_ref().map(show).transpose()),
        documents > 1,
    ))
}

/// Says how the two readers differ, if they do.
fn difference(text: &str) -> Option<String> {
    let theirs = theirs(text);
    with(text, |source, document| {
        let problems: Vec<_> = document
            .diagnostics
            .iter()
            .map(|problem| {
                let place = source.place(problem.span.start);
                format!(
                    "{}:{} {} {}",
                    place.line, place.column, problem.code.id, problem.message
                )
            })
            .collect();
        let refused = |codes: &[&str]| {
            document
                .diagnostics
                .iter()
                .any(|problem| codes.contains(&problem.code.id))
        };
        let ours = document
            .root
            .as_ref()
            .map_or("<>".to_owned(), show_untagged);
        if ours.starts_with(['|', '>']) {
            // A file that is one block scalar: granit-parser takes its `#` lines for comments.
            return None;
        }
        let agree = match &theirs {
            Err(error) => {
                // A comment may stand behind a block scalar with less indentation than it (YAML 1.2,
                // rule 169); granit-parser takes it for a line of the scalar.
                let is_comment = |line: &str| line.trim_start().starts_with('#');
                let behind_block = format!("{error:?}").contains("in block scalar")
                    && text.lines().any(is_comment);
                // Only the first document is read, so what is wrong with others is not seen.
                !problems.is_empty() || behind_block
            }
            Ok((_, true)) if !refused(&["P0103"]) => false,
            Ok((Err(refusal), _)) => refused(match refusal {
                Refusal::Key => &["P0110"],
                Refusal::Duplicate => &["P0102"],
                Refusal::Merge => &["P0111"],
                Refusal::Endless => &["P0105"],
                Refusal::Size => &["P0109", "P0108"],
            }),
            Ok((Ok(tree), _)) => {
                let others = |id: &str| matches!(id, "P0103" | "P0112");
                document
                    .diagnostics
                    .iter()
                    .all(|problem| others(problem.code.id))
                    && *tree.as_deref().unwrap_or("<>") == *ours
            }
        };
        (!agree).then(|| {
            format!("{text:?}\n{text}\n  theirs {theirs:?}\n  ours   {ours:?}\n  {problems:#?}")
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Left out is where the two differ on purpose: tabs, and blanks behind the last line break.
    #[test]
    fn any_bits_of_yaml_are_read_alike(text in soup()) {
        let text = text.replace('\t', " ") + "\n";
        if !text_outside_quotes_is_indented(&text) {
            return Ok(());
        }
        if let Some(difference) = difference(&text) {
            return Err(TestCaseError::fail(difference));
        }
    }
}

/// Pinnace also reads quoted text that is not indented.
fn text_outside_quotes_is_indented(text: &str) -> bool {
    !text.contains(['"', '\'']) || text.lines().count() < 2
}

#[test]
#[allow(clippy::disallowed_methods)]
fn the_examples_are_read_alike() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut files = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let file = file.unwrap().path();
        if file
            .extension()
            .is_some_and(|extension| extension == "yaml")
        {
            assert_eq!(difference(&std::fs::read_to_string(file).unwrap()), None);
            files += 1;
        }
    }
    assert!(files > 5);
}

/// Bits of YAML in any order.
pub(super) fn soup() -> impl Strategy<Value = String> {
    let bit = prop_oneof![
        8 => prop::sample::select(vec!["a", "b", "c", "key", "1"]),
        6 => Just(": "),
        6 => Just("\n"),
        6 => prop::sample::select(vec!["\n  ", "\n ", "\n    ", "\n\n"]),
        4 => Just("- "),
        2 => prop::sample::select(vec![" ", "  "]),
        2 => prop::sample::select(vec!["[", "]", "{", "}", ",", ", "]),
        2 => prop::sample::select(vec!["\"", "'", "\"x\"", "'y'", "''"]),
        1 => prop::sample::select(vec!["|\n", ">\n", "|-\n", ">+\n", "|2\n"]),
        1 => prop::sample::select(vec!["? ", ":", "?", "-", "#", " # c", "%"]),
        1 => prop::sample::select(vec!["&a ", "*a", "&b ", "*b", "!t ", "!!str "]),
        1 => prop::sample::select(vec!["<<: ", "é", "\\", "\t", "@", "`", "..."]),
    ];
    // A merge key with a tag or an anchor is an ordinary key here and a merge key elsewhere.
    let decorated = |bits: &[&str]| {
        bits.windows(2)
            .any(|pair| pair[1] == "<<: " && pair[0].starts_with(['!', '&']))
    };
    prop::collection::vec(bit, 1..14)
        .prop_filter("a decorated merge key", move |bits| !decorated(bits))
        .prop_map(|bits| bits.concat())
}
