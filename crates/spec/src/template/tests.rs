#![allow(clippy::unwrap_used, clippy::expect_used)]

use pinnace_core::text::{Piece, SecretName};
use proptest::prelude::*;

use super::*;
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{Sources, Span};
use crate::yaml::{Entry, Key, Map, Node, Scalar, Style, Value};

fn scalar(text: &'static str, style: Style) -> Node<'static> {
    let scalar = Scalar {
        text: text.into(),
        style,
    };
    Node::new(Span::default(), Value::Scalar(scalar))
}

fn plain(text: &'static str) -> Node<'static> {
    scalar(text, Style::Plain)
}

fn quoted(text: &'static str) -> Node<'static> {
    scalar(text, Style::DoubleQuoted)
}

fn list<const N: usize>(items: [Node<'static>; N]) -> Node<'static> {
    Node::new(Span::default(), Value::List(items.into()))
}

fn map<const N: usize>(entries: [(&'static str, Node<'static>); N]) -> Node<'static> {
    let entries = entries.map(|(key, value)| Entry {
        key: Key {
            text: key.into(),
            span: Span::default(),
        },
        value,
        merged: None,
    });
    let map = Map {
        entries: entries.into(),
    };
    Node::new(Span::default(), Value::Map(map))
}

fn parameters() -> Node<'static> {
    map([
        ("model", plain("resnet20")),
        ("batchsize", plain("32")),
        ("x-y", plain("dash")),
        ("x y", plain("space")),
        ("version", plain("1.0")),
        ("zero", plain("0")),
        ("no", plain("false")),
        ("empty", quoted("")),
        ("nothing", plain("~")),
        ("absent", plain("")),
        ("shell", plain("a && b <c> \"d\" $HOME")),
        (
            "list",
            list([plain("a"), plain("1.0"), plain("~"), quoted("")]),
        ),
        (
            "nested",
            map([("b", list([plain("p"), map([("z", plain("deep"))])]))]),
        ),
        ("a.b", plain("dot")),
        ("0", plain("zeroth")),
        ("length", plain("12 m")),
        ("again", plain("<% $parameters.model %>")),
        ("itself", plain("<% $parameters.itself %>")),
        ("header", plain("Bearer <% $secrets.token %>!")),
        (
            "headers",
            list([plain("<% $secrets.keys[1] %>"), plain("b")]),
        ),
        (
            "both",
            plain("<% $secrets.token %> <% $parameters.model %>"),
        ),
        ("typo", plain("<% $secrets.tokn %>")),
    ])
}

fn secrets() -> Node<'static> {
    map([
        ("token", plain("s3cr3t-value")),
        ("registry", map([("password", plain("hunter22"))])),
        ("keys", list([plain("first-key"), plain("second-key")])),
        ("nothing", plain("~")),
    ])
}

fn data() -> Node<'static> {
    map([
        ("name", plain("cifar10")),
        ("uri", list([plain("https://a"), plain("https://b")])),
        ("custom", plain("kept")),
    ])
}

struct Owner<'d> {
    own: &'d Node<'d>,
    required: &'d Node<'d>,
}

impl<'d> This<'d> for Owner<'d> {
    fn find(&self, key: &str) -> Lookup<'d> {
        let value = |node: &'d Node<'d>| node.get(key).map(|entry| &entry.value);
        match (value(self.own), value(self.required)) {
            (Some(node), _) => Lookup::Own(node),
            (None, Some(_)) if key == "both" => Lookup::Conflict(vec!["nfs-1", "nfs-2"]),
            (None, Some(node)) => Lookup::Inherited {
                node,
                from: "nfs-storage-1",
            },
            (None, None) => Lookup::Missing,
        }
    }

    fn keys(&self) -> Vec<&'d str> {
        let keys = |node: &'d Node<'d>| node.as_map().unwrap().entries.iter();
        keys(self.own)
            .chain(keys(self.required))
            .map(|entry| &*entry.key.text)
            .collect()
    }
}

