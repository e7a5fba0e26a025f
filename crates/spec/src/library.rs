//! What is asked of the outside: marketplace items. The command line answers from a folder, a
//! server from its database, a test from memory.

/// A `marketplace://` reference.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ItemRef {
    /// `data`, `script`, …; missing in the short form `marketplace://x`.
    pub kind: Option<String>,
    /// The item's name.
    pub name: String,
}

impl ItemRef {
    /// Reads `marketplace://data/mnist` or `marketplace://mnist`; `None` if it is neither.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("marketplace://")?;
        let (kind, name) = match rest.split_once('/') {
            Some((kind, name)) => (Some(kind.to_owned()), name),
            None => (None, rest),
        };
        let plain = |part: &str| {
            !part.is_empty() && !part.starts_with('.') && !part.contains(['/', '\\', '\0'])
        };
        (plain(name) && kind.as_deref().is_none_or(plain)).then(|| ItemRef {
            kind,
            name: name.to_owned(),
        })
    }
}

impl std::fmt::Display for ItemRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.kind {
            Some(kind) => write!(f, "marketplace://{kind}/{}", self.name),
            None => write!(f, "marketplace://{}", self.name),
        }
    }
}

/// A marketplace's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The item's text.
    Item {
        /// The name to show, such as the file's path.
        name: String,
        /// The text.
        text: String,
    },
    /// No such item.
    Missing {
        /// References that exist, for suggestions.
        others: Vec<String>,
    },
    /// More than one item fits the short form.
    Ambiguous {
        /// The full references.
        candidates: Vec<String>,
    },
    /// The item is there and cannot be read.
    Unreadable {
        /// Why.
        reason: String,
    },
    /// No marketplace is set up.
    NoMarketplace,
}

/// The outside.
pub trait Library {
    /// Looks an item up.
    fn find(&self, item: &ItemRef) -> Answer;
}

/// An outside with nothing in it.
#[derive(Clone, Copy, Debug)]
pub struct NoLibrary;

impl Library for NoLibrary {
    fn find(&self, _: &ItemRef) -> Answer {
        Answer::NoMarketplace
    }
}
