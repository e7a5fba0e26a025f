//! Numbers in what tasks print: found as it flows, kept beside the logs.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use pinnace_core::plan::MetricRule;
use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::local::now_micros;

/// The name of the file beside a task's logs.
const FILE: &str = "metrics.jsonl";

/// A longer line has no number that anyone prints on purpose.
const LONGEST_LINE: usize = 16 << 10;

/// A task that prints more numbers is not watched any longer.
const MOST_POINTS: u32 = 200_000;

/// A number that a task has printed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// When it was seen, in milliseconds since 1970.
    pub at: u64,
    /// What it is called.
    pub name: String,
    /// The number.
    pub value: f64,
}

/// All numbers of a task, in the order in which they came. A last line that is not complete is left out.
pub fn read(logs: &Path) -> io::Result<Vec<Point>> {
    let file = match File::open(logs.join(FILE)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut points = Vec::new();
    for line in BufReader::new(file).lines() {
        points.extend(serde_json::from_str::<Point>(&line?));
    }
    Ok(points)
}

/// Finds numbers in one task's output.
#[derive(Debug)]
pub(crate) struct Finder {
    rules: Vec<(String, Regex)>,
    path: PathBuf,
    file: Option<File>,
    left: u32,
}

/// The beginning of a line of one stream.
#[derive(Debug, Default)]
pub(crate) struct Partial(Vec<u8>);

impl Finder {
    /// For these rules; `None` if none of them can be used.
    pub(crate) fn new(rules: &[MetricRule], logs: &Path) -> Option<Self> {
        let compiled = rules.iter().filter_map(|rule| {
            let pattern = Regex::new(&rule.pattern).ok()?;
            Some((rule.name.clone(), pattern))
        });
        let rules: Vec<(String, Regex)> = compiled.collect();
        (!rules.is_empty()).then(|| Self {
            rules,
            path: logs.join(FILE),
            file: None,
            left: MOST_POINTS,
        })
    }

    /// Takes in what a stream says next.
    pub(crate) fn feed(&mut self, bytes: &[u8], partial: &mut Partial) {
        if self.left == 0 {
            return;
        }
        let mut found = Vec::new();
        let mut rest = bytes;
        // Progress bars end their lines with a carriage return.
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, following) = rest.split_at(end);
            rest = following.get(1..).unwrap_or_default();
            if partial.0.is_empty() {
                self.search(line, &mut found);
            } else {
                partial.0.extend_from_slice(line);
                let whole = std::mem::take(&mut partial.0);
                self.search(&whole, &mut found);
            }
        }
        if partial.0.len() + rest.len() <= LONGEST_LINE {
            partial.0.extend_from_slice(rest);
        }
        self.keep(&found);
    }

    /// The stream has ended, perhaps within a line.
    pub(crate) fn finish(&mut self, partial: &mut Partial) {
        let mut found = Vec::new();
        self.search(&std::mem::take(&mut partial.0), &mut found);
        self.keep(&found);
    }

    fn search(&mut self, line: &[u8], found: &mut Vec<u8>) {
        if line.is_empty() || line.len() > LONGEST_LINE {
            return;
        }
        let line = String::from_utf8_lossy(line);
        for (name, pattern) in &self.rules {
            for groups in pattern.captures_iter(&line) {
                let number = groups.get(1).and_then(|group| group.as_str().parse().ok());
                let Some(value) = number.filter(|value: &f64| value.is_finite()) else {
                    continue;
                };
                if self.left == 0 {
                    return;
                }
                self.left -= 1;
                let point = Point {
                    at: now_micros() / 1000,
                    name: name.clone(),
                    value,
                };
                if serde_json::to_writer(&mut *found, &point).is_ok() {
                    found.push(b'\n');
                }
            }
        }
    }

    /// A disk that takes no numbers takes no logs either, and that is told.
    fn keep(&mut self, lines: &[u8]) {
        if lines.is_empty() {
            return;
        }
        if self.file.is_none() {
            let opened = OpenOptions::new()
                .append(true)
                .create(true)
                .open(&self.path);
            self.file = opened.ok();
        }
        if let Some(file) = &mut self.file {
            let _ = file.write_all(lines);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(rules: &[(&str, &str)], parts: &[&str]) -> Vec<(String, f64)> {
        let scratch = tempfile::tempdir().unwrap();
        let rules: Vec<MetricRule> = rules
            .iter()
            .map(|(name, pattern)| MetricRule {
                name: (*name).to_owned(),
                pattern: (*pattern).to_owned(),
            })
            .collect();
        let Some(mut finder) = Finder::new(&rules, scratch.path()) else {
            return Vec::new();
        };
        let mut partial = Partial::default();
        for part in parts {
            finder.feed(part.as_bytes(), &mut partial);
        }
        finder.finish(&mut partial);
        let points = read(scratch.path()).unwrap();
        points
            .into_iter()
            .map(|point| (point.name, point.value))
            .collect()
    }

    #[test]
    fn numbers_are_found_however_the_text_is_cut() {
        let rules = [("loss", r"loss=([0-9.e-]+)"), ("acc", r"acc: ([0-9.]+)%")];
        let text = "epoch 1 loss=0.5 acc: 10%\rloss=2e-3\n\nnothing\nacc: 99.5%";
        let wanted = [("loss", 0.5), ("acc", 10.0), ("loss", 0.002), ("acc", 99.5)];
        let wanted = wanted.map(|(name, value)| (name.to_owned(), value));
        assert_eq!(found(&rules, &[text]), wanted);
        let single: Vec<&str> = text.split_inclusive(|_: char| true).collect();
        assert_eq!(found(&rules, &single), wanted);
    }

    #[test]
    fn what_is_no_number_or_no_pattern_is_left_out() {
        assert_eq!(found(&[("x", "x=(.*)")], &["x=nan\nx=abc\n"]), []);
        assert_eq!(found(&[("x", "(")], &["x=1\n"]), []);
        assert_eq!(found(&[("x", "x=1")], &["x=1\n"]), []);
    }

    #[test]
    fn a_line_without_end_does_not_fill_the_memory() {
        let long = "a".repeat(LONGEST_LINE * 4);
        let after = found(&[("x", "x=([0-9]+)")], &[&long, &long, "\nx=1\n"]);
        assert_eq!(after, [("x".to_owned(), 1.0)]);
    }
}
