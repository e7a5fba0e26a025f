//! Where a piece of a command stands in the file.

use std::ops::Range;

use crate::source::{Sources, Span};
use crate::yaml::{Node, Style};

/// A scalar of a file, with the way from its decoded text to the text as written.
#[derive(Clone, Debug)]
pub struct Site<'a> {
    span: Span,
    written: &'a str,
    decoded: &'a str,
    style: Style,
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

    /// Walks both texts side by side. All that the styles of YAML change is white space, and in
    /// quotes what is escaped.
    fn find(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let mut written = self.written.char_indices().peekable();
        match self.style {
            Style::Literal | Style::Folded => {
                written.find(|(_, char)| *char == '\n')?;
            }
            Style::SingleQuoted | Style::DoubleQuoted => {
                written.next()?;
            }
            Style::Plain => {}
        }
        let mut start = None;
        let mut end = None;
        for (at, char) in self.decoded.char_indices() {
            if at >= range.end {
                break;
            }
            if char.is_whitespace() {
                continue;
            }
            let (mut place, mut seen) = self.next_visible(&mut written)?;
            let first = place;
            let escapes = match self.style {
                Style::SingleQuoted => seen == '\'',
                Style::DoubleQuoted => seen == '\\',
                Style::Plain | Style::Literal | Style::Folded => false,
            };
            if escapes {
                (place, seen) = written.next()?;
            }
            if seen != char {
                return None;
            }
            if at >= range.start {
                start.get_or_insert(first);
                end = Some(place + seen.len_utf8());
            }
        }
        Some(start?..end?)
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
