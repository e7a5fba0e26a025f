use std::fmt::Write as _;

use clap::{Args, Subcommand};
use pinnace_control::control::now;
use pinnace_control::store::{Dataset, Store};
use pinnace_core::plan::{Location, Register, Scheme};
use pinnace_core::words;

use super::{Exit, Format, complain, print_json, usage};
use crate::moment::ago;
use crate::state;
use crate::terminal::{self, Color};

/// The catalogue of data: what jobs and people have registered
///
/// An output of a job that is registered becomes a version of a dataset when the job has succeeded. A job reads a
/// dataset as `dataset:NAME`, which is the latest version, or as `dataset:NAME:VERSION`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pinnace data ls                                  all datasets
  pinnace data add mnist ./mnist                   registers a folder
  pinnace data show mnist                          its versions
  pinnace run job.yaml --input train=dataset:mnist uses it
  pinnace data link model /data/model              in a task: makes existing data its output")]
pub(crate) struct Data {
    #[command(subcommand)]
    command: DataCommand,
}

#[derive(Debug, Subcommand)]
enum DataCommand {
    /// List the latest version of every dataset
    Ls {
        /// How to show them
        #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
        output_format: Format,
    },
    /// Show all versions of a dataset
    Show {
        /// The dataset, or one version of it
        #[arg(value_name = "NAME[:VERSION]")]
        dataset: String,

        /// How to show it
        #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
        output_format: Format,
    },
    /// Register data as a new version of a dataset; nothing is copied
    Add {
        /// The dataset's name
        name: String,

        /// A path or a URL (`http://`, `https://`, `s3://`, `oss://`)
        place: String,

        /// What it is, for people
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
    },
    /// In a task: name existing data as the output of the task; nothing is copied
    ///
    /// For outputs that the job declares as links. The task fails if one of them is never linked.
    Link {
        /// The output's name
        output: String,

        /// A path or a URL
        place: String,
    },
}

impl Data {
    pub(crate) fn run(self, color: Color) -> Exit {
        let done = match self.command {
            DataCommand::Ls { output_format } => list(output_format, color),
            DataCommand::Show {
                dataset,
                output_format,
            } => show(&dataset, output_format, color),
            DataCommand::Add {
                name,
                place,
                description,
            } => add(&name, &place, description, color),
            DataCommand::Link { output, place } => {
                return match pinnace_exec::data::link(&output, &place) {
                    Ok(()) => Exit::Clean,
                    Err(message) => usage(color, &[message]),
                };
            }
        };
        done.unwrap_or_else(|exit| exit)
    }
}

fn list(format: Format, color: Color) -> Result<Exit, Exit> {
    let datasets = read(&state::open(color)?, None, color)?;
    match format {
        Format::Json => print_json(&datasets),
        Format::Text => {
            let mut page = String::new();
            for dataset in &datasets {
                let size = dataset.bytes.map(words::bytes).unwrap_or_default();
                let _ = writeln!(
                    page,
                    "{:<24} {:>4} {:>10}  {}",
                    dataset.name, dataset.version, size, dataset.location
                );
            }
            if datasets.is_empty() {
                page.push_str(
                    "there are no datasets yet; `pinnace data add NAME PLACE` registers one\n",
                );
            }
            terminal::print(&page);
        }
    }
    Ok(Exit::Clean)
}

fn read(store: &Store, name: Option<&str>, color: Color) -> Result<Vec<Dataset>, Exit> {
    store.datasets(name).map_err(|error| {
        complain(color, &error.to_string());
        Exit::Engine
    })
}

fn show(word: &str, format: Format, color: Color) -> Result<Exit, Exit> {
    let (name, version) = match word.split_once(':') {
        Some((name, version)) => (name, Some(version)),
        None => (word, None),
    };
    let mut versions = read(&state::open(color)?, Some(name), color)?;
    if let Some(version) = version {
        versions.retain(|dataset| dataset.version.to_string() == version);
    }
    if versions.is_empty() {
        let message = format!("there is no dataset `{word}`; `pinnace data ls` lists all");
        return Err(usage(color, &[message]));
    }
    match format {
        Format::Json => print_json(&versions),
        Format::Text => terminal::print(&versions.iter().map(page).collect::<String>()),
    }
    Ok(Exit::Clean)
}

fn page(dataset: &Dataset) -> String {
    let mut page = format!(
        "{} version {}, registered {} ago\n",
        dataset.name,
        dataset.version,
        ago(dataset.added)
    );
    let mut field = |name: &str, value: &str| {
        let _ = writeln!(page, "  {name:<12} {value}");
    };
    let local = Location::parse(&dataset.location, None).ok();
    let gone = local
        .as_ref()
        .and_then(Location::local)
        .is_some_and(|path| !std::path::Path::new(path).exists());
    let note = if gone { " (it is gone)" } else { "" };
    field("place", &format!("{}{note}", dataset.location));
    if let (Some(bytes), Some(files)) = (dataset.bytes, dataset.files) {
        let files = words::count(files as usize, "file");
        field("size", &format!("{} in {files}", words::bytes(bytes)));
    }
    if let Some(digest) = &dataset.digest {
        field("digest", digest);
    }
    if let Some(description) = &dataset.description {
        field("description", description);
    }
    if let (Some(job), Some(output)) = (&dataset.job, &dataset.output) {
        field("made by", &format!("output `{output}` of {job}"));
    }
    page
}

fn add(name: &str, place: &str, description: Option<String>, color: Color) -> Result<Exit, Exit> {
    let wrong = |message: String| usage(color, &[message]);
    if !Register::is_name(name) {
        let message = format!("`{name}` is no name for a dataset: it has neither `:` nor `/`");
        return Err(wrong(message));
    }
    let here = std::env::current_dir().ok();
    let here = here.as_deref().and_then(std::path::Path::to_str);
    let location = Location::parse(place, here).map_err(|why| wrong(why.to_string()))?;
    if location.scheme() == Scheme::Dataset {
        return Err(wrong(format!("`{place}` is a dataset already")));
    }
    let mut dataset = Dataset {
        name: name.to_owned(),
        version: 0,
        location: location.to_string(),
        digest: None,
        files: None,
        bytes: None,
        description,
        job: None,
        output: None,
        added: now(),
    };
    if let Some(path) = location.local() {
        if !std::path::Path::new(path).exists() {
            return Err(wrong(format!("there is no `{path}`")));
        }
        let weighed = pinnace_exec::data::weigh(std::path::Path::new(path))
            .map_err(|error| wrong(format!("`{path}` cannot be read: {error}")))?;
        dataset.digest = weighed.digest;
        dataset.files = Some(weighed.files);
        dataset.bytes = Some(weighed.bytes);
    }
    let mut store = state::open(color)?;
    let version = store
        .change(|change| change.register(&dataset))
        .map_err(|error| {
            complain(color, &error.to_string());
            Exit::Engine
        })?;
    terminal::print(&format!("{name}:{version}\n"));
    Ok(Exit::Clean)
}
