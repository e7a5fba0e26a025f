//! Plans and origins name the same leaves.

use pinnace_spec::job::Job;
use serde_json::Value;

/// Every leaf of the plan has an origin, and every origin is that of a leaf.
pub(crate) fn all_have_origins(name: &str, job: &Job) {
    let plan = serde_json::to_value(&job.plan).unwrap();
    let mut leaves = Vec::new();
    collect("", &plan, &mut leaves);
    for leaf in &leaves {
        assert!(
            job.origins.contains_key(leaf),
            "{name}: {leaf} has no origin"
        );
    }
    for path in job.origins.keys() {
        assert!(
            leaves.contains(path),
            "{name}: {path} has an origin and is no leaf"
        );
    }
}

fn collect(path: &str, value: &Value, leaves: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let path = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                collect(&path, value, leaves);
            }
        }
        // A text with a place for a secret or a path in it.
        Value::Array(items)
            if items
                .iter()
                .any(|item| item.get("secret").is_some() || item.get("path").is_some()) =>
        {
            leaves.push(path.to_owned());
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(&format!("{path}[{index}]"), item, leaves);
            }
        }
        _ => leaves.push(path.to_owned()),
    }
}
