//! Where a piece of a command stands in the file.

use std::cell::OnceCell;
use std::ops::Range;

use crate::source::{Sources, Span};
use crate::yaml::{Node, Style};

/// So many places of one kind are shown with a problem; a hostile command has any number of them.
pub(super) const MOST_SHOWN: usize = 16;

/// Every so many bytes it is noted how far the text as written has come.
const STEP: usize = 1_024;

/// A scalar of a file, with the way from its decoded text to the text as written.
#[derive(Clone, Debug)]
pub struct Site<'a> {
    span: Span,
    written: &'a str,
    decoded: &'a str,
    style: Style,
    /// From time to time a place in the decoded text and its place as written.
    marks: OnceCell<Vec<(usize, usize)>>,
}

impl<'a> Site<'a> {
    /// The site of a scalar; `None` if the node is none.
    pub fn new(node: &'a Node<'_>, sources: &'a Sources) -> Option<Self> {
        let scalar = node.as_scalar()?;
        Some(Site {
            span: node.span,
            written: sources.slice(node.span),
            decoded: &scalar.text,
            style: scalar.style,
            marks: OnceCell::new(),
        })
    }

    /// The whole scalar.
    pub fn whole(&self) -> Span {
        self.span
    }

    /// The span of some bytes of the decoded text; of the whole scalar if they cannot be found
    /// as written, as when they are spelt with escapes or come from a flag.
    pub fn span(&self, range: &Range<usize>) -> Span {
        self.find(range).map_or(self.span, |written| {
            self.span.part(written.start, written.end)
        })
    }

    /// The span of some bytes, if they are written just as they are decoded.
    pub fn exact(&self, range: &Range<usize>) -> Option<Span> {
        let written = self.find(range)?;
        let same = self.written.get(written.clone())? == self.decoded.get(range.clone())?;
        same.then(|| self.span.part(written.start, written.end))
    }

    /// The bytes as written, found from the last mark before them.
    fn find(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let marks = self.marks.get_or_init(|| {
            let mut marks = vec![(0, self.written_start())];
            self.walk((0, self.written_start()), usize::MAX, |at, written| {
                if marks.last().is_none_or(|(last, _)| at >= last + STEP) {
                    marks.push((at, written.start));
                }
            });
            marks
        });
        let mark = marks.partition_point(|(at, _)| *at <= range.start);
        let mark = *marks.get(mark.checked_sub(1)?)?;
        let mut found: Option<Range<usize>> = None;
        let agree = self.walk(mark, range.end, |at, written| {
            if at >= range.start {
                let start = found.take().map_or(written.start, |found| found.start);
                found = Some(start..written.end);
            }
        });
        found.filter(|_| agree)
    }

    /// Where the text begins behind the signs of its style.
    fn written_start(&self) -> usize {
        match self.style {
            Style::Literal | Style::Folded => self.written.find('\n').map(|at| at + 1),
            Style::SingleQuoted | Style::DoubleQuoted => Some(1),
            Style::Plain => Some(0),
        }
        .unwrap_or(self.written.len())
    }

    /// Walks both texts side by side, from a place in either to an end in the decoded one, and shows
    /// each visible character: its place there, and its bytes as written. Gives `false` if the texts
    /// part before the end. All that the styles of YAML change is white space, and in quotes what is
    /// escaped.
    fn walk(
        &self,
        (decoded_start, written_start): (usize, usize),
        end: usize,
        mut show: impl FnMut(usize, Range<usize>),
    ) -> bool {
        let decoded = self.decoded.get(decoded_start..).unwrap_or_default();
        let rest = self.written.get(written_start..).unwrap_or_default();
        let mut written = rest.char_indices().peekable();
        for (at, char) in decoded.char_indices() {
            let at = decoded_start + at;
            if at >= end {
                break;
            }
            if char.is_whitespace() {
                continue;
            }
            let Some((first, mut seen)) = self.next_visible(&mut written) else {
                return false;
            };
            let mut place = first;
            let escapes = match self.style {
                Style::SingleQuoted => seen == '\'',
                Style::DoubleQuoted => seen == '\\',
                Style::Plain | Style::Literal | Style::Folded => false,
            };
            if escapes {
                let Some(next) = written.next() else {
                    return false;
                };
                (place, seen) = next;
            }
            if seen != char {
                return false;
            }
            let written = written_start + first..written_start + place + seen.len_utf8();
            show(at, written);
        }
        true
    }

    /// The next character that is no white space. In double quotes white space can be escaped.
    fn next_visible(
        &self,
        written: &mut std::iter::Peekable<std::str::CharIndices<'_>>,
    ) -> Option<(usize, char)> {
        loop {
            let (place, char) = written.next()?;
            if char.is_whitespace() {
                continue;
            }
            let is_escape = char == '\\' && self.style == Style::DoubleQuoted;
            let is_blank = |char: &char| char.is_whitespace() || matches!(char, 'n' | 't' | 'r');
            if is_escape && written.next_if(|(_, next)| is_blank(next)).is_some() {
                continue;
            }
            return Some((place, char));
        }
    }
}
