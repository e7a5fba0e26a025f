//! What the steps of `pinnace check` cost, each alone, over 1,000 generated jobs.
//!
//! `cargo bench -p pinnace` measures; `cargo bench -p pinnace -- --write FOLDER` writes the jobs as
//! files, for `benches/run`.

#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::expect_used,
    clippy::unwrap_used
)]

mod corpus;

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use pinnace_core::fidelity::Engine;
use pinnace_spec::diagnostic::{Diagnostics, Levels};
use pinnace_spec::job::{self, Compat, Request};
use pinnace_spec::library::NoLibrary;
use pinnace_spec::openpai::fields;
use pinnace_spec::source::Sources;
use pinnace_spec::yaml::{self, Limits};
use pinnace_spec::{shape, template};

const JOBS: usize = 1_000;
const ROUNDS: usize = 20;

fn main() {
    let jobs: Vec<String> = (0..JOBS).map(corpus::job).collect();
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some("--write") {
        let folder = PathBuf::from(arguments.next().expect("--write needs a folder"));
        std::fs::create_dir_all(&folder).unwrap();
        for (index, text) in jobs.iter().enumerate() {
            std::fs::write(folder.join(format!("job-{index:04}.yaml")), text).unwrap();
        }
        return;
    }
    let bytes: usize = jobs.iter().map(String::len).sum();
    println!("{JOBS} jobs, {bytes} bytes, best of {ROUNDS} rounds");
    let limits = Limits::default();
    let levels = Levels::default();
    let read = best(&jobs, |job| {
        let sources = Sources::default();
        black_box(yaml::load(sources.add("job.yaml", job), &limits));
    });
    report("read", bytes, read);
    let shaped = best(&jobs, |job| {
        let sources = Sources::default();
        let document = yaml::load(sources.add("job.yaml", job), &limits);
        let mut diagnostics = Diagnostics::default();
        if let Some(root) = &document.root {
            shape::check(root, &fields::SHAPE, &sources, &mut diagnostics);
        }
        black_box(diagnostics.is_empty());
    });
    report("read, check the fields", bytes, shaped);
    let checked = best(&jobs, |job| {
        let sources = Sources::default();
        let source = sources.add("job.yaml", job);
        black_box(job::read(
            &sources,
            source,
            &request(&levels, false),
            &NoLibrary,
        ));
    });
    report("whole check", bytes, checked);
    let planned = best(&jobs, |job| {
        let sources = Sources::default();
        let source = sources.add("job.yaml", job);
        black_box(job::read(
            &sources,
            source,
            &request(&levels, true),
            &NoLibrary,
        ));
    });
    report("whole check, and the plan", bytes, planned);
    let templates = best(&jobs, |job| {
        black_box(template::parse(black_box(job)).tags().count());
    });
    report("find the templates alone", bytes, templates);
}

fn request(levels: &Levels, plan: bool) -> Request<'_> {
    Request {
        settings: &[],
        compat: Compat::None,
        engine: Engine::Local,
        strict: false,
        levels,
        dialect: None,
        limits: Limits::default(),
        plan,
    }
}

/// The shortest time that one round over all jobs took.
fn best(jobs: &[String], mut work: impl FnMut(&str)) -> Duration {
    (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            jobs.iter().for_each(|job| work(job));
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
