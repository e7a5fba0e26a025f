//! A task's scripts in the form that the machine runs.
//!
//! [`pinnace_core::script`] writes the script for people. This form does the same with two shells, so
//! that exit hooks also run after `SIGKILL`, want of memory, and a command that replaces its shell:
//!
//! 1. [`first`] runs start hooks and the command in one shell. If the task has exit hooks, the exported
//!    variables are written down just before the command.
//! 2. [`last`] takes over these variables and the folder, and runs the exit hooks that fit the outcome.
//!
//! Descriptors: 4 takes the exported variables, 5 is the script itself, 6 goes to `runtime.log`, 7 and 8
//! are the command's output and errors, 9 tells phases. All are closed before the command starts.
//! Single digits, because `sh` knows no others.

use std::fmt::Write as _;
use std::path::PathBuf;

use pinnace_core::plan::{Action, Event, OnFailure, Role, Step};
use pinnace_core::text::{Piece, Text};

use super::plugin;
use crate::contract::{Secrets, ShellKind};
use crate::data::RealPlaces;
use crate::sandbox::WrittenFile;

/// Takes the exported variables.
pub(crate) const EXPORTS_FD: i32 = 4;
/// The script.
pub(crate) const SCRIPT_FD: i32 = 5;
/// Where a shell finds it.
pub(crate) const SCRIPT_PATH: &std::ffi::CStr = c"/proc/self/fd/5";
/// Leads to `runtime.log`.
pub(crate) const RUNTIME_FD: i32 = 6;
/// Leads to `stdout` once the command runs.
pub(crate) const STDOUT_FD: i32 = 7;
/// Leads to `stderr` once the command runs.
pub(crate) const STDERR_FD: i32 = 8;
/// Tells phases.
pub(crate) const PHASE_FD: i32 = 9;

/// What the scripts are made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Making<'a> {
    pub(crate) role: &'a Role,
    pub(crate) secrets: &'a Secrets,
    pub(crate) shell: ShellKind,
    pub(crate) nounset: bool,
    /// Where the paths that texts name really lie.
    pub(crate) places: &'a RealPlaces,
}

impl Making<'_> {
    fn text(&self, text: &Text) -> String {
        self.render(text, |place| place)
    }

    /// As part of a script, where the real place of a path must stay one word.
    fn shell_text(&self, text: &Text) -> String {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:=@%+,".contains(&byte);
        self.render(text, |place| match place.bytes().all(plain) {
            true => place,
            false => quoted(&place),
        })
    }

    fn render(&self, text: &Text, show: impl Fn(String) -> String) -> String {
        let mut out = String::new();
        for piece in text.pieces() {
            match piece {
                Piece::Literal(literal) => out.push_str(literal),
                Piece::Secret { secret } => out.push_str(self.secrets.get(secret)),
                Piece::Path { path } => out.push_str(&show(self.places.of(path))),
            }
        }
        out
    }

    /// The files of the role.
    pub(crate) fn files(&self) -> Vec<WrittenFile> {
        let files = self.role.files.iter();
        files
            .map(|(path, text)| WrittenFile {
                to: PathBuf::from(path),
                content: self.text(text),
                secret: text.secrets().next().is_some(),
            })
            .collect()
    }

    fn options(&self) -> &'static str {
        match self.shell {
            ShellKind::Bash => "set -o errexit -o pipefail\n",
            ShellKind::Sh => "set -o errexit\n",
        }
    }

    fn exports(&self, out: &mut String) {
        for (name, value) in &self.role.env {
            let _ = writeln!(out, "export {name}={}", quoted(&self.text(value)));
        }
    }

    fn lines(&self, lines: &[Text], out: &mut String) {
        if lines.is_empty() {
            out.push_str(":\n");
        }
        for line in lines {
            out.push_str(self.shell_text(line).trim_end_matches('\n'));
            out.push('\n');
        }
    }

    fn action(&self, step: &Step, out: &mut String) {
        match &step.action {
            Action::Shell { commands } => self.lines(commands, out),
            other => plugin::lines(other, |text| self.text(text), out),
        }
    }
}

