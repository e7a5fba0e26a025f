//! Finds placeholders and groups in a command.

use std::ops::Range;

use super::ast::{Fault, Part, Problem, Scope, Syntax, Template};
use super::spelling::{is_shell_test, near, nearly, read_reference};
use super::token::{Bracket, Token, TokenKind, Written, assemble};

/// So many oddities of one command are told; whoever has more mends these first.
const MOST_PROBLEMS: usize = 64;

/// Cuts a command into its parts.
pub fn parse(text: &str, syntax: Syntax) -> Template<'_> {
    let mut scan = Scan {
        text,
        syntax,
        tokens: Vec::new(),
        open: Vec::new(),
        brackets: Vec::new(),
        braces: 0,
        problems: Vec::new(),
    };
    scan.run();
    scan.pair_odd();
    let mut template = Template {
        text,
        syntax,
        parts: assemble(&scan.tokens, text.len()),
        problems: scan.problems,
    };
    template.read_shell();
    template.problems.sort_by_key(|problem| problem.range.start);
    template.problems.truncate(MOST_PROBLEMS);
    template
}

impl Template<'_> {
    /// Finds what a shell would stumble over.
    fn read_shell(&mut self) {
        // It stumbles over quotes, backticks and here-documents.
        let text = self.text.as_bytes();
        if memchr::memchr3(b'\'', b'"', b'`', text).is_none()
            && memchr::memmem::find(text, b"<<").is_none()
        {
            return;
        }
        let mut line = super::shell::Line::default();
        let mut found = Vec::new();
        let parts = self.parts.iter().flat_map(|part| match part {
            Part::Group(group) => group.parts.as_slice(),
            other => std::slice::from_ref(other),
        });
        for part in parts {
            match part {
                Part::Literal(range) => line.literal(self.slice(range)),
                Part::Placeholder(placeholder) => {
                    if let Some(place) = line.unquotable() {
                        found.push(Problem {
                            range: placeholder.range.clone(),
                            fault: Fault::Unquotable(place),
                        });
                    }
                }
                Part::Group(_) => {}
            }
        }
        if let Some(quote) = line.open_quote()
            && let Some(at) = self.text.rfind(quote)
        {
            found.push(Problem {
                range: at..at + quote.len_utf8(),
                fault: Fault::OpenQuote,
            });
        }
        self.problems.extend(found);
    }
}

/// A bracket that waits for its partner.
#[derive(Debug)]
enum Waiting {
    /// An escaped one, and where it stands.
    Escaped(usize),
    /// The token of one that may become a group.
    Bracket(usize),
}

struct Scan<'t> {
    text: &'t str,
    syntax: Syntax,
    tokens: Vec<Token<'t>>,
    open: Vec<Waiting>,
    /// The tokens of those in `open` that may become groups.
    brackets: Vec<usize>,
    braces: usize,
    problems: Vec<Problem>,
}

impl<'t> Scan<'t> {
    fn run(&mut self) {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while let Some(step) = bytes
            .get(at..)
            .and_then(|rest| rest.iter().position(|byte| b"${}[]".contains(byte)))
        {
            at += step;
            at += self.token(at).max(1);
        }
    }

