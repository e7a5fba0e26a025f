use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use indexmap::IndexMap;
use pinnace_control::admit::Admitted;
use pinnace_control::control::hand_in;
use pinnace_control::job::{Job, Options, Submission};
use pinnace_control::store::Store;
use pinnace_core::fidelity::{Account, Engine, Feature, Honour, losses};
use pinnace_core::lifecycle::{Condition, Shown};
use pinnace_exec::Secrets;
use pinnace_spec::diagnostic::render;
use pinnace_spec::job::Compat;

use super::{Exit, Format, print_json, usage};
use crate::explain::overrides;
use crate::files::{self, Buffer, Input, shown};
use crate::foreground::Foreground;
use crate::moment::parse_span;
use crate::reading::{ReadArgs, Reader, Wanted, colour};
use crate::state::{self, control_failed};
use crate::task::TaskWord;
use crate::terminal::{self, Color};

/// Run a job file here and now
///
/// All tasks run as processes of this machine, each with a copy-on-write view of its files. On a terminal a
/// live view shows them; in a pipe, what they write comes line by line behind the task's name. Ctrl-C stops
/// the job and gives its exit hooks their time; a second Ctrl-C kills it.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: 0 the job succeeded, 1 it failed, 2 wrong use or a bad file, 3 this machine cannot run the job or the
engine failed, 130 interrupted.

Examples:
  pinnace run job.yaml
  pinnace run job.yaml -p batch=28                  with another value for a parameter
  pinnace run job.yaml --secret token=@token.txt    with the value of a secret from a file
  pinnace run job.yaml --simulate-resources         also without the GPUs that it asks for
  pinnace run job.yaml --storage nfs=/data/nfs      with a storage of the cluster in a folder here
  pinnace run job.yaml --detach                     in the background; prints the job's name
  pinnace run job.yaml --time-limit 2h              stops it after two hours, as a failure
  pinnace run job.yaml --keep-on-failure 30m        leaves a failed task alive, to look around in it")]
pub(crate) struct Run {
    /// A job file, or `-` for standard input
    #[arg(value_name = "FILE")]
    file: OsString,

    /// With `--config`: words that change the configuration, such as `aml=eyeson`
    #[arg(value_name = "GROUP=OPTION")]
    words: Vec<String>,

    /// Run in the background and print the job's name
    #[arg(short, long)]
    detach: bool,

    /// Run also where there are too few GPU cards or too little memory
    #[arg(long)]
    simulate_resources: bool,

    /// Where a configured storage lies on this machine; can be given several times
    #[arg(long = "storage", value_name = "NAME=DIR")]
    storages: Vec<String>,

    /// Where a datastore of `azureml://datastores/NAME/paths/…` lies on this machine; can be given several times
    #[arg(
        long = "datastore",
        value_name = "NAME=DIR",
        env = "PINNACE_DATASTORES",
        value_delimiter = ',',
        hide_env_values = true
    )]
    datastores: Vec<String>,

    /// Which engine stands behind a cluster that the file names; can be given several times
    ///
    /// The only engine now is `local`, which is this machine. A cluster that is not named here runs here too, with a note.
    #[arg(
        long = "cluster",
        value_name = "NAME=ENGINE",
        env = "PINNACE_CLUSTERS",
        value_delimiter = ',',
        hide_env_values = true
    )]
    clusters: Vec<String>,

    /// How long a failed task stays alive for debugging, such as `30m`; `0` is not at all
    #[arg(long, value_name = "TIME", value_parser = parse_span)]
    keep_on_failure: Option<u64>,

    /// How long an attempt of the job may run before it is stopped and fails, such as `2h`; `0` is without end
    #[arg(long, value_name = "TIME", value_parser = parse_span)]
    time_limit: Option<u64>,

    /// How long a task may go on after it was asked to end, such as `30s`
    #[arg(long, value_name = "TIME", value_parser = parse_span)]
    grace: Option<u64>,

    /// End with the exit code of this task
    #[arg(long, value_name = "ROLE[INDEX]", conflicts_with = "detach")]
    exit_code_from: Option<String>,

    /// How to show what came of the job
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output_format: Format,

    /// Show what tasks write, and nothing else
    #[arg(short, long)]
    quiet: bool,

    #[command(flatten)]
    reading: ReadArgs,
}

