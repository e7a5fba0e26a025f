//! How others start a supervisor and talk to it.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use pinnace_core::plan::Plan;

use super::supervisor::ANOTHER_SUPERVISOR;
use super::supervisor::request::{Answer, Request};
use super::{Layout, write_atomically};
use crate::contract::{Attempt, Secrets, TaskId};
use crate::data::stage;
use crate::sandbox::cgroup;

/// What the supervisor takes over from the environment of whoever starts it. The rest stays out,
/// because it may hold secrets.
const PASSED_ON: [&str; 8] = [
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "RUST_BACKTRACE",
];

/// A supervisor that is killed before it begins is started so often.
const STARTS: u32 = 5;

/// How to start a supervisor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// The program.
    pub program: PathBuf,
    /// What stands before the attempt's folder on its command line.
    pub arguments: Vec<OsString>,
}

impl Launcher {
    /// This very program, with the hidden command `supervisor`.
    pub fn this_program() -> io::Result<Self> {
        Ok(Self {
            program: std::env::current_exe()?,
            arguments: vec!["supervisor".into()],
        })
    }
}

/// Says that a launch will come soon: what it will wait for in the kernel begins now, beside whatever else is done.
pub fn expect_launch() {
    // Without it the launch only takes a little longer.
    let _ = std::thread::Builder::new()
        .name("groups".to_owned())
        .stack_size(64 << 10)
        .spawn(cgroup::await_quiet_state);
}

/// A supervisor that was started, or found.
#[derive(Debug)]
pub struct Handle {
    child: Option<Child>,
}

impl Handle {
    /// Whether this call started the supervisor. Otherwise the attempt already had one.
    pub fn is_new(&self) -> bool {
        self.child.is_some()
    }

    /// Takes note of the supervisor's end, if it has ended; else it would stay as a zombie until
    /// this process ends. Call it after the last event.
    pub fn reap(&mut self) -> bool {
        match &mut self.child {
            Some(child) => !matches!(child.try_wait(), Ok(None)),
            None => true,
        }
    }

    /// Waits for the supervisor's end; whether it came to its end by itself. At once, and not known, if another
    /// process has started it.
    pub fn wait(&mut self) -> bool {
        match &mut self.child {
            Some(child) => child.wait().is_ok_and(|status| status.success()),
            None => false,
        }
    }
}

/// Why an attempt could not be launched. Nothing of it runs.
#[derive(Debug)]
pub struct LaunchError(String);

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LaunchError {}

/// A supervisor that was started ahead and waits to be told what to do. If it never is, it ends and has done nothing.
#[derive(Debug)]
pub struct Expected {
    folder: PathBuf,
    child: Option<Child>,
}

impl Drop for Expected {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }
}

/// Starts a supervisor ahead, beside whatever must be done before the launch. None if the launch had better do it.
pub fn start_ahead(launcher: &Launcher, folder: &Path, plan: &Plan) -> Option<Expected> {
    // What moves data may be told more of our environment, which the launch knows.
    if plan.roles.values().any(stage::is_needed) {
        return None;
    }
    make_folder(folder).ok()?;
    let child = start(launcher, &Layout::new(folder), &[]).ok();
    child.map(|child| Expected {
        folder: folder.to_owned(),
        child: Some(child),
    })
}

/// Starts the supervisor of an attempt. The folder names the attempt: if it was launched before, whether
/// it still runs or not, nothing is started, and its events tell how it went.
pub fn launch(
    launcher: &Launcher,
    folder: &Path,
    attempt: &Attempt,
    secrets: &Secrets,
) -> Result<Handle, LaunchError> {
    try_launch(launcher, folder, attempt, secrets, None).map_err(LaunchError)
}

/// As [`launch`], with the supervisor that was started ahead, if it fits.
pub fn launch_expected(
    launcher: &Launcher,
    folder: &Path,
    attempt: &Attempt,
    secrets: &Secrets,
    expected: Option<Expected>,
) -> Result<Handle, LaunchError> {
    try_launch(launcher, folder, attempt, secrets, expected).map_err(LaunchError)
}

