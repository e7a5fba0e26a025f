//! The only unsafe code: system calls that have no safe wrapper.
//!
//! All callers are single-threaded processes (the supervisor and what it forks), so a fork leaves no
//! lock behind in a wrong state, and the child may allocate.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::ffi::CStr;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::libc;
use nix::sched::CloneFlags;
use nix::unistd::Pid;

/// Which side of a fork this is.
pub(crate) enum Side {
    /// The new process.
    Child,
    /// The old one, with the child's id.
    Parent(Pid),
}

/// Forks, the child in new namespaces. With no flags it is a plain fork.
pub(crate) fn fork_into(namespaces: CloneFlags) -> nix::Result<Side> {
    let flags = namespaces.bits() as libc::c_ulong | libc::SIGCHLD as libc::c_ulong;
    // SAFETY: without CLONE_VM and with a null stack this behaves as `fork`: the child goes on with
    // a copy of the address space. The process has one thread, see above. All pointer arguments are
    // null, so that their order, which differs between machines, does not matter.
    let result = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    match Errno::result(result)? {
        0 => Ok(Side::Child),
        pid => Ok(Side::Parent(Pid::from_raw(pid as libc::pid_t))),
    }
}

/// Starts a process that shares this one's memory until it becomes another program or leaves, while this
/// one waits. It spares the copying of memory that `exec` would throw away at once.
///
/// `work` must end in [`execute`] or [`leave`], and must not change what this process uses afterwards.
pub(crate) fn spawn_sharing(work: &dyn Fn()) -> nix::Result<Pid> {
    thread_local! {
        static STACK: RefCell<Vec<u8>> = RefCell::new(vec![0; 256 << 10]);
    }
    let child = Box::new(|| {
        work();
        leave(126)
    });
    let flags = CloneFlags::CLONE_VM | CloneFlags::CLONE_VFORK;
    // SAFETY: the child has a stack of its own, and this process goes on only when the child has let go
    // of the memory (CLONE_VFORK), so that neither sees the other at work.
    STACK.with_borrow_mut(|stack| unsafe {
        nix::sched::clone(child, stack, flags, Some(libc::SIGCHLD))
    })
}

/// Closes every descriptor from 3 on that is not listed.
pub(crate) fn close_all_but(keep: &[RawFd]) {
    let mut keep: Vec<u32> = keep.iter().map(|fd| *fd as u32).collect();
    keep.sort_unstable();
    let mut from = 3_u32;
    let close = |from: u32, to: u32| {
        if from <= to {
            // SAFETY: closes descriptors of a process that is about to become a task's first
            // process; the values that own them are never used or dropped there again.
            unsafe { libc::syscall(libc::SYS_close_range, from, to, 0) };
        }
    };
    for fd in keep {
        if fd >= from {
            if fd > from {
                close(from, fd - 1);
            }
            from = fd + 1;
        }
    }
    close(from, u32::MAX);
}

/// Puts a copy of a descriptor at a fixed number, open across `exec`.
pub(crate) fn place_fd(fd: RawFd, at: RawFd) -> nix::Result<()> {
    if fd == at {
        // SAFETY: changes a flag of a descriptor by number.
        return Errno::result(unsafe { libc::fcntl(fd, libc::F_SETFD, 0) }).map(drop);
    }
    // SAFETY: the callers choose numbers that nothing in this process owns any more.
    Errno::result(unsafe { libc::dup2(fd, at) }).map(drop)
}

/// Locks one byte of a file for this open file, if nobody else has. The lock lasts until the last
/// process that has inherited the open file has closed it.
pub(crate) fn lock_byte(fd: BorrowedFd<'_>, offset: i64) -> bool {
    let lock = libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: offset,
        l_len: 1,
        l_pid: 0,
    };
    // SAFETY: `lock` is a valid structure that the call only reads.
    unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_OFD_SETLK, &raw const lock) == 0 }
}

/// Waits until no other open file has locked the first byte of this one, and locks it.
pub(crate) fn wait_for_lock(fd: BorrowedFd<'_>) {
    let lock = libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 1,
        l_pid: 0,
    };
    // SAFETY: `lock` is a valid structure that the call only reads.
    while unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_OFD_SETLKW, &raw const lock) } != 0
        && Errno::last() == Errno::EINTR
    {}
}

/// Leaves at once, without running destructors or exit handlers of the parent's copy.
pub(crate) fn leave(code: i32) -> ! {
    // SAFETY: ends the process.
    unsafe { libc::_exit(code) }
}

/// Ours ignores `SIGPIPE`, and whoever started us may have ignored others, as `nohup` does. What is ignored stays
/// so in other programs, unless this is called before.
pub(crate) fn ignore_no_signal() {
    for number in 1..=31 {
        // SAFETY: sets no handler. Fails for the two signals that cannot be ignored.
        unsafe { libc::signal(number, libc::SIG_DFL) };
    }
}

