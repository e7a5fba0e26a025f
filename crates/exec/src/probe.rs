//! What the local engine finds on this machine. The sandbox is not guessed at: a task of nothing is run in one.

use std::path::{Path, PathBuf};
use std::{fs, io};

use pinnace_core::plan::Plan;
use serde::Serialize;
use serde_json::json;

use crate::contract::{Attempt, Level, Secrets};
use crate::local::{self, Launcher, Wish};
use crate::sandbox::cgroup;

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Probe {
    /// Whether this is the user who may do everything.
    pub as_root: bool,
    /// How far a task was kept apart from the machine.
    pub sandbox: Level,
    /// Why not further, in the words of the engine; and what else was not enforced.
    pub not_enforced: Vec<String>,
    /// The control groups that bound memory, cpu time and the number of processes.
    pub controllers: Vec<Controller>,
    /// Switches of the kernel that keep ordinary users from having namespaces.
    pub switches: Vec<Switch>,
}

/// A controller of the kernel's control groups.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Controller {
    /// `memory`, `cpu` or `pids`.
    pub name: &'static str,
    /// 1 or 2; none if the kernel or its administrator offers no such controller.
    pub version: Option<u8>,
    /// Whether this user may make groups there.
    pub usable: bool,
}

/// A switch of the kernel that stands in the way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Switch {
    /// As `sysctl` names it.
    pub name: &'static str,
    /// What it must be.
    pub wanted: &'static str,
}

/// Runs a task of nothing in a new folder below this one, and removes it.
pub fn probe(launcher: &Launcher, below: &Path) -> io::Result<Probe> {
    let folder = below.join(format!("probe-{}", std::process::id()));
    let tried = try_out(launcher, &folder);
    let _ = local::remove_folder(&folder);
    let (sandbox, not_enforced) = tried?;
    Ok(Probe {
        as_root: nix::unistd::geteuid().is_root(),
        sandbox,
        not_enforced,
        controllers: cgroup::controllers(),
        switches: SWITCHES.iter().filter_map(in_the_way).collect(),
    })
}

fn try_out(launcher: &Launcher, folder: &Path) -> io::Result<(Level, Vec<String>)> {
    // As JSON, because most of a plan can be left out there. The limits are small enough to bite anywhere.
    let plan: Plan = serde_json::from_value(json!({
        "name": "probe", "labels": {}, "secrets": [], "retry": {"limit": 0}, "notify": [],
        "placement": {"virtualCluster": "default", "priority": 0, "gang": true, "gangRelease": null,
            "lazyPreemption": null, "ignoreSuggestedNodes": null},
        "roles": {"task": {
            "instances": 1, "image": null, "ports": {}, "env": {}, "mounts": [], "before": [], "command": ["true"],
            "resources": {"cpu": 1, "memoryMB": 64, "gpu": 0, "shmMB": 0, "infiniband": false},
            "after": [], "completion": {"minFailed": 1, "minSucceeded": null}, "retry": {"limit": 0},
            "placement": {"sku": null, "pinnedCell": null, "affinityGroup": null},
        }},
    }))?;
    let attempt = Attempt::whole("probe", 0, "probe", plan);
    let secrets = Secrets::default();
    let reports = local::carry_out(launcher, folder, &attempt, &secrets, |_| {}, || Wish::Wait)?;
    let report = reports
        .into_iter()
        .next()
        .ok_or_else(|| io::Error::other("the trial task was lost"))?;
    if let Some(why) = report.start_failure {
        return Err(io::Error::other(why));
    }
    if report.exit_code != 0 {
        let why = format!("the trial task ended with exit code {}", report.exit_code);
        return Err(io::Error::other(why));
    }
    Ok((report.level, report.not_enforced))
}

const SWITCHES: [(Switch, &str); 3] = [
    (
        Switch {
            name: "kernel.unprivileged_userns_clone",
            wanted: "1",
        },
        "0",
    ),
    (
        Switch {
            name: "kernel.apparmor_restrict_unprivileged_userns",
            wanted: "0",
        },
        "1",
    ),
    (
        Switch {
            name: "user.max_user_namespaces",
            wanted: "15000",
        },
        "0",
    ),
];

/// The switch, if it is in the position that stands in the way.
fn in_the_way((switch, bad): &(Switch, &str)) -> Option<Switch> {
    let path = Path::new("/proc/sys").join(switch.name.replace('.', "/"));
    let value = fs::read_to_string(path).ok()?;
    (value.trim() == *bad).then(|| switch.clone())
}

/// Where a program lies that tasks may use, if it is installed.
pub fn program(name: &str) -> Option<PathBuf> {
    let own = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&own);
    let usual = ["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from);
    let mut paths = folders.chain(usual).map(|folder| folder.join(name));
    paths.find(|path| {
        nix::unistd::access(path, nix::unistd::AccessFlags::X_OK).is_ok() && path.is_file()
    })
}
