//! What happens around the command of a role: prerequisites and plugins as steps and mounts.

use std::collections::HashMap;

use indexmap::IndexMap;
use pinnace_core::origin::Origin;
use pinnace_core::plan::{Action, Event, Mount, OnFailure, Step};
use pinnace_core::text::Text;

use super::Lowering;
use crate::diagnostic::{Diagnostic, codes};
use crate::openpai::catalog::{Catalog, Id, Inherited};
use crate::openpai::model::{Kind, PluginEntry, Role};
use crate::openpai::plugins::{self, Plugin};
use crate::openpai::read::{self, PLUGINS_KEY};
use crate::source::Span;
use crate::template::{Lookup, Scopes, This};
use crate::yaml::Node;

/// How long the tasks wait for each other's SSH servers, as upstream documents it.
const SSH_BARRIER_MINUTES: u32 = 30;

/// What surrounds the command.
#[derive(Default)]
pub(super) struct Surroundings {
    pub(super) mounts: Vec<Mount>,
    pub(super) before: Vec<Step>,
    pub(super) after: Vec<Step>,
}

/// A part of the plan and the origins of its leaves, by their paths inside it.
type Traced<T> = (T, Vec<(String, Origin)>);

/// What one prerequisite or plugin brings.
#[derive(Default)]
pub(super) struct Part {
    steps: Vec<Traced<Step>>,
    mounts: Vec<(Traced<Mount>, Span)>,
}

/// Where a plugin finds its parameters.
struct Parameters<'p, 'd> {
    find: &'p dyn Fn(&str) -> Lookup<'d>,
    /// The path of the mapping that holds them.
    path: &'p str,
    /// Where to report that one is missing.
    at: Span,
}

/// A prerequisite as templates see it.
struct ThisPrerequisite<'c, 'd> {
    catalog: &'c Catalog<'d>,
    id: Id,
}

impl<'d> This<'d> for ThisPrerequisite<'_, 'd> {
    fn find(&self, key: &str) -> Lookup<'d> {
        let name = |id: Id| self.catalog.get(id).name.map_or("", |name| name.text);
        match self.catalog.lookup(self.id, key) {
            Inherited::Own(node) => Lookup::Own(node),
            Inherited::From(id, node) => Lookup::Inherited {
                node,
                from: name(id),
            },
            Inherited::Conflict(ids) => Lookup::Conflict(ids.into_iter().map(name).collect()),
            Inherited::Missing => Lookup::Missing,
        }
    }

    fn keys(&self) -> Vec<&'d str> {
        self.catalog.keys(self.id)
    }
}

