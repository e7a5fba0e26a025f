//! Carries what a task writes from its pipes to its logs.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use pinnace_core::plan::MetricRule;

use crate::local::journal::now_micros;
use crate::log::{Lines, LogFile, Pair, RUNTIME, Scrubber, Side, Stencil, prefix};
use crate::metric::{Finder, Partial};

/// A pipe that is found full is made this large, so that a fast writer costs fewer turns.
const LARGE_PIPE: i32 = 1 << 20;

/// A read of this size means that the writer waits for us.
const FULL_PIPE: usize = 60 << 10;

/// Which of a task's pipes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Stdout,
    Stderr,
    Runtime,
}

/// The near end of a pipe.
#[derive(Debug)]
struct Pipe {
    fd: OwnedFd,
    scrubber: Scrubber,
    enlarged: bool,
}

/// All output of a task.
#[derive(Debug)]
pub(super) struct Output {
    stdout: Option<Pipe>,
    stderr: Option<Pipe>,
    runtime: Option<Pipe>,
    files: Files,
}

#[derive(Debug)]
struct Files {
    pair: Pair,
    runtime: LogFile,
    lines: Lines,
    /// What the runtime log has to say, while the task may still have no folder.
    unsaid: Option<Vec<u8>>,
    /// Finds numbers, if anyone wants some.
    finder: Option<Finder>,
    stdout_line: Partial,
    stderr_line: Partial,
}

impl Files {
    fn write(&mut self, source: Source, bytes: &[u8]) {
        match source {
            Source::Stdout => {
                self.pair.append(Side::Stdout, bytes);
                if let Some(finder) = &mut self.finder {
                    finder.feed(bytes, &mut self.stdout_line);
                }
            }
            Source::Stderr => {
                self.pair.append(Side::Stderr, bytes);
                if let Some(finder) = &mut self.finder {
                    finder.feed(bytes, &mut self.stderr_line);
                }
            }
            Source::Runtime => {
                let mut out = Vec::new();
                self.lines.feed(bytes, seconds(), &mut out);
                self.runtime.append(&out);
            }
        }
    }
}

impl Output {
    pub(super) fn new(logs: &Path, bound: u64, metrics: &[MetricRule]) -> Self {
        Self {
            stdout: None,
            stderr: None,
            runtime: None,
            files: Files {
                pair: Pair::new(logs, bound),
                runtime: LogFile::new(logs.join(RUNTIME), bound),
                lines: Lines::default(),
                unsaid: None,
                finder: Finder::new(metrics, logs),
                stdout_line: Partial::default(),
                stderr_line: Partial::default(),
            },
        }
    }

    pub(super) fn connect(&mut self, source: Source, fd: OwnedFd, stencil: &Stencil) {
        *self.pipe(source) = Some(Pipe {
            fd,
            scrubber: Scrubber::new(stencil.clone()),
            enlarged: false,
        });
    }

    fn pipe(&mut self, source: Source) -> &mut Option<Pipe> {
        match source {
            Source::Stdout => &mut self.stdout,
            Source::Stderr => &mut self.stderr,
            Source::Runtime => &mut self.runtime,
        }
    }

