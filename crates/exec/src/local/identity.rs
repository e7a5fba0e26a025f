//! Who a supervisor is, so that a number which the machine gives to another process is not taken for it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A process, once and for all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Identity {
    /// Its number.
    pub pid: i32,
    /// When it started, in clock ticks since the machine did.
    pub start_time: u64,
    /// Names the machine's last start.
    pub boot_id: String,
    /// Where its control groups lie, if it has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) groups: Vec<PathBuf>,
}

impl Identity {
    /// This process.
    pub fn own() -> io::Result<Self> {
        let pid = i32::try_from(std::process::id()).unwrap_or(i32::MAX);
        let (_, start_time) = state_and_start(pid).ok_or_else(|| {
            io::Error::other("cannot read the start time of this process in /proc")
        })?;
        Ok(Self {
            pid,
            start_time,
            boot_id: boot_id()?,
            groups: Vec::new(),
        })
    }

    /// Whether this very process still runs. One that has ended and waits for its parent does not.
    pub fn is_alive(&self) -> bool {
        boot_id().is_ok_and(|id| id == self.boot_id)
            && state_and_start(self.pid).is_some_and(|(state, start)| {
                start == self.start_time && !matches!(state, 'Z' | 'X')
            })
    }

    pub(super) fn read(path: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }

    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        super::write_atomically(path, &serde_json::to_vec(self)?)
    }
}

fn boot_id() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?
        .trim()
        .to_owned())
}

fn state_and_start(pid: i32) -> Option<(char, u64)> {
    parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The program's name stands in brackets and may itself hold brackets and blanks.
fn parse_stat(stat: &str) -> Option<(char, u64)> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?.chars().next()?;
    let start = fields.nth(18)?.parse().ok()?;
    Some((state, start))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive_and_its_number_alone_is_not_enough() {
        let own = Identity::own().unwrap();
        assert!(own.is_alive());
        let other_start = Identity {
            start_time: own.start_time + 1,
            ..own.clone()
        };
        assert!(!other_start.is_alive());
        let other_boot = Identity {
            boot_id: "x".to_owned(),
            ..own
        };
        assert!(!other_boot.is_alive());
    }

    #[test]
    fn a_name_with_brackets_does_not_confuse() {
        let stat = "7 (a) b) S 1 7 7 0 -1 0 0 0 0 0 1 2 3 4 20 0 1 0 4711 1000 1";
        assert_eq!(parse_stat(stat), Some(('S', 4711)));
    }
}
