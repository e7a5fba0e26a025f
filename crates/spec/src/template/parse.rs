//! Finds the tags of a text.

use std::ops::Range;

use super::path::{Scope, Segment, Segments, read_path};
use super::{Fault, Problem, push_problem};
use crate::diagnostic::suggest;

pub(super) const OPEN: &str = "<%";
pub(super) const CLOSE: &str = "%>";

/// A text cut into literals and tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template<'t> {
    /// The text.
    pub text: &'t str,
    /// Its parts; together they are the whole text, and none is empty.
    pub parts: Vec<Part<'t>>,
    /// What is wrong with it, whatever the values are.
    pub problems: Vec<Problem>,
    /// How many `<%` there are, good or bad.
    pub tag_count: usize,
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part<'t> {
    /// Bytes to take as they are. A tag that cannot be read is one too.
    Literal(Range<usize>),
    /// A tag.
    Tag(Tag<'t>),
}

/// A tag that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag<'t> {
    /// Which tag of the text, from 0; those that cannot be read count as well.
    pub index: usize,
    /// Its bytes in the text, `<%` and `%>` included.
    pub range: Range<usize>,
    /// What stands in it, trimmed.
    pub written: &'t str,
    /// The name before the first dot or bracket.
    pub first: Segment<'t>,
    /// The scope of that name, if it is one.
    pub scope: Option<Scope>,
    /// The steps from there.
    pub path: Segments<'t>,
}

/// What other template languages have. Upstream drops such tags without a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mustache {
    /// `<%# x %>`.
    Section,
    /// `<%^ x %>`.
    Inverted,
    /// `<%/ x %>`.
    SectionEnd,
    /// `<%> x %>`.
    Partial,
    /// `<%& x %>`.
    Unescaped,
    /// `<%{ x }%>`.
    Triple,
    /// `<%= a b =%>`.
    Delimiters,
    /// `<%! x %>`.
    Comment,
}

impl Mustache {
    fn read(inside: &str) -> Option<Mustache> {
        Some(match inside.chars().next()? {
            '#' => Mustache::Section,
            '^' => Mustache::Inverted,
            '/' => Mustache::SectionEnd,
            '>' => Mustache::Partial,
            '&' => Mustache::Unescaped,
            '{' => Mustache::Triple,
            '=' => Mustache::Delimiters,
            '!' => Mustache::Comment,
            _ => return None,
        })
    }
}

impl<'t> Template<'t> {
    /// The tags that can be read.
    pub fn tags(&self) -> impl Iterator<Item = &Tag<'t>> {
        self.parts.iter().filter_map(|part| match part {
            Part::Tag(tag) => Some(tag),
            Part::Literal(_) => None,
        })
    }
}

/// Cuts a text into literals and tags.
pub fn parse(text: &str) -> Template<'_> {
    let mut template = Template {
        text,
        parts: Vec::with_capacity(likely_parts(text)),
        problems: Vec::new(),
        tag_count: 0,
    };
    let mut literal_start = 0;
    for found in spans(text) {
        let index = template.tag_count;
        template.tag_count += 1;
        let mut blame = |range: Range<usize>, fault| {
            let problem = Problem {
                tag: index,
                range,
                fault,
                kept: false,
            };
            push_problem(&mut template.problems, problem);
        };
        if !found.closed {
            blame(
                found.range.start..found.range.start + OPEN.len(),
                Fault::Unclosed,
            );
            continue;
        }
        match read_tag(text, index, found.range.clone()) {
            Ok(tag) => {
                if tag.scope.is_none() {
                    blame(found.range.clone(), unknown_scope(&tag.first));
                }
                push_literal(&mut template.parts, literal_start..found.range.start);
                literal_start = found.range.end;
                template.parts.push(Part::Tag(tag));
            }
            Err(fault) => blame(found.range, fault),
        }
    }
    push_literal(&mut template.parts, literal_start..text.len());
    template
}

/// How many parts a text with tags probably has: a tag and what stands before it are seldom shorter than this.
fn likely_parts(text: &str) -> usize {
    const MOST: usize = 64;
    const SHORT: usize = 16;
    (text.len() / SHORT + 1).min(MOST)
}

fn push_literal(parts: &mut Vec<Part<'_>>, range: Range<usize>) {
    if !range.is_empty() {
        parts.push(Part::Literal(range));
    }
}

/// The bytes of something that starts with `<%`.
pub(super) struct Found {
    /// Up to `%>`; if that is missing, up to the next `<%` or the end.
    pub range: Range<usize>,
    /// Whether there is a `%>`.
    pub closed: bool,
}

/// All `<%` of a text in order. One that meets the next `<%` before a `%>` was never closed.
pub(super) fn spans(text: &str) -> impl Iterator<Item = Found> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = find_open(text, at)?;
        let (end, closed) = find_end(text, start + OPEN.len());
        at = end;
        Some(Found {
            range: start..end,
            closed,
        })
    })
}

/// Whether a text holds a tag; most texts do not, and this is much faster than to parse them.
pub fn has_tag(text: &str) -> bool {
    find_open(text, 0).is_some()
}

/// The first `<%` at or after a position.
pub(super) fn find_open(text: &str, mut at: usize) -> Option<usize> {
    /// In a shorter text a look at each byte is faster than a search.
    const SHORT: usize = 12;
    loop {
        let rest = text.as_bytes().get(at..)?;
        at += match rest.len() {
            ..SHORT => rest.iter().position(|byte| *byte == b'<')?,
            _ => memchr::memchr(b'<', rest)?,
        };
        if text.as_bytes().get(at + 1) == Some(&b'%') {
            return Some(at);
        }
        at += 1;
    }
}

/// Where a tag ends whose inside begins at a position: after its `%>`, or, if it is not closed,
/// before the next `<%` or at the end of the text.
fn find_end(text: &str, inside: usize) -> (usize, bool) {
    let rest = text.as_bytes().get(inside..).unwrap_or_default();
    for at in memchr::memchr_iter(b'%', rest) {
        if at > 0 && rest[at - 1] == b'<' {
            return (inside + at - 1, false);
        }
        if rest.get(at + 1) == Some(&b'>') {
            return (inside + at + CLOSE.len(), true);
        }
    }
    (text.len(), false)
}

fn read_tag(text: &str, index: usize, range: Range<usize>) -> Result<Tag<'_>, Fault> {
    let (start, end) = (range.start + OPEN.len(), range.end - CLOSE.len());
    let inside = text.get(start..end).unwrap_or_default();
    let written = inside.trim();
    if written.is_empty() {
        return Err(Fault::Empty);
    }
    if let Some(mustache) = Mustache::read(written) {
        return Err(Fault::Unsupported(mustache));
    }
    let (first, path) = read_path(text, start..end).map_err(Fault::BadPath)?;
    Ok(Tag {
        index,
        range,
        written,
        scope: Scope::read(first.key),
        first,
        path,
    })
}

fn unknown_scope(name: &Segment<'_>) -> Fault {
    let bare = |name: &'static str| name.trim_start_matches('$');
    let written = name.key.trim_start_matches('$');
    let near = Scope::ALL
        .into_iter()
        .find(|scope| bare(scope.name()) == written)
        .or_else(|| {
            let meant = suggest::closest(written, Scope::ALL.map(|scope| bare(scope.name())))?;
            Scope::ALL
                .into_iter()
                .find(|scope| bare(scope.name()) == meant)
        });
    Fault::UnknownScope {
        written: name.key.to_owned(),
        meant: near.map(|scope| (scope, name.range.clone())),
    }
}
