//! Signals from the terminal, taken in turn instead of at once.

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

/// What the user or the system asks of a command that runs for long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Ctrl-C, or a polite request to end.
    Stop,
    /// The terminal is gone.
    HangUp,
}

/// Receives the signals of this process. Programs that are started get none of this.
#[derive(Debug)]
pub(crate) struct Interrupts {
    signals: SignalFd,
}

impl Interrupts {
    /// From now on.
    pub(crate) fn begin() -> nix::Result<Self> {
        let mut set = SigSet::empty();
        for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
            set.add(signal);
        }
        set.thread_block()?;
        let signals = SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        Ok(Self { signals })
    }

    /// What was asked since the last look.
    pub(crate) fn take(&mut self) -> Option<Asked> {
        let signal = self.signals.read_signal().ok().flatten()?;
        Some(match signal.ssi_signo {
            number if number == Signal::SIGHUP as u32 => Asked::HangUp,
            _ => Asked::Stop,
        })
    }
}