    /// The descriptor of a pipe that is still open.
    pub(super) fn descriptor(&self, source: Source) -> Option<BorrowedFd<'_>> {
        let pipe = match source {
            Source::Stdout => &self.stdout,
            Source::Stderr => &self.stderr,
            Source::Runtime => &self.runtime,
        };
        pipe.as_ref().map(|pipe| pipe.fd.as_fd())
    }

    /// Lines of our own in `runtime.log`, behind all that hooks have said until now.
    pub(super) fn say(&mut self, lines: &[&str], buffer: &mut [u8]) {
        self.pump(Source::Runtime, buffer, usize::MAX);
        let mut out = Vec::new();
        self.files.lines.finish(seconds(), &mut out);
        let start = prefix(seconds());
        for line in lines {
            out.extend_from_slice(start.as_bytes());
            out.extend_from_slice(line.as_bytes());
            out.push(b'\n');
        }
        match &mut self.files.unsaid {
            Some(unsaid) => unsaid.append(&mut out),
            None => {
                self.files.runtime.append(&out);
            }
        }
    }

    /// Keeps the lines of the runtime log until [`Output::speak_up`].
    pub(super) fn keep_quiet(&mut self) {
        self.files.unsaid = Some(Vec::new());
    }

    /// Writes the lines that were kept.
    pub(super) fn speak_up(&mut self) {
        if let Some(unsaid) = self.files.unsaid.take() {
            self.files.runtime.append(&unsaid);
        }
    }

    /// The lines that were kept, if the command has written nothing.
    pub(super) fn unsaid(&self) -> Option<&[u8]> {
        let unsaid = self.files.unsaid.as_deref()?;
        self.files.pair.is_empty().then_some(unsaid)
    }

    /// Reads what is there, at most so many buffers full. A pipe at its end is closed.
    pub(super) fn pump(&mut self, source: Source, buffer: &mut [u8], turns: usize) {
        for _ in 0..turns {
            let Some(pipe) = self.pipe(source) else {
                return;
            };
            let count = match nix::unistd::read(&pipe.fd, buffer) {
                Ok(count) => count,
                Err(Errno::EINTR) => continue,
                Err(Errno::EAGAIN) => return,
                Err(_) => 0,
            };
            if count == 0 {
                return self.close(source);
            }
            self.pass(source, buffer.get(..count).unwrap_or_default());
            if count < buffer.len() / 8 {
                return;
            }
        }
    }

    fn pass(&mut self, source: Source, bytes: &[u8]) {
        let Self {
            stdout,
            stderr,
            runtime,
            files,
        } = self;
        let pipe = match source {
            Source::Stdout => stdout,
            Source::Stderr => stderr,
            Source::Runtime => runtime,
        };
        let Some(pipe) = pipe else { return };
        pipe.scrubber
            .feed(bytes, &mut |part| files.write(source, part));
        if bytes.len() >= FULL_PIPE && !pipe.enlarged {
            pipe.enlarged = true;
            let _ = fcntl(&pipe.fd, FcntlArg::F_SETPIPE_SZ(LARGE_PIPE));
        }
    }

    /// Takes what is left in all pipes and closes them. Nobody writes to them any more.
    pub(super) fn drain(&mut self, buffer: &mut [u8]) {
        for source in [Source::Runtime, Source::Stdout, Source::Stderr] {
            while let Some(pipe) = self.pipe(source) {
                match nix::unistd::read(&pipe.fd, buffer) {
                    Ok(0) => self.close(source),
                    Ok(count) => self.pass(source, buffer.get(..count).unwrap_or_default()),
                    Err(Errno::EINTR) => {}
                    Err(_) => self.close(source),
                }
            }
        }
    }

    fn close(&mut self, source: Source) {
        if let Some(mut pipe) = self.pipe(source).take() {
            let files = &mut self.files;
            pipe.scrubber.finish(&mut |part| files.write(source, part));
            if let Some(finder) = &mut files.finder {
                match source {
                    Source::Stdout => finder.finish(&mut files.stdout_line),
                    Source::Stderr => finder.finish(&mut files.stderr_line),
                    Source::Runtime => {}
                }
            }
        }
        if source == Source::Runtime {
            let mut out = Vec::new();
            self.files.lines.finish(seconds(), &mut out);
            self.files.runtime.append(&out);
        }
    }

    /// Why a log is incomplete.
    pub(super) fn failures(&self) -> Vec<String> {
        let files = &self.files;
        files
            .pair
            .failures()
            .chain(files.runtime.failure())
            .collect()
    }
}

fn seconds() -> u64 {
    now_micros() / 1_000_000
}
