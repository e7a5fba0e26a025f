//! Tenant overrides: rules of a configuration that change a document before a dialect reads it, so
//! that one file serves every tenant. No file is ever written.
//!
//! | module | its part |
//! | --- | --- |
//! | `config` | the section `tenant_overrides` to [`Overrides`] |
//! | `tenant` | which tenant is meant |
//! | `rule`, `replacement` | one rule: a path, a table from old to new, operations |
//! | `apply`, `operate` | the document, changed, with a report |
//! | `feed` | `remove_polymer_pkg_idx` |
//! | `unused` | what had no effect |
//! | `text` | the changed document as text again |

mod apply;
mod config;
mod feed;
mod operate;
mod replacement;
mod rule;
mod tenant;
mod text;
mod unused;

pub use apply::{Change, Report, apply};
pub use config::SECTION;
pub use feed::{is_feed, without_feed_lines, without_feeds};
pub use tenant::Tenant;
pub use text::{Materialised, diff, materialise};
pub use unused::{Used, unused};

use rule::Rule;

use crate::source::{Sources, Span};

/// The rules of one tenant, ready to be applied to any number of documents.
///
/// Spans in them lie in the texts of the configuration. A document is read beside them: its
/// [`Sources`] are made by [`Overrides::sources`].
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// Names and texts of the configuration's files, in the order of their ids.
    texts: Vec<(String, String)>,
    /// The key of the tenant's rules, if the configuration has any for it.
    pub chosen: Option<String>,
    rules: Vec<Rule>,
    remove_feeds: Option<FeedRule>,
}

#[derive(Clone, Debug)]
struct FeedRule {
    name: String,
    span: Span,
}

impl Overrides {
    /// No rules, of a configuration in these sources.
    pub fn nothing(sources: &Sources) -> Self {
        let texts = sources.iter();
        let texts = texts.map(|source| (source.name().to_owned(), source.text().to_owned()));
        Overrides {
            texts: texts.collect(),
            ..Overrides::default()
        }
    }

    /// Fresh sources that hold the configuration's texts, to which the document's is added.
    pub fn sources(&self) -> Sources {
        let sources = Sources::default();
        for (name, text) in &self.texts {
            sources.add(name.as_str(), text.as_str());
        }
        sources
    }

    /// The rule that takes the lines of package feeds out, also of files that a document names: its name and its place.
    pub fn feed_rule(&self) -> Option<(&str, Span)> {
        let rule = self.remove_feeds.as_ref()?;
        Some((&rule.name, rule.span))
    }

    /// Of several regular expressions that fit, lets the last one count instead of the first, as shrike does.
    pub fn prefer_last_pattern(&mut self) {
        for rule in &mut self.rules {
            rule.patterns.reverse();
        }
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.remove_feeds.is_none()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
