//! Puts values in the place of tags.

use std::ops::Range;

use pinnace_core::text::{Piece, SecretName, Text};

use super::parse::{Part, Tag, Template, has_tag, parse};
use super::path::{Scope, Segment, dotted, is_index};
use super::{Fault, Problem, push_problem};
use crate::diagnostic::suggest;
use crate::yaml::{Node, Value};

/// So many keys are named when none is near enough to be suggested.
const KEYS_SHOWN: usize = 8;

/// A key with more dots than this is not suggested.
const MOST_DOTS: usize = 8;

/// A value that is longer is not searched for tags of secrets: many tags may take it.
const LONGEST_VALUE_WITH_TAGS: usize = 4_096;

/// The place of a secret counts as so many bytes of a text.
pub(super) const SECRET_LENGTH: usize = 64;

/// Where the tags of one text find their values.
#[derive(Clone, Copy, Default)]
pub struct Scopes<'t, 'd> {
    /// The job's `parameters`.
    pub parameters: Option<&'d Node<'d>>,
    /// The job's `secrets`; only their names reach the rendered text.
    pub secrets: Option<&'d Node<'d>>,
    /// The prerequisite that the role names as `data`.
    pub data: Option<&'d Node<'d>>,
    /// The prerequisite that the role names as `script`.
    pub script: Option<&'d Node<'d>>,
    /// The prerequisite that the role names as `output`.
    pub output: Option<&'d Node<'d>>,
    /// The prerequisite in which the text stands.
    pub this: Option<&'t dyn This<'d>>,
    /// Keep tags that find nothing, as upstream does.
    pub compat: bool,
}

impl std::fmt::Debug for Scopes<'_, '_> {
    /// Tells only which scopes there are: the values may be secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let there = Scope::ALL.into_iter().filter(|scope| match scope {
            Scope::This => self.this.is_some(),
            other => self.node(*other).is_some(),
        });
        f.debug_set().entries(there.map(Scope::name)).finish()
    }
}

/// A prerequisite and what it inherits from those that it requires.
pub trait This<'d> {
    /// Looks a key up: its own first, then the nearest required prerequisite that has it.
    fn find(&self, key: &str) -> Lookup<'d>;

    /// The keys that can be found, its own and inherited ones, for suggestions.
    fn keys(&self) -> Vec<&'d str>;
}

/// The answer of [`This::find`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lookup<'d> {
    /// The prerequisite itself has it.
    Own(&'d Node<'d>),
    /// A required prerequisite has it.
    Inherited {
        /// The value.
        node: &'d Node<'d>,
        /// The name of the prerequisite that has it.
        from: &'d str,
    },
    /// Several that are equally near have it, with different values.
    Conflict(Vec<&'d str>),
    /// None has it.
    Missing,
}

/// A value that a tag took.
#[derive(Clone, PartialEq, Eq)]
pub struct Use<'d> {
    /// Which tag of the text.
    pub tag: usize,
    /// The tag's bytes in the text.
    pub range: Range<usize>,
    /// Where it looked.
    pub scope: Scope,
    /// The path below the scope, such as `uri.0`; for `this`, without `parameters`.
    pub path: String,
    /// The value. Below `secrets` it must not be shown.
    pub node: &'d Node<'d>,
    /// The required prerequisite that has the value.
    pub from: Option<&'d str>,
}

impl std::fmt::Debug for Use<'_> {
    /// Leaves the value out: it may be secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Use")
            .field("tag", &self.tag)
            .field("scope", &self.scope)
            .field("path", &self.path)
            .field("from", &self.from)
            .finish_non_exhaustive()
    }
}

/// What became of a template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered<'d> {
    /// The text with values in it; secrets are named. If it is too long, only its beginning.
    pub text: Text,
    /// How long the text is; more than there was room for if it is too long.
    pub length: usize,
    /// The values that were taken, in the order of the tags.
    pub uses: Vec<Use<'d>>,
    /// What is wrong, in the order of the tags. A tag that is wrong stands in `text` as written.
    pub problems: Vec<Problem>,
}

