//! What each plugin does: a step or a mount.

use indexmap::IndexMap;
use pinnace_core::origin::Origin;
use pinnace_core::plan::{Action, Event, Mount, OnFailure, Step};
use pinnace_core::text::Text;

use super::Lowering;
use super::parameters::{Parameters, found};
use super::steps::{Part, Traced};
use crate::diagnostic::{Diagnostic, codes};
use crate::openpai::plugins::Plugin;
use crate::openpai::read;
use crate::template::{Lookup, Scopes};
use crate::yaml::Node;

/// How long the tasks wait for each other's SSH servers, as upstream documents it.
const SSH_BARRIER_MINUTES: u32 = 30;

/// Makes the steps of one prerequisite or plugin.
pub(super) struct Maker<'m, 'd> {
    pub(super) title: &'m str,
    pub(super) node: &'d Node<'d>,
    /// The key that names it.
    pub(super) name_key: &'static str,
    pub(super) path: &'m str,
    pub(super) ignores_failure: bool,
}

impl<'d> Maker<'_, 'd> {
    /// What stands before a key of it in a path.
    pub(super) fn prefix(&self) -> String {
        if self.path.is_empty() {
            String::new()
        } else {
            format!("{}.", self.path)
        }
    }

    pub(super) fn step(
        &self,
        lowering: &Lowering<'_, 'd>,
        on: Event,
        action: Action,
    ) -> Traced<Step> {
        let mut notes = Vec::new();
        let written = |key: &str, rule: &str| match read::value(self.node, key) {
            Some(node) => lowering
                .trace
                .written(node, format_args!("{}{key}", self.prefix())),
            None => Origin::default_rule(rule),
        };
        lowering.keep(&mut notes, "name", |_| written(self.name_key, ""));
        lowering.keep(&mut notes, "on", |_| {
            Origin::default_rule("the plugin starts before the command")
        });
        lowering.keep(&mut notes, "action.do", |_| {
            written("plugin", "a prerequisite without `plugin` runs commands")
        });
        lowering.keep(&mut notes, "onFailure", |_| {
            written("failurePolicy", "a failing step fails its task")
        });
        let on_failure = if self.ignores_failure {
            OnFailure::Ignore
        } else {
            OnFailure::Fail
        };
        (
            Step {
                name: self.title.to_owned(),
                on,
                action,
                on_failure,
            },
            notes,
        )
    }
}