/// Renders with every scope filled; secrets are shown as `{name}`.
fn shown(text: &str, compat: bool) -> (String, Vec<Fault>) {
    let (parameters, secrets, data) = (parameters(), secrets(), data());
    let own = map([
        ("name", plain("mnist")),
        (
            "parameters",
            map([("inner", plain("in")), ("name", plain("other"))]),
        ),
        ("depth", map([("a", plain("1"))])),
    ]);
    let required = map([
        ("name", plain("nfs-storage-1")),
        ("mountPoint", plain("/mnt/nfs-storage-1")),
        ("inner", plain("far")),
        ("both", plain("b")),
    ]);
    let owner = Owner {
        own: &own,
        required: &required,
    };
    let scopes = Scopes {
        parameters: Some(&parameters),
        secrets: Some(&secrets),
        data: Some(&data),
        script: None,
        output: None,
        this: Some(&owner),
        compat,
    };
    let rendered = render(&parse(text), &scopes, usize::MAX);
    let faults = rendered.problems.into_iter().map(|problem| problem.fault);
    (
        rendered.text.render(|name| format!("{{{name}}}")),
        faults.collect(),
    )
}

fn good(text: &str) -> String {
    let (shown, faults) = shown(text, false);
    assert_eq!(faults, [], "{text}");
    shown
}

fn only_fault(text: &str) -> Fault {
    let (shown, faults) = shown(text, false);
    assert_eq!(shown, text, "a tag that is wrong stays as written");
    assert_eq!(faults.len(), 1, "{text}: {faults:?}");
    faults.into_iter().next().unwrap()
}

/// The diagnostics of a text that stands alone in a file, written as `written`.
fn diagnostics(written: &str, decoded: &str, compat: bool) -> Vec<(Diagnostic, String)> {
    let (parameters, secrets, data) = (parameters(), secrets(), data());
    let scopes = Scopes {
        parameters: Some(&parameters),
        secrets: Some(&secrets),
        data: Some(&data),
        compat,
        ..Scopes::default()
    };
    let sources = Sources::default();
    let source = sources.add("job.yaml", format!("- {written}\n"));
    let site = Site::new(&sources, Span::new(source.id(), 2, 2 + written.len()));
    let template = parse(decoded);
    let problems = render(&template, &scopes, usize::MAX).problems;
    problems
        .iter()
        .map(|problem| {
            let diagnostic = diagnose(&template, problem, &site);
            let blamed = sources.slice(diagnostic.span).to_owned();
            (diagnostic, blamed)
        })
        .collect()
}

fn diagnostic(text: &str) -> Diagnostic {
    let (diagnostic, _) = diagnostics(text, text, false).remove(0);
    diagnostic
}

/// Message and help of the only diagnostic.
fn words(text: &str) -> String {
    let diagnostic = diagnostic(text);
    format!("{} | {}", diagnostic.message, diagnostic.help.join(" | "))
}

#[test]
fn white_space_in_tags_is_optional() {
    assert_eq!(good("<%$parameters.model%>"), "resnet20");
    assert_eq!(good("<%\n  $parameters.model\t%>"), "resnet20");
    assert_eq!(good("<% $parameters . model %>"), "resnet20");
}

#[test]
fn names_may_hold_dashes_and_spaces() {
    assert_eq!(good("<% $parameters.x-y %>"), "dash");
    assert_eq!(good("<% $parameters.x y %>"), "space");
}

#[test]
fn an_index_is_written_with_brackets_or_a_dot() {
    assert_eq!(good("<% $data.uri[0] %>"), "https://a");
    assert_eq!(good("<% $data.uri.1 %>"), "https://b");
    assert_eq!(good("<% $data.uri[ 1 ] %>"), "https://b");
    assert_eq!(good("<% $parameters.nested.b[1].z %>"), "deep");
    assert_eq!(good("<% $parameters.0 %>"), "zeroth");
}

#[test]
fn a_quoted_name_may_stand_in_brackets() {
    assert_eq!(good("<% $parameters[\"a.b\"] %>"), "dot");
    assert_eq!(good("<% $parameters['x y'] %>"), "space");
}

