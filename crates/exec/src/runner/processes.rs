//! What `/proc` tells of the processes below this one.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// All processes below this one, as far as `/proc` tells.
pub(super) fn descendants() -> Vec<Pid> {
    let mut found = Vec::new();
    let mut open = vec![nix::unistd::getpid()];
    while let Some(parent) = open.pop() {
        let below = children(parent);
        found.extend(&below);
        open.extend(below);
    }
    found
}

/// Sends a signal to those below this process who were on their way when all were sent it: a program that a shell was just about
/// to start may have missed it. Whoever has a way of its own to take the signal is left alone, with all that it has started since.
pub(super) fn remind(signal: Signal) {
    let mut open = children(nix::unistd::getpid());
    while let Some(pid) = open.pop() {
        if !handles(pid, signal) {
            let _ = kill(pid, signal);
            open.append(&mut children(pid));
        }
    }
}

/// The children of a process, as far as `/proc` tells.
fn children(parent: Pid) -> Vec<Pid> {
    let path = format!("/proc/{parent}/task/{parent}/children");
    let children = std::fs::read_to_string(path).unwrap_or_default();
    let numbers = children.split_whitespace().map(str::parse);
    numbers.flatten().map(Pid::from_raw).collect()
}

/// Whether a process catches, ignores or blocks a signal.
fn handles(pid: Pid, signal: Signal) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let masks = status.lines().filter_map(|line| {
        let (name, mask) = line.split_once(':')?;
        let mask = u64::from_str_radix(mask.trim(), 16).ok()?;
        ["SigBlk", "SigIgn", "SigCgt"]
            .contains(&name)
            .then_some(mask)
    });
    let bit = 1 << (signal as u32 - 1);
    masks.fold(0, |all, mask| all | mask) & bit != 0
}
