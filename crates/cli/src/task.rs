//! Tasks as users name them: `worker[1]`, or `worker` for all of a role.

use pinnace_core::plan::Plan;
use pinnace_exec::TaskId;

/// What a user means by a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskWord {
    role: String,
    index: Option<u32>,
}

impl TaskWord {
    /// Reads a word and checks that the plan has such a task.
    pub(crate) fn parse(word: &str, plan: &Plan) -> Result<Self, String> {
        let (role, index) = match word
            .strip_suffix(']')
            .and_then(|rest| rest.rsplit_once('['))
        {
            Some((role, index)) => {
                let index = index
                    .parse()
                    .map_err(|_| format!("`{word}` is no task; `worker[0]` is one"))?;
                (role, Some(index))
            }
            None => (word, None),
        };
        let Some(known) = plan.roles.get(role) else {
            let roles: Vec<String> = plan.roles.keys().map(|name| format!("`{name}`")).collect();
            return Err(format!(
                "the job has no role `{role}`; it has {}",
                pinnace_core::words::listed(&roles, "and")
            ));
        };
        if index.is_some_and(|index| index >= known.instances) {
            return Err(format!(
                "the role `{role}` has {}, counted from 0",
                pinnace_core::words::count(known.instances as usize, "task")
            ));
        }
        Ok(Self {
            role: role.to_owned(),
            index,
        })
    }

    /// Whether a task is meant.
    pub(crate) fn means(&self, task: &TaskId) -> bool {
        self.role == task.role && self.index.is_none_or(|index| index == task.index)
    }

    /// The single task that is meant; of a whole role, the first.
    pub(crate) fn first(&self) -> TaskId {
        TaskId {
            role: self.role.clone(),
            index: self.index.unwrap_or(0),
        }
    }
}
