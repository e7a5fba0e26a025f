//! The command line as people look at it.

use pinnace_core::text::Text;

use super::Lowering;
use crate::component::check::arguments;
use crate::component::command::{CommandLine, EntryArguments, Placeholder};
use crate::component::model::Kind;
use crate::component::read::at;
use crate::source::Sources;

impl Lowering<'_, '_> {
    /// The words and the line of the component's own command. For a parallel component that is the entry script
    /// with its arguments, for one of another engine its program.
    pub(super) fn command_line(&mut self) -> Option<CommandLine> {
        let before: Vec<&str> = match self.component.kind {
            Kind::Parallel => self.program_words(&[], &["parallel.entry", "task.entry_script"]),
            Kind::Scope => self.program_words(&[], &["scope.script"]),
            Kind::HdInsight => self.program_words(&["spark-submit"], &["hdinsight.file"]),
            Kind::Spark => self.program_words(&["spark-submit"], &["entry.file"]),
            _ if self.component.is_python_style() => vec!["python"],
            _ => Vec::new(),
        };
        let rendered = self.rendered(0).map(|(rendered, _)| rendered);
        if rendered.is_none() && before.is_empty() {
            return None;
        }
        let rendered = rendered.unwrap_or_default();
        let mut shell = Text::default();
        for word in &before {
            shell.push_literal(&pinnace_core::script::word(word));
            shell.push_literal(" ");
        }
        shell.append(&rendered.line);
        let words = before.into_iter().map(Text::from).chain(rendered.words);
        Some(CommandLine {
            manner: self.request.manner,
            words: words.collect(),
            shell,
            needs_shell: rendered.is_live,
            entry: self.entry_arguments(),
        })
    }

    /// The words of a program that a field names.
    fn program_words<'w>(&self, launcher: &[&'w str], paths: &[&str]) -> Vec<&'w str>
    where
        Self: 'w,
    {
        let mut words = launcher.to_vec();
        let program = paths
            .iter()
            .find_map(|path| at(self.component.root, path)?.as_text());
        words.extend(program);
        words
    }

    fn entry_arguments(&self) -> Option<EntryArguments> {
        let found = self
            .templates
            .iter()
            .find(|(line, _)| line.path == "command");
        let (_, template) = found?;
        let sources = Sources::default();
        let entry = arguments::entry(
            self.component,
            &template.arguments(),
            &sources,
            self.request,
            self.library,
        )?;
        let value = |placeholder: &Placeholder<'_>| self.value(placeholder);
        let binding = entry.bind(template, &value, self.request.manner);
        Some(EntryArguments::of(entry.name, &binding))
    }
}
