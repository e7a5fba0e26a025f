//! Writes values: quoted for the place where they stand.

use pinnace_core::text::{Piece, Text};

use super::{Dollar, Line, Place, is_reserved};

impl Line {
    /// Writes a value, quoted.
    pub(in super::super) fn value(&mut self, value: &Text) {
        self.skips_blanks = false;
        self.gap = None;
        self.after_value = true;
        self.end_escape();
        let after = std::mem::take(&mut self.dollar);
        if after == Dollar::Sign {
            // Neither is the author's dollar.
            self.pending.pop();
            self.pending.push_str("\\$");
        }
        let is_first = self.word.as_ref().is_none_or(Vec::is_empty) && self.is_bare();
        if self.is_bare() {
            if value.pieces().is_empty() && self.word.is_none() {
                self.pending.push_str("\"\"");
            }
            let joins_name = after == Dollar::Name;
            for piece in value.pieces() {
                self.bare_piece(piece, joins_name || is_first && is_reserved(value));
            }
        } else {
            if after == Dollar::Name && self.place() == Some(Place::Double) {
                self.pending.push_str("\"\"");
            }
            for piece in value.pieces() {
                self.quoted_piece(piece);
            }
        }
        let word = self.word.get_or_insert_default();
        word.extend(value.pieces().iter().cloned());
    }

    /// Makes a backslash that has nothing to escape an ordinary character.
    pub(super) fn end_escape(&mut self) {
        if std::mem::take(&mut self.escaping) {
            self.pending.push('\\');
            self.add('\\');
        }
    }

    fn bare_piece(&mut self, piece: &Piece, must_quote: bool) {
        match piece {
            Piece::Literal(literal) if !must_quote && literal.chars().all(is_safe) => {
                self.pending.push_str(literal);
            }
            Piece::Literal(literal) => {
                self.pending.push('\'');
                self.pending.push_str(&literal.replace('\'', r"'\''"));
                self.pending.push('\'');
            }
            secret @ Piece::Secret { .. } => {
                self.pending.push('\'');
                self.symbol(secret);
                self.pending.push('\'');
            }
            // The runner quotes it if that is needed, so it stands outside of quotes.
            path @ Piece::Path { .. } => self.symbol(path),
        }
    }

    /// A piece of a value within the author's quotes.
    fn quoted_piece(&mut self, piece: &Piece) {
        let place = self.place();
        match (piece, place) {
            (Piece::Literal(literal), Some(Place::Single)) => {
                self.return_to_quote();
                self.pending.push_str(&literal.replace('\'', r"'\''"));
            }
            (Piece::Literal(literal), _) => {
                self.return_to_quote();
                for char in literal.chars() {
                    let special = matches!(char, '\\' | '"' | '$' | '`');
                    if special || char == '}' && place == Some(Place::DoubleBrace) {
                        self.pending.push('\\');
                    }
                    self.pending.push(char);
                }
            }
            (symbol, Some(Place::DoubleBrace)) => self.symbol(symbol),
            (symbol, _) => {
                self.leave_quote();
                self.bare_piece(symbol, false);
            }
        }
    }

    /// Closes the author's quote for what must stand outside.
    fn leave_quote(&mut self) {
        if let Some(quote) = self.open_quote()
            && !self.left_quote
        {
            self.left_quote = true;
            if self.quote_start == Some(self.pending.len()) {
                self.pending.pop();
            } else {
                self.pending.push(quote);
            }
        }
    }

    /// Opens the author's quote again.
    pub(super) fn return_to_quote(&mut self) {
        if std::mem::take(&mut self.left_quote)
            && let Some(quote) = self.open_quote()
        {
            self.pending.push(quote);
        }
    }

    /// A piece whose value is known only when the task starts.
    fn symbol(&mut self, piece: &Piece) {
        self.flush();
        self.done.push(piece.clone());
    }
}

/// Whether a character means nothing to any shell.
fn is_safe(char: char) -> bool {
    char.is_ascii_alphanumeric() || "_-./:,+@%".contains(char)
}
