//! The fields of `extras`, which plugins and other programs read.

use pinnace_core::fidelity::Feature;

use super::{FAILURE_POLICY, PRIORITY_CLASSES, between};
use crate::openpai::read::PLUGINS_KEY;
use crate::shape::{FREE_MAP, Field, Object, Shape, TEXT, TEXTS, TextRule, Unknown, field};

const HIVED_ROLE_RULE: TextRule = TextRule {
    accepts: |text| {
        !text.is_empty()
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'~'))
    },
    pattern: "^[A-Za-z0-9._~]+$",
    words: "made of letters, digits, `.`, `_` and `~`",
    max_length: 255,
};

pub(super) static EXTRAS: Object = Object {
    name: "extras",
    doc: "Settings for plugins and schedulers.",
    fields: &[
        field("submitFrom", TEXT, "The program that submitted the job.").needs(Feature::Words),
        field(
            "gangAllocation",
            Shape::Flag,
            "Whether all tasks start together or none. Without it single tasks can be tried again.",
        )
        .default("true"),
        field(
            "hivedScheduler",
            Shape::Object(&HIVED),
            "Settings of the HiveD scheduler.",
        )
        .also(&["hivedscheduler"]),
        field(
            PLUGINS_KEY,
            Shape::List {
                of: &Shape::Object(&PLUGIN),
                min: 0,
            },
            "Plugins to run in the tasks, after the prerequisites.",
        ),
        field(
            "storages",
            Shape::List {
                of: &Shape::Object(&STORAGE),
                min: 0,
            },
            "Storages to mount; an empty list asks for the user's default ones.",
        ),
        field(
            "jobStatusChangeNotification",
            Shape::Object(&NOTIFICATION),
            "The changes of state about which the user gets a message.",
        ),
        field(
            "pinnace",
            Shape::Object(&PINNACE),
            "Settings that only Pinnace reads.",
        ),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

static HIVED: Object = Object {
    name: "HiveD settings",
    doc: "Settings of the HiveD scheduler.",
    fields: &[
        field(
            "jobPriorityClass",
            Shape::Choice(PRIORITY_CLASSES),
            "The job's priority: `crit`, `prod`, `test`, or `oppo` for what may be preempted at any time.",
        )
        .default("\"test\"")
        .needs(Feature::Priority),
        field(
            "taskRoles",
            Shape::Map {
                key: "role name",
                keys: HIVED_ROLE_RULE,
                of: &Shape::Object(&HIVED_ROLE),
                min: 1,
            },
            "Where each role is placed.",
        ),
        field(
            "gangReleaseEnable",
            Shape::Flag,
            "Whether the resources of a gang are freed together.",
        )
        .default("false")
        .needs(Feature::Preemption),
        field(
            "lazyPreemptionEnable",
            Shape::Flag,
            "Whether preempted tasks may stay until their place is really needed.",
        )
        .default("false")
        .needs(Feature::Preemption),
        field(
            "ignoreK8sSuggestedNodes",
            Shape::Flag,
            "Whether the cluster's own suggestions of nodes are ignored.",
        )
        .needs(Feature::Preemption),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

static HIVED_ROLE: Object = Object {
    name: "HiveD role",
    doc: "Where a role is placed.",
    fields: &[
        field(
            "skuType",
            TEXT,
            "The kind of hardware. Only one of this and `pinnedCellId`.",
        )
        .also(&["gpuType"])
        .needs(Feature::Sku),
        field("pinnedCellId", TEXT, "A reserved cell.")
            .also(&["reservationId"])
            .needs(Feature::PinnedCell),
        field(
            "affinityGroupName",
            TEXT,
            "Roles of one group are placed near each other.",
        )
        .needs(Feature::Affinity),
        // Portals write it, no scheduler has ever read it: the number follows from the resources.
        field(
            "skuNum",
            Shape::Any,
            "Not read: the number follows from `resourcePerInstance`.",
        )
        .also(&["skuNumber"])
        .needs(Feature::Unread),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

static PLUGIN: Object = Object {
    name: "plugin",
    doc: "A plugin to run in the tasks.",
    fields: &[
        field(
            "plugin",
            TEXT,
            "The plugin's name: `cmd`, `ssh`, `git`, `tensorboard` or `teamwise_storage`.",
        )
        .required()
        .needs_by_value(&[
            ("ssh", Feature::Ssh),
            ("tensorboard", Feature::TensorBoard),
            ("teamwise_storage", Feature::Storage),
        ]),
        field("parameters", FREE_MAP, "What the plugin is told."),
        field(
            "failurePolicy",
            FAILURE_POLICY,
            "Whether a failure of the plugin fails the task.",
        )
        .default("\"fail\""),
        field("taskroles", TEXTS, "The roles it is for.").default_rule("all roles"),
        field(
            "hook",
            Shape::Choice(&["preTaskStarts", "postTaskSucceeds"]),
            "Not read: each plugin knows its own moments.",
        )
        .needs(Feature::Unread),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

static STORAGE: Object = Object {
    name: "storage",
    doc: "A storage to mount.",
    fields: &[
        field("name", TEXT, "The storage's configured name.")
            .required()
            .needs(Feature::Storage),
        field(
            "mountPath",
            TEXT,
            "The absolute path at which the tasks see it.",
        )
        .default_rule("`/mnt/` and the storage's name"),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

const fn notification(name: &'static str, doc: &'static str) -> Field {
    field(name, Shape::Flag, doc)
        .default("false")
        .needs(Feature::Notification)
}

static NOTIFICATION: Object = Object {
    name: "notification",
    doc: "The changes of state about which the user gets a message.",
    fields: &[
        notification("running", "The job started to run."),
        notification("succeeded", "The job succeeded."),
        notification("failed", "The job failed."),
        notification("stopped", "The job was stopped."),
        notification("retried", "The job was tried again."),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

static PINNACE: Object = Object {
    name: "Pinnace settings",
    doc: "Settings that only Pinnace reads.",
    fields: &[field(
        "keepOnFailureMinutes",
        between(0, 7 * 24 * 60),
        "How long a failed task is kept for a look into it with `pinnace shell`; 0 is not at all.",
    )
    .default("0")],
    unknown: Unknown::Refuse,
    absent: &[],
};
