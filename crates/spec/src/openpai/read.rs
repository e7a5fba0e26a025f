//! Document → model. Takes what is well-formed and leaves out the rest: the shape check has
//! already reported it.

use std::cell::OnceCell;

use super::model::{
    Deployment, DeploymentRole, Extras, Job, Kind, PluginEntry, Prerequisite, Role,
};
use crate::yaml::access::{Name, names};
pub use crate::yaml::access::{entries, integer, items, name, value};
use crate::yaml::{Entry, Node};

/// The key of the runtime plugins in `extras`.
pub const PLUGINS_KEY: &str = "com.microsoft.pai.runtimeplugin";

/// Reads a job.
pub fn job<'d>(root: &'d Node<'d>) -> Job<'d> {
    let defaults = value(root, "defaults");
    Job {
        root,
        name: value(root, "name").and_then(name),
        prerequisites: prerequisites(root, None),
        parameters: value(root, "parameters").filter(|node| node.as_map().is_some()),
        secrets: value(root, "secrets").filter(|node| node.as_map().is_some()),
        roles: roles(entries(value(root, "taskRoles"))),
        deployments: items(value(root, "deployments"))
            .iter()
            .enumerate()
            .filter_map(deployment)
            .collect(),
        default_deployment: defaults
            .and_then(|defaults| value(defaults, "deployment"))
            .and_then(name),
        extras: value(root, "extras").map(extras).unwrap_or_default(),
    }
}

/// Reads the prerequisites of a job, or of a marketplace item that is written like one.
pub fn prerequisites<'d>(root: &'d Node<'d>, item: Option<&str>) -> Vec<Prerequisite<'d>> {
    let list = items(value(root, "prerequisites"));
    let mut prerequisites = Vec::with_capacity(list.len());
    let mappings = list
        .iter()
        .enumerate()
        .filter(|(_, node)| node.as_map().is_some());
    prerequisites.extend(mappings.map(|(index, node)| prerequisite(node, Some(index), item)));
    prerequisites
}

fn roles<'d>(entries: &'d [Entry<'d>]) -> Vec<Role<'d>> {
    let mut roles = Vec::with_capacity(entries.len());
    roles.extend(entries.iter().enumerate().filter_map(role));
    roles
}

/// Reads one prerequisite.
pub fn prerequisite<'d>(
    node: &'d Node<'d>,
    index: Option<usize>,
    item: Option<&str>,
) -> Prerequisite<'d> {
    let mut prerequisite = Prerequisite {
        node,
        index,
        item: item.map(str::to_owned),
        name: None,
        kind: None,
        plugin: None,
        ignores_failure: false,
        require: Vec::new(),
    };
    for Entry { key, value, .. } in entries(Some(node)) {
        match &*key.text {
            "name" => prerequisite.name = name(value),
            "type" => prerequisite.kind = value.as_text().and_then(Kind::from_word),
            "plugin" => prerequisite.plugin = name(value),
            "failurePolicy" => prerequisite.ignores_failure = is_ignore(value),
            "require" => prerequisite.require = names(Some(value)),
            _ => {}
        }
    }
    prerequisite
}

fn role<'d>((index, entry): (usize, &'d Entry<'d>)) -> Option<Role<'d>> {
    let node = &entry.value;
    node.as_map()?;
    let mut role = Role {
        index,
        name: Name::of_key(entry),
        node,
        instances: 1,
        min_failed: None,
        min_succeeded: None,
        task_retry_count: None,
        prerequisites: Vec::new(),
        docker_image: None,
        data: None,
        output: None,
        script: None,
        ports: Vec::new(),
        commands: None,
    };
    for Entry { key, value, .. } in entries(Some(node)) {
        match &*key.text {
            "instances" => {
                let number = integer(value).and_then(|number| u32::try_from(number).ok());
                role.instances = number.unwrap_or(1);
            }
            "completion" => {
                let bound = |key| self::value(value, key).and_then(integer);
                role.min_failed = bound("minFailedInstances");
                role.min_succeeded = bound("minSucceededInstances");
            }
            "taskRetryCount" => role.task_retry_count = Some(value),
            "prerequisites" => role.prerequisites = names(Some(value)),
            "dockerImage" => role.docker_image = name(value),
            "data" => role.data = name(value),
            "output" => role.output = name(value),
            "script" => role.script = name(value),
            "resourcePerInstance" => {
                let ports = entries(self::value(value, "ports")).iter();
                let port = |entry: &'d Entry<'d>| (Name::of_key(entry), &entry.value);
                role.ports = ports.map(port).collect();
            }
            "commands" => role.commands = Some(value).filter(|node| node.as_list().is_some()),
            _ => {}
        }
    }
    Some(role)
}

fn deployment<'d>((index, node): (usize, &'d Node<'d>)) -> Option<Deployment<'d>> {
    node.as_map()?;
    let role = |entry: &'d Entry<'d>| DeploymentRole {
        name: Name::of_key(entry),
        pre_commands: value(&entry.value, "preCommands").filter(|node| node.as_list().is_some()),
        post_commands: value(&entry.value, "postCommands").filter(|node| node.as_list().is_some()),
    };
    Some(Deployment {
        name: value(node, "name").and_then(name),
        index,
        node,
        roles: entries(value(node, "taskRoles")).iter().map(role).collect(),
    })
}

fn extras<'d>(node: &'d Node<'d>) -> Extras<'d> {
    let hived_key = if node.get("hivedScheduler").is_some() {
        "hivedScheduler"
    } else {
        "hivedscheduler"
    };
    let plugins = items(value(node, PLUGINS_KEY)).iter().enumerate();
    Extras {
        plugins: plugins.filter_map(plugin_entry).collect(),
        storages: value(node, "storages").filter(|node| node.as_list().is_some()),
        gang: value(node, "gangAllocation"),
        hived: value(node, hived_key).filter(|node| node.as_map().is_some()),
        hived_key,
        notification: value(node, "jobStatusChangeNotification"),
        submit_from: value(node, "submitFrom"),
        keep_on_failure: value(node, "pinnace")
            .and_then(|pinnace| value(pinnace, "keepOnFailureMinutes")),
    }
}

fn plugin_entry<'d>((index, node): (usize, &'d Node<'d>)) -> Option<PluginEntry<'d>> {
    node.as_map()?;
    Some(PluginEntry {
        node,
        index,
        plugin: value(node, "plugin").and_then(name),
        parameters: value(node, "parameters").filter(|node| node.as_map().is_some()),
        ignores_failure: value(node, "failurePolicy").is_some_and(is_ignore),
        roles: value(node, "taskroles")
            .filter(|node| node.as_list().is_some())
            .map(|list| names(Some(list))),
        sorted_roles: OnceCell::new(),
    })
}

fn is_ignore(policy: &Node<'_>) -> bool {
    let text = policy.as_text();
    text.is_some_and(|text| text.eq_ignore_ascii_case("ignore"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::source::Sources;
    use crate::yaml::{Limits, load};

    #[test]
    fn a_role_is_found_behind_what_is_no_role() {
        let sources = Sources::default();
        let text = "taskRoles: {a: 1, b: {instances: 2}, c: [], d: {instances: 4}}";
        let document = load(sources.add("job.yaml", text), &Limits::default());
        let job = super::job(document.root.as_ref().unwrap());
        let instances = |name| job.role(name).map(|role| role.instances);
        assert_eq!(
            ["a", "b", "c", "d", "e"].map(instances),
            [None, Some(2), None, Some(4), None]
        );
    }
}
