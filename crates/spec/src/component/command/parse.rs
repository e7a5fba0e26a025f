//! Finds placeholders and groups in a command.

use std::ops::Range;

/// So many oddities of one command are told; whoever has more mends these first.
const MOST_PROBLEMS: usize = 64;

/// A placeholder takes no more bytes than this.
const MOST_SPELT: usize = 256;

/// How placeholders are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// `{inputs.x}`, `[ … ]`, with the escapes `{{ }} [[ ]]`.
    V1,
    /// `${{inputs.x}}`, `$[[ … ]]`.
    V2,
}

impl Syntax {
    /// A placeholder as it is written.
    pub fn placeholder(self, scope: Scope, name: &str) -> String {
        match self {
            Syntax::V1 => format!("{{{scope}.{name}}}"),
            Syntax::V2 => format!("${{{{{scope}.{name}}}}}"),
        }
    }

    /// A group as it is written.
    pub fn group(self, inside: &str) -> String {
        match self {
            Syntax::V1 => format!("[{inside}]"),
            Syntax::V2 => format!("$[[{inside}]]"),
        }
    }
}

/// Where a placeholder looks for its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// An input or a parameter.
    Inputs,
    /// An output.
    Outputs,
    /// A value that a sweep chooses; version 2 only.
    SearchSpace,
}

impl Scope {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Inputs => "inputs",
            Scope::Outputs => "outputs",
            Scope::SearchSpace => "search_space",
        }
    }

    fn read(word: &str, syntax: Syntax) -> Option<Scope> {
        match word {
            "inputs" => Some(Scope::Inputs),
            "outputs" => Some(Scope::Outputs),
            "search_space" if syntax == Syntax::V2 => Some(Scope::SearchSpace),
            _ => None,
        }
    }
}

impl std::fmt::Display for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A command cut into its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template<'t> {
    /// The text.
    pub text: &'t str,
    /// How it is written.
    pub syntax: Syntax,
    /// Its parts in order. Parts without a blank between them are glued into one word.
    pub parts: Vec<Part<'t>>,
    /// What is odd about it, whatever the values are, in the order of the text.
    pub problems: Vec<Problem>,
}

/// A part of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part<'t> {
    /// Bytes of the text to take as they are; of an escape, the one character that it stands for.
    Literal(Range<usize>),
    /// The place of a value.
    Placeholder(Placeholder<'t>),
    /// What goes together when its value is missing.
    Group(Group<'t>),
}

/// The place of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placeholder<'t> {
    /// Which placeholder of the text, from 0.
    pub index: usize,
    /// Its bytes, braces included.
    pub range: Range<usize>,
    /// Where its value is looked for.
    pub scope: Scope,
    /// The name there.
    pub name: &'t str,
    /// The bytes of the name.
    pub name_range: Range<usize>,
    /// The group in which it stands.
    pub group: Option<usize>,
}

/// What goes together when its value is missing. Groups do not nest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group<'t> {
    /// Which group of the text, from 0.
    pub index: usize,
    /// Its bytes, brackets included.
    pub range: Range<usize>,
    /// Literals and placeholders; at least one placeholder.
    pub parts: Vec<Part<'t>>,
}

impl<'t> Group<'t> {
    /// Its placeholders.
    pub fn placeholders(&self) -> impl Iterator<Item = &Placeholder<'t>> {
        self.parts.iter().filter_map(|part| match part {
            Part::Placeholder(placeholder) => Some(placeholder),
            Part::Literal(_) | Part::Group(_) => None,
        })
    }
}

/// Something odd in a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The bytes of the text to blame.
    pub range: Range<usize>,
    /// What is odd.
    pub fault: Fault,
}

/// The ways in which a command can be odd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A placeholder or group in the way of the other version; it is taken all the same.
    Foreign {
        /// How it should be written.
        meant: String,
    },
    /// Something that is nearly a placeholder; it stays as written.
    NearPlaceholder {
        /// What was probably meant, if that can be told.
        meant: Option<String>,
    },
    /// `${{ … }}` with something else in it than an input or output; it stays as written.
    UnknownBinding,
    /// `[--flag]`: brackets that look like a group and hold no placeholder; they stay.
    NoPlaceholder,
    /// A group in brackets; the outer brackets stay.
    Nested {
        /// The inner group.
        inner: Range<usize>,
    },
    /// A bracket without its partner next to a placeholder; it stays.
    Unpaired,
    /// `[ -z {inputs.x} ]`: a shell's test that is read as a group.
    TestAsGroup,
    /// `[[ -n … ]]`: a shell's test that is read as an escaped bracket.
    TestAsEscape,
    /// A placeholder in a place where its value cannot be quoted.
    Unquotable(Unquotable),
}

