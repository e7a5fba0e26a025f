use std::fmt::Write as _;

use clap::{Args, ValueEnum};
use indexmap::IndexMap;
use pinnace_control::view::JobView;
use pinnace_core::words;
use pinnace_exec::metric::{self, Point};
use serde::Serialize;

use super::{Exit, complain, print_json};
use crate::state;
use crate::terminal::{self, Color};

/// How wide a curve of characters is.
const CURVE: usize = 40;

/// Show the numbers that a job has printed, such as its loss
///
/// The job file says by regular expressions which numbers these are. They are found while the job runs.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pinnace metrics train                        a table with curves
  pinnace metrics train loss --format csv      all values of one metric
  pinnace metrics train --format svg > a.svg   a drawing")]
pub(crate) struct Metrics {
    /// The job: its identifier, the beginning of that, or its name for the latest of that name
    #[arg(value_name = "JOB")]
    job: String,

    /// Only this metric
    #[arg(value_name = "METRIC")]
    metric: Option<String>,

    /// How to show them
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: MetricFormat,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum MetricFormat {
    /// First, last, least and greatest value, and a curve
    #[default]
    Table,
    /// All values, for programs
    Json,
    /// All values, a line for each
    Csv,
    /// A drawing
    Svg,
}

/// One metric of one task.
#[derive(Debug, Serialize)]
struct Series {
    task: String,
    metric: String,
    points: Vec<Value>,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct Value {
    /// Milliseconds since 1970.
    at: u64,
    value: f64,
}

impl Metrics {
    pub(crate) fn run(self, color: Color) -> Exit {
        self.show(color).unwrap_or_else(|exit| exit)
    }

    fn show(&self, color: Color) -> Result<Exit, Exit> {
        let store = state::open(color)?;
        let id = state::find(&store, &self.job, color)?;
        let job = state::load(&store, &id, color)?;
        let known: Vec<&str> = job.plan.metrics.iter().map(|rule| &*rule.name).collect();
        if known.is_empty() {
            complain(color, &format!("the file of `{id}` defines no metrics"));
            return Err(Exit::Usage);
        }
        if let Some(metric) = self.metric.as_deref().filter(|name| !known.contains(name)) {
            let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
            let all = words::listed(&known, "and");
            complain(
                color,
                &format!("`{id}` has no metric `{metric}`; it has {all}"),
            );
            return Err(Exit::Usage);
        }
        let view = JobView::of(&job, store.folder());
        let mut all = Vec::new();
        for task in &view.tasks {
            let Some(logs) = &task.logs else { continue };
            let points = metric::read(logs).map_err(|error| {
                complain(color, &format!("`{}`: {error}", logs.display()));
                Exit::Engine
            })?;
            all.extend(series(&task.name(), points));
        }
        if let Some(metric) = &self.metric {
            all.retain(|series| series.metric == *metric);
        }
        match self.format {
            MetricFormat::Json => print_json(&all),
            MetricFormat::Csv => terminal::print(&csv(&all)),
            MetricFormat::Svg => terminal::print(&svg(&all)),
            MetricFormat::Table => terminal::print(&table(&all)),
        }
        Ok(Exit::Clean)
    }
}

fn series(task: &str, points: Vec<Point>) -> Vec<Series> {
    let mut by_name: IndexMap<String, Vec<Value>> = IndexMap::new();
    for Point { at, name, value } in points {
        by_name.entry(name).or_default().push(Value { at, value });
    }
    by_name
        .into_iter()
        .map(|(metric, points)| Series {
            task: task.to_owned(),
            metric,
            points,
        })
        .collect()
}

impl Series {
    fn least(&self) -> f64 {
        self.values().fold(f64::INFINITY, f64::min)
    }

