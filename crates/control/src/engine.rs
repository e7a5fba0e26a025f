//! What the loop asks of whatever runs tasks.

use std::collections::HashMap;
use std::io;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use pinnace_core::plan::Plan;
use pinnace_exec::local::{self, Adoption, Cursor, Expected, Handle, Launcher, Watch};
use pinnace_exec::{Attempt, Event, Secrets, TaskId};

/// How long a supervisor that has told its last event may take to end.
const LAST_MOMENTS: Duration = Duration::from_millis(500);

/// Runs tasks. A launch is known by its folder.
///
/// 1. All calls come from one thread.
/// 2. [`Engine::launch`] is idempotent: a folder is carried out at most once. If it fails, nothing of it runs.
/// 3. [`Engine::observe`] gives every event of a folder in order, from any cursor, as often as it is asked.
/// 4. [`Engine::adopt`] never says `Over` of something that may still run.
pub trait Engine {
    /// A launch may follow at once. What it needs may begin now, as long as nothing is left of it if none follows.
    fn expect(&mut self, _folder: &Path, _plan: &Plan) {}

    /// No launch follows at once.
    fn relax(&mut self) {}

    /// Starts the tasks of a launch.
    fn launch(&mut self, folder: &Path, attempt: &Attempt, secrets: &Secrets)
    -> Result<(), String>;

    /// Ends a task, or all of a launch.
    fn stop(
        &mut self,
        folder: &Path,
        task: Option<&TaskId>,
        grace: Option<Duration>,
    ) -> io::Result<()>;

    /// What became of a launch.
    fn adopt(&mut self, folder: &Path) -> io::Result<Adoption>;

    /// What happened since.
    fn observe(&mut self, folder: &Path, since: Cursor) -> io::Result<(Vec<Event>, Cursor)>;

    /// Waits until something may have happened in one of the launches. Tells which of them nobody looks after.
    fn wait(&mut self, folders: &[PathBuf], timeout: Duration) -> io::Result<Vec<PathBuf>>;

    /// All tasks of a launch have ended; lets go of it.
    fn forget(&mut self, folder: &Path);
}

/// Tasks as processes of this machine.
#[derive(Debug)]
pub struct LocalEngine {
    launcher: Launcher,
    expected: Option<Expected>,
    handles: HashMap<PathBuf, Handle>,
    watches: HashMap<PathBuf, Watch>,
}

impl LocalEngine {
    /// With this very program as supervisor.
    pub fn this_program() -> io::Result<Self> {
        Ok(Self::new(Launcher::this_program()?))
    }

    /// With this supervisor.
    pub fn new(launcher: Launcher) -> Self {
        Self {
            launcher,
            expected: None,
            handles: HashMap::new(),
            watches: HashMap::new(),
        }
    }
}

impl Engine for LocalEngine {
    fn expect(&mut self, folder: &Path, plan: &Plan) {
        self.expected = local::start_ahead(&self.launcher, folder, plan);
    }

    fn relax(&mut self) {
        self.expected = None;
    }

    fn launch(
        &mut self,
        folder: &Path,
        attempt: &Attempt,
        secrets: &Secrets,
    ) -> Result<(), String> {
        let expected = self.expected.take();
        let handle = local::launch_expected(&self.launcher, folder, attempt, secrets, expected)
            .map_err(|error| error.to_string())?;
        self.handles.insert(folder.to_owned(), handle);
        Ok(())
    }

    fn stop(
        &mut self,
        folder: &Path,
        task: Option<&TaskId>,
        grace: Option<Duration>,
    ) -> io::Result<()> {
        local::stop(folder, task, grace)
    }

    fn adopt(&mut self, folder: &Path) -> io::Result<Adoption> {
        local::adopt(folder)
    }

    fn observe(&mut self, folder: &Path, since: Cursor) -> io::Result<(Vec<Event>, Cursor)> {
        local::observe(folder, since)
    }

    fn wait(&mut self, folders: &[PathBuf], timeout: Duration) -> io::Result<Vec<PathBuf>> {
        let mut gone = Vec::new();
        let mut is_new = false;
        for folder in folders {
            if self.watches.contains_key(folder) {
                continue;
            }
            match Watch::begin(folder) {
                Ok(watch) => {
                    self.watches.insert(folder.clone(), watch);
                    // What happened before the watch began is not announced by it.
                    is_new = true;
                }
                Err(_) => gone.push(folder.clone()),
            }
        }
        if is_new || !gone.is_empty() {
            return Ok(gone);
        }
        let watches: Vec<(&PathBuf, &Watch)> = folders
            .iter()
            .filter_map(|folder| self.watches.get_key_value(folder))
            .collect();
        let mut fds: Vec<PollFd<'_>> = watches
            .iter()
            .map(|(_, watch)| PollFd::new(watch.as_fd(), PollFlags::POLLIN))
            .collect();
        let timeout = PollTimeout::try_from(timeout).unwrap_or(PollTimeout::MAX);
        match poll(&mut fds, timeout) {
            Ok(_) | Err(nix::Error::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        for folder in folders {
            if let Some(watch) = self.watches.get_mut(folder)
                && !matches!(watch.take(), Ok(local::News::Events | local::News::Nothing))
            {
                self.watches.remove(folder);
                gone.push(folder.clone());
            }
        }
        Ok(gone)
    }

    fn forget(&mut self, folder: &Path) {
        self.watches.remove(folder);
        let handle = self.handles.remove(folder);
        if handle.is_some_and(|mut handle| handle.wait()) {
            return;
        }
        // It was killed in its last moments, or is not ours to wait for: what it did not come to remove is removed.
        let begin = Instant::now();
        while let Ok(Adoption::Alive(_)) = local::adopt(folder) {
            if begin.elapsed() > LAST_MOMENTS {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}
