//! The arguments of a command before it has values: pieces that are glued into one word.

use std::ops::Range;

use super::ast::{Part, Template};

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument<'t> {
    /// Its bytes, without the brackets of its group.
    pub range: Range<usize>,
    /// As it is written.
    pub written: &'t str,
    /// The group in which it stands.
    pub group: Option<usize>,
}

impl Argument<'_> {
    /// Whether it names what comes next: `-flag`, `--flag` or `/flag` without a value of its own.
    pub fn is_flag(&self) -> bool {
        let name = self.written.trim_start_matches('-');
        name.len() < self.written.len()
            && name.starts_with(|char: char| char.is_alphabetic() || char == '_')
    }

    /// Whether it is a flag with its value behind `=` or `:`.
    fn has_value(&self) -> bool {
        self.is_flag() && self.written.contains(['=', ':'])
    }

    /// Whether it is a setting that some programs look for by its form: `%CLUSTER%=…`.
    pub fn is_setting(&self) -> bool {
        let rest = self.written.strip_prefix('%').unwrap_or_default();
        rest.split_once("%=").is_some_and(|(name, _)| {
            !name.is_empty()
                && name
                    .chars()
                    .all(|char| char.is_alphanumeric() || char == '_')
        })
    }
}

impl<'t> Template<'t> {
    /// Its words, each with the group in which it stands.
    pub fn arguments(&self) -> Vec<Argument<'t>> {
        let mut found = Vec::new();
        let mut word = None;
        let mut quote = None;
        for part in &self.parts {
            match part {
                Part::Group(group) => {
                    for part in &group.parts {
                        self.read_part(part, Some(group.index), &mut word, &mut quote, &mut found);
                    }
                    // A word goes on behind a group that is glued to it, and is no part of it then.
                    if let Some(Argument {
                        range, group: own, ..
                    }) = &mut word
                        && *own != Some(group.index)
                    {
                        range.end = group.range.end;
                    }
                }
                other => self.read_part(other, None, &mut word, &mut quote, &mut found),
            }
        }
        found.extend(word);
        for argument in &mut found {
            argument.written = self.slice(&argument.range);
        }
        found
    }

    fn read_part(
        &self,
        part: &Part<'t>,
        group: Option<usize>,
        word: &mut Option<Argument<'t>>,
        quote: &mut Option<char>,
        found: &mut Vec<Argument<'t>>,
    ) {
        let add = |range: Range<usize>, word: &mut Option<Argument<'t>>| {
            let start = range.start;
            let argument = word.get_or_insert_with(|| Argument {
                range: start..start,
                written: "",
                group,
            });
            argument.range.end = range.end;
        };
        match part {
            Part::Placeholder(placeholder) => add(placeholder.range.clone(), word),
            Part::Literal(range) => {
                for (at, char) in self.slice(range).char_indices() {
                    let at = range.start + at;
                    if quote.is_none() && char.is_whitespace() {
                        found.extend(word.take());
                        continue;
                    }
                    if *quote == Some(char) {
                        *quote = None;
                    } else if quote.is_none() && matches!(char, '\'' | '"') {
                        *quote = Some(char);
                    }
                    add(at..at + char.len_utf8(), word);
                }
            }
            Part::Group(_) => {}
        }
    }
}

/// The places of the arguments that no flag names, without the program itself.
pub(super) fn positional(arguments: &[Argument<'_>]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut named = true; // The program.
    for (index, argument) in arguments.iter().enumerate() {
        if argument.is_flag() {
            named = !argument.has_value();
        } else {
            if !named || argument.is_setting() && index > 0 {
                found.push(index);
            }
            named = false;
        }
    }
    found
}
