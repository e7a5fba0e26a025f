//! The variables that a task finds when it starts.
//!
//! One table, [`FAMILIES`], names them all. From it come the list for a plan ([`variables`]), the
//! test whether a name is one of them ([`Names`]) and the reference page ([`reference()`]), so the
//! three cannot disagree.
//!
//! A role's name appears in two spellings: as written, and with its lower-case letters and digits
//! alone (`ps_server` and `psserver`), because jobs in the wild use either.

mod families;
mod names;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt::Write as _;

pub use families::{FAMILIES, Family};
pub use names::{Names, RoleShape, Verdict};

use crate::plan::{Plan, Role};

/// A variable, or one for each task of a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name; if there is one for each task, `*` stands for the task's index.
    pub name: String,
    /// How many tasks there is one for; `None` if it is a single variable.
    pub tasks: Option<u32>,
    /// What it holds.
    pub value: Value,
    /// What it is for.
    pub doc: &'static str,
}

impl Variable {
    /// The real names, one for each task if there is one for each.
    pub fn names(&self) -> impl Iterator<Item = String> {
        (0..self.tasks.unwrap_or(1)).map(|index| self.name.replace('*', &index.to_string()))
    }
}

/// What a variable holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// This.
    Known(String),
    /// Something that is known only when the task runs, in words.
    AtRun(&'static str),
}

/// The labels of the ports that every task has, beside those that its role asks for.
pub const PORTS_OF_EVERY_TASK: [&str; 2] = ["ssh", "http"];

/// The second spelling of a role's name: lower-case letters and digits.
pub fn short_name(role: &str) -> String {
    let kept = role.chars().filter(char::is_ascii_alphanumeric);
    kept.map(|char| char.to_ascii_lowercase()).collect()
}

/// All variables of the tasks of a role, each name once; none if the plan has no such role.
pub fn variables(plan: &Plan, role: &str) -> Vec<Variable> {
    let Some((_, own)) = plan.roles.get_key_value(role) else {
        return Vec::new();
    };
    let mut list = List::default();
    for family in FAMILIES {
        let facts = Facts {
            plan,
            own_name: role,
            own,
            about: own,
        };
        if family.is_per_role() {
            // Names as written come first: a short name must not take the place of one of them.
            for (name, about) in &plan.roles {
                list.add(family, name, &Facts { about, ..facts });
            }
            for (name, about) in &plan.roles {
                list.add(family, &short_name(name), &Facts { about, ..facts });
            }
        } else {
            list.add(family, role, &facts);
        }
    }
    list.variables
}

/// What the values of a family are made of.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    plan: &'a Plan,
    own_name: &'a str,
    own: &'a Role,
    about: &'a Role,
}

#[derive(Default)]
struct List {
    variables: Vec<Variable>,
    names: HashSet<String>,
}

impl List {
    fn add(&mut self, family: &Family, spelling: &str, facts: &Facts<'_>) {
        let named = family
            .pattern
            .replace("<role>", spelling)
            .replace("<index>", "*");
        let tasks = family
            .pattern
            .contains("<index>")
            .then_some(facts.about.instances);
        let mut push = |name: String| {
            if !spelling.is_empty() && self.names.insert(name.clone()) {
                self.variables.push(Variable {
                    name,
                    tasks,
                    value: (family.value)(facts),
                    doc: family.doc,
                });
            }
        };
        if named.contains("<port>") {
            for label in port_labels(facts.about.ports.keys().map(String::as_str)) {
                push(named.replace("<port>", label));
            }
        } else {
            push(named);
        }
    }
}

/// The labels that a task has: those of every task, then those that its role asks for.
fn port_labels<'a>(own: impl Iterator<Item = &'a str>) -> impl Iterator<Item = &'a str> {
    PORTS_OF_EVERY_TASK
        .into_iter()
        .chain(own.filter(|label| !PORTS_OF_EVERY_TASK.contains(label)))
}

/// The reference page, in Markdown.
pub fn reference() -> String {
    let mut page = String::from(
        "# The environment of a task\n\
        \n\
        Every task finds these variables when it starts. `<role>` stands for the name of a task role, both as written and\n\
        with its lower-case letters and digits alone (`ps_server` and `psserver`); `<index>` for the number of a task in its\n\
        role, from 0; `<port>` for the label of a port. Every task has the ports `ssh` and `http`, one of each unless the job\n\
        asks for more.\n",
    );
    for group in families::GROUPS {
        let title = group.title();
        let _ = writeln!(
            page,
            "\n## {title}\n\n| variable | what it holds |\n| --- | --- |"
        );
        for family in FAMILIES.iter().filter(|family| family.group == *group) {
            let _ = writeln!(page, "| `{}` | {} |", family.pattern, family.doc);
        }
    }
    page
}
