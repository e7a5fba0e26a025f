//! The part of a text that is shown with a problem: few lines, none too long, secrets masked,
//! nothing that acts on a terminal; and where the places of the text are in it.

use std::ops::Range;

use super::harmless;
use crate::secrets::MASK_CHAR;
use crate::source::Source;

/// Stands for the name of a file until the text is drawn; never shown.
pub(super) const MARK: char = '\u{e000}';

/// Longer lines are cut.
const LONGEST_LINE: usize = 120;

/// So much of a cut line is shown before the place that matters.
const LEAD: usize = 40;

/// Lines so near to one that matters are shown if they fill a gap.
const NEAR: usize = 2;

/// A part of a text, made to be shown.
pub(super) struct Window {
    pub(super) text: String,
    /// The number of its first line, from 1.
    pub(super) first_line: usize,
    /// For each character shown: where it stands in the source, and where in `text`.
    points: Vec<(usize, usize)>,
    /// Whether a line was too long to be shown whole.
    pub(super) is_cut: bool,
}

impl Window {
    /// Shows the lines on which `focus` lies (ranges of bytes, each within one line or a few);
    /// `hidden` are the ranges not to show, in order.
    pub(super) fn new(source: &Source, focus: &[Range<usize>], hidden: &[Range<usize>]) -> Self {
        let starts = source.line_starts();
        let line_of = |offset: usize| {
            starts
                .partition_point(|start| *start as usize <= offset)
                .max(1)
                - 1
        };
        let first = focus.iter().map(|range| line_of(range.start)).min();
        let last = focus
            .iter()
            .map(|range| line_of(range.end.max(range.start)))
            .max();
        let (first, last) = (first.unwrap_or_default(), last.unwrap_or_default());
        let mut window = Window {
            text: String::new(),
            first_line: first + 1,
            points: Vec::new(),
            is_cut: false,
        };
        for line in first..=last {
            let range = line_range(source, line);
            let is_near = focus.iter().any(|focus| {
                line + NEAR >= line_of(focus.start) && line <= line_of(focus.end) + NEAR
            });
            if is_near {
                window.add_line(source, range, focus, hidden);
            }
            if line < last {
                window.text.push('\n');
            }
        }
        window
    }

    fn add_line(
        &mut self,
        source: &Source,
        line: Range<usize>,
        focus: &[Range<usize>],
        hidden: &[Range<usize>],
    ) {
        let text = source.text();
        let cut = cut(text, line.clone(), focus);
        if cut.start > line.start {
            self.text.push('…');
            self.is_cut = true;
        }
        let mut next_hidden = hidden.partition_point(|range| range.end <= cut.start);
        for (at, char) in text.get(cut.clone()).unwrap_or_default().char_indices() {
            let at = cut.start + at;
            while hidden.get(next_hidden).is_some_and(|range| range.end <= at) {
                next_hidden += 1;
            }
            let masked = hidden
                .get(next_hidden)
                .is_some_and(|range| range.start <= at && !char.is_whitespace());
            self.points.push((at, self.text.len()));
            self.text
                .push(if masked { MASK_CHAR } else { harmless(char) });
        }
        self.points.push((cut.end, self.text.len()));
        if cut.end < line.end {
            self.text.push('…');
            self.is_cut = true;
        }
    }

    /// Where an offset of the source is in the window; the nearest place before it if it is not
    /// shown.
    pub(super) fn place_of(&self, offset: usize) -> usize {
        let after = self.points.partition_point(|(source, _)| *source <= offset);
        self.points
            .get(after.saturating_sub(1))
            .map_or(0, |(_, shown)| *shown)
    }

    /// The same for a range.
    pub(super) fn range_of(&self, range: &Range<usize>) -> Range<usize> {
        let start = self.place_of(range.start);
        start..self.place_of(range.end).max(start)
    }

    /// Whether an offset is shown.
    pub(super) fn shows(&self, offset: usize) -> bool {
        self.points
            .binary_search_by_key(&offset, |(source, _)| *source)
            .is_ok()
    }
}

/// The bytes of a line without its end.
pub(super) fn line_range(source: &Source, line: usize) -> Range<usize> {
    let starts = source.line_starts();
    let text = source.text();
    let start = starts.get(line).map_or(text.len(), |start| *start as usize);
    let end = starts
        .get(line + 1)
        .map_or(text.len(), |next| *next as usize);
    let content = text.get(start..end).unwrap_or_default();
    let content = content.strip_suffix('\n').unwrap_or(content);
    let content = content.strip_suffix('\r').unwrap_or(content);
    start..start + content.len()
}

/// The part of a long line around the first place that matters.
fn cut(text: &str, line: Range<usize>, focus: &[Range<usize>]) -> Range<usize> {
    if line.len() <= LONGEST_LINE {
        return line;
    }
    let first = focus
        .iter()
        .map(|range| range.start)
        .filter(|start| line.start <= *start && *start <= line.end)
        .min()
        .unwrap_or(line.start);
    let before = text.get(line.start..first).unwrap_or_default();
    let lead = before.char_indices().rev().take(LONGEST_LINE - LEAD);
    let start = if lead.clone().count() < LONGEST_LINE - LEAD {
        line.start
    } else {
        lead.take(LEAD)
            .last()
            .map_or(line.start, |(at, _)| line.start + at)
    };
    let rest = text.get(start..line.end).unwrap_or_default();
    let end = rest
        .char_indices()
        .nth(LONGEST_LINE)
        .map_or(line.end, |(at, _)| start + at);
    start..end
}
