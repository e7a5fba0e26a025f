//! Reads `<m a="…" b="…"/>`. Quotes inside a value may stand there without an escape, as people write
//! them: a value ends at a quote that another attribute or the end of the element follows.

use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::source::{Source, Span};

/// The element of a module.
#[derive(Debug)]
pub(super) struct Element<'s> {
    /// The whole of it.
    pub(super) span: Span,
    pub(super) attributes: Vec<Attribute<'s>>,
}

/// An attribute.
#[derive(Debug)]
pub(super) struct Attribute<'s> {
    pub(super) name: &'s str,
    /// Name, equals sign and value.
    pub(super) span: Span,
    pub(super) value: Value,
}

/// The value of an attribute.
#[derive(Clone, Debug)]
pub(super) struct Value {
    /// Its text, entities decoded.
    pub(super) text: String,
    /// Where it stands, without its quotes.
    pub(super) span: Span,
    /// Where each character of the text is written, and at the end where the value ends.
    offsets: Vec<(usize, u32)>,
}

impl Value {
    /// Where some bytes of the text are written.
    pub(super) fn part(&self, start: usize, end: usize) -> Span {
        let written = |at: usize| {
            let index = self.offsets.partition_point(|(text, _)| *text < at);
            self.offsets.get(index).map_or(self.span.end, |(_, at)| *at)
        };
        Span {
            start: written(start),
            end: written(end),
            ..self.span
        }
    }
}

impl Element<'_> {
    /// The value of an attribute; that it is missing is a problem.
    pub(super) fn get(&self, name: &str, what: &str, out: &mut Diagnostics) -> Option<&Value> {
        let found = self
            .attributes
            .iter()
            .find(|attribute| attribute.name == name);
        if found.is_none() {
            let message = format!("`{name}` is missing: {what}");
            let start = Span {
                end: self.span.start + 2,
                ..self.span
            };
            out.push(Diagnostic::new(&codes::BAD_MODULE, start, message));
        }
        found.map(|attribute| &attribute.value)
    }
}

const FORM: &str = "a module is written as `<m c=\"Hemera\" n=\"NAME\" i=\"INTERFACE\" />`";

/// Reads the one element of a file.
pub(super) fn read(source: &Source) -> Result<Element<'_>, Box<Diagnostic>> {
    let mut cursor = Cursor { source, at: 0 };
    cursor.skip_misc();
    let start = cursor.at;
    let opens = cursor.rest().strip_prefix("<m");
    if !opens.is_some_and(|rest| rest.starts_with([' ', '\t', '\r', '\n', '/', '>'])) {
        return Err(cursor.problem("the file does not begin with a module `<m …/>`"));
    }
    cursor.at += 2;
    let mut attributes: Vec<Attribute<'_>> = Vec::new();
    loop {
        cursor.skip_blanks();
        if let Some(length) = end_of_element(cursor.rest()) {
            cursor.at += length;
            break;
        }
        let attribute = cursor.attribute()?;
        if attributes.iter().any(|other| other.name == attribute.name) {
            let message = format!("`{}` stands here twice", attribute.name);
            return Err(Diagnostic::new(&codes::BAD_MODULE, attribute.span, message).into());
        }
        attributes.push(attribute);
    }
    let end = cursor.at;
    cursor.skip_misc();
    if cursor.rest().starts_with("</m>") {
        cursor.at += 4;
        cursor.skip_misc();
    }
    if !cursor.rest().is_empty() {
        return Err(cursor.problem("something follows the module: convert one at a time"));
    }
    Ok(Element {
        span: Span::new(source.id(), start, end),
        attributes,
    })
}

struct Cursor<'s> {
    source: &'s Source,
    at: usize,
}

