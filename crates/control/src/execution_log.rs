//! `logs/azureml/executionlogs.txt` in the folder of a job that runs a module: what Hemera's platform says of such a
//! job while it polls it. People and programs that follow the platform's file can follow this one.
//!
//! The file is only appended to. Whoever drives the job next reads where it stands and goes on from there.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use pinnace_core::lifecycle::{Shown, Time};
use pinnace_exec::log::civil;

use crate::folder::{StateFolder, private_folder};
use crate::job::{Job, JobId};
use crate::owner::Ownership;

/// The time between two looks of the platform at a job.
const POLL: u64 = 16_000;

/// Where the log of a job lies.
pub fn path(folder: &StateFolder, job: &JobId) -> PathBuf {
    folder.job(job).join("logs/azureml/executionlogs.txt")
}

/// The words that the platform has for the state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Queued,
    Running,
    Finished,
    Failed,
    Canceled,
}

impl Status {
    const ALL: [Status; 5] = [
        Status::Queued,
        Status::Running,
        Status::Finished,
        Status::Failed,
        Status::Canceled,
    ];

    fn of(job: &Job) -> Status {
        match (job.finished, job.state.shown()) {
            (Some(_), Shown::Succeeded) => Status::Finished,
            (Some(_), Shown::Stopped) => Status::Canceled,
            (Some(_), _) => Status::Failed,
            (None, _) if job.summary().ran.is_some() => Status::Running,
            (None, _) => Status::Queued,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Status::Queued => "Queued",
            Status::Running => "Running",
            Status::Finished => "Finished",
            Status::Failed => "Failed",
            Status::Canceled => "Canceled",
        }
    }

    fn is_last(self) -> bool {
        !matches!(self, Status::Queued | Status::Running)
    }

    /// The line of a poll, with the platform's own spelling.
    fn line(self) -> String {
        let what = match self {
            Status::Queued => "in processing",
            Status::Running => "running",
            Status::Finished | Status::Failed | Status::Canceled => "finished",
        };
        format!("Job is {what}. The TakStatusCode is ({})", self.word())
    }
}

/// The log of one job.
#[derive(Debug)]
pub struct ExecutionLog {
    path: PathBuf,
    /// The job's folder, for people.
    place: PathBuf,
    told: Option<Status>,
    is_submitted: bool,
    next: Time,
}

impl ExecutionLog {
    /// The log of a job that runs a module, as far as it was written.
    pub fn of(job: &Job, folder: &StateFolder) -> Option<Self> {
        job.plan.module.as_ref()?;
        let path = path(folder, &job.id);
        let text = fs::read_to_string(&path).unwrap_or_default();
        Some(ExecutionLog {
            told: last_status(&text),
            is_submitted: text.contains("JobManager submitted job"),
            path,
            place: folder.job(&job.id),
            next: Time(0),
        })
    }

    /// Writes what there is to say now.
    pub fn go_on(&mut self, job: &Job, now: Time) {
        if self.told.is_some_and(Status::is_last) {
            return;
        }
        let status = Status::of(job);
        if self.told == Some(status) && now < self.next {
            return;
        }
        let mut text = String::new();
        // A job whose start nobody has seen was submitted all the same.
        let was_started = status != Status::Queued && job.summary().ran.is_some();
        if was_started && !self.is_submitted {
            if status.is_last() {
                poll(&mut text, Status::Running, now);
            } else {
                poll(&mut text, status, now);
            }
            submission(&mut text, job, &self.place, now);
        }
        if !was_started || self.is_submitted || status.is_last() {
            poll(&mut text, status, now);
        }
        // A log that cannot be written is no reason to leave the job alone; the next look tries again.
        if append(&self.path, &text).is_ok() {
            self.told = Some(status);
            self.is_submitted |= was_started;
            self.next = now.after(POLL);
        }
    }
}

/// Sees to it that the log of a job that has ended has its last line: whoever drove the job may have died before it.
/// False while that one lives and has yet to write it.
pub fn finish(job: &Job, folder: &StateFolder) -> bool {
    // Held while the line is written, so that it is written once.
    let Ok(own) = Ownership::take(folder, &job.id) else {
        return true;
    };
    let Some(mut log) = ExecutionLog::of(job, folder) else {
        return true;
    };
    if let Some(end) = job.finished.filter(|_| own.is_some()) {
        log.go_on(job, end);
        return true;
    }
    log.told.is_some_and(Status::is_last)
}

