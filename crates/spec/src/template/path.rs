//! What stands between `<%` and `%>`: a scope and a path.

use std::borrow::Cow;
use std::ops::Range;

use pinnace_core::text::SecretName;

use crate::yaml::{Node, Value};

/// Where a tag looks for its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The job's `parameters`.
    Parameters,
    /// The job's `secrets`.
    Secrets,
    /// The prerequisite that the role names as `data`.
    Data,
    /// The prerequisite that the role names as `script`.
    Script,
    /// The prerequisite that the role names as `output`.
    Output,
    /// The prerequisite in which the tag stands, and what it inherits.
    This,
}

impl Scope {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Scope; 6] = [
        Scope::Parameters,
        Scope::Secrets,
        Scope::Data,
        Scope::Script,
        Scope::Output,
        Scope::This,
    ];

    /// As it is written in a tag.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Parameters => "$parameters",
            Scope::Secrets => "$secrets",
            Scope::Data => "$data",
            Scope::Script => "$script",
            Scope::Output => "$output",
            Scope::This => "this",
        }
    }

    pub(super) fn read(name: &str) -> Option<Scope> {
        Scope::at_start(name.as_bytes()).filter(|scope| scope.name().len() == name.len())
    }

    /// The scope with whose name a text starts; no name is the start of another.
    #[inline]
    pub(super) fn at_start(text: &[u8]) -> Option<Scope> {
        let starts = |scope: &Scope| text.starts_with(scope.name().as_bytes());
        Scope::ALL.into_iter().find(starts)
    }
}

impl std::fmt::Display for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// One step of a path: `.name`, `.0`, `[0]` or `["name"]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment<'t> {
    /// The key, or the digits of an index.
    pub key: &'t str,
    /// Its bytes in the decoded text, without dot, brackets and quotes.
    pub range: Range<usize>,
}

/// The steps of a path. Most have one, which needs no memory of its own.
#[derive(Clone, Debug)]
pub enum Segments<'t> {
    /// A single step.
    One([Segment<'t>; 1]),
    /// None, or several.
    Many(Vec<Segment<'t>>),
}

impl<'t> Segments<'t> {
    fn push(&mut self, segment: Segment<'t>) {
        match self {
            Segments::Many(list) if list.is_empty() => *self = Segments::One([segment]),
            Segments::Many(list) => list.push(segment),
            Segments::One([first]) => *self = Segments::Many(vec![first.clone(), segment]),
        }
    }
}

impl<'t> std::ops::Deref for Segments<'t> {
    type Target = [Segment<'t>];

    fn deref(&self) -> &Self::Target {
        match self {
            Segments::One(one) => one,
            Segments::Many(list) => list,
        }
    }
}

impl PartialEq for Segments<'_> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Segments<'_> {}

/// Why a path cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadPath {
    /// `a..b`, `a.` or `.a`.
    EmptyName,
    /// `a[0`.
    OpenBracket,
    /// `a[x]`; brackets hold a number or a quoted name.
    BareBracket,
    /// `a[0]b`.
    AfterBracket,
}

/// The first name of a path and the segments behind it.
pub(super) type Path<'t> = (Segment<'t>, Segments<'t>);

/// Reads the bytes `range` of `text` as a path. White space around names is not part of them.
pub(super) fn read_path(text: &str, range: Range<usize>) -> Result<Path<'_>, BadPath> {
    let mut rest = Cursor {
        text,
        at: range.start,
        end: range.end,
    };
    let first = rest.name()?;
    let mut segments = Segments::Many(Vec::new());
    loop {
        match rest.next_char() {
            None => return Ok((first, segments)),
            Some('.') => {
                rest.at += 1;
                segments.push(rest.name()?);
            }
            Some('[') => {
                rest.at += 1;
                segments.push(rest.bracket()?);
            }
            Some(_) => return Err(BadPath::AfterBracket),
        }
    }
}

struct Cursor<'t> {
    text: &'t str,
    at: usize,
    end: usize,
}

