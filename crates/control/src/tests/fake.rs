//! An engine without processes. A task's command says what it does: `exit N` at once, `wait` until it is stopped,
//! or `fail N times`, which succeeds in attempts of the task or job from N on.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use pinnace_exec::local::{self, Adoption, Cursor, Identity, Layout};
use pinnace_exec::{Attempt, Event, ExitReport, Happening, Level, Secrets, TaskId};

use crate::control::now;
use crate::engine::Engine;

#[derive(Debug, Default)]
pub(super) struct World {
    /// Tasks that run, by folder. A folder that is here was launched.
    pub(super) running: BTreeMap<PathBuf, Vec<TaskId>>,
    /// How often anything was started, by folder and task.
    pub(super) starts: BTreeMap<(PathBuf, TaskId), u32>,
    /// After so many calls the process that uses the engine dies, as far as this can be had in a test.
    pub(super) calls_left: Option<u32>,
    seq: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Fake {
    pub(super) world: Rc<RefCell<World>>,
}

impl Fake {
    /// Counts a call; when the time has come, all that is in memory is gone.
    fn call(&self) {
        let mut world = self.world.borrow_mut();
        if let Some(left) = &mut world.calls_left {
            if *left == 0 {
                drop(world);
                std::panic::resume_unwind(Box::new("crash"));
            }
            *left -= 1;
        }
    }

    fn write(&self, folder: &Path, what: Happening) {
        let mut world = self.world.borrow_mut();
        world.seq += 1;
        let event = Event {
            seq: world.seq,
            at: now().0,
            what,
        };
        let mut line = serde_json::to_vec(&event).unwrap();
        line.push(b'\n');
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(Layout::new(folder).events())
            .unwrap();
        file.write_all(&line).unwrap();
    }

    fn end(&self, folder: &Path, task: &TaskId, code: i32, stopped: bool) {
        let report = ExitReport {
            task: task.clone(),
            attempt: 0,
            exit_code: code,
            signal: None,
            out_of_memory: false,
            timed_out: false,
            stopped,
            killed: false,
            failed_in: None,
            start_failure: None,
            collect_failure: None,
            phases: Vec::new(),
            level: Level::Plain,
            not_enforced: Vec::new(),
            logs: folder.to_owned(),
            peak_memory: None,
            cpu_micros: 0,
        };
        let report = Box::new(report);
        self.write(folder, Happening::Exited { report });
        let mut world = self.world.borrow_mut();
        let running = world.running.get_mut(folder).unwrap();
        running.retain(|other| other != task);
        if running.is_empty() {
            drop(world);
            self.write(folder, Happening::Ended);
        }
    }

    /// The supervisor of a folder dies, with all its tasks.
    pub(super) fn lose(&self, folder: &Path) {
        self.world
            .borrow_mut()
            .running
            .insert(folder.to_owned(), Vec::new());
    }
}

impl Engine for Fake {
    fn launch(&mut self, folder: &Path, attempt: &Attempt, _: &Secrets) -> Result<(), String> {
        self.call();
        if self.world.borrow().running.contains_key(folder) {
            return Ok(());
        }
        fs::create_dir_all(folder).unwrap();
        fs::write(
            Layout::new(folder).attempt(),
            serde_json::to_vec(attempt).unwrap(),
        )
        .unwrap();
        let ids: Vec<TaskId> = attempt.tasks.iter().map(|task| task.id.clone()).collect();
        self.world
            .borrow_mut()
            .running
            .insert(folder.to_owned(), ids.clone());
        for task in &attempt.tasks {
            let key = (folder.to_owned(), task.id.clone());
            *self.world.borrow_mut().starts.entry(key).or_default() += 1;
            self.write(
                folder,
                Happening::Started {
                    task: task.id.clone(),
                    pid: 1,
                    ports: [].into_iter().collect(),
                    level: Level::Plain,
                },
            );
            let command = attempt.plan.roles[&task.id.role].command[0]
                .as_literal()
                .unwrap()
                .to_owned();
            let words: Vec<&str> = command.split(' ').collect();
            let code = match words.as_slice() {
                ["exit", code] => code.parse().unwrap(),
                ["fail", times, "times"] => {
                    i32::from(attempt.number + task.attempt < times.parse().unwrap())
                }
                _ => continue,
            };
            self.end(folder, &task.id, code, false);
        }
        self.call();
        Ok(())
    }

    fn stop(
        &mut self,
        folder: &Path,
        task: Option<&TaskId>,
        _: Option<Duration>,
    ) -> io::Result<()> {
        self.call();
        let running = self.world.borrow().running.get(folder).cloned();
        let running = running
            .filter(|running| !running.is_empty())
            .ok_or(io::ErrorKind::ConnectionRefused)?;
        for id in running {
            if task.is_none_or(|task| *task == id) {
                self.end(folder, &id, 143, true);
            }
        }
        self.call();
        Ok(())
    }

    fn adopt(&mut self, folder: &Path) -> io::Result<Adoption> {
        self.call();
        let Some(running) = self.world.borrow().running.get(folder).cloned() else {
            return Ok(Adoption::NotStarted);
        };
        if !running.is_empty() {
            return Ok(Adoption::Alive(Identity::own().unwrap()));
        }
        let (events, _) = local::observe(folder, Cursor::default())?;
        let reports: Vec<ExitReport> = events
            .into_iter()
            .filter_map(|event| match event.what {
                Happening::Exited { report } => Some(*report),
                _ => None,
            })
            .collect();
        let attempt: Attempt =
            serde_json::from_slice(&fs::read(Layout::new(folder).attempt())?).unwrap();
        let lost = attempt
            .tasks
            .into_iter()
            .map(|task| task.id)
            .filter(|id| !reports.iter().any(|report| report.task == *id))
            .collect();
        Ok(Adoption::Over { reports, lost })
    }

    fn observe(&mut self, folder: &Path, since: Cursor) -> io::Result<(Vec<Event>, Cursor)> {
        self.call();
        local::observe(folder, since)
    }

    fn wait(&mut self, folders: &[PathBuf], _: Duration) -> io::Result<Vec<PathBuf>> {
        self.call();
        let world = self.world.borrow();
        let gone = |folder: &&PathBuf| world.running.get(*folder).is_none_or(Vec::is_empty);
        Ok(folders.iter().filter(gone).cloned().collect())
    }

    fn forget(&mut self, _: &Path) {}
}