#[test]
fn scalars_render_as_written() {
    assert_eq!(good("<% $parameters.version %>"), "1.0");
    assert_eq!(good("<% $parameters.zero %>"), "0");
    assert_eq!(good("<% $parameters.no %>"), "false");
    assert_eq!(good("[<% $parameters.empty %>]"), "[]");
}

#[test]
fn values_are_not_escaped() {
    assert_eq!(good("<% $parameters.shell %>"), "a && b <c> \"d\" $HOME");
}

#[test]
fn lists_join_with_commas() {
    assert_eq!(good("<% $data.uri %>"), "https://a,https://b");
    assert_eq!(good("<% $parameters.list %>"), "a,1.0,,");
}

#[test]
fn length_is_that_of_a_list_unless_it_is_a_key() {
    assert_eq!(good("<% $data.uri.length %>"), "2");
    assert_eq!(good("<% $parameters.length %>"), "12 m");
    assert!(matches!(
        only_fault("<% $data.uri.length.x %>"),
        Fault::NoParts { .. }
    ));
}

#[test]
fn a_prerequisite_shows_all_its_keys() {
    assert_eq!(good("<% $data.name %>/<% $data.custom %>"), "cifar10/kept");
}

#[test]
fn secrets_stay_names() {
    assert_eq!(good("a<% $secrets.token %>b"), "a{token}b");
    assert_eq!(
        good("<% $secrets.registry.password %>"),
        "{registry.password}"
    );
    assert_eq!(good("<% $secrets.keys %>"), "{keys.0},{keys.1}");
    assert_eq!(good("<% $secrets.keys[1] %>"), "{keys.1}");
    assert!(matches!(
        only_fault("<% $secrets.nothing %>"),
        Fault::Null { .. }
    ));
}

#[test]
fn secret_names_in_text_are_those_of_the_leaves() {
    let secrets = secrets();
    let leaves: Vec<String> = secret_leaves(&secrets)
        .into_iter()
        .map(|(SecretName(name), _)| name)
        .collect();
    assert_eq!(
        leaves,
        ["token", "registry.password", "keys.0", "keys.1", "nothing"]
    );
}

#[test]
fn no_secret_value_is_shown_by_debug() {
    let secrets = secrets();
    let scopes = Scopes {
        secrets: Some(&secrets),
        ..Scopes::default()
    };
    let template = parse("<% $secrets.token %> <% $secrets.registry %> <% $secrets.tokn %>");
    let rendered = render(&template, &scopes, usize::MAX);
    let debug = format!("{scopes:?} {rendered:?}");
    assert!(
        !debug.contains("s3cr3t") && !debug.contains("hunter22"),
        "{debug}"
    );
}

#[test]
fn this_is_own_first_and_tells_what_is_inherited() {
    assert_eq!(good("<% this.name %>"), "mnist");
    assert_eq!(good("<% this.mountPoint %>/x"), "/mnt/nfs-storage-1/x");
    assert_eq!(
        good("<% this.parameters.mountPoint %>"),
        "/mnt/nfs-storage-1"
    );
    assert_eq!(good("<% this.inner %>"), "in");
    assert_eq!(good("<% this.parameters.inner %>"), "in");
    assert_eq!(good("<% this.depth.a %>"), "1");
    assert!(matches!(
        only_fault("<% this.both %>"),
        Fault::Conflict { owners, .. } if owners == ["nfs-1", "nfs-2"]
    ));
    assert!(matches!(
        only_fault("<% this.mountpont %>"),
        Fault::Missing { meant: Some(meant), .. } if meant == "mountPoint"
    ));
}

