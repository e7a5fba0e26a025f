//! In which order a command wrote to its two streams.
//!
//! The bytes lie in `stdout` and `stderr`, each once. The file `order` tells how they follow each other, a line for
//! each change from one stream to the other:
//!
//! | line | what it says |
//! | --- | --- |
//! | `o 120`, `e 80` | here follows `stdout`, or `stderr`, up to this byte of all that it ever got |
//! | `O 4096 77`, `E 4096 77` | at this byte the stream was rotated; the file with all before it has this inode |
//!
//! A line is written before the first byte that comes after what it tells of. So bytes without a line are all of one
//! stream and come last, and a log of one stream needs no such file.

use std::fmt;

/// One of the two streams of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Stdout,
    Stderr,
}

impl Side {
    pub(super) const BOTH: [Side; 2] = [Side::Stdout, Side::Stderr];

    pub(super) fn other(self) -> Self {
        match self {
            Side::Stdout => Side::Stderr,
            Side::Stderr => Side::Stdout,
        }
    }
}

/// The name of the file.
pub(super) const FILE_NAME: &str = "order";

/// One line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// Here follow the bytes of a stream up to this one.
    Run { side: Side, end: u64 },
    /// Here a stream was rotated.
    Rotated { side: Side, at: u64, inode: u64 },
}

impl Entry {
    pub(super) fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let (kind, offset) = (words.next()?, words.next()?.parse().ok()?);
        let run = |side| Entry::Run { side, end: offset };
        match kind {
            "o" => return Some(run(Side::Stdout)),
            "e" => return Some(run(Side::Stderr)),
            _ => {}
        }
        let inode = words.next()?.parse().ok()?;
        let rotated = |side| Entry::Rotated {
            side,
            at: offset,
            inode,
        };
        match kind {
            "O" => Some(rotated(Side::Stdout)),
            "E" => Some(rotated(Side::Stderr)),
            _ => None,
        }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Entry::Run { side, end } => {
                let kind = match side {
                    Side::Stdout => 'o',
                    Side::Stderr => 'e',
                };
                writeln!(f, "{kind} {end}")
            }
            Entry::Rotated { side, at, inode } => {
                let kind = match side {
                    Side::Stdout => 'O',
                    Side::Stderr => 'E',
                };
                writeln!(f, "{kind} {at} {inode}")
            }
        }
    }
}

/// What is left of an order when the lines about bytes are dropped that are gone: of each stream, two files are kept.
pub(super) fn shortened(text: &str) -> String {
    let entries: Vec<Entry> = text.lines().filter_map(Entry::parse).collect();
    let oldest = Side::BOTH.map(|wanted| {
        let mut rotations = entries.iter().rev().filter_map(|entry| match entry {
            Entry::Rotated { side, at, .. } if *side == wanted => Some(*at),
            _ => None,
        });
        rotations.nth(1).unwrap_or_default()
    });
    entries
        .iter()
        .filter(|entry| match entry {
            Entry::Run { side, end } => *end > oldest[*side as usize],
            Entry::Rotated { side, at, .. } => *at >= oldest[*side as usize],
        })
        .map(Entry::to_string)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_are_written() {
        for side in Side::BOTH {
            let rotated = Entry::Rotated {
                side,
                at: 7,
                inode: 9,
            };
            for entry in [Entry::Run { side, end: 1 << 40 }, rotated] {
                assert_eq!(Entry::parse(entry.to_string().trim_end()), Some(entry));
            }
        }
        for strange in ["", "o", "o x", "O 7", "x 1 2"] {
            assert_eq!(Entry::parse(strange), None);
        }
    }

    #[test]
    fn only_lines_about_bytes_that_are_gone_are_dropped() {
        let order = "o 10\ne 5\nO 20 1\no 25\ne 6\nO 40 2\ne 7\nO 60 3\n";
        assert_eq!(shortened(order), "e 5\ne 6\nO 40 2\ne 7\nO 60 3\n");
    }
}
