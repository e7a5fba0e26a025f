//! What a job's own texts and fields name, as far as it is seen on the way to the plan. A lint need not look for it again.

use crate::template::{Scope, Scopes, Template};

/// The parameters, secrets and prerequisites that are surely named.
#[derive(Clone, Copy, Debug, Default)]
pub struct Named {
    /// The keys of `parameters`.
    pub parameters: Places,
    /// The keys of `secrets`.
    pub secrets: Places,
    /// The prerequisites, the job's own first.
    pub prerequisites: Places,
}

impl Named {
    /// Notes a key of a scope, by its place.
    #[inline]
    pub fn add(&mut self, scope: Scope, place: usize) {
        match scope {
            Scope::Parameters => self.parameters.add(place),
            Scope::Secrets => self.secrets.add(place),
            _ => {}
        }
    }

    /// Notes all that the tags of a template name.
    pub fn add_tags(&mut self, template: &Template<'_>, scopes: &Scopes<'_, '_>) {
        for tag in template.tags() {
            if let (Some(scope), Some(first)) = (tag.scope, tag.path.first())
                && let Some(place) = scopes.node(scope).and_then(|node| node.position(first.key))
            {
                self.add(scope, place);
            }
        }
    }
}

/// Some of the first places of a list: a bit for each.
#[derive(Clone, Copy, Debug, Default)]
pub struct Places(u64);

impl Places {
    /// Adds a place, unless it is too far behind.
    #[inline]
    pub fn add(&mut self, place: usize) {
        if place < u64::BITS as usize {
            self.0 |= 1 << place;
        }
    }

    /// Whether all places of a list of some length are surely there.
    pub fn has_all(self, length: usize) -> bool {
        self.0.trailing_ones() as usize >= length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_all_there_once_each_was_added() {
        let mut places = Places::default();
        assert!(places.has_all(0) && !places.has_all(1));
        (1..100).for_each(|place| places.add(place));
        assert!(!places.has_all(64));
        places.add(0);
        assert!(places.has_all(1) && places.has_all(64) && !places.has_all(65));
    }
}
