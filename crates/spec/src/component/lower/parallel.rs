//! A parallel component: every task runs the same driver, which shares the files of the inputs out and
//! calls the entry script with them.

use indexmap::IndexMap;
use pinnace_core::origin::Origin;
use pinnace_core::plan::{DataKind, Output, OutputMode};
use pinnace_core::script;
use pinnace_core::text::Text;

use super::command::{input_target, output_target, path_text};
use super::{CODE, Lowering};
use crate::component::check::sections::data_name;
use crate::component::command::Scope;
use crate::component::model::Kind;
use crate::component::read::at;
use crate::yaml::Node;
use crate::yaml::access::items;

/// The script that shares files out; documented in `docs/component.md`.
pub const DRIVER: &str = include_str!("parallel.py");

/// Where a task finds it: beside the code, so that the runner knows the place.
fn driver_path() -> String {
    format!("{CODE}/.pinnace_parallel.py")
}

impl Lowering<'_, '_> {
    /// The driver, if the component needs it, and files that the rules of a tenant change.
    pub(super) fn files(&mut self) -> IndexMap<String, Text> {
        let mut files = IndexMap::new();
        self.package_file(&mut files);
        if self.is(Kind::Parallel) {
            let path = driver_path();
            self.rule(
                Self::role_path(format_args!("files.{path}")),
                "the script that shares files out comes with Pinnace",
            );
            files.insert(path, Text::from(DRIVER));
        }
        files
    }

    /// What the output with the files that failed is called.
    fn failures_name(&self) -> String {
        let mut name = "failed_files".to_owned();
        while self.component.output(&name).is_some() {
            name.push('_');
        }
        name
    }

    /// A folder that all tasks share: what has failed is counted over all of them, and the list is kept with the job.
    pub(super) fn failures_output(&mut self, outputs: &mut IndexMap<String, Output>) {
        if !self.is(Kind::Parallel) {
            return;
        }
        let name = self.failures_name();
        for leaf in ["target", "kind", "mode", "destination"] {
            self.rule(
                Self::role_path(format_args!("outputs.{name}.{leaf}")),
                "where the tasks of a parallel component count the files that failed",
            );
        }
        outputs.insert(
            name.clone(),
            Output {
                target: output_target(&name),
                kind: DataKind::Folder,
                mode: OutputMode::Mount,
                destination: None,
                register: None,
                append: false,
                pointer: false,
            },
        );
    }

    /// The call of the driver.
    pub(super) fn parallel_line(&mut self) -> (Text, Origin) {
        let root = self.component.root;
        let mut line = Text::from("python3 ");
        line.append(&path_text(&driver_path()));
        let entry = ["parallel.entry", "task.entry_script"]
            .iter()
            .find_map(|path| Some((*path, at(root, path)?)));
        let mut origin = Origin::default_rule("the entry script");
        if let Some((path, node)) = entry {
            line.push_literal(" --entry ");
            line.push_literal(&script::word(node.as_text().unwrap_or_default()));
            origin = self.trace.written(node, path);
        }
        for path in ["parallel.input_data", "input_data"] {
            let Some(node) = at(root, path) else {
                continue;
            };
            for name in names(node, Scope::Inputs) {
                line.push_literal(" --input ");
                line.push_path(input_target(name));
            }
            origin.via.push(self.trace.written(node, path));
        }
        for path in ["parallel.output_data", "task.append_row_to"] {
            let Some(node) = at(root, path) else {
                continue;
            };
            for name in names(node, Scope::Outputs) {
                line.push_literal(" --output ");
                line.push_path(output_target(name));
            }
            origin.via.push(self.trace.written(node, path));
        }
        let number = |set: Option<super::settings::Set<'_>>, default: i64| {
            set.and_then(|set| set.node.as_text()?.parse().ok())
                .unwrap_or(default)
        };
        let numbers = [
            ("--batch", number(self.settings.mini_batch_size(), 1)),
            ("--tries", self.settings.tries()),
            ("--timeout", number(self.settings.invocation_timeout(), 60)),
            ("--failures", number(self.settings.error_threshold(), -1)),
            (
                "--failed-batches",
                number(self.settings.batch_error_threshold(), -1),
            ),
        ];
        for (flag, number) in numbers {
            line.push_literal(&format!(" {flag} {number}"));
        }
        line.push_literal(" --count ");
        line.push_path(output_target(&self.failures_name()));
        if let Some((rendered, arguments)) = self.rendered(0) {
            line.push_literal(" -- ");
            line.append(&rendered.line);
            origin.via.push(arguments);
        }
        (line, origin)
    }
}

fn names<'d>(node: &'d Node<'d>, scope: Scope) -> Vec<&'d str> {
    let texts = match node.as_list() {
        Some(_) => items(Some(node)).iter().filter_map(Node::as_text).collect(),
        None => node.as_text().into_iter().collect::<Vec<_>>(),
    };
    texts
        .into_iter()
        .filter_map(|text| data_name(text, scope))
        .collect()
}
