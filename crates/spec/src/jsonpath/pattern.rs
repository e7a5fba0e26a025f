//! The regular expressions of `match` and `search` (RFC 9485).

use regex::{Regex, RegexBuilder};

/// A larger one is refused; what is repeated many times inside a repetition would take megabytes.
const LARGEST: usize = 1 << 20;

/// A regular expression.
#[derive(Clone, Debug)]
pub(super) struct Pattern(Regex);

impl Pattern {
    /// Reads one; `None` if it is none, or too large.
    pub(super) fn new(text: &str, whole: bool) -> Option<Self> {
        let text = with_standard_dots(text);
        let text = match whole {
            true => format!("^(?:{text})$"),
            false => text,
        };
        let built = RegexBuilder::new(&text).size_limit(LARGEST).build();
        built.ok().map(Pattern)
    }

    pub(super) fn fits(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

/// The standard's dot does not match a carriage return either.
fn with_standard_dots(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_class = false;
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => {
                out.push(char);
                out.extend(chars.next());
                continue;
            }
            '[' => in_class = true,
            ']' => in_class = false,
            '.' if !in_class => {
                out.push_str("[^\\n\\r]");
                continue;
            }
            _ => {}
        }
        out.push(char);
    }
    out
}
