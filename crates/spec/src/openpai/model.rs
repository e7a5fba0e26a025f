//! The job as written: typed, borrowed from its document, with the span of everything a problem
//! could be reported at. Fields that are missing or wrong are `None`; the shape check has said so.

use std::cell::OnceCell;

use crate::yaml::Node;
pub use crate::yaml::access::Name;

/// A job.
#[derive(Debug)]
pub struct Job<'d> {
    /// The whole document.
    pub root: &'d Node<'d>,
    /// `name`
    pub name: Option<Name<'d>>,
    /// `prerequisites`
    pub prerequisites: Vec<Prerequisite<'d>>,
    /// `parameters`
    pub parameters: Option<&'d Node<'d>>,
    /// `secrets`
    pub secrets: Option<&'d Node<'d>>,
    /// `taskRoles`
    pub roles: Vec<Role<'d>>,
    /// `deployments`
    pub deployments: Vec<Deployment<'d>>,
    /// `defaults.deployment`
    pub default_deployment: Option<Name<'d>>,
    /// `extras`
    pub extras: Extras<'d>,
}

impl<'d> Job<'d> {
    /// The role of a name. The document finds its place, which is fast among many.
    pub fn role(&self, name: &str) -> Option<&Role<'d>> {
        self.roles.get(self.role_place(name)?)
    }

    /// The place of the role of a name.
    pub fn role_place(&self, name: &str) -> Option<usize> {
        let index = self.root.get("taskRoles")?.value.position(name)?;
        // What is no mapping is left out, so a role may stand before its index.
        let found = self.roles.binary_search_by_key(&index, |role| role.index);
        found.ok()
    }
}

/// One of `prerequisites`, or a marketplace item.
#[derive(Debug)]
pub struct Prerequisite<'d> {
    /// The mapping itself; its other keys are the parameters.
    pub node: &'d Node<'d>,
    /// Its place in the list of its document; `None` for an item that is a whole file.
    pub index: Option<usize>,
    /// The marketplace reference that brought it, if one did.
    pub item: Option<String>,
    /// `name`
    pub name: Option<Name<'d>>,
    /// `type`
    pub kind: Option<Kind>,
    /// `plugin`
    pub plugin: Option<Name<'d>>,
    /// `failurePolicy: ignore`
    pub ignores_failure: bool,
    /// `require`
    pub require: Vec<Name<'d>>,
}

impl Prerequisite<'_> {
    /// Its path in its document, such as `prerequisites[2]`; empty for an item that is a whole file.
    pub fn path(&self) -> String {
        let path = |index| format!("prerequisites[{index}]");
        self.index.map(path).unwrap_or_default()
    }

    /// Its name for messages.
    pub fn title(&self) -> &str {
        self.name
            .map(|name| name.text)
            .or(self.item.as_deref())
            .unwrap_or("without a name")
    }
}

/// The type of a prerequisite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A container image.
    DockerImage,
    /// Commands to run.
    Script,
    /// Data to fetch.
    Data,
    /// A place for results.
    Output,
    /// A storage to mount.
    Storage,
}

impl Kind {
    /// The word in the file.
    pub fn word(self) -> &'static str {
        match self {
            Kind::DockerImage => "dockerimage",
            Kind::Script => "script",
            Kind::Data => "data",
            Kind::Output => "output",
            Kind::Storage => "storage",
        }
    }

    /// The kind that a word names.
    pub fn from_word(word: &str) -> Option<Self> {
        let all = [
            Kind::DockerImage,
            Kind::Script,
            Kind::Data,
            Kind::Output,
            Kind::Storage,
        ];
        all.into_iter().find(|kind| kind.word() == word)
    }
}

/// One of `taskRoles`.
#[derive(Debug)]
pub struct Role<'d> {
    /// Its index among the entries of `taskRoles`.
    pub index: usize,
    /// Its key.
    pub name: Name<'d>,
    /// Its mapping.
    pub node: &'d Node<'d>,
    /// `instances`, or its default.
    pub instances: u32,
    /// `completion.minFailedInstances` as written; `null` counts as missing.
    pub min_failed: Option<i64>,
    /// `completion.minSucceededInstances` as written; `null` counts as missing.
    pub min_succeeded: Option<i64>,
    /// `taskRetryCount`
    pub task_retry_count: Option<&'d Node<'d>>,
    /// `prerequisites`
    pub prerequisites: Vec<Name<'d>>,
    /// `dockerImage`
    pub docker_image: Option<Name<'d>>,
    /// `data`
    pub data: Option<Name<'d>>,
    /// `output`
    pub output: Option<Name<'d>>,
    /// `script`
    pub script: Option<Name<'d>>,
    /// `resourcePerInstance.ports`
    pub ports: Vec<(Name<'d>, &'d Node<'d>)>,
    /// `commands`
    pub commands: Option<&'d Node<'d>>,
}

