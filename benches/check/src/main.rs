//! What the steps of `pinnace check` cost, each alone, over 1,000 generated jobs.
//!
//! `cargo run --release -p pinnace-bench` measures; with `-- --write FOLDER` it writes the jobs as
//! files, for `benches/run`; with `-- --write-components FOLDER` component specs, for
//! `benches/components`; with `-- --once STEP` it does one step once, for a profiler. It is a program and no
//! `cargo bench`, which would build every dependency once more: a benchmark cannot abort on a panic.

#![allow(
    clippy::cast_precision_loss,
    clippy::print_stdout,
    clippy::expect_used,
    clippy::unwrap_used
)]

mod components;
mod corpus;
mod dice;

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pinnace_spec::diagnostic::{Diagnostics, Levels};
use pinnace_spec::job::{self, Request};
use pinnace_spec::library::NoLibrary;
use pinnace_spec::openpai::fields;
use pinnace_spec::source::Sources;
use pinnace_spec::yaml::{self, Limits};
use pinnace_spec::{shape, template};

const JOBS: usize = 1_000;
const COMPONENTS: usize = 500;
const ROUNDS: usize = 20;

/// A step of a check, by the name under which it is reported.
type Step = (&'static str, fn(&str));

const STEPS: &[Step] = &[
    ("read", |job| {
        let sources = Sources::default();
        black_box(yaml::load(sources.add("job.yaml", job), &Limits::default()));
    }),
    ("read, check the fields", |job| {
        let sources = Sources::default();
        let document = yaml::load(sources.add("job.yaml", job), &Limits::default());
        let mut diagnostics = Diagnostics::default();
        if let Some(root) = &document.root {
            shape::check(root, &fields::SHAPE, &sources, &mut diagnostics);
        }
        black_box(diagnostics.is_empty());
    }),
    ("whole check", |job| whole(job, false)),
    ("whole check, and the plan", |job| whole(job, true)),
    ("find the templates alone", |job| {
        black_box(template::parse(black_box(job)).tags().count());
    }),
];

fn main() {
    let jobs: Vec<String> = (0..JOBS).map(corpus::job).collect();
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("--write") => {
            let folder = PathBuf::from(arguments.next().expect("--write needs a folder"));
            std::fs::create_dir_all(&folder).unwrap();
            for (index, text) in jobs.iter().enumerate() {
                std::fs::write(folder.join(format!("job-{index:04}.yaml")), text).unwrap();
            }
        }
        Some("--write-components") => {
            let folder =
                PathBuf::from(arguments.next().expect("--write-components needs a folder"));
            (0..COMPONENTS).for_each(|index| write_component(&folder, index));
        }
        Some("--once") => {
            let wanted = arguments.next().expect("--once needs the name of a step");
            for (_, work) in STEPS.iter().filter(|(name, _)| *name == wanted) {
                jobs.iter().map(String::as_str).for_each(work);
            }
        }
        _ => {
            let bytes: usize = jobs.iter().map(String::len).sum();
            println!("{JOBS} jobs, {bytes} bytes, best of {ROUNDS} rounds");
            for (name, work) in STEPS {
                report(name, bytes, best(&jobs, *work));
            }
        }
    }
}

/// Writes a spec as `spec.yaml` in a folder of its own, with its code beside it.
fn write_component(folder: &Path, index: usize) {
    let component = components::component(index);
    let folder = folder.join(format!("{index:03}-{}", component.kind));
    let spec = ("spec.yaml", component.spec.as_str());
    for (path, text) in component.files.into_iter().chain([spec]) {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

fn whole(job: &str, plan: bool) {
    let sources = Sources::default();
    let source = sources.add("job.yaml", job);
    let levels = Levels::default();
    black_box(job::read(
        &sources,
        source,
        &request(&levels, plan),
        &NoLibrary,
    ));
}

fn request(levels: &Levels, plan: bool) -> Request<'_> {
    Request {
        plan,
        ..Request::new(levels)
    }
}

/// The shortest time that one round over all jobs took.
fn best(jobs: &[String], work: fn(&str)) -> Duration {
    (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            for job in jobs {
                work(job);
            }
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}

fn report(name: &str, bytes: usize, time: Duration) {
    let seconds = time.as_secs_f64();
    println!(
        "{name:<28} {:>8.2} µs a file {:>8.1} MB/s",
        seconds * 1e6 / JOBS as f64,
        bytes as f64 / 1e6 / seconds
    );
}
