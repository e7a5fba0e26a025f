//! Tests of the store and of the loop, with an engine that does as it is told.

mod dataset;
mod fake;
mod recovery;
mod store;

use std::time::{Duration, Instant};

use pinnace_core::plan::{Completion, Placement, Plan, Resources, Retry, Role, RolePlacement};
use pinnace_core::text::Text;
use pinnace_exec::Secrets;

use crate::control::Control;
use crate::engine::Engine;
use crate::job::{Options, Submission};

/// Nothing here takes longer, on however busy a machine.
const DEADLINE: Duration = Duration::from_mins(1);

/// A role whose tasks do what the fake engine reads in its command.
pub(crate) fn role(instances: u32, command: &str) -> Role {
    Role {
        instances,
        image: None,
        resources: Resources {
            cpu: 1,
            memory_mb: 1,
            gpu: 0,
            shm_mb: 0,
            infiniband: false,
        },
        ports: [].into_iter().collect(),
        env: [].into_iter().collect(),
        mounts: Vec::new(),
        before: Vec::new(),
        command: vec![Text::from(command)],
        after: Vec::new(),
        completion: Completion {
            min_failed: Some(1),
            min_succeeded: None,
        },
        retry: Retry { limit: 0 },
        placement: RolePlacement::default(),
        ..Role::default()
    }
}

pub(crate) fn plan(roles: Vec<(&str, Role)>) -> Plan {
    Plan {
        name: "test".to_owned(),
        labels: [].into_iter().collect(),
        roles: roles
            .into_iter()
            .map(|(name, role)| (name.to_owned(), role))
            .collect(),
        secrets: Vec::new(),
        retry: Retry { limit: 0 },
        placement: Placement {
            virtual_cluster: "default".to_owned(),
            priority: 0,
            gang: true,
            gang_release: None,
            lazy_preemption: None,
            ignore_suggested_nodes: None,
        },
        notify: Vec::new(),
        ..Plan::default()
    }
}

/// A folder in memory where there is one: nothing here is about the speed of disks.
fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .unwrap()
}

pub(crate) fn submission(plan: Plan) -> Submission {
    Submission {
        plan,
        options: Options::default(),
        secrets: Secrets::default(),
    }
}

/// Turns until the job has ended.
fn finish<E: Engine>(control: &mut Control<E>) {
    let begin = Instant::now();
    while !control.is_finished() {
        assert!(begin.elapsed() < DEADLINE, "{:?}", control.job().state);
        control.turn(Duration::from_millis(20)).unwrap();
    }
}