impl<'s> Cursor<'s> {
    fn rest(&self) -> &'s str {
        self.source.text().get(self.at..).unwrap_or_default()
    }

    fn problem(&self, message: &str) -> Box<Diagnostic> {
        let length = self.rest().chars().next().map_or(0, char::len_utf8);
        let span = Span::new(self.source.id(), self.at, self.at + length);
        Box::new(Diagnostic::new(&codes::BAD_MODULE, span, message).help(FORM))
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Passes blanks, comments and the XML declaration.
    fn skip_misc(&mut self) {
        loop {
            self.skip_blanks();
            let rest = self.rest();
            let end = if rest.starts_with("<!--") {
                rest.find("-->").map(|end| end + 3)
            } else if rest.starts_with("<?") {
                rest.find("?>").map(|end| end + 2)
            } else if rest.starts_with('\u{feff}') {
                Some('\u{feff}'.len_utf8())
            } else {
                None
            };
            match end {
                Some(end) => self.at += end,
                None => return,
            }
        }
    }

    fn attribute(&mut self) -> Result<Attribute<'s>, Box<Diagnostic>> {
        let start = self.at;
        let rest = self.rest();
        let length = name_length(rest);
        if length == 0 {
            return Err(self.problem("an attribute or the end of the module is missing here"));
        }
        let name = &rest[..length];
        self.at += length;
        self.skip_blanks();
        if !self.rest().starts_with('=') {
            return Err(self.problem("an attribute has no `=`"));
        }
        self.at += 1;
        self.skip_blanks();
        let Some(quote @ ('"' | '\'')) = self.rest().chars().next() else {
            return Err(self.problem("a value is not quoted"));
        };
        let opened = self.problem("a value never ends");
        self.at += 1;
        let written = self.rest();
        let length = written
            .match_indices(quote)
            .map(|(at, _)| at)
            .find(|at| ends_value(&written[at + 1..]))
            .ok_or(opened)?;
        let value = self.decode(&written[..length])?;
        self.at += length + 1;
        Ok(Attribute {
            name,
            span: Span::new(self.source.id(), start, self.at),
            value,
        })
    }

    /// Decodes the entities of a value.
    fn decode(&self, written: &str) -> Result<Value, Box<Diagnostic>> {
        let base = self.at;
        let mut text = String::with_capacity(written.len());
        let mut offsets = Vec::with_capacity(written.len());
        let mut at = 0;
        while let Some(char) = written.get(at..).and_then(|rest| rest.chars().next()) {
            offsets.push((text.len(), (base + at) as u32));
            if char == '&' {
                let (decoded, length) = entity(&written[at..]).ok_or_else(|| {
                    let span = Span::new(self.source.id(), base + at, base + at + 1);
                    let problem =
                        Diagnostic::new(&codes::BAD_MODULE, span, "this is no entity of XML");
                    Box::new(problem.help("write `&amp;` for the character itself"))
                })?;
                text.push(decoded);
                at += length;
            } else {
                text.push(char);
                at += char.len_utf8();
            }
        }
        offsets.push((text.len(), (base + written.len()) as u32));
        Ok(Value {
            text,
            span: Span::new(self.source.id(), base, base + written.len()),
            offsets,
        })
    }
}

fn name_length(text: &str) -> usize {
    text.find(|char: char| !char.is_alphanumeric() && !"_-.:".contains(char))
        .unwrap_or(text.len())
}

/// The length of `/>` or `>`.
fn end_of_element(rest: &str) -> Option<usize> {
    if rest.starts_with("/>") {
        Some(2)
    } else if rest.starts_with('>') {
        Some(1)
    } else {
        None
    }
}

/// Whether a quote is the end of a value, by what follows it.
fn ends_value(after: &str) -> bool {
    let trimmed = after.trim_start();
    if end_of_element(trimmed).is_some() {
        return true;
    }
    let length = name_length(trimmed);
    let rest = trimmed.get(length..).unwrap_or_default().trim_start();
    let value = rest.strip_prefix('=').map(str::trim_start);
    trimmed.len() < after.len()
        && length > 0
        && value.is_some_and(|value| value.starts_with(['"', '\'']))
}

/// The character of an entity, and the bytes that it takes.
fn entity(text: &str) -> Option<(char, usize)> {
    const LONGEST: usize = 12;
    let end = text.bytes().take(LONGEST).position(|byte| byte == b';')?;
    let name = text.get(1..end)?;
    let char = match name {
        "quot" => '"',
        "apos" => '\'',
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code).filter(|char| *char != '\0')?
        }
    };
    Some((char, end + 1))
}
