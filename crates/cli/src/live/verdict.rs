//! The end of a job: what came of it, why, what to do about it, and where the time went.

use std::fmt::Write as _;
use std::io::IsTerminal as _;

use pinnace_control::view::{JobView, TaskView};
use pinnace_core::lifecycle::{Budget, Decision, Rule, Shown};
use pinnace_core::words;
use pinnace_exec::log::{Stream, tail};
use pinnace_exec::{ExitReport, PhaseName};

use super::follow::printable;
use super::word;
use crate::moment::span;
use crate::terminal;

/// How much of the deciding task's log is shown.
const LAST_LINES: usize = 12;
const LAST_BYTES: u64 = 16 << 10;

/// The columns that the names of fields take.
const NAMES: usize = 14;

/// With more tasks than this, only those that failed are listed.
const MOST_LISTED: usize = 24;

/// The page that ends a run.
pub(crate) fn page(view: &JobView, bold: (&str, &str)) -> String {
    let mut page = String::new();
    let took = view
        .summary
        .finished
        .map_or(0, |end| end.since(view.summary.submitted));
    let tries = match view.summary.attempt {
        0 => String::new(),
        retries => format!(", tried {} times", retries + 1),
    };
    let _ = writeln!(
        page,
        "{}{} {}{} after {}{tries}",
        bold.0,
        view.summary.id,
        word(view.summary.state),
        bold.1,
        span(took),
    );
    if let Some(outcome) = &view.outcome {
        if view.summary.state == Shown::Failed {
            field(&mut page, "cause", &outcome.verdict.reason);
            let report = view
                .deciding_task()
                .and_then(|task| task.facts.report.as_ref());
            if let Some(phase) = report.and_then(|report| report.failed_in.as_ref()) {
                field(&mut page, "failed in", &phase.to_string());
            }
            field(
                &mut page,
                "class",
                &format!("{} ({})", outcome.verdict.phrase, outcome.verdict.code),
            );
            if let Some(line) = &outcome.verdict.matched {
                field(&mut page, "log line", line);
            }
        }
        if let Some(task) = &outcome.task {
            let task = format!("{task}: {}", outcome.condition);
            field(&mut page, "decided by", &task);
        } else {
            field(&mut page, "decided by", &outcome.condition);
        }
        if view.summary.state == Shown::Failed {
            let tried = view.budget.counted > 0 || view.budget.free > 0;
            let is_telling = |decision: &Decision| tried || decision.rule != Rule::BudgetSpent;
            if let Some(decision) = view.decision.filter(is_telling) {
                let words = decision.rule.words();
                let told = format!("{words}; {}", budget(view.budget));
                field(&mut page, "retries", &told);
            }
            if !outcome.verdict.solution.is_empty() {
                field(&mut page, "what to do", outcome.verdict.solution);
            }
        }
    }
    tasks(&mut page, view);
    not_enforced(&mut page, view);
    for (name, value) in module_fields(view) {
        field(&mut page, name, &value);
    }
    for output in &view.outputs {
        let told = match (&output.failure, output.files) {
            (Some(failure), _) => failure.clone(),
            _ if output.points_to.is_some() => format!(
                "{}: {} → {}",
                output.output,
                output.location,
                output.points_to.as_deref().unwrap_or_default()
            ),
            (None, 0) => format!("{}: nothing was written", output.output),
            (None, _) => format!("{}: {}", output.output, output.location),
        };
        field(&mut page, "output", &told);
    }
    field(&mut page, "files", &view.folder.display().to_string());
    // In a pipe every line stays one.
    if std::io::stdout().is_terminal() && std::io::stderr().is_terminal() {
        page = terminal::fold(&page, terminal::width(), NAMES);
    }
    if view.summary.state == Shown::Failed
        && let Some(task) = view.deciding_task()
    {
        last_lines(&mut page, task);
    }
    page
}

/// What a job that runs a module has beside others.
pub(crate) fn module_fields(view: &JobView) -> Vec<(&'static str, String)> {
    let mut fields = Vec::new();
    if let Some(module) = &view.module {
        fields.push(("module", module.id.clone()));
    }
    if let Some(cluster) = &view.cluster {
        let engine = view.options.clusters.get(cluster);
        let where_it_runs = match engine {
            Some(engine) => format!("{cluster} (engine {engine})"),
            None => format!("{cluster} (no engine is set for it; this machine)"),
        };
        fields.push(("cluster", where_it_runs));
    }
    if let Some(queue) = &view.queue {
        fields.push(("queue", queue.clone()));
    }
    fields
}

