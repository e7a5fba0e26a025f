use std::ffi::OsString;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::{Args, ValueEnum};
use memchr::memmem::Finder;
use pinnace_core::words;
use pinnace_spec::diagnostic::render::{self, Colour};
use pinnace_spec::diagnostic::{Counts, codes};
use pinnace_spec::job::Overridden;
use pinnace_spec::overrides::Used;

use super::{Exit, usage};
use crate::apart::Home;
use crate::files::{self, Buffer, Input};
use crate::reading::{ReadArgs, Reader, Reading, Wanted, colour};
use crate::tenant::{self, ConfigProblems};
use crate::terminal::{self, Color};

/// Show every problem in job files, each with its line, column and fix
///
/// A folder stands for all .yaml, .yml and .json files in it that are job files. Problems go to
/// standard output, the summary goes to standard error.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: 0 no errors (there may be warnings), 1 errors, 2 wrong use or an unreadable file.

Examples:
  pinnace check job.yaml
  pinnace check jobs/                        all job files in a folder and below
  pinnace check 'jobs/**/train-*.yaml'
  generate-job | pinnace check -
  pinnace check --deny warnings --format sarif jobs/ > problems.sarif
  pinnace explain P0201                      what a code means, and how to mend it")]
pub(crate) struct Check {
    /// Files, folders, patterns such as `jobs/**/*.yaml`, or `-` for standard input; with `--config` also words such as `aml=eyeson`
    #[arg(required = true, value_name = "FILE")]
    files: Vec<OsString>,

    /// How to show the problems
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,

    /// Do not print the summary
    #[arg(short, long)]
    quiet: bool,

    #[command(flatten)]
    reading: ReadArgs,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
    /// For code review tools
    Sarif,
}

/// With fewer files a second thread costs more than it saves.
const FILES_PER_THREAD: usize = 16;

/// So many files are checked before what was found is shown, so that it need not be kept.
const BATCH: usize = 1_024;

/// What came of a file.
enum Checked {
    Unreadable(String),
    NotAJob,
    Read(Found),
}

/// What was found in a file.
struct Found {
    counts: Counts,
    /// The problems as text, if they are wanted as text.
    text: String,
    /// The problems themselves, if they are wanted otherwise.
    reading: Option<Box<Reading>>,
    /// What the tenant's overrides did.
    overridden: Option<Box<Overridden>>,
}

impl Check {
    pub(crate) fn run(self, color: Color) -> Exit {
        let mut reading = self.reading;
        let (words, files) = tenant::split_words(self.files);
        reading.tenant.words = words;
        let Some(reader) = reading.reader(color, Wanted::Names) else {
            return Exit::Usage;
        };
        let inputs = match files::find(&files) {
            Ok(inputs) => inputs,
            Err(problems) => return usage(color, &problems),
        };
        let colour = colour(color.on(&std::io::stdout()));
        // Rules that are wrong would only make the files seem wrong.
        let mut config = reader.config_problems(None);
        let mut tally = Tally {
            broken: config.as_ref().is_some_and(ConfigProblems::has_errors),
            ..Tally::default()
        };
        let readable = match tally.broken {
            true => &[],
            false => inputs.as_slice(),
        };
        let mut readings = Vec::new();
        let mut used = Used::default();
        for batch in readable.chunks(BATCH) {
            let mut texts = String::new();
            for (input, checked) in batch
                .iter()
                .zip(check_all(&reader, batch, self.format, colour))
            {
                if let Some(found) = tally.add(input, checked) {
                    texts.push_str(&found.text);
                    readings.extend(found.reading);
                    if let Some(overridden) = found.overridden {
                        used.add(&overridden.report.used);
                    }
                }
            }
            terminal::print(&texts);
        }
        if !tally.broken {
            config = reader.config_problems(Some(&used));
        }
        let own = config.as_ref().map(ConfigProblems::report);
        if let Some(own) = &own {
            tally.counts += Counts::of(own.diagnostics);
        }
        let reports: Vec<_> = own
            .into_iter()
            .chain(readings.iter().map(|reading| reading.report()))
            .collect();
        match self.format {
            Format::Text => {
                let config = config
                    .iter()
                    .filter(|config| !config.diagnostics.is_empty());
                for config in config {
                    terminal::print(&render::text(&[config.report()], colour));
                }
            }
            Format::Json => terminal::print(&render::json(&reports, tally.files)),
            Format::Sarif => {
                terminal::print(&render::sarif(&reports, env!("CARGO_PKG_VERSION")));
            }
        }
        if !tally.unreadable.is_empty() {
            usage(color, &tally.unreadable);
        }
        if !self.quiet {
            terminal::talk(&tally.summary());
        }
        tally.exit()
    }
}

