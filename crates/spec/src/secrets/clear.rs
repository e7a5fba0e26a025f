//! The secrets of a document, and the places where their values stand in clear.

use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, MatchKind};
use memchr::memmem;
use pinnace_core::text::{Piece, SecretName, Text};

use crate::source::{Sources, Span};
use crate::template::secret_leaves;
use crate::yaml::{Node, Value};

/// Values shorter than this are not looked for: they would be found everywhere.
pub const SHORTEST: usize = 4;

/// So few values are looked for one by one before a common search for all is set up: most files
/// name their secrets as they should, and to set up the search costs more than to check such a file.
const FEW: usize = 8;

/// The secrets of a document with their values, to keep those out of a plan.
#[derive(Default)]
pub struct ClearSecrets<'d> {
    secrets: Vec<(SecretName, &'d Node<'d>)>,
    /// The values that are looked for, and the places of their secrets.
    values: Vec<&'d str>,
    searched: Vec<usize>,
    /// Finds the values; made when one is there.
    finder: OnceLock<Option<AhoCorasick>>,
}

impl std::fmt::Debug for ClearSecrets<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.secrets.iter().map(|(name, _)| name))
            .finish()
    }
}

impl<'d> ClearSecrets<'d> {
    /// All scalars below the top-level `secrets`, and passwords of image logins that name no secret.
    pub fn of_document(root: &'d Node<'d>) -> Self {
        let mut secrets: Vec<(SecretName, &'d Node<'d>)> = Vec::new();
        if let Some(entry) = root.get("secrets") {
            secrets.extend(secret_leaves(&entry.value));
        }
        let passwords = clear_passwords(root);
        secrets.extend(passwords.map(|(name, node)| (implicit_name(name), node)));
        let mut searched = Vec::new();
        let mut values = Vec::new();
        for (index, (_, node)) in secrets.iter().enumerate() {
            if let Some(value) = searched_value(node) {
                searched.push(index);
                values.push(value);
            }
        }
        ClearSecrets {
            secrets,
            values,
            searched,
            finder: OnceLock::new(),
        }
    }

    /// The search for all values, if one may be in the text.
    fn finder(&self, text: &str) -> Option<&AhoCorasick> {
        let few = self.values.len() <= FEW;
        if few && !self.values.iter().any(|value| text.contains(value)) {
            return None;
        }
        let finder = self.finder.get_or_init(|| {
            AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(&self.values)
                .ok()
        });
        finder.as_ref()
    }

    /// The names and nodes; a node must not be shown.
    pub fn iter(&self) -> impl Iterator<Item = (&SecretName, &'d Node<'d>)> {
        self.secrets.iter().map(|(name, node)| (name, *node))
    }

    /// Every value that stands in a text in clear: its name, the secret itself, and where.
    pub fn find(
        &self,
        text: &str,
    ) -> impl Iterator<Item = (&SecretName, &'d Node<'d>, Range<usize>)> {
        let finder = self.finder(text).into_iter();
        finder
            .flat_map(move |finder| finder.find_iter(text))
            .map(|found| {
                let (name, node) = &self.secrets[self.searched[found.pattern().as_usize()]];
                (name, *node, found.range())
            })
    }

    /// The same text, with each secret's value that stands in it in clear replaced by its name.
    #[must_use]
    pub fn hide(&self, text: &Text) -> Text {
        let mut hidden = Text::default();
        for piece in text.pieces() {
            match piece {
                Piece::Secret { secret } => hidden.push_secret(secret.clone()),
                Piece::Literal(literal) => self.split(literal, &mut hidden),
                Piece::Path { path } => hidden.push_path(path),
            }
        }
        hidden
    }

    /// A text for people, with each secret's value masked.
    pub fn mask(&self, text: &str) -> String {
        self.hide(&Text::from(text)).render(|_| "••••".to_owned())
    }

    fn split(&self, literal: &str, out: &mut Text) {
        let mut plain_from = 0;
        for (name, _, range) in self.find(literal) {
            out.push_literal(&literal[plain_from..range.start]);
            out.push_secret(name.clone());
            plain_from = range.end;
        }
        out.push_literal(&literal[plain_from..]);
    }
}

