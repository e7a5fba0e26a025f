//! Judges a text that is not wanted, without memory: most tags are usual and find a plain value.

use super::parse::{CLOSE, OPEN, find_open, has_tag};
use super::path::{Scope, is_index};
use super::render::{SECRET_LENGTH, Scopes};
use crate::yaml::{Node, Value};

/// How long a text becomes, if every tag of it is usual and finds a text, or a list of texts, without tags of its own, and there
/// is room. Nothing if it takes a closer look: then [`super::render`] says what is wrong, if anything is.
///
/// `name` is told the keys of scopes that tags name, by their places.
pub fn plain_length(
    text: &str,
    scopes: &Scopes<'_, '_>,
    room: usize,
    mut name: impl FnMut(Scope, usize),
) -> Option<usize> {
    let mut literals = text.len();
    let mut values: usize = 0;
    let mut at = 0;
    while let Some(start) = find_open(text, at) {
        let (scope, mut path) = UsualPath::read(text, start + OPEN.len())?;
        let within = scopes.node(scope)?;
        let place = within.position(path.step()?)?;
        let mut node = &within.as_map()?.entries.get(place)?.value;
        while !path.is_over() {
            node = part(node, path.step()?)?;
        }
        at = path.end_of_tag()?;
        literals -= at - start;
        values += value_length(scope, node, room.checked_sub(values)?)?;
        name(scope, place);
    }
    Some(literals + values).filter(|length| *length <= room)
}

/// The inside of a tag such as `<% $data.uri[0] %>`, read step by step: spaces only around the path, plain names and indices in
/// it. Every step gives nothing if something else may be meant.
struct UsualPath<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> UsualPath<'t> {
    #[inline]
    fn read(text: &'t str, start: usize) -> Option<(Scope, Self)> {
        let mut path = UsualPath { text, at: start };
        path.skip_spaces();
        let scope = Scope::at_start(text.as_bytes().get(path.at..)?)?;
        path.at += scope.name().len();
        Some((scope, path))
    }

    #[inline]
    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn skip_spaces(&mut self) {
        while self.next() == Some(b' ') {
            self.at += 1;
        }
    }

    #[inline]
    fn is_over(&self) -> bool {
        !matches!(self.next(), Some(b'.' | b'['))
    }

    /// The next name or index.
    #[inline]
    fn step(&mut self) -> Option<&'t str> {
        let in_brackets = self.next() == Some(b'[');
        if self.is_over() {
            return None;
        }
        let start = self.at + 1;
        let rest = self.text.as_bytes().get(start..)?;
        let length = rest.iter().position(|byte| !PLAIN[usize::from(*byte)])?;
        self.at = start + length;
        let part = self
            .text
            .get(start..self.at)
            .filter(|part| !part.is_empty())?;
        if in_brackets {
            let is_closed = self.next() == Some(b']') && is_index(part);
            self.at += 1;
            return is_closed.then_some(part);
        }
        Some(part)
    }

    /// Where the tag ends.
    #[inline]
    fn end_of_tag(mut self) -> Option<usize> {
        self.skip_spaces();
        let rest = self.text.as_bytes().get(self.at..)?;
        rest.starts_with(CLOSE.as_bytes())
            .then_some(self.at + CLOSE.len())
    }
}

/// The bytes of names that need no second look.
static PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        let char = byte as u8;
        plain[byte] = char.is_ascii_alphanumeric() || matches!(char, b'_' | b'-' | b'$');
        byte += 1;
    }
    plain
};

fn part<'n, 'd>(node: &'n Node<'d>, key: &str) -> Option<&'n Node<'d>> {
    match &node.value {
        Value::Map(_) => node.get(key).map(|entry| &entry.value),
        Value::List(items) if is_index(key) => items.get(key.parse::<usize>().ok()?),
        _ => None,
    }
}

/// How long a value is, if it is a plain one and there is room.
fn value_length(scope: Scope, node: &Node<'_>, room: usize) -> Option<usize> {
    let plain = |node: &Node<'_>| {
        let text = &*node.as_scalar()?.text;
        let may_be_null = matches!(text.as_bytes(), [] | [b'~' | b'n' | b'N', ..]);
        if may_be_null && node.is_null() {
            return None;
        }
        match scope {
            Scope::Secrets => Some(SECRET_LENGTH),
            _ => (text.len() <= room && !has_tag(text)).then_some(text.len()),
        }
    };
    match &node.value {
        Value::Scalar(_) => plain(node),
        Value::List(items) => {
            let commas = items.len().saturating_sub(1);
            items.iter().try_fold(commas, |length, item| {
                let length = length + plain(item)?;
                (length <= room).then_some(length)
            })
        }
        Value::Map(_) => None,
    }
}
