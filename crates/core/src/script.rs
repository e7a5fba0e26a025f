//! A task's script: one shell that runs the start hooks, the command and the exit hooks.
//!
//! What the script promises:
//!
//! 1. What a start hook exports, and the folder it changes to, is seen by later start hooks, by the
//!    command and by the exit hooks. The command runs in a subshell, so that its own `exec`, `exit`
//!    and `trap` cannot skip the exit hooks.
//! 2. A failing line ends its hook or the command. A failing start hook ends the task before the
//!    command, unless its failure is ignored.
//! 3. Exit hooks run in order, whatever ended the shell short of `SIGKILL`: those for success only
//!    if the command ended with 0, those for failure only if it did not. Each has its own subshell.
//! 4. The script's exit status is the command's; if that is 0, the status of the first exit hook
//!    that failed and is not ignored.
//! 5. What a shell cannot do (SSH, clones with retries, TensorBoard) is a call of `pinnace_runtime`,
//!    which hands its arguments to the program that `$PINNACE_RUNTIME` names, and otherwise only
//!    says what would be done.

use std::fmt::Write as _;

use crate::plan::{Action, Event, OnFailure, Role, Step};
use crate::text::{Piece, Text};

/// Which shell the script is written for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shell {
    /// With `pipefail`.
    #[default]
    Bash,
    /// Any POSIX shell.
    Sh,
}

/// How the script is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// For which shell.
    pub shell: Shell,
    /// Whether the use of an unset variable in the command is a failure.
    pub nounset: bool,
}

/// The script of a role's tasks. Secrets are left as `<% $secrets.name %>`.
pub fn render(role_name: &str, role: &Role, options: Options) -> String {
    let mut script = Script {
        out: String::new(),
        options,
    };
    script.header(role_name, role);
    if script_needs_runtime(role) {
        script.out.push_str(RUNTIME);
    }
    if has_hooks(role) {
        script.exit_hooks(&role.after);
    }
    script.environment(role);
    if let Some(workdir) = &role.workdir {
        let _ = writeln!(script.out, "\ncd {}", quoted(&Text::from(workdir.as_str())));
    }
    for (index, step) in role.before.iter().enumerate() {
        script.start_hook(step, index + 1, role.before.len());
    }
    script.command(role);
    script.out
}

const RUNTIME: &str = r#"
# What only the runner can do; without one it is only told.
pinnace_runtime() {
  if [ -n "${PINNACE_RUNTIME:-}" ]; then
    "$PINNACE_RUNTIME" "$@"
  else
    printf 'pinnace: left to the runner: %s\n' "$*" >&2
  fi
}
"#;

const EXIT_OPENING: &str = r#"
# Runs when the shell ends, whatever ended it.
pinnace_exit() {
  pinnace_outcome=$?
  trap - EXIT
  trap '' HUP INT TERM
  set +o errexit
  if [ "$pinnace_outcome" -eq 0 ] && [ -z "${pinnace_command_ran:-}" ]; then
    echo 'pinnace: a start hook left the shell before the command could run' >&2
    pinnace_outcome=1
  fi
  pinnace_status=$pinnace_outcome
"#;

const EXIT_CLOSING: &str = r#"  exit "$pinnace_status"
}
trap pinnace_exit EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
"#;

struct Script {
    out: String,
    options: Options,
}

impl Script {
    fn header(&mut self, role_name: &str, role: &Role) {
        let (program, pipefail) = match self.options.shell {
            Shell::Bash => ("/bin/bash", " -o pipefail"),
            Shell::Sh => ("/bin/sh", ""),
        };
        let _ = writeln!(self.out, "#!{program}");
        let _ = writeln!(
            self.out,
            "# What each task of the role `{}` runs.",
            one_line(role_name)
        );
        if script_names_secrets(role) {
            self.out.push_str(
                "# The runner puts the values of secrets in the places of `<% $secrets.… %>`.\n",
            );
        }
        for mount in &role.mounts {
            let (storage, target) = (
                one_line(&symbolic(&mount.storage)),
                one_line(&symbolic(&mount.target)),
            );
            let _ = writeln!(
                self.out,
                "# The storage `{storage}` is mounted at {target}."
            );
        }
        let _ = writeln!(self.out, "set -o errexit{pipefail}");
    }

    fn environment(&mut self, role: &Role) {
        if role.env.is_empty() {
            return;
        }
        self.section("environment");
        for (name, value) in &role.env {
            let _ = writeln!(self.out, "export {name}={}", quoted(value));
        }
    }

    fn section(&mut self, title: &str) {
        let _ = writeln!(self.out, "\n# ---- {title} ----");
    }

    fn start_hook(&mut self, step: &Step, number: usize, of: usize) {
        let ignored = step.on_failure == OnFailure::Ignore;
        self.section(&format!(
            "start {number} of {of}: {}{}",
            one_line(&step.name),
            ignored_note(step)
        ));
        if ignored {
            self.out.push_str("set +o errexit\n");
        }
        self.action(&step.action);
        if ignored {
            self.out.push_str("set -o errexit\n");
        }
    }

    fn command(&mut self, role: &Role) {
        let hooked = has_hooks(role);
        self.section("command");
        if hooked {
            self.out.push_str("pinnace_command_ran=yes\n");
        }
        self.out.push_str("(\nset -o errexit\n");
        if self.options.nounset {
            self.out.push_str("set -o nounset\n");
        }
        self.lines(&role.command);
        self.out.push_str(")\n");
        if hooked {
            // Bash does not fork for the last command of `bash -c`, and would lose the traps.
            self.out.push_str("exit 0\n");
        }
    }