/// Puts values in the place of tags. A text that becomes longer than `room` is not made to its end: a few tags can
/// take a long value any number of times.
pub fn render<'d>(template: &Template<'_>, scopes: &Scopes<'_, 'd>, room: usize) -> Rendered<'d> {
    let mut rendered = Rendered {
        problems: template.problems.clone(),
        ..Rendered::default()
    };
    for problem in &mut rendered.problems {
        problem.kept = scopes.compat && matches!(problem.fault, Fault::UnknownScope { .. });
    }
    let mut growing = Growing::new(room);
    for part in &template.parts {
        match part {
            Part::Literal(range) => {
                let literal = template.text.get(range.clone()).unwrap_or_default();
                growing.push_literal(literal);
            }
            Part::Tag(tag) => render_tag(tag, template.text, scopes, &mut growing, &mut rendered),
        }
        if growing.is_full() {
            break;
        }
    }
    rendered.text = growing.text;
    rendered.length = growing.length;
    rendered.problems.sort_by_key(|problem| problem.tag);
    rendered
}

/// A text that may become only so long.
struct Growing {
    text: Text,
    length: usize,
    room: usize,
}

impl Growing {
    fn new(room: usize) -> Self {
        Growing {
            text: Text::default(),
            length: 0,
            room,
        }
    }

    /// Whether more was pushed than there is room for.
    fn is_full(&self) -> bool {
        self.length > self.room
    }

    fn push_literal(&mut self, literal: &str) {
        self.length = self.length.saturating_add(literal.len());
        if !self.is_full() {
            self.text.push_literal(literal);
        }
    }

    fn push_secret(&mut self, name: SecretName) {
        self.length = self.length.saturating_add(SECRET_LENGTH);
        if !self.is_full() {
            self.text.push_secret(name);
        }
    }

    fn append(&mut self, text: &Text) {
        self.length = self.length.saturating_add(length(text));
        if !self.is_full() {
            self.text.append(text);
        }
    }
}

fn length(text: &Text) -> usize {
    let lengths = text.pieces().iter().map(|piece| match piece {
        Piece::Literal(literal) => literal.len(),
        Piece::Path { path } => path.len(),
        Piece::Secret { .. } => SECRET_LENGTH,
    });
    lengths.sum()
}

/// The value that a tag asks for; nothing if its scope is not known.
fn take<'k, 'd>(
    tag: &'k Tag<'_>,
    scopes: &Scopes<'_, 'd>,
    room: usize,
) -> Option<Result<(Scope, Found<'k, 'd>, Taken<'d>), Fault>> {
    let scope = tag.scope?;
    let found = match scopes.find(scope, &tag.path) {
        Ok(found) => found,
        Err(fault) => return Some(Err(fault)),
    };
    Some(value_text(scope, &found, scopes, room).map(|value| (scope, found, value)))
}

/// What is strange about a value that was found.
fn warns(scope: Scope, found: &Found<'_, '_>, value: &Taken<'_>) -> Option<Fault> {
    let holds_tag = match value {
        Taken::Plain(text) => has_tag(text),
        Taken::Made(text) => text
            .pieces()
            .iter()
            .any(|piece| matches!(piece, Piece::Literal(text) if has_tag(text))),
        Taken::TooLong => false,
    };
    (holds_tag && scope != Scope::Secrets).then(|| Fault::TagInValue {
        path: format!("{scope}.{}", found.path()),
    })
}

