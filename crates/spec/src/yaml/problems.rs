//! What is said about a text that is not YAML. No message holds a part of a value, since any value
//! may be a secret; keys and indicators may be named.

use std::borrow::Cow;

use super::anchors::Properties;
use super::block::Place;
use super::reader::Reader;
use super::{Key, Node, Scalar, Style, Value};
use crate::diagnostic::{Diagnostic, Edit, Fix, codes};
use crate::source::Span;

/// A key cut to a length that fits into a message.
pub(super) fn shorten(key: &str) -> Cow<'_, str> {
    const LONGEST: usize = 60;
    match key.char_indices().nth(LONGEST) {
        Some((at, _)) => Cow::Owned(format!("{}…", &key[..at])),
        None => Cow::Borrowed(key),
    }
}

impl<'s> Reader<'s> {
    fn syntax(&self, start: usize, end: usize, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(&codes::SYNTAX, self.span(start, end), message)
    }

    /// The length of the character at the cursor; 0 at the end.
    pub(super) fn char_len(&self) -> usize {
        let rest = self
            .text
            .get(self.pos..self.bytes.len())
            .unwrap_or_default();
        rest.chars().next().map_or(0, char::len_utf8)
    }

    /// The span of the character at a position.
    pub(super) fn char_span(&self, at: usize) -> Span {
        let rest = self.text.get(at..).unwrap_or_default();
        self.span(at, at + rest.chars().next().map_or(0, char::len_utf8))
    }

    /// What stands from a position to the end of the line, without a comment.
    pub(super) fn rest_of_line(&self, start: usize) -> (usize, usize) {
        let line = self.slice(start, self.line_end(start));
        let comment = line
            .match_indices('#')
            .map(|(at, _)| at)
            .find(|at| *at > 0 && line[..*at].ends_with([' ', '\t']));
        let text = line[..comment.unwrap_or(line.len())].trim_end();
        (start, start + text.len())
    }

    /// Puts what stands from a position to the end of the line into quotes. Written as insertions,
    /// so that the text, which may be a secret, is not in the repair.
    pub(super) fn quote_fix(&self, start: usize) -> Fix {
        let (start, end) = self.rest_of_line(start);
        let insert = |at: usize| Edit {
            span: self.span(at, at),
            replacement: "'".to_owned(),
        };
        let inner = self
            .slice(start, end)
            .match_indices('\'')
            .map(|(at, _)| insert(start + at));
        let edits = std::iter::once(insert(start))
            .chain(inner)
            .chain([insert(end)])
            .collect();
        Fix {
            title: "put the text in quotes".to_owned(),
            edits,
        }
    }

    /// The column of the next word, if it stands on a later line.
    pub(super) fn next_word_column(&self) -> Option<usize> {
        let mut line = self.line_end(self.pos);
        loop {
            let start = self.next_line(line);
            if start == line {
                return None;
            }
            let spaces = self
                .bytes
                .get(start..)?
                .iter()
                .take_while(|byte| **byte == b' ')
                .count();
            let word = start + spaces;
            if !matches!(self.byte(word), b'\n' | b'\r') {
                return Some(spaces);
            }
            line = word;
        }
    }

    /// Whether the line at the cursor looks like an entry of a list or mapping.
    pub(super) fn starts_entry(&self) -> bool {
        self.at_indicator(b'?') || self.is_entry(self.pos)
    }

    /// Whether `- ` or a key stands at a position.
    pub(super) fn is_entry(&self, at: usize) -> bool {
        let dash = self.byte(at) == b'-' && self.is_blank(at + 1);
        dash || self.key_end(at).is_some()
    }

