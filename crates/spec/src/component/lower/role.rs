//! The one role of a component.

use indexmap::IndexMap;
use pinnace_core::origin::Origin;
use pinnace_core::plan::{
    Code, Completion, DataKind, Image, Input, Location, Output, OutputMode, Register, Resources,
    Retry, Role, RolePlacement, SuccessfulExit,
};
use pinnace_core::text::Text;

use super::command::{input_target, output_target};
use super::settings::size_mb;
use super::{CODE, Lowering};
use crate::component::model::{Holds, Kind};
use crate::component::read::at;
use crate::component::{code, includes};
use crate::diagnostic::Diagnostics;
use crate::yaml::Node;
use crate::yaml::access::{integer, value};

impl Lowering<'_, '_> {
    pub(super) fn role(&mut self) -> Role {
        let instances = self.instances();
        let command = self.command();
        let env = self.variables();
        let lines = self.rank_variables();
        let before = vec![self.run_step(lines, 0)];
        let inputs = self.inputs();
        let mut outputs = self.outputs();
        self.failures_output(&mut outputs);
        let code = self.code();
        let workdir = code.as_ref().map(|_| CODE.to_owned());
        if workdir.is_some() {
            self.rule(Self::role_path("workdir"), "a command starts in its code");
        }
        let files = self.files();
        let python = self.python();
        self.rule(
            Self::role_path("retry.limit"),
            "a rank is not tried again alone",
        );
        self.rule(
            Self::role_path("completion.minFailed"),
            "one rank that fails fails the whole",
        );
        self.rule(
            Self::role_path("completion.minSucceeded"),
            "the whole succeeds when every rank has",
        );
        for leaf in ["sku", "pinnedCell", "affinityGroup"] {
            self.rule(
                Self::role_path(format_args!("placement.{leaf}")),
                "left to the scheduler",
            );
        }
        Role {
            instances,
            image: self.image(),
            resources: self.resources(),
            env,
            before,
            command,
            completion: Completion {
                min_failed: Some(1),
                min_succeeded: Some(instances),
            },
            retry: Retry { limit: 0 },
            placement: RolePlacement::default(),
            code,
            files,
            python,
            inputs,
            outputs,
            workdir,
            success: self.success(),
            ..Role::default()
        }
    }

    fn image(&mut self) -> Option<Image> {
        let root = self.component.root;
        let paths = [
            "runsettings.environment.docker.image",
            "runsettings.environment.image",
            "environment.docker.image",
            "environment.docker.baseImage",
            "environment.docker.base_image",
            "environment.image",
            "task.environment.image",
        ];
        let image = paths
            .iter()
            .find_map(|path| Some((*path, at(root, path)?)))
            .and_then(|(path, node)| Some((path, node, node.as_text()?)));
        match image {
            Some((path, node, uri)) => {
                self.trace.note(Self::role_path("image.uri"), |trace| {
                    trace.written(node, path)
                });
                self.rule(Self::role_path("image.auth"), "the image is public");
                Some(Image {
                    uri: Text::from(uri),
                    auth: None,
                })
            }
            None => {
                self.rule(Self::role_path("image"), "the spec names no image");
                None
            }
        }
    }

    fn resources(&mut self) -> Resources {
        const NO_LIMIT: &str = "a component asks for no amount, and gets no limit";
        for leaf in ["cpu", "memoryMB", "gpu", "infiniband"] {
            self.rule(Self::role_path(format_args!("resources.{leaf}")), NO_LIMIT);
        }
        let shm = self.settings.shm_size();
        let path = Self::role_path("resources.shmMB");
        let size = shm.and_then(|set| size_mb(set.node.as_text()?));
        match (shm, size) {
            (Some(set), Some(_)) => {
                self.trace
                    .note(path, |trace| trace.written(set.node, set.path));
            }
            _ => self.rule(path, NO_LIMIT),
        }
        Resources {
            shm_mb: size.unwrap_or(0),
            ..Resources::default()
        }
    }