fn render_tag<'d>(
    tag: &Tag<'_>,
    text: &str,
    scopes: &Scopes<'_, 'd>,
    growing: &mut Growing,
    rendered: &mut Rendered<'d>,
) {
    let room = growing.room.saturating_sub(growing.length);
    match take(tag, scopes, room) {
        Some(Ok((scope, found, value))) => {
            if let Some(fault) = warns(scope, &found, &value) {
                blame(rendered, tag, fault, false);
            }
            match &value {
                Taken::Plain(text) => growing.push_literal(text),
                Taken::Made(text) => growing.append(text),
                Taken::TooLong => growing.length = usize::MAX,
            }
            rendered.uses.push(Use {
                tag: tag.index,
                range: tag.range.clone(),
                scope,
                path: found.path(),
                node: found.node,
                from: found.from,
            });
        }
        Some(Err(fault)) => {
            let kept = scopes.compat && kept_upstream(&fault);
            growing.push_literal(&as_kept(tag, text, kept));
            blame(rendered, tag, fault, kept);
        }
        None => growing.push_literal(&as_kept(tag, text, scopes.compat)),
    }
}

fn blame(rendered: &mut Rendered<'_>, tag: &Tag<'_>, fault: Fault, kept: bool) {
    let problem = Problem {
        tag: tag.index,
        range: tag.range.clone(),
        fault,
        kept,
    };
    push_problem(&mut rendered.problems, problem);
}

/// Upstream keeps a tag that finds nothing and turns everything else into some text.
fn kept_upstream(fault: &Fault) -> bool {
    matches!(
        fault,
        Fault::NoScope(_)
            | Fault::Missing { .. }
            | Fault::Null { .. }
            | Fault::OutOfRange { .. }
            | Fault::NotAnIndex { .. }
            | Fault::NoParts { .. }
    )
}

/// A tag that stays: as written, or in the form in which upstream puts it back.
fn as_kept(tag: &Tag<'_>, text: &str, like_upstream: bool) -> String {
    if !like_upstream {
        return text.get(tag.range.clone()).unwrap_or_default().to_owned();
    }
    let mut name = String::new();
    let mut rest = tag.written;
    while let Some(open) = rest.find('[') {
        name.push_str(&rest[..open]);
        let inside = &rest[open + 1..];
        match inside.find(']') {
            Some(close) if is_index(&inside[..close]) => {
                name.push('.');
                name.push_str(&inside[..close]);
                rest = &inside[close + 1..];
            }
            _ => {
                name.push('[');
                rest = inside;
            }
        }
    }
    name.push_str(rest);
    format!("<% {name} %>")
}

/// A node and how it was reached.
struct Found<'k, 'd> {
    node: &'d Node<'d>,
    keys: Vec<&'k str>,
    from: Option<&'d str>,
    /// The list's length was asked for, not the list.
    length: bool,
}

impl Found<'_, '_> {
    fn path(&self) -> String {
        dotted(self.keys.iter().copied())
    }
}

impl<'d> Scopes<'_, 'd> {
    /// The mapping in which a scope's names are looked up; `this` is no single one.
    pub fn node(&self, scope: Scope) -> Option<&'d Node<'d>> {
        match scope {
            Scope::Parameters => self.parameters,
            Scope::Secrets => self.secrets,
            Scope::Data => self.data,
            Scope::Script => self.script,
            Scope::Output => self.output,
            Scope::This => None,
        }
    }

    fn find<'k>(&self, scope: Scope, path: &'k [Segment<'_>]) -> Result<Found<'k, 'd>, Fault> {
        if scope == Scope::This {
            return self.find_this(path);
        }
        let node = self.node(scope).ok_or(Fault::NoScope(scope))?;
        let start = Found {
            node,
            keys: Vec::with_capacity(path.len()),
            from: None,
            length: false,
        };
        walk(scope, start, path)
    }

    /// `this.parameters.x` is another way to write `this.x`, unless the prerequisite really has
    /// `parameters` with an `x` in it; and `this.x` finds that one too.
    fn find_this<'k>(&self, path: &'k [Segment<'_>]) -> Result<Found<'k, 'd>, Fault> {
        let this = self.this.ok_or(Fault::NoScope(Scope::This))?;
        let Some((first, behind)) = path.split_first() else {
            return Err(Fault::Mapping {
                path: Scope::This.name().to_owned(),
                keys: some_keys(this.keys()),
            });
        };
        let (wanted, behind) = match behind.split_first() {
            Some((second, behind)) if first.key == "parameters" => (second, behind),
            _ => (first, behind),
        };
        let (node, from) = look_up(this, wanted)?;
        let start = Found {
            node,
            keys: vec![wanted.key],
            from,
            length: false,
        };
        walk(Scope::This, start, behind)
    }
}