    fn exit_hooks(&mut self, steps: &[Step]) {
        for (index, step) in steps.iter().enumerate() {
            self.exit_hook(step, index + 1, steps.len());
        }
        self.out.push_str(EXIT_OPENING);
        for (index, step) in steps.iter().enumerate() {
            self.exit_call(step, index + 1);
        }
        self.out.push_str(EXIT_CLOSING);
    }

    fn exit_hook(&mut self, step: &Step, number: usize, of: usize) {
        let when = match step.on {
            Event::Success => "after success",
            Event::Failure => "after failure",
            Event::Start | Event::Always => "whatever came of the command",
        };
        let note = ignored_note(step);
        let name = one_line(&step.name);
        self.section(&format!("exit {number} of {of}: {name}, {when}{note}"));
        let _ = writeln!(self.out, "pinnace_exit_{number}() (\nset -o errexit");
        self.action(&step.action);
        self.out.push_str(")\n");
    }

    /// The call stands alone on its line: as part of a condition its `errexit` would be void.
    fn exit_call(&mut self, step: &Step, number: usize) {
        let comparison = match step.on {
            Event::Success => Some("-eq"),
            Event::Failure => Some("-ne"),
            Event::Start | Event::Always => None,
        };
        let indent = if comparison.is_some() { "    " } else { "  " };
        if let Some(comparison) = comparison {
            let _ = writeln!(
                self.out,
                "  if [ \"$pinnace_outcome\" {comparison} 0 ]; then"
            );
        }
        let _ = writeln!(self.out, "{indent}pinnace_exit_{number}");
        if step.on_failure == OnFailure::Fail {
            let _ = writeln!(
                self.out,
                "{indent}pinnace_hook=$?\n{indent}\
                 if [ \"$pinnace_status\" -eq 0 ]; then pinnace_status=$pinnace_hook; fi",
            );
        }
        if comparison.is_some() {
            self.out.push_str("  fi\n");
        }
    }

    fn action(&mut self, action: &Action) {
        if let Action::Shell { commands } = action {
            return self.lines(commands);
        }
        self.out.push_str("pinnace_runtime");
        for word in runtime_words(action) {
            self.out.push(' ');
            self.out.push_str(&quoted(&word));
        }
        self.out.push('\n');
    }

    /// Lines stay as they are, without indentation: they may hold here-documents, and a construct
    /// such as `if … fi` may be spread over several of them.
    fn lines(&mut self, lines: &[Text]) {
        if lines.is_empty() {
            self.out.push_str(":\n");
        }
        for line in lines {
            self.out.push_str(symbolic(line).trim_end_matches('\n'));
            self.out.push('\n');
        }
    }
}

/// The arguments of `pinnace_runtime` for an action that is not a shell's.
fn runtime_words(action: &Action) -> Vec<Text> {
    let mut words: Vec<Text> = Vec::new();
    match action {
        Action::Shell { .. } => {}
        Action::Ssh {
            between_tasks,
            public_keys,
            barrier,
            barrier_timeout_minutes,
        } => {
            words.push("ssh".into());
            if *between_tasks {
                words.push("--between-tasks".into());
            }
            if *barrier {
                words.push(format!("--barrier={barrier_timeout_minutes}m").into());
            }
            for key in public_keys {
                words.push(joined("--public-key=", key));
            }
        }
        Action::GitClone {
            repository,
            options,
            directory,
        } => {
            words.push("git-clone".into());
            words.push(repository.clone());
            words.extend(
                directory
                    .as_ref()
                    .map(|folder| joined("--directory=", folder)),
            );
            if !options.is_empty() {
                words.push("--".into());
                words.extend(options.iter().cloned());
            }
        }
        Action::TensorBoard { port, logdir } => {
            words.push("tensorboard".into());
            words.extend(port.map(|port| format!("--port={port}").into()));
            for (name, folder) in logdir {
                words.push(joined(&format!("--logdir={name}="), folder));
            }
        }
    }
    words
}

fn joined(prefix: &str, rest: &Text) -> Text {
    std::iter::once(Piece::Literal(prefix.to_owned()))
        .chain(rest.pieces().iter().cloned())
        .collect()
}

fn ignored_note(step: &Step) -> &'static str {
    match step.on_failure {
        OnFailure::Fail => "",
        OnFailure::Ignore => ", its failure is ignored",
    }
}

fn has_hooks(role: &Role) -> bool {
    !role.before.is_empty() || !role.after.is_empty()
}

fn script_needs_runtime(role: &Role) -> bool {
    let steps = role.before.iter().chain(&role.after);
    steps
        .into_iter()
        .any(|step| !matches!(step.action, Action::Shell { .. }))
}

fn script_names_secrets(role: &Role) -> bool {
    let names = |text: &Text| text.secrets().next().is_some();
    let steps = role.before.iter().chain(&role.after);
    role.command.iter().any(names)
        || role.env.values().any(names)
        || steps.into_iter().any(|step| match &step.action {
            Action::Shell { commands } => commands.iter().any(names),
            other => runtime_words(other).iter().any(names),
        })
}

fn symbolic(text: &Text) -> String {
    text.render(|secret| format!("<% $secrets.{secret} %>"))
}

fn quoted(text: &Text) -> String {
    word(&symbolic(text))
}

/// One word of a shell. What holds nothing special stays bare.
pub fn word(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:=@%+,".contains(&byte);
    if !text.is_empty() && text.bytes().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Keeps a name inside its comment.
fn one_line(name: &str) -> String {
    name.replace(|c: char| c.is_control(), " ")
}

// The tests run the scripts in real shells.
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::disallowed_types)]
mod tests;