/// Becomes another program; returns only the failure.
pub(crate) fn execute(
    path: &CStr,
    arguments: &[&CStr],
    environment: &[*const libc::c_char],
) -> Errno {
    let mut argv: Vec<*const libc::c_char> = arguments.iter().map(|word| word.as_ptr()).collect();
    argv.push(std::ptr::null());
    debug_assert!(environment.last().is_some_and(|last| last.is_null()));
    // SAFETY: both lists end with null and their strings outlive the call.
    unsafe { libc::execve(path.as_ptr(), argv.as_ptr(), environment.as_ptr()) };
    Errno::last()
}

/// The standard input and output of this process, as descriptors that can be closed.
pub(crate) fn take_standard(number: RawFd) -> OwnedFd {
    // SAFETY: called once for each number by the supervisor's `main`, which then replaces the number
    // by `/dev/null`, see `keep_as_standard`; the standard library does not own these descriptors.
    unsafe { OwnedFd::from_raw_fd(number) }
}

/// Makes a mount read-only, with all mounts below it if asked.
pub(crate) fn make_read_only(path: &std::path::Path, recursive: bool) -> nix::Result<()> {
    use std::os::unix::ffi::OsStrExt as _;
    let path = std::ffi::CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno::EINVAL)?;
    let attributes = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_RDONLY,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    let flags = if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path and the structure are valid for the call, which only reads them; the size is
    // that of the structure.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    Errno::result(result).map(drop)
}

/// A copy of a descriptor at a number of at least `least`, closed by `exec`; negative if it fails.
pub(crate) fn duplicate_above(fd: RawFd, least: RawFd) -> RawFd {
    // SAFETY: duplicates a descriptor by number.
    unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, least) }
}

/// A child that has ended, how (a wait status), and the CPU time in microseconds that it and all it
/// waited for have used. `None` if no child has ended.
pub(crate) fn reap() -> Option<(Pid, i32, u64)> {
    reap_with(libc::WNOHANG)
}

/// As [`reap`], but waits for the end of a child. `None` if there is none.
pub(crate) fn wait_and_reap() -> Option<(Pid, i32, u64)> {
    loop {
        let reaped = reap_with(0);
        if reaped.is_some() || Errno::last() != Errno::EINTR {
            return reaped;
        }
    }
}

/// Whether there is a child, alive or not reaped.
pub(crate) fn has_children() -> bool {
    // SAFETY: nothing is filled in, and nothing is reaped.
    let found = unsafe {
        libc::waitid(
            libc::P_ALL,
            0,
            std::ptr::null_mut(),
            libc::WEXITED | libc::WNOHANG | libc::WNOWAIT,
        )
    };
    found == 0
}

fn reap_with(options: libc::c_int) -> Option<(Pid, i32, u64)> {
    let mut status = 0;
    // SAFETY: `status` and `usage` are plain data that the call fills in.
    let (pid, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        let pid = libc::wait4(-1, &raw mut status, options, &raw mut usage);
        (pid, usage)
    };
    let micros = |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
    (pid > 0).then(|| {
        (
            Pid::from_raw(pid),
            status,
            micros(usage.ru_utime) + micros(usage.ru_stime),
        )
    })
}

/// Takes a message from a socket, with the descriptors that came with it, at most so many. Does not wait.
pub(crate) fn receive<const MOST: usize>(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
) -> nix::Result<(usize, Vec<OwnedFd>)> {
    use nix::sys::socket::{ControlMessageOwned, MsgFlags, UnixAddr, recvmsg};
    let mut space = nix::cmsg_space!([RawFd; MOST]);
    let mut parts = [std::io::IoSliceMut::new(buffer)];
    let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_CMSG_CLOEXEC;
    let message = recvmsg::<UnixAddr>(socket.as_raw_fd(), &mut parts, Some(&mut space), flags)?;
    let mut descriptors = Vec::new();
    for part in message.cmsgs()? {
        if let ControlMessageOwned::ScmRights(numbers) = part {
            // SAFETY: the kernel has just made these descriptors for this process, and nothing else knows of them.
            descriptors.extend(
                numbers
                    .into_iter()
                    .map(|number| unsafe { OwnedFd::from_raw_fd(number) }),
            );
        }
    }
    Ok((message.bytes, descriptors))
}

/// Puts a descriptor at one of the standard numbers for good, in place of what lies there. If the number were free, the next
/// pipe would get it, and every process that is forked would have that pipe.
pub(crate) fn keep_as_standard(number: RawFd, fd: OwnedFd) {
    use std::os::fd::IntoRawFd as _;
    let raw = fd.into_raw_fd();
    // Also if it lies there already: it must stay open across `exec`.
    let _ = place_fd(raw, number);
    if raw != number {
        // SAFETY: `raw` is ours, and a copy of it now lies at the number.
        unsafe { libc::close(raw) };
    }
}

/// Whether someone else has locked a byte, see [`lock_byte`].
pub(crate) fn is_byte_locked(fd: BorrowedFd<'_>, offset: i64) -> std::io::Result<bool> {
    let mut lock = libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: offset,
        l_len: 1,
        l_pid: 0,
    };
    // SAFETY: `lock` is a valid structure that the call reads and writes.
    let result = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_OFD_GETLK, &raw mut lock) };
    Errno::result(result)?;
    Ok(i32::from(lock.l_type) != libc::F_UNLCK)
}
