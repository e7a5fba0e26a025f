//! From the bytes of a file to its text.

use super::Limits;
use crate::diagnostic::{Code, Diagnostic, codes};
use crate::source::{Source, Span};

/// Why bytes are not a text that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecodable {
    /// The kind of problem.
    pub code: &'static Code,
    /// What is wrong.
    pub message: String,
    /// How to mend it.
    pub help: String,
    /// The text as far as it can be shown, with `\u{fffd}` for what is no text. Add it as the
    /// source that the problem lies in.
    pub text: String,
    /// Where in that text the problem lies.
    pub offset: usize,
}

impl Undecodable {
    /// The problem at its place in the source that was made of [`Self::text`].
    pub fn diagnostic(&self, source: &Source) -> Diagnostic {
        let text = source.text();
        let length = text
            .get(self.offset..)
            .and_then(|rest| rest.chars().next())
            .map_or(0, char::len_utf8);
        let span = Span::new(source.id(), self.offset, self.offset + length);
        Diagnostic::new(self.code, span, self.message.clone()).help(self.help.clone())
    }
}

/// The text of a file. A byte order mark of UTF-8 is left out.
pub fn decode(mut bytes: Vec<u8>, limits: &Limits) -> Result<String, Box<Undecodable>> {
    if bytes.len() > limits.bytes {
        let problem = too_large(Span::default(), bytes.len(), limits.bytes);
        return Err(Box::new(Undecodable {
            code: problem.code,
            message: problem.message,
            help: problem.help.concat(),
            text: String::new(),
            offset: 0,
        }));
    }
    let utf16 = match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => Some(utf16_text(rest, u16::from_le_bytes)),
        [0xfe, 0xff, rest @ ..] => Some(utf16_text(rest, u16::from_be_bytes)),
        _ => None,
    };
    if let Some(text) = utf16 {
        return Err(Box::new(Undecodable {
            code: &codes::NOT_UTF8,
            message: "the file is UTF-16, not UTF-8".to_owned(),
            help: "save it as UTF-8".to_owned(),
            text,
            offset: 0,
        }));
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) => {
            let (bytes, error) = (error.as_bytes(), error.utf8_error());
            let offset = error.valid_up_to();
            let bad = bytes.get(offset).copied().unwrap_or_default();
            let message = match error.error_len() {
                None => "the file ends in the middle of a character".to_owned(),
                Some(_) => format!("the byte 0x{bad:02X} is not UTF-8 text"),
            };
            Err(Box::new(Undecodable {
                code: &codes::NOT_UTF8,
                message,
                help: "save the file as UTF-8".to_owned(),
                text: String::from_utf8_lossy(bytes).into_owned(),
                offset,
            }))
        }
    }
}

fn utf16_text(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    char::decode_utf16(units)
        .map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

pub(super) fn too_large(span: Span, bytes: usize, limit: usize) -> Diagnostic {
    Diagnostic::new(
        &codes::TOO_LARGE,
        span,
        format!("the file has {bytes} bytes, more than the limit of {limit}"),
    )
    .help("is it the right file? job files are small")
}
