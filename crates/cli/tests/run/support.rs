//! A small language for tests.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Nothing here takes longer, on however busy a machine.
pub(crate) const DEADLINE: Duration = Duration::from_mins(3);

/// The user without rights, on every machine.
const NOBODY: u32 = 65534;

/// A state directory of its own, with jobs beside it.
pub(crate) struct Place {
    folder: tempfile::TempDir,
    /// Whether all is done by an ordinary user.
    ordinary: bool,
}

/// What a command said and how it ended.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Said {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Said {
    pub(crate) fn succeeded(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Place {
    pub(crate) fn new() -> Self {
        Self::of(tempfile::tempdir().unwrap())
    }

    /// One whose files tasks see as well: they have a `/tmp` of their own.
    pub(crate) fn in_sight() -> Self {
        Self::of(tempfile::tempdir_in("/var/tmp").unwrap())
    }

    fn of(folder: tempfile::TempDir) -> Self {
        let place = Place {
            folder,
            ordinary: false,
        };
        place.folder("bin");
        fs::create_dir(place.temporary()).unwrap();
        fs::set_permissions(place.temporary(), PermissionsExt::from_mode(0o1777)).unwrap();
        place
    }

    /// One where an ordinary user does everything; `None`, and said, if there is no way.
    pub(crate) fn of_ordinary_user() -> Option<Self> {
        if !nix::unistd::geteuid().is_root() {
            // The user who runs the tests is one.
            return Some(Self::in_sight());
        }
        if !Path::new("/usr/bin/setpriv").exists() {
            skipped("nothing is run as an ordinary user: there is no `setpriv`");
            return None;
        }
        let mut place = Self::in_sight();
        place.ordinary = true;
        std::os::unix::fs::chown(place.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        fs::set_permissions(place.path(), PermissionsExt::from_mode(0o755)).unwrap();
        fs::copy(env!("CARGO_BIN_EXE_pinnace"), place.path().join("pinnace")).unwrap();
        Some(place)
    }

    /// Writes a program that stands before all others in `PATH`.
    pub(crate) fn program(&self, name: &str, lines: &str) {
        let path = self.path().join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    /// Makes a folder and gives its path.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(&path).unwrap();
        if self.ordinary {
            std::os::unix::fs::chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        path
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.path().join("state")
    }

    /// For the files of a user beside the state directory, such as the register of ports.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.path().join("temporary")
    }

    /// Writes a file and gives its path.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = if self.ordinary {
            let mut command = Command::new("/usr/bin/setpriv");
            command
                .args([
                    format!("--reuid={NOBODY}"),
                    format!("--regid={NOBODY}"),
                    "--clear-groups".to_owned(),
                ])
                .arg(self.path().join("pinnace"))
                .env("HOME", self.path())
                .env_remove("USER");
            command
        } else {
            Command::new(env!("CARGO_BIN_EXE_pinnace"))
        };
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{path}", self.path().join("bin").display());
        command
            .args(arguments)
            .env("PATH", path)
            .env("TMPDIR", self.temporary())
            .env("PINNACE_STATE", self.state())
            .env("NO_COLOR", "1")
            .current_dir(self.path())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn pinnace(&self, arguments: &[&str]) -> Said {
        self.command(arguments).output().unwrap().into()
    }

    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// The latest job, as `show` tells of it.
    pub(crate) fn show(&self, job: &str) -> serde_json::Value {
        self.pinnace(&["show", job, "-o", "json"])
            .succeeded()
            .json()
    }

    /// The lines of a task's runtime log, without their dates.
    pub(crate) fn runtime_log(&self, job: &str, task: &str) -> Vec<String> {
        let said = self.pinnace(&["logs", job, task, "--runtime"]).succeeded();
        said.stdout
            .lines()
            .map(|line| line.split_once("] ").unwrap().1.to_owned())
            .collect()
    }
}

impl Drop for Place {
    /// Leaves no process behind, also if the test failed.
    fn drop(&mut self) {
        let jobs: Vec<String> = fs::read_dir(self.state().join("jobs"))
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        for job in jobs {
            let _ = self
                .command(&["stop", "--force", &job])
                .stderr(Stdio::null())
                .status();
        }
    }
}

/// Waits until something is so.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < DEADLINE, "{what} never came true");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A job with roles, each a name, a number of instances, a completion policy and a command.
pub(crate) fn job(name: &str, roles: &[(&str, u32, (i32, i32), &str)]) -> String {
    let mut text = format!(
        "protocolVersion: 2\nname: {name}\ntype: job\nprerequisites:\n  - {{name: image, type: \
         dockerimage, uri: \"debian:12\"}}\ntaskRoles:\n"
    );
    for (role, instances, (failed, succeeded), command) in roles {
        let _ = write!(
            text,
            "  {role}:\n    instances: {instances}\n    dockerImage: image\n    completion: {{minFailedInstances: {failed}, \
             minSucceededInstances: {succeeded}}}\n    resourcePerInstance: {{cpu: 1, memoryMB: 64, gpu: 0}}\n    \
             commands:\n"
        );
        for line in command.lines() {
            let line = serde_json::to_string(line).unwrap();
            let _ = writeln!(text, "      - {line}");
        }
    }
    text
}

/// The same job, with the folder `shared` of the place at `/mnt/shared` in every task.
pub(crate) fn with_shared(job: &str) -> String {
    let storage = "  - {name: shared, type: storage, plugin: com.microsoft.pai.rest.storage, config: shared, \
                   mountPoint: /mnt/shared}\ntaskRoles:";
    job.replace("taskRoles:", storage).replace(
        "    instances:",
        "    prerequisites: [shared]\n    instances:",
    )
}

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file of the case collection.
pub(crate) fn case(name: &str) -> String {
    let path = repository()
        .join("crates/spec/tests/fixtures/openpai")
        .join(name);
    path.to_str().unwrap().to_owned()
}

/// Says that something is not tested here.
pub(crate) fn skipped(what: &str) {
    say(&format!("SKIPPED: {what}"));
}

/// Says something to whoever runs the tests. The harness hides what a test prints, but not this.
pub(crate) fn say(what: &str) {
    let _ = writeln!(std::io::stderr(), "{what}");
}

/// Whether a real SSH server can be started; if not, it is said.
pub(crate) fn has_ssh_server(for_what: &str) -> bool {
    let there = Path::new("/usr/sbin/sshd").exists();
    if !there {
        skipped(&format!(
            "{for_what}: no SSH server is installed (`apt-get install openssh-server`)"
        ));
    }
    there
}

/// Whether a process that was started has ended.
pub(crate) fn has_ended(child: &mut Child) -> bool {
    child.try_wait().unwrap().is_some()
}

/// All processes with a path of this folder in their arguments, variables or as their current folder, each with
/// its arguments.
pub(crate) fn processes_of(state: &Path) -> Vec<(i32, String)> {
    let state = state.to_str().unwrap();
    let own = std::process::id().to_string();
    let found = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let read = |file: &str| {
                let bytes = fs::read(entry.path().join(file)).unwrap_or_default();
                String::from_utf8_lossy(&bytes).into_owned()
            };
            let pid = name.parse().ok().filter(|_| name != own)?;
            let line = read("cmdline");
            let folder = fs::read_link(entry.path().join("cwd")).unwrap_or_default();
            let is_ours = line.contains(state)
                || read("environ").contains(state)
                || folder.starts_with(state);
            is_ours.then_some((pid, line))
        });
    found.collect()
}

/// A launch as it is on disk.
pub(crate) struct LaunchLeft {
    pub(crate) folder: PathBuf,
    /// Where its control groups are while it runs.
    pub(crate) groups: Vec<PathBuf>,
}

/// All launches of all jobs.
pub(crate) fn state_of_launches(state: &Path) -> Vec<LaunchLeft> {
    let below = |path: &Path| {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let mut groups = Vec::new();
    let mut open = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = open.pop() {
        for path in below(&folder).into_iter().filter(|path| path.is_dir()) {
            if path
                .file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("pinnace-"))
            {
                groups.push(path);
            } else {
                open.push(path);
            }
        }
    }
    let jobs = below(&state.join("jobs"));
    let launches = jobs.iter().flat_map(|job| below(&job.join("launches")));
    launches
        .map(|folder| {
            let name = group_name(&folder);
            let is_its = |group: &&PathBuf| group.ends_with(&name);
            LaunchLeft {
                groups: groups.iter().filter(is_its).cloned().collect(),
                folder,
            }
        })
        .collect()
}

/// The name of a launch's control groups, which follows from its folder.
fn group_name(folder: &Path) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in folder.as_os_str().as_encoded_bytes() {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("pinnace-{hash:016x}")
}
