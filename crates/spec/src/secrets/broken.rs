//! Where secrets may stand in a text that is not good YAML: told by its looks, and rather too much
//! than too little.

use std::ops::Range;

use crate::openpai;

/// The ranges behind every key `secrets` and `password`, up to where their values may end.
/// Every step looks only at text that no earlier step has looked at, so the time is linear.
pub(super) fn secret_ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for word in ["secrets", "password"] {
        let mut covered = 0;
        let mut last_end = 0;
        for (at, _) in text.match_indices(word) {
            let unseen = last_end.max(covered);
            last_end = at + word.len();
            if at < covered {
                continue;
            }
            let ends_block = match word {
                "secrets" => is_job_key,
                _ => |_: &str| true,
            };
            if let Some(range) = value_range(text, unseen, at..last_end, ends_block) {
                covered = range.end;
                ranges.push(range);
            }
        }
    }
    ranges
}

/// The range of the value, if `word` is a key. Nothing before `unseen` needs to be looked at: if
/// the word's line starts before it, the word does not open its line.
fn value_range(
    text: &str,
    unseen: usize,
    word: Range<usize>,
    ends_block: fn(&str) -> bool,
) -> Option<Range<usize>> {
    let before = text.get(unseen..word.start)?;
    let after = text.get(word.end..)?;
    let (before, after) = match before.chars().next_back() {
        Some(quote @ ('"' | '\'')) => (&before[..before.len() - 1], after.strip_prefix(quote)?),
        _ => (before, after),
    };
    let line_start = before.rfind('\n').map(|at| at + 1);
    let lead = &before[line_start.unwrap_or_default()..];
    let starts_here =
        line_start.is_some() || unseen == 0 || text.as_bytes().get(unseen - 1) == Some(&b'\n');
    let may_be_key =
        lead.ends_with([' ', '\t', '{', ',', '\u{feff}']) || lead.is_empty() && starts_here;
    if !may_be_key {
        return None;
    }
    let opens_line = starts_here
        && lead
            .chars()
            .all(|char| matches!(char, ' ' | '\t' | '-' | '?' | '\u{feff}'));
    let key_end = text.len() - after.len();
    let Some(rest) = after.trim_start_matches([' ', '\t']).strip_prefix(':') else {
        // `? secrets` has its value wherever the next `:` is.
        return (opens_line && lead.contains('?')).then_some(key_end..text.len());
    };
    let value_start = text.len() - rest.len();
    let shown = skip_properties(rest);
    let length = if shown.starts_with(['{', '[']) {
        rest.len() - shown.len() + flow_length(shown)
    } else if opens_line {
        block_length(rest, lead.len(), ends_block)
    } else {
        scalar_length(rest)
    };
    Some(value_start..value_start + length)
}

/// Without the anchor and the tag before a value.
fn skip_properties(text: &str) -> &str {
    let mut rest = text.trim_start();
    while rest.starts_with(['&', '!']) {
        rest = rest
            .trim_start_matches(|char: char| {
                !char.is_whitespace() && !matches!(char, ',' | '}' | ']')
            })
            .trim_start();
    }
    rest
}

/// The length of a flow collection; all of the text if its brackets do not match.
fn flow_length(text: &str) -> usize {
    let mut open = Vec::new();
    let mut quote = None;
    let mut escaped = false;
    let mut last = ' ';
    for (at, char) in text.char_indices() {
        let before = std::mem::replace(&mut last, char);
        if let Some(mark) = quote {
            if escaped {
                escaped = false;
            } else if char == '\\' && mark == '"' {
                escaped = true;
            } else if char == mark {
                quote = None;
            }
            continue;
        }
        match char {
            // A quote inside a word is an apostrophe.
            '"' | '\'' if before.is_whitespace() || matches!(before, ',' | ':' | '{' | '[') => {
                quote = Some(char);
            }
            '{' => open.push('}'),
            '[' => open.push(']'),
            '}' | ']' if open.last() == Some(&char) => {
                open.pop();
                if open.is_empty() {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

/// The rest of the line and all lines that belong to it: deeper ones, blank ones, and those that do
/// not begin with a key that ends the block.
fn block_length(text: &str, indent: usize, ends_block: fn(&str) -> bool) -> usize {
    let mut length = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let content = line.trim_start_matches([' ', '\t']);
        let is_next =
            line.len() - content.len() <= indent && key_of(content).is_some_and(ends_block);
        if index > 0 && is_next {
            break;
        }
        length += line.len();
    }
    length
}

/// The rest of a flow entry.
fn scalar_length(text: &str) -> usize {
    let trimmed = text.trim_start();
    let lead = text.len() - trimmed.len();
    if let Some(quote) = trimmed
        .chars()
        .next()
        .filter(|char| matches!(char, '"' | '\''))
    {
        let inside = &trimmed[1..];
        return inside.find(quote).map_or(text.len(), |at| lead + at + 2);
    }
    text.find([',', '}', ']', '\n']).unwrap_or(text.len())
}

/// The key with which a line begins.
fn key_of(line: &str) -> Option<&str> {
    let word_end = line
        .find(|char: char| {
            !(char.is_alphanumeric() || matches!(char, '_' | '-' | '.' | '"' | '\''))
        })
        .unwrap_or(line.len());
    let (word, rest) = line.split_at(word_end);
    let is_key = !word.is_empty() && rest.trim_start().starts_with(':');
    is_key.then(|| word.trim_matches(['"', '\'']))
}

/// Whether a key can follow the secrets. Any other one may be a secret that has lost its indent.
fn is_job_key(key: &str) -> bool {
    let fields = openpai::fields::JOB.fields;
    fields.iter().any(|field| field.name == key)
}

/// The texts in a range of secrets that may be values: what stands behind `:` or `-` on each line,
/// each entry of a flow collection, and each quoted text that is not a key.
pub(super) fn values(text: &str, mut found: impl FnMut(&str)) {
    let uncommented = |line| str::split_once(line, " #").map_or("", |(value, _)| value);
    for line in text.lines().flat_map(|line| [line, uncommented(line)]) {
        let mut part = line.trim().trim_start_matches("- ");
        loop {
            if !part.ends_with(':') {
                found(part.trim_matches(is_mark));
            }
            match part.split_once(": ").or_else(|| part.split_once("\":")) {
                Some((_, rest)) => part = rest,
                None => break,
            }
        }
        for entry in line.split(['{', '}', '[', ']', ',']) {
            let value = entry.split_once(':').map_or(entry, |(_, value)| value);
            found(value.trim_matches(is_mark));
        }
        for quote in ['"', '\''] {
            let mut parts = line.split(quote).peekable();
            while let Some(part) = parts.next() {
                let is_key = |next: &&str| next.trim_start().starts_with(':');
                if !parts.peek().is_some_and(is_key) {
                    found(part.trim_matches(is_mark));
                }
            }
        }
    }
}

fn is_mark(char: char) -> bool {
    char.is_whitespace() || matches!(char, '"' | '\'' | ',' | '{' | '}' | '[' | ']' | '|' | '>')
}