fn make_folder(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

fn try_launch(
    launcher: &Launcher,
    folder: &Path,
    attempt: &Attempt,
    secrets: &Secrets,
    expected: Option<Expected>,
) -> Result<Handle, String> {
    let layout = Layout::new(folder);
    let text = |error: io::Error| format!("cannot prepare {}: {error}", folder.display());
    if !folder.is_absolute() {
        return Err(format!("{} is not an absolute path", folder.display()));
    }
    if layout.events().exists() {
        return Ok(Handle { child: None });
    }
    make_folder(folder).map_err(text)?;
    let json = serde_json::to_vec(attempt).map_err(|error| error.to_string())?;
    write_atomically(&layout.attempt(), &json).map_err(text)?;
    let for_data = crate::data::variables(attempt);
    let mut ahead = expected
        .filter(|expected| expected.folder == folder && for_data.is_empty())
        .and_then(|mut expected| expected.child.take());
    for _ in 0..STARTS {
        let child = match ahead.take() {
            Some(child) => child,
            None => start(launcher, &layout, &for_data)?,
        };
        if let Some(handle) = tell(child, &layout, secrets)? {
            return Ok(handle);
        }
    }
    Err(format!(
        "the supervisor was killed {STARTS} times before it began"
    ))
}

/// Starts a supervisor. It waits for its secrets before it does anything.
fn start(launcher: &Launcher, layout: &Layout, for_data: &[&str]) -> Result<Child, String> {
    let complaints = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(layout.complaints())
        .map_err(|error| format!("cannot write {}: {error}", layout.complaints().display()))?;
    let passed_on = std::env::vars_os().filter(|(name, _)| {
        let name = name.to_string_lossy();
        PASSED_ON.contains(&&*name) || for_data.iter().any(|start| name.starts_with(start))
    });
    Command::new(&launcher.program)
        .args(&launcher.arguments)
        .arg(layout.folder())
        .env_clear()
        .envs(passed_on)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(complaints)
        .spawn()
        .map_err(|error| format!("cannot start {}: {error}", launcher.program.display()))
}

/// Lets a supervisor begin; nothing if it was killed before it could.
fn tell(mut child: Child, layout: &Layout, secrets: &Secrets) -> Result<Option<Handle>, String> {
    if let Some(mut pipe) = child.stdin.take() {
        // A supervisor that does not read says why on its output.
        let _ = pipe.write_all(&secrets.to_wire());
    }
    let mut answer = String::new();
    if let Some(pipe) = child.stdout.take() {
        let _ = BufReader::new(pipe).read_line(&mut answer);
    }
    match answer.trim() {
        "ready" => Ok(Some(Handle { child: Some(child) })),
        answer => {
            let status = child.wait();
            if answer == ANOTHER_SUPERVISOR || layout.events().exists() {
                return Ok(Some(Handle { child: None }));
            }
            if status.is_ok_and(|status| status.signal().is_some()) {
                return Ok(None);
            }
            let complaints = fs::read_to_string(layout.complaints()).unwrap_or_default();
            Err(format!(
                "the supervisor did not start: {answer} {}",
                complaints.trim()
            )
            .trim()
            .to_owned())
        }
    }
}

/// Ends tasks of an attempt: `SIGTERM`, the grace period, `SIGKILL`. Without a task, all of them; without a
/// grace period, that of the attempt. Returns when the supervisor has begun; its events tell the end. Fails
/// with `NotFound` or `ConnectionRefused` if no supervisor is there.
pub fn stop(folder: &Path, task: Option<&TaskId>, grace: Option<Duration>) -> io::Result<()> {
    let request = Request::Stop {
        task: task.cloned(),
        grace_seconds: grace.map(|grace| grace.as_secs()),
    };
    let stream = connect(folder)?;
    let answer = ask(&stream, &request)?;
    match answer.error {
        None => Ok(()),
        Some(error) => Err(io::Error::other(error)),
    }
}

/// Wakes whoever follows an attempt.
#[derive(Debug)]
pub struct Watch {
    stream: UnixStream,
}

/// What a [`Watch`] tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// There may be new events.
    Events,
    /// Nothing came in time.
    Nothing,
    /// The supervisor is gone; there will be no more events than there are.
    Gone,
}

impl Watch {
    /// Begins to watch. Events from before this call are not announced: look at them first.
    pub fn begin(folder: &Path) -> io::Result<Self> {
        let stream = connect(folder)?;
        ask(&stream, &Request::Watch)?;
        stream.set_nonblocking(true)?;
        Ok(Self { stream })
    }

    /// Waits for something new.
    pub fn wait(&mut self, timeout: Duration) -> io::Result<News> {
        let timeout = PollTimeout::try_from(timeout).unwrap_or(PollTimeout::MAX);
        let mut fds = [PollFd::new(self.stream.as_fd(), PollFlags::POLLIN)];
        match poll(&mut fds, timeout) {
            Ok(0) | Err(nix::Error::EINTR) => return Ok(News::Nothing),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        self.take()
    }

    /// Takes what has come, without waiting; for those who poll the descriptor themselves.
    pub fn take(&mut self) -> io::Result<News> {
        let mut buffer = [0; 1024];
        match self.stream.read(&mut buffer) {
            Ok(0) => Ok(News::Gone),
            Ok(_) => Ok(News::Events),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(News::Nothing),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(News::Gone),
            Err(error) => Err(error),
        }
    }
}

impl AsFd for Watch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

fn connect(folder: &Path) -> io::Result<UnixStream> {
    let (path, _folder) = short_path(&Layout::new(folder).socket())?;
    let stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    Ok(stream)
}

fn ask(mut stream: &UnixStream, request: &Request) -> io::Result<Answer> {
    let mut line = serde_json::to_vec(request)?;
    line.push(b'\n');
    stream.write_all(&line)?;
    // Byte by byte: what follows the answer is not ours to take.
    let mut answer = Vec::new();
    let mut byte = [0];
    loop {
        stream.read_exact(&mut byte)?;
        if byte == *b"\n" {
            if answer.is_empty() {
                continue;
            }
            break;
        }
        answer.extend_from_slice(&byte);
    }
    Ok(serde_json::from_slice(&answer)?)
}

/// A way to a socket that is short enough for the kernel, however deep its folder lies. It is valid as
/// long as the descriptor is open.
pub(super) fn short_path(path: &Path) -> io::Result<(PathBuf, OwnedFd)> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let folder = File::open(folder)?;
    let name = path.file_name().unwrap_or_default();
    let short = Path::new("/proc/self/fd")
        .join(folder.as_raw_fd().to_string())
        .join(name);
    Ok((short, OwnedFd::from(folder)))
}
