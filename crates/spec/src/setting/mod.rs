//! `-p name=value`, `--set PATH=VALUE` and `--secret NAME`: changes of the document before a dialect reads it.
//!
//! Each flag is a [`Source`] of its own, so a problem with it points into what was typed. A changed
//! node remembers the flag and what stood there before.

mod binding;
mod parameter;
mod path;
pub(crate) mod put;
mod run_settings;
mod secret;
mod select;
mod value;

use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::source::{Source, Sources, Span};
use crate::yaml::Node;
use crate::yaml::node::By;

pub use binding::{Binding, bindings, refuse_data};
pub use run_settings::{RunSettingsFile, merge as merge_run_settings};

/// The text of a flag is kept in every node that it changed; it is cut to so many characters.
const LONGEST_NAME: usize = 200;

/// A flag that changes the document.
#[derive(Clone, PartialEq, Eq)]
pub struct Setting {
    kind: Kind,
    text: String,
    /// The value of a secret, which is not part of the flag.
    secret: Option<String>,
}

impl std::fmt::Debug for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?}", self.flag(), self.text)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Parameter,
    Set,
    Secret,
    Input,
    Output,
    Register,
}

impl Setting {
    /// `-p` and what was typed after it, such as `batch=28`.
    pub fn parameter(text: impl Into<String>) -> Self {
        Setting {
            kind: Kind::Parameter,
            text: text.into(),
            secret: None,
        }
    }

    /// `--set` and what was typed after it, such as `taskRoles.worker.instances=4`.
    pub fn set(text: impl Into<String>) -> Self {
        Setting {
            kind: Kind::Set,
            text: text.into(),
            secret: None,
        }
    }

    /// `--secret` and a name. The value comes from outside; none while only the names matter.
    pub fn secret(name: impl Into<String>, value: Option<String>) -> Self {
        Setting {
            kind: Kind::Secret,
            text: name.into(),
            secret: value,
        }
    }

    /// `--input` and what was typed after it, such as `data=./mnist`.
    pub fn input(text: impl Into<String>) -> Self {
        Setting {
            kind: Kind::Input,
            text: text.into(),
            secret: None,
        }
    }

    /// `--output` and what was typed after it, such as `model=./out`.
    pub fn output(text: impl Into<String>) -> Self {
        Setting {
            kind: Kind::Output,
            text: text.into(),
            secret: None,
        }
    }

    /// `--register` and what was typed after it, such as `model=mnist-model`.
    pub fn register(text: impl Into<String>) -> Self {
        Setting {
            kind: Kind::Register,
            text: text.into(),
            secret: None,
        }
    }

    fn flag(&self) -> &'static str {
        match self.kind {
            Kind::Parameter => "-p",
            Kind::Set => "--set",
            Kind::Secret => "--secret",
            Kind::Input => "--input",
            Kind::Output => "--output",
            Kind::Register => "--register",
        }
    }
}

/// Changes the document as the flags say, in their order.
pub fn apply<'s>(
    root: &mut Node<'s>,
    settings: &[Setting],
    sources: &'s Sources,
    diagnostics: &mut Diagnostics,
) {
    let typed: Vec<Typed<'s>> = settings
        .iter()
        .filter_map(|setting| Typed::split(setting, sources, diagnostics))
        .collect();
    warn_of_repeats(&typed, diagnostics);
    for setting in &typed {
        match setting.kind {
            Kind::Parameter => parameter::apply(root, setting, sources, diagnostics),
            Kind::Set => select::apply(root, setting, sources, diagnostics),
            Kind::Secret => secret::apply(root, setting, diagnostics),
            // These do not change the document; the dialect binds them.
            Kind::Input | Kind::Output | Kind::Register => {}
        }
    }
}

/// A flag as typed, cut at its `=`.
struct Typed<'s> {
    kind: Kind,
    source: &'s Source,
    /// Where its name or path stands.
    target: Span,
    /// Where its value stands.
    value: Span,
    secret: Option<String>,
}

impl<'s> Typed<'s> {
    fn split(
        setting: &Setting,
        sources: &'s Sources,
        diagnostics: &mut Diagnostics,
    ) -> Option<Self> {
        let source = sources.add(setting.flag(), setting.text.as_str());
        let text = source.text();
        let whole = Span::new(source.id(), 0, text.len());
        let form = match setting.kind {
            Kind::Set => "PATH=VALUE",
            Kind::Secret => {
                return Some(Typed {
                    kind: setting.kind,
                    source,
                    target: whole,
                    value: whole.part(text.len(), text.len()),
                    secret: setting.secret.clone(),
                });
            }
            _ => "NAME=VALUE",
        };
        let at = match setting.kind {
            Kind::Input | Kind::Output | Kind::Register => text.find('='),
            _ => path::end_of_target(text),
        };
        let problem = match at {
            None => "has no `=`",
            Some(0) => "says nothing before its `=`",
            Some(at) => {
                return Some(Typed {
                    kind: setting.kind,
                    source,
                    target: whole.part(0, at),
                    value: whole.part(at + 1, text.len()),
                    secret: None,
                });
            }
        };
        let message = format!("`{}` {problem}", setting.flag());
        diagnostics.push(
            Diagnostic::new(&codes::BAD_SETTING, whole, message)
                .help(format!("write `{} {form}`", setting.flag())),
        );
        None
    }

    fn target_text(&self) -> &'s str {
        self.source.slice(self.target)
    }

    fn value_text(&self) -> &'s str {
        self.source.slice(self.value)
    }

    /// The flag as typed, for origins.
    fn name(&self) -> String {
        name_of(self.source)
    }

    /// Puts a value where another stood.
    fn replace(&self, node: &mut Node<'s>, value: Node<'s>) {
        put::replace(node, value, By::Flag(self.name()));
    }
}

fn name_of(source: &Source) -> String {
    let mut name = format!("{} {}", source.name(), source.text());
    if let Some((at, _)) = name.char_indices().nth(LONGEST_NAME) {
        name.truncate(at);
        name.push('…');
    }
    name
}

fn warn_of_repeats(settings: &[Typed<'_>], diagnostics: &mut Diagnostics) {
    let mut last = std::collections::HashMap::new();
    for (index, setting) in settings.iter().enumerate() {
        last.insert((setting.source.name(), setting.target_text()), index);
    }
    for (index, setting) in settings.iter().enumerate() {
        let target = setting.target_text();
        let winner = last.get(&(setting.source.name(), target)).copied();
        if let Some(winner) = winner.filter(|winner| *winner != index)
            && let Some(later) = settings.get(winner)
        {
            let message = format!("`{target}` is set more than once; the last one counts");
            diagnostics.push(
                Diagnostic::new(&codes::REPEATED_SETTING, setting.target, message)
                    .label("without effect")
                    .related(later.value, "this value is used"),
            );
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
