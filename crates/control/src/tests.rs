//! Tests of the store and of the loop, with an engine that does as it is told.

mod dataset;
mod fake;
mod recovery;
mod store;

use std::time::{Duration, Instant};

use pinnace_core::plan::{Completion, Placement, Plan, Resources, Role};
use pinnace_core::text::Text;
use pinnace_exec::Secrets;

use crate::control::Control;
use crate::engine::Engine;
use crate::job::{Options, Submission};

/// Nothing here takes longer, on however busy a machine.
const DEADLINE: Duration = Duration::from_mins(3);

/// A role whose tasks do what the fake engine reads in its command.
pub(crate) fn role(instances: u32, command: &str) -> Role {
    Role {
        instances,
        resources: Resources {
            cpu: 1,
            memory_mb: 1,
            ..Resources::default()
        },
        command: vec![Text::from(command)],
        completion: Completion {
            min_failed: Some(1),
            min_succeeded: None,
        },
        ..Role::default()
    }
}

pub(crate) fn plan(roles: Vec<(&str, Role)>) -> Plan {
    Plan {
        name: "test".to_owned(),
        roles: roles
            .into_iter()
            .map(|(name, role)| (name.to_owned(), role))
            .collect(),
        placement: Placement {
            virtual_cluster: "default".to_owned(),
            gang: true,
            ..Placement::default()
        },
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
