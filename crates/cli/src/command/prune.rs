use clap::Args;
use pinnace_control::module::Modules;
use pinnace_control::{abandoned, control};

use super::rm::{datasets_of, point_at, remove_job};
use super::{Exit, Format, print_json};
use crate::moment::parse_span;
use crate::state::{self, store_failed};
use crate::terminal::{self, Color};

/// Remove all jobs that ended some time ago, with their logs and work folders
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pinnace prune                     all jobs that have ended
  pinnace prune --older-than 7d     those that ended more than a week ago
  pinnace prune --dry-run           only tells which")]
pub(crate) struct Prune {
    /// Only jobs that ended longer ago than this, such as `7d` or `12h`
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = parse_span)]
    older_than: u64,

    /// Tell what would be removed, and remove nothing
    #[arg(short = 'n', long)]
    dry_run: bool,

    /// How to show what was removed
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output_format: Format,
}

impl Prune {
    pub(crate) fn run(self, color: Color) -> Exit {
        self.prune(color).unwrap_or_else(|exit| exit)
    }

    fn prune(&self, color: Color) -> Result<Exit, Exit> {
        let mut store = state::open(color)?;
        let jobs = store
            .list(false)
            .map_err(|error| store_failed(color, &error))?;
        let now = control::now();
        let is_old = |end| now.since(end) / 1000 >= self.older_than;
        let mut removed = Vec::new();
        for job in jobs
            .into_iter()
            .filter(|job| job.finished.is_some_and(is_old))
        {
            let datasets = datasets_of(&store, &job.id, color)?;
            if !datasets.is_empty() {
                let id = &job.id;
                terminal::talk(&format!(
                    "kept {id}: {} its files; `pinnace rm --force {id}` removes them all the same\n",
                    point_at(&datasets)
                ));
            } else if self.dry_run || remove_job(&mut store, &job.id, color)? {
                removed.push(job.id);
            }
        }
        if !self.dry_run {
            Modules::of(store.folder().path())
                .sweep(&store)
                .map_err(|error| store_failed(color, &error))?;
            abandoned::sweep(&mut store).map_err(|error| store_failed(color, &error))?;
            store.tidy().map_err(|error| store_failed(color, &error))?;
        }
        match self.output_format {
            Format::Json => print_json(&removed),
            Format::Text => {
                for id in &removed {
                    terminal::print(&format!("{id}\n"));
                }
                let count = pinnace_core::words::count(removed.len(), "job");
                let done = if self.dry_run {
                    "would remove"
                } else {
                    "removed"
                };
                terminal::talk(&format!("{done} {count}\n"));
            }
        }
        Ok(Exit::Clean)
    }
}
