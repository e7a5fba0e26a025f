use clap::Args;
use pinnace_control::view::{JobView, TaskView};
use pinnace_exec::TaskId;
use pinnace_exec::local::{self, Entry};

use super::{Exit, complain, usage};
use crate::state;
use crate::task::TaskWord;
use crate::terminal::Color;

/// Open a shell in a task that runs, or that is kept after its failure
///
/// The shell sees the files of the task and its variables, but not its secrets.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pinnace shell train worker[0]
  pinnace shell train worker[0] -- 'ls -l'      runs a command instead")]
pub(crate) struct Shell {
    /// The job
    #[arg(value_name = "JOB")]
    job: String,

    /// The task, such as `worker[0]`; can be left out if the job has one
    #[arg(value_name = "ROLE[INDEX]")]
    task: Option<String>,

    /// A command to run instead of a shell for you
    #[arg(last = true, value_name = "COMMAND")]
    command: Option<String>,
}

impl Shell {
    pub(crate) fn run(self, color: Color) -> Exit {
        self.enter(color).unwrap_or_else(|exit| exit)
    }

    fn enter(&self, color: Color) -> Result<Exit, Exit> {
        let store = state::open(color)?;
        let id = state::find(&store, &self.job, color)?;
        let job = state::load(&store, &id, color)?;
        let wanted = match &self.task {
            Some(word) => Some(
                TaskWord::parse(word, &job.plan)
                    .map_err(|message| usage(color, &[message]))?
                    .first(),
            ),
            None => None,
        };
        let view = JobView::of(&job, store.folder());
        let is_wanted = |task: &&TaskView| {
            wanted
                .as_ref()
                .is_none_or(|wanted| wanted.role == task.role && wanted.index == task.index)
        };
        let tasks: Vec<&TaskView> = view.tasks.iter().filter(is_wanted).collect();
        let [task] = tasks.as_slice() else {
            let message = format!(
                "the job `{id}` has {} tasks; name one, such as `{}`",
                tasks.len(),
                view.tasks.first().map(TaskView::name).unwrap_or_default()
            );
            return Err(usage(color, &[message]));
        };
        let (Some(pid), Some(level)) = (task.facts.pid, task.facts.level) else {
            let message = format!(
                "{} does not run; `pinnace run --keep-on-failure 30m` keeps tasks that fail",
                task.name()
            );
            complain(color, &message);
            return Err(Exit::Problems);
        };
        let launch = job.task_of_engine(&engine_id(task)).and_then(|task| {
            let (launch, _) = job.last_launch_of(task)?;
            Some(launch.number)
        });
        let entry = Entry {
            folder: store.folder().launch(&id, launch.unwrap_or_default()),
            task: engine_id(task),
            pid,
            level,
        };
        drop(store);
        match local::enter(&entry, self.command.as_deref()) {
            Ok(code) => Ok(Exit::Code(u8::try_from(code).unwrap_or(1))),
            Err(error) => {
                complain(color, &format!("cannot enter {}: {error}", task.name()));
                Err(Exit::Engine)
            }
        }
    }
}

fn engine_id(task: &TaskView) -> TaskId {
    TaskId {
        role: task.role.clone(),
        index: task.index,
    }
}
