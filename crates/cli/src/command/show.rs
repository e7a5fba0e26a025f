use std::fmt::Write as _;

use clap::Args;
use pinnace_control::view::JobView;
use pinnace_core::words;
use pinnace_exec::Collected;

use super::run::bold;
use super::{Exit, Format, print_json};
use crate::live::verdict::{self, task_line};
use crate::live::word;
use crate::moment::{ago, span};
use crate::state;
use crate::terminal::{self, Color};

/// With more tasks than this, roles are summed up.
const MOST_LISTED: usize = 60;

/// Show a job: its state, why it ended, its tasks and where their time went
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The job: its identifier, the beginning of that, or its name for the latest of that name
    #[arg(value_name = "JOB")]
    job: String,

    /// Show only its outputs: where they lie, how large they are, their digests
    #[arg(long)]
    outputs: bool,

    /// How to show it
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output_format: Format,
}

impl Show {
    pub(crate) fn run(self, color: Color) -> Exit {
        self.show(color).unwrap_or_else(|exit| exit)
    }

    fn show(&self, color: Color) -> Result<Exit, Exit> {
        let store = state::open(color)?;
        let id = state::find(&store, &self.job, color)?;
        let job = state::load(&store, &id, color)?;
        let view = JobView::of(&job, store.folder());
        if self.outputs {
            match self.output_format {
                Format::Json => print_json(&view.outputs),
                Format::Text => terminal::print(&outputs(&view.outputs)),
            }
            return Ok(Exit::Clean);
        }
        match self.output_format {
            Format::Json => print_json(&view),
            Format::Text if view.summary.finished.is_some() => {
                terminal::print(&verdict::page(&view, bold(color)));
            }
            Format::Text => terminal::print(&page(&view)),
        }
        Ok(Exit::Clean)
    }
}

/// The outputs of a job.
fn outputs(outputs: &[Collected]) -> String {
    let mut page = String::new();
    if outputs.is_empty() {
        page.push_str("there are no outputs yet\n");
    }
    for output in outputs {
        let _ = writeln!(page, "{}", output.output);
        let _ = writeln!(page, "  {:<9} {}", "place", output.location);
        let size = match (output.linked, output.files) {
            (_, 0) => "nothing was written".to_owned(),
            (_, files) => format!(
                "{} in {}",
                words::bytes(output.bytes),
                words::count(files as usize, "file")
            ),
        };
        let linked = if output.linked { ", linked" } else { "" };
        let _ = writeln!(page, "  {:<9} {size}{linked}", "size");
        if let Some(place) = &output.points_to {
            let _ = writeln!(page, "  {:<9} {place}", "points to");
        }
        if let Some(digest) = &output.digest {
            let _ = writeln!(page, "  {:<9} {digest}", "digest");
        }
        if let Some(failure) = &output.failure {
            let _ = writeln!(page, "  {:<9} {failure}", "failure");
        }
    }
    page
}

/// A job that has not ended.
fn page(view: &JobView) -> String {
    let mut page = format!(
        "{} {}, submitted {} ago\n",
        view.summary.id,
        word(view.summary.state),
        ago(view.summary.submitted)
    );
    if let Some(why) = &view.summary.waits {
        let _ = writeln!(page, "  waiting for a place: {why}");
    }
    for record in &view.history {
        let _ = writeln!(
            page,
            "  attempt {}: {}; {}",
            record.attempt + 1,
            record.outcome.verdict.reason(),
            record.decision.rule.words()
        );
    }
    if let Some(at) = view.next_attempt_at {
        let wait = at.since(pinnace_control::control::now());
        let _ = writeln!(page, "  next attempt in {}", span(wait));
    }
    if view.tasks.len() <= MOST_LISTED {
        for task in &view.tasks {
            let _ = writeln!(page, "  {:<14} {}", task.name(), task_line(task));
        }
    } else {
        for role in &view.roles {
            let _ = writeln!(
                page,
                "  {:<14} {}: {} wait, {} run, {} stopped",
                role.name,
                words::count(role.total as usize, "task"),
                role.waiting,
                role.running + role.ending,
                role.stopped
            );
        }
    }
    if view.tasks.len() > 1 {
        for role in &view.roles {
            let progress =
                words::progress(role.succeeded, role.failed, role.total, role.completion);
            let _ = writeln!(page, "  {:<14} {progress}", role.name);
        }
    }
    for (name, value) in verdict::module_fields(view) {
        let _ = writeln!(page, "  {name:<14} {value}");
    }
    let _ = writeln!(page, "  {:<14} {}", "files", view.folder.display());
    page
}