fn append(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        private_folder(folder)?;
    }
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(text.as_bytes())
}

/// The status of the last line that tells one.
fn last_status(text: &str) -> Option<Status> {
    let (_, rest) = text.rsplit_once("The TakStatusCode is (")?;
    let (word, _) = rest.split_once(')')?;
    Status::ALL.into_iter().find(|status| status.word() == word)
}

fn poll(text: &mut String, status: Status, at: Time) {
    let _ = writeln!(text, "[{}] {}", Clock::at(at).prefix(), status.line());
}

/// What the platform's manager of jobs says when it has submitted one.
fn submission(text: &mut String, job: &Job, place: &Path, now: Time) {
    let summary = job.summary();
    let begin = Clock::at(summary.submitted).us();
    let end = Clock::at(summary.ran.unwrap_or(now)).us();
    let module = job.plan.module.as_ref().map_or("", |module| &module.id);
    let number = hash(job.id.as_str());
    let date = Clock::at(summary.submitted).stamp();
    let id = format!("{module}@@@m@@@{number:08x}@@@{date}");
    let name = format!("JD_{}_{module}m{number:08x}___{date}", job.options.user);
    let group = job.digest.trim_start_matches("sha256:");
    let _ = writeln!(
        text,
        "[{}] Add this job in hemera managerJobManager is submitting job {id} @{begin}\n\
         Submitting {id} to Job Scheduler @{begin}\n\
         Submitted {id} to Job Scheduler @{end}\n\
         =============Job webportal link: file://{}?jobName={}&groupId={}&subCluster={}\n\
         JobManager submitted job {id} @{end}",
        Clock::at(now).prefix(),
        escaped(&place.to_string_lossy(), "/"),
        escaped(&name, ""),
        group.get(..7).unwrap_or(group),
        escaped(job.plan.placement.cluster.as_deref().unwrap_or("local"), ""),
    );
}

/// FNV-1a: the same number for the same job, whoever writes.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

