use std::collections::HashMap;

use clap::Args;
use pinnace_control::job::Submission;
use pinnace_core::text::SecretName;
use pinnace_exec::Secrets;
use pinnace_spec::diagnostic::suggest;

use super::run::in_background;
use super::{Exit, Format, usage};
use crate::foreground::Foreground;
use crate::secret::{self, SecretWord};
use crate::state::{self, control_failed, store_failed};
use crate::terminal::Color;

/// Run a job once more: the same plan, as a new job
///
/// The values of secrets are not kept after a job has ended. They are taken from what `--secret` names, else from
/// the variables `PINNACE_SECRET_NAME`, or asked for at the terminal.
#[derive(Debug, Args)]
pub(crate) struct Retry {
    /// The job
    #[arg(value_name = "JOB")]
    job: String,

    /// Run in the background and print the new job's name
    #[arg(short, long)]
    detach: bool,

    /// Where the value of a secret comes from, as in `pinnace run`; can be given several times
    #[arg(long = "secret", value_name = "NAME[=VARIABLE|=@FILE|=-]")]
    secrets: Vec<String>,

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
        let secrets = self
            .secrets(&job.plan.secrets, &kept)
            .map_err(|message| usage(color, &[message]))?;
        let submission = Submission {
            plan: job.plan,
            options: job.options,
            secrets,
        };
        let admitted = submission
            .admit()
            .map_err(|refused| state::refused(color, &refused))?;
        if self.detach {
            return Ok(in_background(store, admitted, self.output_format, color));
        }
        let foreground = Foreground {
            format: self.output_format,
            quiet: self.quiet,
            exit_code_from: None,
            color,
        };
        Ok(foreground
            .run(store, admitted)
            .unwrap_or_else(|error| control_failed(color, &error)))
    }

    /// The values of the job's secrets: from flags, from the vault, from variables, from the user.
    fn secrets(&self, names: &[SecretName], kept: &Secrets) -> Result<Secrets, String> {
        let mut given = HashMap::new();
        for word in &self.secrets {
            let word = SecretWord::parse(word)?;
            let known = || names.iter().map(|name| name.0.as_str());
            if !known().any(|name| name == word.name) {
                let help = suggest::did_you_mean(&word.name, known());
                let help = help.map(|help| format!("; {help}")).unwrap_or_default();
                return Err(format!("the job has no secret `{}`{help}", word.name));
            }
            given.insert(word.name.clone(), word.value()?);
        }
        let mut values = Vec::new();
        let mut missing = Vec::new();
        for name in names {
            let of_vault = || kept.iter().find(|(kept, _)| *kept == name);
            let value = given
                .remove(&name.0)
                .or_else(|| of_vault().map(|(_, value)| value.to_owned()))
                .or_else(|| secret::from_variable(&secret::variable(name)))
                .or_else(|| secret::ask(name));
            match value {
                Some(value) => values.push((name.clone(), value)),
                None => missing.push(secret::variable(name)),
            }
        }
        match missing.is_empty() {
            true => Ok(values.into_iter().collect()),
            false => Err(format!(
                "the values of the job's secrets are gone; set {}, or name them with `--secret`",
                missing.join(", ")
            )),
        }
    }
}
