//! Whether this machine can run a job at all. What it must refuse is refused before anything is stored.

use std::fmt;

use pinnace_core::lifecycle::{TaskAttempt, TaskId};
use pinnace_core::plan::{Plan, Resources};
use pinnace_core::words;

use crate::job::Submission;
use crate::place::{self, Answer, Claims, Room, Want};

/// A job that this machine can run, now or later.
#[derive(Debug)]
pub struct Admitted {
    pub(crate) submission: Submission,
    /// What the machine has; nothing if nobody had to ask.
    pub(crate) room: Option<Room>,
}

impl Admitted {
    /// What is to run.
    pub fn plan(&self) -> &Plan {
        &self.submission.plan
    }
}

/// Why this machine can never run a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// With the arithmetic.
    pub why: String,
    /// What can be done about it.
    pub help: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this machine cannot run the job: {}", self.why)
    }
}

impl std::error::Error for Refused {}

impl Submission {
    /// Looks whether this machine can run the job.
    pub fn admit(self) -> Result<Admitted, Refused> {
        let roles = || self.plan.roles.values();
        let with_cards = roles().any(|role| role.resources.gpu > 0);
        let room = (!self.options.simulate_resources).then(|| Room::here(with_cards));
        self.admit_to(room)
    }

    fn admit_to(self, room: Option<Room>) -> Result<Admitted, Refused> {
        self.storages_are_known()?;
        if let Some(room) = &room {
            resources_are_there(&self.plan, room)?;
        }
        Ok(Admitted {
            submission: self,
            room,
        })
    }

    fn storages_are_known(&self) -> Result<(), Refused> {
        let mounts = self.plan.roles.values().flat_map(|role| &role.mounts);
        for mount in mounts {
            // A name that a secret is part of is left to the engine, which may know its value.
            let Some(name) = mount.storage.as_literal() else {
                continue;
            };
            if !self.options.storages.contains_key(name) {
                return Err(Refused {
                    why: format!("no folder is known for the storage `{name}`"),
                    help: format!("`--storage {name}=DIR` says where it lies"),
                });
            }
        }
        Ok(())
    }
}

fn resources_are_there(plan: &Plan, room: &Room) -> Result<(), Refused> {
    let groups: Vec<Vec<Want>> = match plan.placement.gang {
        true => vec![wants(plan).collect()],
        false => wants(plan)
            .filter(|want| want.task.task.index == 0)
            .map(|want| vec![want])
            .collect(),
    };
    for group in groups {
        if let Answer::Refused(why) = place::decide(&group, room, &Claims::default()) {
            let why = match plan.placement.gang && plan.roles.len() > 1 {
                true => format!("{why} ({})", sum(plan)),
                false => why,
            };
            return Err(Refused {
                why,
                help: "`--simulate-resources` runs the job all the same".to_owned(),
            });
        }
    }
    Ok(())
}

fn wants(plan: &Plan) -> impl Iterator<Item = Want> {
    let roles = plan.roles.values().zip(0..);
    roles.flat_map(|(role, number)| {
        (0..role.instances).map(move |index| Want {
            task: TaskAttempt {
                job_attempt: 0,
                task: TaskId {
                    role: number,
                    index,
                },
                attempt: 0,
            },
            memory_mb: role.resources.memory_mb,
            gpus: role.resources.gpu,
        })
    })
}

/// What each role asks for, such as `worker: 4 tasks with 2 GPU cards and 8192 MiB each`.
fn sum(plan: &Plan) -> String {
    let each = |resources: &Resources| {
        let cards = words::count(resources.gpu as usize, "GPU card");
        match resources.gpu {
            0 => format!("{} MiB", resources.memory_mb),
            _ => format!("{cards} and {} MiB", resources.memory_mb),
        }
    };
    let roles = plan.roles.iter().map(|(name, role)| {
        let tasks = words::count(role.instances as usize, "task");
        let every = if role.instances == 1 { "" } else { " each" };
        format!("{name}: {tasks} with {}{every}", each(&role.resources))
    });
    roles.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use pinnace_core::plan::Mount;
    use pinnace_core::text::Text;

    use super::*;
    use crate::tests::{plan, role, submission};

    fn room() -> Room {
        Room {
            memory_mb: 1000,
            cards: vec![0],
        }
    }

    fn asks(memory_mb: u64, gpu: u32, instances: u32) -> pinnace_core::plan::Role {
        let mut asks = role(instances, "exit 0");
        asks.resources.memory_mb = memory_mb;
        asks.resources.gpu = gpu;
        asks
    }

    #[test]
    fn a_gang_that_never_fits_is_refused_with_what_each_role_asks_for() {
        let plan = plan(vec![
            ("worker", asks(400, 1, 2)),
            ("server", asks(300, 0, 1)),
        ]);
        let refused = submission(plan).admit_to(Some(room())).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "this machine cannot run the job: 3 tasks that start together ask for 2 GPU cards, and this machine has 1 \
             (worker: 2 tasks with 1 GPU card and 400 MiB each; server: 1 task with 300 MiB)"
        );
        assert!(refused.help.contains("--simulate-resources"));
    }

    #[test]
    fn without_a_gang_each_task_must_fit_by_itself() {
        let mut fits = plan(vec![("worker", asks(600, 1, 8))]);
        fits.placement.gang = false;
        assert!(submission(fits.clone()).admit_to(Some(room())).is_ok());
        fits.roles[0].resources.memory_mb = 1001;
        let refused = submission(fits).admit_to(Some(room())).unwrap_err();
        assert!(refused.why.contains("1001 MiB"), "{refused}");
    }

    #[test]
    fn what_is_simulated_is_not_asked_for() {
        let plan = plan(vec![("worker", asks(4000, 3, 2))]);
        assert!(submission(plan).admit_to(None).is_ok());
    }

    #[test]
    fn a_storage_without_a_folder_is_refused_with_the_flag_that_names_one() {
        let mut reads = role(1, "exit 0");
        reads.mounts.push(Mount {
            name: "data".to_owned(),
            storage: Text::from("nfs"),
            target: Text::from("/mnt/nfs"),
        });
        let mut reading = submission(plan(vec![("worker", reads)]));
        reading
            .options
            .storages
            .insert("nfs".to_owned(), "/".into());
        let storages = std::mem::take(&mut reading.options.storages);
        let unknown = Submission {
            plan: reading.plan.clone(),
            ..submission(plan(Vec::new()))
        };
        let refused = unknown.admit_to(Some(room())).unwrap_err();
        assert!(refused.help.contains("--storage nfs=DIR"), "{refused:?}");
        reading.options.storages = storages;
        assert!(reading.admit_to(Some(room())).is_ok());
    }
}