    fn success(&mut self) -> SuccessfulExit {
        let node = value(self.component.root, "successful_return_code");
        if node.and_then(Node::as_text) != Some("ZeroOrGreater") {
            return SuccessfulExit::Zero;
        }
        self.trace.value(
            Self::role_path("success"),
            node,
            "successful_return_code",
            "only 0 is a success",
        );
        SuccessfulExit::ZeroOrGreater
    }

    fn inputs(&mut self) -> IndexMap<String, Input> {
        let component = self.component;
        let mut inputs = IndexMap::new();
        for input in component
            .inputs
            .iter()
            .filter(|input| input.holds == Holds::Data)
        {
            let name = input.name.text;
            let Some(location) = self.values.locations.get(name).cloned() else {
                continue;
            };
            let path = Self::role_path(format_args!("inputs.{name}"));
            let origin = self
                .values
                .origin(input, |node, path| self.trace.written(node, path));
            if let Some(origin) = origin {
                self.trace.note(format!("{path}.source"), |_| origin);
            }
            self.rule(format!("{path}.target"), "inputs lie below /mnt/input");
            let kind_node = value(input.node, "type");
            self.trace.value(
                format!("{path}.kind"),
                kind_node,
                format!("inputs.{name}.type"),
                "",
            );
            let mode_key = ["datastore_mode", "mode", "is_resource"]
                .into_iter()
                .find(|key| value(input.node, key).is_some());
            self.trace.value(
                format!("{path}.mode"),
                mode_key.and_then(|key| value(input.node, key)),
                format!("inputs.{name}.{}", mode_key.unwrap_or_default()),
                "data is mounted unless the input says otherwise",
            );
            let is_file =
                |word: &str| matches!(word, "AnyFile" | "uri_file" | "ZipFile" | "CsvFile");
            let kind = match &input.types[..] {
                [only] if is_file(only.text) => DataKind::File,
                _ => DataKind::Any,
            };
            inputs.insert(
                name.to_owned(),
                Input {
                    source: location,
                    target: input_target(name),
                    kind,
                    mode: self.input_mode(input),
                },
            );
        }
        inputs
    }

    fn outputs(&mut self) -> IndexMap<String, Output> {
        let component = self.component;
        let mut outputs = IndexMap::new();
        for output in &component.outputs {
            let name = output.name.text;
            let path = Self::role_path(format_args!("outputs.{name}"));
            self.rule(
                format!("{path}.target"),
                "outputs lie below /mnt/outputs/default",
            );
            self.trace.value(
                format!("{path}.kind"),
                value(output.node, "type"),
                format!("outputs.{name}.type"),
                "",
            );
            let mode_key = ["is_link_mode", "datastore_mode", "mode"]
                .into_iter()
                .find(|key| value(output.node, key).is_some());
            let word = ["datastore_mode", "mode"]
                .iter()
                .find_map(|key| value(output.node, key).and_then(Node::as_text));
            self.trace.value(
                format!("{path}.mode"),
                mode_key.and_then(|key| value(output.node, key)),
                format!("outputs.{name}.{}", mode_key.unwrap_or_default()),
                "data is mounted unless the output says otherwise",
            );
            let destination = self.destination(name, &path);
            let pointer = self.is(Kind::Hemera) && output.is_file() && !output.is_link;
            if pointer {
                self.rule(
                    format!("{path}.pointer"),
                    "Hemera writes the path of the real result into a small file",
                );
            }
            outputs.insert(
                name.to_owned(),
                Output {
                    target: output_target(name),
                    kind: if output.is_file() {
                        DataKind::File
                    } else {
                        DataKind::Folder
                    },
                    mode: match word {
                        _ if output.is_link => OutputMode::Link,
                        Some("upload") => OutputMode::Upload,
                        _ => OutputMode::Mount,
                    },
                    destination,
                    register: self.register(name, &path),
                    append: false,
                    pointer,
                },
            );
        }
        outputs
    }

