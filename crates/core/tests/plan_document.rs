//! `docs/plan.md` names exactly the fields that a plan's JSON has.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeSet;

use pinnace_core::plan::Plan;
use serde_json::{Value, json};

const DOCUMENT: &str = include_str!("../../../docs/plan.md");

fn step(action: &Value) -> Value {
    json!({ "name": "x", "on": "start", "action": action, "onFailure": "fail" })
}

/// A plan in which no field is empty. Reading it back proves that it names no field too many.
fn full_plan() -> Value {
    let before = [
        json!({ "do": "shell", "commands": ["x"] }),
        json!({ "do": "ssh", "betweenTasks": true, "publicKeys": ["x"], "barrier": true, "barrierTimeoutMinutes": 1 }),
        json!({ "do": "gitClone", "repository": "x", "options": ["x"], "directory": "x" }),
        json!({ "do": "tensorBoard", "port": 1, "logdir": { "x": "x" } }),
    ];
    json!({
        "name": "x",
        "labels": { "x": "x" },
        "roles": { "x": {
            "instances": 1,
            "image": { "uri": "x", "auth": { "username": "x", "password": [{ "secret": "x" }], "registry": "x" } },
            "resources": { "cpu": 1, "memoryMB": 1, "gpu": 1, "shmMB": 1, "infiniband": true },
            "ports": { "x": 1 },
            "env": { "x": "x" },
            "mounts": [{ "name": "s", "storage": "x", "target": "x" }],
            "before": before.iter().map(step).collect::<Vec<_>>(),
            "command": ["x"],
            "after": [step(&before[0])],
            "completion": { "minFailed": 1, "minSucceeded": 1 },
            "retry": { "limit": 1 },
            "placement": { "sku": "x", "pinnedCell": "x", "affinityGroup": "x" },
            "code": { "source": "/y", "target": "/y", "ignore": ["y"], "includes": ["/y"] },
            "files": { "x": "y" },
            "inputs": { "x": { "source": "/y", "target": "/y", "kind": "any", "mode": "mount" } },
            "outputs": { "x": {
                "target": "/y", "kind": "folder", "mode": "upload", "destination": "/y",
                "register": { "name": "y", "description": "y" }, "append": true, "pointer": true,
            } },
            "python": { "requirements": ["y"], "file": "y" },
            "workdir": "/y",
            "success": "zeroOrGreater",
        } },
        "secrets": ["x"],
        "retry": { "limit": 1 },
        "placement": {
            "virtualCluster": "x", "priority": 1, "gang": true, "gangRelease": true,
            "lazyPreemption": true, "ignoreSuggestedNodes": true,
            "cluster": "x", "queue": "x",
        },
        "notify": ["running"],
        "timeLimitSeconds": 1,
        "metrics": [{ "name": "y", "pattern": "y" }],
        "keepOnFailureMinutes": 1,
        "module": { "id": "x", "digest": "x" },
    })
}

/// The paths of all fields; names of the user's choice become `*`. A text is one field.
fn paths(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let step = if key == "x" { "*" } else { key };
                let path = if path.is_empty() {
                    step.to_owned()
                } else {
                    format!("{path}.{step}")
                };
                if !value.is_array() {
                    found.insert(path.clone());
                }
                paths(value, &path, found);
            }
        }
        Value::Array(list) if !list.iter().any(|item| item.get("secret").is_some()) => {
            for item in list {
                found.insert(format!("{path}[]"));
                paths(item, &format!("{path}[]"), found);
            }
        }
        Value::Array(_) => {
            found.insert(path.to_owned());
        }
        _ => {}
    }
}

#[test]
fn the_document_names_every_field_and_no_other() {
    let plan: Plan =
        serde_json::from_value(full_plan()).expect("the plan above has the right fields");
    let written = serde_json::to_value(&plan).unwrap();
    let mut real = BTreeSet::new();
    paths(&written, "", &mut real);
    // A group is documented by its members, the steps after the command by those before it.
    real.retain(|path| !path.starts_with("roles.*.after[]."));
    let groups = ["labels", "roles", "retry", "placement"];
    let role_groups = [
        "resources",
        "ports",
        "env",
        "files",
        "inputs",
        "outputs",
        "completion",
        "retry",
        "placement",
    ];
    real.retain(|path| !groups.contains(&path.as_str()));
    real.retain(|path| {
        path.strip_prefix("roles.*.")
            .is_none_or(|rest| !role_groups.contains(&rest))
    });
    real.remove("roles.*.before[].action.logdir");

    let documented: BTreeSet<String> = DOCUMENT
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(path, _)| path.to_owned())
        .collect();
    assert_eq!(documented, real);
}