    fn greatest(&self) -> f64 {
        self.values().fold(f64::NEG_INFINITY, f64::max)
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.points.iter().map(|point| point.value)
    }
}

fn table(all: &[Series]) -> String {
    if all.is_empty() {
        return "no numbers were found\n".to_owned();
    }
    let mut page = format!(
        "{:<16} {:<20} {:>6} {:>11} {:>11} {:>11} {:>11}\n",
        "task", "metric", "values", "first", "last", "least", "greatest"
    );
    for series in all {
        let first = series.values().next().unwrap_or_default();
        let last = series.values().last().unwrap_or_default();
        let _ = writeln!(
            page,
            "{:<16} {:<20} {:>6} {:>11} {:>11} {:>11} {:>11}  {}",
            series.task,
            series.metric,
            series.points.len(),
            short(first),
            short(last),
            short(series.least()),
            short(series.greatest()),
            curve(series)
        );
    }
    page
}

/// A number in few characters.
fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (1e-3..1e7).contains(&size) {
        let text = format!("{value:.4}");
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    format!("{value:.3e}")
}

/// The values as a line of small columns; each stands for the mean of its part.
fn curve(series: &Series) -> String {
    const COLUMNS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let (least, greatest) = (series.least(), series.greatest());
    let span = greatest - least;
    let values: Vec<f64> = series.values().collect();
    let count = values.len().min(CURVE);
    (0..count)
        .filter_map(|column| {
            let from = column * values.len() / count;
            let to = ((column + 1) * values.len() / count).max(from + 1);
            let part = values.get(from..to)?;
            let mean = mean(part);
            let share = if span > 0.0 {
                (mean - least) / span
            } else {
                0.5
            };
            COLUMNS.get((share * 7.0).round().clamp(0.0, 7.0) as usize)
        })
        .collect()
}

#[allow(clippy::cast_precision_loss)] // Nobody has 2^52 values.
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn csv(all: &[Series]) -> String {
    let mut page = "task,metric,time,value\n".to_owned();
    for series in all {
        for point in &series.points {
            let _ = writeln!(
                page,
                "{},{},{},{}",
                field(&series.task),
                field(&series.metric),
                point.at,
                point.value
            );
        }
    }
    page
}

/// A field of a line, quoted if it must be.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_owned()
}

/// A box with a line for each series, one below the other.
fn svg(all: &[Series]) -> String {
    const WIDTH: f64 = 640.0;
    const HEIGHT: f64 = 160.0;
    const EDGE: f64 = 32.0;
    let mut body = String::new();
    let mut top = 0.0;
    for series in all {
        let (least, greatest) = (series.least(), series.greatest());
        let span = if greatest > least {
            greatest - least
        } else {
            1.0
        };
        let last = series.points.len().saturating_sub(1).max(1);
        let mut line = String::new();
        for (index, value) in series.values().enumerate() {
            let x = EDGE + (WIDTH - 2.0 * EDGE) * part_of(index, last);
            let y = top + HEIGHT - EDGE - (HEIGHT - 2.0 * EDGE) * (value - least) / span;
            let _ = write!(line, "{x:.1},{y:.1} ");
        }
        let title = escaped(&format!("{} {}", series.task, series.metric));
        let _ = writeln!(
            body,
            "<text x=\"{EDGE}\" y=\"{:.1}\" font-weight=\"bold\">{title}</text>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{} … {}</text>\n\
             <polyline fill=\"none\" stroke=\"#1f77b4\" stroke-width=\"1.5\" points=\"{}\"/>",
            top + 20.0,
            WIDTH - EDGE,
            top + 20.0,
            short(least),
            short(greatest),
            line.trim_end()
        );
        top += HEIGHT;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{top}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n{body}</svg>\n"
    )
}

#[allow(clippy::cast_precision_loss)] // Nobody has 2^52 values.
fn part_of(index: usize, last: usize) -> f64 {
    index as f64 / last as f64
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(values: &[f64]) -> Series {
        let points = values.iter().map(|value| Value {
            at: 1,
            value: *value,
        });
        Series {
            task: "worker[0]".to_owned(),
            metric: "loss, \"raw\" <a>".to_owned(),
            points: points.collect(),
        }
    }

    #[test]
    fn a_curve_rises_and_falls_with_its_values() {
        assert_eq!(curve(&loss(&[0.0, 0.5, 1.0, 0.0])), "▁▅█▁");
        assert_eq!(curve(&loss(&[3.0, 3.0])), "▅▅");
        let many: Vec<f64> = (0..1000).map(f64::from).collect();
        let curve = curve(&loss(&many));
        assert_eq!(curve.chars().count(), CURVE);
        assert!(curve.starts_with('▁') && curve.ends_with('█'), "{curve}");
    }

    #[test]
    fn names_cannot_break_a_format() {
        let all = [loss(&[1.0, 2.5])];
        assert_eq!(
            csv(&all),
            "task,metric,time,value\nworker[0],\"loss, \"\"raw\"\" <a>\",1,1\nworker[0],\"loss, \"\"raw\"\" <a>\",1,2.5\n"
        );
        assert!(svg(&all).contains("&lt;a&gt;"));
    }

    #[test]
    fn numbers_are_short() {
        let table = [
            (0.0, "0"),
            (0.25, "0.25"),
            (12.0, "12"),
            (1e-7, "1.000e-7"),
            (-3.5e9, "-3.500e9"),
        ];
        for (value, shown) in table {
            assert_eq!(short(value), shown);
        }
    }
}
