//! How a task's life ends: its report, and the clearing of its place.

use std::fs;
use std::path::Path;

use pinnace_core::plan::Role;

use super::Supervisor;
use super::start::limits;
use super::task::{Reason, State};
use crate::contract::{ExitReport, Happening, Level, PhaseName};
use crate::local::layout::task_name;
use crate::runner::channel::Ending;
use crate::sandbox::cgroup::AttemptGroup;

impl Supervisor {
    /// Writes the report and clears the task's place.
    pub(super) fn conclude(&mut self, index: usize) {
        let Some(task) = self.tasks.get_mut(index) else {
            return;
        };
        if super::is_over(task.state) {
            return;
        }
        task.output.drain(&mut self.buffer);
        match (task.is_vacant, task.output.unsaid()) {
            (false, _) => self.take_over_work(index),
            (true, Some(unsaid)) => self.quiet.add(&task_name(&task.spec.id), unsaid),
            (true, None) => {
                self.lay_out(index);
                self.stop_showing(index);
            }
        }
        if self.collects_first(index) {
            return;
        }
        let Some(task) = self.tasks.get_mut(index) else {
            return;
        };
        task.turn_to(None, None);
        task.state = State::Ended;
        task.marks = None;
        task.channel = None;
        task.held_ports.clear();
        self.running = self.running.saturating_sub(1);
        // One of which that is true is left to nobody.
        let out_of_memory = !task.is_vacant && task.group.out_of_memory();
        let peak_memory = task.group.peak_memory();
        if !task.is_vacant {
            task.group.remove();
        }
        if !self.in_memory || task.level == Level::Plain {
            let _ = remove_folder(task.folder.changes());
        }
        let mut not_enforced = self.not_enforced.clone();
        // What never ran kept to all limits.
        let ran = task.failed_in != Some(PhaseName::Staging);
        let role = self.attempt.plan.roles.get(&task.spec.id.role);
        if let Some(role) = role.filter(|_| ran) {
            let can_limit = self
                .group
                .as_ref()
                .map_or((false, false), AttemptGroup::can_limit);
            not_enforced.extend(unlimited(role, self.capacity, can_limit, task.level));
        }
        not_enforced.extend(task.output.failures());
        let (mut exit_code, mut signal) = match task.ending {
            Some(Ending::Signal(number)) => (128 + number, Some(number)),
            Some(Ending::Code(code)) => (code, None),
            None => (126, None),
        };
        let mut failed_in = task.failed_in.take();
        if exit_code == 0
            && let Some((phase, code)) = task.hook_failure.take()
        {
            exit_code = code;
            signal = None;
            failed_in = Some(phase);
        }
        if task.start_failure.is_some() && failed_in.is_none() {
            failed_in = Some(PhaseName::Sandbox);
        }
        if exit_code == 0 && task.collect_failure.is_some() {
            exit_code = 1;
            failed_in = Some(PhaseName::Collecting);
        }
        self.journal.add(Happening::Exited {
            report: Box::new(ExitReport {
                task: task.spec.id.clone(),
                attempt: task.spec.attempt,
                exit_code,
                signal,
                out_of_memory,
                timed_out: task.reason == Some(Reason::TimedOut),
                stopped: task.reason == Some(Reason::Stopped),
                killed: task.killed,
                failed_in,
                start_failure: task
                    .start_failure
                    .take()
                    .map(|text| self.stencil.clean(&text)),
                collect_failure: task
                    .collect_failure
                    .take()
                    .map(|text| self.stencil.clean(&text)),
                phases: std::mem::take(&mut task.phases),
                level: task.level,
                not_enforced,
                logs: task.folder.path().to_owned(),
                peak_memory,
                cpu_micros: task.cpu_micros,
            }),
        });
    }
}

/// Removes a folder if it is there. An overlay, and some programs, leave folders that even their owner may not read or
/// change.
pub fn remove_folder(path: &Path) -> std::io::Result<()> {
    if fs::remove_dir_all(path).is_ok() || !path.exists() {
        return Ok(());
    }
    use std::os::unix::fs::PermissionsExt as _;
    let mut open = vec![path.to_owned()];
    while let Some(folder) = open.pop() {
        let _ = fs::set_permissions(&folder, fs::Permissions::from_mode(0o700));
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.path());
            }
        }
    }
    fs::remove_dir_all(path)
}

/// What a role asks for that this machine does not enforce.
fn unlimited(
    role: &Role,
    capacity: (u32, u64),
    (memory, cpu): (bool, bool),
    level: Level,
) -> Vec<String> {
    let limits = limits(role, capacity);
    let mut list = Vec::new();
    if limits.memory_bytes.is_some() && !memory {
        list.push(
            "memory is not limited for the task as a whole, only for each of its processes"
                .to_owned(),
        );
    }
    if limits.cpus.is_some() && !cpu {
        list.push("cpu time is not limited".to_owned());
    }
    if level == Level::Plain {
        list.push("the task can see and change the files of this machine".to_owned());
        if role.resources.shm_mb > 0 {
            list.push("`/dev/shm` is that of the machine".to_owned());
        }
        if !role.inputs.is_empty() {
            list.push("the task can change its inputs".to_owned());
        }
    }
    list
}
