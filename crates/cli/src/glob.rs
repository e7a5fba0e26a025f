//! File patterns with `*`, `?` and `**`, for shells that do not expand them and for quoted ones.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::files::{is_skipped_folder, listed};

/// Whether a name on the command line is a pattern.
pub(crate) fn is_pattern(name: &OsStr) -> bool {
    let bytes = name.as_encoded_bytes();
    bytes.contains(&b'*') || bytes.contains(&b'?')
}

/// The files that a pattern fits, in order. `*` and `?` stay inside one name and do not fit a
/// leading dot; `**` stands for any number of folders.
pub(crate) fn expand(pattern: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut parts = Vec::new();
    let mut base = PathBuf::new();
    for part in pattern {
        if parts.is_empty() && !is_pattern(part) {
            base.push(part);
        } else {
            parts.push(part);
        }
    }
    descend(&base, &parts, &mut found);
    found.sort();
    found.dedup();
    found
}

fn descend(folder: &Path, parts: &[&OsStr], found: &mut Vec<PathBuf>) {
    let Some((part, rest)) = parts.split_first() else {
        if folder.is_file() {
            found.push(folder.to_owned());
        }
        return;
    };
    if *part == "**" {
        descend(folder, rest, found);
        for (path, is_folder) in listed(folder) {
            if is_folder && !is_skipped_folder(path.file_name().unwrap_or_default()) {
                descend(&path, parts, found);
            }
        }
    } else if is_pattern(part) {
        for (path, _) in listed(folder) {
            let name = path.file_name().unwrap_or_default();
            if fits(part.as_encoded_bytes(), name.as_encoded_bytes()) {
                descend(&path, rest, found);
            }
        }
    } else {
        descend(&folder.join(part), rest, found);
    }
}

/// Whether a name fits a pattern of one name. Takes time in the product of their lengths at most.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    if name.first() == Some(&b'.') && pattern.first() != Some(&b'.') {
        return false;
    }
    let (mut at, mut next) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while next < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, next));
                at += 1;
            }
            Some(b'?') => {
                at += 1;
                next += char_length(&name[next..]);
            }
            Some(byte) if *byte == name[next] => {
                at += 1;
                next += 1;
            }
            _ => match star {
                Some((star_at, taken)) => {
                    star = Some((star_at, taken + 1));
                    at = star_at + 1;
                    next = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

/// The bytes of the first character; a byte of no character counts alone.
fn char_length(bytes: &[u8]) -> usize {
    let following = bytes.iter().skip(1).take(3);
    1 + following.take_while(|byte| **byte & 0xC0 == 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks() {
        let fits = |pattern: &str, name: &str| fits(pattern.as_bytes(), name.as_bytes());
        assert!(
            fits("*.yaml", "a.yaml") && fits("*", "a") && fits("a*", "a") && fits("a?c", "aßc")
        );
        assert!(fits("*a*b", "xxaxab") && fits(".*", ".a"));
        assert!(
            !fits("*.yaml", "a.yml") && !fits("*", ".a") && !fits("?", "ab") && !fits("a", "ab")
        );
    }

    #[test]
    fn many_stars_do_not_take_forever() {
        assert!(!fits("*a".repeat(50).as_bytes(), "a".repeat(49).as_bytes()));
        assert!(!fits(
            &[b"*a".repeat(500), b"b".to_vec()].concat(),
            &b"a".repeat(5_000)
        ));
    }
}
