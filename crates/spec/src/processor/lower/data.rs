//! Code, inputs and outputs: where they lie and where a task finds them.

use indexmap::IndexMap;
use pinnace_core::origin::Origin;
use pinnace_core::plan::{
    Code, DataKind, Input, InputMode, Location, Output, OutputMode, Register, Scheme,
};

use super::place::Written;
use super::{CODE, INPUTS, Lowering, OUTPUTS, ROLE};
use crate::diagnostic::{Diagnostic, codes};
use crate::library::Look;
use crate::processor::model::Channel;
use crate::setting::Binding;

/// Which files of the code are left out of its snapshot; the first of these in it says so.
const IGNORE: [&str; 2] = [".paiignore", ".gitignore"];

/// Outputs that a job goes on writing where it stopped.
const KEPT: [&str; 2] = ["checkpoints", "tensorboard"];

impl Lowering<'_, '_> {
    pub(super) fn code(&mut self) -> Option<Code> {
        let name = self.processor.source_dir?;
        let node = self.field("source_dir")?;
        let written = Written {
            text: name.text.to_owned(),
            span: name.span,
            folder: self.request.folder.map(str::to_owned),
            origin: self.trace.written(node, "source_dir"),
        };
        let source = self.location(&written)?;
        if let Some(path) = source.local()
            && matches!(self.library.look(path), Look::File { .. })
        {
            let message = format!("`source_dir` is a folder, and `{}` is a file", name.text);
            self.out.push(
                Diagnostic::new(&codes::BAD_LOCATION, name.span, message)
                    .help("name the folder in which the file lies"),
            );
            return None;
        }
        if matches!(source.scheme(), Scheme::Http | Scheme::S3 | Scheme::Oss) {
            let message = format!(
                "code must lie on this machine, and `{}` does not",
                name.text
            );
            self.out.push(
                Diagnostic::new(&codes::BAD_LOCATION, name.span, message)
                    .help("copy it to a folder here, and name that folder"),
            );
            return None;
        }
        let origin = written.origin;
        self.trace
            .note(format_args!("roles.{ROLE}.code.source"), |_| origin);
        self.by_contract(
            format_args!("roles.{ROLE}.code.target"),
            "where PAI puts the code",
            None,
        );
        for index in 0..IGNORE.len() {
            self.by_contract(
                format_args!("roles.{ROLE}.code.ignore[{index}]"),
                "what these files list is left out of the snapshot",
                None,
            );
        }
        Some(Code {
            source,
            target: CODE.to_owned(),
            ignore: IGNORE.map(str::to_owned).to_vec(),
            includes: Vec::new(),
        })
    }

    pub(super) fn has_requirements(&self, code: &Code) -> bool {
        let Some(folder) = code.source.local() else {
            return true;
        };
        let look = self.library.look(&format!("{folder}/requirements.txt"));
        matches!(look, Look::File { .. })
    }

    pub(super) fn inputs(&mut self) -> IndexMap<String, Input> {
        let mut inputs = IndexMap::new();
        let flags = self.flags;
        for channel in &self.processor.inputs {
            let flag = flag_of(&flags.inputs, channel.name.text);
            if let Some(written) = self.written(channel, flag, "inputs") {
                self.input(channel.name.text, &written, &mut inputs);
            }
        }
        for flag in &flags.inputs {
            if !inputs.contains_key(flag.name_text()) && !self.names_input(flag) {
                let written = self.typed(flag, None);
                self.input(flag.name_text(), &written, &mut inputs);
            }
        }
        inputs
    }

    fn names_input(&self, flag: &Binding<'_>) -> bool {
        let named = |channel: &Channel<'_>| channel.name.text == flag.name_text();
        self.processor.inputs.iter().any(named)
    }

    fn input(&mut self, name: &str, written: &Written, inputs: &mut IndexMap<String, Input>) {
        let Some(source) = self.location(written) else {
            return;
        };
        let kind = self.kind(&source, &written.text);
        let target = match kind {
            DataKind::File => format!("{INPUTS}/{name}/{}", source.name()),
            _ => format!("{INPUTS}/{name}"),
        };
        let at = |leaf: &str| format!("roles.{ROLE}.inputs.{name}.{leaf}");
        self.trace.note(at("source"), |_| written.origin.clone());
        self.by_contract(at("target"), "where PAI puts an input of this name", None);
        self.by_contract(at("kind"), "what lies there", Some(written.origin.clone()));
        self.by_contract(at("mode"), "PAI mounts inputs read-only", None);
        inputs.insert(
            name.to_owned(),
            Input {
                source,
                target,
                kind,
                mode: InputMode::Mount,
            },
        );
    }

    /// A URL that does not end in `/` is a file, as PAI has it.
    fn kind(&self, source: &Location, written: &str) -> DataKind {
        match source.scheme() {
            Scheme::Local => match source.local().map(|path| self.library.look(path)) {
                Some(Look::File { .. }) => DataKind::File,
                _ => DataKind::Folder,
            },
            Scheme::Dataset | Scheme::Datastore => DataKind::Folder,
            Scheme::Http | Scheme::S3 | Scheme::Oss if written.trim_end().ends_with('/') => {
                DataKind::Folder
            }
            Scheme::Http | Scheme::S3 | Scheme::Oss => DataKind::File,
        }
    }

