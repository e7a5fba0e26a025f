//! Events and phases as they are read: all fields side by side, as they stand in a line. Thousands of lines are read for a job of a
//! thousand tasks, and to sort out which fields belong to what happened is most of the work if it is left to a general way.

use indexmap::IndexMap;
use serde::Deserialize;

use crate::contract::{Event, ExitReport, Happening, Level, Phase, PhaseName, TaskId};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FlatEvent {
    seq: u64,
    at: u64,
    event: Kind,
    task: Option<TaskId>,
    pid: Option<i32>,
    ports: Option<IndexMap<String, Vec<u16>>>,
    level: Option<Level>,
    phase: Option<PhaseName>,
    text: Option<String>,
    what: Option<String>,
    done: Option<u64>,
    total: Option<u64>,
    until: Option<u64>,
    report: Option<Box<ExitReport>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Kind {
    Supervising,
    Started,
    Phase,
    Note,
    Transfer,
    Kept,
    Exited,
    Ended,
}

fn needed<T>(value: Option<T>, name: &str) -> Result<T, String> {
    value.ok_or_else(|| format!("missing field `{name}`"))
}

impl TryFrom<FlatEvent> for Event {
    type Error = String;

    fn try_from(flat: FlatEvent) -> Result<Self, String> {
        let task = || needed(flat.task, "task");
        let pid = || needed(flat.pid, "pid");
        let what = match flat.event {
            Kind::Supervising => Happening::Supervising { pid: pid()? },
            Kind::Started => Happening::Started {
                task: task()?,
                pid: pid()?,
                ports: needed(flat.ports, "ports")?,
                level: needed(flat.level, "level")?,
            },
            Kind::Phase => Happening::Phase {
                task: task()?,
                phase: needed(flat.phase, "phase")?,
            },
            Kind::Note => Happening::Note {
                task: task()?,
                text: needed(flat.text, "text")?,
            },
            Kind::Transfer => Happening::Transfer {
                what: needed(flat.what, "what")?,
                done: needed(flat.done, "done")?,
                total: flat.total,
            },
            Kind::Kept => Happening::Kept {
                task: task()?,
                until: needed(flat.until, "until")?,
                pid: pid()?,
            },
            Kind::Exited => Happening::Exited {
                report: needed(flat.report, "report")?,
            },
            Kind::Ended => Happening::Ended,
        };
        Ok(Event {
            seq: flat.seq,
            at: flat.at,
            what,
        })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FlatPhase {
    kind: PhaseKind,
    step: Option<usize>,
    name: Option<String>,
    start: u64,
    end: u64,
    exit_code: Option<i32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum PhaseKind {
    Queued,
    Staging,
    Sandbox,
    Before,
    Command,
    After,
    Kept,
    Collecting,
}

impl TryFrom<FlatPhase> for Phase {
    type Error = String;

    fn try_from(flat: FlatPhase) -> Result<Self, String> {
        let step = needed(flat.step, "step");
        let hook = needed(flat.name, "name");
        let name = match flat.kind {
            PhaseKind::Queued => PhaseName::Queued,
            PhaseKind::Staging => PhaseName::Staging,
            PhaseKind::Sandbox => PhaseName::Sandbox,
            PhaseKind::Before => PhaseName::Before {
                step: step?,
                name: hook?,
            },
            PhaseKind::Command => PhaseName::Command,
            PhaseKind::After => PhaseName::After {
                step: step?,
                name: hook?,
            },
            PhaseKind::Kept => PhaseName::Kept,
            PhaseKind::Collecting => PhaseName::Collecting,
        };
        Ok(Phase {
            name,
            start: flat.start,
            end: flat.end,
            exit_code: flat.exit_code,
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_event_is_read_as_it_was_written() {
        let task = TaskId {
            role: "worker".to_owned(),
            index: 3,
        };
        let hook = |step| PhaseName::Before {
            step,
            name: "git".to_owned(),
        };
        let phases = [
            PhaseName::Queued,
            PhaseName::Staging,
            PhaseName::Sandbox,
            hook(1),
            PhaseName::Command,
            PhaseName::After {
                step: 0,
                name: "cmd".to_owned(),
            },
            PhaseName::Kept,
            PhaseName::Collecting,
        ];
        let report = ExitReport {
            task: task.clone(),
            attempt: 2,
            exit_code: 137,
            signal: Some(9),
            out_of_memory: true,
            timed_out: false,
            stopped: true,
            killed: false,
            failed_in: Some(hook(0)),
            start_failure: Some("\"no\"".to_owned()),
            collect_failure: None,
            phases: phases
                .into_iter()
                .zip([None, Some(7)].into_iter().cycle())
                .map(|(name, exit_code)| Phase {
                    name,
                    start: 1,
                    end: 2,
                    exit_code,
                })
                .collect(),
            level: Level::Overlay,
            not_enforced: vec!["x".to_owned()],
            logs: "/logs".into(),
            peak_memory: None,
            cpu_micros: 5,
        };
        let all = [
            Happening::Supervising { pid: 1 },
            Happening::Started {
                task: task.clone(),
                pid: 2,
                ports: [("http".to_owned(), vec![1, 2])].into_iter().collect(),
                level: Level::Plain,
            },
            Happening::Phase {
                task: task.clone(),
                phase: hook(4),
            },
            Happening::Note {
                task: task.clone(),
                text: "t".to_owned(),
            },
            Happening::Transfer {
                what: "w".to_owned(),
                done: 1,
                total: None,
            },
            Happening::Kept {
                task,
                until: 9,
                pid: 3,
            },
            Happening::Exited {
                report: Box::new(report),
            },
            Happening::Ended,
        ];
        for (seq, what) in (1..).zip(all) {
            let event = Event { seq, at: 4, what };
            let line = serde_json::to_string(&event).unwrap();
            assert_eq!(
                serde_json::from_str::<Event>(&line).unwrap(),
                event,
                "{line}"
            );
        }
    }

    #[test]
    fn an_event_without_what_it_needs_is_refused() {
        let error = serde_json::from_str::<Event>(r#"{"seq":1,"at":2,"event":"supervising"}"#);
        assert!(error.unwrap_err().to_string().contains("`pid`"));
    }
}