    fn rest(&self, at: usize) -> &'t str {
        self.text.get(at..).unwrap_or_default()
    }

    /// Reads what starts here; how many bytes it takes.
    fn token(&mut self, at: usize) -> usize {
        let rest = self.rest(at);
        if rest.starts_with("${{") {
            return self.binding(at);
        }
        if rest.starts_with("$[[") {
            return self.open_bracket(at, 3, Written::Dollar);
        }
        match rest.as_bytes().first() {
            Some(b'{') => self.brace(at),
            Some(b'}') if self.braces > 0 && rest.starts_with("}}") => {
                self.braces -= 1;
                self.escape(at)
            }
            Some(b'[') if self.syntax == Syntax::V1 && rest.starts_with("[[") => {
                self.open.push(Waiting::Escaped(at));
                self.escape(at)
            }
            Some(b'[') => self.open_bracket(at, 1, Written::Single),
            Some(b']') => self.close(at),
            _ => 1,
        }
    }

    fn blame(&mut self, range: Range<usize>, fault: Fault) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(Problem { range, fault });
        }
    }

    fn escape(&mut self, at: usize) -> usize {
        self.tokens.push(Token {
            range: at..at + 2,
            kind: TokenKind::Escape,
        });
        2
    }

    /// `${{ … }}`
    fn binding(&mut self, at: usize) -> usize {
        let rest = self.rest(at);
        let Some(length) = near(rest, "}}").map(|end| end + 2) else {
            return 3;
        };
        let range = at..at + length;
        let inside = rest.get(3..length - 2).unwrap_or_default();
        let start = at + 3 + inside.len() - inside.trim_start().len();
        match read_reference(inside.trim(), start, Syntax::V2) {
            Some((scope, name, name_range)) => {
                if self.syntax == Syntax::V1 {
                    let meant = Syntax::V1.placeholder(scope, name);
                    self.blame(range.clone(), Fault::Foreign { meant });
                }
                self.placeholder(range, scope, name, name_range);
            }
            None => self.blame(range, Fault::UnknownBinding),
        }
        length
    }

    fn placeholder(
        &mut self,
        range: Range<usize>,
        scope: Scope,
        name: &'t str,
        name_range: Range<usize>,
    ) {
        if let Some(bracket) = self.innermost() {
            bracket.has_placeholder = true;
        }
        self.tokens.push(Token {
            range,
            kind: TokenKind::Placeholder {
                scope,
                name,
                name_range,
            },
        });
    }

    /// The bracket around this place that may become a group.
    fn innermost(&mut self) -> Option<&mut Bracket> {
        let index = self.brackets.last()?;
        match &mut self.tokens.get_mut(*index)?.kind {
            TokenKind::Open(bracket) => Some(bracket),
            _ => None,
        }
    }

    /// `{inputs.x}`, `{{`, or just a brace.
    fn brace(&mut self, at: usize) -> usize {
        let rest = self.rest(at);
        if self.syntax == Syntax::V1 && rest.starts_with("{{") {
            self.braces += 1;
            return self.escape(at);
        }
        let Some(end) = near(rest, "}") else {
            return 1;
        };
        let inside = rest.get(1..end).unwrap_or_default();
        let range = at..at + end + 1;
        if let Some((scope, name, name_range)) = read_reference(inside, at + 1, Syntax::V1) {
            if self.syntax == Syntax::V2 {
                let meant = Syntax::V2.placeholder(scope, name);
                self.blame(range.clone(), Fault::Foreign { meant });
            }
            self.placeholder(range, scope, name, name_range);
            return end + 1;
        }
        if self.syntax == Syntax::V1
            && let Some(meant) = nearly(inside)
        {
            self.blame(range, Fault::NearPlaceholder { meant });
            return end + 1;
        }
        1
    }

    fn open_bracket(&mut self, at: usize, length: usize, written: Written) -> usize {
        self.open.push(Waiting::Bracket(self.tokens.len()));
        self.brackets.push(self.tokens.len());
        self.tokens.push(Token {
            range: at..at + length,
            kind: TokenKind::Open(Bracket {
                written,
                has_placeholder: false,
                inner: None,
                is_group: false,
            }),
        });
        length
    }

    /// `]` or `]]`.
    fn close(&mut self, at: usize) -> usize {
        let double = self.rest(at).starts_with("]]");
        match self.open.last() {
            Some(Waiting::Escaped(start)) if double => {
                let (start, end) = (*start, at + 2);
                self.open.pop();
                // `[[[[ … ]]]]` is how a test of bash is meant to be written.
                let is_twice =
                    matches!(self.open.last(), Some(Waiting::Escaped(outer)) if outer + 2 == start);
                let inside = self.text.get(start + 2..at).unwrap_or_default();
                if !is_twice && is_shell_test(inside) {
                    self.blame(start..end, Fault::TestAsEscape);
                }
                self.escape(at)
            }
            Some(Waiting::Bracket(index)) => {
                let index = *index;
                let written = match self.tokens.get(index).map(|token| &token.kind) {
                    Some(TokenKind::Open(bracket)) => bracket.written,
                    _ => return 1,
                };
                match (written, double) {
                    (Written::Dollar, false) => 1,
                    (Written::Dollar, true) => self.close_bracket(index, at, 2),
                    (Written::Single, _) => self.close_bracket(index, at, 1),
                }
            }
            _ => {
                self.tokens.push(Token {
                    range: at..at + 1,
                    kind: TokenKind::Close(usize::MAX),
                });
                1
            }
        }
    }

    /// Decides whether a pair of brackets is a group.
    fn close_bracket(&mut self, index: usize, at: usize, length: usize) -> usize {
        self.open.pop();
        self.brackets.pop();
        let end = at + length;
        let syntax = self.syntax;
        let text = self.text;
        let Some(token) = self.tokens.get_mut(index) else {
            return length;
        };
        let range = token.range.start..end;
        let inside = text.get(token.range.end..at).unwrap_or_default();
        let TokenKind::Open(bracket) = &mut token.kind else {
            return length;
        };
        let written = bracket.written;
        let foreign = (written == Written::Single) != (syntax == Syntax::V1);
        let looks_like_group = inside.starts_with('-');
        let fault = if let Some(inner) = bracket.inner.clone() {
            (bracket.has_placeholder || looks_like_group || written == Written::Dollar)
                .then_some(Fault::Nested { inner })
        } else if bracket.has_placeholder {
            bracket.is_group = !foreign || looks_like_group || written == Written::Dollar;
            if foreign && bracket.is_group {
                let meant = syntax.group(inside);
                Some(Fault::Foreign { meant })
            } else if bracket.is_group && written == Written::Single && is_shell_test(inside) {
                Some(Fault::TestAsGroup)
            } else {
                None
            }
        } else {
            ((looks_like_group && !foreign) || written == Written::Dollar)
                .then_some(Fault::NoPlaceholder)
        };
        let inner = if bracket.is_group {
            Some(range.clone())
        } else {
            bracket.inner.clone()
        };
        if let Some(fault) = fault {
            self.blame(range, fault);
        }
        if let (Some(inner), Some(outer)) = (inner, self.innermost()) {
            outer.inner.get_or_insert(inner);
        }
        self.tokens.push(Token {
            range: at..end,
            kind: TokenKind::Close(index),
        });
        length
    }

    /// Blames brackets that found no partner, if a placeholder makes them look like a group.
    fn pair_odd(&mut self) {
        let mut odd = Vec::new();
        for waiting in &self.open {
            if let Waiting::Bracket(index) = waiting
                && let Some(token) = self.tokens.get(*index)
                && let TokenKind::Open(bracket) = &token.kind
                && (bracket.has_placeholder || bracket.written == Written::Dollar)
                && (self.syntax == Syntax::V1 || bracket.written == Written::Dollar)
            {
                odd.push(token.range.clone());
            }
        }
        for (index, token) in self.tokens.iter().enumerate() {
            if matches!(token.kind, TokenKind::Close(usize::MAX))
                && self.syntax == Syntax::V1
                && let Some(before) = index
                    .checked_sub(1)
                    .and_then(|index| self.tokens.get(index))
                && matches!(before.kind, TokenKind::Placeholder { .. })
                && before.range.end == token.range.start
            {
                odd.push(token.range.clone());
            }
        }
        for range in odd {
            self.blame(range, Fault::Unpaired);
        }
    }
}