/// Whether the first script needs the descriptors 6 to 9, or only the standard ones.
pub(crate) fn has_start_hooks(role: &Role) -> bool {
    !role.before.is_empty()
}

/// The exit hooks that an outcome calls for, with their places.
pub(crate) fn exit_hooks(role: &Role, success: bool) -> impl Iterator<Item = (usize, &Step)> {
    role.after
        .iter()
        .enumerate()
        .filter(move |(_, step)| match step.on {
            Event::Success => success,
            Event::Failure => !success,
            Event::Start | Event::Always => true,
        })
}

/// Start hooks and command.
pub(crate) fn first(making: Making<'_>) -> String {
    let role = making.role;
    let mut out = format!("exec {SCRIPT_FD}<&-\n");
    making.exports(&mut out);
    out.push_str(making.options());
    if has_start_hooks(role) {
        if !role.after.is_empty() {
            let _ = writeln!(out, "trap 'export -p >&{EXPORTS_FD}' EXIT");
        }
        let _ = writeln!(
            out,
            "printf '%s\\n' '[INFO] Starting to exec precommands' >&{RUNTIME_FD}"
        );
        for (number, step) in role.before.iter().enumerate() {
            let _ = writeln!(out, "exec 1>&{RUNTIME_FD} 2>&{RUNTIME_FD}");
            let _ = writeln!(out, "printf 'b {number}\\n' >&{PHASE_FD}");
            let ignored = step.on_failure == OnFailure::Ignore;
            if ignored {
                out.push_str("set +o errexit\n");
            }
            making.action(step, &mut out);
            out.push_str(making.options());
        }
        let _ = writeln!(
            out,
            "printf '%s\\n' '[INFO] Precommands finished' '[INFO] USER COMMAND START' >&{RUNTIME_FD}"
        );
        let _ = writeln!(out, "printf 'c\\n' >&{PHASE_FD}");
        if !role.after.is_empty() {
            let _ = writeln!(out, "trap - EXIT\nexport -p >&{EXPORTS_FD}");
        }
        let _ = writeln!(
            out,
            "exec 1>&{STDOUT_FD} 2>&{STDERR_FD} {EXPORTS_FD}>&- {RUNTIME_FD}>&- {STDOUT_FD}>&- {STDERR_FD}>&- {PHASE_FD}>&-"
        );
    }
    if making.nounset {
        out.push_str("set -o nounset\n");
    }
    making.lines(&role.command, &mut out);
    out
}

/// The exit hooks. Each has its own subshell, so that one cannot end the others.
pub(crate) fn last(making: Making<'_>, success: bool) -> String {
    let mut out = format!("exec {SCRIPT_FD}<&-\n");
    making.exports(&mut out);
    let _ = writeln!(
        out,
        ". /proc/self/fd/{EXPORTS_FD}\nexec {EXPORTS_FD}<&-\ncd \"$PWD\""
    );
    for (number, step) in exit_hooks(making.role, success) {
        let _ = writeln!(out, "printf 'a {number}\\n' >&{PHASE_FD}\n(");
        out.push_str(making.options());
        making.action(step, &mut out);
        let _ = writeln!(out, ") {PHASE_FD}>&-\nprintf 'r %s\\n' $? >&{PHASE_FD}");
    }
    out.push_str("exit 0\n");
    out
}

/// One word of a shell.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// What a shell tells through the phase descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A start hook begins.
    Before(usize),
    /// The command begins.
    Command,
    /// An exit hook begins.
    After(usize),
    /// The exit hook ended so.
    Result(i32),
}

impl Mark {
    /// Reads a line; anything else than a mark comes from a hook that wrote to our descriptor.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        match kind {
            "b" => rest.parse().ok().map(Mark::Before),
            "c" => Some(Mark::Command),
            "a" => rest.parse().ok().map(Mark::After),
            "r" => rest.parse().ok().map(Mark::Result),
            _ => None,
        }
    }
}
