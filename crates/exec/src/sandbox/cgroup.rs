//! Limits through control groups, version 1 (a folder tree per controller) and version 2 (one tree).
//!
//! An attempt has one group, into which the first process of every task and those who move data go: all
//! that they start is born there, which bounds their number and lets whoever finds a dead supervisor end the rest. A
//! task has a group of its own only for limits that can bite: those below what the machine has,
//! because a group costs more than a trivial task.
//!
//! To move a process from one group to another, the kernel waits until all processors have passed through a quiet state,
//! which takes milliseconds; moves shortly after it do not wait again. So all moves come close together, and
//! [`await_quiet_state`] pays for the first of them beside other work.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::probe::Controller;

/// Where groups can be made, by controller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hierarchy {
    memory: Option<Place>,
    cpu: Option<Place>,
    pids: Option<Place>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    folder: PathBuf,
    version: Version,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// What a task may use; `None` is without limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) cpus: Option<u32>,
}

impl Hierarchy {
    /// Where this process may make groups: below its own ones.
    pub(crate) fn find(mountinfo: &str) -> Self {
        let mut found = Self::offered(mountinfo);
        for place in [&mut found.memory, &mut found.cpu, &mut found.pids] {
            *place = place.take().filter(usable);
        }
        found
    }

    fn offered(mountinfo: &str) -> Self {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        parse(mountinfo, &own)
    }

    fn places(&self) -> impl Iterator<Item = &Place> {
        [&self.memory, &self.cpu, &self.pids].into_iter().flatten()
    }
}

/// What is mounted, as the kernel tells it.
pub(crate) fn mounts() -> String {
    fs::read_to_string("/proc/self/mountinfo").unwrap_or_default()
}

/// Makes the kernel wait for the quiet state that moves between groups need, so that those who move soon do not.
/// Nothing is changed: this process is moved to where it is.
pub(crate) fn await_quiet_state() {
    if let Some(place) = Hierarchy::offered(&mounts()).places().next() {
        let _ = fs::write(place.folder.join("cgroup.procs"), "0");
    }
}

/// What the kernel offers, and what of it this process may use.
pub(crate) fn controllers() -> Vec<Controller> {
    let offered = Hierarchy::offered(&mounts());
    let controller = |name, place: Option<&Place>| Controller {
        name,
        version: place.map(|place| match place.version {
            Version::One => 1,
            Version::Two => 2,
        }),
        usable: place.is_some_and(usable),
    };
    vec![
        controller("memory", offered.memory.as_ref()),
        controller("cpu", offered.cpu.as_ref()),
        controller("pids", offered.pids.as_ref()),
    ]
}

/// A group can be made there. For version 2 the controllers must be handed down.
fn usable(place: &Place) -> bool {
    let path = |name: &str| place.folder.join(name);
    nix::unistd::access(&place.folder, nix::unistd::AccessFlags::W_OK).is_ok()
        && match place.version {
            Version::One => true,
            Version::Two => {
                let text = fs::read_to_string(path("cgroup.subtree_control")).unwrap_or_default();
                text.split_whitespace().any(|word| word == "memory")
                    || fs::write(path("cgroup.subtree_control"), "+memory +cpu +pids").is_ok()
            }
        }
}

fn parse(mountinfo: &str, own: &str) -> Hierarchy {
    let mut found = Hierarchy::default();
    for line in mountinfo.lines() {
        let Some((before, after)) = line.split_once(" - ") else {
            continue;
        };
        let mut fields = before.split(' ');
        let (Some(root), Some(mount)) = (fields.nth(3), fields.next()) else {
            continue;
        };
        let mut kind = after.split(' ');
        let version = match kind.next() {
            Some("cgroup") => Version::One,
            Some("cgroup2") => Version::Two,
            _ => continue,
        };
        let offers = match version {
            Version::One => kind.next_back().unwrap_or_default().replace(',', " "),
            Version::Two => {
                fs::read_to_string(Path::new(mount).join("cgroup.controllers")).unwrap_or_default()
            }
        };
        let place = |controller: &str| {
            let path = own_path(own, version, controller)?;
            let below = path
                .strip_prefix(root.trim_end_matches('/'))
                .unwrap_or(path);
            Some(Place {
                folder: Path::new(mount).join(below.trim_start_matches('/')),
                version,
            })
        };
        for (controller, slot) in [
            ("memory", &mut found.memory),
            ("cpu", &mut found.cpu),
            ("pids", &mut found.pids),
        ] {
            let here = offers.split_whitespace().any(|word| word == controller);
            if here && slot.is_none() {
                *slot = place(controller);
            }
        }
    }
    found
}