#[test]
fn uses_tell_which_value_was_taken() {
    let (parameters, data) = (parameters(), data());
    let scopes = Scopes {
        parameters: Some(&parameters),
        data: Some(&data),
        ..Scopes::default()
    };
    let template = parse("<% nope.x %> <% $data.uri[1] %> <% $parameters.model %>");
    let rendered = render(&template, &scopes, usize::MAX);
    let uses: Vec<_> = rendered
        .uses
        .iter()
        .map(|used| {
            (
                used.tag,
                used.scope,
                &*used.path,
                used.node.as_text(),
                used.from,
            )
        })
        .collect();
    assert_eq!(
        uses,
        [
            (1, Scope::Data, "uri.1", Some("https://b"), None),
            (2, Scope::Parameters, "model", Some("resnet20"), None),
        ]
    );
    assert_eq!(rendered.uses[0].range, 13..31);
}

#[test]
fn values_are_never_rendered_twice() {
    for (name, value) in [
        ("again", "<% $parameters.model %>"),
        ("itself", "<% $parameters.itself %>"),
        ("both", "{token} <% $parameters.model %>"),
        ("typo", "<% $secrets.tokn %>"),
    ] {
        let (text, faults) = shown(&format!("<% $parameters.{name} %>"), false);
        assert_eq!(text, value);
        let path = format!("$parameters.{name}");
        assert!(matches!(faults.as_slice(), [Fault::TagInValue { path: found }] if *found == path));
    }
}

#[test]
fn a_secret_that_a_value_names_is_put_in_its_place() {
    let (text, faults) = shown("<% $parameters.header %> <% $parameters.headers %>", false);
    assert_eq!(text, "Bearer {token}! {keys.1},b");
    assert_eq!(faults, []);
}

#[test]
fn compat_keeps_tags_that_find_nothing_in_upstreams_form() {
    for (text, kept) in [
        ("<%$parameters.nope%>", "<% $parameters.nope %>"),
        ("<% $data.uri[9] %>", "<% $data.uri.9 %>"),
        ("<% $parameters.nothing %>", "<% $parameters.nothing %>"),
        ("<% $script.name %>", "<% $script.name %>"),
        ("<%foo%>", "<% foo %>"),
    ] {
        assert_eq!(shown(text, true).0, kept);
        let (diagnostic, _) = diagnostics(text, text, true).remove(0);
        assert_eq!(diagnostic.severity, Severity::Warning, "{text}");
        assert_eq!(
            diagnostics(text, text, false)[0].0.severity,
            Severity::Error
        );
    }
}

#[test]
fn compat_does_not_excuse_what_upstream_would_garble() {
    for text in [
        "<%# $parameters.model %>x<%/ $parameters.model %>",
        "<% $parameters.nested %>",
    ] {
        let (diagnostic, _) = diagnostics(text, text, true).remove(0);
        assert_eq!(diagnostic.severity, Severity::Error, "{text}");
    }
}

#[test]
fn what_other_template_languages_have_is_refused_by_name() {
    for (text, mustache) in [
        ("<%# x %>", Mustache::Section),
        ("<%^x%>", Mustache::Inverted),
        ("<%/ x %>", Mustache::SectionEnd),
        ("<%> x %>", Mustache::Partial),
        ("<%& x %>", Mustache::Unescaped),
        ("<% & x %>", Mustache::Unescaped),
        ("<%{ x }%>", Mustache::Triple),
        ("<%= a b =%>", Mustache::Delimiters),
        ("<%! x %>", Mustache::Comment),
    ] {
        assert_eq!(only_fault(text), Fault::Unsupported(mustache));
        assert!(words(text).contains("`<%"), "{}", words(text));
    }
}

#[test]
fn a_tag_that_meets_another_was_never_closed() {
    let text = "a <% $parameters.model b <% $parameters.model %> printf '<%s>'";
    let (shown, faults) = shown(text, false);
    assert_eq!(shown, "a <% $parameters.model b resnet20 printf '<%s>'");
    assert_eq!(faults, [Fault::Unclosed, Fault::Unclosed]);
    let blamed: Vec<_> = diagnostics(text, text, false)
        .into_iter()
        .map(|(diagnostic, blamed)| (diagnostic.span.start, blamed))
        .collect();
    assert_eq!(blamed, [(4, "<%".to_owned()), (59, "<%".to_owned())]);
}