/// Whether the value of a secret can stand somewhere beside its own place: it is in the texts more than once, an anchor near it
/// may carry it elsewhere, or it comes from outside and has no place in a text. A value that is spelt with escapes is not seen.
pub fn may_be_in_clear(root: &Node<'_>, sources: &Sources) -> bool {
    let mut secrets = Vec::new();
    if let Some(entry) = root.get("secrets") {
        add_scalars(&entry.value, &mut secrets);
    }
    secrets.extend(clear_passwords(root).map(|(_, node)| node));
    if secrets.is_empty() {
        return false;
    }
    if secrets.iter().any(|node| node.replaced().is_some()) {
        return true;
    }
    let again = |value: &str| {
        let texts = sources.iter().map(|source| source.text().as_bytes());
        let found = texts.flat_map(|text| memmem::find_iter(text, value.as_bytes()).map(|_| ()));
        found.take(2).count() > 1
    };
    let anchored = || {
        let spans = secrets.iter().map(|node| node.span);
        let whole = spans.reduce(|first, span| Span {
            start: first.start.min(span.start),
            ..first.to(span)
        });
        whole.is_none_or(|whole| {
            let text = sources.get(whole.source).text();
            let before = text.get(..whole.start as usize).unwrap_or_default();
            // The line above too: an anchor can stand behind the key `secrets`.
            let from = before.rmatch_indices('\n').nth(1).map_or(0, |(at, _)| at);
            text.get(from..whole.end as usize)
                .is_none_or(|near| near.contains('&'))
        })
    };
    let mut values = secrets.iter().filter_map(|node| searched_value(node));
    values.clone().count() > FEW || values.any(again) || anchored()
}

fn add_scalars<'n, 'd>(node: &'n Node<'d>, scalars: &mut Vec<&'n Node<'d>>) {
    match &node.value {
        Value::Scalar(_) => scalars.push(node),
        Value::List(items) => items.iter().for_each(|item| add_scalars(item, scalars)),
        Value::Map(map) => {
            let values = map.entries.iter().map(|entry| &entry.value);
            values.for_each(|value| add_scalars(value, scalars));
        }
    }
}

/// The passwords of image logins that name no secret, with the names of the images.
fn clear_passwords<'n>(root: &'n Node<'_>) -> impl Iterator<Item = (&'n str, &'n Node<'n>)> {
    let prerequisites = root
        .get("prerequisites")
        .and_then(|entry| entry.value.as_list());
    let prerequisites = prerequisites.unwrap_or_default().iter();
    prerequisites.filter_map(|prerequisite| {
        let auth = prerequisite.get("auth")?;
        let password = &auth.value.get("password")?.value;
        let name = prerequisite.get("name")?.value.as_text()?;
        let is_clear = |text: &str| !text.is_empty() && !text.contains("<%");
        password
            .as_text()
            .is_some_and(is_clear)
            .then_some((name, password))
    })
}

/// The value of a secret, if it is long enough to be looked for.
fn searched_value<'n>(secret: &'n Node<'_>) -> Option<&'n str> {
    let is_long = |text: &&str| text.chars().count() >= SHORTEST;
    secret.as_text().filter(is_long)
}

/// The values of a job's secrets, for whoever runs it. They have no other way out than to be taken apart.
#[derive(Clone, Default)]
pub struct SecretValues {
    values: Vec<(SecretName, String)>,
}

impl std::fmt::Debug for SecretValues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.values.iter().map(|(name, _)| name);
        f.debug_list().entries(names).finish()
    }
}

impl SecretValues {
    /// All secrets of a document; one without a value is empty.
    pub fn of_document(root: &Node<'_>) -> Self {
        let secrets = ClearSecrets::of_document(root);
        let value = |node: &Node<'_>| node.as_text().unwrap_or_default().to_owned();
        let values = secrets
            .iter()
            .map(|(name, node)| (name.clone(), value(node)));
        Self {
            values: values.collect(),
        }
    }

    /// With more of them.
    #[must_use]
    pub fn and(mut self, more: Vec<(SecretName, String)>) -> Self {
        self.values.extend(more);
        self
    }
}

impl IntoIterator for SecretValues {
    type Item = (SecretName, String);
    type IntoIter = std::vec::IntoIter<(SecretName, String)>;

    fn into_iter(self) -> Self::IntoIter {
        self.values.into_iter()
    }
}

/// The name of a password that is written in an image's login instead of in `secrets`.
pub fn implicit_name(prerequisite: &str) -> SecretName {
    SecretName(format!("{prerequisite}.auth.password"))
}
