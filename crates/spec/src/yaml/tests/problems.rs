//! Texts that are wrong: what is said, where, and that the offered repair repairs.

use super::{problems, repaired, show, tree, with};

/// One problem, and its repair gives this tree.
fn repairs_to(text: &str, problem: &str, repaired_tree: &str) {
    assert_eq!(problems(text), [problem], "{text}");
    assert_eq!(tree(&repaired(text)), repaired_tree, "{text}");
}

/// The tree that is left of a wrong text.
fn rest(text: &str) -> String {
    with(text, |_, document| {
        document.root.as_ref().map(show).unwrap_or_default()
    })
}

#[test]
fn a_tab_in_the_indentation_is_replaced_by_spaces() {
    repairs_to(
        "a:\n\tb: 1\n\tc:\n\t\td: 2\n",
        "2:1 \"\\t\" P0104 tabs indent this line and 2 others",
        "{a: {b: <1>, c: {d: <2>}}}",
    );
    assert_eq!(
        rest("a:\n\tb: 1\n\tc: 2\nd: 3\n"),
        "{a: {b: <1>, c: <2>}, d: <3>}"
    );
    repairs_to(
        "-\ta: 1\n",
        "1:2 \"\\t\" P0104 a tab indents this line",
        "[{a: <1>}]",
    );
}

#[test]
fn a_missing_space_after_a_colon_is_inserted() {
    repairs_to(
        "name: x\nimage:ubuntu\ntag: y\n",
        "2:6 \":\" P0101 a space is missing after `image:`",
        "{name: <x>, image: <ubuntu>, tag: <y>}",
    );
    repairs_to(
        "image:ubuntu\ntag: y\n",
        "1:6 \":\" P0101 a space is missing after `image:`",
        "{image: <ubuntu>, tag: <y>}",
    );
    repairs_to(
        "\"image\":ubuntu\n",
        "1:8 \":\" P0101 a space is missing after `:`",
        "{image: <ubuntu>}",
    );
}

#[test]
fn a_missing_space_after_a_dash_is_inserted() {
    repairs_to(
        "a:\n  - b\n  -c\n",
        "3:3 \"-\" P0101 a space is missing after `-`",
        "{a: [<b>, <c>]}",
    );
    repairs_to(
        "a:\n- b\n-c\n",
        "3:1 \"-\" P0101 a space is missing after `-`",
        "{a: [<b>, <c>]}",
    );
}

#[test]
fn a_value_that_must_be_quoted_is_quoted() {
    repairs_to(
        "a: it's b: c # d\n",
        "1:10 \":\" P0101 a value without quotes cannot hold `: `",
        "{a: 'it's b: c'}",
    );
    for start in ["%", "@", "`"] {
        repairs_to(
            &format!("- {start}x\n"),
            &format!("1:3 {start:?} P0101 a text without quotes cannot start with `{start}`"),
            &format!("['{start}x']"),
        );
    }
    repairs_to(
        "a: *.txt\n",
        "1:4 \"*.txt\" P0105 no anchor of this name stands before the alias",
        "{a: '*.txt'}",
    );
    repairs_to(
        "a: > b\n",
        "1:6 \"b\" P0101 text after `>` on the same line -> 1:4 \">\" starts a text of many lines",
        "{a: '> b'}",
    );
}

#[test]
fn a_list_on_the_line_of_its_key_is_moved() {
    repairs_to(
        "a: - b\n   - c\n",
        "1:4 \"-\" P0101 a list cannot start on the line of its key",
        "{a: [<b - c>]}",
    );
    assert_eq!(rest("a: - b\n   - c\nd: e\n"), "{a: [<b>, <c>], d: <e>}");
}

