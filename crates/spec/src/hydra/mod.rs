//! Configurations that are composed of files and words, by the rules of Hydra 1.0: a main file with a
//! list of `defaults`, each the option of a group and so a file in the group's folder; and words such
//! as `aml=eyeson` (another option) or `run.submit=True` (another value).
//!
//! Every value of the result keeps the span of where it is written.

mod defaults;
mod merge;
mod words;

pub use defaults::Choice;

use crate::diagnostic::{Diagnostic, Diagnostics, codes, suggest};
use crate::overrides::Tenant;
use crate::source::{Sources, Span};
use crate::yaml::{self, Document, Limits, Map, Node, Value};
use defaults::Default;
use words::Word;

/// The group of the workspace configurations.
const WORKSPACES: &str = "aml";

/// References inside references are followed so far.
const DEEPEST_REFERENCE: usize = 8;

/// The folder of a configuration.
pub trait Files {
    /// The file of a path without its ending, such as `aml/eyeson`: its name for people and its text, or why
    /// it cannot be read. `None` if there is none.
    fn text(&self, path: &str) -> Option<Result<(String, String), String>>;

    /// The options of a group; none if it is no group.
    fn options(&self, group: &str) -> Vec<String>;
}

/// A configuration.
#[derive(Debug)]
pub struct Composed<'s> {
    /// All values.
    pub root: Node<'s>,
    /// Which option was taken of each group.
    pub choices: Vec<Choice>,
}

/// Composes a configuration of a main file, such as `experiments/train`, and words.
pub fn compose<'s>(
    main: &str,
    words: &[String],
    files: &dyn Files,
    sources: &'s Sources,
    limits: &Limits,
    out: &mut Diagnostics,
) -> Option<Composed<'s>> {
    let words: Vec<Word<'s>> = words
        .iter()
        .filter_map(|word| Word::read(word, files, sources, out))
        .collect();
    let (name, text) = files.text(main)?.ok()?;
    let source = sources.add(name, text);
    let mut document = load(yaml::load(source, limits), out)?;
    let mut list = defaults::take(&mut document, out);
    defaults::change(&mut list, &words, out);
    let mut root = Node::new(Span::new(source.id(), 0, 0), Value::Map(Map::default()));
    let mut choices = Vec::new();
    let mut main_values = Some(document);
    for default in list {
        match default {
            Default::Main => {
                if let Some(values) = main_values.take() {
                    merge::merge(&mut root, values);
                }
            }
            Default::Option(choice) => {
                if let Some(values) = option(&choice, files, sources, limits, out) {
                    merge::merge(&mut root, values);
                }
                choices.push(choice);
            }
        }
    }
    if let Some(values) = main_values {
        merge::merge(&mut root, values);
    }
    for word in &words {
        word.set(&mut root, sources, out);
    }
    Some(Composed { root, choices })
}

/// The groups that the `defaults` of a main file name, by which its folder can be told.
pub fn groups(text: &str) -> Vec<String> {
    let sources = Sources::default();
    let document = yaml::load(sources.add("", text), &Limits::default());
    let Some(mut root) = document.root else {
        return Vec::new();
    };
    let lines = defaults::take(&mut root, &mut Diagnostics::default());
    let groups = lines.into_iter().filter_map(|line| match line {
        Default::Option(choice) => choice.group,
        Default::Main => None,
    });
    groups.collect()
}

/// The tree of a file, if nothing is wrong with it. An empty file is an empty mapping.
fn load<'s>(document: Document<'s>, out: &mut Diagnostics) -> Option<Node<'s>> {
    let sound = !document.diagnostics.has_errors();
    out.extend(document.diagnostics);
    let root = document.root.filter(|_| sound)?;
    if root.is_null() {
        return Some(Node::new(root.span, Value::Map(Map::default())));
    }
    if root.as_map().is_none() {
        let message = "a configuration is a mapping";
        out.push(
            Diagnostic::new(&codes::BAD_DEFAULTS_LIST, root.span, message)
                .label(format!("this is {}", root.kind())),
        );
        return None;
    }
    Some(root)
}

/// The values of an option, below the keys of its package.
fn option<'s>(
    choice: &Choice,
    files: &dyn Files,
    sources: &'s Sources,
    limits: &Limits,
    out: &mut Diagnostics,
) -> Option<Node<'s>> {
    let path = choice.path();
    let (name, text) = match files.text(&path) {
        Some(Ok(found)) => found,
        Some(Err(reason)) => {
            let message = format!("the configuration `{path}` cannot be read: {reason}");
            out.push(Diagnostic::new(
                &codes::UNKNOWN_CONFIG,
                choice.span,
                message,
            ));
            return None;
        }
        None => {
            if !choice.optional {
                out.push(unknown_option(choice, files));
            }
            return None;
        }
    };
    let source = sources.add(name, text);
    let document = yaml::load(source, limits);
    let header = document
        .comments
        .iter()
        .find_map(|comment| comment.text.strip_prefix("@package"))
        .map(str::trim);
    let package = choice.package.as_deref().or(header);
    let package = defaults::package(package, choice);
    let root = load(document, out)?;
    if let Some(nested) = root.get("defaults") {
        let message = "only the main configuration has `defaults`";
        out.push(
            Diagnostic::new(&codes::BAD_DEFAULTS_LIST, nested.key.span, message)
                .help("these are the rules of Hydra 1.0; name the groups in the main file"),
        );
    }
    Some(merge::below(root, &package, choice.span))
}

