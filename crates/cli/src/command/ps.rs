use std::fmt::Write as _;

use clap::Args;
use pinnace_control::job::Summary;
use pinnace_core::lifecycle::Shown;

use super::{Exit, Format, print_json};
use crate::live::word;
use crate::moment::{ago, span};
use crate::state::{self, store_failed};
use crate::terminal::{self, Color};

/// How many jobs that have ended are listed without `--all`.
const MOST_ENDED: usize = 10;

/// List jobs: those that have not ended, and the latest of the others
#[derive(Debug, Args)]
pub(crate) struct Ps {
    /// List all jobs
    #[arg(short, long)]
    all: bool,

    /// How to show the list
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output_format: Format,
}

impl Ps {
    pub(crate) fn run(self, color: Color) -> Exit {
        let store = match state::open(color) {
            Ok(store) => store,
            Err(exit) => return exit,
        };
        let mut jobs = match store.list(false) {
            Ok(jobs) => jobs,
            Err(error) => return store_failed(color, &error),
        };
        jobs.reverse();
        let mut ended = 0;
        jobs.retain(|job| {
            ended += usize::from(job.finished.is_some());
            self.all || job.finished.is_none() || ended <= MOST_ENDED
        });
        match self.output_format {
            Format::Json => print_json(&jobs),
            Format::Text if jobs.is_empty() => terminal::talk("no jobs yet\n"),
            Format::Text => terminal::print(&table(&jobs)),
        }
        Exit::Clean
    }
}

fn table(jobs: &[Summary]) -> String {
    let width = jobs
        .iter()
        .map(|job| job.id.as_str().len())
        .max()
        .unwrap_or(0)
        .max(3);
    let mut table = format!(
        "{:<width$}  {:<9}  {:<14}  {:<12}  {:<12}  {}\n",
        "JOB", "STATE", "TASKS", "SUBMITTED", "TOOK", "WHY"
    );
    for job in jobs {
        let took = match job.finished {
            Some(end) => span(end.since(job.submitted)),
            None => ago(job.submitted),
        };
        let why = match (&job.waits, job.state) {
            (Some(why), _) => why.as_str(),
            (None, Shown::Failed) => job.phrase.as_deref().unwrap_or_default(),
            _ => "",
        };
        let line = format!(
            "{:<width$}  {:<9}  {:<14}  {:<12}  {:<12}  {why}",
            job.id.as_str(),
            word(job.state),
            tasks(job),
            format!("{} ago", ago(job.submitted)),
            took,
        );
        let _ = writeln!(table, "{}", line.trim_end());
    }
    table
}

/// Such as `3 of 4 run` or `4 of 4 done`.
fn tasks(job: &Summary) -> String {
    if job.finished.is_none() {
        return format!("{} of {} run", job.running, job.tasks);
    }
    match job.failed {
        0 => format!("{} of {} done", job.succeeded, job.tasks),
        failed => format!("{failed} of {} failed", job.tasks),
    }
}
