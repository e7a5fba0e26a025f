//! All problems of a run: collected in any order, shown in file order, each once.

use std::collections::{HashMap, HashSet};

use super::{Allowed, Code, Diagnostic, Levels, Severity, codes};

/// So many problems are kept; a hostile file may have millions.
const MOST: usize = 5_000;

/// The problems of one run.
#[derive(Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    hidden: Counts,
}

/// How many problems there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Those that make a file unusable.
    pub errors: usize,
    /// The others.
    pub warnings: usize,
}

impl Counts {
    /// Counts problems.
    pub fn of<'a>(diagnostics: impl IntoIterator<Item = &'a Diagnostic>) -> Self {
        let mut counts = Counts::default();
        for diagnostic in diagnostics {
            counts.add(diagnostic.severity);
        }
        counts
    }

    fn add(&mut self, severity: Severity) {
        match severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
        }
    }

    /// All of them.
    pub fn total(self) -> usize {
        self.errors + self.warnings
    }
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.errors += other.errors;
        self.warnings += other.warnings;
    }
}

impl Diagnostics {
    /// Adds one. Beyond some thousands they are only counted, and an error takes the place of a
    /// warning, so that no error is ever hidden behind warnings alone.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.list.len() < MOST {
            self.list.push(diagnostic);
            return;
        }
        self.hidden.add(diagnostic.severity);
        if diagnostic.severity == Severity::Error && self.hidden.errors == 1 {
            let warning = |kept: &Diagnostic| kept.severity == Severity::Warning;
            if let Some(at) = self.list.iter().rposition(warning) {
                self.list[at] = diagnostic;
                self.hidden.errors = 0;
                self.hidden.warnings += 1;
            }
        }
    }

    /// Takes over those of another run.
    pub fn extend(&mut self, other: Diagnostics) {
        self.list.extend(other.list);
        self.hidden += other.hidden;
    }

    /// Whether any of them is an error.
    pub fn has_errors(&self) -> bool {
        self.hidden.errors > 0
            || self
                .list
                .iter()
                .any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether further ones will only be counted: a reader may then stop to look for more.
    pub fn is_full(&self) -> bool {
        self.list.len() >= MOST
    }

    /// Whether further ones would only be counted, and there is an error: whoever looks for errors
    /// may stop then.
    pub fn has_enough(&self) -> bool {
        self.is_full() && self.has_errors()
    }

    /// As they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// Drops the warnings that the user allows, and makes errors of those that the user denies.
    pub fn apply(&mut self, levels: &Levels, allowed: &Allowed) {
        self.list.retain_mut(|diagnostic| {
            if diagnostic.severity == Severity::Error {
                return true;
            }
            if allowed.covers(diagnostic) {
                return false;
            }
            match levels.of(diagnostic.code) {
                Some(severity) => diagnostic.severity = severity,
                None => return false,
            }
            true
        });
    }

    /// In file order, each once, and without errors that only follow from another at the same place.
    pub fn into_vec(self) -> Vec<Diagnostic> {
        if self.list.is_empty() {
            return self.list;
        }
        let mut seen = HashSet::new();
        let mut first_of_family = HashMap::new();
        let keep: Vec<bool> = self
            .list
            .iter()
            .map(|diagnostic| {
                let Diagnostic { code, span, .. } = diagnostic;
                if !seen.insert((code.id, *span, diagnostic.message.as_str())) {
                    return false;
                }
                if diagnostic.severity == Severity::Warning || !judges_its_place(code) {
                    return true;
                }
                // Two messages of one code at one place are two problems; another code of the
                // same family only repeats the first in other words.
                let first = *first_of_family
                    .entry((family(code), *span))
                    .or_insert(code.id);
                first == code.id
            })
            .collect();
        let (is_full, has_errors) = (self.is_full(), self.has_errors());
        let mut keep = keep.into_iter();
        let mut list = self.list;
        list.retain(|_| keep.next().unwrap_or(true));
        list.sort_by_key(|diagnostic| (diagnostic.span.source, diagnostic.span.start));
        if is_full && let Some(last) = list.last() {
            let message = format!("only {MOST} problems are shown");
            let mut more = Diagnostic::new(&codes::TOO_MANY_PROBLEMS, last.span, message)
                .label("the last one shown")
                .help("mend these and check again");
            if !has_errors {
                more.severity = Severity::Warning;
            }
            list.push(more);
        }
        list
    }
}

