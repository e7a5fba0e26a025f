//! Completion policies as people write them, each with a way to succeed and a way to fail.

use std::fmt::Write as _;

use crate::support::{Place, job};

/// Runs until it is stopped.
const FOREVER: &str = "while true; do sleep 0.05; done";

/// A role: its name, instances, completion policy and command.
type Role = (&'static str, u32, (i32, i32), &'static str);

struct Recipe {
    name: &'static str,
    roles: &'static [Role],
    /// What becomes of the job, and the code.
    state: &'static str,
    code: i64,
    /// The task that decides, and the words for that.
    by: &'static str,
    why: &'static str,
    /// What becomes of all tasks.
    tasks: &'static str,
}

const RECIPES: &[Recipe] = &[
    Recipe {
        name: "wait-for-all",
        roles: &[
            ("ps", 1, (1, -1), "true"),
            ("worker", 2, (1, -1), "sleep $((PAI_TASK_INDEX * 2))"),
        ],
        state: "SUCCEEDED",
        code: 0,
        by: "worker[1]",
        why: "CompletedTaskCount 3 has reached TotalTaskCount 3 and no user specified conditions in \
              FrameworkAttemptCompletionPolicy have ever been triggered",
        tasks: "ps[0] SUCCEEDED, worker[0] SUCCEEDED, worker[1] SUCCEEDED",
    },
    Recipe {
        name: "wait-for-all-fails",
        roles: &[
            ("ps", 1, (1, -1), FOREVER),
            (
                "worker",
                2,
                (1, -1),
                "[ $PAI_TASK_INDEX = 1 ] && exit 9\nwhile true; do sleep 0.05; done",
            ),
        ],
        state: "FAILED",
        code: 255,
        by: "worker[1]",
        why: "FailedTaskCount 1 has reached MinFailedTaskCount 1 in the TaskRole",
        tasks: "ps[0] STOPPED, worker[0] STOPPED, worker[1] FAILED",
    },
    Recipe {
        name: "master",
        roles: &[
            ("master", 1, (1, 1), "sleep 3"),
            (
                "worker",
                2,
                (-1, -1),
                "[ $PAI_TASK_INDEX = 1 ] && exit 9\nwhile true; do sleep 0.05; done",
            ),
        ],
        state: "SUCCEEDED",
        code: 0,
        by: "master[0]",
        why: "SucceededTaskCount 1 has reached MinSucceededTaskCount 1 in the TaskRole",
        tasks: "master[0] SUCCEEDED, worker[0] STOPPED, worker[1] FAILED",
    },
    Recipe {
        name: "master-fails",
        roles: &[
            ("master", 1, (1, 1), "exit 9"),
            ("worker", 2, (-1, -1), FOREVER),
        ],
        state: "FAILED",
        code: 255,
        by: "master[0]",
        why: "FailedTaskCount 1 has reached MinFailedTaskCount 1 in the TaskRole",
        tasks: "master[0] FAILED, worker[0] STOPPED, worker[1] STOPPED",
    },
    Recipe {
        name: "parameter-server",
        roles: &[
            ("ps", 2, (1, -1), FOREVER),
            ("worker", 2, (1, 2), "sleep $((PAI_TASK_INDEX * 2))"),
        ],
        state: "SUCCEEDED",
        code: 0,
        by: "worker[1]",
        why: "SucceededTaskCount 2 has reached MinSucceededTaskCount 2 in the TaskRole",
        tasks: "ps[0] STOPPED, ps[1] STOPPED, worker[0] SUCCEEDED, worker[1] SUCCEEDED",
    },
    Recipe {
        name: "parameter-server-fails",
        roles: &[
            (
                "ps",
                2,
                (1, -1),
                "[ $PAI_TASK_INDEX = 0 ] && exit 9\nwhile true; do sleep 0.05; done",
            ),
            ("worker", 2, (1, 2), FOREVER),
        ],
        state: "FAILED",
        code: 255,
        by: "ps[0]",
        why: "FailedTaskCount 1 has reached MinFailedTaskCount 1 in the TaskRole",
        tasks: "ps[0] FAILED, ps[1] STOPPED, worker[0] STOPPED, worker[1] STOPPED",
    },
    Recipe {
        name: "any-worker",
        roles: &[(
            "worker",
            3,
            (3, 1),
            "[ $PAI_TASK_INDEX = 0 ] && exit 9\n[ $PAI_TASK_INDEX = 1 ] && sleep 3 && exit 0\n\
             while true; do sleep 0.05; done",
        )],
        state: "SUCCEEDED",
        code: 0,
        by: "worker[1]",
        why: "SucceededTaskCount 1 has reached MinSucceededTaskCount 1 in the TaskRole",
        tasks: "worker[0] FAILED, worker[1] SUCCEEDED, worker[2] STOPPED",
    },
    Recipe {
        name: "any-worker-fails",
        roles: &[("worker", 3, (3, 1), "sleep $((PAI_TASK_INDEX * 2))\nexit 9")],
        state: "FAILED",
        code: 255,
        by: "worker[2]",
        why: "FailedTaskCount 3 has reached MinFailedTaskCount 3 in the TaskRole",
        tasks: "worker[0] FAILED, worker[1] FAILED, worker[2] FAILED",
    },
    Recipe {
        name: "nobody-decides",
        roles: &[(
            "worker",
            2,
            (-1, -1),
            "sleep $((PAI_TASK_INDEX * 2))\nexit 9",
        )],
        state: "SUCCEEDED",
        code: 0,
        by: "worker[1]",
        why: "CompletedTaskCount 2 has reached TotalTaskCount 2 and no user specified conditions in \
              FrameworkAttemptCompletionPolicy have ever been triggered",
        tasks: "worker[0] FAILED, worker[1] FAILED",
    },
    Recipe {
        // Zero is what a job without a policy has: one failure, or all of the role succeed.
        name: "by-default",
        roles: &[("one", 2, (0, 0), "true"), ("other", 1, (0, 0), FOREVER)],
        state: "SUCCEEDED",
        code: 0,
        by: "one",
        why: "SucceededTaskCount 2 has reached MinSucceededTaskCount 2 in the TaskRole",
        tasks: "one[0] SUCCEEDED, one[1] SUCCEEDED, other[0] STOPPED",
    },
];

