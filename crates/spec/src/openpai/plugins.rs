//! The plugins that a prerequisite or an entry in `extras` can name, and their parameters.

use super::model::{Kind, Name, Prerequisite};
use crate::diagnostic::suggest::closest;
use crate::diagnostic::{Diagnostic, Diagnostics, Severity, codes};
use crate::shape::{self, Field, Object, Shape, TEXT, TEXTS, TextRule, Unknown, field};
use crate::source::{Sources, Span};
use crate::template;
use crate::yaml::Node;

/// What stands before the name of a runtime plugin in a prerequisite.
const RUNTIME: &str = "com.microsoft.pai.runtimeplugin.";

/// The plugin that upstream's server was to handle.
const REST_STORAGE: &str = "com.microsoft.pai.rest.storage";

/// A plugin that Pinnace has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plugin {
    /// Shell commands.
    Cmd,
    /// An SSH server.
    Ssh,
    /// A clone of a repository.
    Git,
    /// TensorBoard.
    TensorBoard,
    /// Storages by name; the old way.
    TeamwiseStorage,
    /// One storage.
    Storage,
}

impl Plugin {
    const IN_EXTRAS: [Plugin; 5] = [
        Plugin::Cmd,
        Plugin::Ssh,
        Plugin::Git,
        Plugin::TensorBoard,
        Plugin::TeamwiseStorage,
    ];

    /// Its name in `extras`.
    pub fn word(self) -> &'static str {
        match self {
            Plugin::Cmd => "cmd",
            Plugin::Ssh => "ssh",
            Plugin::Git => "git",
            Plugin::TensorBoard => "tensorboard",
            Plugin::TeamwiseStorage => "teamwise_storage",
            Plugin::Storage => REST_STORAGE,
        }
    }

    /// Its parameters.
    pub fn parameters(self) -> &'static Object {
        match self {
            Plugin::Cmd => &CMD,
            Plugin::Ssh => &SSH,
            Plugin::Git => &GIT,
            Plugin::TensorBoard => &TENSORBOARD,
            Plugin::TeamwiseStorage => &TEAMWISE_STORAGE,
            Plugin::Storage => &STORAGE,
        }
    }

    fn in_extras(word: &str) -> Option<Plugin> {
        Plugin::IN_EXTRAS
            .into_iter()
            .find(|plugin| plugin.word() == word)
    }

    /// The plugin of a prerequisite that is no image; one without `plugin` runs commands, and a
    /// storage is mounted.
    pub fn of_prerequisite(prerequisite: &Prerequisite<'_>) -> Option<Plugin> {
        match prerequisite.plugin.map(|name| name.text) {
            None if prerequisite.kind == Some(Kind::Storage) => Some(Plugin::Storage),
            None => Some(Plugin::Cmd),
            Some(REST_STORAGE) => Some(Plugin::Storage),
            Some(name) => name.strip_prefix(RUNTIME).and_then(Plugin::in_extras),
        }
    }

    /// The plugin of an entry in `extras`.
    pub fn of_entry(name: &str) -> Option<Plugin> {
        Plugin::in_extras(name)
    }
}

/// Reports a plugin that Pinnace does not have; only a warning if its failure is to be ignored.
pub fn unknown(name: Name<'_>, in_extras: bool, ignores_failure: bool) -> Diagnostic {
    let message = format!("there is no plugin called `{}`", name.text);
    let mut diagnostic = Diagnostic::new(&codes::UNKNOWN_PLUGIN, name.span, message);
    if ignores_failure {
        diagnostic.severity = Severity::Warning;
        diagnostic = diagnostic.label("skipped, because its `failurePolicy` is `ignore`");
    }
    let full = |plugin: Plugin| match in_extras {
        true => plugin.word().to_owned(),
        false => format!("{RUNTIME}{}", plugin.word()),
    };
    let mut candidates: Vec<String> = Plugin::IN_EXTRAS.into_iter().map(full).collect();
    if !in_extras {
        candidates.push(REST_STORAGE.to_owned());
    }
    // A short name in a prerequisite, or a full one in `extras`, is the right plugin misplaced.
    let moved = match in_extras {
        true => name.text.strip_prefix(RUNTIME).map(str::to_owned),
        false => Plugin::in_extras(name.text).map(full),
    };
    let similar = moved
        .filter(|moved| candidates.contains(moved))
        .or_else(|| closest(name.text, candidates.iter().map(String::as_str)).map(str::to_owned));
    match similar {
        Some(similar) => diagnostic.help(format!("did you mean `{similar}`?")).fix(
            "name the plugin that exists",
            name.span,
            similar,
        ),
        None => {
            let all: Vec<String> = candidates.iter().map(|name| format!("`{name}`")).collect();
            diagnostic.help(format!("Pinnace has {}", all.join(", ")))
        }
    }
}

