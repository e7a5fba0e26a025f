//! The command lines of components, held against real shells: what a shell makes of a rendered line
//! is exactly the rendered words, whatever the values are.

#![allow(clippy::expect_used)]

use std::path::Path;
use std::process::Command;

use pinnace_core::text::Text;
use pinnace_spec::component::command::{Manner, Syntax, parse};
use proptest::prelude::*;

/// The words that a shell makes of a line, in an empty folder so that no glob finds anything.
fn split(shell: &str, line: &str, folder: &Path) -> Vec<String> {
    let output = Command::new(shell)
        .args(["-c", &format!("printf '%s\\0' {line}")])
        .current_dir(folder)
        .env("HOME", "/home/of/nobody")
        .env("A", "expanded")
        .output()
        .expect("a shell");
    assert!(output.status.success(), "{line}: {output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    let mut words: Vec<String> = text.split('\0').map(str::to_owned).collect();
    words.pop();
    words
}

fn literal(text: &Text) -> String {
    text.as_literal().expect("no secret").to_owned()
}

/// Values as hostile as they can be.
fn value() -> impl Strategy<Value = String> {
    let hostile = prop::sample::select(vec![
        "$A",
        "${A}",
        "$(id)",
        "`id`",
        "'",
        "\"",
        "\\",
        "\n",
        " ",
        "  ",
        "*",
        "?",
        "[a]",
        "{a,b}",
        "~",
        "#",
        ";",
        "&",
        "|",
        "<",
        ">",
        "!",
        "=",
        "%A%",
        "-x",
        "if",
        "{inputs.b}",
        "[[",
        "}}",
        "\t",
        "$'x'",
        "ü",
        "()",
    ]);
    prop::collection::vec(
        prop_oneof![hostile.prop_map(str::to_owned), "[a-z0-9/]{0,3}"],
        0..6,
    )
    .prop_map(|parts| parts.concat())
}

/// Commands whose own text asks nothing of the shell but to split and unquote it.
fn template() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "run",
        "-x",
        "--flag=",
        "%CLUSTER%=",
        "{inputs.a}",
        "{inputs.b}",
        "{outputs.o}",
        "[-a {inputs.a}]",
        "[ {inputs.b} ]",
        "[--b={inputs.b}]",
        "\"{inputs.a}\"",
        "'{inputs.b}'",
        "\"[{inputs.a}]\"",
        "'x y'",
        "\"it's \\\" \\\\ q\"",
        "\\",
        "\\ ",
        "\\$A",
        "\"\"",
        "''",
        " ",
        "  ",
        "\t",
        " \\\n ",
        "k=[{inputs.a}]",
        "'$A'",
        "$",
        "a{inputs.a}{inputs.b}",
    ]);
    prop::collection::vec(piece, 1..9).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_shell_splits_a_rendered_line_into_the_rendered_words(
        template in template(),
        a in proptest::option::of(value()),
        b in proptest::option::of(value()),
        output in value(),
        aether in any::<bool>(),
    ) {
        let manner = if aether { Manner::Aether } else { Manner::Aml };
        let rendered = parse(&template, Syntax::V1).render(
            |placeholder| match placeholder.name {
                "a" => a.as_deref().map(Text::from),
                "b" => b.as_deref().map(Text::from),
                _ => Some(Text::from(output.as_str())),
            },
            manner,
        );
        prop_assume!(!rendered.is_live && !rendered.words.is_empty());
        let folder = tempfile::tempdir().expect("a folder");
        let words: Vec<String> = rendered.words.iter().map(literal).collect();
        let line = literal(&rendered.line);
        for shell in ["sh", "bash"] {
            prop_assert_eq!(split(shell, &line, folder.path()), words.clone(), "{}: {} → {}", shell, template, line);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, failure_persistence: None, ..ProptestConfig::default() })]

    /// The author's own shell stays alive around a value, which stays what it is.
    #[test]
    fn a_value_stays_one_word_within_live_shell(value in value()) {
        let folder = tempfile::tempdir().expect("a folder");
        for (template, expected) in [
            ("\"$A\" {inputs.a} $A", vec!["expanded", &value, "expanded"]),
            ("\"$(printf '%s.' {inputs.a})\"", vec![&format!("{value}.")]),
            ("\"$(printf '%s.' \"{inputs.a}\")\"", vec![&format!("{value}.")]),
            ("\"${B:-x}\"{inputs.a}", vec![&format!("x{value}")]),
            ("$A{inputs.a}", vec![&format!("expanded{value}")]),
            ("\"$A{inputs.a}\"", vec![&format!("expanded{value}")]),
            ("${inputs.a}", vec![&format!("${value}")]),
            ("{inputs.a} && printf '%s\\0' {inputs.a} | cat", vec![&value, &value]),
            ("{inputs.a} >&1 # {inputs.a}", vec![&value]),
        ] {
            let rendered = parse(template, Syntax::V1).render(|_| Some(Text::from(value.as_str())), Manner::Aml);
            let line = literal(&rendered.line);
            for shell in ["sh", "bash"] {
                prop_assert_eq!(split(shell, &line, folder.path()), expected.clone(), "{}: {}", template, line);
            }
        }
    }
}
