//! Reads both streams of a command as one, in the order in which they were written.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use super::file::rotated;
use super::order::{self, Entry, Side};
use super::read::{STDERR, STDOUT};

/// Reads from the oldest byte that is kept, or from a place before the end, and goes on when there is more.
#[derive(Debug)]
pub(super) struct CombinedReader {
    folder: PathBuf,
    /// Whether the folder was ever there.
    has_begun: bool,
    order: OrderReader,
    stdout: StreamReader,
    stderr: StreamReader,
    /// What follows: a stream, up to this byte of it.
    runs: VecDeque<(Side, u64)>,
}

impl CombinedReader {
    pub(super) fn from_start(logs: &Path) -> Self {
        let stream = |name| StreamReader::new(logs.join(name));
        Self {
            folder: logs.to_owned(),
            has_begun: false,
            order: OrderReader::new(logs.join(order::FILE_NAME)),
            stdout: stream(STDOUT),
            stderr: stream(STDERR),
            runs: VecDeque::new(),
        }
    }

    /// Starts at most so many bytes before what is now the end.
    pub(super) fn from_end(logs: &Path, bytes: u64) -> io::Result<Self> {
        let mut reader = Self::from_start(logs);
        reader.look()?;
        let mut places = Side::BOTH.map(|side| reader.stream(side).oldest());
        let mut runs = Vec::new();
        for (side, end) in &reader.runs {
            let place = &mut places[*side as usize];
            if *end > *place {
                runs.push((*side, *place, *end));
                *place = *end;
            }
        }
        for side in Side::BOTH {
            let (place, end) = (places[side as usize], reader.stream(side).end()?);
            if end > place {
                runs.push((side, place, end));
                places[side as usize] = end;
            }
        }
        let mut wanted = bytes;
        for (side, start, end) in runs.into_iter().rev() {
            let taken = wanted.min(end - start);
            if taken > 0 {
                places[side as usize] = end - taken;
            } else {
                // Nothing of this run, and so nothing of those before it.
                break;
            }
            wanted -= taken;
        }
        for side in Side::BOTH {
            reader.stream(side).place = places[side as usize];
        }
        Ok(reader)
    }

    /// Reads what is there now; 0 means that there is nothing more for the moment.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.has_begun && !self.folder.exists() {
            // A short task that has nothing to say never gets a folder.
            return Ok(0);
        }
        self.has_begun = true;
        loop {
            self.look()?;
            if let Some((side, end)) = self.runs.front().copied() {
                let stream = self.stream(side);
                let left = end.saturating_sub(stream.place);
                let part = usize::try_from(left)
                    .unwrap_or(usize::MAX)
                    .min(buffer.len());
                let Some(part) = buffer.get_mut(..part).filter(|part| !part.is_empty()) else {
                    self.runs.pop_front();
                    continue;
                };
                match stream.peek(part)? {
                    Peek::Bytes(count) => {
                        self.look()?;
                        if self.stream(side).go_on(count) {
                            return Ok(count);
                        }
                    }
                    Peek::Gone { next } => stream.place = next.min(end),
                    // Someone cut the file off.
                    Peek::Nothing => stream.place = end,
                }
                continue;
            }
            if let Some(count) = self.read_untold(buffer)? {
                return Ok(count);
            }
        }
    }

    /// Reads bytes that have no line yet; `None` if a line has come for them.
    fn read_untold(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        for side in Side::BOTH {
            let stream = self.stream(side);
            match stream.peek(buffer)? {
                Peek::Nothing => {}
                Peek::Gone { next } => {
                    stream.place = next;
                    return Ok(None);
                }
                Peek::Bytes(count) => {
                    // If there is a line now, they may belong behind bytes of the other stream.
                    let is_told = self.look()?;
                    let is_read = !is_told && self.stream(side).go_on(count);
                    return Ok(is_read.then_some(count));
                }
            }
        }
        Ok(if self.look()? { None } else { Some(0) })
    }

    /// Takes note of new lines of the order; whether there are any.
    fn look(&mut self) -> io::Result<bool> {
        let entries = self.order.read()?;
        let any = !entries.is_empty();
        for entry in entries {
            match entry {
                Entry::Run { side, end } => self.runs.push_back((side, end)),
                Entry::Rotated { side, at, inode } => self.stream(side).note_rotation(at, inode),
            }
        }
        Ok(any)
    }

    fn stream(&mut self, side: Side) -> &mut StreamReader {
        match side {
            Side::Stdout => &mut self.stdout,
            Side::Stderr => &mut self.stderr,
        }
    }
}

/// Reads the lines of the order as they come, also when the file is replaced by a shorter one. Lines that come
/// again do no harm: they tell of bytes that are already read.
#[derive(Debug)]
struct OrderReader {
    path: PathBuf,
    file: Option<(File, u64)>,
    partial: String,
}

impl OrderReader {
    fn new(path: PathBuf) -> Self {
        Self {
            path,
            file: None,
            partial: String::new(),
        }
    }

