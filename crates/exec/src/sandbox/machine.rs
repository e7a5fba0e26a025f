//! What is known of the machine before any task starts.

use std::path::{Path, PathBuf};

use nix::unistd::{Gid, Uid};

/// What the supervisor finds out once.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(crate) as_root: bool,
    /// Whether the supervisor has mounts of its own, of which those of tasks are copies.
    pub(crate) is_private: bool,
    /// Mount points below `/`, apart from those that every task gets anew.
    pub(super) mounts: Vec<Mounted>,
    pub(super) uid: Uid,
    pub(super) gid: Gid,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mounted {
    pub(super) path: PathBuf,
    pub(super) read_only: bool,
}

impl Machine {
    pub(crate) fn find(mountinfo: &str) -> Self {
        let (uid, gid) = (nix::unistd::geteuid(), nix::unistd::getegid());
        Self {
            as_root: uid.is_root(),
            is_private: false,
            mounts: other_mounts(mountinfo),
            uid,
            gid,
        }
    }
}

/// Mount points that are part of the machine's files.
fn other_mounts(mountinfo: &str) -> Vec<Mounted> {
    let mut mounts: Vec<Mounted> = mountinfo
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(' ').skip(4);
            let path = PathBuf::from(unescaped(fields.next()?));
            let read_only = fields.next()?.split(',').any(|option| option == "ro");
            Some(Mounted { path, read_only })
        })
        .filter(|mount| {
            mount.path != Path::new("/") && !FRESH.iter().any(|root| mount.path.starts_with(root))
        })
        .collect();
    mounts.sort_by(|one, other| one.path.cmp(&other.path));
    mounts.dedup_by(|later, earlier| later.path == earlier.path);
    mounts
}

/// What every task gets anew.
pub(super) const FRESH: [&str; 4] = ["/proc", "/sys", "/dev", "/tmp"];

/// The kernel writes blanks and the like as `\040`.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, following)) = rest.split_first() {
        let octal = following
            .get(..3)
            .filter(|_| *first == b'\\')
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match octal {
            Some(byte) => {
                bytes.push(byte);
                rest = &following[3..];
            }
            None => {
                bytes.push(*first);
                rest = following;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_mounts_leave_out_what_is_made_anew() {
        let mountinfo = "22 27 0:21 / /proc rw - proc proc rw\n25 24 0:23 / /dev/shm rw - tmpfs tmpfs rw\n\
                         27 1 254:0 / / rw - ext4 /dev/vda rw\n28 27 0:25 / /mnt/my\\040disk ro - ext4 /dev/vdb ro\n";
        let disk = Mounted {
            path: PathBuf::from("/mnt/my disk"),
            read_only: true,
        };
        assert_eq!(other_mounts(mountinfo), [disk]);
    }
}