    pub(super) fn outputs(&mut self) -> IndexMap<String, Output> {
        let flags = self.flags;
        let mut outputs = IndexMap::new();
        for channel in &self.processor.outputs {
            let flag = flag_of(&flags.outputs, channel.name.text);
            if let Some(written) = self.written(channel, flag, "outputs") {
                self.output(channel.name.text, Some(&written), &mut outputs);
            }
        }
        for flag in &flags.outputs {
            if !outputs.contains_key(flag.name_text()) {
                let written = self.typed(flag, None);
                self.output(flag.name_text(), Some(&written), &mut outputs);
            }
        }
        for declared in &self.processor.output_channels {
            if !outputs.contains_key(declared.name.text) {
                let written = self.below_output_path(declared.name.text);
                self.output(declared.name.text, written.as_ref(), &mut outputs);
            }
        }
        self.register(&mut outputs);
        self.shared_destinations(&outputs);
        outputs
    }

    /// What one output brings to its place, another may write over.
    fn shared_destinations(&mut self, outputs: &IndexMap<String, Output>) {
        let mut seen: IndexMap<&str, &str> = IndexMap::new();
        for (name, output) in outputs {
            let Some(destination) = &output.destination else {
                continue;
            };
            let place = destination.as_str().trim_end_matches('/');
            let Some(first) = seen.insert(place, name) else {
                continue;
            };
            let channels = &self.processor.outputs;
            let channel = channels.iter().find(|channel| channel.name.text == name);
            let flag = flag_of(&self.flags.outputs, name);
            let span = flag
                .map(|flag| flag.value)
                .or_else(|| channel.map(|channel| channel.node.span));
            if let Some(span) = span {
                let message = format!("the outputs `{first}` and `{name}` go to one place");
                self.out.push(
                    Diagnostic::new(&codes::SHARED_DESTINATION, span, message)
                        .help("files of the same name replace each other; give each output a folder of its own"),
                );
            }
        }
    }

    /// Makes datasets of the outputs that flags name.
    fn register(&mut self, outputs: &mut IndexMap<String, Output>) {
        let flags = self.flags;
        for flag in &flags.registers {
            let (name, dataset) = (flag.name_text(), flag.value_text());
            let problem = match outputs.get_mut(name) {
                Some(output) if Register::is_name(dataset) => {
                    output.register = Some(Register {
                        name: dataset.to_owned(),
                        description: None,
                    });
                    let path = format!("roles.{ROLE}.outputs.{name}.register.name");
                    self.trace.note(path, |_| flag.origin(None));
                    continue;
                }
                Some(_) => {
                    format!("`{dataset}` is no name for a dataset: it has neither `:` nor `/`")
                }
                None => format!("the processor has no output `{name}`"),
            };
            self.out.push(
                Diagnostic::new(&codes::BAD_REGISTER, flag.value, problem)
                    .help("write `--register OUTPUT=DATASET` with the name of an output"),
            );
        }
    }

    /// Where an output goes that has no place of its own.
    fn below_output_path(&self, name: &str) -> Option<Written> {
        let node = self.field("output_path")?;
        let base = Location::parse(node.as_text()?, self.request.folder);
        let text = match base {
            Ok(base) => format!(
                "{}/{}/{name}",
                base.as_str().trim_end_matches('/'),
                Location::JOB
            ),
            Err(_) => node.as_text()?.to_owned(),
        };
        Some(Written {
            text,
            span: node.span,
            folder: None,
            origin: self.trace.written(node, "output_path"),
        })
    }

    fn output(
        &mut self,
        name: &str,
        written: Option<&Written>,
        outputs: &mut IndexMap<String, Output>,
    ) {
        let destination = match written {
            Some(written) => match self.destination(written) {
                Some(location) => Some(location),
                None => return,
            },
            None => None,
        };
        let append = KEPT.contains(&name)
            || self
                .processor
                .output_channels
                .iter()
                .any(|declared| declared.name.text == name && declared.appendable);
        let at = |leaf: &str| format!("roles.{ROLE}.outputs.{name}.{leaf}");
        self.by_contract(
            at("target"),
            "where PAI looks for an output of this name",
            None,
        );
        self.by_contract(at("kind"), "outputs of PAI are folders", None);
        self.by_contract(at("mode"), "PAI mounts outputs", None);
        self.trace.note(at("destination"), |_| match written {
            Some(written) => written.origin.clone(),
            None => Origin::default_rule("a folder that Pinnace keeps"),
        });
        if append {
            self.by_contract(at("append"), "what lies at its place already is kept", None);
        }
        outputs.insert(
            name.to_owned(),
            Output {
                target: format!("{OUTPUTS}/{name}"),
                kind: DataKind::Folder,
                mode: OutputMode::Mount,
                destination,
                register: None,
                append,
                pointer: false,
            },
        );
    }
}

fn flag_of<'f, 's>(flags: &'f [Binding<'s>], name: &str) -> Option<&'f Binding<'s>> {
    flags.iter().find(|flag| flag.name_text() == name)
}