/// Places in a shell line where a value cannot be quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unquotable {
    /// Between backticks.
    Backticks,
    /// In a here-document.
    HereDocument,
}

impl<'t> Template<'t> {
    /// Its groups.
    pub fn groups(&self) -> impl Iterator<Item = &Group<'t>> {
        self.parts.iter().filter_map(|part| match part {
            Part::Group(group) => Some(group),
            Part::Literal(_) | Part::Placeholder(_) => None,
        })
    }

    /// All its placeholders, those in groups included, in the order of the text.
    pub fn references(&self) -> impl Iterator<Item = &Placeholder<'t>> {
        self.parts
            .iter()
            .flat_map(|part| match part {
                Part::Group(group) => group.parts.as_slice(),
                other => std::slice::from_ref(other),
            })
            .filter_map(|part| match part {
                Part::Placeholder(placeholder) => Some(placeholder),
                Part::Literal(_) | Part::Group(_) => None,
            })
    }

    /// The text of some bytes.
    pub fn slice(&self, range: &Range<usize>) -> &'t str {
        self.text.get(range.clone()).unwrap_or_default()
    }
}

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
    template.find_unquotable();
    template.problems.sort_by_key(|problem| problem.range.start);
    template.problems.truncate(MOST_PROBLEMS);
    template
}

impl Template<'_> {
    fn find_unquotable(&mut self) {
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
        self.problems.extend(found);
    }
}

#[derive(Debug)]
struct Token<'t> {
    range: Range<usize>,
    kind: TokenKind<'t>,
}

#[derive(Debug)]
enum TokenKind<'t> {
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
struct Bracket {
    written: Written,
    /// Whether a placeholder stands directly in it.
    has_placeholder: bool,
    /// The group in it, if there is one.
    inner: Option<Range<usize>>,
    /// Whether it is a group.
    is_group: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    /// `[`
    Single,
    /// `$[[`
    Dollar,
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
                if is_shell_test(self.text.get(start + 2..at).unwrap_or_default()) {
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

/// Where something stands in the next few bytes of a text. Bounded, so that a text full of opening
/// braces is read in one pass.
fn near(rest: &str, what: &str) -> Option<usize> {
    let window = rest.as_bytes();
    let window = &window[..window.len().min(MOST_SPELT)];
    memchr::memmem::find(window, what.as_bytes())
}

/// Reads `inputs.x`; the name has no blanks, braces or brackets.
fn read_reference(
    inside: &str,
    start: usize,
    syntax: Syntax,
) -> Option<(Scope, &str, Range<usize>)> {
    let (scope, name) = inside.split_once('.')?;
    let odd = |char: char| char.is_whitespace() || "{}[]$".contains(char);
    if name.is_empty() || name.contains(odd) {
        return None;
    }
    let name_start = start + scope.len() + 1;
    let scope = Scope::read(scope, syntax)?;
    Some((scope, name, name_start..name_start + name.len()))
}

/// What was meant by something that is nearly a placeholder.
#[allow(clippy::option_option)]
fn nearly(inside: &str) -> Option<Option<String>> {
    let (scope, name) = inside.split_once('.')?;
    let (scope, name) = (scope.trim(), name.trim());
    let scope = match scope.to_ascii_lowercase().as_str() {
        "input" | "inputs" | "parameters" | "parameter" | "params" => Scope::Inputs,
        "output" | "outputs" => Scope::Outputs,
        _ => return None,
    };
    let is_name = |char: char| char.is_ascii_alphanumeric() || "._-".contains(char);
    let meant = !name.is_empty() && name.chars().all(is_name);
    Some(meant.then(|| Syntax::V1.placeholder(scope, name)))
}

/// Whether the inside of brackets is a shell's test: ` -z … ` or ` a = b `.
fn is_shell_test(inside: &str) -> bool {
    if !inside.starts_with(char::is_whitespace) || !inside.ends_with(char::is_whitespace) {
        return false;
    }
    let words: Vec<&str> = inside.split_whitespace().take(3).collect();
    let unary = |word: &str| {
        let mut chars = word.chars();
        chars.next() == Some('-')
            && chars
                .next()
                .is_some_and(|char| "abcdefghknoprstuwxzGLNOS".contains(char))
            && chars.next().is_none()
    };
    let binary = |word: &str| {
        matches!(
            word,
            "=" | "==" | "!=" | "=~" | "<" | ">" | "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge"
        )
    };
    match words.as_slice() {
        [first, ..] if *first == "!" => true,
        [_, second, ..] if binary(second) => true,
        [first, _] => unary(first),
        [first, _, third] => unary(first) && matches!(*third, "&&" | "||" | "-a" | "-o"),
        _ => false,
    }
}

/// Puts tokens and the text between them in order.
fn assemble<'t>(tokens: &[Token<'t>], length: usize) -> Vec<Part<'t>> {
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
