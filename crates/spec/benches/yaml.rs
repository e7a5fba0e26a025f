//! How fast a text becomes a tree, beside the events of granit-parser alone. Prints figures; run it
//! with `cargo bench -p pinnace-spec --bench yaml [FILE…]`.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::disallowed_macros,
    clippy::cast_precision_loss,
    clippy::print_stdout,
    clippy::expect_used
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use pinnace_spec::source::Sources;
use pinnace_spec::yaml::{Limits, load};

fn main() {
    let files: Vec<_> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with("--"))
        .collect();
    println!(
        "{:>8}  {:>10} {:>10}  {:>10} {:>10}  {:>6}",
        "bytes", "pinnace", "MB/s", "granit", "MB/s", "ratio"
    );
    if files.is_empty() {
        for (name, text) in [
            ("hello", include_str!("../../../examples/hello.yaml")),
            (
                "completion-policies",
                include_str!("../../../examples/completion-policies.yaml"),
            ),
            (
                "quickstart",
                include_str!("../../../examples/quickstart.yaml"),
            ),
        ] {
            row(name, text);
        }
    }
    for file in files {
        row(
            &file,
            &std::fs::read_to_string(&file).expect("a readable file"),
        );
    }
}

fn row(name: &str, text: &str) {
    let sources = Sources::default();
    let source = sources.add(name, text);
    let ours = time(|| {
        black_box(load(black_box(source), &Limits::default()));
    });
    let granit = time(|| {
        for event in granit_parser::Parser::new_from_str(black_box(text)) {
            black_box(event).ok();
        }
    });
    let speed = |time: Duration| text.len() as f64 / time.as_secs_f64() / 1e6;
    println!(
        "{:>8}  {:>10.2?} {:>10.0}  {:>10.2?} {:>10.0}  {:>6.1}  {name}",
        text.len(),
        ours,
        speed(ours),
        granit,
        speed(granit),
        granit.as_secs_f64() / ours.as_secs_f64(),
    );
}

/// The least of many short rounds, since other programs run beside this one.
fn time(mut work: impl FnMut()) -> Duration {
    const ROUND: u32 = 200;
    (0..60)
        .map(|_| {
            let start = Instant::now();
            (0..ROUND).for_each(|_| work());
            start.elapsed() / ROUND
        })
        .min()
        .unwrap_or_default()
}
