//! A small language for tests.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Nothing here takes longer, on however busy a machine.
pub(crate) const DEADLINE: Duration = Duration::from_mins(1);

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
        fs::create_dir(folder.path().join("bin")).unwrap();
        Place {
            folder,
            ordinary: false,
        }
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

/// Says that something is not tested here. The harness hides what a test prints, but not this.
pub(crate) fn skipped(what: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {what}");
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
