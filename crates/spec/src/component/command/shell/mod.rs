//! What a shell makes of a line, followed while the line is written: the author's text goes in as
//! it is, values are quoted for the place where they stand, and the words come out beside it.

#[cfg(test)]
mod tests;
mod value;

use pinnace_core::text::{Piece, Text};

use super::ast::Unquotable;

/// Words that a shell reads as its own at the start of a command.
const RESERVED: [&str; 20] = [
    "!", "{", "}", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function",
    "if", "in", "select", "then", "time", "until", "while",
];

/// Where the writer stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Inside of `'…'`.
    Single,
    /// Inside of `"…"`.
    Double,
    /// Inside of `$(…)` or `(…)`.
    Parenthesis,
    /// Inside of `${…}` without quotes.
    Brace,
    /// Inside of `"${…}"`.
    DoubleBrace,
    /// Between backticks.
    Backticks,
    /// After `#`.
    Comment,
}

/// How much of a variable's name has been written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Dollar {
    #[default]
    None,
    /// Just `$`.
    Sign,
    /// `$` and characters of a name.
    Name,
}

/// A line under construction.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // Each remembers one thing about the text so far.
pub(super) struct Line {
    places: Vec<Place>,
    /// The author's text of the line since the last value; goes to `done` before the next one.
    pending: String,
    done: Vec<Piece>,
    words: Vec<Text>,
    word: Option<Vec<Piece>>,
    escaping: bool,
    dollar: Dollar,
    here: Here,
    is_live: bool,
    /// Whether blanks are dropped because they stood around something that was left out.
    skips_blanks: bool,
    /// Where in `pending` the blanks begin with which the line ends.
    gap: Option<usize>,
    /// Whether a line break has ended a command.
    has_break: bool,
    /// Whether the last thing written is a value.
    after_value: bool,
    /// Where in `pending` the inside of the last quote begins.
    quote_start: Option<usize>,
    /// Whether the author's quote is closed for the moment, because what comes must stand outside.
    left_quote: bool,
}

/// Whether a here-document begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Here {
    #[default]
    None,
    /// `<`
    Less,
    /// `<<`; it begins with the next line.
    Announced,
    /// The text of the document.
    Inside,
}

/// A finished line.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) words: Vec<Text>,
    pub(super) line: Text,
    pub(super) is_live: bool,
}

impl Line {
    fn place(&self) -> Option<Place> {
        self.places.last().copied()
    }

