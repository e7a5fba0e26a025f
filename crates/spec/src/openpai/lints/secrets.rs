//! Secrets that will not stay secret.

use std::cell::LazyCell;
use std::collections::HashSet;
use std::ops::Range;

use super::{Subject, each_scalar, place};
use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::secrets::{self, ClearSecrets, SHORTEST};
use crate::source::Span;
use crate::template::{self, Part};
use crate::yaml::{Entry, Node, Value};

/// So many places are told; whoever has more mends these first.
const MOST_PLACES: usize = 64;

/// A value of letters alone, or of few digits, may stand in a file by chance if it is shorter.
const LONGEST_WORD: usize = 12;
const LONGEST_NUMBER: usize = 8;

/// Below these keys a text is the user's own, not one of the protocol's words or a reference.
const FREE_TEXT: &[&str] = &[
    "auth",
    "callbacks",
    "commands",
    "parameters",
    "postCommands",
    "preCommands",
    "uri",
];

/// Below these keys of a job tags are rendered.
const RENDERED: &[&str] = &[
    "auth",
    "callbacks",
    "commands",
    "postCommands",
    "preCommands",
];

/// Gives back the secrets whose values were found in clear.
pub(super) fn check(subject: &Subject<'_, '_>, out: &mut Diagnostics) -> Vec<Span> {
    short_secrets(subject, out);
    clear_passwords(subject, out);
    if !secrets::may_be_in_clear(subject.job.root, subject.sources) {
        return Vec::new();
    }
    let mut search = Search {
        subject,
        secrets: &ClearSecrets::of_document(subject.job.root),
        found: Vec::new(),
        in_clear: Vec::new(),
    };
    search.document();
    for comment in subject.comments {
        search.comment(comment.span);
    }
    search.found.into_iter().for_each(|found| out.push(found));
    search.in_clear
}

fn short_secrets(subject: &Subject<'_, '_>, out: &mut Diagnostics) {
    let Some(secrets) = subject.job.secrets else {
        return;
    };
    let is_short = |node: &Node<'_>| {
        let text = node.as_text().unwrap_or_default();
        (1..SHORTEST).contains(&text.chars().take(SHORTEST).count())
    };
    let mut any = false;
    each_scalar(secrets, &mut |node| any |= is_short(node));
    if !any {
        return;
    }
    for (name, node) in template::secret_leaves(secrets) {
        if is_short(node) {
            let message = format!("the secret `{name}` is shorter than {SHORTEST} characters");
            out.push(
                Diagnostic::new(&codes::SHORT_SECRET, place::shown_span(node), message)
                    .label("cannot be masked in logs")
                    .help("choose a longer value; a short one would be found in ordinary text"),
            );
        }
    }
}

/// The password of an image's login.
fn password<'d>(node: &'d Node<'d>) -> Option<&'d Node<'d>> {
    let auth = &node.get("auth")?.value;
    Some(&auth.get("password")?.value)
}

fn clear_passwords(subject: &Subject<'_, '_>, out: &mut Diagnostics) {
    let values = LazyCell::new(|| {
        let secrets = subject.job.secrets.map(template::secret_leaves);
        let leaves = secrets.into_iter().flatten();
        leaves
            .filter_map(|(_, node)| node.as_text())
            .collect::<HashSet<&str>>()
    });
    for prerequisite in subject.own_prerequisites() {
        let Some(node) = password(prerequisite.node) else {
            continue;
        };
        let is_clear =
            |text: &str| !text.is_empty() && !text.contains("<%") && !values.contains(text);
        if node.as_text().is_some_and(is_clear) {
            let message = format!(
                "the password of the image `{}` is written in clear",
                prerequisite.title()
            );
            out.push(
                Diagnostic::new(&codes::CLEAR_PASSWORD, place::shown_span(node), message)
                    .help("put it below `secrets` and name it here: `<% $secrets.password %>`"),
            );
        }
    }
}

/// What kind of text a value was found in.
#[derive(Clone, Copy)]
struct Surroundings {
    /// A text of the user's own choice.
    free: bool,
    /// Tags are rendered in it.
    rendered: bool,
}

struct Search<'a, 'd> {
    subject: &'a Subject<'a, 'd>,
    secrets: &'a ClearSecrets<'d>,
    found: Vec<Diagnostic>,
    in_clear: Vec<Span>,
}

