//! The packages that are installed for the task.

use indexmap::IndexMap;
use pinnace_core::origin::{Cause, Origin};
use pinnace_core::plan::PythonEnvironment;
use pinnace_core::text::Text;

use super::{CODE, Lowering};
use crate::component::packages;
use crate::job::Packages;
use crate::overrides::Overrides;

impl Lowering<'_, '_> {
    /// The file of packages as the rules of a tenant change it, which takes the place of the one in the code.
    pub(super) fn package_file(&mut self, files: &mut IndexMap<String, Text>) {
        let rules = self.request.overrides.map(|overrides| overrides.rules);
        let Some((rule, span)) = rules.and_then(Overrides::feed_rule) else {
            return;
        };
        if !self.runs_here() {
            return;
        }
        let found = packages::of(self.component, self.request, self.sources, self.library);
        let Some(file) = found.file else {
            return;
        };
        let (Some(inner), Some(changed)) = (file.in_code, file.without_feeds) else {
            return;
        };
        let mut text = Text::default();
        let origin = Origin {
            cause: Cause::Override {
                rule: rule.to_owned(),
            },
            place: Some(self.sources.place(span)),
            via: Vec::new(),
        };
        for line in changed.split_inclusive('\n') {
            let line = self.line(line, || origin.clone());
            text.append(&line);
        }
        let path = format!("{CODE}/{inner}");
        self.trace
            .note(Self::role_path(format_args!("files.{path}")), |_| origin);
        files.insert(path, text);
    }

    /// A line for pip. What logs in to a feed becomes a secret.
    fn line(&mut self, line: &str, origin: impl FnOnce() -> Origin) -> Text {
        let (text, secret) = packages::without_login(line, self.secrets.len() + 1);
        if let Some(secret) = secret {
            let path = format!("secrets[{}]", self.secrets.len());
            self.trace.note(path, |_| origin());
            self.secrets.push(secret);
        }
        text
    }

    /// The packages of pip, if they are wanted.
    pub(super) fn python(&mut self) -> Option<PythonEnvironment> {
        if self.request.packages != Packages::Installed || !self.runs_here() {
            return None;
        }
        let found = packages::of(self.component, self.request, self.sources, self.library);
        let mut requirements = Vec::new();
        for line in &found.pip {
            let origin = Origin {
                cause: Cause::Written {
                    path: line.path.clone(),
                },
                place: Some(self.sources.place(line.span)),
                via: Vec::new(),
            };
            let path = Self::role_path(format_args!("python.requirements[{}]", requirements.len()));
            self.trace.note(path, |_| origin.clone());
            let text = self.line(&line.text, || origin);
            requirements.push(text);
        }
        (!requirements.is_empty()).then_some(PythonEnvironment {
            requirements,
            file: None,
        })
    }
}
