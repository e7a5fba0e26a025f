//! What is asked of the outside: marketplace items and files. The command line answers from a folder, a
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

/// What a register of modules has under an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Registered {
    /// A module.
    Module(Module),
    /// No such module.
    Missing {
        /// The ids that are there, for suggestions.
        others: Vec<String>,
    },
    /// Nothing was ever registered.
    NoRegister,
}

/// A registered module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// The absolute folder with its files, which nobody changes.
    pub folder: String,
    /// `sha256:` and the digest of its files.
    pub digest: String,
}

/// What lies at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// A file.
    File {
        /// Its bytes.
        size: u64,
    },
    /// A folder.
    Folder,
    /// Nothing.
    Missing,
    /// Nobody can say.
    Unknown,
}

/// Something below a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its path from the folder, with `/` between the parts.
    pub path: String,
    /// A file or a folder.
    pub look: Look,
}

/// The outside. Paths are absolute.
pub trait Library {
    /// Looks an item up.
    fn find(&self, item: &ItemRef) -> Answer;

    /// The module that is registered under an id.
    fn module(&self, _id: &str) -> Registered {
        Registered::NoRegister
    }

    /// Whether a file may be started as a program.
    fn is_executable(&self, _path: &str) -> bool {
        false
    }

    /// Whether the machine has a program of this name.
    fn has_program(&self, _name: &str) -> bool {
        false
    }

    /// What lies at a path; links are followed.
    fn look(&self, _path: &str) -> Look {
        Look::Unknown
    }

    /// The bytes of a file, or why there are none.
    fn bytes(&self, _path: &str) -> Result<Vec<u8>, String> {
        Err("there are no files here".to_owned())
    }

    /// The text of a file, or why there is none.
    fn text(&self, path: &str) -> Result<String, String> {
        let bytes = self.bytes(path)?;
        String::from_utf8(bytes).map_err(|_| "it is no UTF-8 text".to_owned())
    }

    /// All that lies below a folder, sorted by path, a folder before what is in it; or why that cannot
    /// be said. Links are not followed.
    fn tree(&self, _folder: &str) -> Result<Vec<Entry>, String> {
        Err("there are no files here".to_owned())
    }
}

/// An outside with nothing in it.
#[derive(Clone, Copy, Debug)]
pub struct NoLibrary;

impl Library for NoLibrary {
    fn find(&self, _: &ItemRef) -> Answer {
        Answer::NoMarketplace
    }
}
