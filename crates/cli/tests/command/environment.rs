//! A place to run the program in, and snapshots of what it says.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A job without any problem.
pub(crate) const HELLO: &str = "\
protocolVersion: 2
name: hello
type: job
prerequisites:
  - {name: image, type: dockerimage, uri: 'ubuntu:22.04'}
taskRoles:
  worker:
    dockerImage: image
    resourcePerInstance: {cpu: 1, memoryMB: 256, gpu: 0}
    commands:
      - echo hello
";

/// A folder of its own.
pub(crate) struct TestEnv {
    root: tempfile::TempDir,
}

/// What the program said and how it ended.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// All of it, for a snapshot.
    pub(crate) fn transcript(&self) -> String {
        let code = self.code.map_or("none".to_owned(), |code| code.to_string());
        format!(
            "exit {code}\n---- stdout\n{}---- stderr\n{}",
            self.stdout, self.stderr
        )
    }

    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}", self.transcript());
        self
    }
}

impl TestEnv {
    pub(crate) fn new() -> Self {
        TestEnv {
            root: tempfile::tempdir().unwrap(),
        }
    }

    /// With a copy of a fixture, under its own name.
    pub(crate) fn with_fixture(name: &str) -> Self {
        let env = TestEnv::new();
        env.write(name, fixture(name));
        env
    }

    pub(crate) fn path(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn write(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) {
        let path = self.root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// The program, in this folder, with nothing of the outer environment.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pinnace"));
        command
            .current_dir(self.root.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Run {
        finish(self.command().args(arguments), b"")
    }

    pub(crate) fn run_with_input<A: AsRef<OsStr>>(&self, arguments: &[A], input: &[u8]) -> Run {
        finish(self.command().args(arguments).stdin(Stdio::piped()), input)
    }
}

/// Runs a command to its end.
pub(crate) fn finish(command: &mut Command, input: &[u8]) -> Run {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    if let Some(mut stdin) = child.stdin.take() {
        // A program that has seen enough may close its input.
        let _ = stdin.write_all(input);
    }
    let output = child.wait_with_output().unwrap();
    Run {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The text of one of the cases.
pub(crate) fn fixture(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../spec/tests/fixtures/openpai");
    std::fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The names of all cases.
pub(crate) fn fixtures() -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../spec/tests/fixtures/openpai");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Compares with `snapshots/NAME.txt`.
#[track_caller]
pub(crate) fn assert_snapshot(name: &str, text: &str) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/command/snapshots");
    let path = folder.join(format!("{name}.txt"));
    if std::env::var_os("PINNACE_UPDATE_SNAPSHOTS").is_some() {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(&path, text).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == text,
        "`{name}` differs from its snapshot; if that is right, run the tests again with \
         PINNACE_UPDATE_SNAPSHOTS=1\n---- expected\n{expected}\n---- got\n{text}"
    );
}
