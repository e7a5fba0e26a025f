//! A small language for tests.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Nothing here takes longer, on however busy a machine.
pub(crate) const DEADLINE: Duration = Duration::from_mins(1);

/// A state directory of its own, with jobs beside it.
pub(crate) struct Place {
    folder: tempfile::TempDir,
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
        Place {
            folder: tempfile::tempdir().unwrap(),
        }
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
        let mut command = Command::new(env!("CARGO_BIN_EXE_pinnace"));
        command
            .args(arguments)
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
