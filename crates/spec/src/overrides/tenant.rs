//! Which tenant is meant.

/// The tenant that a job is for, by all that is known of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tenant {
    /// Its id, usually a GUID.
    pub id: Option<String>,
    /// Names under which rules may stand: of its workspace configurations, or of the workspace.
    pub names: Vec<String>,
}

impl Tenant {
    /// Known by an id or a name, as a person would type it.
    pub fn called(word: impl Into<String>) -> Self {
        let word = word.into();
        Tenant {
            id: Some(word.clone()),
            names: vec![word],
        }
    }

    /// Whether nothing is known.
    pub fn is_unknown(&self) -> bool {
        self.id.is_none() && self.names.is_empty()
    }

    /// Whether rules under this key are for it.
    pub(super) fn is_meant_by(&self, key: &str) -> bool {
        let by_id = self
            .id
            .as_deref()
            .is_some_and(|id| id.eq_ignore_ascii_case(key));
        by_id || self.names.iter().any(|name| name == key)
    }
}

impl std::fmt::Display for Tenant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.names.first();
        match (&self.id, name) {
            (Some(id), Some(name)) if id != name => write!(f, "{id} ({name})"),
            (Some(word), _) | (None, Some(word)) => f.write_str(word),
            (None, None) => f.write_str("unknown"),
        }
    }
}
