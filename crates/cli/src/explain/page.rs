//! A page of text: rows with an origin in a dim right-hand column.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr as _;

/// How far the rows that continue a line of a script are indented.
const CONTINUED: usize = 4;

/// How a piece of text looks. Colour only repeats what the words say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    Plain,
    Title,
    Heading,
    Label,
    Dim,
    Secret,
    Warning,
}

impl Look {
    fn style(self) -> Style {
        match self {
            Look::Plain => Style::new(),
            Look::Title => Style::new().bold(),
            Look::Heading => Style::new().bold().fg_color(Some(AnsiColor::Cyan.into())),
            Look::Label | Look::Dim => Style::new().dimmed(),
            Look::Secret => Style::new().fg_color(Some(AnsiColor::Magenta.into())),
            Look::Warning => Style::new().fg_color(Some(AnsiColor::Yellow.into())),
        }
    }
}

/// One line of pieces, which may hold line breaks.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    pieces: Vec<(Look, String)>,
}

impl Line {
    pub(super) fn plain(text: impl AsRef<str>) -> Self {
        Line::default().with(Look::Plain, text)
    }

    /// Adds a piece. What could command a terminal is made visible.
    pub(super) fn with(mut self, look: Look, text: impl AsRef<str>) -> Self {
        self.pieces.push((look, visible(text.as_ref())));
        self
    }

    /// The same with something before it.
    pub(super) fn after(mut self, text: impl AsRef<str>) -> Self {
        self.pieces.insert(0, (Look::Plain, visible(text.as_ref())));
        self
    }

    /// The rows that it takes, the first at most `first` wide and the others `rest`, where they can
    /// be broken at a space; and whether each continues the one before.
    fn wrapped(&self, first: usize, rest: usize) -> Vec<(Line, bool)> {
        let mut rows = vec![(Line::default(), false)];
        let mut used = 0;
        for (look, text) in &self.pieces {
            for (index, paragraph) in text.split('\n').enumerate() {
                if index > 0 {
                    rows.push((Line::default(), false));
                    used = 0;
                }
                for word in paragraph.split_inclusive(' ') {
                    let width = if rows.len() == 1 { first } else { rest };
                    let at_space = rows.last().is_none_or(|(row, _)| row.ends_with_space());
                    if used > 0 && at_space && used + word.trim_end().width() > width {
                        rows.push((Line::default(), true));
                        used = 0;
                    }
                    used += word.width();
                    if let Some((row, _)) = rows.last_mut() {
                        row.append(*look, word);
                    }
                }
            }
        }
        rows
    }

    fn ends_with_space(&self) -> bool {
        self.pieces
            .last()
            .is_none_or(|(_, text)| text.ends_with(' '))
    }

    fn append(&mut self, look: Look, text: &str) {
        match self.pieces.last_mut() {
            Some((last, end)) if *last == look => end.push_str(text),
            _ => self.pieces.push((look, text.to_owned())),
        }
    }

    fn trim_end(&mut self) {
        if let Some((_, text)) = self.pieces.last_mut() {
            text.truncate(text.trim_end().len());
        }
    }

    fn width(&self) -> usize {
        self.pieces.iter().map(|(_, text)| text.width()).sum()
    }
}

/// The page under way.
#[derive(Debug)]
pub(super) struct Page {
    out: String,
    width: usize,
    color: bool,
}

impl Page {
    pub(super) fn new(width: usize, color: bool) -> Self {
        Page {
            out: String::new(),
            width,
            color,
        }
    }

    pub(super) fn finish(self) -> String {
        self.out
    }

    pub(super) fn blank(&mut self) {
        self.out.push('\n');
    }

    /// A row, with its origin at the right edge if there is one.
    pub(super) fn row(&mut self, indent: usize, line: &Line, origin: &str) {
        self.labelled(indent, "", 0, line, origin);
    }

    /// A line of a script: what continues it is indented more.
    pub(super) fn script_row(&mut self, indent: usize, line: &Line, origin: &str) {
        self.rows(indent, "", 0, CONTINUED, line, origin);
    }

    /// A row with a label before it; `column` is where the text starts, counted from the indent.
    pub(super) fn labelled(
        &mut self,
        indent: usize,
        label: &str,
        column: usize,
        line: &Line,
        origin: &str,
    ) {
        self.rows(indent, label, column, 0, line, origin);
    }

