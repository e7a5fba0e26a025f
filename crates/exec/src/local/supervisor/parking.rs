//! Sockets that hold the ports of tasks whose turn has not come.
//!
//! A job of a thousand tasks holds thousands of ports. As descriptors of the supervisor, each would be copied into every process that
//! it forks, and closed there. So they wait, like messages that nobody has read, in a socket.

use std::collections::VecDeque;
use std::os::fd::{AsFd as _, AsRawFd, OwnedFd, RawFd};

use nix::sys::socket::{
    AddressFamily, ControlMessage, MsgFlags, SockFlag, SockType, sendmsg, socketpair,
};

use super::Supervisor;
use super::task::{State, Task};
use crate::sys;

/// So many sockets at most are sent together.
const TOGETHER: usize = 128;

/// Where they wait, in the order of the tasks.
#[derive(Debug)]
pub(super) struct Parking {
    near: OwnedFd,
    /// The tasks of each message, and how many sockets each has.
    messages: VecDeque<Vec<(usize, usize)>>,
}

impl Parking {
    /// Takes the sockets of all tasks but those that come first. What cannot be taken stays with its task.
    pub(super) fn fill(tasks: &mut [Task]) -> Option<Self> {
        let held: usize = tasks.iter().map(|task| task.held_ports.len()).sum();
        if held <= TOGETHER {
            return None;
        }
        let (near, far) = socketpair(
            AddressFamily::Unix,
            SockType::SeqPacket,
            None,
            SockFlag::SOCK_CLOEXEC,
        )
        .ok()?;
        let mut messages = VecDeque::new();
        let mut waiting: Vec<(usize, usize)> = Vec::new();
        let mut together = 0;
        let mut send = |waiting: Vec<(usize, usize)>, tasks: &mut [Task]| {
            if waiting.is_empty() {
                return;
            }
            let held = waiting.iter().filter_map(|(index, _)| tasks.get(*index));
            let sockets: Vec<RawFd> = held
                .flat_map(|task| &task.held_ports)
                .map(AsRawFd::as_raw_fd)
                .collect();
            let rights = [ControlMessage::ScmRights(&sockets)];
            let parts = [std::io::IoSlice::new(b"P")];
            let flags = MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT;
            if sendmsg::<()>(far.as_raw_fd(), &parts, &rights, flags, None).is_ok() {
                for (index, _) in &waiting {
                    if let Some(task) = tasks.get_mut(*index) {
                        task.held_ports.clear();
                    }
                }
                messages.push_back(waiting);
            }
        };
        let mut first = 0;
        for index in 0..tasks.len() {
            let count = tasks.get(index).map_or(0, |task| task.held_ports.len());
            if first + count <= TOGETHER {
                first += count;
                continue;
            }
            if together + count > TOGETHER {
                send(std::mem::take(&mut waiting), tasks);
                together = 0;
            }
            if count <= TOGETHER {
                waiting.push((index, count));
                together += count;
            }
        }
        send(waiting, tasks);
        Some(Self { near, messages })
    }
}

impl Supervisor {
    /// Gives the ports of a task free: from here on they are the task's.
    pub(super) fn hand_over_ports(&mut self, index: usize) {
        while let Some(parking) = &mut self.parking
            && let Some(message) = parking.messages.front()
            && message.first().is_some_and(|(first, _)| *first <= index)
        {
            let message = parking.messages.pop_front().unwrap_or_default();
            let received = sys::receive::<TOGETHER>(parking.near.as_fd(), &mut [0]);
            let mut sockets = received.map(|(_, sockets)| sockets).unwrap_or_default();
            for (index, count) in message.into_iter().rev() {
                let held = sockets.split_off(sockets.len().saturating_sub(count));
                if let Some(task) = self.tasks.get_mut(index)
                    && task.state == State::Queued
                {
                    task.held_ports = held;
                }
            }
        }
        if let Some(task) = self.tasks.get_mut(index) {
            task.held_ports.clear();
        }
    }
}
