//! Signals as something to wait for.

use nix::sys::signal::{SigSet, SigmaskHow, Signal, sigprocmask};
use nix::sys::signalfd::{SfdFlags, SignalFd};

/// What tells a process of ours that a child has ended, or that it should end itself.
const WATCHED: [Signal; 4] = [
    Signal::SIGCHLD,
    Signal::SIGTERM,
    Signal::SIGINT,
    Signal::SIGHUP,
];

/// Blocks the signals that are watched, and only these, and gives what tells of them.
pub(crate) fn watch() -> nix::Result<SignalFd> {
    let watched: SigSet = WATCHED.into_iter().collect();
    sigprocmask(SigmaskHow::SIG_SETMASK, Some(&watched), None)?;
    SignalFd::with_flags(&watched, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
}
