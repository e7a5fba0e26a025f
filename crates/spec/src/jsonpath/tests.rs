//! The rules of RFC 9535, section by section, and what keeps a query from taking long.

use serde_json::Value as Json;

use super::*;
use crate::source::Sources;
use crate::yaml::node::Kind;
use crate::yaml::{self, Limits, Node, Value};

const MUCH: u64 = 1_000_000;

/// What a query selects in a document, as JSON; or the offset at which it is wrong.
fn ask(query: &str, document: &str) -> Result<Json, usize> {
    let sources = Sources::default();
    let loaded = yaml::load(sources.add("document", document), &Limits::default());
    let root = loaded.root.unwrap();
    let query = Query::parse(query, Form::Standard).map_err(|error| error.at)?;
    let selected = query.select(&root, &mut Work::new(MUCH)).unwrap();
    Ok(selected.into_iter().map(json).collect())
}

fn json(node: &Node<'_>) -> Json {
    match &node.value {
        Value::Map(map) => map
            .entries
            .iter()
            .map(|entry| (entry.key.text.to_string(), json(&entry.value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Value::List(list) => list.iter().map(json).collect(),
        Value::Scalar(scalar) => match node.kind() {
            Kind::Text => Json::String(scalar.text.to_string()),
            _ => serde_json::from_str(&scalar.text).unwrap(),
        },
    }
}

#[track_caller]
fn check(document: &str, cases: &[(&str, &str)]) {
    for (query, wanted) in cases {
        let wanted: Json = serde_json::from_str(wanted).unwrap();
        assert_eq!(ask(query, document), Ok(wanted), "{query}");
    }
}

#[test]
fn names_and_wildcards() {
    check(
        r#"{"o": {"j j": {"k.k": 3}}, "'": {"@": 2}, "a": ["x", {"b": 1}], "☺": "A", "e": null}"#,
        &[
            ("$.o['j j']", r#"[{"k.k": 3}]"#),
            ("$.o['j j']['k.k']", "[3]"),
            ("$.o[\"j j\"][\"k.k\"]", "[3]"),
            ("$[\"'\"][\"@\"]", "[2]"),
            (r"$['\'']['@']", "[2]"),
            ("$.☺", r#"["A"]"#),
            (r"$['\u263a']", r#"["A"]"#),
            (r"$['\u263A']", r#"["A"]"#),
            ("$.e", "[null]"),
            ("$.nothing", "[]"),
            ("$.a.b", "[]"),
            ("$.a[0].b", "[]"),
            ("$.a.*", r#"["x", {"b": 1}]"#),
            ("$.a[*]", r#"["x", {"b": 1}]"#),
            ("$.o[*, *]", r#"[{"k.k": 3}, {"k.k": 3}]"#),
            ("$['e', 'a'][0]", r#"["x"]"#),
            ("$ .a [0]", r#"["x"]"#),
            ("$\n.a\t[ 0 ]", r#"["x"]"#),
            ("$.e.*", "[]"),
        ],
    );
}

#[test]
fn quoted_names_are_unescaped() {
    for (written, meant) in [
        (r#""\"""#, "\""),
        (r"'\''", "'"),
        (r#"'"'"#, "\""),
        (r"'\\'", "\\"),
        (r"'\/'", "/"),
        (r"'\b\f\n\r\t'", "\u{8}\u{c}\n\r\t"),
        (r"'\uD834\uDD1E'", "𝄞"),
        ("'\u{7f}é'", "\u{7f}é"),
    ] {
        let query = Query::parse(&format!("$[{written}]"), Form::Standard).unwrap();
        let steps = query.singular().unwrap();
        assert_eq!(steps[0].step, Step::Key(meant.to_owned()), "{written}");
    }
}

#[test]
fn indices_and_slices() {
    check(
        "[a, b, c, d, e, f, g]",
        &[
            ("$[1]", r#"["b"]"#),
            ("$[-2]", r#"["f"]"#),
            ("$[7]", "[]"),
            ("$[-8]", "[]"),
            ("$[1:3]", r#"["b", "c"]"#),
            ("$[5:]", r#"["f", "g"]"#),
            ("$[1:5:2]", r#"["b", "d"]"#),
            ("$[5:1:-2]", r#"["f", "d"]"#),
            ("$[::-1]", r#"["g", "f", "e", "d", "c", "b", "a"]"#),
            ("$[:]", r#"["a", "b", "c", "d", "e", "f", "g"]"#),
            ("$[::]", r#"["a", "b", "c", "d", "e", "f", "g"]"#),
            ("$[:2]", r#"["a", "b"]"#),
            ("$[-2:]", r#"["f", "g"]"#),
            ("$[:-5]", r#"["a", "b"]"#),
            ("$[2:1]", "[]"),
            ("$[1:3:0]", "[]"),
            ("$[0:9007199254740991:3]", r#"["a", "d", "g"]"#),
            ("$[:-9007199254740991:-3]", r#"["g", "d", "a"]"#),
            ("$[-1:-9:-3]", r#"["g", "d", "a"]"#),
            ("$[ 1 : 5 : 2 ]", r#"["b", "d"]"#),
            ("$[0, 0, -1]", r#"["a", "a", "g"]"#),
            ("$[0:1, 6]", r#"["a", "g"]"#),
            ("$['a']", "[]"),
        ],
    );
    check("{a: 1}", &[("$[0]", "[]"), ("$[0:1]", "[]")]);
}

#[test]
fn descendants() {
    check(
        r#"{"o": {"j": 1, "k": 2}, "a": [5, 3, [{"j": 4}, {"k": 6}]]}"#,
        &[
            ("$..j", "[1, 4]"),
            ("$..[0]", r#"[5, {"j": 4}]"#),
            ("$..['j', 'k']", "[1, 2, 4, 6]"),
            ("$.o..[*, *]", "[1, 2, 1, 2]"),
            ("$.a..[0, 1]", r#"[5, 3, {"j": 4}, {"k": 6}]"#),
            (
                "$..*",
                r#"[{"j": 1, "k": 2}, [5, 3, [{"j": 4}, {"k": 6}]], 1, 2, 5, 3, [{"j": 4}, {"k": 6}], {"j": 4}, {"k": 6}, 4, 6]"#,
            ),
            ("$..nothing", "[]"),
            ("$.a[2]..j", "[4]"),
        ],
    );
}

#[test]
fn filters() {
    check(
        r#"{"a": [3, 5, 1, 2, 4, 6, {"b": "j"}, {"b": "k"}, {"b": {}}, {"b": "kilo"}],
            "o": {"p": 1, "q": 2, "r": 3, "s": 5, "t": {"u": 6}}, "e": "f"}"#,
        &[
            ("$.a[?@.b == 'kilo']", r#"[{"b": "kilo"}]"#),
            ("$.a[?(@.b == 'kilo')]", r#"[{"b": "kilo"}]"#),
            ("$.a[?@>3.5]", "[5, 4, 6]"),
            (
                "$.a[?@.b]",
                r#"[{"b": "j"}, {"b": "k"}, {"b": {}}, {"b": "kilo"}]"#,
            ),
            (
                "$[?@.*]",
                r#"[[3, 5, 1, 2, 4, 6, {"b": "j"}, {"b": "k"}, {"b": {}}, {"b": "kilo"}], {"p": 1, "q": 2, "r": 3, "s": 5, "t": {"u": 6}}]"#,
            ),
            ("$.a[?@<2 || @.b == \"k\"]", r#"[1, {"b": "k"}]"#),
            ("$.a[?match(@.b, \"[jk]\")]", r#"[{"b": "j"}, {"b": "k"}]"#),
            (
                "$.a[?search(@.b, \"[jk]\")]",
                r#"[{"b": "j"}, {"b": "k"}, {"b": "kilo"}]"#,
            ),
            ("$.o[?@>1 && @<4]", "[2, 3]"),
            ("$.o[?@.u || @.x]", r#"[{"u": 6}]"#),
            ("$.a[?@.b == $.x]", "[3, 5, 1, 2, 4, 6]"),
            ("$.a[?!@.b && @ <= 1]", "[1]"),
            ("$.a[?!(@ < 6) && !(@.b)]", "[6]"),
            (
                "$.a[?@.b != 'j' && @.b]",
                r#"[{"b": "k"}, {"b": {}}, {"b": "kilo"}]"#,
            ),
            (
                "$.a[?count(@.*) == 1]",
                r#"[{"b": "j"}, {"b": "k"}, {"b": {}}, {"b": "kilo"}]"#,
            ),
            ("$.a[?length(@.b) == 4]", r#"[{"b": "kilo"}]"#),
            ("$.a[?length(@.b) == 0]", r#"[{"b": {}}]"#),
            ("$.a[?value(@..b) == 'k']", r#"[{"b": "k"}]"#),
            ("$.a[?@ == 1 || @ == 2 && @ == 3]", "[1]"),
            ("$.a[?(@ == 1 || @ == 2) && @ == 2]", "[2]"),
            ("$.a[ ? @ == 1 , ? @ == 2 ]", "[1, 2]"),
            ("$[?@ == 'f']", r#"["f"]"#),
            ("$..[?@.u == 6]", r#"[{"u": 6}]"#),
            ("$.a[?@ == 1e0]", "[1]"),
            ("$.a[?@ == 10E-1]", "[1]"),
            ("$.a[?@ >= -0 && @ < 2]", "[1]"),
            ("$.a[?@[?@ == 'j']]", r#"[{"b": "j"}]"#),
        ],
    );
}

#[test]
fn values_are_compared_by_type() {
    check(
        r#"[null, true, false, 0, 0.0, "0", "", [], [1], {}, {"a": 1}, "é", 9007199254740993]"#,
        &[
            ("$[?@ == null]", "[null]"),
            ("$[?@ == true]", "[true]"),
            ("$[?@ == 0]", "[0, 0.0]"),
            ("$[?@ == '0']", r#"["0"]"#),
            ("$[?@ == $[8]]", "[[1]]"),
            ("$[?@ == $[10]]", r#"[{"a": 1}]"#),
            ("$[?@ < 'a']", r#"["0", ""]"#),
            ("$[?@ > 'z']", r#"["é"]"#),
            ("$[?@ <= 0]", "[0, 0.0]"),
            ("$[?@ <= null]", "[null]"),
            ("$[?@ >= true]", "[true]"),
            ("$[?@ < true]", "[]"),
            ("$[?length(@) == 1]", r#"["0", [1], {"a": 1}, "é"]"#),
            (
                "$[?length(@) == $.nothing]",
                "[null, true, false, 0, 0.0, 9007199254740993]",
            ),
            ("$[?@ == $[12]]", "[9007199254740993]"),
        ],
    );
}

#[test]
fn regular_expressions_are_those_of_the_standard() {
    check(
        r#"["ab", "abc", "a\nb", "a\rb", "a.b", "a\u2028b", "Ä", "1974-05-11", "[a"]"#,
        &[
            ("$[?match(@, 'a.b')]", r#"["a.b", "a\u2028b"]"#),
            ("$[?match(@, 'a[.]b')]", r#"["a.b"]"#),
            ("$[?match(@, 'a\\\\.b')]", r#"["a.b"]"#),
            ("$[?match(@, 'ab')]", r#"["ab"]"#),
            ("$[?search(@, 'ab')]", r#"["ab", "abc"]"#),
            ("$[?match(@, '\\\\p{Lu}')]", r#"["Ä"]"#),
            ("$[?match(@, '1974-05-..')]", r#"["1974-05-11"]"#),
            ("$[?match(@, '(never')]", "[]"),
            ("$[?match(@, 1)]", "[]"),
            ("$[?search('abc', @)]", r#"["ab", "abc"]"#),
            ("$[?match(@, 'ab|abc')]", r#"["ab", "abc"]"#),
            ("$[?match(@, '^ab.*')]", r#"["ab", "abc"]"#),
        ],
    );
}

#[test]
fn what_is_no_query_is_refused_where_it_is_wrong() {
    for (query, at) in [
        ("", 0),
        (" $", 0),
        ("$ ", 1),
        ("a", 0),
        ("@", 0),
        ("$a", 1),
        ("$.", 2),
        ("$.a.", 4),
        ("$. a", 2),
        ("$..", 3),
        ("$...a", 3),
        ("$.1", 2),
        ("$.a-b", 3),
        ("$.&", 2),
        ("$.'a'", 2),
        ("$[", 2),
        ("$[]", 2),
        ("$[a]", 2),
        ("$['a'", 5),
        ("$['a']]", 6),
        ("$['a',]", 6),
        ("$[,1]", 2),
        ("$['a\u{1}']", 4),
        ("$['a", 2),
        (r"$['\x']", 4),
        (r#"$['\"']"#, 4),
        (r"$['\uD800']", 4),
        (r"$['\uD800\uD800']", 4),
        (r"$['\uDC00']", 4),
        (r"$['\u12']", 5),
        ("$[01]", 2),
        ("$[-0]", 2),
        ("$[-]", 2),
        ("$[1.0]", 3),
        ("$[9007199254740992]", 2),
        ("$[-9007199254740992]", 2),
        ("$[1:01]", 4),
        ("$[1:2:3:4]", 7),
        ("$[1:-0]", 4),
        ("$[?]", 3),
        ("$[?true]", 3),
        ("$[?'a']", 3),
        ("$[?1]", 3),
        ("$[?@.a = 1]", 7),
        ("$[?@.a == ]", 10),
        ("$[?@.* == 1]", 3),
        ("$[?@..a == 1]", 3),
        ("$[?1 == @[0:1]]", 8),
        ("$[?@.a === 1]", 9),
        ("$[?(@.a]", 7),
        ("$[?!@.a == 1]", 4),
        ("$[?!!@.a]", 4),
        ("$[?(@.a) == 1]", 9),
        ("$[?@.a & @.b]", 7),
        ("$[?@.a && ]", 10),
        ("$[?@.a == 01]", 10),
        ("$[?@.a == 1.]", 10),
        ("$[?@.a == .1]", 10),
        ("$[?@.a == 1e]", 10),
        ("$[?@.a == True]", 10),
        ("$[?@.a == [1]]", 10),
        ("$[?count(@.a)]", 3),
        ("$[?count(1) == 1]", 9),
        ("$[?count() == 1]", 3),
        ("$[?count(@.a, @.b) == 1]", 3),
        ("$[?length(@.*) == 1]", 10),
        ("$[?length(@.a)]", 3),
        ("$[?match(@.a, 'b') == true]", 3),
        ("$[?match(@.a)]", 3),
        ("$[?match(@.*, 'b')]", 9),
        ("$[?value(@.a)]", 3),
        ("$[?nothing(@.a)]", 3),
        ("$[?count (@.a) == 1]", 3),
        ("$[?length(match(@.a, 'b')) == 1]", 10),
    ] {
        assert_eq!(ask(query, "{}"), Err(at), "{query}");
    }
}

#[test]
fn the_short_form_leaves_out_what_is_plain() {
    let steps = |text: &str| {
        let query = Query::parse(text, Form::Short).unwrap();
        query.singular().map(|steps| {
            let said = steps.iter().map(|named| &text[named.start..named.end]);
            said.collect::<Vec<_>>().join(" ")
        })
    };
    assert_eq!(steps("a.b-c[0]['d e']").unwrap(), "a b-c [0] ['d e']");
    assert_eq!(steps("$.a.0").unwrap(), "a 0");
    assert_eq!(steps("[0].a").unwrap(), "[0] a");
    assert_eq!(steps("*.a"), None);
    assert_eq!(steps("..a"), None);
    assert_eq!(steps("a[?@.b-c == 1]"), None);
    assert_eq!(steps("$").unwrap(), "");
    for wrong in ["", "a b", "a.", "a..", "a-b=c", "$a"] {
        assert!(Query::parse(wrong, Form::Short).is_err(), "{wrong}");
    }
}

#[test]
fn places_are_in_file_order_and_lead_to_the_nodes() {
    let sources = Sources::default();
    let text = "a: [1, {b: 2}]\nc: {b: 3}\n";
    let root = yaml::load(sources.add("", text), &Limits::default())
        .root
        .unwrap();
    let found = |query: &str| {
        let query = Query::parse(query, Form::Standard).unwrap();
        places(&query, &root, &mut Work::new(MUCH)).unwrap()
    };
    assert_eq!(found("$['c', 'a']"), [vec![0], vec![1]]);
    assert_eq!(found("$..b"), [vec![0, 1, 0], vec![1, 0]]);
    assert_eq!(found("$.a[-1].b"), [vec![0, 1, 0]]);
    assert_eq!(found("$.a[5].b"), Vec::<Place>::new());
    assert_eq!(node_at(&root, &[1, 0]).unwrap().as_text(), Some("3"));
    assert_eq!(node_at(&root, &[1, 1]), None);
}

#[test]
fn a_filter_sees_no_secret() {
    let document = "{secrets: {token: hunter22}, other: {token: hunter22}}";
    check(
        document,
        &[
            ("$[?@.token == 'hunter22']", r#"[{"token": "hunter22"}]"#),
            (
                "$[?search(@.token, 'hunter')]",
                r#"[{"token": "hunter22"}]"#,
            ),
            ("$.other[?$.secrets.token == @]", "[]"),
            ("$[?$.secrets == @ && !@.token]", "[]"),
        ],
    );
}

#[test]
fn no_query_takes_longer_than_allowed() {
    let sources = Sources::default();
    let deep = "[".repeat(90) + &"1,".repeat(2000) + &"]".repeat(90);
    let wide = format!("[{}]", "{a: {b: [1]}},".repeat(20_000));
    for (text, query) in [
        (&deep, "$..*..*..*..*"),
        (&deep, "$..[?@..[?@..[?@ == 2]]]"),
        (&deep, "$..[*, *, *]..[*, *, *]..[*, *, *]..[*, *, *]"),
        (&wide, "$..[*, *, *, *]..[*, *, *, *]"),
        (&wide, "$..[?$..*]"),
        (&wide, "$..[?count($..*) == count(@..*)]"),
        (&wide, "$..[?search(@.a.b[0], @.a.b[0])]"),
        (&wide, "$..[?@ != $]"),
    ] {
        let loaded = yaml::load(sources.add("", text.as_str()), &Limits::default());
        let root = loaded.root.unwrap();
        let asked = Query::parse(query, Form::Standard).unwrap();
        let asked = asked.select(&root, &mut Work::new(200_000));
        assert_eq!(asked.err(), Some(TooMuchWork), "{query}");
    }
}

#[test]
fn a_query_that_is_long_or_deep_is_refused() {
    for query in [
        "$[?".to_owned() + &"(".repeat(3_000),
        "$[?".to_owned() + &"!(".repeat(3_000),
        "$".to_owned() + &"[?@".repeat(2_000),
        "$[?".to_owned() + &"length(".repeat(1_000),
        "$".to_owned() + &"[0]".repeat(20_000),
    ] {
        assert!(Query::parse(&query, Form::Standard).is_err());
    }
    // Large regular expressions fit nothing, and cost nothing.
    let query = "$[?match(@, '((((a{100}){100}){100}){100}){100}')]";
    assert_eq!(ask(query, "[a]"), Ok(Json::Array(vec![])));
}

proptest::proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "[$.a-z\\[\\]'\"*?@=<>&|!(),:0-9 \\\\u-]{0,40}") {
        for form in [Form::Standard, Form::Short] {
            if let Ok(query) = Query::parse(&text, form) {
                let sources = Sources::default();
                let text = "{a: [1, {b: 2}], c: x}";
                let root = yaml::load(sources.add("", text), &Limits::default()).root.unwrap();
                let _ = query.select(&root, &mut Work::new(10_000));
            }
        }
    }

    #[test]
    fn a_standard_query_means_the_same_in_the_short_form(text in "\\$[.a-b\\[\\]'*?@=0-9:]{0,12}") {
        if let Ok(query) = Query::parse(&text, Form::Standard) {
            let short = Query::parse(&text, Form::Short).unwrap();
            proptest::prop_assert_eq!(format!("{query:?}"), format!("{short:?}"));
        }
    }
}
