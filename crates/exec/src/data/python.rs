//! Python packages for tasks: an environment for each set of requirements, made once and kept.
//!
//! An environment is made by `uv` if it is installed, else by `python3 -m venv` and `pip`. Both heed the settings of their user:
//! `PIP_INDEX_URL`, `PIP_NO_INDEX`, `PIP_FIND_LINKS`, `UV_*`, `pip.conf`.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sha2::{Digest as _, Sha256};

use super::copy;
use super::digest::hex;
use super::tell::Teller;
use crate::sys;

/// So much of what the installer said is part of a failure's reason.
const LAST_LINES: usize = 6;

/// The name of the file that says that an environment is complete.
const COMPLETE: &str = "pinnace-complete";

/// The environment for these requirements, made if there is none. `file` is a file with more of them, `code` the folder from which
/// relative paths in them are taken.
pub(crate) fn environment(
    requirements: &[String],
    file: Option<&Path>,
    code: Option<&Path>,
    cache: &Path,
    teller: &Teller,
) -> Result<PathBuf, String> {
    let python = Python::find()?;
    let written = match file {
        Some(path) => fs::read_to_string(path)
            .map_err(|error| format!("`{}`: {}", path.display(), copy::plain(&error)))?,
        None => String::new(),
    };
    let mut key = Sha256::new();
    let lines = requirements.join("\n");
    for part in [
        python.version.as_str(),
        &lines,
        written.as_str(),
        &file
            .and_then(Path::parent)
            .map_or(String::new(), |folder| local_parts(&written, folder)),
        &code.map_or(String::new(), |folder| local_parts(&lines, folder)),
    ] {
        key.update(part);
        key.update([0]);
    }
    let name = hex(&key.finalize());
    let folders = cache.join("python");
    copy::open_folder(&folders).map_err(|error| error.to_string())?;
    let environment = folders.join(name.get(..20).unwrap_or(&name));
    let lock = fs::File::create(environment.with_extension("lock"))
        .map_err(|error| format!("cannot lock the environment: {error}"))?;
    // Another job may be making the same one.
    sys::wait_for_lock(lock.as_fd());
    if environment.join(COMPLETE).exists() {
        return Ok(environment);
    }
    teller.note("installing Python packages");
    let _ = fs::remove_dir_all(&environment);
    python.make(&environment)?;
    if let Err(error) = python.install(&environment, requirements, file, code) {
        let _ = fs::remove_dir_all(&environment);
        return Err(error);
    }
    fs::write(environment.join(COMPLETE), "")
        .map_err(|error| format!("cannot complete the environment: {error}"))?;
    Ok(environment)
}

/// A file of requirements can name other files and folders; they are part of what makes an environment.
fn local_parts(text: &str, folder: &Path) -> String {
    let mut parts = String::new();
    for line in text.lines().map(str::trim) {
        let named = line
            .strip_prefix("-r ")
            .or_else(|| line.strip_prefix("-c "))
            .or_else(|| line.strip_prefix("-e "))
            .unwrap_or(line);
        let path = folder.join(named.trim());
        if let Ok(kind) = fs::metadata(&path) {
            let modified = kind.modified().ok();
            let _ = writeln!(parts, "{named} {} {modified:?}", kind.len());
            if kind.is_file() {
                parts.push_str(&fs::read_to_string(&path).unwrap_or_default());
            }
        }
    }
    parts
}

struct Python {
    program: String,
    version: String,
    has_uv: bool,
}

impl Python {
    fn find() -> Result<Self, String> {
        for program in ["python3", "python"] {
            let output = Command::new(program)
                .args(["-c", "import sys; print(sys.version, sys.prefix)"])
                .stdin(Stdio::null())
                .output();
            if let Ok(output) = output
                && output.status.success()
            {
                let has_uv = Command::new("uv")
                    .arg("--version")
                    .stdin(Stdio::null())
                    .output()
                    .is_ok_and(|output| output.status.success());
                return Ok(Self {
                    program: program.to_owned(),
                    version: String::from_utf8_lossy(&output.stdout).trim().to_owned(),
                    has_uv,
                });
            }
        }
        Err("Python packages are wanted, and there is no Python here: neither `python3` nor `python` is in the PATH".to_owned())
    }

    fn make(&self, folder: &Path) -> Result<(), String> {
        let mut command = if self.has_uv {
            let mut command = Command::new("uv");
            command.args(["venv", "--quiet", "--python", &self.program]);
            command
        } else {
            let mut command = Command::new(&self.program);
            command.args(["-m", "venv"]);
            command
        };
        run(command.arg(folder), "")
            .map_err(|said| format!("the Python environment cannot be made: {said}"))
    }

    fn install(
        &self,
        environment: &Path,
        requirements: &[String],
        file: Option<&Path>,
        code: Option<&Path>,
    ) -> Result<(), String> {
        let python = environment.join("bin/python");
        let mut command = if self.has_uv {
            let mut command = Command::new("uv");
            command
                .args(["pip", "install", "--quiet", "--python"])
                .arg(&python);
            command
        } else {
            let mut command = Command::new(&python);
            command.args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--no-input",
            ]);
            command
        };
        let rest = file.and_then(|file| Rest::of(file, requirements).transpose());
        let rest = rest
            .transpose()
            .map_err(|error| format!("the rest of the requirements cannot be written: {error}"))?;
        if let Some(file) = file {
            let used = rest.as_ref().map_or(file, |rest| rest.0.as_path());
            command.arg("-r").arg(used);
        }
        if let Some(folder) = file.and_then(Path::parent).or(code) {
            command.current_dir(folder);
        }
        // Lines of a file of requirements may hold options, markers and secrets, so they are no words of a command line.
        let lines: Vec<String> = requirements
            .iter()
            .map(|line| from_folder(line, code))
            .collect();
        let lines = lines.join("\n");
        if !requirements.is_empty() {
            command.args(["-r", if self.has_uv { "-" } else { "/dev/stdin" }]);
        }
        run(&mut command, &lines)
            .map_err(|said| format!("the Python packages cannot be installed: {said}"))
    }
}

