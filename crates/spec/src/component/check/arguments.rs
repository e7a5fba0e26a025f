//! Whether the arguments of a command reach the parameters that they are meant for.

use pinnace_core::text::Text;

use super::command::Templates;
use crate::component::command::powershell;
use crate::component::command::{
    Argument, Entry, Placeholder, Scope, Site, Situation, check_arguments,
};
use crate::component::entry::tidy;
use crate::component::hemera;
use crate::component::includes::code_folder;
use crate::component::model::{Component, Kind};
use crate::component::paths;
use crate::diagnostic::Diagnostics;
use crate::job::Request;
use crate::library::Library;
use crate::setting;
use crate::source::{Sources, Span};

pub(super) fn check(
    component: &Component<'_>,
    templates: &Templates<'_>,
    sources: &Sources,
    request: &Request<'_>,
    library: &dyn Library,
    out: &mut Diagnostics,
) {
    let Some((line, template)) = templates.iter().find(|(line, _)| line.path == "command") else {
        return;
    };
    let Some(site) = Site::new(line.node, sources) else {
        return;
    };
    let scratch = Sources::default();
    let flags = setting::bindings(request.inputs, &scratch, &mut Diagnostics::default());
    let value = |placeholder: &Placeholder<'_>| {
        let written = || Some(Text::from(template.slice(&placeholder.range)));
        if placeholder.scope != Scope::Inputs {
            return written();
        }
        let flag = flags
            .iter()
            .find(|flag| flag.name_text() == placeholder.name);
        if let Some(flag) = flag {
            return Some(Text::from(flag.value_text()));
        }
        let Some(input) = component.input(placeholder.name) else {
            return written();
        };
        match input.default.and_then(|node| node.as_text()) {
            Some(default) => Some(Text::from(default)),
            None if input.optional => None,
            None => written(),
        }
    };
    let arguments = template.arguments();
    let entry = entry(component, &arguments, sources, request, library);
    let situation = Situation {
        value: &value,
        manner: request.manner,
        by_place: component.kind == Kind::Hemera,
        entry: entry.as_ref(),
    };
    check_arguments(template, &arguments, &site, situation, out);
}

/// The PowerShell script that gets the arguments of a command, if it lies in the code.
/// Either the command starts it itself, or a batch file hands it all arguments.
pub(in crate::component) fn entry(
    component: &Component<'_>,
    arguments: &[Argument<'_>],
    sources: &Sources,
    request: &Request<'_>,
    library: &dyn Library,
) -> Option<Entry> {
    let place = arguments
        .iter()
        .position(|argument| has_extension(argument.written, &["ps1"]));
    let first = arguments.get(place.unwrap_or_default())?.written;
    if place.is_none() && !has_extension(first, &["bat", "cmd"]) {
        return None;
    }
    let code = match hemera::module(component, library) {
        Some(module) => module.folder,
        None => code_folder(component, request.folder?),
    };
    let (name, skip) = match place {
        Some(index) => (tidy(first), index + 1),
        None => {
            let batch = library.text(&paths::absolute(&code, &tidy(first)));
            (called(&batch.ok()?)?, 1)
        }
    };
    let text = library.text(&paths::absolute(&code, &name)).ok()?;
    let script = powershell::read(&text)?;
    let length = text.len();
    let source = sources.add(name.as_str(), text);
    Some(Entry {
        name,
        script,
        span: Span::new(source.id(), 0, length),
        skip,
    })
}

/// The script that a batch file calls with all its arguments.
fn called(batch: &str) -> Option<String> {
    let is_comment = |line: &str| {
        let line = line.trim_start().trim_start_matches('@');
        line.starts_with("::")
            || line
                .get(..4)
                .is_some_and(|word| word.eq_ignore_ascii_case("rem "))
    };
    let line = batch
        .lines()
        .find(|line| line.contains("%*") && !is_comment(line))?;
    line.split([' ', '\t', '"', '\''])
        .find(|word| has_extension(word, &["ps1"]))
        .map(tidy)
}

fn has_extension(word: &str, extensions: &[&str]) -> bool {
    let word = word.trim_matches(['"', '\'']);
    word.rsplit_once('.').is_some_and(|(_, end)| {
        extensions
            .iter()
            .any(|extension| end.eq_ignore_ascii_case(extension))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_file_names_its_script() {
        let batch =
            "@echo off\r\nrem powershell old.ps1 %*\r\npowershell -File \"%~dp0Launch.ps1\" %*\r\n";
        assert_eq!(called(batch).as_deref(), Some("Launch.ps1"));
        assert_eq!(
            called("powershell .\\a\\B.PS1 %*").as_deref(),
            Some("a/B.PS1")
        );
        assert_eq!(called("powershell .\\x.ps1 -a 1"), None);
    }
}
