//! Follows the logs of tasks, line by line.

use std::borrow::Cow;
use std::path::Path;

use pinnace_exec::log::{LogReader, Stream};

/// Longer lines are shown in parts.
const LONGEST_LINE: usize = 64 << 10;

/// Follows one log.
#[derive(Debug)]
pub(crate) struct Follower {
    reader: LogReader,
    rest: Vec<u8>,
}

impl Follower {
    /// From its oldest byte.
    pub(crate) fn new(logs: &Path, stream: Stream) -> Self {
        Self {
            reader: LogReader::from_start(logs, stream),
            rest: Vec::new(),
        }
    }

    /// Whole lines that have come since the last look, without their ends. At the end of a task, also what is
    /// no whole line.
    pub(crate) fn lines(&mut self, last: bool, mut each: impl FnMut(&str)) {
        let mut buffer = vec![0; 32 << 10];
        while let Ok(count @ 1..) = self.reader.read(&mut buffer) {
            self.rest
                .extend_from_slice(buffer.get(..count).unwrap_or_default());
            let mut from = 0;
            while let Some(at) = memchr::memchr(b'\n', self.rest.get(from..).unwrap_or_default()) {
                each(&String::from_utf8_lossy(
                    self.rest.get(from..from + at).unwrap_or_default(),
                ));
                from += at + 1;
            }
            self.rest.drain(..from);
            if self.rest.len() > LONGEST_LINE {
                each(&String::from_utf8_lossy(&self.rest));
                self.rest.clear();
            }
        }
        if last && !self.rest.is_empty() {
            each(&String::from_utf8_lossy(&self.rest));
            self.rest.clear();
        }
    }
}

/// A line as text that can stand anywhere: escape sequences and control characters are left out, and of
/// what was overwritten with carriage returns only the last is kept.
pub(crate) fn printable(line: &str) -> Cow<'_, str> {
    // Nearly all lines are such, and a task can write millions of them.
    if line.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return Cow::Borrowed(line);
    }
    let line = line.trim_end_matches('\r');
    let line = line.rsplit('\r').next().unwrap_or_default();
    if !line.contains(|char: char| char.is_control()) {
        return Cow::Borrowed(line);
    }
    let mut shown = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\u{1b}' => match chars.next() {
                Some('[') => {
                    for char in chars.by_ref() {
                        if ('@'..='~').contains(&char) {
                            break;
                        }
                    }
                }
                Some(']') => {
                    while let Some(char) = chars.next() {
                        if char == '\u{7}' {
                            break;
                        }
                        if char == '\u{1b}' {
                            chars.next_if_eq(&'\\');
                            break;
                        }
                    }
                }
                _ => {}
            },
            '\t' => shown.push('\t'),
            char if char.is_control() => {}
            char => shown.push(char),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_printed_is_left() {
        assert_eq!(printable("plain\ttext"), "plain\ttext");
        assert_eq!(printable("\u{1b}[1;31mred\u{1b}[0m"), "red");
        assert_eq!(printable("10%\r50%\r100%\r"), "100%");
        assert_eq!(printable("\u{1b}]0;title\u{7}after\u{8}"), "after");
        assert_eq!(printable("\u{1b}]8;;x\u{1b}\\link"), "link");
        assert_eq!(printable("cut\u{1b}["), "cut");
    }
}
