//! The ranks of a distributed component: each is a task of the one role.

use pinnace_core::origin::{Cause, Origin};
use pinnace_core::text::Text;

use super::Lowering;
use crate::component::model::Kind;
use crate::component::read::at;
use crate::yaml::access::integer;

/// A role has no more tasks than this.
const MOST_RANKS: u64 = 10_000;

/// Where version 2 says what starts the ranks.
const DISTRIBUTION: &[&str] = &["runsettings.distribution.type", "distribution.type"];

impl Lowering<'_, '_> {
    /// How many nodes, and how many processes on each.
    pub(super) fn layout(&self) -> (u32, u32) {
        let count = |set: Option<super::settings::Set<'_>>| {
            set.and_then(|set| integer(set.node))
                .and_then(|number| u32::try_from(number).ok())
                .unwrap_or(1)
                .max(1)
        };
        (
            count(self.settings.node_count()),
            count(self.settings.process_count()),
        )
    }

    fn has_ranks(&self) -> bool {
        let is_distribution = DISTRIBUTION
            .iter()
            .any(|path| at(self.component.root, path).is_some());
        self.is(Kind::Distributed)
            || self.is(Kind::Parallel)
            || (self.is(Kind::Command) && is_distribution)
    }

    /// How many tasks work at it, with the origin of that number.
    pub(super) fn instances(&mut self) -> u32 {
        let (nodes, processes) = self.layout();
        let (nodes, processes) = if self.has_ranks() {
            (nodes, processes)
        } else {
            // One command on several nodes is the same command several times.
            (nodes, 1)
        };
        let total = (u64::from(nodes) * u64::from(processes)).min(MOST_RANKS);
        let sets = [self.settings.node_count(), self.settings.process_count()];
        let via: Vec<Origin> = sets
            .into_iter()
            .flatten()
            .map(|set| self.trace.written(set.node, set.path))
            .collect();
        self.trace
            .note(Self::role_path("instances"), |_| match via.len() {
                0 => Origin::default_rule(
                    "one node with one process unless the run settings say more",
                ),
                _ => Origin {
                    cause: Cause::Made {
                        how: "nodes times processes on each".to_owned(),
                    },
                    place: None,
                    via,
                },
            });
        u32::try_from(total).unwrap_or(1)
    }

    /// Exports what launchers tell their ranks.
    pub(super) fn rank_variables(&self) -> Vec<Text> {
        let mut lines = vec!["export AZUREML_RUN_ID=\"${FC_FRAMEWORK_NAME:-local}\"".to_owned()];
        if self.has_ranks() {
            let (nodes, processes) = self.layout();
            lines.extend([
                format!("export LOCAL_RANK=$((RANK % {processes})) LOCAL_WORLD_SIZE={processes}"),
                format!("export NODE_RANK=$((RANK / {processes})) NODE_COUNT={nodes}"),
                "export GROUP_RANK=$NODE_RANK GROUP_WORLD_SIZE=$NODE_COUNT AZUREML_NODE_COUNT=$NODE_COUNT"
                    .to_owned(),
            ]);
            if self.is_mpi() {
                lines.extend([
                    "export OMPI_COMM_WORLD_RANK=$RANK OMPI_COMM_WORLD_SIZE=$WORLD_SIZE".to_owned(),
                    "export OMPI_COMM_WORLD_LOCAL_RANK=$LOCAL_RANK OMPI_COMM_WORLD_LOCAL_SIZE=$LOCAL_WORLD_SIZE"
                        .to_owned(),
                    "export OMPI_COMM_WORLD_NODE_RANK=$LOCAL_RANK".to_owned(),
                    // As MPICH and Intel MPI call them. Nothing that would make a library look for its launcher.
                    "export PMI_RANK=$RANK PMI_SIZE=$WORLD_SIZE".to_owned(),
                    "export MPI_LOCALRANKID=$LOCAL_RANK MPI_LOCALNRANKS=$LOCAL_WORLD_SIZE".to_owned(),
                    "export MV2_COMM_WORLD_RANK=$RANK MV2_COMM_WORLD_SIZE=$WORLD_SIZE".to_owned(),
                    "export MV2_COMM_WORLD_LOCAL_RANK=$LOCAL_RANK MV2_COMM_WORLD_LOCAL_SIZE=$LOCAL_WORLD_SIZE"
                        .to_owned(),
                    "export AZ_BATCH_MASTER_NODE=\"$MASTER_ADDR:$MASTER_PORT\"".to_owned(),
                ]);
            }
        }
        lines.into_iter().map(Text::from).collect()
    }

    fn is_mpi(&self) -> bool {
        let root = self.component.root;
        let word = at(root, "launcher.type")
            .or_else(|| DISTRIBUTION.iter().find_map(|path| at(root, path)))
            .and_then(|node| node.as_text())
            .unwrap_or_default();
        word.eq_ignore_ascii_case("mpi")
    }
}
