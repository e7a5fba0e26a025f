//! What flows in and out of a role's tasks.

use pinnace_core::plan::{Code, DataKind, Input, InputMode, Output, OutputMode, Role};
use pinnace_core::words;

use super::page::{Line, Look};
use super::plan::{View, line_of};

/// So many lines of a written file are shown.
const MOST_LINES: usize = 12;

impl View<'_> {
    pub(super) fn data(&mut self, role: &Role, path: &str) {
        if let Some(code) = &role.code {
            self.code(code, &format!("{path}.code"));
        }
        for (index, (name, input)) in role.inputs.iter().enumerate() {
            let label = if index == 0 { "inputs" } else { "" };
            self.input(label, name, input, &format!("{path}.inputs.{name}"));
        }
        for (index, (name, output)) in role.outputs.iter().enumerate() {
            let label = if index == 0 { "outputs" } else { "" };
            self.output(label, name, output, &format!("{path}.outputs.{name}"));
        }
        self.files(role, path);
        self.python(role, path);
        if let Some(workdir) = &role.workdir {
            self.value(
                "starts in",
                &Line::plain(workdir),
                &format!("{path}.workdir"),
            );
        }
        if role.success != pinnace_core::plan::SuccessfulExit::Zero {
            let words = "with every exit code from 0 to 127";
            self.value("succeeds", &Line::plain(words), &format!("{path}.success"));
        }
    }

    fn code(&mut self, code: &Code, path: &str) {
        let line = Line::plain(format!("{} ← a snapshot of {}", code.target, code.source));
        self.value("code", &line, &format!("{path}.source"));
        for (index, include) in code.includes.iter().enumerate() {
            let line = Line::plain(format!("and {include}"));
            self.value("", &line, &format!("{path}.includes[{index}]"));
        }
        if !code.ignore.is_empty() {
            let names: Vec<String> = code.ignore.iter().map(|name| format!("`{name}`")).collect();
            let words = format!("without what {} names", words::listed(&names, "or"));
            let line = Line::default().with(Look::Dim, words);
            self.value("", &line, &format!("{path}.ignore[0]"));
        }
    }

    fn input(&mut self, label: &str, name: &str, input: &Input, path: &str) {
        let line = match input.mode {
            InputMode::Direct => Line::plain(format!("{name}: {}", input.source)),
            _ => Line::plain(format!("{name}: {} ← {}", input.target, input.source)),
        };
        let how = match input.mode {
            InputMode::Mount => "read-only",
            InputMode::Download => "a copy",
            InputMode::Direct => "only told where it lies",
        };
        let line = line.with(Look::Dim, format!("  {}{how}", kind(input.kind)));
        self.value(label, &line, &format!("{path}.source"));
    }

    fn output(&mut self, label: &str, name: &str, output: &Output, path: &str) {
        let kind = kind(output.kind).trim_end_matches(", ");
        if output.mode == OutputMode::Link {
            let line =
                Line::plain(format!("{name}: ")).with(Look::Dim, "the data that the task links");
            self.value(label, &line, &format!("{path}.mode"));
        } else {
            let line = Line::plain(format!("{name}: {} → ", output.target));
            let line = match &output.destination {
                Some(place) => line.with(Look::Plain, place.as_str()),
                None => line.with(Look::Dim, "kept with the job"),
            };
            let line = if kind.is_empty() {
                line
            } else {
                line.with(Look::Dim, format!("  {kind}"))
            };
            self.value(label, &line, &format!("{path}.destination"));
        }
        if output.pointer {
            let line = Line::default().with(Look::Dim, "one line: the place of the real data");
            self.value("", &line, &format!("{path}.pointer"));
        }
        if output.append {
            let line = Line::default().with(Look::Dim, "added to what lies there");
            self.value("", &line, &format!("{path}.append"));
        }
        if let Some(register) = &output.register {
            let line = Line::plain(format!("registered as dataset `{}`", register.name));
            self.value("", &line, &format!("{path}.register.name"));
        }
    }

    fn files(&mut self, role: &Role, path: &str) {
        for (index, (target, content)) in role.files.iter().enumerate() {
            let label = if index == 0 { "files" } else { "" };
            let place = format!("{path}.files.{target}");
            self.value(label, &Line::plain(target), &place);
            let text = super::plan::plain(content);
            for line in text.lines().take(MOST_LINES) {
                self.value(
                    "",
                    &Line::default().with(Look::Dim, format!("  {line}")),
                    "",
                );
            }
            let rest = text.lines().count().saturating_sub(MOST_LINES);
            if rest > 0 {
                let words = format!("  … and {}", words::count(rest, "more line"));
                self.value("", &Line::default().with(Look::Dim, words), "");
            }
        }
    }

    fn python(&mut self, role: &Role, path: &str) {
        let Some(python) = &role.python else { return };
        let mut label = "python";
        for (index, requirement) in python.requirements.iter().enumerate() {
            let place = format!("{path}.python.requirements[{index}]");
            self.value(label, &line_of(requirement), &place);
            label = "";
        }
        if let Some(file) = &python.file {
            let line = Line::plain(format!("the lines of `{file}`, if the code has it"));
            self.value(label, &line, &format!("{path}.python.file"));
        }
    }
}

fn kind(kind: DataKind) -> &'static str {
    match kind {
        DataKind::File => "a file, ",
        DataKind::Folder => "a folder, ",
        DataKind::Any => "",
    }
}
