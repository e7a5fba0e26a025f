//! Texts made to cost too much. Each must come back at once; the limits see to it.
#![allow(clippy::format_push_string)]

use super::problems;
use crate::source::Sources;
use crate::yaml::{Limits, decode, load};

/// The codes of a text's problems.
fn codes(text: &str) -> Vec<String> {
    problems(text)
        .iter()
        .filter_map(|problem| problem.split(' ').find(|word| word.starts_with("P01")))
        .map(ToOwned::to_owned)
        .collect()
}

#[test]
fn an_alias_bomb_is_stopped() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let item = format!("*a{}", level - 1);
        text += &format!("a{level}: &a{level} [{}]\n", [item.as_str(); 10].join(", "));
    }
    assert_eq!(codes(&text), ["P0109"]);
}

#[test]
fn an_alias_of_a_long_text_counts_as_much() {
    let text = format!(
        "a: &a {}\nb:\n{}",
        "x".repeat(1 << 20),
        "- *a\n".repeat(100_000)
    );
    assert_eq!(codes(&text), ["P0109"]);
}

#[test]
fn aliases_cannot_nest_deeper_than_brackets() {
    let mut text = String::from("a0: &a0 [x]\n");
    for level in 1..300 {
        text += &format!("a{level}: &a{level} [*a{}]\n", level - 1);
    }
    assert_eq!(codes(&text), ["P0108"]);
}

#[test]
fn anchors_inside_anchors_do_not_multiply() {
    let text = format!(
        "{}{}{}\nb: *a0",
        "&a [".repeat(90),
        "x, ".repeat(50_000),
        "]".repeat(90)
    );
    assert_eq!(codes(&text), ["P0109"]);
}

#[test]
fn deep_nesting_is_stopped() {
    for text in [
        "[".repeat(20_000),
        "{a: ".repeat(20_000),
        "- ".repeat(20_000),
        "? ".repeat(20_000),
        "[{".repeat(20_000),
        "&a [".repeat(20_000),
        (0..2_000).fold(String::new(), |text, level| {
            text + &" ".repeat(level) + "a:\n"
        }),
    ] {
        assert_eq!(codes(&text), ["P0108"], "{:?}", &text[..20]);
    }
}

#[test]
fn a_hundred_levels_are_not_too_deep() {
    assert!(codes(&("[".repeat(100) + &"]".repeat(100))).is_empty());
    assert!(codes(&"- ".repeat(100)).is_empty());
}

#[test]
fn a_large_file_is_refused_before_it_is_read() {
    let text = "x".repeat(50 << 20);
    assert_eq!(codes(&text), ["P0107"]);
    let problem = decode(text.into(), &Limits::default()).unwrap_err();
    assert_eq!(
        problem.message,
        "the file has 52428800 bytes, more than the limit of 4194304"
    );
}

#[test]
fn many_nodes_are_stopped() {
    for bit in ["- a\n", "-\n", "# c\n", "a,", "? a\n", "- &a a\n"] {
        let text = if bit == "a," {
            "[".to_owned()
        } else {
            String::new()
        } + &bit.repeat(1_000_000);
        let text = &text[..text.len().min(4 << 20)];
        assert_eq!(
            codes(text).last().map(String::as_str),
            Some(if bit == "? a\n" { "P0102" } else { "P0109" }),
            "{bit:?}"
        );
    }
}

#[test]
fn long_lines_and_many_lines_are_linear() {
    let bits: [(&str, &str); 14] = [
        ("[", "\"a\", "),
        ("[", "a: b, "),
        ("{", "\"a\" , "),
        ("a: ", "b: c "),
        ("a: \"", "\\\n\n "),
        ("a: '", "''\n  x "),
        ("a: |\n", "  b\n\n"),
        ("a: >\n", "   b\n\n  c\n"),
        ("a: b\n", "\n  c"),
        ("", "\n"),
        ("a: &x b\nc:\n", "- !t &y x\n"),
        ("a: [\n", "b: c,\n"),
        ("%TAG !a! b\n", "%TAG !b! c\n"),
        ("a: ", "\t"),
    ];
    for (start, bit) in bits {
        let text = start.to_owned() + &bit.repeat((1 << 20) / bit.len());
        codes(&text);
    }
}

#[test]
fn long_keys_are_read() {
    let key = "k".repeat(1 << 20);
    assert!(codes(&format!("{key}: 1\n\"{key}2\": 2\n")).is_empty());
}

#[test]
fn many_keys_and_anchors_are_read() {
    let text = (0..60_000).fold(String::new(), |text, n| text + &format!("k{n}: &a{n} v\n"));
    assert!(codes(&text).is_empty());
    assert_eq!(codes(&(text + "z: *a59999\ny: *b\n")), ["P0105"]);
}

#[test]
fn a_small_stack_is_enough() {
    // Tests run in threads with 2 MB of stack; a limit far above the usual must still fit.
    let sources = Sources::default();
    let limits = Limits {
        depth: 300,
        ..Limits::default()
    };
    let text = "- ".repeat(299) + "a: b";
    let document = load(sources.add("deep.yaml", text), &limits);
    assert!(document.complete);
}

#[test]
fn text_that_is_not_utf8_is_refused_with_its_place() {
    let sources = Sources::default();
    for (bytes, message, line, column) in [
        (
            &b"a: 1\nb: x\xffy\n"[..],
            "the byte 0xFF is not UTF-8 text",
            2,
            5,
        ),
        (
            b"a: \xc3",
            "the file ends in the middle of a character",
            1,
            4,
        ),
        (b"\xff\xfea\0:\0", "the file is UTF-16, not UTF-8", 1, 1),
        (b"\xfe\xff\0a\0:", "the file is UTF-16, not UTF-8", 1, 1),
    ] {
        let problem = decode(bytes.to_vec(), &Limits::default()).unwrap_err();
        let source = sources.add("job.yaml", problem.text.clone());
        let diagnostic = problem.diagnostic(source);
        let place = source.place(diagnostic.span.start);
        assert_eq!(
            (&*diagnostic.message, place.line, place.column),
            (message, line, column)
        );
        assert_eq!(diagnostic.code.id, "P0106");
    }
    assert_eq!(
        decode(b"\xef\xbb\xbfa: 1".to_vec(), &Limits::default()).unwrap(),
        "a: 1"
    );
}
