//! Texts and positions in them.

use std::sync::OnceLock;

use pinnace_core::origin::Place;

/// Which text of a [`Sources`] a span lies in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(u32);

/// A range of bytes in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The text.
    pub source: SourceId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span of bytes.
    pub fn new(source: SourceId, start: usize, end: usize) -> Self {
        Span {
            source,
            start: start as u32,
            end: end as u32,
        }
    }

    /// The same text, from here to the end of `other`.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span {
            end: other.end.max(self.end),
            ..self
        }
    }

    /// A part of this span, by byte offsets inside it.
    #[must_use]
    pub fn part(self, start: usize, end: usize) -> Span {
        Span {
            start: self.start + start as u32,
            end: self.start + end as u32,
            ..self
        }
    }

    /// The bytes as a range of indices.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Whether it covers nothing.
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }
}

/// A named text: a file, a marketplace item, or a flag of the command line.
#[derive(Debug)]
pub struct Source {
    id: SourceId,
    name: String,
    text: String,
    line_starts: OnceLock<Vec<u32>>,
}

impl Source {
    /// Its id.
    pub fn id(&self) -> SourceId {
        self.id
    }

    /// Its name as the user would say it, such as `job.yaml` or `-p`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text of a span; empty if the span is not of this text.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or_default()
    }

    /// The position of a byte: line and column from 1, the column in characters.
    pub fn place(&self, offset: u32) -> Place {
        let starts = self.line_starts();
        let line = starts.partition_point(|start| *start <= offset).max(1);
        let line_start = starts.get(line - 1).copied().unwrap_or_default() as usize;
        let before = self
            .text
            .get(line_start..offset as usize)
            .unwrap_or_default();
        Place {
            file: self.name.clone(),
            line: line as u32,
            column: before.chars().count() as u32 + 1,
        }
    }

    /// The span of the word at a position: up to the next blank or colon.
    pub fn word_at(&self, place: &Place) -> Span {
        let line = self
            .line_starts()
            .get(place.line as usize - 1)
            .copied()
            .unwrap_or_default() as usize;
        let rest = self.text.get(line..).unwrap_or_default();
        let column = rest
            .char_indices()
            .nth(place.column as usize - 1)
            .map_or(0, |(at, _)| at);
        let word = rest.get(column..).unwrap_or_default();
        let length = word
            .find([' ', '\t', '\r', '\n', ':'])
            .unwrap_or(word.len());
        Span::new(self.id, line + column, line + column + length)
    }

    /// The offsets at which lines start.
    pub fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| {
            let breaks = self
                .text
                .bytes()
                .enumerate()
                .filter(|(_, byte)| *byte == b'\n');
            std::iter::once(0)
                .chain(breaks.map(|(index, _)| index as u32 + 1))
                .collect()
        })
    }
}

const CHUNK: usize = 16;

#[derive(Debug, Default)]
struct Chunk {
    slots: [OnceLock<Source>; CHUNK],
    next: OnceLock<Box<Chunk>>,
}

/// All texts of one run. Texts are only added, so documents can borrow from it meanwhile.
#[derive(Debug, Default)]
pub struct Sources {
    /// The file. Most runs have no other text.
    first: OnceLock<Source>,
    others: OnceLock<Box<Chunk>>,
}

impl Sources {
    /// Adds a text.
    pub fn add(&self, name: impl Into<String>, text: impl Into<String>) -> &Source {
        let mut source = Source {
            id: SourceId(0),
            name: name.into(),
            text: text.into(),
            line_starts: OnceLock::new(),
        };
        match self.first.set(source) {
            Ok(()) => return self.get(SourceId(0)),
            Err(back) => source = back,
        }
        let mut chunk = self.others.get_or_init(Box::default);
        let mut index = 1;
        loop {
            for slot in &chunk.slots {
                source.id = SourceId(index);
                match slot.set(source) {
                    Ok(()) => return self.get(SourceId(index)),
                    Err(back) => source = back,
                }
                index += 1;
            }
            chunk = chunk.next.get_or_init(Box::default);
        }
    }

    /// The text of an id. An id of another `Sources` gives an empty text.
    pub fn get(&self, id: SourceId) -> &Source {
        static NONE: OnceLock<Source> = OnceLock::new();
        let found = match (id.0 as usize).checked_sub(1) {
            None => self.first.get(),
            Some(index) => {
                let mut chunk = self.others.get();
                for _ in 0..index / CHUNK {
                    chunk = chunk.and_then(|chunk| chunk.next.get());
                }
                chunk.and_then(|chunk| chunk.slots[index % CHUNK].get())
            }
        };
        found.unwrap_or_else(|| {
            NONE.get_or_init(|| Source {
                id: SourceId(u32::MAX),
                name: String::new(),
                text: String::new(),
                line_starts: OnceLock::new(),
            })
        })
    }

    /// All texts, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        let chunks = std::iter::successors(self.others.get(), |chunk| chunk.next.get());
        let others = chunks.flat_map(|chunk| chunk.slots.iter().filter_map(OnceLock::get));
        self.first.get().into_iter().chain(others)
    }

    /// The text that was added first, for who wants its memory.
    pub fn into_first_text(self) -> Option<String> {
        Some(self.first.into_inner()?.text)
    }

    /// The position of a span's first byte.
    pub fn place(&self, span: Span) -> Place {
        self.get(span.source).place(span.start)
    }

    /// The text of a span.
    pub fn slice(&self, span: Span) -> &str {
        self.get(span.source).slice(span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let sources = Sources::default();
        let source = sources.add("job.yaml", "a: 1\nß: ü2\n");
        let place = source.place(source.text().find('2').unwrap_or_default() as u32);
        assert_eq!((place.line, place.column), (2, 5));
    }

    #[test]
    fn many_sources_keep_their_ids() {
        let sources = Sources::default();
        for index in 0..100 {
            sources.add(format!("{index}"), "");
        }
        assert!((0..100).all(|index| sources.get(SourceId(index)).name() == index.to_string()));
        assert_eq!(sources.get(SourceId(100)).name(), "");
    }
}