/// The first digits of a code's id: what it is about.
fn family(code: &Code) -> &'static str {
    code.id.get(..3).unwrap_or(code.id)
}

/// Whether the problem lies in the very text of its span. A missing key is not there: it is shown
/// at the mapping that lacks it, and hides nothing that is wrong with the mapping itself.
fn judges_its_place(code: &Code) -> bool {
    code.id != codes::MISSING_KEY.id
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{SourceId, Span};

    fn at(start: usize, end: usize) -> Span {
        Span::new(SourceId::default(), start, end)
    }

    fn ids(diagnostics: Diagnostics) -> Vec<(&'static str, u32)> {
        diagnostics
            .into_vec()
            .iter()
            .map(|diagnostic| (diagnostic.code.id, diagnostic.span.start))
            .collect()
    }

    #[test]
    fn problems_come_in_file_order() {
        let mut diagnostics = Diagnostics::default();
        diagnostics.push(Diagnostic::new(&codes::UNKNOWN_KEY, at(9, 12), "b"));
        diagnostics.push(Diagnostic::new(&codes::WRONG_TYPE, at(2, 3), "a"));
        assert_eq!(ids(diagnostics), [("P0203", 2), ("P0201", 9)]);
    }

    #[test]
    fn the_same_problem_is_shown_once() {
        let mut diagnostics = Diagnostics::default();
        diagnostics.push(Diagnostic::new(&codes::UNKNOWN_KEY, at(2, 3), "a"));
        diagnostics.push(Diagnostic::new(&codes::UNKNOWN_KEY, at(2, 3), "a"));
        assert_eq!(ids(diagnostics), [("P0201", 2)]);
    }

    #[test]
    fn an_error_that_follows_from_another_is_dropped() {
        let mut diagnostics = Diagnostics::default();
        diagnostics.push(Diagnostic::new(
            &codes::WRONG_TYPE,
            at(2, 3),
            "not a number",
        ));
        diagnostics.push(Diagnostic::new(&codes::OUT_OF_RANGE, at(2, 3), "too small"));
        diagnostics.push(Diagnostic::new(&codes::IGNORED_KEY, at(2, 3), "a warning"));
        assert_eq!(ids(diagnostics), [("P0203", 2), ("P0208", 2)]);
    }

    #[test]
    fn each_missing_key_of_a_mapping_is_shown() {
        let mut diagnostics = Diagnostics::default();
        diagnostics.push(Diagnostic::new(&codes::TOO_FEW, at(2, 3), "too few"));
        diagnostics.push(Diagnostic::new(&codes::MISSING_KEY, at(2, 3), "no cpu"));
        diagnostics.push(Diagnostic::new(&codes::MISSING_KEY, at(2, 3), "no gpu"));
        assert_eq!(ids(diagnostics), [("P0207", 2), ("P0202", 2), ("P0202", 2)]);
    }

    #[test]
    fn a_flood_is_counted() {
        let mut diagnostics = Diagnostics::default();
        for index in 0..MOST {
            diagnostics.push(Diagnostic::new(&codes::IGNORED_KEY, at(index, index), ""));
        }
        assert!(diagnostics.is_full() && !diagnostics.has_errors());
        diagnostics.push(Diagnostic::new(&codes::UNKNOWN_KEY, at(0, 1), ""));
        assert!(diagnostics.has_errors());
        assert_eq!(diagnostics.hidden.warnings, 1);
        let shown = diagnostics.into_vec();
        assert!(
            shown
                .iter()
                .any(|diagnostic| diagnostic.code == &codes::UNKNOWN_KEY)
        );
        assert_eq!(shown[MOST].code, &codes::TOO_MANY_PROBLEMS);
    }
}
