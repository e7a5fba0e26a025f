//! Inside a task: its first process, its scripts.

pub(crate) mod channel;
pub(crate) mod init;
mod life;
pub(crate) mod plugin;
mod processes;
pub(crate) mod script;
mod ssh;

use std::path::Path;

use crate::contract::ShellKind;

/// The shell that runs tasks here: the wished one, else `bash` where it is installed, else `sh`.
pub fn shell(wish: Option<ShellKind>) -> (ShellKind, &'static str) {
    let bash = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"]
        .into_iter()
        .find(|path| Path::new(path).exists());
    match (wish, bash) {
        (None | Some(ShellKind::Bash), Some(path)) => (ShellKind::Bash, path),
        _ => (ShellKind::Sh, "/bin/sh"),
    }
}
