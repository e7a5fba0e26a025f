//! A small language for tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pinnace_core::plan::{
    Action, Completion, Event as When, OnFailure, Placement, Plan, Resources, Role, Step,
};
use pinnace_core::text::{SecretName, Text};
use pinnace_exec::local::{self, Cursor, Handle, Identity, Launcher, News, Watch};
use pinnace_exec::log::Stream;
use pinnace_exec::{Attempt, Event, ExitReport, Happening, Level, PhaseName, Secrets, TaskId};

/// Nothing here takes longer, on however busy a machine.
pub(crate) const DEADLINE: Duration = Duration::from_mins(3);

pub(crate) fn role(command: &[&str]) -> Role {
    Role {
        instances: 1,
        resources: Resources {
            cpu: 64,
            memory_mb: 1 << 24,
            ..Resources::default()
        },
        command: command.iter().map(|line| Text::from(*line)).collect(),
        completion: Completion {
            min_failed: Some(1),
            min_succeeded: None,
        },
        ..Role::default()
    }
}

pub(crate) fn hook(name: &str, on: When, lines: &[&str]) -> Step {
    Step {
        name: name.to_owned(),
        on,
        action: Action::Shell {
            commands: lines.iter().map(|line| Text::from(*line)).collect(),
        },
        on_failure: OnFailure::Fail,
    }
}

pub(crate) fn ignored(step: Step) -> Step {
    Step {
        on_failure: OnFailure::Ignore,
        ..step
    }
}

pub(crate) fn plan(roles: Vec<(&str, Role)>) -> Plan {
    Plan {
        name: "test".to_owned(),
        roles: roles
            .into_iter()
            .map(|(name, role)| (name.to_owned(), role))
            .collect(),
        placement: Placement {
            virtual_cluster: "default".to_owned(),
            gang: true,
            ..Placement::default()
        },
        ..Plan::default()
    }
}

pub(crate) fn worker(index: u32) -> TaskId {
    TaskId {
        role: "worker".to_owned(),
        index,
    }
}

pub(crate) fn launcher() -> Launcher {
    Launcher {
        program: PathBuf::from(env!("CARGO_BIN_EXE_pinnace-supervisor")),
        arguments: Vec::new(),
    }
}

/// An attempt in a folder of its own.
pub(crate) struct Run {
    home_folder: tempfile::TempDir,
    pub(crate) folder: PathBuf,
    pub(crate) attempt: Attempt,
    pub(crate) secrets: Vec<(SecretName, String)>,
    handle: Option<Handle>,
    launcher: Launcher,
}

/// The same attempt, looked after by a supervisor of an ordinary user; `None`, and said, if there is no way.
pub(crate) fn as_ordinary_user(mut run: Run) -> Option<Run> {
    const NOBODY: u32 = 65534;
    if !nix::unistd::geteuid().is_root() {
        eprintln!("SKIPPED: only root can act as another user");
        return None;
    }
    let supervisor = launcher().program;
    run.launcher = Launcher {
        program: PathBuf::from("/usr/bin/setpriv"),
        arguments: vec![
            format!("--reuid={NOBODY}").into(),
            format!("--regid={NOBODY}").into(),
            "--clear-groups".into(),
            supervisor.into(),
        ],
    };
    if !run.launcher.program.exists() {
        eprintln!("SKIPPED: no setpriv here");
        return None;
    }
    fs::create_dir(&run.folder).unwrap();
    std::os::unix::fs::chown(run.home(), Some(NOBODY), Some(NOBODY)).unwrap();
    std::os::unix::fs::chown(&run.folder, Some(NOBODY), Some(NOBODY)).unwrap();
    run.attempt.settings.port_register = Some(run.folder.join("ports"));
    Some(run)
}

/// Whether the supervisor of an attempt, as it wrote itself down, still runs.
fn is_alive(folder: &Path) -> bool {
    let file = fs::read(local::Layout::new(folder).supervisor()).unwrap_or_default();
    serde_json::from_slice(&file).is_ok_and(|identity: Identity| identity.is_alive())
}

impl Run {
    pub(crate) fn of_roles(roles: Vec<(&str, Role)>) -> Self {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("attempt");
        Self {
            home_folder: home,
            folder,
            attempt: Attempt::whole("job-1", 0, "ann", plan(roles)),
            secrets: Vec::new(),
            handle: None,
            launcher: launcher(),
        }
    }

    pub(crate) fn of(role: Role) -> Self {
        Self::of_roles(vec![("worker", role)])
    }