/// A text as a part of a URL.
fn escaped(text: &str, also_plain: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        let char = char::from(byte);
        if char.is_ascii_alphanumeric() || "-_.~".contains(char) || also_plain.contains(char) {
            out.push(char);
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

/// A moment, in UTC.
struct Clock {
    date: (u64, u64, u64),
    time: (u64, u64, u64),
}

impl Clock {
    fn at(time: Time) -> Self {
        let seconds = time.0 / 1000;
        Clock {
            date: civil(seconds / 86_400),
            time: (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60),
        }
    }

    /// `2021-11-10 11:12:48Z`
    fn prefix(&self) -> String {
        let ((year, month, day), (hour, minute, second)) = (self.date, self.time);
        format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}Z")
    }

    /// The hour as clocks with two halves of the day show it, and which half.
    fn half_day(&self) -> (u64, &'static str) {
        let hour = self.time.0;
        let half = if hour < 12 { "AM" } else { "PM" };
        ((hour + 11) % 12 + 1, half)
    }

    /// `11/10/2021 3:12:30 AM`
    fn us(&self) -> String {
        let ((year, month, day), (_, minute, second)) = (self.date, self.time);
        let (hour, half) = self.half_day();
        format!("{month}/{day}/{year} {hour}:{minute:02}:{second:02} {half}")
    }

    /// `11-10-2021_11-12-26_AM`
    fn stamp(&self) -> String {
        let ((year, month, day), (_, minute, second)) = (self.date, self.time);
        let (hour, half) = self.half_day();
        format!("{month:02}-{day:02}-{year}_{hour:02}-{minute:02}-{second:02}_{half}")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use pinnace_core::plan::Module;

    use super::*;
    use crate::control::hand_in;
    use crate::store::Store;
    use crate::tests::{plan, role, submission as to_submit};

    /// 2021-11-10 11:12:48Z
    const START: Time = Time(1_636_542_768_000);

    fn job(store: &mut Store) -> Job {
        let mut plan = plan(vec![("main", role(1, "exit 0"))]);
        plan.module = Some(Module {
            id: "84ec4f6e-2419-4707-aead-879059c045cb".to_owned(),
            digest: None,
        });
        plan.placement.cluster = Some("MTPrime-PROD-BN2-0".to_owned());
        let mut submitting = to_submit(plan);
        submitting.options.user = "ann".to_owned();
        let id = hand_in(store, submitting.admit().unwrap()).unwrap();
        store.load(&id).unwrap().unwrap()
    }

    #[test]
    fn a_waiting_job_is_polled_every_sixteen_seconds() {
        let scratch = tempfile::tempdir().unwrap();
        let mut store = Store::open(scratch.path()).unwrap();
        let job = job(&mut store);
        let mut log = ExecutionLog::of(&job, store.folder()).unwrap();
        for second in 0..40 {
            log.go_on(&job, START.after(second * 1000));
        }
        let text = fs::read_to_string(path(store.folder(), &job.id)).unwrap();
        assert_eq!(
            text,
            "[2021-11-10 11:12:48Z] Job is in processing. The TakStatusCode is (Queued)\n\
             [2021-11-10 11:13:04Z] Job is in processing. The TakStatusCode is (Queued)\n\
             [2021-11-10 11:13:20Z] Job is in processing. The TakStatusCode is (Queued)\n"
        );
    }

    #[test]
    fn whoever_comes_next_goes_on_where_the_log_stands() {
        let scratch = tempfile::tempdir().unwrap();
        let mut store = Store::open(scratch.path()).unwrap();
        let mut job = job(&mut store);
        let mut log = ExecutionLog::of(&job, store.folder()).unwrap();
        log.go_on(&job, START);
        job.finished = Some(START.after(1000));
        for _ in 0..2 {
            // Another process, which has seen nothing of it.
            let mut log = ExecutionLog::of(&job, store.folder()).unwrap();
            log.go_on(&job, START.after(2000));
        }
        let text = fs::read_to_string(path(store.folder(), &job.id)).unwrap();
        assert_eq!(
            text,
            "[2021-11-10 11:12:48Z] Job is in processing. The TakStatusCode is (Queued)\n\
             [2021-11-10 11:12:50Z] Job is finished. The TakStatusCode is (Failed)\n"
        );
    }

    #[test]
    fn the_lines_of_a_submission_have_the_platforms_form() {
        let scratch = tempfile::tempdir().unwrap();
        let mut store = Store::open(scratch.path()).unwrap();
        let job = job(&mut store);
        let mut text = String::new();
        submission(&mut text, &job, Path::new("/state/jobs/a b"), START);
        let lines: Vec<&str> = text.lines().collect();
        let id = lines[1].split(' ').nth(1).unwrap();
        assert!(id.starts_with("84ec4f6e-2419-4707-aead-879059c045cb@@@m@@@"));
        let hex = format!("{:08x}", hash(job.id.as_str()));
        let begin = Clock::at(job.summary().submitted);
        assert!(id.ends_with(&format!("{hex}@@@{}", begin.stamp())));
        let head = format!(
            "[2021-11-10 11:12:48Z] Add this job in hemera managerJobManager is submitting job {id} @{}",
            begin.us()
        );
        assert_eq!(lines[0], head);
        assert!(lines[2].starts_with(&format!(
            "Submitted {id} to Job Scheduler @11/10/2021 11:12:48 AM"
        )));
        let link = format!(
            "=============Job webportal link: file:///state/jobs/a%20b?jobName=JD_ann_84ec4f6e-2419-4707-aead-879059c045cbm{hex}___{}&groupId=",
            begin.stamp()
        );
        assert!(lines[3].starts_with(&link), "{}", lines[3]);
        assert!(lines[3].ends_with("&subCluster=MTPrime-PROD-BN2-0"));
        assert!(lines[4].starts_with(&format!("JobManager submitted job {id} @")));
    }

    #[test]
    fn the_day_has_two_halves() {
        let us = |hour: u64| Clock::at(Time(hour * 3_600_000)).us();
        assert_eq!(us(0), "1/1/1970 12:00:00 AM");
        assert_eq!(us(3), "1/1/1970 3:00:00 AM");
        assert_eq!(us(12), "1/1/1970 12:00:00 PM");
        assert_eq!(
            Clock::at(Time(13 * 3_600_000)).stamp(),
            "01-01-1970_01-00-00_PM"
        );
    }
}
