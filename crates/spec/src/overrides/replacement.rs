//! What takes the place of a text that a regular expression fits: `$1`, `${name}`, `\1` and `\g<1>`
//! stand for what its groups have matched.

use regex::{Captures, Regex};

/// A replacement, cut at its groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Replacement {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Group(usize),
}

/// A group that the regular expression does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NoSuchGroup {
    pub(super) name: String,
    /// Its bytes in the text.
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Replacement {
    /// Reads a replacement for a regular expression.
    pub(super) fn parse(text: &str, regex: &Regex) -> Result<Self, NoSuchGroup> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut at = 0;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let Some((group, length)) = reference(rest, regex) else {
                let (taken, length) = literal(rest);
                plain.push_str(taken);
                at += length;
                continue;
            };
            let Some(group) = group else {
                return Err(NoSuchGroup {
                    name: rest.get(..length).unwrap_or_default().to_owned(),
                    start: at,
                    end: at + length,
                });
            };
            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
            }
            pieces.push(Piece::Group(group));
            at += length;
        }
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Ok(Replacement { pieces })
    }

    /// The text that it gives.
    pub(super) fn expand(&self, captures: &Captures<'_>) -> String {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Group(group) => {
                    out.push_str(captures.get(*group).map_or("", |found| found.as_str()));
                }
            }
        }
        out
    }
}

/// The text at the start that stands for itself, and its length as written.
fn literal(rest: &str) -> (&str, usize) {
    match rest.get(..2) {
        Some("$$") => ("$", 2),
        Some("\\\\") => ("\\", 2),
        _ => {
            let length = rest.chars().next().map_or(0, char::len_utf8);
            (rest.get(..length).unwrap_or_default(), length)
        }
    }
}

/// The group that the text at the start refers to, if there is one, and the reference's length; `None` if it refers to none.
fn reference(rest: &str, regex: &Regex) -> Option<(Option<usize>, usize)> {
    let named = |open: &str, close: char| {
        let inside = rest.strip_prefix(open)?;
        let end = inside.find(close)?;
        let name = inside.get(..end)?;
        let is_word = |char: char| char.is_alphanumeric() || char == '_';
        let length = open.len() + end + close.len_utf8();
        (!name.is_empty() && name.chars().all(is_word)).then(|| (group(name, regex), length))
    };
    named("${", '}').or_else(|| named("\\g<", '>')).or_else(|| {
        let digits = rest.strip_prefix(['$', '\\'])?;
        let count = digits.bytes().take_while(u8::is_ascii_digit).count();
        // Of `$12`, where there are only two groups, the group is `$1`.
        let longest = (1..=count.min(2)).rev().find_map(|count| {
            let number = digits.get(..count)?.parse().ok()?;
            (number < regex.captures_len()).then_some((Some(number), count + 1))
        });
        longest.or_else(|| (count > 0).then_some((None, count + 1)))
    })
}

fn group(name: &str, regex: &Regex) -> Option<usize> {
    match name.parse::<usize>() {
        Ok(number) => Some(number).filter(|number| *number < regex.captures_len()),
        Err(_) => regex.capture_names().position(|known| known == Some(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(pattern: &str, replacement: &str, text: &str) -> Result<String, String> {
        let regex = Regex::new(pattern).unwrap();
        let replacement =
            Replacement::parse(replacement, &regex).map_err(|problem| problem.name)?;
        Ok(replacement.expand(&regex.captures(text).unwrap()))
    }

    #[test]
    fn groups_can_be_written_in_four_ways() {
        let pattern = "(?P<host>[a-z]+)/(.+)";
        for replacement in ["dev/$2", "dev/${2}", r"dev/\2", r"dev/\g<2>"] {
            assert_eq!(expanded(pattern, replacement, "prod/x").unwrap(), "dev/x");
        }
        for replacement in ["${host}!", r"\g<host>!", "$1!"] {
            assert_eq!(expanded(pattern, replacement, "prod/x").unwrap(), "prod!");
        }
        assert_eq!(expanded(pattern, "$0", "prod/x").unwrap(), "prod/x");
    }

    #[test]
    fn what_is_no_group_stands_for_itself() {
        let plain = r"$HOME ${a-b} $ \n \g 100% $$1 \\1 ${";
        let wanted = r"$HOME ${a-b} $ \n \g 100% $1 \1 ${";
        assert_eq!(expanded("x", plain, "x").unwrap(), wanted);
        assert_eq!(expanded("(x)", "$10é", "x").unwrap(), "x0é");
        assert_eq!(expanded("(x)|(y)", "<$2>", "x").unwrap(), "<>");
    }

    #[test]
    fn a_group_that_is_not_there_is_refused() {
        assert_eq!(expanded("(x)", "a$2", "x"), Err("$2".to_owned()));
        assert_eq!(
            expanded("(x)", r"\g<host>", "x"),
            Err(r"\g<host>".to_owned())
        );
        assert_eq!(expanded("x", "${name}", "x"), Err("${name}".to_owned()));
        assert_eq!(expanded("x", r"\1", "x"), Err(r"\1".to_owned()));
    }
}
