//! The text under way: characters, blanks, names, numbers and quoted texts.

use super::{Error, Form};

/// No integer of a query lies further from zero.
const LARGEST: i64 = (1 << 53) - 1;

pub(super) struct Lexer<'t> {
    text: &'t str,
    pub(super) at: usize,
    pub(super) form: Form,
    pub(super) depth: usize,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str, form: Form) -> Self {
        Lexer {
            text,
            at: 0,
            form,
            depth: 0,
        }
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let char = self.peek()?;
        self.at += char.len_utf8();
        Some(char)
    }

    pub(super) fn eat(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    pub(super) fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    pub(super) fn expect(&mut self, word: &str) -> Result<(), Error> {
        match self.eat(word) {
            true => Ok(()),
            false => Err(self.wrong(format!("expected `{word}`"))),
        }
    }

    pub(super) fn wrong(&self, message: impl Into<String>) -> Error {
        Error {
            at: self.at,
            message: message.into(),
        }
    }

    /// A name after a dot.
    pub(super) fn shorthand(&mut self) -> Result<String, Error> {
        let lenient = self.form == Form::Short;
        let is_name = |char: char, first: bool| {
            char.is_ascii_alphabetic()
                || char == '_'
                || !char.is_ascii()
                || (char.is_ascii_digit() && (!first || lenient))
                || (char == '-' && lenient)
        };
        let rest = self.rest();
        let end = rest
            .char_indices()
            .find(|(at, char)| !is_name(*char, *at == 0))
            .map_or(rest.len(), |(at, _)| at);
        if end == 0 {
            return Err(self.wrong("expected a name"));
        }
        self.at += end;
        Ok(rest.get(..end).unwrap_or_default().to_owned())
    }

    /// An integer, if one starts here.
    pub(super) fn integer(&mut self) -> Result<Option<i64>, Error> {
        let digits = self.integer_text();
        if digits.is_empty() {
            return Ok(None);
        }
        let number = digits.parse::<i64>().ok();
        let is_plain = digits != "-0" && is_without_leading_zero(digits);
        match number.filter(|number| is_plain && number.abs() <= LARGEST) {
            Some(number) => {
                self.at += digits.len();
                Ok(Some(number))
            }
            None => Err(self.wrong(format!("`{digits}` is no integer of a path"))),
        }
    }

    fn integer_text(&self) -> &'t str {
        let rest = self.rest();
        let sign = usize::from(rest.starts_with('-'));
        let unsigned = rest.get(sign..).unwrap_or_default();
        let digits = unsigned.bytes().take_while(u8::is_ascii_digit).count();
        match digits {
            0 => "",
            _ => rest.get(..sign + digits).unwrap_or_default(),
        }
    }

    /// A number of a comparison, if one starts here.
    pub(super) fn number(&mut self) -> Result<Option<f64>, Error> {
        let integer = self.integer_text();
        if integer.is_empty() {
            return Ok(None);
        }
        if !is_without_leading_zero(integer) {
            return Err(self.wrong("a number has no zeros before it"));
        }
        let rest = self.rest();
        let digits = |from: usize| {
            let tail = rest.get(from..).unwrap_or_default();
            tail.bytes().take_while(u8::is_ascii_digit).count()
        };
        let mut end = integer.len();
        if rest[end..].starts_with('.') {
            match digits(end + 1) {
                0 => return Err(self.wrong("expected digits after the point")),
                count => end += 1 + count,
            }
        }
        if rest[end..].starts_with(['e', 'E']) {
            let sign = usize::from(rest[end + 1..].starts_with(['+', '-']));
            match digits(end + 1 + sign) {
                0 => return Err(self.wrong("expected digits in the exponent")),
                count => end += 1 + sign + count,
            }
        }
        let number = rest[..end].parse().ok();
        self.at += end;
        Ok(number)
    }

    /// A quoted text, if one starts here.
    pub(super) fn quoted(&mut self) -> Result<Option<String>, Error> {
        let Some(quote) = self.peek().filter(|char| matches!(char, '\'' | '"')) else {
            return Ok(None);
        };
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let at = self.at;
            match self.next() {
                None => {
                    self.at = start;
                    return Err(self.wrong("this quote is never closed"));
                }
                Some('\\') => text.push(self.escaped(quote)?),
                Some(char) if char == quote => return Ok(Some(text)),
                Some(char) if char < ' ' => {
                    self.at = at;
                    return Err(self.wrong("a control character must be escaped"));
                }
                Some(char) => text.push(char),
            }
        }
    }

    fn escaped(&mut self, quote: char) -> Result<char, Error> {
        let start = self.at;
        Ok(match self.next() {
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some(char @ ('/' | '\\')) => char,
            Some(char) if char == quote => char,
            Some('u') => self.unicode(start)?,
            _ => {
                self.at = start;
                return Err(self.wrong("this cannot be escaped"));
            }
        })
    }

    fn unicode(&mut self, start: usize) -> Result<char, Error> {
        let first = self.hex()?;
        let code = match first {
            0xd800..0xdc00 if self.eat("\\u") => match self.hex()? {
                second @ 0xdc00..0xe000 => 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00),
                _ => first,
            },
            _ => first,
        };
        char::from_u32(code).ok_or_else(|| {
            self.at = start;
            self.wrong("this is half of a surrogate pair")
        })
    }

    fn hex(&mut self) -> Result<u32, Error> {
        let digits = self.rest().get(..4);
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let code = code.ok_or_else(|| self.wrong("expected four hexadecimal digits"))?;
        self.at += 4;
        Ok(code)
    }
}

fn is_without_leading_zero(digits: &str) -> bool {
    let unsigned = digits.strip_prefix('-').unwrap_or(digits);
    unsigned == "0" || !unsigned.starts_with('0')
}