    /// Where the key that starts at a position ends, if a `:` and a blank follow it in its line.
    pub(super) fn key_end(&self, start: usize) -> Option<usize> {
        let line_end = self.line_end(start);
        let quote = self.byte(start);
        let mut pos = start;
        if matches!(quote, b'"' | b'\'') {
            pos += 1;
            while pos < line_end && self.byte(pos) != quote {
                pos += 1 + usize::from(self.byte(pos) == b'\\' && quote == b'"');
            }
        }
        while pos < line_end {
            match self.byte(pos) {
                b':' if self.is_blank(pos + 1) => return Some(pos),
                b'#' if self.is_blank(pos - 1) => return None,
                _ => pos += 1,
            }
        }
        None
    }

    /// `-x` where `- x` is meant.
    pub(super) fn lacks_space_after_dash(&self) -> bool {
        self.peek() == b'-' && !self.is_blank(self.pos + 1) && self.key_end(self.pos).is_none()
    }

    #[cold]
    pub(super) fn colon_in_value(
        &mut self,
        n: isize,
        word: usize,
        properties: Properties<'s>,
    ) -> Node<'s> {
        let colon = self.pos;
        let (start, end) = self.rest_of_line(word);
        let end = end.max(colon);
        let mut diagnostic = self
            .syntax(colon, colon + 1, "a value without quotes cannot hold `: `")
            .label("a `:` and a blank end a key")
            .help("put the value in quotes; if a mapping is meant, start it on the next line, indented");
        diagnostic.fix = Some(self.quote_fix(word));
        self.report(diagnostic);
        let scalar = Scalar {
            text: Cow::Borrowed(self.slice(start, end)),
            style: Style::Plain,
        };
        let mut node = Node::new(self.span(start, end), Value::Scalar(scalar));
        self.apply(&mut node, properties);
        self.pos = end;
        // Deeper lines belonged to what was meant as a mapping.
        self.resync(n);
        node
    }

    #[cold]
    pub(super) fn list_on_key_line(&mut self, n: isize, place: Place, properties: Option<Span>) {
        let pos = self.pos;
        let message = match (properties, place) {
            (Some(_), _) => "a list cannot start on the line of its anchor or tag",
            (None, Place::Marker) => "a list cannot start on the line of `---`",
            (None, _) => "a list cannot start on the line of its key",
        };
        let mut blanks = pos;
        while blanks > 0 && matches!(self.byte(blanks - 1), b' ' | b'\t') {
            blanks -= 1;
        }
        let diagnostic = self
            .syntax(pos, pos + 1, message)
            .label("the first item")
            .help("start the list on the next line; a text that starts with `- ` must be quoted")
            .fix(
                "start the list on the next line",
                self.span(blanks, pos),
                format!("\n{}", " ".repeat((n + 2).max(0) as usize)),
            );
        self.report(diagnostic);
    }

    #[cold]
    pub(super) fn map_on_key_line(&mut self) {
        let diagnostic = self
            .syntax(self.pos, self.pos + 1, "a mapping cannot start here")
            .help("start it on the next line; a text that starts with `? ` must be quoted");
        self.report(diagnostic);
    }

    #[cold]
    pub(super) fn key_of_many_lines(&mut self, key: Span) {
        let diagnostic = self
            .syntax(self.pos, self.pos + 1, "a key must be on one line")
            .related(key, "this goes over several lines")
            .help("is a quote or bracket not closed?");
        self.report(diagnostic);
    }

    #[cold]
    pub(super) fn alias_with_properties(&mut self, properties: Span) {
        let diagnostic = self
            .syntax(
                properties.start as usize,
                properties.end as usize,
                "an alias cannot have an anchor or a tag",
            )
            .help("it repeats another value, which may have them");
        self.report(diagnostic);
    }

    #[cold]
    pub(super) fn two_properties(&mut self, second: Span) {
        let diagnostic = self.syntax(
            second.start as usize,
            second.end as usize,
            "a value cannot have two anchors or two tags",
        );
        self.report(diagnostic);
    }

    /// No node can start with the character at the cursor. Takes the rest of the line for a text.
    #[cold]
    pub(super) fn bad_start(&mut self) -> Node<'s> {
        let start = self.pos;
        let (_, end) = self.rest_of_line(start);
        let length = self.char_len();
        let character = self.slice(start, start + length);
        let diagnostic = match self.peek() {
            b']' | b'}' => self
                .syntax(
                    start,
                    start + length,
                    format!("`{character}` closes a bracket that is not open"),
                )
                .help("remove it, or put the text in quotes"),
            b',' => self
                .syntax(
                    start,
                    start + length,
                    "a `,` separates values inside brackets only",
                )
                .help("remove it, or put the text in quotes"),
            _ => {
                let mut diagnostic = self
                    .syntax(
                        start,
                        start + length,
                        format!("a text without quotes cannot start with `{character}`"),
                    )
                    .help("put the text in quotes");
                diagnostic.fix = Some(self.quote_fix(start));
                diagnostic
            }
        };
        self.report(diagnostic);
        let end = end.max(start + length);
        self.pos = end;
        let scalar = Scalar {
            text: Cow::Borrowed(self.slice(start, end)),
            style: Style::Plain,
        };
        Node::new(self.span(start, end), Value::Scalar(scalar))
    }

    /// The line at `start` should be `key: value`.
    #[cold]
    pub(super) fn no_colon(&mut self, start: usize, end: usize, before: Option<Key<'s>>) {
        let line_end = self.line_end(start).min(end.max(start));
        let line = self.slice(start, line_end);
        let word = line.split([' ', '\t']).next().unwrap_or_default();
        let colon = word.find(':').filter(|at| {
            *at > 0
                && word[..*at]
                    .chars()
                    .all(|char| char.is_alphanumeric() || matches!(char, '_' | '-' | '.'))
        });
        let mut diagnostic = self.syntax(start, line_end, "");
        if let Some(at) = colon {
            let key = &word[..at];
            let after = start + at + 1;
            diagnostic.span = self.span(after - 1, after);
            diagnostic.message = format!("a space is missing after `{}:`", shorten(key));
            diagnostic = diagnostic.fix("insert a space", self.span(after, after), " ");
        } else if line.starts_with('-') && !line.starts_with("--") {
            diagnostic.span = self.span(start, start + 1);
            diagnostic.message.push_str("a space is missing after `-`");
            diagnostic = diagnostic.fix("insert a space", self.span(start + 1, start + 1), " ");
        } else {
            diagnostic.message.push_str("this line is not `key: value`");
            diagnostic.label.push_str("no `:` here");
            if let Some(before) = before {
                diagnostic = diagnostic
                    .related(before.span, "the key before")
                    .help(format!(
                        "write `key: value`; if the line continues the value of `{}`, indent it deeper than that key",
                        shorten(&before.text)
                    ));
            } else {
                diagnostic = diagnostic.help("write `key: value`");
            }
        }
        self.report(diagnostic);
    }

    #[cold]
    pub(super) fn item_in_map(&mut self, before: Option<Key<'s>>) {
        let mut diagnostic = self
            .syntax(
                self.pos,
                self.pos + 1,
                "a list item stands among the keys of a mapping",
            )
            .help("a list belongs under a key that has no other value");
        if let Some(before) = before {
            diagnostic = diagnostic.related(before.span, "the key before");
        }
        self.report(diagnostic);
    }

    #[cold]
    pub(super) fn no_dash(&mut self, list: usize) {
        let pos = self.pos;
        let (_, end) = self.rest_of_line(pos);
        let diagnostic = if self.lacks_space_after_dash() {
            self.syntax(pos, pos + 1, "a space is missing after `-`")
                .fix("insert a space", self.span(pos + 1, pos + 1), " ")
        } else {
            let what = if self.key_end(pos).is_some() {
                "a key"
            } else {
                "a text"
            };
            self.syntax(pos, end, format!("{what} stands among the items of a list"))
                .label("no `- ` here")
                .related(self.span(list, list + 1), "the list")
                .help("start it with `- ` if it is an item; indent it deeper if it belongs to the item before")
        };
        self.report(diagnostic);
    }

    /// Something follows a value that is already complete, on its line.
    #[cold]
    pub(super) fn text_after_value(&mut self, indent: isize) {
        let pos = self.pos;
        let (_, end) = self.rest_of_line(pos);
        let before = self
            .slice(0, pos)
            .trim_end()
            .chars()
            .next_back()
            .unwrap_or(' ');
        let diagnostic = match before {
            _ if self.peek() == b'#' => self
                .syntax(pos, pos + 1, "a comment needs a space before its `#`")
                .fix("insert a space", self.span(pos, pos), " "),
            '"' | '\'' if self.peek() == b':' => self
                .syntax(pos, pos + 1, "a space is missing after `:`")
                .fix("insert a space", self.span(pos + 1, pos + 1), " "),
            '"' | '\'' => self
                .syntax(pos, end, "text after the closing quote")
                .help(format!(
                    "put all of it inside the quotes; a `{before}` inside is written {}",
                    if before == '"' { "`\\\"`" } else { "`''`" }
                )),
            ']' | '}' => self
                .syntax(pos, end, format!("text after the closing `{before}`"))
                .help("if all of it is one text, put it in quotes"),
            _ => self.syntax(pos, end, "text after a value that is already complete"),
        };
        self.report(diagnostic);
        self.resync(indent);
    }

    /// A line that is indented as if it belonged to the value before it, which is complete.
    #[cold]
    pub(super) fn stray_text(&mut self, column: usize, collection: usize) {
        let pos = self.pos;
        let (_, end) = self.rest_of_line(pos);
        let diagnostic = self
            .syntax(pos, end.max(pos), "this line belongs to no value")
            .related(self.span(collection, collection), "the entries around it start here")
            .help("the value before it is complete; put a text of several lines in quotes or after `|`");
        self.report(diagnostic);
        self.resync(column as isize);
    }

    /// Reports that the entry at the cursor stands at another column than those around it, and
    /// gives the place of the problem.
    #[cold]
    pub(super) fn wrong_indent(&mut self, column: usize, collection: usize) -> usize {
        let pos = self.pos;
        let found = self.column();
        let (_, end) = self.rest_of_line(pos);
        let end = self.key_end(pos).unwrap_or(end).max(pos);
        let spaces = |count: usize| match count {
            0 => "nothing".to_owned(),
            1 => "1 space".to_owned(),
            _ => format!("{count} spaces"),
        };
        let (found, expected) = (spaces(found), spaces(column));
        let neighbour = self.span(collection, self.first_word_end(collection));
        let diagnostic = self
            .syntax(
                pos,
                end,
                format!("this line is indented by {found}, its neighbours by {expected}"),
            )
            .related(neighbour, format!("indented by {expected}"))
            .help("entries that belong together start at the same column");
        self.report(diagnostic);
        let problem = self.problems.len().saturating_sub(1);
        self.wrong_indent_again(column, problem);
        problem
    }

    /// Adds the entry at the cursor to the repair of a problem with indentation.
    #[cold]
    pub(super) fn wrong_indent_again(&mut self, column: usize, problem: usize) {
        let found = self.column();
        let has_children = self.next_word_column().is_some_and(|next| next > found);
        let start = self.real_line_start();
        let edit = Edit {
            span: self.span(start, self.pos),
            replacement: " ".repeat(column),
        };
        // Moved right alone, a line would lose what is indented below it.
        let whole = found > column || !has_children;
        // Tabs have a repair of their own.
        let blanks = self.slice(start, self.pos).bytes().all(|byte| byte == b' ');
        if let Some(problem) = self.problems.get_mut(problem)
            && whole
            && blanks
        {
            let title = "indent like the neighbours".to_owned();
            problem
                .fix
                .get_or_insert(Fix {
                    title,
                    edits: Vec::new(),
                })
                .edits
                .push(edit);
        }
    }

    fn first_word_end(&self, start: usize) -> usize {
        let first = self.char_span(start).end as usize;
        self.key_end(start).unwrap_or(first)
    }
}