#[test]
fn an_unclosed_quote_is_shown_where_it_opens() {
    assert_eq!(
        problems("a: \"x\nb: 1\nc: 'y\n"),
        [
            "1:4 \"\\\"\" P0101 the quote `\"` is not closed where its text ends \
             -> 2:1 \"b: 1\" this line is not indented deep enough to belong to the text",
            "3:4 \"'\" P0101 the quote `'` is never closed",
        ]
    );
    assert_eq!(rest("a: \"x\nb: 1\nc: 'y\n"), "{a: \"x\", b: <1>, c: 'y'}");
}

#[test]
fn an_unclosed_bracket_is_shown_where_it_opens() {
    let text = "a: [1, {b: 2,\nc: 3\nd:\n  - [4\n";
    assert_eq!(
        problems(text),
        [
            "1:8 \"{\" P0101 the bracket `{` is never closed -> 2:1 \"c\" this no longer belongs to it",
            "4:5 \"[\" P0101 the bracket `[` is never closed",
        ]
    );
    assert_eq!(rest(text), "{a: [<1>, {b: <2>}], c: <3>, d: [[<4>]]}");
}

#[test]
fn wrong_brackets_and_commas_are_repaired() {
    repairs_to(
        "a: [1, 2}\n",
        "1:9 \"}\" P0101 `}` where `]` is expected -> 1:4 \"[\" the bracket to close",
        "{a: [<1>, <2>]}",
    );
    repairs_to(
        "[\"a\" \"b\"]",
        "1:6 \"\\\"\" P0101 a `,` is missing before this",
        "[\"a\", \"b\"]",
    );
    repairs_to(
        "[a,, b]",
        "1:4 \",\" P0101 no value stands before this `,`",
        "[<a>, <b>]",
    );
    assert_eq!(
        problems("{a: 1 b: 2}"),
        ["1:8 \":\" P0101 a `:` cannot stand here inside brackets"]
    );
}

#[test]
fn a_line_that_does_not_line_up_is_moved() {
    repairs_to(
        "a:\n    b: 1\n     c: 2\n     d: 3\n    e: 4\n",
        "3:6 \"c\" P0101 this line is indented by 5 spaces, its neighbours by 4 spaces -> 2:5 \"b\" indented by 4 spaces",
        "{a: {b: <1>, c: <2>, d: <3>, e: <4>}}",
    );
}

#[test]
fn tabs_are_taken_to_be_as_wide_as_fits() {
    let problem = "3:1 \"\\t\" P0104 a tab indents this line";
    repairs_to(
        "a:\n    b: 1\n\té: 2\nc: 3\n",
        problem,
        "{a: {b: <1>, é: <2>}, c: <3>}",
    );
    repairs_to("a:\n  b: 1\n\t\t\té: 2\n", problem, "{a: {b: <1>, é: <2>}}");
}

#[test]
fn a_line_between_two_levels_belongs_to_the_deeper() {
    let text = "a:\n    b: 1\n  c: 2\nd: 3\n";
    assert_eq!(
        problems(text),
        [
            "3:3 \"c\" P0101 this line is indented by 2 spaces, its neighbours by 4 spaces -> 2:5 \"b\" indented by 4 spaces"
        ]
    );
    assert_eq!(rest(text), "{a: {b: <1>, c: <2>}, d: <3>}");
}

#[test]
fn a_line_without_a_key_is_named() {
    assert_eq!(
        problems("a: 1\nwords only\nb: 2\n"),
        ["2:1 \"words only\" P0101 this line is not `key: value` -> 1:1 \"a\" the key before"]
    );
    assert_eq!(rest("a: 1\nwords only\nb: 2\n"), "{a: <1>, b: <2>}");
    assert_eq!(
        problems("a:\n  b: \"x\"\n    words\nc: 2\n"),
        [
            "3:5 \"words\" P0101 this line belongs to no value -> 2:3 \"\" the entries around it start here"
        ]
    );
}