impl<'t> Cursor<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..self.end).unwrap_or_default()
    }

    /// The next character that is no white space; the cursor moves to it.
    fn next_char(&mut self) -> Option<char> {
        self.skip_space();
        self.rest().chars().next()
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        if rest.as_bytes().first().is_some_and(u8::is_ascii_graphic) {
            return;
        }
        self.at += rest.len() - rest.trim_start().len();
    }

    /// A name up to the next `.` or `[`.
    fn name(&mut self) -> Result<Segment<'t>, BadPath> {
        self.skip_space();
        let rest = self.rest();
        let ends = |byte: u8| matches!(byte, b'.' | b'[');
        let length = rest.bytes().position(ends).unwrap_or(rest.len());
        let mut name = &rest[..length];
        if !name.as_bytes().last().is_some_and(u8::is_ascii_graphic) {
            name = name.trim_end();
        }
        let segment = Segment {
            key: name,
            range: self.at..self.at + name.len(),
        };
        self.at += length;
        if segment.key.is_empty() {
            return Err(BadPath::EmptyName);
        }
        Ok(segment)
    }

    /// What stands in brackets, and the closing one.
    fn bracket(&mut self) -> Result<Segment<'t>, BadPath> {
        let quote = self.next_char().filter(|char| matches!(char, '"' | '\''));
        let start = self.at + quote.map_or(0, char::len_utf8);
        let inside = self.text.get(start..self.end).unwrap_or_default();
        let length = inside
            .find(quote.unwrap_or(']'))
            .ok_or(BadPath::OpenBracket)?;
        let segment = if quote.is_some() {
            self.segment(start, start + length)
        } else {
            self.segment(start, start + inside[..length].trim_end().len())
        };
        self.at = start + length + usize::from(quote.is_some());
        if self.next_char() != Some(']') {
            return Err(BadPath::OpenBracket);
        }
        self.at += 1;
        if quote.is_none() && !is_index(segment.key) {
            return Err(BadPath::BareBracket);
        }
        Ok(segment)
    }

    fn segment(&self, start: usize, end: usize) -> Segment<'t> {
        Segment {
            key: self.text.get(start..end).unwrap_or_default(),
            range: start..end,
        }
    }
}

pub(super) fn is_index(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit())
}

/// A path as it can be written in a tag: `a.b.0`, and `["a.b"]` for a name that holds a dot.
pub fn dotted<'k>(keys: impl IntoIterator<Item = &'k str>) -> String {
    let mut path = String::new();
    for key in keys {
        if key.is_empty() || key.contains(['.', '[', ']']) || key.trim() != key {
            let quote = if key.contains('"') { '\'' } else { '"' };
            path.extend(['[', quote]);
            path.push_str(key);
            path.extend([quote, ']']);
        } else {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(key);
        }
    }
    path
}

/// Every value below the job's `secrets` with the name by which a rendered text calls it.
pub fn secret_leaves<'d>(secrets: &'d Node<'d>) -> Vec<(SecretName, &'d Node<'d>)> {
    let mut leaves = Vec::new();
    collect_leaves(secrets, &mut Vec::new(), &mut leaves);
    leaves
}

fn collect_leaves<'d>(
    node: &'d Node<'d>,
    path: &mut Vec<Cow<'d, str>>,
    leaves: &mut Vec<(SecretName, &'d Node<'d>)>,
) {
    match &node.value {
        Value::Scalar(_) => {
            let name = SecretName(dotted(path.iter().map(|key| &**key)));
            leaves.push((name, node));
        }
        Value::List(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(index.to_string().into());
                collect_leaves(item, path, leaves);
                path.pop();
            }
        }
        Value::Map(map) => {
            for entry in &map.entries {
                path.push(Cow::Borrowed(&*entry.key.text));
                collect_leaves(&entry.value, path, leaves);
                path.pop();
            }
        }
    }
}
