//! Secrets as people may see them.

use pinnace_core::plan::{Action, Plan, Step};
use pinnace_core::text::{SecretName, Text};

/// What stands for a secret inside a text.
pub(super) fn hidden(name: &SecretName) -> String {
    format!("<{name} ••••>")
}

/// What in the plan uses a secret.
pub(super) fn users(plan: &Plan, name: &SecretName) -> Vec<String> {
    let names = |text: &Text| text.secrets().any(|secret| secret == name);
    let mut users = Vec::new();
    for (role_name, role) in &plan.roles {
        let auth = role.image.iter().flat_map(|image| &image.auth);
        let mut login = auth.flat_map(|auth| [&auth.username, &auth.password, &auth.registry]);
        if login.any(|text| text.as_ref().is_some_and(names)) {
            users.push(format!("the image login of `{role_name}`"));
        }
        if role.env.values().any(names) {
            users.push(format!("the variables of `{role_name}`"));
        }
        if role.files.values().any(names) {
            users.push(format!("the files of `{role_name}`"));
        }
        if role
            .python
            .iter()
            .flat_map(|python| &python.requirements)
            .any(names)
        {
            users.push(format!("the Python packages of `{role_name}`"));
        }
        if role.command.iter().any(names) {
            users.push(format!("the command of `{role_name}`"));
        }
        for step in role.before.iter().chain(&role.after) {
            if texts(step).into_iter().any(names) {
                users.push(format!("`{}` of `{role_name}`", step.name));
            }
        }
    }
    users.dedup();
    users
}

fn texts(step: &Step) -> Vec<&Text> {
    match &step.action {
        Action::Shell { commands } => commands.iter().collect(),
        Action::Ssh { public_keys, .. } => public_keys.iter().collect(),
        Action::GitClone {
            repository,
            options,
            directory,
        } => std::iter::once(repository)
            .chain(options)
            .chain(directory)
            .collect(),
        Action::TensorBoard { logdir, .. } => logdir.values().collect(),
    }
}