#[test]
fn lists_and_mappings_do_not_mix() {
    assert_eq!(
        problems("- a\nb: c\n- d\n"),
        ["2:1 \"b: c\" P0101 a key stands among the items of a list -> 1:1 \"-\" the list"]
    );
    assert_eq!(rest("- a\nb: c\n- d\n"), "[<a>, <d>]");
    assert_eq!(
        problems("a: 1\n- b\nc: 2\n"),
        [
            "2:1 \"-\" P0101 a list item stands among the keys of a mapping -> 1:1 \"a\" the key before"
        ]
    );
    assert_eq!(rest("a: 1\n- b\nc: 2\n"), "{a: <1>, c: <2>}");
}

#[test]
fn text_after_a_value_is_shown() {
    assert_eq!(
        problems("a: \"b\" c\n"),
        ["1:8 \"c\" P0101 text after the closing quote"]
    );
    assert_eq!(
        problems("a: [b] c\n"),
        ["1:8 \"c\" P0101 text after the closing `]`"]
    );
    repairs_to(
        "a: 'b'#c\n",
        "1:7 \"#\" P0101 a comment needs a space before its `#`",
        "{a: 'b'}",
    );
}

#[test]
fn a_wrong_escape_is_doubled() {
    let text = "a: \"\\d\\x1 \\ud800\"\n";
    assert_eq!(
        problems(text),
        [
            "1:5 \"\\\\d\" P0101 a backslash in double quotes starts an escape, and this one does not exist",
            "1:7 \"\\\\x\" P0101 `\\x` in double quotes needs 2 hexadecimal digits after it",
            "1:11 \"\\\\ud800\" P0101 this escape is not the number of a character",
        ]
    );
    assert_eq!(tree(&repaired(text)), r#"{a: "\\d\\x1 \\ud800"}"#);
}

#[test]
fn a_key_twice_shows_both_places_and_keeps_the_first() {
    let text = "a: 1\nb: {c: 2, c: 3}\n'a': 4\n";
    assert_eq!(
        problems(text),
        [
            "2:11 \"c\" P0102 the key `c` is here twice -> 2:5 \"c\" the first",
            "3:1 \"'a'\" P0102 the key `a` is here twice -> 1:1 \"a\" the first",
        ]
    );
    assert_eq!(rest(text), "{a: <1>, b: {c: <2>}}");
}

#[test]
fn a_key_twice_is_found_among_many() {
    let lines: Vec<_> = (0..1000)
        .chain([500, 3])
        .map(|n| format!("key{n}: {n}"))
        .collect();
    assert_eq!(
        problems(&lines.join("\n")),
        [
            "1001:1 \"key500\" P0102 the key `key500` is here twice -> 501:1 \"key500\" the first",
            "1002:1 \"key3\" P0102 the key `key3` is here twice -> 4:1 \"key3\" the first",
        ]
    );
}

#[test]
fn keys_that_are_no_text_are_refused() {
    assert_eq!(
        problems("[a, b]: c\n"),
        ["1:1 \"[a, b]\" P0110 a list cannot be a key"]
    );
    assert_eq!(
        problems("a: {{ x }}\n"),
        ["1:5 \"{ x }\" P0110 a mapping cannot be a key"]
    );
    assert_eq!(
        problems(": a\n"),
        ["1:1 \":\" P0110 no key stands before this `:`"]
    );
    assert_eq!(
        problems("?\nb: c\n"),
        ["1:1 \"?\" P0110 no key stands after this `?`"]
    );
    assert_eq!(problems("{!é }"), ["1:4 \"\" P0110 no key stands here"]);
    assert_eq!(
        problems("? - a\n: b\n"),
        ["1:3 \"- a\" P0110 a list cannot be a key"]
    );
}

#[test]
fn a_merge_takes_mappings_only() {
    assert_eq!(
        problems("a: &a 1\nb:\n  <<: *a\n  c: 2\n"),
        [
            "3:7 \"*a\" P0111 `<<` can only take over a mapping or a list of mappings -> 3:3 \"<<\" the merge key"
        ]
    );
    assert_eq!(tree("\"<<\": 1\n"), "{<<: <1>}");
}

#[test]
fn aliases_must_have_an_anchor_before() {
    assert_eq!(
        problems("a: &base 1\nb: *bse\nc: &c [*c]\n"),
        [
            "2:4 \"*bse\" P0105 no anchor of this name stands before the alias",
            "3:8 \"*c\" P0105 this alias stands inside what it repeats -> 3:4 \"&c\" the anchor",
        ]
    );
    assert_eq!(repaired("a: &base 1\nb: *bse\n"), "a: &base 1\nb: *base\n");
}

#[test]
fn only_the_first_document_is_read() {
    let text = "%YAML 1.2\n---\na: 1\n---\nb: [\n";
    assert_eq!(
        problems(text),
        ["4:1 \"---\" P0103 a second document starts here"]
    );
    assert_eq!(rest(text), "{a: <1>}");
    assert_eq!(tree("---\na: 1\n...\n"), "{a: <1>}");
}

#[test]
fn an_empty_file_is_refused() {
    assert_eq!(problems("\n\n"), ["1:1 \"\" P0112 the file is empty"]);
    assert_eq!(
        problems("# a\n"),
        ["1:1 \"\" P0112 the file holds comments only"]
    );
    assert_eq!(problems("---\n"), ["1:1 \"\" P0112 the file is empty"]);
}

#[test]
fn control_characters_are_refused() {
    assert_eq!(
        problems("a: \u{1b}[0m\nb: \u{7f}\n"),
        [
            "1:4 \"\\u{1b}\" P0113 the character U+001B is not allowed in YAML (1 more of its kind follow)"
        ]
    );
    assert_eq!(
        problems("a: 1\nb: \0\n"),
        ["2:4 \"\\0\" P0113 the character U+0000 is not allowed in YAML"]
    );
}

#[test]
fn each_of_many_problems_is_reported_once() {
    let text = "a: @x\nb:\n  - 'c\n  - d: e: f\n    g: [1\nh: \"\\q\"\ni:j\nk: 1\nk: 2\n";
    let lines: Vec<_> = problems(text)
        .iter()
        .map(|problem| problem[..3].to_owned())
        .collect();
    assert_eq!(lines, ["1:4", "3:5", "4:9", "5:8", "6:5", "7:2", "9:1"]);
}

#[test]
fn reading_stops_after_twenty_problems() {
    assert_eq!(problems(&"- @\n".repeat(50)).len(), 20);
}

#[test]
fn reading_stops_also_inside_a_text_of_many_lines() {
    let text = "- @\n".repeat(19) + "- >\n    \n  a\n\n  b\n- @\n";
    assert_eq!(problems(&text).len(), 20);
    let text = "- @\n".repeat(19) + "- > x\n  a\n\n  b\n- @\n";
    assert_eq!(problems(&text).len(), 20);
}

#[test]
fn no_message_holds_a_part_of_a_value() {
    for text in [
        "a: %hunter2\n",
        "a: *hunter2\n",
        "a: &hunter2\n",
        "a: \"hunter2\n",
        "a: [hunter2\n",
        "a: b: hunter2\n",
        "a: 'x' hunter2\n",
        "hunter2\nb: c\n",
        "a: 1\nhunter2\n",
        "- a\nhunter2\n",
        "a: !hunter2!x y\n",
        "a: > hunter2\n",
        "a: \"x\"\n  hunter2\n",
        "{a: hunter2 b: c}\n",
        "a: @hunter2\n",
        "- a\n-hunter2\n",
        "a: |hunter2\n",
    ] {
        with(text, |_, document| {
            for problem in document.diagnostics.iter() {
                let related = problem.related.iter().map(|label| &label.message);
                let edits = problem
                    .fix
                    .iter()
                    .flat_map(|fix| &fix.edits)
                    .map(|edit| &edit.replacement);
                let words = [&problem.message, &problem.label]
                    .into_iter()
                    .chain(&problem.help);
                for word in words.chain(related).chain(edits) {
                    assert!(!word.contains("hunter2"), "{text:?}: {word}");
                }
            }
        });
    }
}