    fn rows(
        &mut self,
        indent: usize,
        label: &str,
        column: usize,
        hanging: usize,
        line: &Line,
        origin: &str,
    ) {
        let mut origin = shortened(&visible(origin), self.width * 2 / 5);
        let start = indent + column;
        let room = self.width.saturating_sub(start).max(20);
        let gap = if origin.is_empty() {
            0
        } else {
            origin.width() + 2
        };
        let rows = line.wrapped(
            room.saturating_sub(gap).max(20),
            room.saturating_sub(hanging).max(20),
        );
        for (index, (mut row, continued)) in rows.into_iter().enumerate() {
            row.trim_end();
            self.out.extend(std::iter::repeat_n(' ', indent));
            if index == 0 && !label.is_empty() {
                let label = visible(label);
                let pad = column.saturating_sub(label.width()).max(1);
                self.piece(Look::Label, &label);
                self.out.extend(std::iter::repeat_n(' ', pad));
            } else {
                self.out.extend(std::iter::repeat_n(' ', column));
            }
            let hanging = if continued { hanging } else { 0 };
            self.out.extend(std::iter::repeat_n(' ', hanging));
            for (look, text) in &row.pieces {
                self.piece(*look, text);
            }
            let used = start + hanging + row.width();
            // A row without a space to break it at may leave no room; the next one will.
            if !origin.is_empty() && used + 2 + origin.width() <= self.width {
                self.origin(used, &std::mem::take(&mut origin));
            }
            self.end_row();
        }
        if !origin.is_empty() {
            self.origin(0, &origin);
            self.end_row();
        }
    }

    fn origin(&mut self, used: usize, origin: &str) {
        let pad = self.width.saturating_sub(used + origin.width());
        self.out.extend(std::iter::repeat_n(' ', pad));
        self.piece(Look::Dim, origin);
    }

    fn piece(&mut self, look: Look, text: &str) {
        if self.color && look != Look::Plain {
            let style = look.style();
            let _ = write!(self.out, "{style}{text}{style:#}");
        } else {
            self.out.push_str(text);
        }
    }

    fn end_row(&mut self) {
        let trimmed = self.out.trim_end_matches(' ').len();
        self.out.truncate(trimmed);
        self.out.push('\n');
    }
}

fn shortened(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    for char in text.chars() {
        if short.width() + 2 > width {
            break;
        }
        short.push(char);
    }
    short.push('…');
    short
}

/// The text with control characters and those that turn the reading direction made visible.
fn visible(text: &str) -> String {
    text.chars()
        .map(|char| match char {
            '\n' => char,
            '\t' => ' ',
            '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(char)).unwrap_or('\u{fffd}'),
            '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
            _ => char,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_stand_at_the_right_edge() {
        let mut page = Page::new(30, false);
        page.labelled(2, "image", 8, &Line::plain("ubuntu"), "job.yaml:4");
        assert_eq!(page.finish(), "  image   ubuntu    job.yaml:4\n");
    }

    #[test]
    fn long_lines_are_broken_at_spaces_and_lose_nothing() {
        let mut page = Page::new(40, false);
        page.row(
            2,
            &Line::plain("one two three four five six seven eight"),
            "job.yaml:4",
        );
        assert_eq!(
            page.finish(),
            "  one two three four five     job.yaml:4\n  six seven eight\n"
        );
    }

    #[test]
    fn a_line_without_room_for_its_origin_gives_it_to_the_next_row() {
        let mut page = Page::new(40, false);
        page.script_row(
            2,
            &Line::plain("a-word-that-takes-all-of-the-row-or-more x"),
            "job.yaml:4",
        );
        page.row(
            2,
            &Line::plain("a-word-that-takes-all-of-the-row-or-more"),
            "job.yaml:5",
        );
        assert_eq!(
            page.finish(),
            "  a-word-that-takes-all-of-the-row-or-more\n      x                       job.yaml:4\n  \
             a-word-that-takes-all-of-the-row-or-more\n                              job.yaml:5\n"
        );
    }

    #[test]
    fn what_could_command_a_terminal_is_made_visible() {
        let mut page = Page::new(40, true);
        page.row(0, &Line::plain("a\u{1b}[31mb\u{202e}\u{9b}c"), "");
        assert_eq!(page.finish(), "a␛[31mb\u{fffd}\u{fffd}c\n");
    }

    #[test]
    fn a_word_made_of_pieces_is_not_broken() {
        let line = Line::plain("aaaa bbbb")
            .with(Look::Secret, "cccc")
            .with(Look::Plain, "dddd eeee");
        assert_eq!(line.wrapped(12, 12).len(), 2);
    }
}
