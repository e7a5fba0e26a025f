//! The job as written: typed, borrowed from its document, with the span of everything a problem
//! could be reported at. Fields that are missing or wrong are `None`; the shape check has said so.

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
    /// `taskRoles`
    pub roles: Vec<DeploymentRole<'d>>,
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
}
