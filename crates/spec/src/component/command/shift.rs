//! Arguments that would reach the wrong parameter once a missing input takes its flag along.

use pinnace_core::text::Text;

use super::argument::{Argument, positional};
use super::ast::{Placeholder, Template};
use super::powershell::{Binding, Script, Value};
use super::render::Manner;
use super::site::{MOST_SHOWN, Site};
use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::source::Span;

/// A PowerShell script that gets the arguments of a command.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its path as people say it.
    pub name: String,
    /// Its parameters.
    pub script: Script,
    /// Its whole text.
    pub span: Span,
    /// How many words of the command come before its arguments.
    pub skip: usize,
}

/// What is known of a command before it runs.
#[derive(Clone, Copy)]
pub struct Situation<'a> {
    /// The value of a placeholder: `None` if it is an optional input that has none, and what stands
    /// for it if the value is not known yet.
    pub value: &'a dyn Fn(&Placeholder<'_>) -> Option<Text>,
    /// How the command would be made.
    pub manner: Manner,
    /// Whether arguments without a flag are usual for the program.
    pub by_place: bool,
    /// The script that gets the arguments, if it is known.
    pub entry: Option<&'a Entry>,
}

impl std::fmt::Debug for Situation<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Situation")
            .field("manner", &self.manner)
            .field("by_place", &self.by_place)
            .field("entry", &self.entry)
            .finish_non_exhaustive()
    }
}

impl Entry {
    /// What the parameters get from a command in some manner.
    pub fn bind(
        &self,
        template: &Template<'_>,
        value: &dyn Fn(&Placeholder<'_>) -> Option<Text>,
        manner: Manner,
    ) -> Binding {
        let rendered = template.render(value, manner);
        let words: Vec<String> = rendered
            .words
            .iter()
            .skip(self.skip)
            .map(|word| word.render(|secret| format!("<{secret}>")))
            .collect();
        self.script.bind(&words)
    }
}

/// Warns of arguments that would reach the wrong parameter, or none.
pub fn check_arguments(
    template: &Template<'_>,
    arguments: &[Argument<'_>],
    site: &Site<'_>,
    situation: Situation<'_>,
    out: &mut Diagnostics,
) {
    let dropped = if situation.manner == Manner::Aml {
        dropped_flags(template, arguments, situation.value)
    } else {
        Vec::new()
    };
    match situation.entry {
        Some(entry) => {
            let binding = entry.bind(template, situation.value, situation.manner);
            if !dropped.is_empty() {
                let kept = entry.bind(template, situation.value, Manner::Aether);
                let shifted = shifted(&binding, &kept);
                if let Some((name, value)) = shifted.first() {
                    let shift = Shift {
                        entry,
                        name,
                        value,
                        arguments,
                        dropped: &dropped,
                    };
                    out.push(shift.describe(template, site));
                }
            }
            refused(&binding, entry, site, out);
        }
        None => {
            if let Some(found) = suspected(template, site, situation, arguments, &dropped) {
                out.push(found);
            }
        }
    }
}

/// The arguments that disappear with their flag.
fn dropped_flags<'a, 't>(
    template: &Template<'_>,
    arguments: &'a [Argument<'t>],
    value: &dyn Fn(&Placeholder<'_>) -> Option<Text>,
) -> Vec<&'a Argument<'t>> {
    // Whether each group goes; the index of a group is its place here.
    let missing: Vec<bool> = template
        .groups()
        .map(|group| group.placeholders().any(|found| value(found).is_none()))
        .collect();
    let is_missing = |group: usize| missing.get(group) == Some(&true);
    let is_dropped =
        |argument: &&Argument<'_>| argument.group.is_some_and(is_missing) && argument.is_flag();
    arguments.iter().filter(is_dropped).collect()
}

/// Parameters that get by their place what they would not get if no flag had disappeared.
fn shifted<'b>(binding: &'b Binding, kept: &Binding) -> Vec<(&'b str, &'b str)> {
    let both = binding.values.iter().zip(&kept.values);
    both.filter_map(|((name, value), (_, other))| match value {
        Value::Positional(text) if value != other => Some((name.as_str(), text.as_str())),
        _ => None,
    })
    .collect()
}

/// An argument that reaches the wrong parameter of a script.
struct Shift<'a, 't> {
    entry: &'a Entry,
    name: &'a str,
    value: &'a str,
    arguments: &'a [Argument<'t>],
    dropped: &'a [&'a Argument<'t>],
}

