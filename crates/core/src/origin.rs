//! Where each value of a plan comes from.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// A position in a file, for people: lines and columns count from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The file as the user named it.
    pub file: String,
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// How a value came to be what it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Cause {
    /// Written in a file, at this path of its document.
    Written {
        /// Such as `taskRoles.worker.instances`.
        path: String,
    },
    /// Given on the command line.
    Flag {
        /// The flag as typed, such as `-p batch=28`; never with a secret in it.
        flag: String,
    },
    /// Put there by a rule of the tenant's overrides, which stands at the origin's place.
    Override {
        /// Such as `tenant_overrides["72f9"].environment.docker.image`.
        rule: String,
    },
    /// Nothing was written; a rule gave the value.
    Default {
        /// The rule in words.
        rule: String,
    },
    /// Taken over from a prerequisite that this one requires.
    Inherited {
        /// The prerequisite that has the value.
        from: String,
    },
    /// Worked out from the values in `via`.
    Made {
        /// In words: how.
        how: String,
    },
}

/// The origin of one value, with what it was made of or what it replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// How the value came to be.
    #[serde(flatten)]
    pub cause: Cause,
    /// Where, if it stands in a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// What it was made of, or what it replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<Origin>,
}

impl Origin {
    /// A value that a rule gave because nothing was written.
    pub fn default_rule(rule: impl Into<String>) -> Self {
        Origin {
            cause: Cause::Default { rule: rule.into() },
            place: None,
            via: Vec::new(),
        }
    }
}

/// The origin of every leaf of a plan, by its path, such as `roles.worker.resources.gpu` or
/// `roles.worker.command[2]`.
pub type Origins = IndexMap<String, Origin>;