impl Role<'_> {
    /// Failed tasks that fail the job: missing, null and 0 mean 1, below that never.
    pub fn effective_min_failed(&self) -> Option<u32> {
        threshold(self.min_failed, 1)
    }

    /// Succeeded tasks that make the job succeed: missing, null and 0 mean all, below that never.
    pub fn effective_min_succeeded(&self) -> Option<u32> {
        threshold(self.min_succeeded, self.instances)
    }
}

fn threshold(written: Option<i64>, default: u32) -> Option<u32> {
    match written.unwrap_or(0) {
        0 => Some(default),
        number => u32::try_from(number).ok(),
    }
}

/// One of `deployments`.
#[derive(Debug)]
pub struct Deployment<'d> {
    /// `name`
    pub name: Option<Name<'d>>,
    /// Its place in the list.
    pub index: usize,
    /// The mapping itself.
    pub node: &'d Node<'d>,
    /// `taskRoles`, in the order of the mapping.
    pub roles: Vec<DeploymentRole<'d>>,
}

impl<'d> Deployment<'d> {
    /// What it adds to the role of a name.
    pub fn role(&self, name: &str) -> Option<&DeploymentRole<'d>> {
        let place = self.node.get("taskRoles")?.value.position(name)?;
        self.roles.get(place)
    }
}

/// What a deployment adds to one role.
#[derive(Debug)]
pub struct DeploymentRole<'d> {
    /// The role's name.
    pub name: Name<'d>,
    /// `preCommands`
    pub pre_commands: Option<&'d Node<'d>>,
    /// `postCommands`
    pub post_commands: Option<&'d Node<'d>>,
}

/// `extras`, as far as Pinnace reads it.
#[derive(Debug, Default)]
pub struct Extras<'d> {
    /// `com.microsoft.pai.runtimeplugin`
    pub plugins: Vec<PluginEntry<'d>>,
    /// `storages`
    pub storages: Option<&'d Node<'d>>,
    /// `gangAllocation`
    pub gang: Option<&'d Node<'d>>,
    /// `hivedScheduler` or `hivedscheduler`
    pub hived: Option<&'d Node<'d>>,
    /// The key under which `hived` was found.
    pub hived_key: &'static str,
    /// `jobStatusChangeNotification`
    pub notification: Option<&'d Node<'d>>,
    /// `submitFrom`
    pub submit_from: Option<&'d Node<'d>>,
    /// `pinnace.keepOnFailureMinutes`
    pub keep_on_failure: Option<&'d Node<'d>>,
}

impl Extras<'_> {
    /// Whether all tasks start together or none: on unless it is exactly `false`.
    pub fn gang_allocation(&self) -> bool {
        self.gang.and_then(Node::as_bool) != Some(false)
    }
}

/// One of the runtime plugins in `extras`.
#[derive(Debug)]
pub struct PluginEntry<'d> {
    /// The mapping itself.
    pub node: &'d Node<'d>,
    /// Its place in the list.
    pub index: usize,
    /// `plugin`
    pub plugin: Option<Name<'d>>,
    /// `parameters`
    pub parameters: Option<&'d Node<'d>>,
    /// `failurePolicy: ignore`
    pub ignores_failure: bool,
    /// `taskroles`: the roles it is for; all when missing.
    pub roles: Option<Vec<Name<'d>>>,
    /// The same in order, once somebody asks.
    pub sorted_roles: OnceCell<Vec<&'d str>>,
}

impl PluginEntry<'_> {
    /// Whether it is for a role.
    pub fn is_for(&self, role: &str) -> bool {
        let Some(roles) = &self.roles else {
            return true;
        };
        let sort = || {
            let mut names: Vec<_> = roles.iter().map(|name| name.text).collect();
            names.sort_unstable();
            names
        };
        let sorted = self.sorted_roles.get_or_init(sort);
        sorted.binary_search(&role).is_ok()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::openpai::read;
    use crate::source::Sources;
    use crate::yaml::{self, Limits};

    #[test]
    fn a_role_is_found_by_name_behind_one_that_is_left_out() {
        let sources = Sources::default();
        let text = "taskRoles: {wrong: 1, a: {}, b: {instances: 3}}\n\
                    deployments: [{name: d, taskRoles: {b: {}, a: {preCommands: [x]}}}]\n";
        let document = yaml::load(sources.add("job.yaml", text), &Limits::default());
        let root = document.root.unwrap();
        let job = read::job(&root);
        assert_eq!(job.role("b").map(|role| role.instances), Some(3));
        assert!(job.role("wrong").is_none() && job.role("c").is_none());
        let part = job.deployments[0].role("a").unwrap();
        assert!(part.name.text == "a" && part.pre_commands.is_some());
    }
}
