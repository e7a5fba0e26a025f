//! The supervisor's socket and those who talk to it.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};

use nix::sys::epoll::{Epoll, EpollEvent, EpollFlags};

use super::Token;
use super::request::{Answer, Request};
use crate::local::Layout;
use crate::local::client::short_path;

/// A request is a line; nobody needs a longer one.
const LONGEST_REQUEST: usize = 64 << 10;

#[derive(Debug)]
pub(super) struct Clients {
    listener: UnixListener,
    next: u32,
    open: HashMap<u32, Client>,
}

#[derive(Debug)]
struct Client {
    stream: UnixStream,
    partial: Vec<u8>,
    watches: bool,
}

impl Clients {
    pub(super) fn listen(layout: &Layout) -> Result<Self, String> {
        let path = layout.socket();
        let text = |error: io::Error| format!("cannot listen at {}: {error}", path.display());
        let _ = fs::remove_file(&path);
        let (short, _folder) = short_path(&path).map_err(text)?;
        let listener = UnixListener::bind(short).map_err(text)?;
        listener.set_nonblocking(true).map_err(text)?;
        Ok(Self {
            listener,
            next: 0,
            open: HashMap::new(),
        })
    }

    pub(super) fn listener(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    pub(super) fn accept(&mut self, poll: &Epoll) -> io::Result<()> {
        loop {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            stream.set_nonblocking(true)?;
            self.next = self.next.wrapping_add(1);
            let event = EpollEvent::new(EpollFlags::EPOLLIN, Token::Client(self.next).number());
            poll.add(&stream, event)?;
            let client = Client {
                stream,
                partial: Vec::new(),
                watches: false,
            };
            self.open.insert(self.next, client);
        }
    }

    /// The requests that have come in whole.
    pub(super) fn read(&mut self, number: u32) -> Vec<(u32, Result<Request, String>)> {
        let mut requests = Vec::new();
        let Some(client) = self.open.get_mut(&number) else {
            return requests;
        };
        let mut buffer = [0; 4096];
        let is_over = loop {
            match client.stream.read(&mut buffer) {
                Ok(0) => break true,
                Ok(count) => client
                    .partial
                    .extend_from_slice(buffer.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break true,
            }
            if client.partial.len() > LONGEST_REQUEST {
                break true;
            }
        };
        while let Some(end) = client.partial.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = client.partial.drain(..=end).collect();
            let request = serde_json::from_slice(&line).map_err(|error| error.to_string());
            requests.push((number, request));
        }
        if is_over && requests.is_empty() {
            self.open.remove(&number);
        }
        requests
    }

    pub(super) fn answer(&mut self, number: u32, error: Option<String>) {
        if let Some(client) = self.open.get_mut(&number)
            && let Ok(mut line) = serde_json::to_vec(&Answer { error })
        {
            line.push(b'\n');
            let _ = client.stream.write_all(&line);
        }
    }

    pub(super) fn set_watching(&mut self, number: u32) {
        if let Some(client) = self.open.get_mut(&number) {
            client.watches = true;
        }
    }

    /// Tells all watchers that there is something new. One who does not read is not waited for.
    pub(super) fn notify(&mut self) {
        for client in self.open.values_mut().filter(|client| client.watches) {
            let _ = client.stream.write(b"\n");
        }
    }
}