impl<'d> Lowering<'_, 'd> {
    pub(super) fn plugin_steps(
        &mut self,
        plugin: Plugin,
        maker: &Maker<'_, 'd>,
        parameters: &Parameters<'_, 'd>,
        scopes: &Scopes<'_, 'd>,
        part: &mut Part,
    ) {
        let mut notes = Vec::new();
        let action = match plugin {
            Plugin::Cmd => {
                for (key, event) in [
                    ("preCommands", Event::Start),
                    ("postCommands", Event::Success),
                ] {
                    let Some(list) = found((parameters.find)(key)) else {
                        continue;
                    };
                    if !self.building {
                        self.judge_all(Some(list), scopes);
                        continue;
                    }
                    let path = format!("{}.{key}", parameters.path);
                    let mut notes = Vec::new();
                    let commands =
                        self.texts(Some(list), scopes, &path, "action.commands", &mut notes);
                    let (step, mut all) = maker.step(self, event, Action::Shell { commands });
                    self.keep(&mut all, "on", |lowering| {
                        lowering.trace.written(list, &path)
                    });
                    all.append(&mut notes);
                    part.steps.push((step, all));
                }
                return;
            }
            Plugin::Ssh => self.ssh(parameters, scopes, &mut notes),
            Plugin::Git => {
                let repository = self.text(
                    parameters,
                    "repo_uri",
                    scopes,
                    "action.repository",
                    &mut notes,
                );
                let options =
                    self.listed_texts(parameters, "options", scopes, "action.options", &mut notes);
                let directory = self.text(
                    parameters,
                    "clone_dir",
                    scopes,
                    "action.directory",
                    &mut notes,
                );
                Action::GitClone {
                    repository: repository.unwrap_or_default(),
                    options,
                    directory,
                }
            }
            Plugin::TensorBoard => {
                let port = self.number(
                    parameters,
                    "port",
                    scopes,
                    "action.port",
                    "a free port",
                    &mut notes,
                );
                let mut logdir = IndexMap::new();
                if let Some(node) = found((parameters.find)("logdir")) {
                    for entry in read::entries(Some(node)) {
                        let path = self.path(format_args!(
                            "{}.logdir.{}",
                            parameters.path, entry.key.text
                        ));
                        let (text, origin) = self.render(&entry.value, scopes, &path);
                        if let Some(origin) = origin {
                            notes.push((format!("action.logdir.{}", entry.key.text), origin));
                        }
                        logdir.insert(entry.key.text.to_string(), text);
                    }
                }
                Action::TensorBoard { port, logdir }
            }
            Plugin::TeamwiseStorage => {
                if let Some(list) = found((parameters.find)("storageConfigNames")) {
                    for (index, node) in read::items(Some(list)).iter().enumerate() {
                        let path = self.path(format_args!(
                            "{}.storageConfigNames[{index}]",
                            parameters.path
                        ));
                        self.mount(maker, node, &path, None, scopes, part);
                    }
                }
                return;
            }
            Plugin::Storage => {
                let target = match (parameters.find)("mountPoint") {
                    Lookup::Own(node) | Lookup::Inherited { node, .. } => {
                        Some((node, format!("{}.mountPoint", parameters.path)))
                    }
                    _ => None,
                };
                if let Some(config) = found((parameters.find)("config")) {
                    self.mount(
                        maker,
                        config,
                        &format!("{}.config", parameters.path),
                        target,
                        scopes,
                        part,
                    );
                }
                return;
            }
        };
        if !self.building {
            return;
        }
        let (step, mut all) = maker.step(self, Event::Start, action);
        all.append(&mut notes);
        part.steps.push((step, all));
    }

    pub(super) fn ssh(
        &mut self,
        parameters: &Parameters<'_, 'd>,
        scopes: &Scopes<'_, 'd>,
        notes: &mut Vec<(String, Origin)>,
    ) -> Action {
        let asked = self.flag(parameters, "jobssh", scopes, "action.betweenTasks", notes);
        let gang = self.job.extras.gang_allocation();
        if asked && !gang {
            let at = found((parameters.find)("jobssh")).map_or(parameters.at, |node| node.span);
            let message = "`jobssh` does nothing without gang allocation";
            let mut diagnostic = Diagnostic::new(&codes::VOID_JOB_SSH, at, message)
                .help("tasks that start one by one cannot know each other; leave `gangAllocation` on, or `jobssh` off");
            if let Some(gang) = self.job.extras.gang {
                diagnostic = diagnostic.related(gang.span, "gang allocation is off here");
            }
            self.out.push(diagnostic);
        }
        let barrier = self.flag(parameters, "sshbarrier", scopes, "action.barrier", notes);
        let rule = "30 minutes unless the job says otherwise";
        let minutes = self.number(
            parameters,
            "sshbarrierTimeout",
            scopes,
            "action.barrierTimeoutMinutes",
            rule,
            notes,
        );
        let mut public_keys =
            self.listed_texts(parameters, "publicKeys", scopes, "action.publicKeys", notes);
        if let Some(user) = found((parameters.find)("userssh"))
            && let Some(key) = read::value(user, "value")
                .filter(|key| key.as_text().is_some_and(|text| !text.is_empty()))
        {
            let path = self.path(format_args!("{}.userssh.value", parameters.path));
            let (text, origin) = self.render(key, scopes, &path);
            if let Some(origin) = origin {
                notes.push((format!("action.publicKeys[{}]", public_keys.len()), origin));
            }
            public_keys.push(text);
        }
        Action::Ssh {
            between_tasks: asked && gang,
            public_keys,
            barrier,
            barrier_timeout_minutes: minutes.unwrap_or(SSH_BARRIER_MINUTES),
        }
    }

    /// `extras.storages`: for every role.
    pub(super) fn storages(&mut self) -> Part {
        let mut part = Part::default();
        let scopes = self.job_scopes();
        for (index, storage) in read::items(self.job.extras.storages).iter().enumerate() {
            let target = read::value(storage, "mountPath").filter(|node| node.as_text().is_some());
            let base = format!("extras.storages[{index}]");
            let target = target.map(|node| (node, format!("{base}.mountPath")));
            if let Some(name) = read::value(storage, "name") {
                let maker = Maker {
                    title: "storages",
                    node: storage,
                    name_key: "name",
                    path: &base,
                    ignores_failure: false,
                };
                self.mount(
                    &maker,
                    name,
                    &format!("{base}.name"),
                    target,
                    &scopes,
                    &mut part,
                );
            }
        }
        part
    }

    pub(super) fn mount(
        &mut self,
        maker: &Maker<'_, 'd>,
        storage: &'d Node<'d>,
        storage_path: &str,
        target: Option<(&'d Node<'d>, String)>,
        scopes: &Scopes<'_, 'd>,
        part: &mut Part,
    ) {
        let (name, storage_origin) = self.render(storage, scopes, storage_path);
        let (text, target_origin) = match &target {
            Some((node, path)) => {
                let (text, origin) = self.render(node, scopes, path);
                let absolute = |text: &str| text.starts_with('/') || text.starts_with("<%");
                if !node.as_text().is_some_and(absolute) {
                    let message = "a mount point is an absolute path";
                    self.out.push(
                        Diagnostic::new(&codes::BAD_MOUNT_POINT, node.span, message)
                            .label("does not begin with `/`")
                            .help(
                                "write where the task shall see the storage, such as `/mnt/data`",
                            ),
                    );
                }
                (text, origin)
            }
            None => {
                let mut text = Text::from("/mnt/");
                text.append(&name);
                let rule = "`/mnt/` and the storage's name";
                (
                    text,
                    storage_origin.is_some().then(|| Origin::default_rule(rule)),
                )
            }
        };
        if !self.building {
            // Without a plan the texts are empty; the written ones serve to find conflicts.
            let raw = |node: &Node<'_>| Text::from(node.as_text().unwrap_or_default());
            let place = target.as_ref().map_or_else(
                || Text::from(format!("/mnt/{}", storage.as_text().unwrap_or_default())),
                |(node, _)| raw(node),
            );
            let span = target.map_or(storage.span, |(node, _)| node.span);
            part.mounts.push((
                (
                    Mount {
                        name: String::new(),
                        storage: raw(storage),
                        target: place,
                    },
                    Vec::new(),
                ),
                span,
            ));
            return;
        }
        let asked = read::value(maker.node, maker.name_key).map(|node| {
            self.trace
                .written(node, format_args!("{}{}", maker.prefix(), maker.name_key))
        });
        let notes = [
            ("name", asked),
            ("storage", storage_origin),
            ("target", target_origin),
        ];
        let notes = notes
            .into_iter()
            .filter_map(|(path, origin)| Some((path.to_owned(), origin?)));
        let span = target.map_or(storage.span, |(node, _)| node.span);
        part.mounts.push((
            (
                Mount {
                    name: maker.title.to_owned(),
                    storage: name,
                    target: text,
                },
                notes.collect(),
            ),
            span,
        ));
    }
}
