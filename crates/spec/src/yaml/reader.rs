//! The cursor over the text: where it stands, what blanks it passed, what it has to say.

use std::collections::{HashMap, HashSet};

use super::anchors::Anchor;
use super::find::count_spaces;
use super::flow::Brackets;
use super::{Comment, Entry, Limits, Node};
use crate::diagnostic::{Diagnostic, Diagnostics, Edit, codes};
use crate::source::{SourceId, Span};

/// After so many problems the rest of a text is not read: by then it is something else than YAML.
const MOST_PROBLEMS: usize = 20;

/// No such position.
pub(super) const NOWHERE: usize = usize::MAX;

pub(super) struct Reader<'s> {
    pub(super) text: &'s str,
    /// The text's bytes, cut short when reading is given up, so that every loop sees the end.
    pub(super) bytes: &'s [u8],
    pub(super) pos: usize,
    /// Where column 0 of the current line is. Lies before the line (and may wrap below 0) if tabs
    /// indent it, since each is then taken for several columns.
    line_start: usize,
    /// Where the first word of the current line stands.
    first_on_line: usize,
    /// The first tab among the blanks passed last, if they lie on the current line.
    pub(super) tab: usize,
    /// The `---` or `...` at which the cursor was stopped.
    marker: usize,
    source: SourceId,
    pub(super) limits: Limits,
    pub(super) depth: usize,
    pub(super) nodes_left: usize,
    pub(super) anchors: HashMap<&'s str, Anchor<'s>>,
    /// The last `*` of the text, once asked for.
    pub(super) last_star: Option<usize>,
    /// The handles that `%TAG` directives declare.
    pub(super) tag_handles: HashSet<&'s str>,
    pub(super) comments: Vec<Comment<'s>>,
    /// The entries of the mappings that are being read, the innermost mapping's last, so that each
    /// mapping is stored once its length is known.
    pub(super) entries: Vec<Entry<'s>>,
    /// The items of the lists that are being read, likewise.
    pub(super) items: Vec<Node<'s>>,
    pub(super) complete: bool,
    pub(super) problems: Vec<Diagnostic>,
    stopped: bool,
    tabs: Tabs,
    pub(super) brackets: Brackets,
}

/// All tabs that indent lines make one problem, with one repair.
#[derive(Default)]
struct Tabs {
    first: Option<Diagnostic>,
    edits: Vec<Edit>,
}

impl<'s> Reader<'s> {
    pub(super) fn new(text: &'s str, source: SourceId, limits: Limits) -> Self {
        Reader {
            text,
            bytes: text.as_bytes(),
            pos: 0,
            line_start: 0,
            first_on_line: 0,
            tab: NOWHERE,
            marker: NOWHERE,
            source,
            limits,
            depth: 0,
            nodes_left: limits.nodes,
            anchors: HashMap::new(),
            last_star: None,
            tag_handles: HashSet::new(),
            comments: Vec::new(),
            entries: Vec::with_capacity(64),
            items: Vec::with_capacity(64),
            complete: true,
            problems: Vec::new(),
            stopped: false,
            tabs: Tabs::default(),
            brackets: Brackets::default(),
        }
    }

    /// The byte at the cursor; 0 at the end.
    #[inline]
    pub(super) fn peek(&self) -> u8 {
        self.byte(self.pos)
    }

    /// The byte at a position; 0 past the end.
    #[inline]
    pub(super) fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    /// Whether a blank, a line break or the end is at a position.
    #[inline]
    pub(super) fn is_blank(&self, at: usize) -> bool {
        match self.bytes.get(at) {
            Some(byte) => is_blank(*byte),
            None => true,
        }
    }

    /// Whether an indicator such as `-` stands at the cursor with a blank after it.
    #[inline]
    pub(super) fn at_indicator(&self, indicator: u8) -> bool {
        self.peek() == indicator && self.is_blank(self.pos + 1)
    }

    /// Whether the document ends at the cursor.
    #[inline]
    pub(super) fn ended(&self) -> bool {
        self.pos >= self.bytes.len() || self.pos == self.marker
    }

    #[inline]
    pub(super) fn column(&self) -> usize {
        self.pos.wrapping_sub(self.line_start)
    }

    /// Tells lines apart.
    #[inline]
    pub(super) fn line(&self) -> usize {
        self.line_start
    }

    /// How many spaces indent the current line before its first tab.
    pub(super) fn indent(&self) -> usize {
        self.tab.wrapping_sub(self.line_start)
    }

    #[inline]
    pub(super) fn is_first_on_line(&self) -> bool {
        self.pos == self.first_on_line
    }

