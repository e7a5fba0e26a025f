//! From a text to its document: directives, markers, and what stands beyond the first document.

use super::block::Place;
use super::reader::Reader;
use super::{Document, Limits, Node};
use crate::diagnostic::{Diagnostic, codes};
use crate::source::Source;

/// Reads a text. Never fails: what is wrong is in the document's diagnostics.
pub fn load<'s>(source: &'s Source, limits: &Limits) -> Document<'s> {
    let text = source.text();
    let mut reader = Reader::new(text, source.id(), *limits);
    let limit = limits.bytes.min(u32::MAX as usize);
    if text.len() > limit {
        reader.report(super::decode::too_large(
            reader.span(0, 0),
            text.len(),
            limit,
        ));
        return Document {
            diagnostics: reader.take_diagnostics(),
            ..Document::default()
        };
    }
    reader.refuse_control_characters();
    let root = reader.stream();
    Document {
        root,
        complete: reader.complete,
        diagnostics: reader.take_diagnostics(),
        comments: reader.comments,
    }
}

impl<'s> Reader<'s> {
    fn stream(&mut self) -> Option<Node<'s>> {
        if self.text.starts_with('\u{feff}') {
            self.skip_byte_order_mark();
        }
        let begun = self.begin_document();
        if begun == Begin::Nothing {
            if !self.is_stopped() {
                self.no_document();
            }
            return None;
        }
        let place = if begun == Begin::Marker {
            Place::Marker
        } else {
            Place::Root
        };
        let root = self.block_node(-1, place);
        self.skip_separation();
        if self.ended() && root.span.is_empty() && root.is_usual() && root.is_null() {
            self.no_document();
            self.other_documents();
            return None;
        }
        while !self.ended() {
            self.text_after_value(-1);
            self.skip_separation();
        }
        self.other_documents();
        Some(root)
    }

    /// Passes directives and the marker before a document.
    fn begin_document(&mut self) -> Begin {
        let mut directive = None;
        let mut version = None;
        loop {
            self.skip_separation();
            self.begin_line();
            if self.peek() == b'%' && self.column() == 0 {
                directive = Some(self.pos);
                self.directive(&mut version);
                continue;
            }
            if self.is_marker(self.pos) && self.column() == 0 {
                let dashes = self.peek() == b'-';
                if dashes {
                    self.pos += 3;
                    return Begin::Marker;
                }
                if let Some(at) = directive {
                    self.directive_without_marker(at);
                    directive = None;
                }
                self.pos += 3;
                self.end_of_marker();
                continue;
            }
            if let Some(at) = directive {
                self.directive_without_marker(at);
            }
            return if self.ended() {
                Begin::Nothing
            } else {
                Begin::Content
            };
        }
    }

    #[cold]
    fn directive(&mut self, version: &mut Option<usize>) {
        let start = self.pos;
        let (_, end) = self.rest_of_line(start);
        let line = self.slice(start, end);
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("%YAML") => {
                let form = |word: &str| {
                    word.split_once('.').is_some_and(|(major, minor)| {
                        major == "1"
                            && !minor.is_empty()
                            && minor.bytes().all(|byte| byte.is_ascii_digit())
                    })
                };
                let right = words.next().is_some_and(form) && words.next().is_none();
                if let Some(first) = version {
                    let first = self.span(*first, *first + 5);
                    self.report(
                        Diagnostic::new(
                            &codes::SYNTAX,
                            self.span(start, end),
                            "a second `%YAML` line",
                        )
                        .related(first, "the first"),
                    );
                } else if !right {
                    self.report(
                        Diagnostic::new(
                            &codes::SYNTAX,
                            self.span(start, end),
                            "a `%YAML` line must be `%YAML 1.2`",
                        )
                        .fix(
                            "write it so",
                            self.span(start, end),
                            "%YAML 1.2",
                        ),
                    );
                }
                *version = Some(start);
            }
            Some("%TAG") => {
                let handle = words
                    .next()
                    .filter(|handle| handle.starts_with('!') && handle.ends_with('!'));
                match (handle, words.next()) {
                    (Some(handle), Some(_)) => {
                        self.tag_handles.insert(handle);
                    }
                    _ => self.report(Diagnostic::new(
                        &codes::SYNTAX,
                        self.span(start, end),
                        "a `%TAG` line must be `%TAG !handle! prefix`",
                    )),
                }
            }
            // Other directives are reserved and mean nothing.
            _ => {}
        }
        self.pos = end;
    }

    #[cold]
    fn directive_without_marker(&mut self, at: usize) {
        let (start, end) = self.rest_of_line(at);
        self.report(
            Diagnostic::new(&codes::SYNTAX, self.span(start, end), "no `---` follows this directive")
                .help("a line that starts with `%` is a directive; a text that starts with `%` must be quoted"),
        );
    }

    /// Only a comment may follow `...` on its line.
    fn end_of_marker(&mut self) {
        self.skip_blanks();
        let after = self.pos;
        self.skip_separation();
        if !self.ended() && !self.is_first_on_line() && self.pos == after {
            let (start, end) = self.rest_of_line(after);
            self.report(
                Diagnostic::new(&codes::SYNTAX, self.span(start, end), "text after `...`")
                    .help("`...` ends a document and stands alone"),
            );
            self.pos = self.line_end(self.pos);
        }
    }

    /// Only one document is read.
    fn other_documents(&mut self) {
        if self.is_stopped() {
            return;
        }
        while self.peek() == b'.' && self.is_marker(self.pos) {
            self.pos += 3;
            self.end_of_marker();
            self.skip_separation();
        }
        if self.pos >= self.bytes.len() || self.is_stopped() {
            return;
        }
        let start = self.pos;
        let end = if self.is_marker(start) {
            start + 3
        } else {
            self.rest_of_line(start).1
        };
        self.report(
            Diagnostic::new(
                &codes::SEVERAL_DOCUMENTS,
                self.span(start, end),
                "a second document starts here",
            )
            .label("this and what follows is not read")
            .help("put each document in a file of its own"),
        );
    }

    #[cold]
    fn no_document(&mut self) {
        let (message, help) = if self.comments.is_empty() {
            ("the file is empty", "write the job into it")
        } else {
            (
                "the file holds comments only",
                "remove the `#` before the lines that are meant",
            )
        };
        self.report(Diagnostic::new(&codes::EMPTY_FILE, self.span(0, 0), message).help(help));
    }

    /// Reports characters that YAML allows nowhere. The text ends for us at the first NUL.
    // Operators that do not branch let many bytes be looked at in one step.
    #[allow(clippy::needless_bitwise_bool)]
    fn refuse_control_characters(&mut self) {
        let suspicious = |byte: u8| {
            ((byte < 0x20) & (byte != b'\t') & (byte != b'\n') & (byte != b'\r'))
                | (byte == 0x7f)
                | (byte == 0xc2)
                | (byte == 0xef)
        };
        let any = |bytes: &[u8]| {
            bytes
                .iter()
                .fold(0, |any, byte| any | u8::from(suspicious(*byte)))
        };
        let unusual = |byte: u8| (byte.wrapping_sub(b' ') > b'~' - b' ') & (byte != b'\n');
        let clean = |bytes: &[u8; 64]| {
            let mut found = false;
            for byte in bytes {
                found |= unusual(*byte);
            }
            !found || any(bytes) == 0
        };
        let (chunks, rest) = self.bytes.as_chunks();
        if chunks.iter().all(clean) && any(rest) == 0 {
            return;
        }
        let mut places = self
            .text
            .char_indices()
            .filter(|(_, character)| is_forbidden(*character));
        let Some((first, character)) = places.next() else {
            return;
        };
        let others = places.count();
        let nul = self.bytes.iter().position(|byte| *byte == 0);
        if let Some(nul) = nul {
            self.cut(nul);
        }
        let mut message = format!(
            "the character U+{:04X} is not allowed in YAML",
            u32::from(character)
        );
        if others > 0 {
            message = format!("{message} ({others} more of its kind follow)");
        }
        let help = if nul.is_some() {
            "the file does not seem to be text, or it is UTF-16; save it as UTF-8"
        } else {
            "remove it, or write it in double quotes as an escape such as `\\x1b`"
        };
        let span = self.span(first, first + character.len_utf8());
        self.report(Diagnostic::new(&codes::CONTROL_CHARACTER, span, message).help(help));
    }
}

#[derive(PartialEq, Eq)]
enum Begin {
    /// The text ends before any document.
    Nothing,
    /// The cursor is at the first word.
    Content,
    /// The cursor is behind `---`.
    Marker,
}

fn is_forbidden(character: char) -> bool {
    match character {
        '\t' | '\n' | '\r' | '\u{85}' => false,
        '\u{fffe}' | '\u{ffff}' => true,
        _ => character.is_control(),
    }
}
