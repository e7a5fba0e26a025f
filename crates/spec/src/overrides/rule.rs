//! One rule: which values it means, and what becomes of them.

use std::collections::HashMap;

use regex::{Captures, Regex, RegexBuilder};

use super::replacement::Replacement;
use crate::diagnostic::{Diagnostic, Diagnostics, codes, suggest};
use crate::jsonpath::{Form, Query};
use crate::source::Span;
use crate::yaml::{Entry as MapEntry, Node};

/// The sizes of compiled regular expressions, and what it costs to hold a byte of text against one.
const SIZES: [(usize, usize); 3] = [(64 << 10, 1), (256 << 10, 4), (1 << 20, 16)];

/// So many bytes of compiled regular expressions may a tenant have.
const MOST_BYTES: usize = 32 << 20;

/// So many regular expressions may a tenant have. Entries without one are not counted.
const MOST_PATTERNS: usize = 1_000;

const OPERATIONS: [&str; 4] = ["$set", "$append", "$prepend", "$remove"];

/// A rule of a tenant.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// Such as `tenant_overrides["72f9"].environment.docker.image`.
    pub(super) name: String,
    /// Its path as written, and where.
    pub(super) path: String,
    pub(super) path_span: Span,
    pub(super) query: Query,
    pub(super) entries: Vec<Entry>,
    /// The entries of the table by their texts.
    pub(super) exact: HashMap<String, usize>,
    /// The entries of the table that are regular expressions, in file order.
    pub(super) patterns: Vec<usize>,
    pub(super) operations: Vec<Operation>,
}

/// From an old value to a new one; or what an operation takes away.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) text: String,
    pub(super) span: Span,
    pub(super) pattern: Option<Pattern>,
    /// The new value, and how it is made if the entry is a regular expression.
    pub(super) value: Option<Node<'static>>,
    pub(super) replacement: Option<Replacement>,
}

/// What a rule does beside its table.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    pub(super) kind: Operator,
    /// Where its name stands.
    pub(super) span: Span,
}

#[derive(Clone, Debug)]
pub(super) enum Operator {
    /// Puts a value in place of whatever is there.
    Set(Node<'static>),
    /// Adds items of a list or keys of a mapping, at the end or at the start.
    Add { given: Node<'static>, first: bool },
    /// Takes items of a list or keys of a mapping away: the entries from one to another.
    Remove { from: usize, to: usize },
    /// Takes the value itself away.
    RemoveWhole,
}

/// A regular expression that must fit the whole text.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    regex: Regex,
    /// What it costs to hold a byte against it.
    pub(super) weight: usize,
}

impl Pattern {
    pub(super) fn captures<'t>(&self, text: &'t str) -> Option<Captures<'t>> {
        self.regex.captures(text)
    }

    pub(super) fn fits(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

/// Reads the rules of one tenant.
pub(super) struct Reader<'a> {
    pub(super) prefix: &'a str,
    pub(super) out: &'a mut Diagnostics,
    pub(super) patterns: usize,
    pub(super) bytes: usize,
    /// Whether it was said that there are too many.
    pub(super) refused: bool,
}

