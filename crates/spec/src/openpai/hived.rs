//! Checks of the HiveD settings that need no cluster.

use std::collections::HashMap;

use super::model::Job;
use super::read::{entries, value};
use crate::diagnostic::suggest::closest;
use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::yaml::{Entry, Node};

/// Reports roles that do not exist, and hardware that contradicts itself.
pub fn check(job: &Job<'_>, out: &mut Diagnostics) {
    let Some(roles) = job.extras.hived.and_then(|hived| value(hived, "taskRoles")) else {
        return;
    };
    let mut groups: HashMap<&str, (&Entry<'_>, Hardware<'_>)> = HashMap::new();
    for entry in entries(Some(roles)) {
        if job.role(&entry.key.text).is_none() {
            out.push(unknown_role(job, entry));
            continue;
        }
        let hardware = Hardware::of(&entry.value);
        if let (Some(sku), Some(cell)) = (hardware.sku, hardware.cell) {
            let message = format!(
                "task role `{}` asks for both a SKU and a pinned cell",
                entry.key.text
            );
            out.push(
                Diagnostic::new(&codes::SKU_AND_CELL, cell.span, message)
                    .label("the pinned cell")
                    .related(sku.span, "the SKU")
                    .help(
                        "a pinned cell already is of one kind of hardware; take one of the two out",
                    ),
            );
        }
        let group = value(&entry.value, "affinityGroupName").and_then(Node::as_text);
        let Some(group) = group else { continue };
        match groups.get(group) {
            Some((first, other)) if !other.equals(&hardware) => {
                let message = format!(
                    "task roles `{}` and `{}` are in one affinity group and ask for different hardware",
                    first.key.text, entry.key.text
                );
                out.push(
                    Diagnostic::new(&codes::UNEVEN_AFFINITY, entry.key.span, message)
                        .label(format!("also in group `{group}`"))
                        .related(first.key.span, format!("in group `{group}`"))
                        .help("give all roles of a group the same `skuType` or the same `pinnedCellId`"),
                );
            }
            Some(_) => {}
            None => {
                groups.insert(group, (entry, hardware));
            }
        }
    }
}

/// What a role asks for.
struct Hardware<'d> {
    sku: Option<&'d Node<'d>>,
    cell: Option<&'d Node<'d>>,
}

impl<'d> Hardware<'d> {
    fn of(settings: &'d Node<'d>) -> Self {
        let first = |keys: [&str; 2]| keys.into_iter().find_map(|key| value(settings, key));
        Hardware {
            sku: first(["skuType", "gpuType"]),
            cell: first(["pinnedCellId", "reservationId"]),
        }
    }

    fn equals(&self, other: &Hardware<'_>) -> bool {
        let text = |node: Option<&Node<'_>>| node.and_then(Node::as_text).map(str::to_owned);
        text(self.sku) == text(other.sku) && text(self.cell) == text(other.cell)
    }
}

fn unknown_role(job: &Job<'_>, entry: &Entry<'_>) -> Diagnostic {
    let message = format!("the job has no task role `{}` to schedule", entry.key.text);
    let diagnostic = Diagnostic::new(&codes::UNKNOWN_SCHEDULED_ROLE, entry.key.span, message)
        .label("no such task role");
    let roles = || job.roles.iter().map(|role| role.name.text);
    match closest(&entry.key.text, roles()) {
        Some(similar) => diagnostic.help(format!("did you mean `{similar}`?")).fix(
            "name the role that exists",
            entry.key.span,
            similar,
        ),
        None => diagnostic.help(format!(
            "the task roles are {}",
            super::catalog::list(roles())
        )),
    }
}
