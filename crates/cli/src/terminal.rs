//! What the terminal can show.

use std::io::{IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum;

/// The width of a page when there is no terminal to ask.
const WIDTH: usize = 100;

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// Whether to colour what goes to a stream. Honours NO_COLOR, CLICOLOR_FORCE and TERM=dumb.
    pub(crate) fn on(self, stream: &impl anstream::stream::RawStream) -> bool {
        match self {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => AutoStream::choice(stream) != ColorChoice::Never,
        }
    }
}

/// How many columns a page has.
pub(crate) fn width() -> usize {
    let asked = std::env::var("COLUMNS")
        .ok()
        .and_then(|text| text.parse().ok());
    let terminal = || {
        let stdout = std::io::stdout();
        let (width, _) = stdout
            .is_terminal()
            .then(terminal_size::terminal_size)
            .flatten()?;
        Some(usize::from(width.0))
    };
    asked.or_else(terminal).unwrap_or(WIDTH).clamp(60, 160)
}

/// Writes results. A reader that has gone away (`| head`) is no error.
pub(crate) fn print(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
}

/// Writes talk: what is not a result.
pub(crate) fn talk(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes());
}
