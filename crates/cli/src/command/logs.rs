use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use pinnace_control::execution_log;
use pinnace_control::job::Job;
use pinnace_control::store::Store;
use pinnace_exec::TaskId;
use pinnace_exec::local::Layout;
use pinnace_exec::log::Stream;

use super::{Exit, usage};
use crate::live::follow::{Follower, printable};
use crate::state::{self, store_failed};
use crate::task::TaskWord;
use crate::terminal::{self, Color};

/// How often logs are looked at while they are followed.
const PACE: Duration = Duration::from_millis(100);

/// Show what tasks have written
///
/// Without a task, the logs of all tasks are shown, each line behind the name of its task.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pinnace logs train                      all tasks of the latest job `train`
  pinnace logs train worker[0]            one task
  pinnace logs train worker[0] --runtime  what its hooks said, and when its command started and ended
  pinnace logs train -f                   until the job has ended
  pinnace logs train --execution          how a Hemera job was queued, submitted and polled")]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub(crate) struct Logs {
    /// The job
    #[arg(value_name = "JOB")]
    job: String,

    /// A task such as `worker[0]`, or a role
    #[arg(value_name = "ROLE[INDEX]")]
    task: Option<String>,

    /// Go on until the job has ended
    #[arg(short, long)]
    follow: bool,

    /// Only what hooks wrote, and when the command started and ended
    #[arg(long, conflicts_with_all = ["stdout", "stderr", "all"])]
    runtime: bool,

    /// Only the command's standard output
    #[arg(long, conflicts_with_all = ["stderr", "all"])]
    stdout: bool,

    /// Only the command's standard error
    #[arg(long, conflicts_with = "all")]
    stderr: bool,

    /// What hooks wrote as well
    #[arg(long)]
    all: bool,

    /// What the platform of its module would say of the job: `logs/azureml/executionlogs.txt`
    #[arg(long, conflicts_with_all = ["task", "runtime", "stdout", "stderr", "all", "attempt"])]
    execution: bool,

    /// The attempt of the job, from 0; the last one if it is not given
    #[arg(long, value_name = "N")]
    attempt: Option<u32>,
}

/// The log of one task.
struct Source {
    task: TaskId,
    followers: Vec<Follower>,
}

impl Logs {
    pub(crate) fn run(self, color: Color) -> Exit {
        self.show(color).unwrap_or_else(|exit| exit)
    }

    fn show(&self, color: Color) -> Result<Exit, Exit> {
        let store = state::open(color)?;
        let id = state::find(&store, &self.job, color)?;
        let mut job = state::load(&store, &id, color)?;
        if self.execution {
            return self.show_execution(&store, job, color);
        }
        let word = match &self.task {
            Some(word) => {
                Some(TaskWord::parse(word, &job.plan).map_err(|message| usage(color, &[message]))?)
            }
            None => None,
        };
        let mut sources: Vec<(PathBuf, Source)> = Vec::new();
        let mut version = None;
        loop {
            let finished = job.finished.is_some();
            self.add_sources(&store, &job, word.as_ref(), &mut sources);
            let alone = word.is_some() && sources.len() == 1;
            for (_, source) in &mut sources {
                source.print(alone, finished || !self.follow);
            }
            if finished || !self.follow {
                break;
            }
            std::thread::sleep(PACE);
            let now = store
                .version()
                .map_err(|error| store_failed(color, &error))?;
            if version.replace(now) != Some(now) {
                job = state::load(&store, &id, color)?;
            }
        }
        if sources.is_empty() {
            terminal::talk("nothing of the job has started yet\n");
        }
        Ok(Exit::Clean)
    }

    fn show_execution(&self, store: &Store, mut job: Job, color: Color) -> Result<Exit, Exit> {
        if job.plan.module.is_none() {
            let message = format!("`{}` runs no module, and has no execution log", job.id);
            return Err(usage(color, &[message]));
        }
        let path = execution_log::path(store.folder(), &job.id);
        let mut seen = 0;
        loop {
            let is_over = job.finished.is_some() && execution_log::finish(&job, store.folder());
            let text = std::fs::read(&path).unwrap_or_default();
            let new = text.get(seen..).unwrap_or_default();
            // The end of the last line may not be written yet.
            let whole = new.iter().rposition(|byte| *byte == b'\n');
            let new = new
                .get(..whole.map_or(0, |end| end + 1))
                .unwrap_or_default();
            seen += new.len();
            terminal::print(&String::from_utf8_lossy(new));
            if is_over || (job.finished.is_none() && !self.follow) {
                return Ok(Exit::Clean);
            }
            std::thread::sleep(PACE);
            job = state::load(store, &job.id, color)?;
        }
    }

    /// Finds the logs of tasks that were started since the last look.
    fn add_sources(
        &self,
        store: &Store,
        job: &Job,
        word: Option<&TaskWord>,
        sources: &mut Vec<(PathBuf, Source)>,
    ) {
        let last = job
            .launches
            .iter()
            .flat_map(|launch| &launch.tasks)
            .map(|placed| placed.task.job_attempt)
            .max();
        let wanted = self.attempt.or(if self.follow { None } else { last });
        for launch in &job.launches {
            for placed in &launch.tasks {
                let task = job.engine_task(placed.task.task);
                let is_wanted = wanted.is_none_or(|number| number == placed.task.job_attempt)
                    && word.is_none_or(|word| word.means(&task));
                let logs = Layout::new(store.folder().launch(&job.id, launch.number)).logs(&task);
                if is_wanted && !sources.iter().any(|(known, _)| *known == logs) {
                    let followers = self
                        .streams()
                        .iter()
                        .map(|stream| Follower::new(&logs, *stream))
                        .collect();
                    sources.push((logs, Source { task, followers }));
                }
            }
        }
    }

    fn streams(&self) -> &'static [Stream] {
        match (self.runtime, self.stdout, self.stderr, self.all) {
            (true, ..) => &[Stream::Runtime],
            (_, true, ..) => &[Stream::Stdout],
            (_, _, true, _) => &[Stream::Stderr],
            (.., true) => &[Stream::Runtime, Stream::All],
            _ => &[Stream::All],
        }
    }
}

impl Source {
    fn print(&mut self, alone: bool, last: bool) {
        let mut out = std::io::BufWriter::with_capacity(64 << 10, std::io::stdout().lock());
        for follower in &mut self.followers {
            follower.lines(last, |line| {
                // A reader that has gone away (`| head`) is no error.
                let _ = match alone {
                    true => writeln!(out, "{line}"),
                    false => writeln!(out, "{} | {}", self.task, printable(line)),
                };
            });
        }
        let _ = out.flush();
    }
}