#[test]
fn every_recipe_decides_as_its_authors_mean_it() {
    let place = Place::new();
    let ids: Vec<String> = RECIPES
        .iter()
        .map(|recipe| {
            let file = place.file("recipe.yaml", &job(recipe.name, recipe.roles));
            let said = place.pinnace(&["run", "-d", &file]).succeeded();
            said.stdout.trim().to_owned()
        })
        .collect();
    for (recipe, id) in RECIPES.iter().zip(ids) {
        let said = place.pinnace(&["wait", &id]);
        assert_eq!(said.code == Some(0), recipe.code == 0, "{said:?}");
        let view = place.show(&id);
        assert_eq!(view["state"], recipe.state, "{view}");
        assert_eq!(view["code"], recipe.code, "{view}");
        assert_eq!(view["outcome"]["condition"], recipe.why, "{view}");
        let by = view["outcome"]["task"].as_str().unwrap();
        assert!(by.starts_with(recipe.by), "{view}");
        let mut tasks = String::new();
        for task in view["tasks"].as_array().unwrap() {
            let (role, state) = (
                task["role"].as_str().unwrap(),
                task["state"].as_str().unwrap(),
            );
            let comma = if tasks.is_empty() { "" } else { ", " };
            let _ = write!(tasks, "{comma}{role}[{}] {state}", task["index"]);
        }
        assert_eq!(tasks, recipe.tasks, "{}", recipe.name);
    }
}
