//! Every node knows its bytes.

use super::with;
use crate::source::Source;
use crate::yaml::{Node, Value};

/// Each key, scalar and collection with its path and the text of its span.
fn spans(text: &str) -> Vec<String> {
    with(text, |source, document| {
        let mut lines = Vec::new();
        walk(source, document.root.as_ref().unwrap(), "", &mut lines);
        lines
    })
}

fn walk(source: &Source, node: &Node<'_>, path: &str, lines: &mut Vec<String>) {
    let place = source.place(node.span.start);
    lines.push(format!(
        "{path} {}:{} {:?}",
        place.line,
        place.column,
        source.slice(node.span)
    ));
    match &node.value {
        Value::Scalar(_) => {}
        Value::List(list) => {
            for (index, item) in list.iter().enumerate() {
                walk(source, item, &format!("{path}[{index}]"), lines);
            }
        }
        Value::Map(map) => {
            for entry in &map.entries {
                let key = source.slice(entry.key.span);
                walk(source, &entry.value, &format!("{path}.{key}"), lines);
            }
        }
    }
}

#[test]
fn scalars_include_their_quotes() {
    assert_eq!(
        spans("a: x y # c\n'b': \"ü\"\nc: 'd\n  e'\n"),
        [
            r#" 1:1 "a: x y # c\n'b': \"ü\"\nc: 'd\n  e'""#,
            r#".a 1:4 "x y""#,
            r#".'b' 2:6 "\"ü\"""#,
            r#".c 3:4 "'d\n  e'""#,
        ]
    );
}

#[test]
fn a_missing_value_is_empty_right_behind_its_indicator() {
    assert_eq!(
        spans("a:\nb:   # c\nc:\n-\n- \nd: {e: , f}\n")[1..],
        [
            r#".a 1:3 """#,
            r#".b 2:3 """#,
            r#".c 4:1 "-\n-""#,
            r#".c[0] 4:2 """#,
            r#".c[1] 5:2 """#,
            r#".d 6:4 "{e: , f}""#,
            r#".d.e 6:7 """#,
            r#".d.f 6:11 """#,
        ]
    );
}

#[test]
fn collections_span_from_their_first_to_their_last_entry() {
    assert_eq!(
        spans("a:\n  b: 1\n  c:\n    - d\n    - e: f\n      g: h\n\n# end\ni: [1,\n  2 ]\n")[1..],
        [
            r#".a 2:3 "b: 1\n  c:\n    - d\n    - e: f\n      g: h""#,
            r#".a.b 2:6 "1""#,
            r#".a.c 4:5 "- d\n    - e: f\n      g: h""#,
            r#".a.c[0] 4:7 "d""#,
            r#".a.c[1] 5:7 "e: f\n      g: h""#,
            r#".a.c[1].e 5:10 "f""#,
            r#".a.c[1].g 6:10 "h""#,
            r#".i 9:4 "[1,\n  2 ]""#,
            r#".i[0] 9:5 "1""#,
            r#".i[1] 10:3 "2""#,
        ]
    );
}

#[test]
fn block_scalars_span_from_their_indicator_to_their_last_word() {
    assert_eq!(
        spans("a: |  # c\n  x\n\n  y\n\nb: >-\n  z")[1..],
        [r#".a 1:4 "|  # c\n  x\n\n  y""#, r#".b 6:4 ">-\n  z""#]
    );
}

#[test]
fn copies_keep_the_place_of_the_original() {
    let text = "a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n";
    assert_eq!(
        spans(text)[3..],
        [
            r#".c 1:7 "{b: 1}""#,
            r#".c.b 1:11 "1""#,
            r#".d 4:3 "<<: *x""#,
            r#".d.b 1:11 "1""#
        ]
    );
    with(text, |source, document| {
        let root = document.root.as_ref().unwrap();
        assert_eq!(
            root.get("c")
                .unwrap()
                .value
                .alias()
                .map(|span| source.slice(span)),
            Some("*x")
        );
        let merged = root.get("d").unwrap().value.get("b").unwrap().merged;
        assert_eq!(merged.map(|span| source.slice(span)), Some("<<"));
        assert_eq!(root.get("a").unwrap().value.get("b").unwrap().merged, None);
    });
}

#[test]
fn comments_are_kept_with_their_places() {
    with(
        "# one\na: 'x' #two\nb: |  # three \n  # text\n",
        |source, document| {
            let comments: Vec<_> = document
                .comments
                .iter()
                .map(|comment| (source.slice(comment.span), comment.text))
                .collect();
            assert_eq!(
                comments,
                [("# one", "one"), ("#two", "two"), ("# three ", "three")]
            );
        },
    );
}

#[test]
fn unchanged_text_is_not_copied() {
    with(
        "a: b\n'c': 'd'\ne: \"f\"\ng: |\n  h\ni: [j]\n",
        |_, document| {
            for entry in &document.root.as_ref().unwrap().as_map().unwrap().entries {
                assert!(matches!(entry.key.text, std::borrow::Cow::Borrowed(_)));
                if let Value::Scalar(scalar) = &entry.value.value {
                    assert!(
                        matches!(scalar.text, std::borrow::Cow::Borrowed(_)),
                        "{}",
                        entry.key.text
                    );
                }
            }
        },
    );
}