    /// The dataset that an output becomes: by a flag, or else by the run settings.
    fn register(&mut self, name: &str, path: &str) -> Option<Register> {
        let settings = at(self.component.root, "runsettings.register_as");
        let written = settings.and_then(|node| value(node, name));
        let described = written.and_then(|node| value(node, "description"));
        let description = described.and_then(Node::as_text).map(str::to_owned);
        let settings_path = format!("runsettings.register_as.{name}");
        let register = match (self.values.registers.get(name).copied(), written) {
            (Some(binding), _) => {
                self.trace
                    .note(format!("{path}.register.name"), |_| binding.origin(None));
                binding.value_text()
            }
            (None, Some(node)) => {
                let node = value(node, "name").unwrap_or(node);
                self.trace.note(format!("{path}.register.name"), |trace| {
                    trace.written(node, &settings_path)
                });
                node.as_text()?
            }
            (None, None) => return None,
        };
        if let Some(node) = described {
            self.trace
                .note(format!("{path}.register.description"), |trace| {
                    trace.written(node, format_args!("{settings_path}.description"))
                });
        }
        Some(Register {
            name: register.to_owned(),
            description,
        })
    }

    fn destination(&mut self, name: &str, path: &str) -> Option<Location> {
        let path = format!("{path}.destination");
        match self.values.outputs.get(name) {
            Some((binding, location)) => {
                let (binding, location) = (*binding, location.clone());
                self.trace.note(path, |_| binding.origin(None));
                Some(location)
            }
            None => {
                self.rule(path, "kept with the job unless `--output` says where");
                None
            }
        }
    }

    /// The code: of the spec, or of the module that Hemera runs.
    fn code(&mut self) -> Option<Code> {
        if !self.runs_here() {
            return None;
        }
        if self.is(Kind::Hemera) {
            return self.module_code();
        }
        let folder = self.request.folder?;
        let component = self.component;
        let source = Location::parse(&includes::code_folder(component, folder), None).ok()?;
        let origin = match at(component.root, component.code_path) {
            Some(node) => self.trace.written(node, component.code_path),
            None => Origin::default_rule("the folder of the spec"),
        };
        self.trace.note(Self::role_path("code.source"), |_| origin);
        self.rule(Self::role_path("code.target"), "code lies in /mnt/scripts");
        for index in 0..code::IGNORE_FILES.len() {
            self.rule(
                Self::role_path(format_args!("code.ignore[{index}]")),
                "what Azure ML leaves out of a snapshot",
            );
        }
        // What is wrong with the includes was told by the check.
        let found = includes::includes(
            component,
            self.sources,
            self.request,
            self.library,
            &mut Diagnostics::default(),
        );
        let mut listed = Vec::new();
        for include in found {
            let Ok(location) = Location::parse(&include.path, None) else {
                continue;
            };
            let place = self.sources.place(include.span);
            let origin = Origin {
                cause: pinnace_core::origin::Cause::Written {
                    path: "additional_includes".to_owned(),
                },
                place: Some(place),
                via: Vec::new(),
            };
            self.trace.note(
                Self::role_path(format_args!("code.includes[{}]", listed.len())),
                |_| origin,
            );
            listed.push(location);
        }
        Some(Code {
            source,
            target: CODE.to_owned(),
            ignore: code::IGNORE_FILES
                .iter()
                .map(|name| (*name).to_owned())
                .collect(),
            includes: listed,
        })
    }

    /// The id of the code's snapshot, if its files can be looked at.
    pub(super) fn snapshot_id(&self) -> Option<String> {
        let folder = self
            .request
            .folder
            .filter(|_| self.runs_here() && !self.is(Kind::Hemera))?;
        let found = includes::includes(
            self.component,
            self.sources,
            self.request,
            self.library,
            &mut Diagnostics::default(),
        );
        code::snapshot_id(
            &includes::code_folder(self.component, folder),
            &found,
            self.library,
        )
    }

    /// The longest time that a run may take.
    pub(super) fn time_limit(&mut self) -> Option<u64> {
        let set = self.settings.timeout()?;
        let seconds = integer(set.node).and_then(|number| u64::try_from(number).ok())?;
        self.trace.note("timeLimitSeconds", |trace| {
            trace.written(set.node, set.path)
        });
        Some(seconds)
    }
}
