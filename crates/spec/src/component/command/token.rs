//! A command cut at its braces and brackets.

use std::ops::Range;

use super::ast::{Group, Part, Placeholder, Scope};

#[derive(Debug)]
pub(super) struct Token<'t> {
    pub(super) range: Range<usize>,
    pub(super) kind: TokenKind<'t>,
}

#[derive(Debug)]
pub(super) enum TokenKind<'t> {
    Placeholder {
        scope: Scope,
        name: &'t str,
        name_range: Range<usize>,
    },
    /// Two characters that stand for one.
    Escape,
    /// The opening bracket of what may be a group.
    Open(Bracket),
    /// The closing bracket; the index is that of the opening token.
    Close(usize),
}

/// An opening bracket.
#[derive(Debug)]
pub(super) struct Bracket {
    pub(super) written: Written,
    /// Whether a placeholder stands directly in it.
    pub(super) has_placeholder: bool,
    /// The group in it, if there is one.
    pub(super) inner: Option<Range<usize>>,
    /// Whether it is a group.
    pub(super) is_group: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// `[`
    Single,
    /// `$[[`
    Dollar,
}

/// Puts tokens and the text between them in order.
pub(super) fn assemble<'t>(tokens: &[Token<'t>], length: usize) -> Vec<Part<'t>> {
    let mut parts = Vec::new();
    let mut group: Option<Group<'t>> = None;
    let (mut literal, mut placeholders, mut groups) = (0, 0, 0);
    let is_group = |index: usize| {
        matches!(
            tokens.get(index).map(|token| &token.kind),
            Some(TokenKind::Open(bracket)) if bracket.is_group
        )
    };
    for token in tokens {
        let Range { start, end } = token.range;
        let into = match &mut group {
            Some(group) => &mut group.parts,
            None => &mut parts,
        };
        match &token.kind {
            TokenKind::Escape => {
                push_literal(into, literal..start + 1);
                literal = end;
            }
            TokenKind::Placeholder {
                scope,
                name,
                name_range,
            } => {
                push_literal(into, literal..start);
                let owner = group.as_ref().map(|group| group.index);
                let placeholder = Part::Placeholder(Placeholder {
                    index: placeholders,
                    range: token.range.clone(),
                    scope: *scope,
                    name,
                    name_range: name_range.clone(),
                    group: owner,
                });
                match &mut group {
                    Some(group) => group.parts.push(placeholder),
                    None => parts.push(placeholder),
                }
                placeholders += 1;
                literal = end;
            }
            TokenKind::Open(bracket) if bracket.is_group => {
                push_literal(into, literal..start);
                group = Some(Group {
                    index: groups,
                    range: token.range.clone(),
                    parts: Vec::new(),
                });
                groups += 1;
                literal = end;
            }
            TokenKind::Close(open) if is_group(*open) => {
                push_literal(into, literal..start);
                if let Some(mut group) = group.take() {
                    group.range.end = end;
                    parts.push(Part::Group(group));
                }
                literal = end;
            }
            TokenKind::Open(_) | TokenKind::Close(_) => {}
        }
    }
    push_literal(&mut parts, literal..length);
    parts
}

fn push_literal(parts: &mut Vec<Part<'_>>, range: Range<usize>) {
    if range.start < range.end {
        parts.push(Part::Literal(range));
    }
}