    /// Whether a blank ends a word here.
    fn is_outside(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether quotes begin here.
    fn is_bare(&self) -> bool {
        matches!(
            self.place(),
            None | Some(Place::Parenthesis | Place::Brace | Place::Backticks)
        )
    }

    pub(super) fn is_comment(&self) -> bool {
        self.place() == Some(Place::Comment)
    }

    /// Why a value cannot be quoted here.
    pub(super) fn unquotable(&self) -> Option<Unquotable> {
        if self.places.contains(&Place::Backticks) {
            Some(Unquotable::Backticks)
        } else if self.here == Here::Inside {
            Some(Unquotable::HereDocument)
        } else {
            None
        }
    }

    /// The quote that is not closed yet.
    pub(super) fn open_quote(&self) -> Option<char> {
        match self.places.last()? {
            Place::Single => Some('\''),
            Place::Double => Some('"'),
            _ => None,
        }
    }

    /// Writes text of the author.
    pub(super) fn literal(&mut self, text: &str) {
        let mut rest = text;
        loop {
            rest = self.run(rest);
            let mut chars = rest.chars();
            let Some(char) = chars.next() else {
                return;
            };
            rest = chars.as_str();
            if self.skips_blanks && is_blank(char) && self.is_outside() && !self.escaping {
                continue;
            }
            self.skips_blanks = false;
            self.char(char);
            self.after_value = false;
        }
    }

    /// Writes the characters with which a text begins, as long as they mean nothing to a shell here;
    /// gives the rest. What most text is made of is so written at once.
    fn run<'t>(&mut self, text: &'t str) -> &'t str {
        if self.escaping || self.left_quote || self.dollar != Dollar::None {
            return text;
        }
        let is_plain =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/');
        let length = text.bytes().take_while(|byte| is_plain(*byte)).count();
        let Some((plain, rest)) = text.split_at_checked(length).filter(|_| length > 0) else {
            return text;
        };
        self.gap = None;
        self.skips_blanks = false;
        self.after_value = false;
        self.pending.push_str(plain);
        if !self.is_comment() {
            if self.is_bare() && self.here == Here::Less {
                self.here = Here::None;
            }
            let word = self.word.get_or_insert_default();
            match word.last_mut() {
                Some(Piece::Literal(literal)) => literal.push_str(plain),
                _ => word.push(Piece::Literal(plain.into())),
            }
        }
        rest
    }

    fn char(&mut self, char: char) {
        if !is_blank(char) || !self.is_outside() {
            self.gap = None;
        }
        if self.escaping {
            self.escaped(char);
            return;
        }
        if self.left_quote && self.open_quote() == Some(char) {
            self.left_quote = false;
            self.places.pop();
            return;
        }
        self.return_to_quote();
        match self.place() {
            Some(Place::Comment) => {
                self.pending.push(char);
                if char == '\n' {
                    self.places.pop();
                    self.end_line();
                }
            }
            Some(Place::Single) => {
                self.pending.push(char);
                if char == '\'' {
                    self.places.pop();
                } else {
                    self.add(char);
                }
            }
            Some(Place::Double | Place::DoubleBrace) => self.in_double(char),
            _ => self.bare(char),
        }
    }

    /// The character after a backslash.
    fn escaped(&mut self, char: char) {
        self.escaping = false;
        self.pending.push(char);
        let double = matches!(self.place(), Some(Place::Double | Place::DoubleBrace));
        match char {
            '\n' => {}
            '$' | '`' | '"' | '\\' => self.add(char),
            '}' if self.place() == Some(Place::DoubleBrace) => self.add(char),
            _ if double => {
                self.add('\\');
                self.add(char);
            }
            _ => self.add(char),
        }
        if char != '\n' {
            self.gap = None;
        }
    }

    fn in_double(&mut self, char: char) {
        self.pending.push(char);
        match char {
            '"' if self.place() == Some(Place::Double) => {
                self.places.pop();
                self.dollar = Dollar::None;
            }
            '}' if self.place() == Some(Place::DoubleBrace) => {
                self.places.pop();
                self.add(char);
            }
            '\\' => {
                self.escaping = true;
                self.dollar = Dollar::None;
            }
            _ => self.expanding(char, Place::DoubleBrace),
        }
    }

    /// A character outside of quotes.
    fn bare(&mut self, char: char) {
        if self.is_outside() && is_blank(char) {
            self.gap.get_or_insert(self.pending.len());
            self.pending.push(char);
            self.end_word();
            if char == '\n' {
                self.end_line();
            }
            return;
        }
        match char {
            '\'' | '"' => {
                self.start_word();
                if self.dollar == Dollar::Sign {
                    // `$'…'` and `$"…"` are a shell's own; they are followed as plain quotes.
                    self.is_live = true;
                }
                self.dollar = Dollar::None;
                self.pending.push(char);
                self.quote_start = Some(self.pending.len());
                self.places.push(if char == '\'' {
                    Place::Single
                } else {
                    Place::Double
                });
            }
            '\\' => {
                self.pending.push(char);
                self.escaping = true;
                self.dollar = Dollar::None;
            }
            '#' if self.is_outside() && self.word.is_none() => {
                self.pending.push(char);
                self.is_live = true;
                self.places.push(Place::Comment);
            }
            '}' if self.place() == Some(Place::Brace) => {
                self.pending.push(char);
                self.places.pop();
                self.add(char);
            }
            ')' if self.place() == Some(Place::Parenthesis) => {
                self.pending.push(char);
                self.places.pop();
                self.add(char);
            }
            _ => {
                if self.after_value && matches!(char, '<' | '>') {
                    // A number before it would choose the descriptor.
                    self.pending.push_str("\"\"");
                }
                self.pending.push(char);
                self.note_live(char);
                self.expanding(char, Place::Brace);
            }
        }
    }

    /// A character that may begin or go on with something that the shell replaces.
    fn expanding(&mut self, char: char, brace: Place) {
        let after = self.dollar;
        self.dollar = match char {
            '$' if after != Dollar::Sign => Dollar::Sign,
            _ if after != Dollar::None && (char.is_ascii_alphanumeric() || char == '_') => {
                Dollar::Name
            }
            _ => Dollar::None,
        };
        let begins = after == Dollar::Sign;
        let double = brace == Place::DoubleBrace;
        if begins && (self.dollar != Dollar::None || "{(@*#?$!-".contains(char)) {
            self.is_live = true;
        }
        match char {
            '{' if begins => self.places.push(brace),
            '(' if begins || !double => {
                self.is_live = true;
                self.places.push(Place::Parenthesis);
            }
            '`' if self.place() == Some(Place::Backticks) => {
                self.places.pop();
            }
            '`' => {
                self.is_live = true;
                self.places.push(Place::Backticks);
            }
            _ => {}
        }
        self.add(char);
    }

    /// Notes what the shell does more than split.
    fn note_live(&mut self, char: char) {
        self.is_live |= match char {
            '|' | '&' | ';' | '<' | '>' | '(' | ')' | '*' | '?' | '[' | ']' | '{' | '}' | '~' => {
                true
            }
            '=' => self.words.is_empty(),
            _ => false,
        };
        self.here = match (self.here, char) {
            (Here::None, '<') => Here::Less,
            (Here::Less, '<') => Here::Announced,
            // `<<<` takes a word.
            (Here::Announced, '<') => Here::None,
            (Here::Less, _) => Here::None,
            (here, _) => here,
        };
    }

    fn end_line(&mut self) {
        self.has_break |= !self.words.is_empty();
        if self.here == Here::Announced {
            self.here = Here::Inside;
        }
    }

    /// Adds a character to the word.
    fn add(&mut self, char: char) {
        let word = self.word.get_or_insert_default();
        match word.last_mut() {
            Some(Piece::Literal(literal)) => literal.push(char),
            _ => word.push(Piece::Literal(char.into())),
        }
    }

    fn start_word(&mut self) {
        self.word.get_or_insert_default();
    }

    fn end_word(&mut self) {
        self.dollar = Dollar::None;
        if let Some(word) = self.word.take() {
            let word: Text = word.into_iter().collect();
            self.is_live |= self.has_break || self.words.is_empty() && is_reserved(&word);
            self.words.push(word);
        }
    }

    /// Says that something was left out here: the blanks on one side of it go with it.
    pub(super) fn omit(&mut self) {
        if self.is_outside()
            && !self.escaping
            && (self.gap.is_some() || self.done.is_empty() && self.pending.is_empty())
        {
            self.skips_blanks = true;
        }
    }

    fn flush(&mut self) {
        self.quote_start = None;
        if !self.pending.is_empty() {
            self.done
                .push(Piece::Literal(std::mem::take(&mut self.pending)));
        }
    }

    /// The words and the line, without blanks at its end.
    pub(super) fn finish(mut self) -> Written {
        self.end_escape();
        self.end_word();
        if let Some(gap) = self.gap {
            self.pending.truncate(gap);
        }
        self.flush();
        Written {
            words: self.words,
            line: self.done.into_iter().collect(),
            // A shell refuses what is never closed.
            is_live: self.is_live || !self.places.is_empty(),
        }
    }
}

fn is_blank(char: char) -> bool {
    matches!(char, ' ' | '\t' | '\n')
}

fn is_reserved(word: &Text) -> bool {
    word.as_literal()
        .is_some_and(|word| RESERVED.contains(&word))
}
