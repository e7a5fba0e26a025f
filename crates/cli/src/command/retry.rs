use clap::Args;
use pinnace_control::job::Submission;
use pinnace_exec::Secrets;

use super::run::{Foreground, in_background};
use super::{Exit, Format, complain};
use crate::secret;
use crate::state::{self, control_failed, store_failed};
use crate::terminal::Color;

/// Run a job once more: the same plan, as a new job
///
/// The values of secrets are not kept after a job has ended. They are taken from the variables
/// `PINNACE_SECRET_NAME`, or asked for on a terminal.
#[derive(Debug, Args)]
pub(crate) struct Retry {
    /// The job
    #[arg(value_name = "JOB")]
    job: String,

    /// Run in the background and print the new job's name
    #[arg(short, long)]
    detach: bool,

    /// How to show what came of the job
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output_format: Format,

    /// Show what tasks write, and nothing else
    #[arg(short, long)]
    quiet: bool,
}

impl Retry {
    pub(crate) fn run(self, color: Color) -> Exit {
        self.retry(color).unwrap_or_else(|exit| exit)
    }

    fn retry(&self, color: Color) -> Result<Exit, Exit> {
        let store = state::open(color)?;
        let id = state::find(&store, &self.job, color)?;
        let job = state::load(&store, &id, color)?;
        let kept = store
            .secrets(&job)
            .map_err(|error| store_failed(color, &error))?;
        let mut values = Vec::new();
        let mut missing = Vec::new();
        for name in &job.plan.secrets {
            let value = kept
                .iter()
                .find(|(kept, _)| *kept == name)
                .map(|(_, value)| value.to_owned())
                .or_else(|| secret::ask(name));
            match value {
                Some(value) => values.push((name.clone(), value)),
                None => missing.push(secret::variable(name)),
            }
        }
        if !missing.is_empty() {
            let message = format!(
                "the values of the job's secrets are gone; set {}",
                missing.join(", ")
            );
            complain(color, &message);
            return Err(Exit::Usage);
        }
        let submission = Submission {
            plan: job.plan,
            options: job.options,
            secrets: values.into_iter().collect::<Secrets>(),
        };
        if self.detach {
            return Ok(in_background(store, submission, self.output_format, color));
        }
        let foreground = Foreground {
            format: self.output_format,
            quiet: self.quiet,
            exit_code_from: None,
            color,
        };
        Ok(foreground
            .run(store, submission)
            .unwrap_or_else(|error| control_failed(color, &error)))
    }
}