/// A line that names another file of requirements, with its path from the root: pip would look for it where the line comes from.
fn from_folder(line: &str, folder: Option<&Path>) -> String {
    let options = ["-r", "--requirement", "-c", "--constraint"];
    let named = options.iter().find_map(|option| {
        let rest = line.trim().strip_prefix(option)?;
        let path = rest.trim_start_matches([' ', '\t', '=']);
        (path.len() < rest.len() && !path.contains("://")).then_some((option, path))
    });
    match (named, folder) {
        (Some((option, path)), Some(folder)) => format!("{option} {}", folder.join(path).display()),
        _ => line.to_owned(),
    }
}

/// What is left of a file of requirements when some of its packages are asked for in another way. It lies beside the file,
/// because its lines may name others from there, and only while packages are installed.
struct Rest(PathBuf);

impl Rest {
    /// `None` if nothing is to be left out.
    fn of(file: &Path, requirements: &[String]) -> std::io::Result<Option<Self>> {
        let text = fs::read_to_string(file)?;
        let Some(left) = without(&text, requirements) else {
            return Ok(None);
        };
        let path = file.with_file_name(".pinnace-requirements.txt");
        fs::write(&path, left)?;
        Ok(Some(Rest(path)))
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// The lines that name none of these packages; `None` if that is all of them.
fn without(text: &str, requirements: &[String]) -> Option<String> {
    let wanted: Vec<String> = requirements
        .iter()
        .filter_map(|line| package(line))
        .collect();
    let is_left = |line: &&str| package(line).is_none_or(|name| !wanted.contains(&name));
    let left: Vec<&str> = text.lines().filter(is_left).collect();
    (left.len() < text.lines().count()).then(|| left.join("\n") + "\n")
}

/// The package that a line of requirements names, spelt as indexes spell it.
fn package(line: &str) -> Option<String> {
    let line = line.trim();
    let is_part = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.');
    let end = line.find(|char| !is_part(char)).unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    // A path or a URL is no name.
    let is_name = name.starts_with(|char: char| char.is_ascii_alphanumeric())
        && !rest.starts_with(['/', ':', '\\', '+']);
    is_name.then(|| {
        let mut spelt = String::new();
        for part in name.split(['-', '_', '.']).filter(|part| !part.is_empty()) {
            if !spelt.is_empty() {
                spelt.push('-');
            }
            spelt.push_str(&part.to_ascii_lowercase());
        }
        spelt
    })
}

/// Runs a program; if it fails, the last lines of what it said.
fn run(command: &mut Command, input: &str) -> Result<(), String> {
    let words = |error: std::io::Error| copy::plain(&error);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(words)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that reads nothing has its own reasons.
        let _ = stdin.write_all(input.as_bytes());
    }
    let output = child.wait_with_output().map_err(words)?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<&str> = said
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let last = lines.len().saturating_sub(LAST_LINES);
    Err(without_logins(
        &lines.get(last..).unwrap_or_default().join("; "),
    ))
}

/// What an installer said may quote the address of a feed with the login in it.
fn without_logins(said: &str) -> String {
    let mut shown = String::new();
    let mut rest = said;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + "://".len());
        shown.push_str(before);
        let host = after
            .find(|char: char| char.is_whitespace() || "/'\"`,;)".contains(char))
            .unwrap_or(after.len());
        let (address, more) = after.split_at(host);
        shown.push_str(address.rsplit('@').next().unwrap_or(address));
        rest = more;
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_requirements_are_named_from_the_root() {
        let code = Some(Path::new("/code"));
        assert_eq!(from_folder("-r a/b.txt", code), "-r /code/a/b.txt");
        assert_eq!(
            from_folder("--constraint=c.txt", code),
            "--constraint /code/c.txt"
        );
        for line in ["-r https://host/a.txt", "requests", "-requests"] {
            assert_eq!(from_folder(line, code), line);
        }
        assert_eq!(from_folder("-r a.txt", None), "-r a.txt");
    }

    #[test]
    fn logins_are_cut_out_of_what_an_installer_says() {
        assert_eq!(
            without_logins("error: https://me:t@ken@host/simple/x failed; see http://host, or a@b"),
            "error: https://host/simple/x failed; see http://host, or a@b"
        );
    }

    #[test]
    fn packages_that_are_asked_for_twice_are_left_out_of_the_file() {
        let wanted = ["Torch_Vision==2".to_owned(), "numpy".to_owned()];
        let text = "# all\ntorch-vision >= 1\nnumpy[extra]==1\nscipy\n-r more.txt\n./numpy\nhttps://x/numpy.whl\n";
        let left = "# all\nscipy\n-r more.txt\n./numpy\nhttps://x/numpy.whl\n";
        assert_eq!(without(text, &wanted).as_deref(), Some(left));
        assert_eq!(without("scipy\n", &wanted), None);
    }
}
