//! What a Hemera component has and no other: a module, and a cluster with a queue.

use pinnace_core::origin::Origin;
use pinnace_core::plan::{Code, Location, Module};
use pinnace_core::text::Text;

use super::{CODE, Lowering};
use crate::component::command::{Placeholder, line_of};
use crate::component::{entry, hemera};

impl Lowering<'_, '_> {
    /// The module that the component stands for.
    pub(super) fn module(&mut self) -> Option<Module> {
        let (node, id) = hemera::id(self.component)?;
        self.trace
            .note("module.id", |trace| trace.written(node, "hemera.ref_id"));
        let digest = hemera::module(self.component, self.library).map(|module| module.digest);
        if digest.is_some() {
            self.rule("module.digest", "as the module was when it was registered");
        }
        Some(Module {
            id: id.to_owned(),
            digest,
        })
    }

    /// The module's files.
    pub(super) fn module_code(&mut self) -> Option<Code> {
        let (node, _) = hemera::id(self.component)?;
        let module = hemera::module(self.component, self.library)?;
        let source = Location::parse(&module.folder, None).ok()?;
        self.trace.note(Self::role_path("code.source"), |trace| {
            trace.written(node, "hemera.ref_id")
        });
        self.rule(Self::role_path("code.target"), "code lies in /mnt/scripts");
        Some(Code {
            source,
            target: CODE.to_owned(),
            ignore: Vec::new(),
            includes: Vec::new(),
        })
    }

    /// The line that starts the module's program. Hemera has no shell of ours: its words are arguments and nothing
    /// more. While the module is not registered, the line is what the spec says.
    pub(super) fn module_line(&mut self) -> Option<(Text, Origin)> {
        let Some(start) = self.module_start() else {
            return self.own_line();
        };
        let (rendered, origin) = self.rendered(0)?;
        let (words, skip) = start;
        let words: Vec<Text> = words.into_iter().map(Text::from).collect();
        let line = line_of(words.iter().chain(rendered.words.iter().skip(skip)));
        Some((line, origin))
    }

    /// How the module's program is started, and how many words of the command that replaces.
    fn module_start(&self) -> Option<(Vec<String>, usize)> {
        let module = hemera::module(self.component, self.library)?;
        let (_, template) = self.templates.first()?;
        let (word, place) = hemera::program(template)?;
        let words = entry::start(word.written, &module.folder, self.library).ok()?;
        Some((words, place + 1))
    }

    /// The cluster and the queue that the command names.
    pub(super) fn cluster_and_queue(&mut self) -> (Option<String>, Option<String>) {
        if hemera::id(self.component).is_none() {
            return (None, None);
        }
        let (Some((rendered, _)), Some((line, template))) =
            (self.rendered(0), self.templates.first())
        else {
            return (None, None);
        };
        let cluster = hemera::cluster(&rendered.words);
        let queue = hemera::queue(&rendered.words);
        let found = [
            ("cluster", &cluster, hemera::cluster_range(template)),
            ("queue", &queue, hemera::queue_range(template)),
        ];
        for (leaf, found, range) in found {
            if found.is_none() {
                continue;
            }
            let range = range.unwrap_or_default();
            let inside = |placeholder: &&Placeholder<'_>| range.contains(&placeholder.range.start);
            let mut origin = self.trace.written(line.node, line.path);
            origin
                .via
                .extend(self.used(template.references().filter(inside)));
            self.trace
                .note(format_args!("placement.{leaf}"), |_| origin);
        }
        (cluster, queue)
    }
}
