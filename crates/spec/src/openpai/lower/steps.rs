//! What happens around the command of a role: prerequisites and plugins as steps and mounts.

use std::collections::HashMap;

use pinnace_core::origin::Origin;
use pinnace_core::plan::{Action, Event, Mount, Step};

use super::actions::Maker;
use super::parameters::{Parameters, found};
use super::{Lowering, Used};
use crate::diagnostic::{Diagnostic, codes};
use crate::openpai::catalog::{Catalog, Id, Inherited};
use crate::openpai::model::{Kind, PluginEntry, Role};
use crate::openpai::plugins::{self, Plugin};
use crate::openpai::read::{self, PLUGINS_KEY};
use crate::source::Span;
use crate::template::{Lookup, Scopes, This};
use crate::yaml::Node;

/// What surrounds the command.
#[derive(Default)]
pub(super) struct Surroundings {
    pub(super) mounts: Vec<Mount>,
    pub(super) before: Vec<Step>,
    pub(super) after: Vec<Step>,
}

/// A part of the plan and the origins of its leaves, by their paths inside it.
pub(super) type Traced<T> = (T, Vec<(String, Origin)>);

/// What one prerequisite or plugin brings.
#[derive(Default)]
pub(super) struct Part {
    pub(super) steps: Vec<Traced<Step>>,
    pub(super) mounts: Vec<(Traced<Mount>, Span)>,
}

impl Part {
    fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.mounts.is_empty()
    }
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
        let mut add = |part: Part| {
            if !part.is_empty() {
                parts.push(part);
            }
        };
        let selected = [role.data, role.script, role.output].map(|name| name.map(|name| name.text));
        for id in order {
            let before = self.used[id].filter(|used| used.selected == selected);
            let prerequisite = self.catalog.get(id);
            // For another role that selects the same, the same problems would be found again.
            let known = before.filter(|_| {
                !self.building && Plugin::of_prerequisite(prerequisite) == Some(Plugin::Cmd)
            });
            let room = self.room;
            if let Some(used) = known {
                self.spend(used.length, prerequisite.node);
            } else if prerequisite.kind != Some(Kind::DockerImage) {
                add(self.prerequisite_steps(id, scopes));
            }
            self.used[id] = Some(Used {
                selected,
                length: room - self.room,
            });
        }
        let first = self
            .job
            .roles
            .first()
            .is_some_and(|first| first.name == role.name);
        for entry in &self.job.extras.plugins {
            if entry.is_for(role.name.text) {
                add(self.entry_steps(entry, scopes));
            }
        }
        add(self.storages());
        let mut surroundings = Surroundings::default();
        self.place_mounts(&mut parts, plan_path, &mut surroundings);
        if !self.building {
            return surroundings;
        }
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
        if parts.iter().all(|part| part.mounts.is_empty()) {
            return;
        }
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
        let path = self.path_of(prerequisite);
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
            path: &path,
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
            path: &path,
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
            let list = read::value(callback, "commands");
            if !self.building {
                self.judge_all(list, scopes);
                continue;
            }
            let base = format!("{}{holder}[{index}]", maker.prefix());
            let mut notes = Vec::new();
            let path = format!("{base}.commands");
            let commands = self.texts(list, scopes, &path, "action.commands", &mut notes);
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

    /// Notes an origin if anybody wants to know.
    pub(super) fn keep(
        &self,
        notes: &mut Vec<(String, Origin)>,
        path: &str,
        origin: impl FnOnce(&Self) -> Origin,
    ) {
        if self.building {
            notes.push((path.to_owned(), origin(self)));
        }
    }
}

fn take(part: &mut Part, wanted: impl Fn(Event) -> bool) -> Vec<Traced<Step>> {
    let (taken, left) = std::mem::take(&mut part.steps)
        .into_iter()
        .partition(|(step, _)| wanted(step.on));
    part.steps = left;
    taken
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
