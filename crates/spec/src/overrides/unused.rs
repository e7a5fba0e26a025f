//! Rules and entries that had no effect in any document.

use super::Overrides;
use crate::diagnostic::{Diagnostic, codes};

/// Which rules and entries had an effect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Used {
    rules: Vec<bool>,
    entries: Vec<Vec<bool>>,
}

impl Used {
    pub(super) fn none(entries: impl Iterator<Item = usize>) -> Self {
        let entries: Vec<Vec<bool>> = entries.map(|count| vec![false; count]).collect();
        Used {
            rules: vec![false; entries.len()],
            entries,
        }
    }

    pub(super) fn rule(&mut self, rule: usize) {
        if let Some(used) = self.rules.get_mut(rule) {
            *used = true;
        }
    }

    pub(super) fn entry(&mut self, rule: usize, entry: usize) {
        let used = self
            .entries
            .get_mut(rule)
            .and_then(|entries| entries.get_mut(entry));
        if let Some(used) = used {
            *used = true;
        }
    }

    /// Says so of all, where it is not known.
    pub(super) fn all(&mut self) {
        self.rules.fill(true);
        self.entries
            .iter_mut()
            .for_each(|entries| entries.fill(true));
    }

    /// Takes over what had an effect in another document.
    pub fn add(&mut self, other: &Used) {
        if self.rules.is_empty() {
            *self = other.clone();
            return;
        }
        for (mine, theirs) in self.rules.iter_mut().zip(&other.rules) {
            *mine |= theirs;
        }
        let entries = self.entries.iter_mut().flatten();
        for (mine, theirs) in entries.zip(other.entries.iter().flatten()) {
            *mine |= theirs;
        }
    }
}

/// A warning for each rule that selected nothing, and each entry that fitted nothing.
pub fn unused(overrides: &Overrides, used: &Used) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (index, rule) in overrides.rules.iter().enumerate() {
        if !used.rules.get(index).copied().unwrap_or_default() {
            let message = format!("`{}` selects nothing", rule.path);
            let mut warning = Diagnostic::new(&codes::UNUSED_SELECTOR, rule.path_span, message);
            if rule.query.singular().is_some() {
                warning = warning.help("`$set` makes a value that is not there");
            }
            found.push(warning);
            continue;
        }
        let entries = used.entries.get(index);
        for (at, entry) in rule.entries.iter().enumerate() {
            let used = entries.and_then(|entries| entries.get(at)).copied();
            if !used.unwrap_or_default() {
                let message = format!("this fits no value of `{}`", rule.path);
                found.push(Diagnostic::new(&codes::UNUSED_ENTRY, entry.span, message));
            }
        }
    }
    found
}