impl Run {
    pub(crate) fn run(self, color: Color) -> Exit {
        let detach = self.detach;
        let format = self.output_format;
        let quiet = self.quiet;
        let exit_code_from = self.exit_code_from.clone();
        let submission = match self.submission(color) {
            Ok(submission) => submission,
            Err(exit) => return exit,
        };
        let exit_code_from = match exit_code_from
            .map(|word| TaskWord::parse(&word, &submission.plan))
            .transpose()
        {
            Ok(word) => word.map(|word| word.first()),
            Err(message) => return usage(color, &[message]),
        };
        let admitted = match submission.admit() {
            Ok(admitted) => admitted,
            Err(refused) => return state::refused(color, &refused),
        };
        if !detach {
            pinnace_exec::local::expect_launch();
        }
        let store = match state::open(color) {
            Ok(store) => store,
            Err(exit) => return exit,
        };
        if detach {
            return in_background(store, admitted, format, color);
        }
        let foreground = Foreground {
            format,
            quiet,
            exit_code_from,
            color,
        };
        foreground
            .run(store, admitted)
            .unwrap_or_else(|error| control_failed(color, &error))
    }

    /// What the file and the flags ask for; problems are shown.
    fn submission(self, color: Color) -> Result<Submission, Exit> {
        let storages = folders("storage", &self.storages);
        let storages = storages.map_err(|message| usage(color, &[message]))?;
        let datastores = folders("datastore", &self.datastores);
        let datastores = datastores.map_err(|message| usage(color, &[message]))?;
        let clusters = clusters(&self.clusters).map_err(|message| usage(color, &[message]))?;
        if self.file != "-" && !Path::new(&self.file).exists() {
            return Err(usage(color, &[files::missing(Path::new(&self.file))]));
        }
        let input = Input::named(&self.file);
        let mut reading = self.reading;
        reading.tenant.words = self.words;
        let mut reader = reading.reader(color, Wanted::Values).ok_or(Exit::Usage)?;
        if !reader.tell_config_problems(None, color) {
            return Err(Exit::Usage);
        }
        let read =
            |reader: &Reader| match reader.read(&input, true, &mut Buffer::default(), |_| true) {
                Ok(Some(reading)) => Ok(reading),
                Ok(None) => Err(Exit::Usage),
                Err(error) => {
                    let reason = files::in_words(&error);
                    Err(usage(color, &[format!("`{}`: {reason}", input.name)]))
                }
            };
        let ask = |reader: &mut Reader| reader.ask().map_err(|message| usage(color, &[message]));
        if self.file == "-" {
            // Standard input can be read once.
            ask(&mut reader)?;
        }
        let mut reading = read(&reader)?;
        // Nobody is asked for the sake of a file that cannot be run.
        if reader.has_questions() && reading.outcome.job.is_some() {
            ask(&mut reader)?;
            reading = read(&reader)?;
        }
        if !self.quiet && !reader.tell_config_problems(Some(&reading), color) {
            return Err(Exit::Usage);
        }
        if let Some(diff) = overrides::diff(&reading) {
            terminal::talk(diff);
        }
        let problems = &reading.outcome.diagnostics;
        if !problems.is_empty() && (!self.quiet || reading.outcome.job.is_none()) {
            let colour = colour(color.on(&std::io::stderr()));
            terminal::talk(&render::text(&[reading.report()], colour));
        }
        let job = reading.outcome.job.ok_or(Exit::Usage)?;
        let secrets: Secrets = job.secrets.into_iter().collect();
        let short: Vec<String> = secrets
            .too_short()
            .map(|name| format!("`{name}`"))
            .collect();
        if !short.is_empty() {
            terminal::talk(&format!(
                "warning: too short to be kept out of logs: {}\n",
                short.join(", ")
            ));
        }
        let not_honoured = not_honoured(&job.fidelity);
        if !self.quiet {
            tell_losses(&not_honoured);
        }
        let cluster = job.plan.placement.cluster.as_deref();
        if let Some(cluster) = cluster.filter(|name| !self.quiet && !clusters.contains_key(*name)) {
            terminal::talk(&format!(
                "note: no engine is set for the cluster `{cluster}`, so the job runs here; `--cluster {cluster}=local` says the same\n"
            ));
        }
        let options = Options {
            user: user(),
            file: (self.file != "-").then(|| shown(Path::new(&self.file))),
            simulate_resources: self.simulate_resources,
            storages,
            datastores,
            clusters,
            keep_on_failure_minutes: self
                .keep_on_failure
                .map(|seconds| u32::try_from(seconds.div_ceil(60)).unwrap_or(u32::MAX)),
            time_limit_seconds: self.time_limit,
            nounset: reader.compat() == Compat::OpenPai,
            grace_seconds: self.grace,
            not_honoured,
        };
        Ok(Submission {
            plan: job.plan,
            options,
            secrets,
        })
    }
}