    pub(crate) fn secret(mut self, name: &str, value: &str) -> Self {
        self.secrets
            .push((SecretName(name.to_owned()), value.to_owned()));
        self
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut Attempt)) -> Self {
        change(&mut self.attempt);
        self
    }

    /// With variables for the supervisor.
    pub(crate) fn variables(mut self, variables: &[(&str, &str)]) -> Self {
        let pairs = variables
            .iter()
            .map(|(name, value)| format!("{name}={value}").into());
        self.launcher = Launcher {
            program: PathBuf::from("/usr/bin/env"),
            arguments: pairs.chain([launcher().program.into()]).collect(),
        };
        self
    }

    pub(crate) fn level(self, level: Level) -> Self {
        self.with(|attempt| attempt.settings.sandbox = level)
    }

    pub(crate) fn home(&self) -> &Path {
        self.home_folder.path()
    }

    pub(crate) fn start(&mut self) {
        let secrets: Secrets = self.secrets.iter().cloned().collect();
        let handle = local::launch(&self.launcher, &self.folder, &self.attempt, &secrets).unwrap();
        assert!(handle.is_new());
        self.handle = Some(handle);
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        local::observe(&self.folder, Cursor::default()).unwrap().0
    }

    /// Waits until some event makes it true.
    pub(crate) fn wait_for(&self, what: &str, mut is_it: impl FnMut(&Event) -> bool) -> Event {
        let begin = Instant::now();
        let mut watch = Watch::begin(&self.folder).ok();
        loop {
            if watch
                .as_mut()
                .is_some_and(|watch| watch.wait(Duration::ZERO).unwrap() == News::Gone)
            {
                watch = None;
            }
            // One that takes no more requests may still have something to tell.
            let is_gone = watch.is_none() && !is_alive(&self.folder);
            if let Some(event) = self.events().into_iter().find(|event| is_it(event)) {
                return event;
            }
            assert!(
                !is_gone,
                "the supervisor is gone before {what}: {:#?}",
                self.events()
            );
            assert!(
                begin.elapsed() < DEADLINE,
                "no {what}: {:#?}",
                self.events()
            );
            match &mut watch {
                Some(watch) => drop(watch.wait(Duration::from_secs(1)).unwrap()),
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }

    pub(crate) fn wait_for_command(&self) {
        self.wait_for("command", |event| {
            matches!(&event.what, Happening::Phase { phase, .. } if *phase == PhaseName::Command)
        });
    }

    /// Waits for the end of all tasks and of the supervisor.
    pub(crate) fn finish(&mut self) -> Vec<ExitReport> {
        self.wait_for("end", |event| event.what == Happening::Ended);
        self.handle.take().unwrap().wait();
        self.reports()
    }

    pub(crate) fn reports(&self) -> Vec<ExitReport> {
        self.events()
            .into_iter()
            .filter_map(|event| match event.what {
                Happening::Exited { report } => Some(*report),
                _ => None,
            })
            .collect()
    }

    /// Runs to the end; the report of the only task.
    pub(crate) fn run_to_end(&mut self) -> ExitReport {
        self.start();
        let mut reports = self.finish();
        assert_eq!(reports.len(), 1);
        reports.remove(0)
    }

    /// The supervisor was killed; takes note of it.
    pub(crate) fn forget(&mut self) {
        self.handle.take().unwrap().wait();
    }

    /// Runs a command in the environment of a task, through a program with a single thread.
    pub(crate) fn enter(&self, pid: i32, level: Level, command: &str) -> std::process::Output {
        std::process::Command::new(&self.launcher.program)
            .args(&self.launcher.arguments)
            .args([
                "enter",
                &pid.to_string(),
                &serde_json::to_string(&level).unwrap(),
                command,
            ])
            .arg(&self.folder)
            .output()
            .unwrap()
    }

    pub(crate) fn log(&self, stream: Stream) -> String {
        self.log_of(&worker(0), stream)
    }

    pub(crate) fn log_of(&self, task: &TaskId, stream: Stream) -> String {
        let logs = local::Layout::new(&self.folder).logs(task);
        let bytes = pinnace_exec::log::tail(&logs, stream, u64::MAX).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// What the runtime log says, without dates.
    pub(crate) fn runtime(&self) -> Vec<String> {
        let log = self.log(Stream::Runtime);
        log.lines()
            .map(|line| {
                let (date, text) = line.split_once("] [openpai-runtime] ").expect(line);
                assert!(date.starts_with('[') && date.contains(" UTC 20"), "{line}");
                text.to_owned()
            })
            .collect()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // A failed test leaves nothing running.
        if let Some(mut handle) = self.handle.take() {
            let _ = local::stop(&self.folder, None, Some(Duration::ZERO));
            let begin = Instant::now();
            while !handle.reap() && begin.elapsed() < Duration::from_secs(5) {
                std::thread::yield_now();
            }
        }
    }
}

/// Waits until it is true.
pub(crate) fn eventually(what: &str, mut is_it: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_it() {
        assert!(begin.elapsed() < DEADLINE, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
