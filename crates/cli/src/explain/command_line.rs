//! The command line of a component: its words, the line for a shell, and what a PowerShell script finds.

use pinnace_core::words;
use pinnace_spec::component::command::{EntryArguments, GivenBy};

use super::page::{Line, Look};
use super::plan::{View, line_of, plain};

impl View<'_> {
    pub(super) fn command_line(&mut self) {
        let Some(command) = &self.job().command_line else {
            return;
        };
        self.heading(&format!(
            "Command line, in the manner of {}",
            command.manner.title()
        ));
        for (index, word) in command.words.iter().enumerate() {
            let label = if index == 0 { "words" } else { "" };
            self.value(label, &Line::plain(visible(&plain(word))), "");
        }
        if command.needs_shell {
            let note = "as written; the shell makes more of them";
            self.value("", &Line::default().with(Look::Dim, note), "");
        }
        self.value("shell", &line_of(&command.shell), "");
        if let Some(entry) = &command.entry {
            self.entry(entry);
        }
    }

    fn entry(&mut self, entry: &EntryArguments) {
        let widths = entry.parameters.iter().map(|one| one.name.chars().count());
        let width = widths.max().unwrap_or(0).min(40);
        let heading = Line::plain(format!("in `{}`", entry.script));
        self.value("parameters", &heading, "");
        for one in &entry.parameters {
            let how = match one.by {
                GivenBy::Name => "by its name",
                GivenBy::Place => "by its place",
                GivenBy::Rest => "all that is left",
                GivenBy::Default => "given nothing",
            };
            let line = Line::plain(format!("{:<width$}  {}", one.name, visible(&one.value)))
                .with(Look::Dim, format!("  {how}"));
            self.value("", &line, "");
        }
        if !entry.rest.is_empty() {
            let rest: Vec<String> = entry.rest.iter().map(|word| visible(word)).collect();
            let line = Line::plain(format!("{:<width$}  {}", "$args", rest.join(" ")))
                .with(Look::Dim, "  no parameter takes it");
            self.value("", &line, "");
        }
        if !entry.refusals.is_empty() {
            let line = Line::default().with(Look::Warning, "refused").with(
                Look::Plain,
                format!(": {}", words::listed(&entry.refusals, "and")),
            );
            self.value("", &line, "");
        }
    }
}

/// A word, in quotes if it could not be told from its surroundings.
fn visible(word: &str) -> String {
    let is_plain =
        !word.is_empty() && !word.contains(|char: char| char.is_whitespace() || char == '"');
    if is_plain {
        word.to_owned()
    } else {
        format!("{word:?}")
    }
}
