//! Signals from the terminal, taken in turn instead of at once.

use nix::sys::signal::{SigSet, Signal, raise};
use nix::sys::signalfd::{SfdFlags, SignalFd};

/// What the user or the system asks of a command that runs for long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Ctrl-C, or a polite request to end.
    Stop,
    /// The terminal is gone.
    HangUp,
    /// Ctrl-Z.
    Suspend,
}

/// Receives the signals of this process. Programs that are started get none of this.
#[derive(Debug)]
pub(crate) struct Interrupts {
    signals: SignalFd,
}

impl Interrupts {
    /// From now on.
    pub(crate) fn begin() -> nix::Result<Self> {
        let signals = receive(&[Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP])?;
        Ok(Self { signals })
    }

    /// From now on, also what concerns whoever draws on the terminal.
    pub(crate) fn begin_with_terminal() -> nix::Result<(Self, Resumes)> {
        let asked = [
            Signal::SIGINT,
            Signal::SIGTERM,
            Signal::SIGHUP,
            Signal::SIGTSTP,
        ];
        let resumes = receive(&[Signal::SIGCONT])?;
        let signals = receive(&asked)?;
        Ok((Self { signals }, Resumes { signals: resumes }))
    }

    /// What was asked since the last look.
    pub(crate) fn take(&mut self) -> Option<Asked> {
        let signal = self.signals.read_signal().ok().flatten()?;
        Some(match signal.ssi_signo {
            number if number == Signal::SIGHUP as u32 => Asked::HangUp,
            number if number == Signal::SIGTSTP as u32 => Asked::Suspend,
            _ => Asked::Stop,
        })
    }
}

/// Does what Ctrl-Z asks for; returns when the process is resumed.
pub(crate) fn suspend() {
    let mut set = SigSet::empty();
    set.add(Signal::SIGTSTP);
    // Comes at once when it is let through, and is ignored where nobody could resume us.
    let _ = raise(Signal::SIGTSTP)
        .and_then(|()| set.thread_unblock())
        .and_then(|()| set.thread_block());
}

/// Tells when the process was suspended and is resumed.
#[derive(Debug)]
pub(crate) struct Resumes {
    signals: SignalFd,
}

impl Resumes {
    /// Whether that was so since the last look.
    pub(crate) fn take(&self) -> bool {
        matches!(self.signals.read_signal(), Ok(Some(_)))
    }
}

fn receive(signals: &[Signal]) -> nix::Result<SignalFd> {
    let set: SigSet = signals.iter().copied().collect();
    set.thread_block()?;
    SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)
}
