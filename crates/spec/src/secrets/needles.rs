//! The texts to look for: the values of secrets and the forms in which they travel.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Shorter values would mask half of any text.
const SHORTEST: usize = 4;

/// Values of letters alone that are shorter than this may be ordinary words.
const LONGEST_WORD: usize = 20;

/// A base64 form is looked for only if so many of its characters depend on the value alone.
const SHORTEST_BASE64: usize = 8;

type Start = [u8; SHORTEST];

/// Texts to look for. Looking takes time in proportion to the text searched, whatever the number
/// of needles.
#[derive(Default)]
pub(super) struct Needles {
    texts: HashSet<Vec<u8>>,
    /// By their first bytes, the lengths of the needles that start so, longest first.
    lengths: HashMap<Start, Vec<usize>>,
}

impl Needles {
    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Adds a value, each line of it, and their encoded forms.
    pub(super) fn add(&mut self, value: &str) {
        let value = value.trim();
        self.add_forms(value);
        if value.contains('\n') {
            for line in value.lines() {
                self.add_forms(line.trim());
            }
        }
    }

    fn add_forms(&mut self, value: &str) {
        // A masked export has stars where its secrets were.
        if value.chars().nth(SHORTEST - 1).is_none() || value.chars().all(|char| char == '*') {
            return;
        }
        if !self.add_text(value.as_bytes().to_vec()) {
            return;
        }
        for padding in 0..3 {
            let base64 = base64_core(value.as_bytes(), padding);
            if base64.len() >= SHORTEST_BASE64 {
                let url_safe = base64.iter().map(|byte| match byte {
                    b'+' => b'-',
                    b'/' => b'_',
                    _ => *byte,
                });
                self.add_text(url_safe.collect());
                self.add_text(base64);
            }
        }
        for (keep, lower) in [("", false), ("", true), ("+", false), ("/", false)] {
            self.add_text(percent_encoded(value, keep, lower));
        }
    }

    fn add_text(&mut self, text: Vec<u8>) -> bool {
        let Some(start) = text.first_chunk::<SHORTEST>() else {
            return false;
        };
        let lengths = self.lengths.entry(*start).or_default();
        if let Err(at) = lengths.binary_search_by(|length| text.len().cmp(length)) {
            lengths.insert(at, text.len());
        }
        self.texts.insert(text)
    }

    /// Every place in source text; the places do not overlap.
    pub(super) fn find_in_source(&self, text: &str) -> Vec<Range<usize>> {
        self.find(text, |_| true)
    }

    /// Every place in a message. A value that looks like an ordinary word counts only if it stands
    /// there as a word.
    pub(super) fn find_in_message(&self, text: &str) -> Vec<Range<usize>> {
        let bytes = text.as_bytes();
        let is_word = |byte: Option<&u8>| {
            byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        };
        self.find(text, |range| {
            let found = text.get(range.clone()).unwrap_or_default();
            let inside_word = range.start > 0 && is_word(bytes.get(range.start - 1))
                || is_word(bytes.get(range.end));
            !inside_word || !is_ordinary(found)
        })
    }

    fn find(&self, text: &str, accepts: impl Fn(&Range<usize>) -> bool) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        if self.is_empty() {
            return found;
        }
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(start) = bytes.get(at..).and_then(<[u8]>::first_chunk::<SHORTEST>) {
            let lengths = self.lengths.get(start).map_or(&[][..], Vec::as_slice);
            let longest = lengths.iter().map(|length| at..at + length).find(|range| {
                bytes
                    .get(range.clone())
                    .is_some_and(|part| self.texts.contains(part))
                    && accepts(range)
            });
            match longest {
                Some(range) => {
                    at = range.end;
                    found.push(range);
                }
                None => at += 1,
            }
        }
        found
    }
}

/// Whether a value may as well be a name in a job file.
pub(super) fn is_ordinary(value: &str) -> bool {
    value.len() < LONGEST_WORD
        && value
            .bytes()
            .all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-'))
}

/// Those base64 characters of a value that do not depend on what stands around it, when `padding`
/// bytes (modulo 3) stand before it.
fn base64_core(value: &[u8], padding: usize) -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let padded: Vec<u8> = std::iter::repeat_n(0, padding)
        .chain(value.iter().copied())
        .collect();
    let mut encoded = Vec::with_capacity(padded.len() * 4 / 3 + 4);
    for chunk in padded.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for shift in [18, 12, 6, 0] {
            encoded.push(ALPHABET[(bits >> shift & 63) as usize]);
        }
    }
    // Six bits per character: one that starts before the value or ends behind it is not the
    // value's own.
    let first = (padding * 8).div_ceil(6);
    let end = padded.len() * 8 / 6;
    encoded.truncate(end);
    encoded.drain(..first.min(end));
    encoded
}

/// A value as in a URL: `keep` stays (and a kept `+` stands for a space, as in forms).
fn percent_encoded(value: &str, keep: &str, lower: bool) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(value.len());
    for byte in value.bytes() {
        let plain = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
        if plain || (byte == b'/' && keep == "/") {
            encoded.push(byte);
        } else if byte == b' ' && keep == "+" {
            encoded.push(b'+');
        } else if lower {
            encoded.extend(format!("%{byte:02x}").bytes());
        } else {
            encoded.extend(format!("%{byte:02X}").bytes());
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_found_wherever_it_starts() {
        // base64 of "user:hunter2-hunter2!" and of the value alone
        let mut needles = Needles::default();
        needles.add("hunter2-hunter2");
        let found = |text| !needles.find_in_source(text).is_empty();
        assert!(found("dXNlcjpodW50ZXIyLWh1bnRlcjIh"));
        assert!(found("aHVudGVyMi1odW50ZXIy"));
        assert!(!found("dXNlcjpzb21ldGhpbmcgZWxzZQ=="));
    }

    #[test]
    fn percent_forms_are_found() {
        let mut needles = Needles::default();
        needles.add("p@ss/wörd 1");
        let found = |text| !needles.find_in_source(text).is_empty();
        assert!(found("http://u:p%40ss%2Fw%C3%B6rd%201@host"));
        assert!(found("http://u:p%40ss%2fw%c3%b6rd%201@host"));
        assert!(found("p=p%40ss%2Fw%C3%B6rd+1"));
    }

    #[test]
    fn many_needles_with_one_start_are_fast_enough() {
        let mut needles = Needles::default();
        for index in 0..20_000 {
            needles.add(&format!("AKIA{index:06}"));
        }
        let text = "AKIA".repeat(20_000);
        assert!(needles.find_in_source(&text).is_empty());
    }
}
