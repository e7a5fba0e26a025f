//! What the terminal can show.

use std::io::{IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum;
use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};
use unicode_width::UnicodeWidthStr as _;

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

/// Breaks lines that are longer than the page between words; what follows is indented, so that the first column
/// stays for names. Words that are too long, such as paths, are left whole.
pub(crate) fn fold(page: &str, width: usize, indent: usize) -> String {
    let mut folded = String::with_capacity(page.len());
    for line in page.split_inclusive('\n') {
        let mut column = 0;
        for word in line.split_inclusive(' ') {
            let wide = word.trim_end().width();
            if column > indent && column + wide > width {
                folded.truncate(folded.trim_end_matches(' ').len());
                folded.push('\n');
                folded.push_str(&" ".repeat(indent));
                column = indent;
            }
            folded.push_str(word);
            column += word.trim_end_matches('\n').width();
        }
    }
    folded
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

/// Keeps what is typed off the screen while a view is drawn on it.
#[derive(Clone, Debug)]
pub(crate) struct Silence {
    before: Option<Termios>,
}

impl Silence {
    /// From now on.
    pub(crate) fn begin() -> Self {
        let silence = Self {
            before: tcgetattr(std::io::stdin()).ok(),
        };
        silence.keep();
        silence
    }

    /// Also after another program has set the terminal.
    pub(crate) fn keep(&self) {
        if let Some(mut silent) = self.before.clone() {
            silent.local_flags.remove(LocalFlags::ECHO);
            let _ = tcsetattr(std::io::stdin(), SetArg::TCSANOW, &silent);
        }
    }

    /// The terminal is as it was before.
    pub(crate) fn end(&self) {
        if let Some(before) = &self.before {
            let _ = tcsetattr(std::io::stdin(), SetArg::TCSANOW, before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_between_words_and_indented() {
        let page =
            "  cause   one two three\n  file    /a/very/long/path/that/stays\n  ok      done\n";
        assert_eq!(
            fold(page, 18, 10),
            "  cause   one two\n          three\n  file    /a/very/long/path/that/stays\n  ok      done\n"
        );
        assert_eq!(fold(page, 100, 10), page);
    }
}
