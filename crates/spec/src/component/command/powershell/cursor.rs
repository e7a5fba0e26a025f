//! A cursor over PowerShell source: blanks, comments, strings, and what stands in brackets.

/// A place in a script.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Takes a character if it is the next.
    pub(super) fn take(&mut self, char: char) -> bool {
        let found = self.peek() == Some(char);
        if found {
            self.at += char.len_utf8();
        }
        found
    }

    fn skip(&mut self) -> bool {
        match self.peek() {
            Some(char) => {
                self.at += char.len_utf8();
                true
            }
            None => false,
        }
    }

    /// Passes blanks, line breaks, comments and continued lines.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let blank = rest.len()
                - rest
                    .trim_start_matches([' ', '\t', '\r', '\n', '\u{feff}'])
                    .len();
            if blank > 0 {
                self.at += blank;
            } else if rest.starts_with("<#") {
                self.at += rest.find("#>").map_or(rest.len(), |end| end + 2);
            } else if rest.starts_with('#') {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("`\n") || rest.starts_with("`\r\n") {
                self.at += 2;
            } else {
                return;
            }
        }
    }

    /// A word of letters, digits and underscores.
    pub(super) fn word(&mut self) -> &'t str {
        let rest = self.rest();
        let end = rest
            .find(|char: char| !char.is_alphanumeric() && char != '_')
            .unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// What stands in brackets; the cursor is on the opening one and goes behind the closing one.
    pub(super) fn bracketed(&mut self) -> Option<&'t str> {
        let mut open = Vec::new();
        let start = self.at + 1;
        loop {
            match self.peek()? {
                '(' => open.push(')'),
                '[' => open.push(']'),
                '{' => open.push('}'),
                closing @ (')' | ']' | '}') => {
                    if open.pop() != Some(closing) {
                        return None;
                    }
                    if open.is_empty() {
                        let inside = self.text.get(start..self.at);
                        self.at += 1;
                        return inside;
                    }
                }
                _ => {
                    self.pass()?;
                    continue;
                }
            }
            self.at += 1;
        }
    }

    /// Passes one character, one string or one comment.
    fn pass(&mut self) -> Option<()> {
        match self.peek()? {
            '\'' | '"' => {
                self.string()?;
            }
            '`' => {
                self.at += 1;
                self.skip();
            }
            '#' => self.skip_blanks(),
            '<' if self.rest().starts_with("<#") => self.skip_blanks(),
            _ => {
                self.skip();
            }
        }
        Some(())
    }

    /// The text of a string; the cursor is on its quote.
    pub(super) fn string(&mut self) -> Option<String> {
        let quote = self.peek()?;
        self.skip();
        let mut text = String::new();
        loop {
            let char = self.peek()?;
            self.skip();
            if char == quote {
                // A quote is written twice to stand for itself.
                if !self.take(quote) {
                    return Some(text);
                }
                text.push(quote);
            } else if char == '`' && quote == '"' {
                text.extend(self.peek());
                self.skip();
            } else {
                text.push(char);
            }
        }
    }

    /// An expression up to a comma or the end, neither of which stands in brackets.
    pub(super) fn expression(&mut self) -> &'t str {
        let start = self.at;
        while let Some(char) = self.peek() {
            let passed = match char {
                ',' | ')' => None,
                '(' | '[' | '{' => self.bracketed().map(|_| ()),
                _ => self.pass(),
            };
            if passed.is_none() {
                break;
            }
        }
        self.text.get(start..self.at).unwrap_or_default().trim()
    }
}