/// How many threads so many files are worth.
fn threads_for(files: usize) -> usize {
    let worth = files / FILES_PER_THREAD;
    if worth < 2 {
        // To ask how many processors there are takes longer than to check a file.
        return 1;
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    processors.min(worth)
}

fn check_all(reader: &Reader, inputs: &[Input], format: Format, colour: Colour) -> Vec<Checked> {
    let threads = threads_for(inputs.len());
    if threads < 2 {
        let mut buffer = Buffer::default();
        return inputs
            .iter()
            .map(|input| check(reader, input, format, colour, &mut buffer))
            .collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        let mut buffer = Buffer::default();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(input) = inputs.get(index) else {
                return done;
            };
            done.push((index, check(reader, input, format, colour, &mut buffer)));
        }
    };
    let home = Home::here();
    let mut all: Vec<(usize, Checked)> = std::thread::scope(|scope| {
        let elsewhere = || {
            home.leave();
            work()
        };
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(elsewhere)).collect();
        let mut all = work();
        for other in others {
            match other.join() {
                Ok(done) => all.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, checked)| checked).collect()
}

fn check(
    reader: &Reader,
    input: &Input,
    format: Format,
    colour: Colour,
    buffer: &mut Buffer,
) -> Checked {
    let keep = |bytes: &[u8]| input.named || may_be_a_job(bytes);
    let read = reader.read(input, false, buffer, keep);
    let mut reading = match read {
        Ok(Some(reading)) => reading,
        Ok(None) => return Checked::NotAJob,
        Err(error) => {
            return Checked::Unreadable(format!("`{}`: {}", input.name, files::in_words(&error)));
        }
    };
    let found = &reading.outcome.diagnostics;
    if !input.named
        && found
            .iter()
            .any(|problem| problem.code == &codes::UNKNOWN_DIALECT)
    {
        return Checked::NotAJob;
    }
    let counts = Counts::of(found);
    let wants_text = format == Format::Text && !found.is_empty();
    let overridden = &reading.outcome.overridden;
    let diff = overridden.as_ref().and_then(|done| done.diff.as_deref());
    let mut text = diff
        .filter(|_| format == Format::Text)
        .unwrap_or_default()
        .to_owned();
    if wants_text {
        text.push_str(&render::text(&[reading.report()], colour));
    }
    let wants_problems = format != Format::Text && !found.is_empty();
    let overridden = reading.outcome.overridden.take().map(Box::new);
    let reading = if wants_problems {
        Some(Box::new(reading))
    } else {
        let text = reading.sources.into_first_text();
        buffer.give_back(text.unwrap_or_default());
        None
    };
    Checked::Read(Found {
        counts,
        text,
        reading,
        overridden,
    })
}

/// A file found in a folder is taken for a job only if it names itself one; else it may be anything.
fn may_be_a_job(bytes: &[u8]) -> bool {
    static WORDS: LazyLock<[Finder<'_>; 5]> = LazyLock::new(|| {
        [
            "protocolVersion",
            "taskRoles",
            "Component",
            "inputs",
            "outputs",
        ]
        .map(Finder::new)
    });
    WORDS.iter().any(|word| word.find(bytes).is_some())
}

/// What came of all files.
#[derive(Default)]
struct Tally<'i> {
    files: usize,
    first: &'i str,
    counts: Counts,
    not_jobs: Vec<&'i str>,
    unreadable: Vec<String>,
    /// Whether no file was read, because the configuration is wrong.
    broken: bool,
}

impl<'i> Tally<'i> {
    /// Counts a file, and gives what was found in it.
    fn add(&mut self, input: &'i Input, checked: Checked) -> Option<Found> {
        match checked {
            Checked::Unreadable(message) => self.unreadable.push(message),
            Checked::NotAJob => self.not_jobs.push(&input.name),
            Checked::Read(found) => {
                self.files += 1;
                self.first = &input.name;
                self.counts += found.counts;
                return Some(found);
            }
        }
        None
    }

    fn exit(&self) -> Exit {
        if self.broken {
            Exit::Problems
        } else if !self.unreadable.is_empty() || self.files == 0 {
            Exit::Usage
        } else if self.counts.errors > 0 {
            Exit::Problems
        } else {
            Exit::Clean
        }
    }

    /// Such as `job.yaml: no problems` or `checked 12 files: 2 errors, 1 warning`.
    fn summary(&self) -> String {
        let mut summary = String::new();
        if !self.not_jobs.is_empty() {
            let shown = self
                .not_jobs
                .iter()
                .take(3)
                .copied()
                .collect::<Vec<_>>()
                .join(", ");
            let more = if self.not_jobs.len() > 3 { ", …" } else { "" };
            let (count, verb) = match self.not_jobs.len() {
                1 => ("1 file".to_owned(), "is no job file"),
                number => (format!("{number} files"), "are no job files"),
            };
            summary = format!("skipped {count} that {verb}: {shown}{more}\n");
        }
        let problems = match (self.counts.errors, self.counts.warnings) {
            (0, 0) => "no problems".to_owned(),
            (0, warnings) => words::count(warnings, "warning"),
            (errors, 0) => words::count(errors, "error"),
            (errors, warnings) => {
                format!(
                    "{}, {}",
                    words::count(errors, "error"),
                    words::count(warnings, "warning")
                )
            }
        };
        match self.files {
            0 if self.broken => format!("no file was checked: {problems} in the configuration\n"),
            0 => summary + "nothing to check\n",
            1 => format!("{summary}{}: {problems}\n", self.first),
            files => format!("{summary}checked {files} files: {problems}\n"),
        }
    }
}