fn look_up<'d>(
    this: &dyn This<'d>,
    wanted: &Segment<'_>,
) -> Result<(&'d Node<'d>, Option<&'d str>), Fault> {
    let inside_parameters = |node: &'d Node<'d>| node.get(wanted.key).map(|entry| &entry.value);
    let direct = this.find(wanted.key);
    if let Lookup::Own(node) = direct {
        return Ok((node, None));
    }
    let parameters = this.find("parameters");
    if let Lookup::Own(parameters) = parameters
        && let Some(node) = inside_parameters(parameters)
    {
        return Ok((node, None));
    }
    match direct {
        Lookup::Own(node) => return Ok((node, None)),
        Lookup::Inherited { node, from } => return Ok((node, Some(from))),
        Lookup::Conflict(owners) => {
            return Err(Fault::Conflict {
                key: wanted.key.to_owned(),
                owners: owners.into_iter().map(str::to_owned).collect(),
            });
        }
        Lookup::Missing => {}
    }
    if let Lookup::Inherited { node, from } = parameters
        && let Some(node) = inside_parameters(node)
    {
        return Ok((node, Some(from)));
    }
    Err(missing(Scope::This.name().to_owned(), wanted, this.keys()))
}

fn walk<'k, 'd>(
    scope: Scope,
    mut found: Found<'k, 'd>,
    path: &'k [Segment<'_>],
) -> Result<Found<'k, 'd>, Fault> {
    for (position, segment) in path.iter().enumerate() {
        let here = || full_path(scope, &found.keys);
        if found.length {
            return Err(Fault::NoParts {
                path: here(),
                key: segment.key.to_owned(),
            });
        }
        match &found.node.value {
            Value::Map(map) => {
                let Some(entry) = found.node.get(segment.key) else {
                    let keys = map.entries.iter().map(|entry| &*entry.key.text);
                    let fault = missing(here(), segment, keys);
                    return Err(or_dotted_key(fault, found.node, &path[position..]));
                };
                found.node = &entry.value;
            }
            Value::List(_) if segment.key == "length" => found.length = true,
            Value::List(_) if !is_index(segment.key) => {
                return Err(Fault::NotAnIndex {
                    path: here(),
                    key: segment.key.to_owned(),
                });
            }
            Value::List(items) => {
                let item = segment
                    .key
                    .parse()
                    .ok()
                    .and_then(|index: usize| items.get(index));
                found.node = item.ok_or_else(|| Fault::OutOfRange {
                    path: here(),
                    index: segment.key.to_owned(),
                    length: items.len(),
                })?;
            }
            Value::Scalar(_) if found.node.is_null() => return Err(Fault::Null { path: here() }),
            Value::Scalar(_) => {
                return Err(Fault::NoParts {
                    path: here(),
                    key: segment.key.to_owned(),
                });
            }
        }
        found.keys.push(segment.key);
    }
    Ok(found)
}

fn full_path(scope: Scope, keys: &[&str]) -> String {
    dotted(std::iter::once(scope.name()).chain(keys.iter().copied()))
}

fn missing<'k>(
    within: String,
    segment: &Segment<'_>,
    keys: impl IntoIterator<Item = &'k str, IntoIter: Clone>,
) -> Fault {
    let keys = keys.into_iter();
    Fault::Missing {
        within,
        key: segment.key.to_owned(),
        meant: suggest::closest(segment.key, keys.clone()).map(str::to_owned),
        range: segment.range.clone(),
        keys: some_keys(keys),
    }
}