fn unknown_option(choice: &Choice, files: &dyn Files) -> Diagnostic {
    let path = choice.path();
    let message = format!("there is no configuration `{path}`");
    let diagnostic = Diagnostic::new(&codes::UNKNOWN_CONFIG, choice.span, message);
    let options = files.options(choice.group.as_deref().unwrap_or_default());
    let names = || options.iter().map(String::as_str);
    match suggest::did_you_mean(&choice.option, names()) {
        Some(help) => diagnostic.help(help),
        None if options.is_empty() => match &choice.group {
            Some(group) => diagnostic.help(format!("there is no folder `{group}` with options")),
            None => diagnostic,
        },
        None => {
            let shown: Vec<String> = names().take(8).map(|name| format!("`{name}`")).collect();
            diagnostic.help(format!("there are {}", shown.join(", ")))
        }
    }
}

impl Composed<'_> {
    /// The text at a path such as `aml.tenant`, with its references `${a.b}` followed. `???` means that
    /// there is none yet.
    pub fn text(&self, path: &str) -> Option<String> {
        self.text_within(path, DEEPEST_REFERENCE)
    }

    fn text_within(&self, path: &str, depth: usize) -> Option<String> {
        let mut keys = path.split('.');
        let node = keys.try_fold(&self.root, |node, key| Some(&node.get(key)?.value))?;
        let text = node.as_text().filter(|text| *text != "???")?;
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, reference)) = rest.split_once("${") {
            let (path, after) = reference.split_once('}')?;
            out.push_str(before);
            out.push_str(&self.text_within(path, depth.checked_sub(1)?)?);
            rest = after;
        }
        out.push_str(rest);
        Some(out)
    }

    /// The tenant that the configuration is for.
    pub fn tenant(&self, files: &dyn Files) -> Tenant {
        let id = self.text("aml.tenant");
        let chosen = self
            .choices
            .iter()
            .find(|choice| choice.group.as_deref() == Some(WORKSPACES));
        let mut names: Vec<String> = chosen
            .map(|choice| choice.option.clone())
            .into_iter()
            .collect();
        if let Some(id) = &id {
            names.extend(workspaces(files, |workspace| workspace.is_of(id)));
        }
        names.dedup();
        Tenant { id, names }
    }
}

/// The tenant that a word means: the name of a workspace configuration, or an id.
pub fn tenant_called(word: &str, files: &dyn Files) -> Tenant {
    let named = Workspace::of(files, word).and_then(|workspace| workspace.tenant);
    let id = named.unwrap_or_else(|| word.to_owned());
    let mut names = vec![word.to_owned()];
    names.extend(workspaces(files, |workspace| workspace.is_of(&id)));
    Tenant {
        id: Some(id),
        names,
    }
}

/// The tenant of a workspace's `config.json`, by its own id, its name, or the workspace
/// configurations that tell of the same workspace.
pub fn tenant_of_workspace(root: &Node<'_>, files: Option<&dyn Files>) -> Tenant {
    let given = Workspace::read(root);
    let mut tenant = Tenant {
        id: given.tenant.clone(),
        names: given.name.clone().into_iter().collect(),
    };
    if let Some(files) = files {
        for name in workspaces(files, |workspace| workspace.is_same_as(&given)) {
            let known = Workspace::of(files, &name);
            tenant.id = tenant.id.or_else(|| known.and_then(|known| known.tenant));
            tenant.names.push(name);
        }
    }
    tenant
}

/// What a configuration tells of a workspace.
struct Workspace {
    tenant: Option<String>,
    name: Option<String>,
    group: Option<String>,
    subscription: Option<String>,
}

impl Workspace {
    fn read(root: &Node<'_>) -> Self {
        let text = |key: &str| {
            let text = root.get(key)?.value.as_text()?;
            Some(text.to_owned()).filter(|text| text != "???")
        };
        Workspace {
            tenant: text("tenant").or_else(|| text("tenant_id")),
            name: text("workspace_name"),
            group: text("resource_group"),
            subscription: text("subscription_id"),
        }
    }

    fn of(files: &dyn Files, option: &str) -> Option<Self> {
        let (name, text) = files.text(&format!("{WORKSPACES}/{option}"))?.ok()?;
        let sources = Sources::default();
        let document = yaml::load(sources.add(name, text), &Limits::default());
        document.root.map(|root| Workspace::read(&root))
    }

    fn is_of(&self, tenant: &str) -> bool {
        let own = self.tenant.as_deref();
        own.is_some_and(|own| own.eq_ignore_ascii_case(tenant))
    }

    fn is_same_as(&self, other: &Workspace) -> bool {
        let agree = |one: &Option<String>, other: &Option<String>| match (one, other) {
            (Some(one), Some(other)) => one.eq_ignore_ascii_case(other),
            _ => true,
        };
        self.name.is_some()
            && other.name.is_some()
            && agree(&self.name, &other.name)
            && agree(&self.group, &other.group)
            && agree(&self.subscription, &other.subscription)
    }
}

/// The names of the workspace configurations of which something is true.
fn workspaces(files: &dyn Files, is_meant: impl Fn(&Workspace) -> bool) -> Vec<String> {
    let mut names = files.options(WORKSPACES);
    names.retain(|name| Workspace::of(files, name).is_some_and(|workspace| is_meant(&workspace)));
    names
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