/// The path of this process's group, from a line such as `4:memory:/x` or `0::/x`.
fn own_path<'a>(own: &'a str, version: Version, controller: &str) -> Option<&'a str> {
    own.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let matches = match version {
            Version::One => controllers.split(',').any(|name| name == controller),
            Version::Two => controllers.is_empty(),
        };
        matches.then_some(path)
    })
}

/// How long a process that has been killed may take to be gone.
const ENDING: Duration = Duration::from_secs(2);

/// The groups of an attempt.
#[derive(Debug)]
pub(crate) struct AttemptGroup {
    hierarchy: Hierarchy,
    name: String,
    /// Where all processes of the attempt sit, if their number can be bounded.
    home: Option<PathBuf>,
}

impl AttemptGroup {
    /// All folders that the groups of an attempt may lie in. They are written down before anything is made: whoever cleans
    /// up after a dead supervisor may live elsewhere in the tree.
    pub(crate) fn folders(hierarchy: &Hierarchy, name: &str) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = hierarchy
            .places()
            .map(|place| place.folder.join(name))
            .collect();
        folders.dedup();
        folders
    }

    /// Groups that are not made yet.
    pub(crate) fn new(hierarchy: Hierarchy, name: String) -> Self {
        Self {
            hierarchy,
            name,
            home: None,
        }
    }

    /// Makes the group. While the kernel waits for a quiet state, it makes none, so this comes as late as it can.
    pub(crate) fn make(&mut self, max_processes: u64) {
        let place = self.hierarchy.pids.as_ref();
        self.home = place.and_then(|place| make_home(place, &self.name, max_processes).ok());
    }

    /// Whether the number of processes is bounded.
    pub(crate) fn bounds_processes(&self) -> bool {
        self.home.is_some()
    }

    /// The descriptor with which a process of the attempt moves into its group; none if there is no such group.
    pub(crate) fn door(&self) -> io::Result<Option<File>> {
        self.home.as_deref().map(door).transpose()
    }

    /// What of these limits can be set on a task.
    pub(crate) fn can_limit(&self) -> (bool, bool) {
        (
            self.hierarchy.memory.is_some(),
            self.hierarchy.cpu.is_some(),
        )
    }

    /// Makes the groups of a task.
    pub(crate) fn task(&self, task: &str, limits: Limits) -> io::Result<TaskGroup> {
        let mut group = TaskGroup::default();
        if let (Some(bytes), Some(place)) = (limits.memory_bytes, &self.hierarchy.memory) {
            let folder = place.folder.join(&self.name).join(task);
            group.add(&folder)?;
            group.limits_memory = true;
            match place.version {
                Version::One => {
                    fs::write(folder.join("memory.limit_in_bytes"), bytes.to_string())?;
                    group.kills = Account::open(&folder.join("memory.oom_control"));
                    group.use_now = Account::open(&folder.join("memory.usage_in_bytes"));
                    group.peak = Account::open(&folder.join("memory.max_usage_in_bytes"));
                    group.forgets_peak = true;
                }
                Version::Two => {
                    fs::write(folder.join("memory.max"), bytes.to_string())?;
                    let _ = fs::write(folder.join("memory.swap.max"), "0");
                    group.kills = Account::open(&folder.join("memory.events"));
                    group.use_now = Account::open(&folder.join("memory.current"));
                    group.peak = Account::open(&folder.join("memory.peak"));
                }
            }
        }
        if let (Some(cpus), Some(place)) = (limits.cpus, &self.hierarchy.cpu) {
            let folder = place.folder.join(&self.name).join(task);
            group.add(&folder)?;
            const PERIOD: u64 = 100_000;
            let quota = u64::from(cpus) * PERIOD;
            match place.version {
                Version::One => fs::write(folder.join("cpu.cfs_quota_us"), quota.to_string())?,
                Version::Two => fs::write(folder.join("cpu.max"), format!("{quota} {PERIOD}"))?,
            }
        }
        Ok(group)
    }

    /// Removes what is left of the groups in these folders, the processes in them included.
    pub(crate) fn remove(folders: &[PathBuf]) {
        for folder in folders.iter().filter(|folder| folder.exists()) {
            end_all(folder);
            remove_tree(folder);
        }
    }

    /// Removes the groups. Those in them have been told to end, or are about to, and are waited for.
    pub(crate) fn dissolve(&self) {
        let begin = Instant::now();
        for folder in Self::folders(&self.hierarchy, &self.name) {
            while !remove_tree(&folder) && begin.elapsed() < ENDING {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

/// Makes the group in which all processes of an attempt sit, and bounds their number.
fn make_home(place: &Place, name: &str, max_processes: u64) -> io::Result<PathBuf> {
    let folder = place.folder.join(name);
    make_group(&folder)?;
    fs::write(folder.join("pids.max"), max_processes.to_string())?;
    if place.version == Version::One {
        return Ok(folder);
    }
    // In version 2 a group with members cannot hand controllers to groups below it, so the members sit in a leaf.
    let home = folder.join("members");
    make_group(&home)?;
    let _ = fs::write(folder.join("cgroup.subtree_control"), "+memory +cpu +pids");
    Ok(home)
}

fn make_group(folder: &Path) -> io::Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Write `0` to it to move there.
fn door(folder: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .custom_flags(nix::libc::O_CLOEXEC)
        .open(folder.join("cgroup.procs"))
}

/// A file in which the kernel keeps account of a group. It is open as long as the group is used, because tasks that follow each
/// other ask often.
#[derive(Debug)]
struct Account(File);

impl Account {
    fn open(path: &Path) -> Option<Self> {
        let with = |write| OpenOptions::new().read(true).write(write).open(path);
        with(true).or_else(|_| with(false)).ok().map(Self)
    }

    fn text(&self) -> Option<String> {
        let mut buffer = [0; 1024];
        let count = self.0.read_at(&mut buffer, 0).ok()?;
        let text = buffer.get(..count).map(String::from_utf8_lossy)?;
        Some(text.into_owned())
    }

    fn number(&self) -> Option<u64> {
        self.text()?.trim().parse().ok()
    }

    fn set_back(&self) -> bool {
        self.0.write_at(b"0", 0).is_ok()
    }
}

/// The groups of a task.
#[derive(Debug, Default)]
pub(crate) struct TaskGroup {
    folders: Vec<PathBuf>,
    /// Write `0` to each to move there.
    doors: Vec<File>,
    limits_memory: bool,
    kills: Option<Account>,
    use_now: Option<Account>,
    peak: Option<Account>,
    /// Whether the peak can be set back, as in version 1.
    forgets_peak: bool,
    /// What earlier tasks have used.
    peak_before: Option<u64>,
}

impl TaskGroup {
    fn add(&mut self, folder: &Path) -> io::Result<()> {
        if self.folders.iter().any(|known| known == folder) {
            return Ok(());
        }
        fs::create_dir_all(folder)?;
        self.folders.push(folder.to_owned());
        self.doors.push(door(folder)?);
        Ok(())
    }

    /// The descriptors that [`join`] needs. They need not be kept.
    pub(crate) fn take_doors(&mut self) -> Vec<File> {
        std::mem::take(&mut self.doors)
    }

    /// Whether the next task with the same limits may have these groups: not if their accounts would tell it of this one.
    pub(crate) fn is_fit_for_another(&self) -> bool {
        if !self.limits_memory {
            return true;
        }
        let left = self.use_now.as_ref().and_then(Account::number);
        left.is_some_and(|left| left <= MOST_LEFT) && !self.out_of_memory()
    }

    /// These groups, for the next task.
    pub(crate) fn renewed(&mut self) -> Self {
        let mut group = std::mem::take(self);
        if let Some(peak) = &group.peak
            && !(group.forgets_peak && peak.set_back())
        {
            group.peak_before = group.peak_memory().or(group.peak_before);
        }
        group
    }

    /// Whether the kernel killed a process of the group for want of memory.
    pub(crate) fn out_of_memory(&self) -> bool {
        let text = self.kills.as_ref().and_then(Account::text);
        text.is_some_and(|text| {
            text.lines()
                .filter_map(|line| line.strip_prefix("oom_kill "))
                .any(|count| count.trim() != "0")
        })
    }

    /// The most memory that was in use. Not known if an earlier task of these groups has used more.
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        let peak = self.peak.as_ref()?.number()?;
        self.peak_before
            .is_none_or(|before| peak > before)
            .then_some(peak)
    }

    /// Removes the groups; false while a process is still in one of them.
    pub(crate) fn remove(&mut self) -> bool {
        self.folders.retain(|folder| {
            fs::remove_dir(folder).is_err_and(|error| error.kind() != io::ErrorKind::NotFound)
        });
        self.folders.is_empty()
    }
}

/// Moves this process, and what it will start, into the groups of these doors.
pub(crate) fn join(doors: &[File]) -> io::Result<()> {
    for mut door in doors {
        door.write_all(b"0")?;
    }
    Ok(())
}

/// Files in the page cache are counted where they were first read. The next task finds no more than this in its account.
const MOST_LEFT: u64 = 4 << 20;

fn end_all(folder: &Path) {
    if fs::write(folder.join("cgroup.kill"), "1").is_ok() {
        return;
    }
    for inner in fs::read_dir(folder).into_iter().flatten().flatten() {
        if inner.file_type().is_ok_and(|kind| kind.is_dir()) {
            end_all(&inner.path());
        }
    }
    // New processes may be born while the list is read.
    for _ in 0..100 {
        let members = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
        let own = std::process::id().to_string();
        let mut any = false;
        for pid in members.lines().filter(|pid| *pid != own) {
            if let Ok(pid) = pid.parse() {
                any |= kill(Pid::from_raw(pid), Signal::SIGKILL).is_ok();
            }
        }
        if !any {
            return;
        }
        std::thread::yield_now();
    }
}

/// Removes a group and those below it; whether it is gone.
fn remove_tree(folder: &Path) -> bool {
    for inner in fs::read_dir(folder).into_iter().flatten().flatten() {
        if inner.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_tree(&inner.path());
        }
    }
    match fs::remove_dir(folder) {
        Ok(()) => true,
        Err(error) => error.kind() != io::ErrorKind::ResourceBusy,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn controllers_of_version_1_are_found_below_the_own_group() {
        let mountinfo = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
                         32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n\
                         27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n";
        let own = "4:memory:/user/7\n1:cpu:/\n0::/\n";
        let found = parse(mountinfo, own);
        let place = |folder: &str| {
            Some(Place {
                folder: PathBuf::from(folder),
                version: Version::One,
            })
        };
        assert_eq!(found.memory, place("/sys/fs/cgroup/memory/user/7"));
        assert_eq!(found.cpu, place("/sys/fs/cgroup/cpu/"));
        assert_eq!(found.pids, None);
    }

    #[test]
    fn a_bind_of_a_part_of_the_tree_is_understood() {
        let mountinfo = "35 31 0:32 /user /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
        let found = parse(mountinfo, "4:memory:/user/7\n");
        assert_eq!(
            found.memory.map(|place| place.folder),
            Some(PathBuf::from("/sys/fs/cgroup/memory/7"))
        );
    }

    #[test]
    fn a_kill_for_want_of_memory_is_read_from_either_version() {
        let folder = tempfile::tempdir().unwrap();
        let mut group = TaskGroup::default();
        for (text, expected) in [
            ("oom_kill_disable 0\nunder_oom 0\noom_kill 1\n", true),
            (
                "low 0\nhigh 0\nmax 3\noom 0\noom_kill 0\noom_group_kill 0\n",
                false,
            ),
            ("max 3\noom 2\noom_kill 2\n", true),
        ] {
            let file = folder.path().join("file");
            fs::write(&file, text).unwrap();
            group.kills = Account::open(&file);
            assert_eq!(group.out_of_memory(), expected, "{text}");
        }
    }
}
