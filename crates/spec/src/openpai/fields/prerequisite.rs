//! The fields of a prerequisite.

use pinnace_core::fidelity::Feature;

use super::{FAILURE_POLICY, contributor, description, protocol_version, version};
use crate::shape::{Field, Object, Shape, TEXT, TEXTS, Tagged, Unknown, field};

/// The events of a callback; each line holds the spellings of one.
pub const EVENTS: &[&str] = &[
    "taskStarts",
    "containerStart",
    "containerStarts",
    "taskSucceeds",
    "taskFails",
    "taskCompletes",
    "containerExit",
    "containerExits",
];

/// The proposal's `storage` stands beside the types that upstream knows.
pub static PREREQUISITE: Shape = Shape::Tagged(&Tagged {
    name: "prerequisite",
    by: "type",
    cases: &[
        ("dockerimage", &IMAGE),
        ("script", &PREPARATION),
        ("data", &PREPARATION),
        ("output", &PREPARATION),
        ("storage", &PREPARATION),
    ],
    missing: None,
    labelled: false,
    other: None,
});

const PREREQUISITE_NAME: Field = field(
    "name",
    TEXT,
    "The name by which task roles and other prerequisites refer to it.",
)
.required();

static IMAGE: Object = Object {
    name: "image prerequisite",
    doc: "A container image.",
    fields: &[
        protocol_version(),
        PREREQUISITE_NAME,
        field(
            "type",
            Shape::Choice(&["dockerimage"]),
            "A container image.",
        )
        .required(),
        version(),
        contributor(),
        description(),
        field(
            "uri",
            TEXT,
            "The image's reference, such as `ubuntu:22.04`.",
        )
        .required()
        .needs(Feature::Image),
        field(
            "auth",
            Shape::Object(&AUTH),
            "How to log in to the image's registry.",
        ),
        // The proposal's default for images. Upstream refuses the key; it can only hold this word,
        // so nothing is lost by reading it.
        field(
            "plugin",
            Shape::Choice(&["docker"]),
            "What handles the prerequisite: for an image always `docker`.",
        )
        .default("\"docker\""),
    ],
    unknown: Unknown::Refuse,
    absent: &[
        ("callbacks", NO_CALLBACKS),
        ("require", NO_CALLBACKS),
        ("failurePolicy", NO_CALLBACKS),
    ],
};

const NO_CALLBACKS: &str = "an image has no callbacks and requires nothing: put them on a prerequisite of type `script` and list that in the role's `prerequisites`";

static AUTH: Object = Object {
    name: "registry login",
    doc: "How to log in to an image's registry.",
    fields: &[
        field("username", TEXT, "The user's name.").needs(Feature::RegistryLogin),
        field(
            "password",
            TEXT,
            "The password: name a secret here, such as `<% $secrets.password %>`.",
        )
        .needs(Feature::RegistryLogin),
        field("registryuri", TEXT, "The registry's host name.")
            .default_rule("Docker Hub")
            .needs(Feature::RegistryLogin),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

static PREPARATION: Object = Object {
    name: "prerequisite",
    doc: "Something to prepare before the command and to clear up after it. Other keys are parameters of the user's own: `<% this.key %>`.",
    fields: &[
        protocol_version(),
        PREREQUISITE_NAME,
        field(
            "type",
            Shape::Choice(&["script", "data", "output", "storage"]),
            "What it is for.",
        )
        .required(),
        version(),
        contributor(),
        description(),
        // The protocol allows a list only for data, the proposal allows both forms everywhere; a
        // superset refuses no file of either.
        field(
            "uri",
            Shape::TextOrList,
            "Where it lies: one address or a list of them, for templates.",
        ),
        field(
            "plugin",
            TEXT,
            "What carries out the callbacks and reads the parameters.",
        )
        .default("\"com.microsoft.pai.runtimeplugin.cmd\"")
        .needs_by_value(&[
            ("com.microsoft.pai.runtimeplugin.ssh", Feature::Ssh),
            (
                "com.microsoft.pai.runtimeplugin.tensorboard",
                Feature::TensorBoard,
            ),
            (
                "com.microsoft.pai.runtimeplugin.teamwise_storage",
                Feature::Storage,
            ),
            ("com.microsoft.pai.rest.storage", Feature::Storage),
        ]),
        field(
            "require",
            TEXTS,
            "Other prerequisites, of the job or the marketplace, that go before this one and whose parameters it inherits.",
        ),
        field(
            "callbacks",
            Shape::List {
                of: &Shape::Object(&CALLBACK),
                min: 0,
            },
            "Commands to run on events.",
        ),
        field(
            "failurePolicy",
            FAILURE_POLICY,
            "Whether a failing command of it fails the task.",
        )
        .default("\"fail\""),
    ],
    unknown: Unknown::Keep,
    absent: &[],
};

static CALLBACK: Object = Object {
    name: "callback",
    doc: "Commands to run on one event.",
    fields: &[
        field(
            "event",
            Shape::Choice(EVENTS),
            "When: before the command (`taskStarts`, also `containerStart`, `containerStarts`), after it succeeded (`taskSucceeds`), after it failed (`taskFails`), or after it in any case (`taskCompletes`, also `containerExit`, `containerExits`).",
        )
        .required_with_stub("taskStarts"),
        field(
            "commands",
            TEXTS,
            "Lines of shell script, run in the task's own shell.",
        )
        .required(),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};