impl Shift<'_, '_> {
    fn describe(&self, template: &Template<'_>, site: &Site<'_>) -> Diagnostic {
        let range = positional(self.arguments)
            .first()
            .and_then(|index| self.arguments.get(*index))
            .map_or(0..0, |argument| argument.range.clone());
        let message = format!(
            "parameter `{}` of `{}` would get `{}`",
            self.name, self.entry.name, self.value
        );
        let parameters = &self.entry.script.parameters;
        let declared = parameters.iter().find(|found| found.name == self.name);
        let diagnostic = Diagnostic::new(&codes::ARGUMENT_SHIFT, site.span(&range), message)
            .label("PowerShell gives it to the first parameter that is still empty");
        let diagnostic = match declared {
            Some(found) => diagnostic.related(
                self.entry.span.part(found.range.start, found.range.end),
                "this parameter",
            ),
            None => diagnostic,
        };
        advise(diagnostic, template, site, self.arguments, self.dropped)
    }
}

/// A shift that is likely although the script is not known.
fn suspected(
    template: &Template<'_>,
    site: &Site<'_>,
    situation: Situation<'_>,
    arguments: &[Argument<'_>],
    dropped: &[&Argument<'_>],
) -> Option<Diagnostic> {
    let first = dropped.first()?;
    let argument = positional(arguments)
        .into_iter()
        .filter_map(|index| arguments.get(index))
        .find(|argument| {
            argument.range.start > first.range.start
                && argument.group.is_none()
                && (argument.is_setting() || situation.by_place)
        })?;
    let before: Vec<&Argument<'_>> = dropped
        .iter()
        .copied()
        .filter(|flag| flag.range.start < argument.range.start)
        .collect();
    let message = format!(
        "`{}` can be taken for the value of a parameter that is missing",
        argument.written
    );
    let diagnostic = Diagnostic::new(&codes::ARGUMENT_SHIFT, site.span(&argument.range), message)
        .label("a PowerShell script gives it to the first parameter that is still empty");
    Some(advise(diagnostic, template, site, arguments, &before))
}

/// Adds what disappears, and the two ways out.
fn advise(
    mut diagnostic: Diagnostic,
    template: &Template<'_>,
    site: &Site<'_>,
    arguments: &[Argument<'_>],
    dropped: &[&Argument<'_>],
) -> Diagnostic {
    for flag in dropped.iter().take(MOST_SHOWN) {
        diagnostic = diagnostic.related(
            site.span(&flag.range),
            format!("`{}` disappears with its group", flag.written),
        );
    }
    diagnostic = diagnostic.help(
        "declare a parameter for it before all others in the entry script, such as `[string] $Cluster`",
    );
    let Some(flag) = dropped.first() else {
        return diagnostic;
    };
    let value = arguments
        .iter()
        .find(|argument| argument.group == flag.group && argument.range.start > flag.range.start);
    match value {
        Some(value) => {
            let kept = template.syntax.group(value.written);
            diagnostic.help(format!(
                "or keep the flag with an empty value: `{} \"{kept}\"`; `--manner aether` does so for all",
                flag.written
            ))
        }
        None => diagnostic,
    }
}

/// Warns that the script would refuse its arguments.
fn refused(binding: &Binding, entry: &Entry, site: &Site<'_>, out: &mut Diagnostics) {
    let refusals: Vec<String> = binding.refusals.iter().map(ToString::to_string).collect();
    if !refusals.is_empty() {
        let message = format!(
            "`{}` would refuse its arguments: {}",
            entry.name,
            refusals.join(", ")
        );
        out.push(
            Diagnostic::new(&codes::REFUSED_ARGUMENTS, site.whole(), message)
                .related(entry.span.part(0, 0), "the script")
                .help("make the command and the `param` block of the script agree"),
        );
    }
}