impl<'d> Search<'_, 'd> {
    fn document(&mut self) {
        let Some(map) = self.subject.job.root.as_map() else {
            return;
        };
        let beside = |entry: &&'d Entry<'d>| entry.key.text != "secrets";
        let mut there = false;
        for entry in map.entries.iter().filter(beside) {
            each_scalar(&entry.value, &mut |node| {
                let text = node.as_scalar().map_or("", |scalar| &*scalar.text);
                there = there || self.secrets.find(text).next().is_some();
            });
        }
        if !there {
            return;
        }
        for entry in map.entries.iter().filter(beside) {
            let free = entry.key.text == "parameters";
            let rendered = false;
            self.node(&entry.value, Surroundings { free, rendered });
        }
    }

    fn node(&mut self, node: &'d Node<'d>, around: Surroundings) {
        match &node.value {
            Value::Scalar(_) => self.scalar(node, around),
            Value::List(items) => items.iter().for_each(|item| self.node(item, around)),
            Value::Map(map) => {
                for entry in &map.entries {
                    let below = |keys: &[&str]| keys.contains(&&*entry.key.text);
                    let around = Surroundings {
                        free: around.free || below(FREE_TEXT),
                        rendered: around.rendered || below(RENDERED),
                    };
                    self.node(&entry.value, around);
                }
            }
        }
    }

    fn scalar(&mut self, node: &'d Node<'d>, around: Surroundings) {
        let Some(text) = node.as_text() else {
            return;
        };
        let mut tags: Option<Vec<Range<usize>>> = None;
        for (name, secret, range) in self.secrets.find(text) {
            if std::ptr::eq(secret, node) || !stands_out(text, &range, around.free) {
                continue;
            }
            let tags = tags.get_or_insert_with(|| tag_ranges(text));
            if tags
                .iter()
                .any(|tag| tag.start < range.end && range.start < tag.end)
            {
                continue;
            }
            if self.found.len() >= MOST_PLACES {
                return;
            }
            let message = format!("the value of the secret `{name}` is written here in clear");
            let part = place::part_span(self.subject.sources, node, range);
            let span = part.unwrap_or_else(|| place::shown_span(node));
            let tag = format!("<% $secrets.{name} %>");
            let mut diagnostic = Diagnostic::new(&codes::SECRET_IN_CLEAR, span, message);
            let named = self.is_named(secret);
            diagnostic = match (around.rendered && named, part) {
                (true, Some(part)) => diagnostic.help(format!("write `{tag}` instead")).fix(
                    "name the secret",
                    part,
                    tag,
                ),
                (true, None) => diagnostic.help(format!("write `{tag}` instead")),
                (false, _) => diagnostic.help("a secret's value belongs below `secrets` alone"),
            };
            self.found.push(diagnostic);
            self.in_clear.push(secret.span);
        }
    }

    /// Whether a tag can name the secret; a password that stands in an image's login has no name.
    fn is_named(&self, secret: &Node<'_>) -> bool {
        let below = self.subject.job.secrets.map(|secrets| secrets.span);
        below.is_some_and(|below| {
            below.source == secret.span.source
                && below.start <= secret.span.start
                && secret.span.end <= below.end
        })
    }

    /// Whether a comment stands between the secrets, or on the line of the last.
    fn is_beside_secrets(&self, comment: Span) -> bool {
        let Some(entry) = self.subject.job.root.get("secrets") else {
            return false;
        };
        let block = entry.key.span.to(entry.value.span);
        let from_end = Span {
            start: block.end,
            end: comment.start,
            ..block
        };
        block.source == comment.source
            && block.start <= comment.start
            && !self.subject.sources.slice(from_end).contains('\n')
    }

    fn comment(&mut self, span: Span) {
        let text = self.subject.sources.slice(span);
        if self.is_beside_secrets(span) {
            return;
        }
        for (name, _, range) in self.secrets.find(text) {
            if self.found.len() < MOST_PLACES && stands_out(text, &range, false) {
                let message = format!("the value of the secret `{name}` stands in a comment");
                self.found.push(
                    Diagnostic::new(
                        &codes::SECRET_IN_CLEAR,
                        span.part(range.start, range.end),
                        message,
                    )
                    .help("remove it: comments are kept and shown with the job"),
                );
            }
        }
    }
}

fn tag_ranges(text: &str) -> Vec<Range<usize>> {
    let parts = template::parse(text).parts.into_iter();
    parts
        .filter_map(|part| match part {
            Part::Tag(tag) => Some(tag.range),
            Part::Literal(_) => None,
        })
        .collect()
}

/// Whether a value stands in a text as itself and not as a part of a longer word. One that may be
/// an ordinary word must be all of a free text, or be assigned as in `--password=…`.
fn stands_out(text: &str, range: &Range<usize>, free: bool) -> bool {
    let (Some(before), Some(value), Some(after)) = (
        text.get(..range.start),
        text.get(range.clone()),
        text.get(range.end..),
    ) else {
        return false;
    };
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    let joins = |first: Option<char>, second: Option<char>| {
        first.is_some_and(is_word) && second.is_some_and(is_word)
    };
    if joins(before.chars().next_back(), value.chars().next())
        || joins(value.chars().next_back(), after.chars().next())
    {
        return false;
    }
    if !is_ordinary(value) {
        return true;
    }
    let whole = before.trim().is_empty() && after.trim().is_empty();
    let quoted = before.strip_suffix(['"', '\'']).unwrap_or(before);
    (whole && free) || quoted.ends_with(['=', ':'])
}

fn is_ordinary(value: &str) -> bool {
    let all = |accepts: fn(char) -> bool| value.chars().all(accepts);
    all(|char| char.is_alphabetic() || matches!(char, '_' | '-' | ' '))
        && value.len() < LONGEST_WORD
        || all(|char| char.is_ascii_digit()) && value.len() < LONGEST_NUMBER
}