impl Reader<'_> {
    /// Reads a rule: a path and its table.
    pub(super) fn rule(&mut self, given: &MapEntry<'_>) -> Option<Rule> {
        let path = given.key.text.as_ref();
        let query = self.query(path, given.key.span);
        let Some(table) = given.value.as_map() else {
            let message = format!("`{path}` has no table from old values to new ones");
            self.out.push(
                Diagnostic::new(&codes::BAD_OVERRIDES, place(given), message)
                    .help("write `OLD: NEW` below it, or `$set: VALUE` for any old value"),
            );
            return None;
        };
        let mut rule = Rule {
            name: format!("{}.{path}", self.prefix),
            path: path.to_owned(),
            path_span: given.key.span,
            query: query?,
            entries: Vec::with_capacity(table.entries.len()),
            exact: HashMap::with_capacity(table.entries.len()),
            patterns: Vec::new(),
            operations: Vec::new(),
        };
        for entry in &table.entries {
            if is_operation(&entry.key.text) {
                self.operation(entry, &mut rule);
            } else {
                let at = rule.entries.len();
                let read = self.entry(&entry.key.text, entry.key.span, Some(&entry.value));
                rule.exact.insert(read.text.clone(), at);
                rule.patterns.extend(read.pattern.as_ref().map(|_| at));
                rule.entries.push(read);
            }
        }
        Some(rule)
    }

    fn query(&mut self, path: &str, span: Span) -> Option<Query> {
        Query::parse(path, Form::Short)
            .map_err(|error| {
                let message = format!("`{path}` is not a JSONPath");
                self.out.push(
                    Diagnostic::new(&codes::BAD_SELECTOR, span, message)
                        .label(format!(
                            "{} at character {}",
                            error.message,
                            path.get(..error.at).map_or(0, |before| before.chars().count()) + 1
                        ))
                        .help("a path is such as `environment.docker.image`, `$.tags[*]` or `$..image`"),
                );
            })
            .ok()
    }

    fn entry(&mut self, text: &str, span: Span, value: Option<&Node<'_>>) -> Entry {
        let pattern = self.pattern(text, span);
        let replacement = match (&pattern, value) {
            (Some(pattern), Some(value)) => self.replacement(pattern, value),
            _ => None,
        };
        Entry {
            text: text.to_owned(),
            span,
            pattern,
            value: value.map(|value| value.clone().into_static()),
            replacement,
        }
    }

    /// The regular expression that a text is; none if it holds no sign of one. A dot alone is a dot.
    fn pattern(&mut self, text: &str, span: Span) -> Option<Pattern> {
        if !text.contains([
            '\\', '(', ')', '[', ']', '{', '}', '*', '+', '?', '^', '$', '|',
        ]) {
            return None;
        }
        self.patterns += 1;
        if self.patterns > MOST_PATTERNS || self.bytes > MOST_BYTES {
            if !self.refused {
                let message = "the tenant has too many or too large regular expressions";
                self.out.push(
                    Diagnostic::new(&codes::TOO_MUCH_OVERRIDE, span, message).help(format!(
                        "there can be {MOST_PATTERNS}; a few with groups can replace many"
                    )),
                );
                self.refused = true;
            }
            return None;
        }
        let whole = format!("^(?:{text})$");
        let mut error = None;
        for (bytes, weight) in SIZES {
            match RegexBuilder::new(&whole).size_limit(bytes).build() {
                Ok(regex) => {
                    self.bytes = self.bytes.saturating_add(bytes / 4);
                    return Some(Pattern { regex, weight });
                }
                Err(problem @ regex::Error::Syntax(_)) => {
                    error = Some(problem);
                    break;
                }
                Err(problem) => error = Some(problem),
            }
        }
        self.out.push(bad_pattern(text, span, error.as_ref()));
        None
    }

    fn replacement(&mut self, pattern: &Pattern, value: &Node<'_>) -> Option<Replacement> {
        let text = value.as_text()?;
        Replacement::parse(text, &pattern.regex)
            .map_err(|problem| {
                // Only a text without escapes has its bytes where they are written.
                let offset = match value.span.range().len().checked_sub(text.len()) {
                    Some(0) => Some(0),
                    Some(2) => Some(1),
                    _ => None,
                };
                let span = offset.map_or(value.span, |offset| {
                    value
                        .span
                        .part(problem.start + offset, problem.end + offset)
                });
                let message = format!("the regular expression has no group `{}`", problem.name);
                let groups = pattern.regex.captures_len() - 1;
                let help = match groups {
                    0 => "a group is what stands in parentheses, such as `(.+)`".to_owned(),
                    1 => "it has one group: `$1`".to_owned(),
                    _ => format!("its groups are `$1` to `${groups}`"),
                };
                self.out.push(
                    Diagnostic::new(&codes::BAD_REPLACEMENT, span, message)
                        .help(help)
                        .help("for a `$` or a `\\` itself, write it twice"),
                );
            })
            .ok()
    }

    fn operation(&mut self, given: &MapEntry<'_>, rule: &mut Rule) {
        let name = given.key.text.as_ref();
        let owned = || given.value.clone().into_static();
        let kind = match name {
            "$set" => Operator::Set(owned()),
            "$append" | "$prepend" => Operator::Add {
                given: owned(),
                first: name == "$prepend",
            },
            "$remove" if given.value.as_bool() == Some(true) => Operator::RemoveWhole,
            "$remove" => {
                let from = rule.entries.len();
                let one = std::slice::from_ref(&given.value);
                for item in given.value.as_list().unwrap_or(one) {
                    let Some(text) = item.as_text() else {
                        let message = "`$remove` takes texts, or `true` for the whole value";
                        self.out
                            .push(Diagnostic::new(&codes::BAD_OPERATION, item.span, message));
                        continue;
                    };
                    let read = self.entry(text, item.span, None);
                    rule.entries.push(read);
                }
                Operator::Remove {
                    from,
                    to: rule.entries.len(),
                }
            }
            _ => {
                let message = format!("there is no operation `{name}`");
                let diagnostic = Diagnostic::new(&codes::BAD_OPERATION, given.key.span, message);
                let help = match suggest::did_you_mean(name, OPERATIONS) {
                    Some(help) => help,
                    None => format!("there are `{}`", OPERATIONS.join("`, `")),
                };
                self.out.push(diagnostic.help(help));
                return;
            }
        };
        rule.operations.push(Operation {
            kind,
            span: given.key.span,
        });
    }
}

/// Whether a key of a table is the name of an operation: `$` and letters.
fn is_operation(key: &str) -> bool {
    key.strip_prefix('$')
        .is_some_and(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase()))
}

fn bad_pattern(text: &str, span: Span, error: Option<&regex::Error>) -> Diagnostic {
    let syntax = match error {
        Some(regex::Error::Syntax(syntax)) => Some(syntax),
        _ => None,
    };
    let Some(syntax) = syntax else {
        let message = "the regular expression is too large";
        return Diagnostic::new(&codes::BAD_PATTERN, span, message)
            .help("what is repeated many times inside a repetition makes it large");
    };
    // The last line of the report tells what is wrong; those before it draw where.
    let reason = syntax.lines().last().unwrap_or_default();
    let reason = reason.strip_prefix("error: ").unwrap_or(reason);
    let diagnostic = Diagnostic::new(
        &codes::BAD_PATTERN,
        span,
        format!("`{text}` is not a regular expression"),
    )
    .label(reason);
    if reason.contains("look-around") || reason.contains("backreference") {
        diagnostic
            .help("look-around and back-references would make matching slow, and are not read")
    } else {
        diagnostic.help(format!(
            "to mean the text itself, write `{}`",
            regex::escape(text)
        ))
    }
}

/// Where a value stands, or its key if there is none.
pub(super) fn place(entry: &MapEntry<'_>) -> Span {
    match entry.value.span.is_empty() {
        true => entry.key.span,
        false => entry.value.span,
    }
}