    fn read(&mut self) -> io::Result<Vec<Entry>> {
        let current = match std::fs::metadata(&self.path) {
            Ok(found) => Some(found.ino()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if current.is_some() && self.file.as_ref().map(|(_, inode)| *inode) != current {
            let file = File::open(&self.path)?;
            let inode = file.metadata()?.ino();
            self.file = Some((file, inode));
            self.partial.clear();
        }
        let Some((file, _)) = &mut self.file else {
            return Ok(Vec::new());
        };
        file.read_to_string(&mut self.partial)?;
        let whole = self.partial.rfind('\n').map_or(0, |end| end + 1);
        let lines: String = self.partial.drain(..whole).collect();
        Ok(lines.lines().filter_map(Entry::parse).collect())
    }
}

/// What a stream has at a place.
enum Peek {
    /// So many bytes were put into the buffer.
    Bytes(usize),
    /// Nothing yet.
    Nothing,
    /// Its file was rotated away; the oldest byte that may be left is this one.
    Gone {
        /// Behind what is gone.
        next: u64,
    },
}

/// One stream over its rotations. Places count from the first byte that the stream ever got.
#[derive(Debug)]
struct StreamReader {
    path: PathBuf,
    /// The next byte to read.
    place: u64,
    /// Where files end that were rotated, and their inodes.
    rotations: Vec<(u64, u64)>,
    open: Option<Open>,
}

/// A file of a stream.
#[derive(Debug)]
struct Open {
    file: File,
    /// The place of its first byte.
    start: u64,
    /// No rotation was told of between the choice of its name and its opening. Until then it may be another one.
    is_sure: bool,
}

impl StreamReader {
    fn new(path: PathBuf) -> Self {
        Self {
            path,
            place: 0,
            rotations: Vec::new(),
            open: None,
        }
    }

    fn note_rotation(&mut self, at: u64, inode: u64) {
        if self.rotations.last().is_none_or(|(last, _)| *last < at) {
            self.rotations.push((at, inode));
            self.open.take_if(|open| !open.is_sure);
        }
    }

    /// Goes on behind bytes that were peeked at; false if they must be looked for again. To be called after a look
    /// at the order.
    fn go_on(&mut self, count: usize) -> bool {
        match &mut self.open {
            Some(open) => {
                open.is_sure = true;
                self.place += count as u64;
                true
            }
            None => false,
        }
    }

    /// The first byte of the two files that are kept.
    fn oldest(&self) -> u64 {
        self.rotations.iter().rev().nth(1).map_or(0, |(at, _)| *at)
    }

    /// Where the stream ends now.
    fn end(&mut self) -> io::Result<u64> {
        let start = self.rotations.last().map_or(0, |(at, _)| *at);
        match std::fs::metadata(&self.path) {
            Ok(found) => Ok(start + found.len()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(start),
            Err(error) => Err(error),
        }
    }

    /// Reads at the place without going on.
    fn peek(&mut self, buffer: &mut [u8]) -> io::Result<Peek> {
        let known = self.rotations.partition_point(|(at, _)| *at <= self.place);
        let (earlier, later) = self.rotations.split_at(known);
        let start = earlier.last().map_or(0, |(at, _)| *at);
        let ended = later.first().copied();
        let is_open = self.open.as_ref().is_some_and(|open| open.start == start);
        if later.len() > 1 && !is_open {
            let next = self.oldest();
            return Ok(Peek::Gone { next });
        }
        if !is_open {
            let former = earlier.last().map(|(_, inode)| *inode);
            let file = match ended {
                Some((_, inode)) => self.open_rotated(|found| found == inode)?,
                None => match File::open(&self.path) {
                    Ok(file) => Some(file),
                    // Between two files, or before the first.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {
                        self.open_rotated(|found| Some(found) != former)?
                    }
                    Err(error) => return Err(error),
                },
            };
            self.open = file.map(|file| Open {
                file,
                start,
                is_sure: false,
            });
        }
        let count = match &self.open {
            Some(open) => open.file.read_at(buffer, self.place - start)?,
            None => 0,
        };
        Ok(match (count, ended) {
            (0, Some((next, _))) => Peek::Gone { next },
            (0, None) => Peek::Nothing,
            (count, _) => Peek::Bytes(count),
        })
    }

    /// The file that was rotated last, if it is the wanted one.
    fn open_rotated(&self, is_wanted: impl Fn(u64) -> bool) -> io::Result<Option<File>> {
        match File::open(rotated(&self.path)) {
            Ok(file) => {
                let inode = file.metadata()?.ino();
                Ok(is_wanted(inode).then_some(file))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::Pair;
    use super::*;
    use proptest::prelude::*;

    fn rest(reader: &mut CombinedReader, buffer: usize) -> Vec<u8> {
        let mut buffer = vec![0; buffer];
        let mut found = Vec::new();
        loop {
            match reader.read(&mut buffer).unwrap() {
                0 => return found,
                count => found.extend_from_slice(&buffer[..count]),
            }
        }
    }

    #[test]
    fn one_stream_alone_needs_no_order() {
        let folder = tempfile::tempdir().unwrap();
        let mut pair = Pair::new(folder.path(), 1 << 20);
        pair.append(Side::Stderr, b"a");
        pair.append(Side::Stderr, b"b");
        assert_eq!(
            rest(&mut CombinedReader::from_start(folder.path()), 9),
            b"ab"
        );
        assert!(!folder.path().join(order::FILE_NAME).exists());
    }

    #[test]
    fn both_streams_come_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let mut pair = Pair::new(folder.path(), 1 << 20);
        for (side, text) in [
            (Side::Stdout, "one "),
            (Side::Stdout, "two "),
            (Side::Stderr, "three "),
            (Side::Stdout, "four "),
        ] {
            pair.append(side, text.as_bytes());
        }
        let mut reader = CombinedReader::from_start(folder.path());
        assert_eq!(rest(&mut reader, 3), b"one two three four ");
        let stdout = std::fs::read_to_string(folder.path().join("stdout")).unwrap();
        assert_eq!(stdout, "one two four ");
    }

    #[test]
    fn a_file_that_was_rotated_but_not_told_of_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let mut pair = Pair::new(folder.path(), 1 << 20);
        pair.append(Side::Stdout, b"a");
        pair.append(Side::Stderr, b"b");
        let path = folder.path().join("stdout");
        std::fs::rename(&path, rotated(&path)).unwrap();
        assert_eq!(
            rest(&mut CombinedReader::from_start(folder.path()), 9),
            b"ab"
        );
    }

    #[test]
    fn a_reader_keeps_the_order_while_both_streams_are_written() {
        const WRITES: u32 = 5000;
        let folder = tempfile::tempdir().unwrap();
        let expected: Vec<u8> = (0..WRITES).flat_map(u32::to_le_bytes).collect();
        let mut reader = CombinedReader::from_start(folder.path());
        let mut seen = Vec::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut pair = Pair::new(folder.path(), 8 << 10);
                for number in 0..WRITES {
                    let side = if number % 3 == 0 {
                        Side::Stderr
                    } else {
                        Side::Stdout
                    };
                    pair.append(side, &number.to_le_bytes());
                }
            });
            while seen.len() < expected.len() && expected.starts_with(&seen) {
                seen.extend(rest(&mut reader, 512));
            }
        });
        assert_eq!(seen, expected);
    }

    proptest! {
        #[test]
        fn a_reader_sees_all_in_order_whenever_it_looks(
            writes in proptest::collection::vec((any::<bool>(), 1_usize..9, any::<bool>()), 0..40),
            bound in 4_u64..40, buffer in 1_usize..9,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut pair = Pair::new(folder.path(), bound);
            let mut reader = CombinedReader::from_start(folder.path());
            let (mut all, mut seen, mut untold) = (Vec::new(), Vec::new(), 0);
            for (number, (is_error, length, looks)) in writes.into_iter().enumerate() {
                let side = if is_error { Side::Stderr } else { Side::Stdout };
                let bytes: Vec<u8> = (0..length).map(|at| (number * 9 + at) as u8).collect();
                pair.append(side, &bytes);
                all.extend_from_slice(&bytes);
                untold += bytes.len() as u64;
                // Whoever looks often enough misses nothing.
                if looks || untold + 9 > bound {
                    seen.extend(rest(&mut reader, buffer));
                    untold = 0;
                }
            }
            seen.extend(rest(&mut reader, buffer));
            prop_assert_eq!(&seen, &all);
            // One who comes late sees what is left, in order, and its end at least.
            let late = rest(&mut CombinedReader::from_start(folder.path()), buffer);
            prop_assert!(late.len() as u64 >= bound.min(all.len() as u64));
            let mut left = all.iter();
            prop_assert!(late.iter().all(|byte| left.any(|other| other == byte)));
            for wanted in [0_u64, 1, 5, bound] {
                let mut reader = CombinedReader::from_end(folder.path(), wanted).unwrap();
                let wanted = (wanted as usize).min(late.len());
                prop_assert_eq!(rest(&mut reader, buffer), &late[late.len() - wanted..]);
            }
        }

        #[test]
        fn a_shortened_order_tells_the_same(
            writes in proptest::collection::vec((any::<bool>(), 1_usize..9), 0..60), bound in 4_u64..40,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut pair = Pair::new(folder.path(), bound);
            for (number, (is_error, length)) in writes.into_iter().enumerate() {
                let side = if is_error { Side::Stderr } else { Side::Stdout };
                pair.append(side, &vec![number as u8; length]);
            }
            let mut follower = CombinedReader::from_start(folder.path());
            let before = rest(&mut follower, 7);
            pair.shorten();
            prop_assert_eq!(rest(&mut CombinedReader::from_start(folder.path()), 7), before);
            pair.append(Side::Stdout, b"end");
            prop_assert_eq!(rest(&mut follower, 7), b"end");
        }
    }
}
