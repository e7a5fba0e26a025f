#![allow(clippy::unwrap_used, clippy::expect_used)]

use pinnace_core::text::{SecretName, Text};
use proptest::prelude::*;

use super::*;
use crate::source::Sources;
use crate::yaml::{self, Limits};

type Values<'a> = &'a [(&'a str, &'a str)];

fn render(text: &str, syntax: Syntax, values: Values<'_>, manner: Manner) -> Rendered {
    parse(text, syntax).render(
        |placeholder| {
            values
                .iter()
                .find(|(name, _)| *name == placeholder.name)
                .map(|(_, value)| Text::from(*value))
        },
        manner,
    )
}

fn aml(text: &str, values: Values<'_>) -> Rendered {
    render(text, Syntax::V1, values, Manner::Aml)
}

fn show(text: &Text) -> String {
    text.render(|secret| format!("<{secret}>"))
}

fn words(rendered: &Rendered) -> Vec<String> {
    rendered.words.iter().map(show).collect()
}

fn line(rendered: &Rendered) -> String {
    show(&rendered.line)
}

const HEMERA: &str = "run.bat [-_T {inputs.T}] [-_V {inputs.V}] %CLUSTER%={inputs.C} -JobQueue {inputs.Q} -_M {outputs.o1}";

/// A template, its values, the line and the words that come of it.
type Vector<'a> = (&'a str, Values<'a>, &'a str, &'a [&'a str]);

