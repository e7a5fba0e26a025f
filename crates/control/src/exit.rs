//! From what the engine reports of a task's end to its verdict.

use std::path::Path;

use pinnace_core::exit::{self, EngineReason, Part, Status, Verdict, classify};
use pinnace_exec::log::{self, Stream};
use pinnace_exec::{ExitReport, PhaseName};

/// More of a log says nothing about a failure.
const LOG_BYTES: u64 = 64 << 10;

/// What the end of a task means. The end of its logs is read if it failed.
pub fn verdict(report: &ExitReport) -> Verdict {
    classify(&facts(report))
}

fn facts(report: &ExitReport) -> exit::ExitReport {
    if let Some(why) = &report.start_failure {
        let reason = match &report.failed_in {
            Some(PhaseName::Staging) => EngineReason::DataNotReady,
            _ => EngineReason::StartFailed,
        };
        return exit::ExitReport {
            part: Part::Setup,
            ..exit::ExitReport::from_engine(reason, why.as_str())
        };
    }
    if let (Some(why), Some(PhaseName::Collecting)) = (&report.collect_failure, &report.failed_in) {
        return exit::ExitReport::from_engine(EngineReason::OutputsNotCollected, why.as_str());
    }
    let failed = report.exit_code != 0;
    exit::ExitReport {
        part: match &report.failed_in {
            Some(PhaseName::Before { .. } | PhaseName::After { .. }) => Part::Step,
            Some(PhaseName::Queued | PhaseName::Staging | PhaseName::Sandbox) => Part::Setup,
            Some(PhaseName::Command | PhaseName::Kept | PhaseName::Collecting) | None => {
                Part::Command
            }
        },
        status: Some(match report.signal {
            Some(signal) => Status::Signal(signal),
            None => Status::Code(report.exit_code),
        }),
        out_of_memory: report.out_of_memory,
        timed_out: report.timed_out,
        gpu_memory_broken: false,
        engine: None,
        message: None,
        user_log: log_end(&report.logs, Stream::All, failed),
        runtime_log: log_end(&report.logs, Stream::Runtime, failed),
    }
}

fn log_end(logs: &Path, stream: Stream, wanted: bool) -> String {
    if !wanted {
        return String::new();
    }
    let bytes = log::tail(logs, stream, LOG_BYTES).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