    pub(super) fn slice(&self, start: usize, end: usize) -> &'s str {
        self.text.get(start..end).unwrap_or_default()
    }

    #[inline]
    pub(super) fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.source, start, end)
    }

    /// Passes blanks, line breaks and comments up to the next word, and notes whether the word is
    /// the first on its line and whether it is a document marker.
    #[inline]
    pub(super) fn skip_separation(&mut self) {
        // Most often nothing at all or one space.
        let after_space = self.pos + usize::from(self.peek() == b' ');
        if self.is_word(after_space) {
            self.pos = after_space;
        } else {
            self.skip_lines();
        }
    }

    #[inline(never)]
    fn skip_lines(&mut self) {
        // Most often the end of this line and the indentation of the next.
        let line = self.pos + 1;
        let word = line + count_spaces(self.bytes, line);
        if self.peek() == b'\n' && self.is_word(word) {
            self.enter_line(line, word);
        } else {
            self.skip_much_separation();
        }
    }

    /// Whether neither a blank, a line break, a `#` nor the end is at a position.
    #[inline]
    pub(super) fn is_word(&self, at: usize) -> bool {
        match self.bytes.get(at) {
            Some(byte) => !SEPARATES[usize::from(*byte)],
            None => false,
        }
    }

    fn skip_much_separation(&mut self) {
        let mut bytes = self.bytes;
        let mut pos = self.pos;
        let mut crossed = false;
        loop {
            match bytes.get(pos) {
                Some(b' ') => pos += 1,
                Some(b'\n') => {
                    pos += 1;
                    self.line_start = pos;
                    self.tab = NOWHERE;
                    crossed = true;
                }
                Some(b'\r') => {
                    pos += 1 + usize::from(bytes.get(pos + 1) == Some(&b'\n'));
                    self.line_start = pos;
                    self.tab = NOWHERE;
                    crossed = true;
                }
                Some(b'\t') => {
                    self.tab = self.tab.min(pos);
                    pos += 1;
                }
                Some(b'#') if pos == 0 || is_blank(bytes[pos - 1]) => {
                    pos = self.comment(pos);
                    // Shorter now if that was one too many.
                    bytes = self.bytes;
                }
                _ => break,
            }
        }
        self.pos = pos;
        if crossed {
            self.first_on_line = pos;
            self.note_marker();
        }
    }

    /// Passes blanks on the current line only.
    #[inline]
    pub(super) fn skip_blanks(&mut self) {
        while matches!(self.peek(), b' ' | b'\t') {
            self.pos += 1;
        }
    }

    /// Keeps the comment at a position and gives its end.
    pub(super) fn comment(&mut self, start: usize) -> usize {
        let end = self.line_end(start);
        let span = self.span(start, end);
        let text = self.slice(start + 1, end).trim();
        if self.charge(1, span) {
            self.comments.push(Comment { span, text });
        }
        end
    }

    /// The end of the line that a position lies in, before its line break.
    pub(super) fn line_end(&self, from: usize) -> usize {
        let rest = self.bytes.get(from..).unwrap_or_default();
        from + memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len())
    }

    /// The start of the next line, given the end of one.
    #[inline]
    pub(super) fn next_line(&self, line_end: usize) -> usize {
        match self.byte(line_end) {
            b'\r' if self.byte(line_end + 1) == b'\n' => line_end + 2,
            b'\r' | b'\n' => line_end + 1,
            _ => line_end,
        }
    }

    /// Puts the cursor on the first word of the line that starts at `line_start`.
    #[inline]
    pub(super) fn enter_line(&mut self, line_start: usize, first_word: usize) {
        self.line_start = line_start;
        self.pos = first_word;
        self.first_on_line = first_word;
        self.tab = NOWHERE;
        self.note_marker();
    }

    /// Says that only blanks stand before the cursor on its line.
    pub(super) fn begin_line(&mut self) {
        self.first_on_line = self.pos;
        self.note_marker();
    }

    pub(super) fn skip_byte_order_mark(&mut self) {
        self.pos = '\u{feff}'.len_utf8();
        self.line_start = self.pos;
    }

    /// Ends the text at a position.
    pub(super) fn cut(&mut self, end: usize) {
        self.bytes = &self.bytes[..end.min(self.bytes.len())];
    }

    #[inline]
    pub(super) fn note_marker(&mut self) {
        if self.pos == self.line_start && self.is_marker(self.pos) {
            self.marker = self.pos;
        }
    }

    /// Whether `---` or `...` with a blank after it stands at a position.
    #[inline]
    pub(super) fn is_marker(&self, at: usize) -> bool {
        matches!(self.byte(at), b'-' | b'.')
            && matches!(self.bytes.get(at..at + 3), Some(b"---" | b"..."))
            && self.is_blank(at + 3)
    }

    /// Notes a problem that makes the tree incomplete.
    #[cold]
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        if self.stopped {
            return;
        }
        self.complete = false;
        self.problems.push(diagnostic);
        if self.problems.len() >= MOST_PROBLEMS {
            self.stop();
        }
    }

    /// Gives the rest of the text up.
    #[cold]
    pub(super) fn stop(&mut self) {
        self.complete = false;
        self.stopped = true;
        self.bytes = &self.bytes[..self.pos.min(self.bytes.len())];
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Takes nodes from the budget. Reading stops when it is used up.
    #[inline]
    pub(super) fn charge(&mut self, nodes: usize, at: Span) -> bool {
        if let Some(left) = self.nodes_left.checked_sub(nodes) {
            self.nodes_left = left;
            return true;
        }
        self.over_budget(at);
        false
    }

    #[cold]
    fn over_budget(&mut self, at: Span) {
        let limit = self.limits.nodes;
        self.report(
            Diagnostic::new(
                &codes::TOO_MANY_NODES,
                at,
                format!("the document has more than {limit} nodes"),
            )
            .label("reading stopped here")
            .help("every value and every comment counts, and an alias counts as much as what it repeats"),
        );
        self.stop();
    }

    /// Goes one level deeper. The caller calls [`Self::leave`] if it succeeds.
    #[inline]
    pub(super) fn enter(&mut self) -> bool {
        if self.depth >= self.limits.depth {
            self.too_deep();
            return false;
        }
        self.depth += 1;
        true
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    #[cold]
    pub(super) fn too_deep(&mut self) {
        let limit = self.limits.depth;
        let at = self.char_span(self.pos);
        self.report(
            Diagnostic::new(
                &codes::TOO_DEEP,
                at,
                format!("the document is nested more than {limit} levels deep"),
            )
            .label("reading stopped here"),
        );
        self.stop();
    }

    /// Notes the tab that indents the word at the cursor, and takes every tab before the word
    /// for two columns from here on.
    #[cold]
    pub(super) fn settle_tab(&mut self) {
        let from = if self.is_first_on_line() {
            self.real_line_start()
        } else {
            self.tab
        };
        let blanks = self.slice(from, self.pos);
        let width = blanks
            .bytes()
            .map(|byte| 1 + usize::from(byte == b'\t'))
            .sum::<usize>();
        let spaces = if self.is_first_on_line() {
            self.line_start = self.pos.wrapping_sub(width);
            " ".repeat(width)
        } else {
            " ".to_owned()
        };
        let tab = self.span(self.tab, self.tab + 1);
        self.tab = NOWHERE;
        self.complete = false;
        self.tabs.edits.push(Edit {
            span: self.span(from, self.pos),
            replacement: spaces,
        });
        if self.tabs.first.is_none() {
            self.tabs.first = Some(
                Diagnostic::new(&codes::TAB_INDENT, tab, "")
                    .label("a tab")
                    .help("YAML wants spaces here; let your editor insert spaces for the tab key"),
            );
        }
    }

    /// Takes the tabs before the word at the cursor, noted last, to reach up to a column.
    #[cold]
    pub(super) fn snap_tab(&mut self, column: usize) {
        if self.is_first_on_line()
            && let Some(edit) = self.tabs.edits.last_mut()
        {
            self.line_start = self.pos.wrapping_sub(column);
            edit.replacement = " ".repeat(column);
        }
    }

    /// Where the line of the cursor starts, tabs or not.
    pub(super) fn real_line_start(&self) -> usize {
        let before = self.bytes.get(..self.pos).unwrap_or_default();
        before
            .iter()
            .rposition(|byte| matches!(byte, b'\n' | b'\r'))
            .map_or(0, |at| at + 1)
    }

    /// The diagnostics, in the order of the text.
    pub(super) fn take_diagnostics(&mut self) -> Diagnostics {
        if let Some(mut tabs) = self.tabs.first.take() {
            tabs.message = match self.tabs.edits.len() {
                1 => "a tab indents this line".to_owned(),
                lines => format!("tabs indent this line and {} others", lines - 1),
            };
            tabs.fix = Some(crate::diagnostic::Fix {
                title: "indent with spaces".to_owned(),
                edits: std::mem::take(&mut self.tabs.edits),
            });
            self.problems.push(tabs);
        }
        self.problems.sort_by_key(|problem| problem.span.start);
        let mut diagnostics = Diagnostics::default();
        for problem in self.problems.drain(..) {
            diagnostics.push(problem);
        }
        diagnostics
    }

    /// After a problem: goes to the next line that is not indented deeper than `column`, so that
    /// the lines which belong to the faulty one are not reported as well.
    #[cold]
    pub(super) fn resync(&mut self, column: isize) {
        self.pos = self.line_end(self.pos);
        loop {
            self.skip_separation();
            if self.ended() || (self.column() as isize) <= column {
                return;
            }
            self.pos = self.line_end(self.pos);
        }
    }
}

/// The bytes that may stand between words: blanks, line breaks and the start of a comment.
static SEPARATES: [bool; 256] = {
    let mut separates = [false; 256];
    separates[b' ' as usize] = true;
    separates[b'\t' as usize] = true;
    separates[b'\n' as usize] = true;
    separates[b'\r' as usize] = true;
    separates[b'#' as usize] = true;
    separates
};

#[inline]
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

#[inline]
pub(super) fn is_flow_indicator(byte: u8) -> bool {
    matches!(byte, b',' | b'[' | b']' | b'{' | b'}')
}
