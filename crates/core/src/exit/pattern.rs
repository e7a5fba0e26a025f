//! The search for the first row that fits.

use std::cell::OnceCell;

use super::code::UNKNOWN_FAILURE;
use super::log::{LogEnd, Reach, cut};
use super::{EngineReason, ExitReport, Part, ROWS, Row, Verdict};

/// One thing that a pattern asks for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Clue {
    /// Ended with 0 and within all limits.
    Clean,
    /// The engine gives this reason.
    Engine(EngineReason),
    /// The engine's words have one of these in them, in lower case.
    Says(&'static [&'static str]),
    /// The memory limit was reached.
    OutOfMemory,
    /// The time limit has passed.
    TimedOut,
    /// A GPU of the task has broken memory.
    BrokenGpuMemory,
    /// This part ended.
    During(Part),
    /// It ended so, as a shell would show it.
    Code(i32),
    /// A line of the log has these, in lower case and in this order.
    Log(Reach, &'static [&'static str]),
}

/// All clues must hold; the patterns of a row are alternatives.
pub(super) type Pattern = &'static [Clue];

/// Finds out what an ending means: the first row of [`ROWS`] with a pattern that fits.
pub fn classify(report: &ExitReport) -> Verdict {
    let scene = Scene {
        report,
        log: OnceCell::new(),
    };
    let found = ROWS.iter().find_map(|row| scene.fit(row));
    let fit = found.unwrap_or(Fit {
        code: fallback(report),
        line: None,
    });
    Verdict {
        exit: report.status,
        matched: fit.line.map(ToOwned::to_owned),
        message: report
            .message
            .as_deref()
            .map(|message| cut(message).to_owned()),
        ..Verdict::of(fit.code)
    }
}

/// The code when no pattern fits.
fn fallback(report: &ExitReport) -> i32 {
    const NOTHING_KNOWN: i32 = -300;
    match report.status.map(super::Status::shell_code) {
        None | Some(0) => NOTHING_KNOWN,
        Some(code) if code < 0 || report.part == Part::Setup => code,
        Some(_) => UNKNOWN_FAILURE,
    }
}

/// A row that fits, and the log line that showed it.
struct Fit<'a> {
    code: i32,
    line: Option<&'a str>,
}

struct Scene<'a> {
    report: &'a ExitReport,
    log: OnceCell<LogEnd<'a>>,
}

impl<'a> Scene<'a> {
    fn fit(&self, row: &Row) -> Option<Fit<'a>> {
        row.patterns.iter().find_map(|pattern| {
            let mut line = None;
            let fits = pattern.iter().all(|clue| self.holds(*clue, &mut line));
            fits.then_some(Fit {
                code: row.code,
                line,
            })
        })
    }

    fn holds(&self, clue: Clue, matched: &mut Option<&'a str>) -> bool {
        let report = self.report;
        let code = report.status.map(super::Status::shell_code);
        match clue {
            Clue::Clean => code == Some(0) && report.engine.is_none() && !report.timed_out,
            Clue::Engine(reason) => report.engine == Some(reason),
            Clue::Says(words) => {
                let message = report.message.as_deref().unwrap_or_default();
                let message = cut(message).to_ascii_lowercase();
                words.iter().any(|word| message.contains(word))
            }
            Clue::OutOfMemory => report.out_of_memory && report.engine.is_none(),
            Clue::TimedOut => report.timed_out && report.engine.is_none(),
            Clue::BrokenGpuMemory => report.gpu_memory_broken && report.engine.is_none(),
            Clue::During(part) => report.part == part,
            Clue::Code(wanted) => code == Some(wanted) && report.engine.is_none(),
            Clue::Log(reach, needles) => {
                let text = match report.part {
                    _ if report.engine.is_some() => return false,
                    Part::Setup => return false,
                    Part::Step => &report.runtime_log,
                    Part::Command => &report.user_log,
                };
                let log = self.log.get_or_init(|| LogEnd::of(text));
                let line = log.find(reach, needles);
                if line.is_some() {
                    *matched = line;
                }
                line.is_some()
            }
        }
    }
}