/// A key that holds dots looks like several when it is not written in brackets.
fn or_dotted_key(mut fault: Fault, node: &Node<'_>, path: &[Segment<'_>]) -> Fault {
    if let Fault::Missing { within, meant, .. } = &mut fault {
        let prefixes = (2..=path.len().min(MOST_DOTS)).map(|length| {
            let keys: Vec<&str> = path[..length].iter().map(|segment| segment.key).collect();
            keys.join(".")
        });
        if let Some(key) = prefixes.into_iter().find(|key| node.get(key).is_some()) {
            *meant = Some(format!("{within}{}", dotted([&*key])));
        }
    }
    fault
}

fn some_keys<'k>(keys: impl IntoIterator<Item = &'k str>) -> Vec<String> {
    keys.into_iter()
        .take(KEYS_SHOWN)
        .map(str::to_owned)
        .collect()
}

/// The text of a value.
enum Taken<'d> {
    /// A scalar as written.
    Plain(&'d str),
    /// Made of parts, or with secrets named in it.
    Made(Text),
    /// There is no room for it.
    TooLong,
}

/// The value as text: scalars as written, lists joined with commas, secrets by name.
fn value_text<'d>(
    scope: Scope,
    found: &Found<'_, 'd>,
    scopes: &Scopes<'_, 'd>,
    room: usize,
) -> Result<Taken<'d>, Fault> {
    if found.length {
        let length = found.node.as_list().map_or(0, <[_]>::len);
        return Ok(Taken::Made(Text::from(length.to_string())));
    }
    if found.node.is_null() {
        return Err(Fault::Null {
            path: full_path(scope, &found.keys),
        });
    }
    if let Value::Scalar(scalar) = &found.node.value
        && scope != Scope::Secrets
    {
        if scalar.text.len() > room {
            return Ok(Taken::TooLong);
        }
        if !has_tag(&scalar.text) {
            return Ok(Taken::Plain(&scalar.text));
        }
    }
    let mut growing = Growing::new(room);
    let mut keys = found.keys.iter().map(|key| (*key).to_owned()).collect();
    push_value(scope, found.node, scopes, &mut keys, &mut growing)?;
    Ok(match growing.is_full() {
        true => Taken::TooLong,
        false => Taken::Made(growing.text),
    })
}

fn push_value(
    scope: Scope,
    node: &Node<'_>,
    scopes: &Scopes<'_, '_>,
    keys: &mut Vec<String>,
    growing: &mut Growing,
) -> Result<(), Fault> {
    match &node.value {
        Value::Scalar(_) if node.is_null() => {}
        Value::Scalar(_) if scope == Scope::Secrets => {
            growing.push_secret(SecretName(dotted(keys.iter().map(String::as_str))));
        }
        Value::Scalar(scalar) => push_written(&scalar.text, scopes, growing),
        Value::List(items) => {
            for (index, item) in items.iter().enumerate() {
                if growing.is_full() {
                    break;
                }
                if index > 0 {
                    growing.push_literal(",");
                }
                keys.push(index.to_string());
                push_value(scope, item, scopes, keys, growing)?;
                keys.pop();
            }
        }
        Value::Map(map) => {
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            return Err(Fault::Mapping {
                path: full_path(scope, &keys),
                keys: some_keys(map.entries.iter().map(|entry| &*entry.key.text)),
            });
        }
    }
    Ok(())
}

/// A value as written. Tags in it stay, but for those of secrets: upstream puts these in their places last of all, when the task
/// starts, in whatever the text has become.
fn push_written(written: &str, scopes: &Scopes<'_, '_>, growing: &mut Growing) {
    if written.len() > LONGEST_VALUE_WITH_TAGS || !has_tag(written) {
        return growing.push_literal(written);
    }
    for part in parse(written).parts {
        let range = match part {
            Part::Literal(range) => range,
            Part::Tag(tag) if tag.scope == Some(Scope::Secrets) => {
                match take(&tag, scopes, growing.room) {
                    Some(Ok((_, _, Taken::Made(secret)))) => {
                        growing.append(&secret);
                        continue;
                    }
                    _ => tag.range,
                }
            }
            Part::Tag(tag) => tag.range,
        };
        growing.push_literal(written.get(range).unwrap_or_default());
    }
}
