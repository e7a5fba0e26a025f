//! Where in a document a walk stands. It lives on the stack and is put into words only on demand.

use std::fmt::{self, Write as _};

use super::Object;
use crate::source::Span;
use crate::yaml::Node;

/// One step of a walk, linked to those before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path<'p, 's> {
    parent: Option<&'p Path<'p, 's>>,
    step: Step<'p>,
    /// The mapping or value here.
    node: &'p Node<'s>,
    /// What the mapping here is known as.
    pub(super) object: Option<&'static Object>,
    /// What to point at when something is missing here: the key that holds it.
    pub(super) at: Span,
    /// The nearest alias or `<<` that brought this part of the document here.
    pub(super) via: Option<Via>,
}

/// How a part of a document got to a place where it is not written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Via {
    Alias(Span),
    Merge(Span),
}

#[derive(Clone, Copy, Debug)]
enum Step<'p> {
    Root,
    /// A key that a table names.
    Field(&'p str),
    /// A key of the user's choice.
    Key(&'p str),
    Index(usize),
}

impl<'p, 's> Path<'p, 's> {
    pub(super) fn root(node: &'p Node<'s>) -> Self {
        Path {
            parent: None,
            step: Step::Root,
            node,
            object: None,
            at: first_word(node),
            via: None,
        }
    }

    /// The value of a field whose key stands somewhere else.
    pub(super) fn lone_field(name: &'p str, node: &'p Node<'s>) -> Self {
        Path {
            step: Step::Field(name),
            via: node.alias().map(Via::Alias),
            ..Path::root(node)
        }
    }

    pub(super) fn field(&'p self, entry: &'p crate::yaml::Entry<'s>) -> Self {
        self.entry(Step::Field(&entry.key.text), entry)
    }

    pub(super) fn key(&'p self, entry: &'p crate::yaml::Entry<'s>) -> Self {
        self.entry(Step::Key(&entry.key.text), entry)
    }

    fn entry(&'p self, step: Step<'p>, entry: &'p crate::yaml::Entry<'s>) -> Self {
        let merged = entry.merged.map(Via::Merge).or(self.via);
        Path {
            parent: Some(self),
            step,
            node: &entry.value,
            object: None,
            at: entry.key.span,
            via: entry.value.alias().map(Via::Alias).or(merged),
        }
    }

    pub(super) fn index(&'p self, index: usize, node: &'p Node<'s>) -> Self {
        Path {
            parent: Some(self),
            step: Step::Index(index),
            node,
            object: None,
            at: first_word(node),
            via: node.alias().map(Via::Alias).or(self.via),
        }
    }

    /// The same place, now that it is known what the mapping here is.
    pub(super) fn within(mut self, object: &'static Object) -> Self {
        self.object = Some(object);
        self
    }

    /// Whether the mapping here has a key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// The value of a key of the mapping here. Looks only at the first keys: it is asked once for
    /// each problem, and a hostile mapping has many of both.
    fn get(&self, key: &str) -> Option<&'p Node<'s>> {
        const FIRST: usize = 100;
        let entries = &self.node.as_map()?.entries;
        let mut first = entries.iter().take(FIRST);
        first
            .find(|entry| entry.key.text == key)
            .map(|entry| &entry.value)
    }

    /// The objects around this place, nearest first, each with its path.
    pub(super) fn ancestors(&self) -> impl Iterator<Item = &Path<'p, 's>> {
        std::iter::successors(self.parent, |path| path.parent)
    }

    /// The value here, in backticks: `instances`, `commands[2]`.
    pub(super) fn value_name(&self) -> String {
        match self.step {
            Step::Root => "the document".to_owned(),
            Step::Field(key) | Step::Key(key) => format!("`{}`", cut(key)),
            Step::Index(_) => {
                let mut tail = String::new();
                let mut path = Some(self);
                while let Some(here) = path {
                    match here.step {
                        Step::Index(index) => tail.insert_str(0, &format!("[{index}]")),
                        Step::Field(key) | Step::Key(key) => {
                            tail.insert_str(0, &cut(key));
                            break;
                        }
                        Step::Root => break,
                    }
                    path = here.parent;
                }
                format!("`{tail}`")
            }
        }
    }

    /// The mapping here, in words: "task role `worker`", "`completion` of task role `worker`".
    pub(super) fn describe(&self, name: &str) -> String {
        match self.step {
            Step::Root => format!("the {name}"),
            Step::Key(key) => format!("{name} `{}`", cut(key)),
            Step::Index(index) => match self.get("name") {
                Some(own) if own.is_string() => {
                    format!("{name} `{}`", cut(own.as_text().unwrap_or_default()))
                }
                _ => format!("{name} {}", index + 1),
            },
            Step::Field(key) => {
                let holder = self.ancestors().find_map(|path| {
                    let object = path.object?;
                    path.parent.is_some().then(|| path.describe(object.name))
                });
                match holder {
                    Some(holder) => format!("`{key}` of {holder}"),
                    None => format!("`{key}`"),
                }
            }
        }
    }
}

/// `taskRoles.worker.commands[0]`, `extras["com.microsoft.pai.runtimeplugin"][0].plugin`.
impl fmt::Display for Path<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            fmt::Display::fmt(parent, f)?;
        }
        match self.step {
            Step::Root => Ok(()),
            Step::Index(index) => write!(f, "[{index}]"),
            Step::Field(key) | Step::Key(key) if is_plain(key) => {
                if !matches!(self.parent, None | Some(Path { parent: None, .. })) {
                    f.write_char('.')?;
                }
                f.write_str(key)
            }
            Step::Field(key) | Step::Key(key) => write!(f, "[{key:?}]"),
        }
    }
}

fn is_plain(key: &str) -> bool {
    !key.is_empty()
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// What to point at for a mapping that no key holds: its first key.
fn first_word(node: &Node<'_>) -> Span {
    match node.as_map().and_then(|map| map.entries.first()) {
        Some(entry) if entry.merged.is_none() => entry.key.span,
        _ => node.span,
    }
}

/// The start of a text that may be long or have many lines.
pub(super) fn cut(text: &str) -> String {
    const MOST: usize = 60;
    let line = text.lines().next().unwrap_or_default();
    if line.len() == text.len() && line.chars().count() <= MOST {
        return text.to_owned();
    }
    line.chars().take(MOST).chain(['…']).collect()
}
