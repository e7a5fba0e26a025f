//! What this machine has: cores, memory, GPU cards, free ports.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrIn, bind, socket};
use serde::{Deserialize, Serialize};

use crate::sys;

/// What a machine can give to tasks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Capacity {
    /// Cores.
    pub cpu: u32,
    /// Memory in MiB.
    #[serde(rename = "memoryMB")]
    pub memory_mb: u64,
    /// GPU cards.
    pub gpus: Vec<Gpu>,
}

/// A GPU card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Gpu {
    /// As `nvidia-smi` numbers it.
    pub index: u32,
    /// Its model.
    pub name: String,
    /// Its memory in MiB.
    #[serde(rename = "memoryMB")]
    pub memory_mb: u64,
}

/// What this machine has. Asks `nvidia-smi`, which takes its time.
pub fn capacity() -> Capacity {
    let (cpu, memory_mb) = cores_and_memory();
    Capacity {
        cpu,
        memory_mb,
        gpus: gpus(),
    }
}

/// Cores, and memory in MiB.
pub fn cores_and_memory() -> (u32, u64) {
    let cpu = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = std::fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| parse_memory(&text));
    (
        u32::try_from(cpu).unwrap_or(u32::MAX),
        memory.unwrap_or_default(),
    )
}

fn parse_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find(|line| line.starts_with("MemTotal:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1024)
}

/// The GPU cards, asked of `nvidia-smi`; none if there is no such program or it fails.
pub fn gpus() -> Vec<Gpu> {
    let answer = Command::new("nvidia-smi")
        .args([
            "--query-gpu=index,name,memory.total",
            "--format=csv,noheader,nounits",
        ])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    match answer {
        Ok(answer) if answer.status.success() => {
            parse_gpus(&String::from_utf8_lossy(&answer.stdout))
        }
        _ => Vec::new(),
    }
}

fn parse_gpus(csv: &str) -> Vec<Gpu> {
    csv.lines()
        .filter_map(|line| {
            let mut fields = line.split(',').map(str::trim);
            Some(Gpu {
                index: fields.next()?.parse().ok()?,
                name: fields.next()?.to_owned(),
                memory_mb: fields.next()?.parse().unwrap_or_default(),
            })
        })
        .collect()
}

/// Below the range from which the kernel takes ports for outgoing connections.
const PORTS: std::ops::Range<u16> = 15_000..32_000;

/// Hands out ports: no two the same on this machine, as long as all ask the same register.
#[derive(Debug)]
pub(crate) struct Ports {
    /// Byte n of this file is locked by whoever has port n, until its process has ended.
    register: File,
    next: u16,
    taken: HashSet<u16>,
}

/// A port that nobody else can take.
#[derive(Debug)]
pub(crate) struct HeldPort {
    pub(crate) number: u16,
    /// Bound to it as long as it is open.
    pub(crate) socket: OwnedFd,
}

impl Ports {
    pub(crate) fn open(register: Option<&Path>) -> io::Result<Self> {
        let path = register.map_or_else(default_register, Path::to_path_buf);
        let register = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(nix::libc::O_NOFOLLOW)
            .open(&path)
            .map_err(|error| {
                io::Error::new(error.kind(), format!("{}: {error}", path.display()))
            })?;
        let span = u32::from(PORTS.end - PORTS.start);
        let offset = (std::process::id().wrapping_mul(2_654_435_761) % span) as u16;
        Ok(Self {
            register,
            next: PORTS.start + offset,
            taken: HashSet::new(),
        })
    }

    /// Keeps all ports registered until the process ends.
    pub(crate) fn keep(self) {
        std::mem::forget(self.register);
    }

    /// A free port, bound until the value is dropped and registered until the process ends.
    pub(crate) fn take(&mut self) -> io::Result<HeldPort> {
        for _ in PORTS {
            let number = self.next;
            self.next = if number + 1 >= PORTS.end {
                PORTS.start
            } else {
                number + 1
            };
            // A lock of our own file does not refuse us, hence the second book.
            if self.taken.contains(&number)
                || !sys::lock_byte(self.register.as_fd(), i64::from(number))
            {
                continue;
            }
            if let Ok(socket) = hold(number) {
                self.taken.insert(number);
                return Ok(HeldPort { number, socket });
            }
        }
        Err(io::Error::new(
            io::ErrorKind::AddrInUse,
            format!("no port is free between {} and {}", PORTS.start, PORTS.end),
        ))
    }
}

/// Binds a port. Nobody is to connect to it before it is handed over, so nobody listens.
fn hold(number: u16) -> nix::Result<OwnedFd> {
    let (family, flags) = (AddressFamily::Inet, SockFlag::SOCK_CLOEXEC);
    let socket = socket(family, SockType::Stream, flags, None)?;
    bind(socket.as_raw_fd(), &SockaddrIn::new(0, 0, 0, 0, number))?;
    Ok(socket)
}

fn default_register() -> PathBuf {
    let user = nix::unistd::geteuid();
    std::env::temp_dir().join(format!("pinnace-ports-{user}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_of_nvidia_smi_is_read() {
        let csv = "0, NVIDIA A100-SXM4-40GB, 40960\n1, Tesla T4, [N/A]\nrubbish\n";
        let cards = parse_gpus(csv);
        assert_eq!(cards.len(), 2);
        assert_eq!((cards[0].index, cards[0].memory_mb), (0, 40_960));
        assert_eq!(cards[1].name, "Tesla T4");
    }

    #[test]
    fn memory_is_in_mebibytes() {
        assert_eq!(parse_memory("MemTotal:   2048 kB\nMemFree: 1 kB"), Some(2));
    }

    #[test]
    fn a_port_is_nobody_elses_until_it_is_handed_over() {
        let folder = tempfile::tempdir().unwrap();
        let mut ports = Ports::open(Some(&folder.path().join("ports"))).unwrap();
        let port = ports.take().unwrap();
        let listen = |number: u16| std::net::TcpListener::bind(("127.0.0.1", number));
        assert!(listen(port.number).is_err());
        let number = port.number;
        drop(port);
        assert!(listen(number).is_ok());
    }

    #[test]
    fn two_registers_of_one_file_never_give_the_same_port() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ports");
        let mut one = Ports::open(Some(&path)).unwrap();
        let mut two = Ports::open(Some(&path)).unwrap();
        let mut seen = HashSet::new();
        for _ in 0..50 {
            for register in [&mut one, &mut two] {
                // Released at once: the register alone keeps them apart.
                assert!(seen.insert(register.take().unwrap().number));
            }
        }
    }
}