/// What the official local resolver makes of a template, where it is the same but for blanks.
#[test]
fn the_official_vectors_hold() {
    let cluster = [("C", "yarn_prod_bn2"), ("Q", "AdsCP"), ("o1", "/o/1")];
    let trained = [("T", "/t"), cluster[0], cluster[1], cluster[2]];
    let vectors: &[Vector<'_>] = &[
        (
            HEMERA,
            &cluster,
            "run.bat %CLUSTER%=yarn_prod_bn2 -JobQueue AdsCP -_M /o/1",
            &[
                "run.bat",
                "%CLUSTER%=yarn_prod_bn2",
                "-JobQueue",
                "AdsCP",
                "-_M",
                "/o/1",
            ],
        ),
        (
            HEMERA,
            &trained,
            "run.bat -_T /t %CLUSTER%=yarn_prod_bn2 -JobQueue AdsCP -_M /o/1",
            &[
                "run.bat",
                "-_T",
                "/t",
                "%CLUSTER%=yarn_prod_bn2",
                "-JobQueue",
                "AdsCP",
                "-_M",
                "/o/1",
            ],
        ),
        (r#"a "[{inputs.T}]" b"#, &[], r#"a "" b"#, &["a", "", "b"]),
        (
            r#"a -x "[{inputs.T}]" b"#,
            &[("T", "v w")],
            r#"a -x "v w" b"#,
            &["a", "-x", "v w", "b"],
        ),
        ("a [ {inputs.args} ]", &[], "a", &["a"]),
        (
            "a [ {inputs.args} ]",
            &[("args", "x y")],
            "a  'x y'",
            &["a", "x y"],
        ),
        (
            "a [-x {inputs.p} -y {inputs.q}]",
            &[("q", "1")],
            "a",
            &["a"],
        ),
        (
            "a [b [-x {inputs.p}] c]",
            &[],
            "a [b c]",
            &["a", "[b", "c]"],
        ),
        (
            "a [b [-x {inputs.p}] c]",
            &[("p", "1")],
            "a [b -x 1 c]",
            &["a", "[b", "-x", "1", "c]"],
        ),
        ("a []", &[], "a []", &["a", "[]"]),
        ("k=[{inputs.p}]", &[], "k=", &["k="]),
        ("k=[{inputs.p}]", &[("p", "")], "k=", &["k="]),
        (
            "[-o {outputs.y}] z",
            &[("y", "/y")],
            "-o /y z",
            &["-o", "/y", "z"],
        ),
        (
            "a {inputs.p }",
            &[("p", "1")],
            "a {inputs.p }",
            &["a", "{inputs.p", "}"],
        ),
        (
            "a { inputs.p}",
            &[("p", "1")],
            "a { inputs.p}",
            &["a", "{", "inputs.p}"],
        ),
        (
            "a [-n {inputs.n}]",
            &[("n", "0")],
            "a -n 0",
            &["a", "-n", "0"],
        ),
        (
            "a [-n {inputs.n}]",
            &[("n", "False")],
            "a -n False",
            &["a", "-n", "False"],
        ),
    ];
    for (template, values, expected, argv) in vectors {
        let rendered = aml(template, values);
        assert_eq!(line(&rendered), *expected, "{template}");
        assert_eq!(words(&rendered), *argv, "{template}");
    }
}

/// The vectors in which the official local resolver does what nobody wants, and what we do.
#[test]
fn the_deliberate_differences_hold() {
    let vectors: &[Vector<'_>] = &[
        // Official: an error, for only the first placeholder of a group decides.
        (
            "a [-x {inputs.p} -y {inputs.q}]",
            &[("p", "1")],
            "a",
            &["a"],
        ),
        // Official: `a --flag b`.
        ("a [--flag] b", &[], "a [--flag] b", &["a", "[--flag]", "b"]),
        // Official: `a [lit] {{x}}`.
        (
            "a [[lit]] {{x}}",
            &[],
            "a [lit] {x}",
            &["a", "[lit]", "{x}"],
        ),
        // Official: `{1}`.
        (
            "a {{inputs.p}}",
            &[("p", "1")],
            "a {inputs.p}",
            &["a", "{inputs.p}"],
        ),
        // Official: `B B`, for a value is expanded again.
        (
            "{inputs.p} {inputs.q}",
            &[("p", "{inputs.q}"), ("q", "B")],
            "'{inputs.q}' B",
            &["{inputs.q}", "B"],
        ),
        // Official: `if  -z $A ; then b; fi`.
        (
            "if [ -z $A ]; then b; fi",
            &[],
            "if [ -z $A ]; then b; fi",
            &["if", "[", "-z", "$A", "];", "then", "b;", "fi"],
        ),
        // Official: `cut -d "," f`.
        (
            r#"cut -d "[,]" f"#,
            &[],
            r#"cut -d "[,]" f"#,
            &["cut", "-d", "[,]", "f"],
        ),
        // Official: `a -x `, in which the word is lost.
        (
            "a [-x {inputs.p}]",
            &[("p", "")],
            r#"a -x """#,
            &["a", "-x", ""],
        ),
    ];
    for (template, values, expected, argv) in vectors {
        let rendered = aml(template, values);
        assert_eq!(line(&rendered), *expected, "{template}");
        assert_eq!(words(&rendered), *argv, "{template}");
    }
}

#[test]
fn version_2_has_its_own_placeholders_and_groups() {
    let template = "${{inputs.p}} $[[--x ${{ inputs.q }}]] [ -z $A ] {a}";
    let without = render(template, Syntax::V2, &[("p", "1")], Manner::Aml);
    assert_eq!(line(&without), "1 [ -z $A ] {a}");
    let with = render(template, Syntax::V2, &[("p", "1"), ("q", "2")], Manner::Aml);
    assert_eq!(line(&with), "1 --x 2 [ -z $A ] {a}");
    assert!(parse(template, Syntax::V2).problems.is_empty());
}

#[test]
fn aether_keeps_the_flag_with_an_empty_word() {
    let cluster = [("C", "yarn_prod_bn2"), ("Q", "AdsCP"), ("o1", "/o/1")];
    let aether = |template: &str| render(template, Syntax::V1, &cluster, Manner::Aether);
    assert_eq!(
        line(&aether(HEMERA)),
        r#"run.bat -_T "" -_V "" %CLUSTER%=yarn_prod_bn2 -JobQueue AdsCP -_M /o/1"#
    );
    assert_eq!(
        words(&aether(HEMERA))[..5],
        ["run.bat", "-_T", "", "-_V", ""]
    );
    assert_eq!(line(&aether(r#"a -x "[{inputs.T}]" b"#)), r#"a -x "" b"#);
    assert_eq!(words(&aether("a [--x={inputs.T}] b")), ["a", "--x=", "b"]);
    assert_eq!(words(&aether("a [{inputs.T}] b")), ["a", "", "b"]);
}

#[test]
fn a_value_is_quoted_for_the_place_where_it_stands() {
    let value = r#"a'b"c $HOME `id` \"#;
    let values = [("p", value)];
    for (template, expected) in [
        ("x {inputs.p}", r#"x 'a'\''b"c $HOME `id` \'"#),
        (r#"x "{inputs.p}""#, r#"x "a'b\"c \$HOME \`id\` \\""#),
        ("x '{inputs.p}'", r#"x 'a'\''b"c $HOME `id` \'"#),
        (
            r#"x "$(y {inputs.p})""#,
            r#"x "$(y 'a'\''b"c $HOME `id` \')""#,
        ),
    ] {
        assert_eq!(line(&aml(template, &values)), expected, "{template}");
    }
}

#[test]
fn nothing_of_the_author_changes_a_value() {
    for (template, value, expected) in [
        ("x \\{inputs.p}", "a b", r"x \\'a b'"),
        ("x ${inputs.p}", "HOME", r"x \$HOME"),
        ("x $A{inputs.p}", "B", "x $A'B'"),
        ("x \"$A{inputs.p}\"", "B", "x \"$A\"\"B\""),
        ("x {inputs.p}>y", "2", "x 2\"\">y"),
        ("{inputs.p} x", "if", "'if' x"),
        ("x \"${A:-{inputs.p}}\"", "}", "x \"${A:-\\}}\""),
        ("x # {inputs.p}", "a\nb", "x # {inputs.p}"),
    ] {
        assert_eq!(
            line(&aml(template, &[("p", value)])),
            expected,
            "{template}"
        );
    }
}

#[test]
fn secrets_and_paths_stay_names_outside_of_the_quotes_of_others() {
    let template = parse(
        r#"x {inputs.a} "{inputs.a}" '{inputs.a}' "a {inputs.p}/b" "{inputs.p}" '{inputs.p}'c"#,
        Syntax::V1,
    );
    let mut secret = Text::from("it's ");
    secret.push_secret(SecretName("token".into()));
    let mut path = Text::default();
    path.push_path("/mnt/p");
    let value = |placeholder: &Placeholder<'_>| {
        Some(match placeholder.name {
            "a" => secret.clone(),
            _ => path.clone(),
        })
    };
    let rendered = template.render(value, Manner::Aml);
    assert_eq!(
        line(&rendered),
        r#"x 'it'\''s ''<token>' "it's "'<token>' 'it'\''s ''<token>' "a "/mnt/p"/b" /mnt/p /mnt/pc"#
    );
    assert_eq!(
        words(&rendered),
        [
            "x",
            "it's <token>",
            "it's <token>",
            "it's <token>",
            "a /mnt/p/b",
            "/mnt/p",
            "/mnt/pc"
        ]
    );
    assert_eq!(rendered.words[5], path);
}

#[test]
fn live_text_is_told_from_plain_words() {
    for plain in [
        "a -b c=d 'x y' \"z\" %CLUSTER%=q",
        "a \\\n b\n",
        r"a \$x '$y'",
    ] {
        assert!(!aml(plain, &[]).is_live, "{plain}");
    }
    for live in [
        "a | b", "a $x", "a \"$x\"", "a *.txt", "X=1 a", "if a", "a\nb", "a # b", "~/a", "a `b`",
    ] {
        assert!(aml(live, &[]).is_live, "{live}");
    }
}

#[test]
fn oddities_are_found() {
    let faults = |text: &str, syntax: Syntax| -> Vec<(String, Fault)> {
        let template = parse(text, syntax);
        let slice = |problem: &Problem| template.slice(&problem.range).to_owned();
        let problems = template.problems.iter();
        problems
            .map(|problem| (slice(problem), problem.fault.clone()))
            .collect()
    };
    let foreign = |meant: &str| Fault::Foreign {
        meant: meant.into(),
    };
    let near = |meant: &str| Fault::NearPlaceholder {
        meant: Some(meant.into()),
    };
    for (text, syntax, blamed, fault) in [
        (
            "a ${{inputs.x}}",
            Syntax::V1,
            "${{inputs.x}}",
            foreign("{inputs.x}"),
        ),
        (
            "a {outputs.x}",
            Syntax::V2,
            "{outputs.x}",
            foreign("${{outputs.x}}"),
        ),
        (
            "a [--x ${{inputs.x}}]",
            Syntax::V2,
            "[--x ${{inputs.x}}]",
            foreign("$[[--x ${{inputs.x}}]]"),
        ),
        (
            "a { inputs.x}",
            Syntax::V1,
            "{ inputs.x}",
            near("{inputs.x}"),
        ),
        ("a {input.x}", Syntax::V1, "{input.x}", near("{inputs.x}")),
        (
            "a ${{parent.inputs.x}}",
            Syntax::V2,
            "${{parent.inputs.x}}",
            Fault::UnknownBinding,
        ),
        ("a [--x] b", Syntax::V1, "[--x]", Fault::NoPlaceholder),
        ("a $[[--x]] b", Syntax::V2, "$[[--x]]", Fault::NoPlaceholder),
        (
            "a [--x [-y {inputs.p}]]",
            Syntax::V1,
            "[--x [-y {inputs.p}]]",
            Fault::Nested { inner: 7..22 },
        ),
        ("a [--x {inputs.p}", Syntax::V1, "[", Fault::Unpaired),
        ("a --x {inputs.p}]", Syntax::V1, "]", Fault::Unpaired),
        (
            "if [ -z {inputs.p} ]; then",
            Syntax::V1,
            "[ -z {inputs.p} ]",
            Fault::TestAsGroup,
        ),
        (
            "if [[ -n $A ]]; then",
            Syntax::V1,
            "[[ -n $A ]]",
            Fault::TestAsEscape,
        ),
        (
            "a `b {inputs.p}`",
            Syntax::V1,
            "{inputs.p}",
            Fault::Unquotable(Unquotable::Backticks),
        ),
        ("a 'b", Syntax::V1, "'", Fault::OpenQuote),
        (
            "a <<E\n{inputs.p}\nE",
            Syntax::V1,
            "{inputs.p}",
            Fault::Unquotable(Unquotable::HereDocument),
        ),
    ] {
        assert_eq!(faults(text, syntax), [(blamed.to_owned(), fault)], "{text}");
    }
    for fine in [
        "a [ -z $A ] [0] {x} {{a}} [[b]]",
        HEMERA,
        "a <<<x {inputs.p}",
        "jq '.a[0]'",
        "if [[[[ -n $A ]]]]; then b; fi",
    ] {
        assert_eq!(faults(fine, Syntax::V1), [], "{fine}");
    }
}

#[test]
fn references_are_told_with_their_groups() {
    let template = parse("a {inputs.A}{outputs.B} [-c {inputs.c.d}]", Syntax::V1);
    let found: Vec<_> = template
        .references()
        .map(|found| {
            (
                found.scope,
                found.name,
                found.group,
                template.slice(&found.name_range),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (Scope::Inputs, "A", None, "A"),
            (Scope::Outputs, "B", None, "B"),
            (Scope::Inputs, "c.d", Some(0), "c.d"),
        ]
    );
}

#[test]
fn pieces_are_found_in_every_style_of_scalar() {
    for file in [
        "command: run {inputs.a}\n  {inputs.b} c\n",
        "command: 'it''s {inputs.a}\n\n  {inputs.b}'\n",
        "command: \"a \\\"q\\\" {inputs.a} \\\n  {inputs.b}\"\n",
        "command: |\n  # {inputs.a}\n    {inputs.b}\n",
        "command: >- # {inputs.b}\n  ü {inputs.a}\n  {inputs.b}\n",
    ] {
        let sources = Sources::default();
        let source = sources.add("component.yaml", file);
        let document = yaml::load(source, &Limits::default());
        let node = &document
            .root
            .as_ref()
            .unwrap()
            .get("command")
            .unwrap()
            .value;
        let site = Site::new(node, &sources).unwrap();
        let template = parse(node.as_text().unwrap(), Syntax::V1);
        let found: Vec<_> = template
            .references()
            .map(|found| sources.slice(site.exact(&found.range).unwrap()))
            .collect();
        assert_eq!(found, ["{inputs.a}", "{inputs.b}"], "{file}");
    }
}

#[test]
fn pieces_are_found_far_into_a_long_text() {
    let filler = "word ".repeat(700);
    for (start, end) in [
        ("", ""),
        ("'it''s ", "'"),
        ("\"say \\\"x\\\" ", "\""),
        (">-\n  ", ""),
    ] {
        let file = format!("command: {start}{filler}{{inputs.a}} {filler}{{inputs.b}}{end}\n");
        let sources = Sources::default();
        let document = yaml::load(sources.add("component.yaml", file), &Limits::default());
        let node = &document
            .root
            .as_ref()
            .unwrap()
            .get("command")
            .unwrap()
            .value;
        let site = Site::new(node, &sources).unwrap();
        let template = parse(node.as_text().unwrap(), Syntax::V1);
        let exact = |found: &Placeholder<'_>| sources.slice(site.exact(&found.range).unwrap());
        let found: Vec<_> = template.references().map(exact).collect();
        assert_eq!(found, ["{inputs.a}", "{inputs.b}"], "{start}");
    }
}

#[test]
fn behind_an_escape_that_cannot_be_followed_the_whole_text_is_meant() {
    let filler = "word ".repeat(700);
    let file = format!("command: \"{{inputs.a}} {filler} \\u0041 {filler} {{inputs.b}}\"\n");
    let sources = Sources::default();
    let document = yaml::load(sources.add("component.yaml", file), &Limits::default());
    let node = &document
        .root
        .as_ref()
        .unwrap()
        .get("command")
        .unwrap()
        .value;
    let site = Site::new(node, &sources).unwrap();
    let template = parse(node.as_text().unwrap(), Syntax::V1);
    let spans: Vec<_> = template
        .references()
        .map(|found| site.span(&found.range))
        .collect();
    assert_eq!(sources.slice(spans[0]), "{inputs.a}");
    assert_eq!(spans[1], site.whole());
}

proptest! {
    #[test]
    fn no_text_makes_it_panic_and_no_literal_is_lost(
        text in r#"([a-c ${}\[\]'"\\|#`<\n]|\{inputs\.a\}|\$\{\{inputs\.a\}\}|\$\[\[|\]\]){0,40}"#,
        v2 in any::<bool>(),
        value in proptest::option::of(".{0,10}"),
    ) {
        let syntax = if v2 { Syntax::V2 } else { Syntax::V1 };
        let template = parse(&text, syntax);
        let mut at = 0;
        for part in &template.parts {
            let range = match part {
                Part::Literal(range) => range,
                Part::Placeholder(placeholder) => &placeholder.range,
                Part::Group(group) => &group.range,
            };
            prop_assert!(at <= range.start && range.start < range.end);
            at = range.end;
        }
        prop_assert!(at <= text.len());
        for manner in Manner::ALL {
            template.render(|_| value.as_deref().map(Text::from), manner);
        }
    }
}
