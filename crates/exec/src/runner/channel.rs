//! What the supervisor and the first process of a task tell each other.

use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use crate::variables::Variables;

/// What the supervisor tells the first process: one byte, for [`Order::Hooks`] a second one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// `SIGTERM` to everything.
    Terminate,
    /// `SIGKILL` to everything.
    Kill,
    /// Runs the exit hooks for this outcome.
    Hooks {
        /// Whether the command succeeded.
        success: bool,
    },
    /// Ends everything and leaves.
    Finish,
}

/// No order is longer.
pub(super) const LONGEST_ORDER: usize = 2;

/// The next task, in place of the one that has ended: a message of its own, with its standard output and its errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NextTask {
    /// Where its folder is, in which its work folder lies already.
    pub(crate) folder: PathBuf,
    pub(crate) start_in: PathBuf,
    pub(crate) environment: Variables,
}

impl NextTask {
    /// No message is longer.
    pub(crate) const LONGEST: usize = 64 << 10;

    /// `None` if it is too much for a message.
    pub(crate) fn bytes(&self) -> Option<Vec<u8>> {
        let mut bytes = vec![b'N'];
        for path in [&self.folder, &self.start_in] {
            bytes.extend_from_slice(path.as_os_str().as_bytes());
            bytes.push(0);
        }
        bytes.extend_from_slice(self.environment.as_bytes());
        (bytes.len() <= Self::LONGEST).then_some(bytes)
    }

    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut fields = bytes.strip_prefix(b"N")?.splitn(3, |byte| *byte == 0);
        let mut path = || Some(PathBuf::from(std::ffi::OsStr::from_bytes(fields.next()?)));
        let (folder, start_in) = (path()?, path()?);
        Some(Self {
            folder,
            start_in,
            environment: Variables::from_bytes(fields.next()?)?,
        })
    }
}

impl Order {
    pub(crate) fn bytes(self) -> [u8; 2] {
        match self {
            Order::Terminate => *b"T-",
            Order::Kill => *b"K-",
            Order::Hooks { success } => [b'H', u8::from(success)],
            Order::Finish => *b"F-",
        }
    }

    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        Some(match bytes {
            b"T-" => Order::Terminate,
            b"K-" => Order::Kill,
            [b'H', success] => Order::Hooks {
                success: *success != 0,
            },
            b"F-" => Order::Finish,
            _ => return None,
        })
    }
}

/// What the first process tells the supervisor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// The sandbox stands; the shell starts now.
    Ready,
    /// The sandbox, or the shell, could not be made.
    Failed(String),
    /// The first shell ended so (a wait status).
    Ended(Ending),
    /// The second shell, that of the exit hooks, ended.
    HooksEnded(Ending),
    /// The first shell ended with success, nothing in the sandbox is changed, and another task may come.
    Vacant {
        /// What the task has used.
        cpu_micros: u64,
    },
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With a code.
    Code(i32),
    /// By a signal.
    Signal(i32),
}

impl Ending {
    pub(super) fn bytes(self) -> [u8; 5] {
        let (kind, value) = match self {
            Ending::Code(code) => (b'c', code),
            Ending::Signal(signal) => (b's', signal),
        };
        let [a, b, c, d] = value.to_le_bytes();
        [kind, a, b, c, d]
    }

    /// From a wait status.
    pub(super) fn of(status: i32) -> Self {
        match status & 0x7f {
            0 => Ending::Code((status >> 8) & 0xff),
            signal => Ending::Signal(signal),
        }
    }

    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let (kind, value) = bytes.split_first()?;
        let value = i32::from_le_bytes(value.try_into().ok()?);
        match kind {
            b'c' => Some(Ending::Code(value)),
            b's' => Some(Ending::Signal(value)),
            _ => None,
        }
    }
}

impl Message {
    pub(super) fn bytes(&self) -> Vec<u8> {
        match self {
            Message::Ready => vec![b'R'],
            Message::Failed(text) => {
                let text = text.as_bytes();
                [b"F", text.get(..4000).unwrap_or(text)].concat()
            }
            Message::Ended(ending) => [&b"E"[..], &ending.bytes()].concat(),
            Message::HooksEnded(ending) => [&b"H"[..], &ending.bytes()].concat(),
            Message::Vacant { cpu_micros } => [&b"V"[..], &cpu_micros.to_le_bytes()].concat(),
        }
    }

    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        Some(match kind {
            b'R' => Message::Ready,
            b'F' => Message::Failed(String::from_utf8_lossy(rest).into_owned()),
            b'E' => Message::Ended(Ending::parse(rest)?),
            b'H' => Message::HooksEnded(Ending::parse(rest)?),
            b'V' => Message::Vacant {
                cpu_micros: u64::from_le_bytes(rest.try_into().ok()?),
            },
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_and_messages_survive_the_channel() {
        for order in [
            Order::Terminate,
            Order::Kill,
            Order::Hooks { success: true },
            Order::Hooks { success: false },
            Order::Finish,
        ] {
            assert_eq!(Order::parse(&order.bytes()), Some(order));
        }
        for message in [
            Message::Ready,
            Message::Failed("x".to_owned()),
            Message::Ended(Ending::Code(-1)),
            Message::HooksEnded(Ending::Signal(9)),
            Message::Vacant {
                cpu_micros: 1 << 40,
            },
        ] {
            assert_eq!(Message::parse(&message.bytes()), Some(message));
        }
        let next = NextTask {
            folder: PathBuf::from("/a"),
            start_in: PathBuf::from("/b"),
            environment: Variables::from_bytes(b"A=1\0\0B=\0").unwrap_or_default(),
        };
        assert_eq!(
            NextTask::parse(&next.bytes().unwrap_or_default()),
            Some(next)
        );
    }
}
