//! The forms in which the value of a secret travels.

use super::SHORTEST_SECRET;

/// A part of a base64 text is looked for only if so many of its characters depend on the value alone.
const SHORTEST_BASE64: usize = 8;

/// Lines of a value that are shorter may be ordinary words, such as `}`.
const SHORTEST_LINE: usize = 8;

/// Every text to look for: the value, its lines, and both in base64 and as parts of a URL or of JSON.
pub(super) fn forms<'a>(values: impl Iterator<Item = &'a str>) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for value in values {
        add(&mut found, value, SHORTEST_SECRET);
        add(&mut found, value.trim(), SHORTEST_SECRET);
        if value.trim().contains('\n') {
            for line in value.lines() {
                add(&mut found, line.trim(), SHORTEST_LINE);
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn add(found: &mut Vec<Vec<u8>>, value: &str, shortest: usize) {
    if value.len() < shortest {
        return;
    }
    let bytes = value.as_bytes();
    found.push(bytes.to_vec());
    for keep in [&b""[..], b"/", b"+"] {
        found.push(percent_encoded(bytes, keep, false));
        found.push(percent_encoded(bytes, keep, true));
    }
    if let Ok(quoted) = serde_json::to_string(value) {
        found.push(quoted.trim_matches('"').as_bytes().to_vec());
    }
    for url_safe in [false, true] {
        for whole in [bytes.to_vec(), [bytes, b"\n"].concat()] {
            found.push(base64(&whole, url_safe));
        }
        for before in 0..3 {
            let part = base64_core(bytes, before, url_safe);
            if part.len() >= SHORTEST_BASE64 {
                found.push(part);
            }
        }
    }
}

/// A value as in a URL; `keep` holds what stays, and a kept `+` stands for a space, as in forms.
fn percent_encoded(value: &[u8], keep: &[u8], lower: bool) -> Vec<u8> {
    const UPPER: &[u8; 16] = b"0123456789ABCDEF";
    const LOWER: &[u8; 16] = b"0123456789abcdef";
    let digits = if lower { LOWER } else { UPPER };
    let mut encoded = Vec::with_capacity(value.len());
    for byte in value {
        let plain = byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
        if plain || (*byte == b'/' && keep == b"/") {
            encoded.push(*byte);
        } else if *byte == b' ' && keep == b"+" {
            encoded.push(b'+');
        } else {
            encoded.push(b'%');
            encoded.push(digits[usize::from(byte >> 4)]);
            encoded.push(digits[usize::from(byte & 15)]);
        }
    }
    encoded
}

fn base64_digits(value: &[u8], url_safe: bool) -> Vec<u8> {
    const PLAIN: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut encoded = Vec::with_capacity(value.len().div_ceil(3) * 4);
    for chunk in value.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for shift in [18, 12, 6, 0] {
            encoded.push(match PLAIN[(bits >> shift & 63) as usize] {
                b'+' if url_safe => b'-',
                b'/' if url_safe => b'_',
                digit => digit,
            });
        }
    }
    encoded
}

fn base64(value: &[u8], url_safe: bool) -> Vec<u8> {
    let mut encoded = base64_digits(value, url_safe);
    // Padding is left out of the text to look for: some writers leave it out too.
    encoded.truncate((value.len() * 8).div_ceil(6));
    encoded
}

/// Those base64 characters of a value that do not depend on what stands around it, when `before`
/// bytes (modulo 3) stand in front of it.
fn base64_core(value: &[u8], before: usize, url_safe: bool) -> Vec<u8> {
    let padded: Vec<u8> = std::iter::repeat_n(0, before)
        .chain(value.iter().copied())
        .collect();
    let mut encoded = base64_digits(&padded, url_safe);
    let first = (before * 8).div_ceil(6);
    let end = padded.len() * 8 / 6;
    encoded.truncate(end);
    encoded.drain(..first.min(end));
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(value: &str, form: &str) -> bool {
        forms(std::iter::once(value)).contains(&form.as_bytes().to_vec())
    }

    #[test]
    fn a_value_is_known_in_all_its_forms() {
        assert!(has("p@ss/w 1", "p@ss/w 1"));
        assert!(has("p@ss/w 1", "p%40ss%2Fw%201"));
        assert!(has("p@ss/w 1", "p%40ss%2fw+1") || has("p@ss/w 1", "p%40ss%2Fw+1"));
        assert!(has("hunter2-hunter2", "aHVudGVyMi1odW50ZXIy"));
        assert!(has("abcd", "YWJjZA"));
        assert!(has("abcd", "YWJjZAo"));
        assert!(has("say \"hi\" now", r#"say \"hi\" now"#));
        assert!(has("first line\nsecond line\n}", "second line"));
        assert!(!has("first line\nsecond line\n}", "}"));
    }

    #[test]
    fn short_values_have_no_form() {
        assert_eq!(forms(["abc", ""].into_iter()), Vec::<Vec<u8>>::new());
    }
}
