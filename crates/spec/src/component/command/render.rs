//! Puts values in the place of placeholders.

use pinnace_core::text::Text;
use serde::Serialize;

use super::ast::{Part, Placeholder, Template};
use super::shell::Line;

/// What becomes of an optional input that has no value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Manner {
    /// As in Azure ML: the group in which it stands disappears.
    #[default]
    Aml,
    /// As in Aether: the argument stays, with an empty text as its value.
    Aether,
}

impl Manner {
    /// Both of them.
    pub const ALL: [Manner; 2] = [Manner::Aml, Manner::Aether];

    /// Its word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Manner::Aml => "aml",
            Manner::Aether => "aether",
        }
    }

    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Manner::Aml => "Azure ML",
            Manner::Aether => "Aether",
        }
    }
}

/// A command with values in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// The words as a shell splits the line. If the author's text asks the shell for more than
    /// splitting, they are only what a reader sees; `is_live` says so.
    pub words: Vec<Text>,
    /// The line for a shell. Every value in it is quoted and stays what it is.
    pub line: Text,
    /// Whether the author's text asks the shell for more than splitting: variables, pipes, globs.
    pub is_live: bool,
    /// The groups that disappeared, by their index.
    pub dropped: Vec<usize>,
    /// The placeholders that found no value and stand in no dropped group, by their index.
    pub missing: Vec<usize>,
}

/// A line that gives a shell these words and asks it for nothing else.
pub fn line_of<'w>(words: impl IntoIterator<Item = &'w Text>) -> Text {
    let mut line = Line::default();
    for (index, word) in words.into_iter().enumerate() {
        if index > 0 {
            line.literal(" ");
        }
        line.value(word);
    }
    line.finish().line
}

impl Template<'_> {
    /// Puts values in the place of placeholders. `value` gives `None` for an input that has no
    /// value.
    pub fn render(
        &self,
        mut value: impl FnMut(&Placeholder<'_>) -> Option<Text>,
        manner: Manner,
    ) -> Rendered {
        let mut line = Line::default();
        let mut rendered = Rendered::default();
        for part in &self.parts {
            match part {
                Part::Group(group) => {
                    let values: Vec<Option<Text>> = group.placeholders().map(&mut value).collect();
                    if manner == Manner::Aml && values.iter().any(Option::is_none) {
                        line.omit();
                        rendered.dropped.push(group.index);
                        continue;
                    }
                    let mut values = values.into_iter();
                    for part in &group.parts {
                        self.part(part, |_| values.next().flatten(), &mut line, &mut rendered);
                    }
                }
                other => self.part(other, &mut value, &mut line, &mut rendered),
            }
        }
        let written = line.finish();
        rendered.words = written.words;
        rendered.line = written.line;
        rendered.is_live = written.is_live;
        rendered
    }

    fn part(
        &self,
        part: &Part<'_>,
        value: impl FnOnce(&Placeholder<'_>) -> Option<Text>,
        line: &mut Line,
        rendered: &mut Rendered,
    ) {
        match part {
            Part::Literal(range) => line.literal(self.slice(range)),
            Part::Placeholder(placeholder) => match value(placeholder) {
                _ if line.is_comment() => line.literal(self.slice(&placeholder.range)),
                Some(text) => line.value(&text),
                None => {
                    rendered.missing.push(placeholder.index);
                    line.value(&Text::default());
                }
            },
            Part::Group(_) => {}
        }
    }
}