/// What is left to try.
pub(crate) fn budget(budget: Budget) -> String {
    let left = match budget.left {
        None => "retries without end".to_owned(),
        Some(1) => "1 retry left".to_owned(),
        Some(left) => format!("{left} retries left"),
    };
    match budget.free_left {
        Some(free) if free > 0 => format!("{left}, {free} free ones"),
        _ => left,
    }
}

/// Where the time of a task went, such as `sandbox 0.1 s, command 2.0 s`.
pub(crate) fn time_spent(report: &ExitReport) -> String {
    let mut parts: Vec<String> = Vec::new();
    for phase in &report.phases {
        let took = phase.end.saturating_sub(phase.start) / 1000;
        if matches!(phase.name, PhaseName::Queued | PhaseName::Sandbox) && took < 50 {
            continue;
        }
        parts.push(format!("{} {}", phase.name, span(took)));
    }
    parts.join(", ")
}

fn field(page: &mut String, name: &str, value: &str) {
    let _ = writeln!(page, "  {name:<0$} {1}", NAMES - 3, printable(value));
}

fn tasks(page: &mut String, view: &JobView) {
    let many = view.tasks.len() > MOST_LISTED;
    if many {
        for role in &view.roles {
            let mut parts = Vec::new();
            for (count, what) in [
                (role.succeeded, "succeeded"),
                (role.failed, "failed"),
                (role.stopped, "stopped"),
                (role.running + role.ending, "running"),
                (role.waiting, "waiting"),
            ] {
                if count > 0 {
                    parts.push(format!("{count} {what}"));
                }
            }
            field(
                page,
                &role.name,
                &format!("{} of {}", parts.join(", "), role.total),
            );
        }
    }
    let listed: Vec<&TaskView> = view
        .tasks
        .iter()
        .filter(|task| !many || task.state == Shown::Failed)
        .take(MOST_LISTED)
        .collect();
    let width = listed
        .iter()
        .map(|task| task.name().len())
        .max()
        .unwrap_or(0);
    for task in listed {
        let _ = writeln!(page, "  {:<width$}  {}", task.name(), task_line(task));
    }
}

/// A task in a line: state, code, where its time went.
pub(crate) fn task_line(task: &TaskView) -> String {
    let mut line = format!("{:<9}", word(task.state));
    if let Some(verdict) = task
        .verdict
        .as_ref()
        .filter(|_| task.state == Shown::Failed)
    {
        let _ = write!(line, " {} ({})", verdict.phrase, verdict.code);
    }
    if task.retries.total > 0 {
        let _ = write!(line, " attempt {}", task.retries.total + 1);
    }
    if let Some(report) = &task.facts.report {
        let _ = write!(line, "  {}", time_spent(report));
        if report.killed && (report.stopped || report.timed_out) {
            line.push_str("; did not end when told to, and was killed");
        }
    } else if let Some(phase) = &task.facts.phase {
        let _ = write!(line, "  {phase}");
    }
    line.trim_end().to_owned()
}

/// What could not be enforced, once, however many tasks it is about.
fn not_enforced(page: &mut String, view: &JobView) {
    let mut told: Vec<&str> = Vec::new();
    let reports = view
        .tasks
        .iter()
        .filter_map(|task| task.facts.report.as_ref());
    for what in reports.flat_map(|report| &report.not_enforced) {
        if !told.contains(&what.as_str()) {
            told.push(what);
        }
    }
    for what in told {
        field(page, "not kept", what);
    }
    for (reason, fields) in &view.options.not_honoured {
        let fields: Vec<String> = fields.iter().map(|name| format!("`{name}`")).collect();
        let told = format!("{}: {reason}", words::listed(&fields, "and"));
        field(page, "not kept", &told);
    }
}

fn last_lines(page: &mut String, task: &TaskView) {
    let Some(logs) = &task.logs else { return };
    let in_hook = task.facts.report.as_ref().is_some_and(|report| {
        matches!(
            report.failed_in,
            Some(PhaseName::Before { .. } | PhaseName::After { .. })
        )
    });
    let stream = if in_hook {
        Stream::Runtime
    } else {
        Stream::All
    };
    let bytes = tail(logs, stream, LAST_BYTES).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() {
        return;
    }
    let from = lines.len().saturating_sub(LAST_LINES);
    let place = match stream.file_name() {
        Some(name) => logs.join(name),
        None => logs.clone(),
    };
    let _ = writeln!(page, "  last lines of {}:", place.display());
    for line in lines.get(from..).unwrap_or_default() {
        let _ = writeln!(page, "    | {}", printable(line));
    }
}