#[test]
fn paths_that_cannot_be_read_say_why() {
    assert_eq!(only_fault("<% %>"), Fault::Empty);
    for (text, bad) in [
        ("<% $parameters. %>", BadPath::EmptyName),
        ("<% $parameters..x %>", BadPath::EmptyName),
        ("<% .x %>", BadPath::EmptyName),
        ("<% $data.uri[0 %>", BadPath::OpenBracket),
        ("<% $data.uri['a %>", BadPath::OpenBracket),
        ("<% $data.uri['a' %>", BadPath::OpenBracket),
        ("<% $data.uri[x] %>", BadPath::BareBracket),
        ("<% $data.uri[-1] %>", BadPath::BareBracket),
        ("<% $data.uri[] %>", BadPath::BareBracket),
        ("<% $data.uri[0]x %>", BadPath::AfterBracket),
    ] {
        assert_eq!(only_fault(text), Fault::BadPath(bad), "{text}");
    }
}

#[test]
fn a_wrong_scope_suggests_the_right_one() {
    for (text, right) in [
        ("<% parameters.x %>", "$parameters"),
        ("<% $parameter.x %>", "$parameters"),
        ("<% $Secrets.x %>", "$secrets"),
        ("<% $this.x %>", "this"),
        ("<% secret.x %>", "$secrets"),
        ("<% datta.x %>", "$data"),
    ] {
        assert!(
            matches!(only_fault(text), Fault::UnknownScope { meant: Some((scope, _)), .. } if scope.name() == right),
            "{text}"
        );
    }
    insta::assert_snapshot!(words("<% foo %>"), @"there is no `foo` to take a value from | a tag starts with one of `$parameters`, `$secrets`, `$data`, `$script`, `$output`, `this`");
}