impl<'d> Lowering<'_, 'd> {
    /// All that surrounds the command of a role: prerequisites, then plugins; what runs at the end
    /// goes in the opposite order.
    pub(super) fn steps(
        &mut self,
        role: &Role<'d>,
        scopes: &Scopes<'_, 'd>,
        plan_path: &str,
    ) -> Surroundings {
        let order = self.catalog.in_order(self.listed(role));
        let mut parts: Vec<Part> = Vec::new();
        for id in order {
            self.used[id] = true;
            if self.catalog.get(id).kind != Some(Kind::DockerImage) {
                parts.push(self.prerequisite_steps(id, scopes));
            }
        }
        let first = self
            .job
            .roles
            .first()
            .is_some_and(|first| first.name == role.name);
        for entry in &self.job.extras.plugins {
            let wanted = entry.roles.as_ref();
            if wanted.is_none_or(|roles| roles.iter().any(|name| name.text == role.name.text)) {
                parts.push(self.entry_steps(entry, scopes));
            }
        }
        parts.push(self.storages());
        let mut surroundings = Surroundings::default();
        self.place_mounts(&mut parts, plan_path, &mut surroundings);
        // TensorBoard serves the whole job from its first role.
        let here = |step: &Step| first || !matches!(step.action, Action::TensorBoard { .. });
        for (step, notes) in parts
            .iter_mut()
            .flat_map(|part| take(part, |event| event == Event::Start))
        {
            if here(&step) {
                self.note_all(
                    &format!("{plan_path}.before[{}]", surroundings.before.len()),
                    notes,
                );
                surroundings.before.push(step);
            }
        }
        for (step, notes) in parts
            .iter_mut()
            .rev()
            .flat_map(|part| take(part, |event| event != Event::Start))
        {
            self.note_all(
                &format!("{plan_path}.after[{}]", surroundings.after.len()),
                notes,
            );
            surroundings.after.push(step);
        }
        surroundings
    }

    fn note_all(&mut self, base: &str, notes: Vec<(String, Origin)>) {
        for (path, origin) in notes {
            self.trace.note(format_args!("{base}.{path}"), |_| origin);
        }
    }

    fn place_mounts(
        &mut self,
        parts: &mut [Part],
        plan_path: &str,
        surroundings: &mut Surroundings,
    ) {
        let mut targets: HashMap<String, (Mount, Span)> = HashMap::new();
        for ((mount, notes), span) in parts
            .iter_mut()
            .flat_map(|part| std::mem::take(&mut part.mounts))
        {
            let target = mount.target.render(|name| format!("<% $secrets.{name} %>"));
            if let Some((other, first)) = targets.get(&target) {
                if other.storage != mount.storage {
                    let message = format!("two storages are mounted at `{target}`");
                    self.out.push(
                        Diagnostic::new(&codes::MOUNT_CONFLICT, span, message)
                            .label("the second one")
                            .related(*first, "the first one")
                            .help("give one of them another mount point"),
                    );
                }
                continue;
            }
            targets.insert(target, (mount.clone(), span));
            self.note_all(
                &format!("{plan_path}.mounts[{}]", surroundings.mounts.len()),
                notes,
            );
            surroundings.mounts.push(mount);
        }
    }

    /// What a prerequisite brings.
    pub(super) fn prerequisite_steps(&mut self, id: Id, scopes: &Scopes<'_, 'd>) -> Part {
        let catalog = self.catalog;
        let prerequisite = catalog.get(id);
        let mut part = Part::default();
        let Some(plugin) = Plugin::of_prerequisite(prerequisite) else {
            if let Some(name) = prerequisite.plugin {
                self.out
                    .push(plugins::unknown(name, false, prerequisite.ignores_failure));
            }
            return part;
        };
        let this = ThisPrerequisite { catalog, id };
        let scopes = Scopes {
            this: Some(&this),
            ..*scopes
        };
        let at = prerequisite
            .name
            .map_or(prerequisite.node.span, |name| name.span);
        let parameters = Parameters {
            find: &|key| this.find(key),
            path: &prerequisite.path,
            at,
        };
        plugins::check_parameters(
            plugin,
            at,
            |key| found(this.find(key)),
            None,
            self.sources,
            self.out,
        );
        let maker = Maker {
            title: prerequisite.title(),
            node: prerequisite.node,
            name_key: "name",
            path: &prerequisite.path,
            ignores_failure: prerequisite.ignores_failure,
        };
        let callbacks = read::value(prerequisite.node, "callbacks");
        self.reject_mixed(prerequisite.node, callbacks);
        self.this_incomplete = catalog.is_incomplete(id);
        self.plugin_steps(plugin, &maker, &parameters, &scopes, &mut part);
        self.callback_steps(callbacks, &maker, &scopes, &mut part);
        self.this_incomplete = false;
        part
    }

    fn entry_steps(&mut self, entry: &PluginEntry<'d>, scopes: &Scopes<'_, 'd>) -> Part {
        let mut part = Part::default();
        let Some(name) = entry.plugin else {
            return part;
        };
        let Some(plugin) = Plugin::of_entry(name.text) else {
            self.out
                .push(plugins::unknown(name, true, entry.ignores_failure));
            return part;
        };
        let find = |key: &str| match entry.parameters.and_then(|node| read::value(node, key)) {
            Some(node) => Lookup::Own(node),
            None => Lookup::Missing,
        };
        let base = self.path(format_args!("extras[\"{PLUGINS_KEY}\"][{}]", entry.index));
        let path = self.path(format_args!("{base}.parameters"));
        let parameters = Parameters {
            find: &find,
            path: &path,
            at: name.span,
        };
        plugins::check_parameters(
            plugin,
            name.span,
            |key| found(find(key)),
            entry.parameters,
            self.sources,
            self.out,
        );
        let maker = Maker {
            title: name.text,
            node: entry.node,
            name_key: "plugin",
            path: &base,
            ignores_failure: entry.ignores_failure,
        };
        let callbacks = entry
            .parameters
            .and_then(|node| read::value(node, "callbacks"));
        if let Some(node) = entry.parameters {
            self.reject_mixed(node, callbacks);
        }
        self.plugin_steps(plugin, &maker, &parameters, scopes, &mut part);
        self.callback_steps(callbacks, &maker, scopes, &mut part);
        part
    }

    /// Upstream asserts that the two ways to give commands are not mixed.
    fn reject_mixed(&mut self, node: &'d Node<'d>, callbacks: Option<&'d Node<'d>>) {
        let old = ["preCommands", "postCommands"]
            .into_iter()
            .find_map(|key| node.get(key));
        if let (Some(callbacks), Some(old)) = (callbacks, old) {
            let message = format!("`callbacks` and `{}` cannot stand together", old.key.text);
            self.out.push(
                Diagnostic::new(&codes::MIXED_COMMANDS, old.key.span, message)
                    .related(callbacks.span, "the callbacks")
                    .help("write the commands as callbacks: `taskStarts` for preCommands, `taskSucceeds` for postCommands"),
            );
        }
    }

    fn callback_steps(
        &mut self,
        callbacks: Option<&'d Node<'d>>,
        maker: &Maker<'_, 'd>,
        scopes: &Scopes<'_, 'd>,
        part: &mut Part,
    ) {
        let holder = if maker.name_key == "name" {
            "callbacks"
        } else {
            "parameters.callbacks"
        };
        for (index, callback) in read::items(callbacks).iter().enumerate() {
            let written = read::value(callback, "event");
            let Some(event) = written.and_then(Node::as_text).and_then(event) else {
                continue;
            };
            let base = self.path(format_args!("{}{holder}[{index}]", maker.prefix()));
            let list = read::value(callback, "commands");
            let mut notes = Vec::new();
            let path = self.path(format_args!("{base}.commands"));
            let commands = self.texts(list, scopes, &path, "action.commands", &mut notes);
            if !self.building {
                continue;
            }
            let (mut step, mut more) = maker.step(self, event, Action::Shell { commands });
            if let Some(written) = written {
                self.keep(&mut more, "on", |lowering| {
                    lowering.trace.written(written, format!("{base}.event"))
                });
            }
            more.append(&mut notes);
            step.on = event;
            part.steps.push((step, more));
        }
    }

    fn plugin_steps(
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
                    let path = self.path(format_args!("{}.{key}", parameters.path));
                    let mut notes = Vec::new();
                    let commands =
                        self.texts(Some(list), scopes, &path, "action.commands", &mut notes);
                    if !self.building {
                        continue;
                    }
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

    fn ssh(
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
    fn storages(&mut self) -> Part {
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

    fn mount(
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
                for piece in name.pieces() {
                    match piece {
                        pinnace_core::text::Piece::Literal(literal) => text.push_literal(literal),
                        pinnace_core::text::Piece::Secret { secret } => {
                            text.push_secret(secret.clone());
                        }
                    }
                }
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

    /// Notes an origin if anybody wants to know.
    fn keep(
        &self,
        notes: &mut Vec<(String, Origin)>,
        path: &str,
        origin: impl FnOnce(&Self) -> Origin,
    ) {
        if self.building {
            notes.push((path.to_owned(), origin(self)));
        }
    }

    fn texts(
        &mut self,
        list: Option<&'d Node<'d>>,
        scopes: &Scopes<'_, 'd>,
        doc_path: &str,
        plan_path: &str,
        notes: &mut Vec<(String, Origin)>,
    ) -> Vec<Text> {
        let mut texts = Vec::new();
        for (index, node) in read::items(list).iter().enumerate() {
            let (text, origin) = self.render(node, scopes, format_args!("{doc_path}[{index}]"));
            if let Some(origin) = origin {
                notes.push((format!("{plan_path}[{index}]"), origin));
            }
            if self.building {
                texts.push(text);
            }
        }
        texts
    }

    fn listed_texts(
        &mut self,
        parameters: &Parameters<'_, 'd>,
        key: &str,
        scopes: &Scopes<'_, 'd>,
        plan_path: &str,
        notes: &mut Vec<(String, Origin)>,
    ) -> Vec<Text> {
        let path = self.path(format_args!("{}.{key}", parameters.path));
        self.texts(
            found((parameters.find)(key)),
            scopes,
            &path,
            plan_path,
            notes,
        )
    }

    fn text(
        &mut self,
        parameters: &Parameters<'_, 'd>,
        key: &str,
        scopes: &Scopes<'_, 'd>,
        plan_path: &str,
        notes: &mut Vec<(String, Origin)>,
    ) -> Option<Text> {
        let Some(node) = found((parameters.find)(key)) else {
            self.keep(notes, plan_path, |_| Origin::default_rule("not written"));
            return None;
        };
        let (text, origin) = self.render(node, scopes, format_args!("{}.{key}", parameters.path));
        notes.extend(origin.map(|origin| (plan_path.to_owned(), origin)));
        Some(text)
    }

    fn flag(
        &mut self,
        parameters: &Parameters<'_, 'd>,
        key: &str,
        scopes: &Scopes<'_, 'd>,
        plan_path: &str,
        notes: &mut Vec<(String, Origin)>,
    ) -> bool {
        let Some(node) = found((parameters.find)(key)) else {
            self.keep(notes, plan_path, |_| {
                Origin::default_rule("off unless it is asked for")
            });
            return false;
        };
        let text = self.text(parameters, key, scopes, plan_path, notes);
        node.as_bool()
            .unwrap_or_else(|| text.is_some_and(|text| text.as_literal() == Some("true")))
    }

    fn number(
        &mut self,
        parameters: &Parameters<'_, 'd>,
        key: &str,
        scopes: &Scopes<'_, 'd>,
        plan_path: &str,
        rule: &str,
        notes: &mut Vec<(String, Origin)>,
    ) -> Option<u32> {
        if found((parameters.find)(key)).is_none() {
            self.keep(notes, plan_path, |_| Origin::default_rule(rule));
            return None;
        }
        let text = self.text(parameters, key, scopes, plan_path, notes)?;
        text.as_literal().and_then(|text| text.parse().ok())
    }
}

/// Makes the steps of one prerequisite or plugin.
struct Maker<'m, 'd> {
    title: &'m str,
    node: &'d Node<'d>,
    /// The key that names it.
    name_key: &'static str,
    path: &'m str,
    ignores_failure: bool,
}

impl<'d> Maker<'_, 'd> {
    /// What stands before a key of it in a path.
    fn prefix(&self) -> String {
        if self.path.is_empty() {
            String::new()
        } else {
            format!("{}.", self.path)
        }
    }

    fn step(&self, lowering: &Lowering<'_, 'd>, on: Event, action: Action) -> Traced<Step> {
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

fn take(part: &mut Part, wanted: impl Fn(Event) -> bool) -> Vec<Traced<Step>> {
    let (taken, left) = std::mem::take(&mut part.steps)
        .into_iter()
        .partition(|(step, _)| wanted(step.on));
    part.steps = left;
    taken
}

#[allow(clippy::needless_pass_by_value)]
fn found(lookup: Lookup<'_>) -> Option<&Node<'_>> {
    match lookup {
        Lookup::Own(node) | Lookup::Inherited { node, .. } => Some(node),
        Lookup::Conflict(_) | Lookup::Missing => None,
    }
}

/// The moment that an event's name means; each has several spellings in OpenPAI's documents.
pub(crate) fn event(name: &str) -> Option<Event> {
    match name {
        "taskStarts" | "containerStart" | "containerStarts" => Some(Event::Start),
        "taskSucceeds" => Some(Event::Success),
        "taskFails" => Some(Event::Failure),
        "taskCompletes" | "containerExit" | "containerExits" => Some(Event::Always),
        _ => None,
    }
}
