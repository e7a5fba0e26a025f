//! The specs, and a way to read them.

use std::collections::BTreeMap;

use pinnace_spec::diagnostic::{Diagnostic, Levels, Severity};
use pinnace_spec::job::{self, Dialect, Job, Outcome, Request};
use pinnace_spec::library::{Answer, Entry, ItemRef, Library, Look};
use pinnace_spec::source::Sources;

macro_rules! groups {
    ($folder:literal: $($name:literal)*) => {
        &[$(($name, include_str!(concat!($folder, "/", $name, ".txt")))),*]
    };
}

const GOOD: &[(&str, &str)] = groups!("good": "types" "inputs" "outputs" "environment" "code" "runsettings" "sweep" "v2" "commands");
const BAD: &[(&str, &str)] = groups!("bad": "names" "types" "ports" "commands" "environment" "files" "parallel" "sweep" "runsettings");

/// A spec with the files beside it and its problems.
#[derive(Debug, Default)]
pub(crate) struct Case {
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) problems: Vec<String>,
}

fn cases(groups: &[(&str, &str)]) -> Vec<Case> {
    let mut cases = Vec::new();
    for (group, text) in groups {
        let mut case: Option<Case> = None;
        let mut file: Option<String> = None;
        for line in text.lines() {
            if let Some(title) = line.strip_prefix("=== ") {
                cases.extend(case.take());
                case = Some(Case {
                    title: format!("{group}: {title}"),
                    ..Case::default()
                });
                file = None;
                continue;
            }
            let case = case.as_mut().expect("a title comes first");
            if let Some(path) = line.strip_prefix("+++ ") {
                file = Some(path.to_owned());
                case.files.insert(path.to_owned(), String::new());
            } else if let Some(problems) = line.strip_prefix("--- ") {
                case.problems = problems.split(' ').map(str::to_owned).collect();
            } else {
                let text = match &file {
                    Some(path) => case.files.get_mut(path).expect("the file"),
                    None => &mut case.text,
                };
                text.push_str(line);
                text.push('\n');
            }
        }
        cases.extend(case);
    }
    cases
}

pub(crate) fn good() -> Vec<Case> {
    cases(GOOD)
}

pub(crate) fn bad() -> Vec<Case> {
    cases(BAD)
}

/// The folder of all specs.
pub(crate) const FOLDER: &str = "/job";

impl Library for Case {
    fn find(&self, _: &ItemRef) -> Answer {
        Answer::NoMarketplace
    }

    fn look(&self, path: &str) -> Look {
        let Some(path) = path.strip_prefix(FOLDER) else {
            return Look::Missing;
        };
        let path = path.trim_start_matches('/');
        if let Some(text) = self.files.get(path) {
            return Look::File {
                size: text.len() as u64,
            };
        }
        let inside = format!("{path}/");
        let is_folder = path.is_empty() || self.files.keys().any(|file| file.starts_with(&inside));
        if is_folder {
            Look::Folder
        } else {
            Look::Missing
        }
    }

    fn bytes(&self, path: &str) -> Result<Vec<u8>, String> {
        let path = path
            .strip_prefix(FOLDER)
            .unwrap_or(path)
            .trim_start_matches('/');
        let text = self.files.get(path).ok_or("it is not there")?;
        Ok(text.clone().into_bytes())
    }

    fn tree(&self, folder: &str) -> Result<Vec<Entry>, String> {
        let folder = folder
            .strip_prefix(FOLDER)
            .unwrap_or(folder)
            .trim_start_matches('/');
        let prefix = if folder.is_empty() {
            String::new()
        } else {
            format!("{folder}/")
        };
        let mut found = BTreeMap::new();
        for (path, text) in &self.files {
            let Some(rest) = path.strip_prefix(&prefix) else {
                continue;
            };
            for (at, _) in rest.match_indices('/') {
                found.insert(rest[..at].to_owned(), Look::Folder);
            }
            let size = text.len() as u64;
            found.insert(rest.to_owned(), Look::File { size });
        }
        let entry = |(path, look)| Entry { path, look };
        Ok(found.into_iter().map(entry).collect())
    }
}

/// What came of a spec.
pub(crate) struct Read {
    pub(crate) sources: Sources,
    pub(crate) outcome: Outcome,
}

impl Read {
    /// The problems as the corpus writes them.
    pub(crate) fn problems(&self) -> Vec<String> {
        let line = |found: &Diagnostic| self.sources.place(found.span).line;
        let mut problems: Vec<String> = self
            .outcome
            .diagnostics
            .iter()
            .map(|found| format!("{}:{}", found.code.id, line(found)))
            .collect();
        problems.sort();
        problems
    }

    pub(crate) fn messages(&self) -> Vec<String> {
        let line = |found: &Diagnostic| self.sources.place(found.span).line;
        let all = self.outcome.diagnostics.iter();
        all.map(|found| format!("{}:{} {}", found.code.id, line(found), found.message))
            .collect()
    }

    pub(crate) fn errors(&self) -> Vec<&'static str> {
        let all = self.outcome.diagnostics.iter();
        all.filter(|found| found.severity == Severity::Error)
            .map(|found| found.code.id)
            .collect()
    }

    pub(crate) fn job(&self) -> &Job {
        self.outcome
            .job
            .as_ref()
            .unwrap_or_else(|| panic!("{:#?}", self.messages()))
    }
}

/// Reads a spec as the request says; what the request leaves open is as for `check`.
pub(crate) fn read_with(
    case: &Case,
    change: impl for<'a> FnOnce(Request<'a>) -> Request<'a>,
) -> Read {
    let sources = Sources::default();
    let source = sources.add("spec.yaml", case.text.as_str());
    let levels = Levels::default();
    let request = change(Request {
        folder: Some(FOLDER),
        here: Some("/here"),
        dialect: Some(Dialect::Component),
        ..Request::new(&levels)
    });
    let outcome = job::read(&sources, source, &request, case);
    Read { sources, outcome }
}

pub(crate) fn check(case: &Case) -> Read {
    read_with(case, |request| request)
}
