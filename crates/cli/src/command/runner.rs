use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::Args;
use indexmap::IndexMap;
use pinnace_core::text::SecretName;
use pinnace_exec::local::{self, Launcher, Wish};
use pinnace_exec::{Attempt, Event, ExitReport, FORMAT, Secrets};

use super::{Exit, complain, usage};
use crate::files::in_words;
use crate::interrupt::Interrupts;
use crate::task::TaskWord;
use crate::terminal::{self, Color};

/// Run the tasks of one attempt in the foreground, without a store
///
/// For engines that bring Pinnace along into a task, and to look into one attempt by hand. Every event goes
/// to standard output as a line of JSON. A signal to end stops the tasks with their grace period, a second one
/// kills them.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: that of the task if there is one; else 0 if all tasks succeeded, 1 if not; 2 wrong use, 3 the engine failed.

Examples:
  pinnace runner jobs/train-x7k2/launches/0/attempt.json --task worker[0]")]
pub(crate) struct Runner {
    /// The attempt, in the format `pinnace.attempt/1`, or `-` for standard input
    #[arg(value_name = "SPEC")]
    spec: PathBuf,

    /// Run this task of the attempt alone
    #[arg(long, value_name = "ROLE[INDEX]")]
    task: Option<String>,

    /// Where logs, work folders and events are kept; a folder of an attempt that was run before is not run again
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,

    /// A JSON object with the values of secrets by name, such as `/dev/fd/3`
    #[arg(long, value_name = "FILE")]
    secrets: Option<PathBuf>,
}

impl Runner {
    pub(crate) fn run(self, color: Color) -> Exit {
        self.carry_out(color).unwrap_or_else(|exit| exit)
    }

    fn carry_out(self, color: Color) -> Result<Exit, Exit> {
        let wrong = |message: String| usage(color, &[message]);
        let mut attempt = read_attempt(&self.spec).map_err(wrong)?;
        if let Some(word) = &self.task {
            let word = TaskWord::parse(word, &attempt.plan).map_err(wrong)?;
            attempt.tasks.retain(|task| word.means(&task.id));
        }
        if attempt.tasks.is_empty() {
            return Err(wrong("the attempt has no such task".to_owned()));
        }
        let secrets = match &self.secrets {
            Some(path) => read_secrets(path).map_err(wrong)?,
            None => Secrets::default(),
        };
        let failed = |error: std::io::Error| {
            complain(color, &format!("the engine failed: {error}"));
            Exit::Engine
        };
        let folder = match &self.folder {
            Some(folder) => std::path::absolute(folder).map_err(failed)?,
            None => {
                let folder = format!("pinnace-runner-{}", std::process::id());
                std::env::temp_dir().join(folder)
            }
        };
        let mut interrupts = Interrupts::begin().map_err(|error| failed(error.into()))?;
        let mut asked = false;
        let wish = || match interrupts.take() {
            None => Wish::Wait,
            Some(_) if std::mem::replace(&mut asked, true) => Wish::Kill,
            Some(_) => Wish::Stop,
        };
        let launcher = Launcher::this_program().map_err(failed)?;
        let reports =
            local::carry_out(&launcher, &folder, &attempt, &secrets, show, wish).map_err(failed)?;
        if self.folder.is_none() {
            terminal::talk(&format!("the files lie in `{}`\n", folder.display()));
        }
        Ok(exit(&reports, attempt.tasks.len()))
    }
}

fn show(event: &Event) {
    // An event is made of structs and maps with text keys, and can always be written.
    let line = serde_json::to_string(event).unwrap_or_default();
    terminal::print(&format!("{line}\n"));
}

fn exit(reports: &[ExitReport], tasks: usize) -> Exit {
    match reports {
        [report] if tasks == 1 && report.start_failure.is_some() => Exit::Engine,
        [report] if tasks == 1 => u8::try_from(report.exit_code).map_or(Exit::Problems, Exit::Code),
        reports if reports.len() < tasks => Exit::Engine,
        reports if reports.iter().all(ExitReport::succeeded) => Exit::Clean,
        _ => Exit::Problems,
    }
}

fn read_attempt(path: &Path) -> Result<Attempt, String> {
    let wrong = |why: String| format!("`{}`: {why}", path.display());
    let bytes = match path == Path::new("-") {
        true => {
            let mut bytes = Vec::new();
            let read = std::io::stdin().lock().read_to_end(&mut bytes);
            read.map(|_| bytes)
        }
        false => std::fs::read(path),
    };
    let bytes = bytes.map_err(|error| wrong(in_words(&error)))?;
    let attempt: Attempt =
        serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
    if attempt.format != FORMAT {
        return Err(wrong(format!("its format is not `{FORMAT}`")));
    }
    let unknown = attempt
        .tasks
        .iter()
        .find(|task| attempt.role(&task.id).is_none());
    match unknown {
        Some(task) => Err(wrong(format!(
            "the plan has no role for the task `{}`",
            task.id
        ))),
        None => Ok(attempt),
    }
}

fn read_secrets(path: &Path) -> Result<Secrets, String> {
    let wrong = |why: &str| format!("`{}`: {why}", path.display());
    let bytes = std::fs::read(path).map_err(|error| wrong(&in_words(&error)))?;
    // The reason would repeat a part of the text.
    let values: IndexMap<String, String> = serde_json::from_slice(&bytes)
        .map_err(|_| wrong("this is no JSON object of names and texts"))?;
    let values = values.into_iter();
    Ok(values
        .map(|(name, value)| (SecretName(name), value))
        .collect())
}
