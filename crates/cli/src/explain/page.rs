//! A page of text: rows with an origin in a dim right-hand column.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr as _;

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

    /// The rows that it takes, each at most `width` wide where it can be broken at a space.
    fn wrapped(&self, width: usize) -> Vec<Line> {
        let mut rows = vec![Line::default()];
        let mut used = 0;
        for (look, text) in &self.pieces {
            for (index, paragraph) in text.split('\n').enumerate() {
                if index > 0 {
                    rows.push(Line::default());
                    used = 0;
                }
                for word in paragraph.split_inclusive(' ') {
                    let needed = word.trim_end().width();
                    let starts_word = rows.last().is_none_or(Line::ends_with_space);
                    if used > 0 && used + needed > width && starts_word {
                        rows.push(Line::default());
                        used = 0;
                    }
                    used += word.width();
                    if let Some(row) = rows.last_mut() {
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

    /// A row with a label before it; `column` is where the text starts, counted from the indent.
    /// Further rows of the same text are indented a little more when they continue a line.
    pub(super) fn labelled(
        &mut self,
        indent: usize,
        label: &str,
        column: usize,
        line: &Line,
        origin: &str,
    ) {
        let origin = shortened(&visible(origin), self.width * 2 / 5);
        let start = indent + column;
        let gap = if origin.is_empty() {
            0
        } else {
            origin.width() + 2
        };
        let room = self.width.saturating_sub(start + gap).max(20);
        for (index, mut row) in line.wrapped(room).into_iter().enumerate() {
            row.trim_end();
            self.out.extend(std::iter::repeat_n(' ', indent));
            if index == 0 && !label.is_empty() {
                let label = format!("{label:column$}");
                self.piece(Look::Label, &label);
            } else {
                self.out.extend(std::iter::repeat_n(' ', column));
            }
            for (look, text) in &row.pieces {
                self.piece(*look, text);
            }
            if index == 0 && !origin.is_empty() {
                let used = start + row.width();
                let pad = self.width.saturating_sub(used + origin.width()).max(2);
                self.out.extend(std::iter::repeat_n(' ', pad));
                self.piece(Look::Dim, &origin);
            }
            self.end_row();
        }
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
        let rows: Vec<usize> = line.wrapped(12).iter().map(Line::width).collect();
        assert_eq!(rows.len(), 2);
    }
}