/// The fields that nothing comes of, by the reason.
fn not_honoured(accounts: &[Account]) -> IndexMap<String, Vec<String>> {
    let mut by_reason: IndexMap<String, Vec<String>> = IndexMap::new();
    for account in losses(accounts).filter(|account| account.status == Honour::NotHonoured) {
        let fields = by_reason.entry(account.reason.clone()).or_default();
        fields.push(account.path.clone());
    }
    by_reason
}

/// Says what nothing comes of, but for what warnings have told of already.
fn tell_losses(not_honoured: &IndexMap<String, Vec<String>>) {
    let (_, unread) = Engine::Local.honour(Feature::Unread);
    for (reason, fields) in not_honoured.iter().filter(|(reason, _)| *reason != unread) {
        let fields: Vec<String> = fields.iter().map(|field| format!("`{field}`")).collect();
        terminal::talk(&format!(
            "note: not honoured here: {} ({reason})\n",
            fields.join(", ")
        ));
    }
}

pub(super) fn in_background(
    mut store: Store,
    admitted: Admitted,
    format: Format,
    color: Color,
) -> Exit {
    match hand_in(&mut store, admitted) {
        Ok(id) => {
            state::start_owner(&store, &id);
            match format {
                Format::Text => terminal::print(&format!("{id}\n")),
                Format::Json => print_json(&serde_json::json!({ "id": id })),
            }
            Exit::Clean
        }
        Err(error) => control_failed(color, &error),
    }
}

/// The exit status that tells what came of a job.
pub(crate) fn exit_of(job: &Job) -> Exit {
    let engine_failed = job.state.outcome().is_some_and(|outcome| {
        matches!(
            outcome.trigger.condition,
            Condition::PlaceRefused | Condition::LaunchFailed
        )
    });
    match job.state.shown() {
        Shown::Succeeded => Exit::Clean,
        _ if engine_failed => Exit::Engine,
        _ => Exit::Problems,
    }
}

/// How to make a headline stand out.
pub(crate) fn bold(color: Color) -> (&'static str, &'static str) {
    match color.on(&std::io::stderr()) {
        true => ("\u{1b}[1m", "\u{1b}[0m"),
        false => ("", ""),
    }
}

/// Folders by name, each written as `NAME=DIR`.
fn folders(what: &str, words: &[String]) -> Result<IndexMap<String, PathBuf>, String> {
    let mut folders = IndexMap::new();
    for word in words {
        let Some((name, folder)) = word.split_once('=') else {
            return Err(format!("`{word}` is not of the form NAME=DIR"));
        };
        let path = Path::new(folder)
            .canonicalize()
            .map_err(|error| format!("the {what} `{name}`: `{folder}`: {error}"))?;
        if !path.is_dir() {
            return Err(format!("the {what} `{name}`: `{folder}` is no folder"));
        }
        folders.insert(name.to_owned(), path);
    }
    Ok(folders)
}

/// The engines that can stand behind a cluster.
const ENGINES: [&str; 1] = ["local"];

/// Engines by the name of the cluster, each written as `NAME=ENGINE`.
fn clusters(words: &[String]) -> Result<IndexMap<String, String>, String> {
    let mut clusters = IndexMap::new();
    for word in words {
        let Some((name, engine)) = word.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            return Err(format!("`{word}` is not of the form NAME=ENGINE"));
        };
        if !ENGINES.contains(&engine) {
            return Err(format!(
                "the cluster `{name}`: there is no engine `{engine}`; there is `{}`",
                ENGINES.join("`, `")
            ));
        }
        clusters.insert(name.to_owned(), engine.to_owned());
    }
    Ok(clusters)
}

fn user() -> String {
    let set = |name| std::env::var(name).ok().filter(|user| !user.is_empty());
    set("USER").or_else(|| set("LOGNAME")).unwrap_or_else(|| {
        match nix::unistd::User::from_uid(nix::unistd::getuid()) {
            Ok(Some(user)) => user.name,
            _ => "user".to_owned(),
        }
    })
}
