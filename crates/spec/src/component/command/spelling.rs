//! How placeholders are spelt, and what only looks like one.

use std::ops::Range;

use super::ast::{Scope, Syntax};

/// A placeholder takes no more bytes than this.
const MOST_SPELT: usize = 256;

/// Where something stands in the next few bytes of a text. Bounded, so that a text full of opening
/// braces is read in one pass.
pub(super) fn near(rest: &str, what: &str) -> Option<usize> {
    let window = rest.as_bytes();
    let window = &window[..window.len().min(MOST_SPELT)];
    memchr::memmem::find(window, what.as_bytes())
}

/// Reads `inputs.x`; the name has no blanks, braces or brackets.
pub(super) fn read_reference(
    inside: &str,
    start: usize,
    syntax: Syntax,
) -> Option<(Scope, &str, Range<usize>)> {
    let (scope, name) = inside.split_once('.')?;
    let odd = |char: char| char.is_whitespace() || "{}[]$".contains(char);
    if name.is_empty() || name.contains(odd) {
        return None;
    }
    let name_start = start + scope.len() + 1;
    let scope = Scope::read(scope, syntax)?;
    Some((scope, name, name_start..name_start + name.len()))
}

/// What was meant by something that is nearly a placeholder.
#[allow(clippy::option_option)]
pub(super) fn nearly(inside: &str) -> Option<Option<String>> {
    let (scope, name) = inside.split_once('.')?;
    let (scope, name) = (scope.trim(), name.trim());
    let scope = match scope.to_ascii_lowercase().as_str() {
        "input" | "inputs" | "parameters" | "parameter" | "params" => Scope::Inputs,
        "output" | "outputs" => Scope::Outputs,
        _ => return None,
    };
    let is_name = |char: char| char.is_ascii_alphanumeric() || "._-".contains(char);
    let meant = !name.is_empty() && name.chars().all(is_name);
    Some(meant.then(|| Syntax::V1.placeholder(scope, name)))
}

/// Whether the inside of brackets is a shell's test: ` -z … ` or ` a = b `.
pub(super) fn is_shell_test(inside: &str) -> bool {
    if !inside.starts_with(char::is_whitespace) || !inside.ends_with(char::is_whitespace) {
        return false;
    }
    let words: Vec<&str> = inside.split_whitespace().take(3).collect();
    let unary = |word: &str| {
        let mut chars = word.chars();
        chars.next() == Some('-')
            && chars
                .next()
                .is_some_and(|char| "abcdefghknoprstuwxzGLNOS".contains(char))
            && chars.next().is_none()
    };
    let binary = |word: &str| {
        matches!(
            word,
            "=" | "==" | "!=" | "=~" | "<" | ">" | "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge"
        )
    };
    match words.as_slice() {
        [first, ..] if *first == "!" => true,
        [_, second, ..] if binary(second) => true,
        [first, _] => unary(first),
        [first, _, third] => unary(first) && matches!(*third, "&&" | "||" | "-a" | "-o"),
        _ => false,
    }
}