#[test]
fn messages_name_the_path_and_the_way_out() {
    insta::assert_snapshot!(words("<% $parameters.modle %>"), @"`$parameters` has no `modle` | did you mean `model`?");
    insta::assert_snapshot!(words("<% $data.uuid %>"), @"`$data` has no `uuid` | `$data` has `name`, `uri`, `custom`");
    insta::assert_snapshot!(words("<% $parameters.nested.b[1].y.z %>"), @"`$parameters.nested.b.1` has no `y` | `$parameters.nested.b.1` has `z`");
    insta::assert_snapshot!(words("<% $parameters.nothing %>"), @r#"`$parameters.nothing` is null | give it a value; an empty text is written `""`"#);
    insta::assert_snapshot!(words("<% $parameters.absent.x %>"), @r#"`$parameters.absent` is null | give it a value; an empty text is written `""`"#);
    insta::assert_snapshot!(words("<% $secrets.registry %>"), @"`$secrets.registry` is a mapping, not a value | name one of its keys: `password`");
    insta::assert_snapshot!(words("<% $parameters.nested.b %>"), @"`$parameters.nested.b.1` is a mapping, not a value | name one of its keys: `z`");
    insta::assert_snapshot!(words("<% $data.uri[2] %>"), @"`$data.uri` has no item 2 | the list has 2 items, `[0]` to `[1]`");
    insta::assert_snapshot!(words("<% $data.uri[99999999999999999999999] %>"), @"`$data.uri` has no item 99999999999999999999999 | the list has 2 items, `[0]` to `[1]`");
    insta::assert_snapshot!(words("<% $data.uri.first %>"), @"`$data.uri` is a list and has no `first` | take an item with `[0]`, the number of items with `.length`, or the whole list");
    insta::assert_snapshot!(words("<% $parameters.model.depth %>"), @"`$parameters.model` is a single value and has no `depth` | write `<% $parameters.model %>`");
    insta::assert_snapshot!(words("<% $script.name %>"), @"the task role names no `script` | add `script:` with the name of a script prerequisite to the task role");
    insta::assert_snapshot!(words("<% this.name %>"), @"`this` is known only inside a prerequisite | use `$parameters`, or `$data`, `$script` or `$output` for what the task role names");
    insta::assert_snapshot!(words("<% $data"), @"`<%` without `%>` | close the tag with `%>`; to write `<%` itself in a shell command, write `'<''%'`");
}

#[test]
fn a_dotted_key_is_suggested_in_brackets() {
    insta::assert_snapshot!(words("<% $parameters.a.b %>"), @r#"`$parameters` has no `a` | did you mean `$parameters["a.b"]`?"#);
}

#[test]
fn the_fix_renames_just_the_wrong_word() {
    let fixed = |text: &str| {
        let fix = diagnostic(text).fix.unwrap();
        let edit = fix.edits[0].clone();
        let range = edit.span.start as usize - 2..edit.span.end as usize - 2;
        let mut text = text.to_owned();
        text.replace_range(range, &edit.replacement);
        text
    };
    assert_eq!(
        fixed("ß <% $parameters.modle %>"),
        "ß <% $parameters.model %>"
    );
    assert_eq!(fixed("<%parameters.model%>"), "<%$parameters.model%>");
    assert_eq!(
        fixed("<% $data.uri[0] %><% $this.x %>"),
        "<% $data.uri[0] %><% this.x %>"
    );
}

#[test]
fn a_tag_is_blamed_where_it_is_written() {
    let folded = ">\n  a <% $parameters.\n  modle %>\n  b <% $data.uri[7] %>";
    let decoded = "a <% $parameters. modle %> b <% $data.uri[7] %>\n";
    let blamed: Vec<_> = diagnostics(folded, decoded, false)
        .into_iter()
        .map(|(diagnostic, blamed)| (blamed, diagnostic.fix))
        .collect();
    assert_eq!(
        blamed,
        [
            ("<% $parameters.\n  modle %>".to_owned(), None),
            ("<% $data.uri[7] %>".to_owned(), None)
        ]
    );
}

#[test]
fn the_whole_scalar_is_blamed_when_tags_are_spelt_with_escapes() {
    let written = r#""\x3c% foo %> <% $data.uri[7] %>""#;
    let decoded = "<% foo %> <% $data.uri[7] %>";
    for (_, blamed) in diagnostics(written, decoded, false) {
        assert_eq!(blamed, written);
    }
}

#[test]
fn a_hostile_text_gives_a_bounded_number_of_problems_in_little_time() {
    let many = "<%".repeat(1_000_000);
    assert_eq!(diagnostics(&many, &many, false).len(), MOST_PROBLEMS);
    let deep = format!("<% $parameters.{} %>", "a.".repeat(500_000) + "a");
    assert_eq!(diagnostics(&deep, &deep, false).len(), 1);
    let wrong = "<%$parameters.q%>".repeat(100_000);
    assert_eq!(diagnostics(&wrong, &wrong, false).len(), MOST_PROBLEMS);
}

#[test]
fn paths_are_shown_as_they_can_be_written() {
    assert_eq!(dotted(["a", "b", "0"]), "a.b.0");
    assert_eq!(
        dotted(["$parameters", "a.b", "c"]),
        "$parameters[\"a.b\"].c"
    );
    assert_eq!(
        dotted(["a", " x", "say \"hi\"."]),
        "a[\" x\"]['say \"hi\".']"
    );
}

fn template_text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("<%".to_owned()),
        Just("%>".to_owned()),
        Just("<% ".to_owned()),
        Just(" %>".to_owned()),
        Just("$parameters".to_owned()),
        Just("$data.uri".to_owned()),
        Just("this".to_owned()),
        Just(".".to_owned()),
        Just("[".to_owned()),
        Just("]".to_owned()),
        Just("0".to_owned()),
        Just("\"".to_owned()),
        "\\PC{0,4}",
        "[a-z.\\[\\]'\" ]{0,6}",
    ];
    prop::collection::vec(word, 0..24).prop_map(|words| words.concat())
}

#[test]
fn a_value_that_many_tags_take_is_not_repeated_for_ever() {
    let parameters = map([("x", plain("0123456789"))]);
    let scopes = Scopes {
        parameters: Some(&parameters),
        ..Scopes::default()
    };
    let text = "<% $parameters.x %>".repeat(1_000);
    let rendered = render(&parse(&text), &scopes, 25);
    assert_eq!(rendered.text.as_literal(), Some("01234567890123456789"));
    assert!(rendered.length > 25 && rendered.problems.is_empty());
    assert_eq!(rendered.uses.len(), 3);
}

#[test]
fn a_usual_text_is_judged_without_rendering() {
    let (parameters, secrets) = (
        map([
            ("x", plain("abc")),
            ("list", list([plain("1"), plain("22")])),
        ]),
        map([("token", quoted("hunter2"))]),
    );
    let scopes = Scopes {
        parameters: Some(&parameters),
        secrets: Some(&secrets),
        ..Scopes::default()
    };
    let mut named = Vec::new();
    let text = "a <% $parameters.list[1] %> b <%$parameters.x%> <% $parameters.list %>";
    let length = plain_length(text, &scopes, 100, |scope, place| {
        named.push((scope, place));
    });
    assert_eq!(length, Some("a 22 b abc 1,22".len()));
    let parameter = |place| (Scope::Parameters, place);
    assert_eq!(named, [parameter(1), parameter(0), parameter(1)]);
    let judge = |text| plain_length(text, &scopes, 100, |_, _| {});
    assert!(judge("<% $secrets.token %>").is_some());
    for unusual in ["<% $parameters.y %>", "<% $parameters %>", "<% x %>", "<%"] {
        assert_eq!(judge(unusual), None, "{unusual}");
    }
}

proptest! {
    #[test]
    fn parts_cover_the_text_exactly(text in template_text()) {
        let template = parse(&text);
        let mut at = 0;
        for part in &template.parts {
            let range = match part {
                Part::Literal(range) => range,
                Part::Tag(tag) => &tag.range,
            };
            prop_assert_eq!(range.start, at);
            prop_assert!(!range.is_empty());
            at = range.end;
        }
        prop_assert_eq!(at, text.len());
        prop_assert_eq!(template.tag_count, text.matches("<%").count());
    }

    #[test]
    fn any_text_can_be_rendered_and_diagnosed(text in template_text(), compat: bool) {
        let (rendered, _) = shown(&text, compat);
        prop_assert!(!rendered.contains("s3cr3t"));
        for (diagnostic, blamed) in diagnostics(&text, &text, compat) {
            prop_assert!(blamed.starts_with("<%"));
            prop_assert!(!diagnostic.message.is_empty());
        }
    }

    #[test]
    fn the_length_is_known_without_the_text(text in template_text(), compat: bool, room in 0_usize..40) {
        let (parameters, secrets) = (parameters(), secrets());
        let scopes = Scopes {
            parameters: Some(&parameters),
            secrets: Some(&secrets),
            compat,
            ..Scopes::default()
        };
        let template = parse(&text);
        let rendered = render(&template, &scopes, usize::MAX);
        if let Some(length) = plain_length(&text, &scopes, usize::MAX, |_, _| {}) {
            prop_assert_eq!((length, &rendered.problems), (rendered.length, &Vec::new()));
            let within = plain_length(&text, &scopes, room, |_, _| {});
            prop_assert_eq!(within, Some(length).filter(|length| *length <= room));
        }
        let short = render(&template, &scopes, room);
        prop_assert_eq!(short.length > room, rendered.length > room);
        prop_assert!(short.text.render(|_| String::new()).len() <= room);
    }

    #[test]
    fn text_without_tags_is_unchanged(text in "\\PC*") {
        prop_assume!(!text.contains("<%"));
        let rendered = render(&parse(&text), &Scopes::default(), usize::MAX);
        prop_assert_eq!(rendered.text.as_literal(), Some(text.as_str()));
        prop_assert!(rendered.problems.is_empty() && rendered.uses.is_empty());
        prop_assert!(!rendered.text.pieces().contains(&Piece::Literal(String::new())));
    }
}