/// Checks the parameters of a plugin. `given` are the keys written at the place itself, `get` also
/// finds inherited ones. A value with a template in it is checked once it is rendered.
pub fn check_parameters<'d>(
    plugin: Plugin,
    at: Span,
    get: impl Fn(&str) -> Option<&'d Node<'d>>,
    given: Option<&'d Node<'d>>,
    sources: &Sources,
    out: &mut Diagnostics,
) {
    let table = plugin.parameters();
    for field in table.fields {
        match get(field.name) {
            Some(node) if has_template(node) => {}
            Some(node) => shape::check_field(node, field, sources, out),
            None if field.required => {
                let message = format!("the `{}` plugin needs `{}`", plugin.word(), field.name);
                out.push(Diagnostic::new(&codes::MISSING_KEY, at, message).help(field.doc));
            }
            None => {}
        }
    }
    for entry in given
        .and_then(Node::as_map)
        .map(|map| &*map.entries)
        .unwrap_or_default()
    {
        if table.field(&entry.key.text).is_none() {
            let message = format!(
                "the `{}` plugin does not read `{}`",
                plugin.word(),
                entry.key.text
            );
            let diagnostic = Diagnostic::new(&codes::IGNORED_KEY, entry.key.span, message);
            let names = table.fields.iter().map(|field: &Field| field.name);
            out.push(match closest(&entry.key.text, names) {
                Some(similar) => diagnostic.help(format!("did you mean `{similar}`?")).fix(
                    "rename the key",
                    entry.key.span,
                    similar,
                ),
                None => diagnostic,
            });
        }
    }
}

fn has_template(node: &Node<'_>) -> bool {
    node.as_scalar()
        .is_some_and(|scalar| template::has_tag(&scalar.text))
}

static CMD: Object = Object {
    name: "parameters of the cmd plugin",
    doc: "Shell commands around the task's command.",
    fields: &[
        field("preCommands", TEXTS, "Lines to run before the command."),
        field(
            "postCommands",
            TEXTS,
            "Lines to run after the command succeeded.",
        ),
        field("callbacks", Shape::Any, "Lines to run on events."),
    ],
    unknown: Unknown::Keep,
    absent: &[],
};

static SSH: Object = Object {
    name: "parameters of the ssh plugin",
    doc: "An SSH server in each task.",
    fields: &[
        field(
            "jobssh",
            Shape::Flag,
            "Whether the tasks of the job can log in to each other.",
        ),
        field(
            "sshbarrier",
            Shape::Flag,
            "Whether the command waits until every task's server answers.",
        ),
        field(
            "sshbarrierTimeout",
            Shape::Integer {
                min: 1,
                max: 10_000,
                null: false,
            },
            "How many minutes it waits.",
        ),
        field(
            "userssh",
            Shape::Object(&USER_SSH),
            "A public key that may log in.",
        ),
        field("publicKeys", TEXTS, "Public keys that may log in."),
    ],
    unknown: Unknown::Keep,
    absent: &[],
};

static USER_SSH: Object = Object {
    name: "user key of the ssh plugin",
    doc: "A public key that may log in.",
    fields: &[
        field(
            "type",
            Shape::Choice(&["custom", "system", "none"]),
            "Where the key comes from.",
        ),
        field(
            "value",
            TEXT,
            "The key, in the form of a line of `authorized_keys`.",
        ),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

static GIT: Object = Object {
    name: "parameters of the git plugin",
    doc: "A repository to clone before the command.",
    fields: &[
        field("repo_uri", TEXT, "the repository to clone").required(),
        field("options", TEXTS, "More arguments of `git clone`."),
        field("clone_dir", TEXT, "The folder to clone into."),
    ],
    unknown: Unknown::Keep,
    absent: &[],
};

static TENSORBOARD: Object = Object {
    name: "parameters of the tensorboard plugin",
    doc: "TensorBoard in the first task.",
    fields: &[
        field(
            "port",
            Shape::Integer {
                min: 1,
                max: 65_535,
                null: false,
            },
            "The port to listen on.",
        ),
        field(
            "logdir",
            Shape::Map {
                key: "run name",
                keys: TextRule::ANY,
                of: &TEXT,
                min: 0,
            },
            "Log folders by name.",
        ),
    ],
    unknown: Unknown::Keep,
    absent: &[],
};

static TEAMWISE_STORAGE: Object = Object {
    name: "parameters of the teamwise_storage plugin",
    doc: "Storages to mount below `/mnt`.",
    fields: &[field(
        "storageConfigNames",
        TEXTS,
        "the names of the storages to mount",
    )
    .required()],
    unknown: Unknown::Keep,
    absent: &[],
};

static STORAGE: Object = Object {
    name: "parameters of a storage",
    doc: "A storage to mount.",
    fields: &[
        field(
            "config",
            TEXT,
            "the name under which the storage is configured",
        )
        .required(),
        field(
            "mountPoint",
            TEXT,
            "The absolute path at which the task sees it.",
        ),
    ],
    unknown: Unknown::Keep,
    absent: &[],
};
