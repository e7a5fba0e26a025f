use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use pinnace_control::folder::StateFolder;
use pinnace_exec::local::Launcher;
use pinnace_exec::probe::{self, Controller, Probe};
use pinnace_exec::{Level, ShellKind, machine};
use serde::Serialize;

use super::{Exit, Format, complain, print_json};
use crate::terminal::{self, Color};

/// List the engines that can run jobs from here, and what they offer
///
/// The sandbox is tried out with a task of nothing. For each thing that is missing it is told what that
/// means and how to get it.
#[derive(Debug, Args)]
#[command(after_help = "Exit status: 0 an engine can be used, 3 none can.")]
pub(crate) struct Engines {
    /// How to show them
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output_format: Format,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Local {
    name: &'static str,
    usable: bool,
    /// Why it cannot be used.
    problem: Option<String>,
    capacity: machine::Capacity,
    shell: &'static str,
    probe: Option<Probe>,
    things: Vec<Thing>,
}

/// Something that a task may find or miss.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Thing {
    name: &'static str,
    is_there: bool,
    /// What was found.
    found: String,
    /// What it means that it is missing.
    means: Option<String>,
    /// How to get it.
    remedy: Option<String>,
}

impl Thing {
    fn there(name: &'static str, found: impl Into<String>) -> Self {
        Self {
            name,
            is_there: true,
            found: found.into(),
            means: None,
            remedy: None,
        }
    }

    fn missing(name: &'static str, found: &str, means: &str, remedy: &str) -> Self {
        Self {
            name,
            is_there: false,
            found: found.to_owned(),
            means: Some(means.to_owned()),
            remedy: Some(remedy.to_owned()),
        }
    }
}

impl Engines {
    pub(crate) fn run(self, color: Color) -> Exit {
        let tried = Launcher::this_program().and_then(|launcher| {
            let folder = trial_folder();
            probe::probe(&launcher, &folder)
        });
        let (probe, problem) = match tried {
            Ok(probe) => (Some(probe), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let capacity = machine::capacity();
        let (kind, shell) = pinnace_exec::shell(None);
        let mut things = Vec::new();
        if let Some(probe) = &probe {
            things.push(sandbox(probe));
            things.extend(probe.controllers.iter().map(|one| limit(one, probe)));
        }
        things.push(cards(&capacity));
        things.push(bash(kind, shell));
        things.extend(
            PROGRAMS
                .iter()
                .map(|one| one.look(probe::program(one.program))),
        );
        let local = Local {
            name: "local",
            usable: problem.is_none(),
            problem,
            capacity,
            shell,
            probe,
            things,
        };
        let exit = match local.usable {
            true => Exit::Clean,
            false => Exit::Engine,
        };
        match self.output_format {
            Format::Json => print_json(&[local]),
            Format::Text => {
                terminal::print(&page(&local));
                if let Some(problem) = &local.problem {
                    complain(
                        color,
                        &format!("the local engine cannot be used: {problem}"),
                    );
                }
            }
        }
        exit
    }
}

/// Where jobs will lie, because what a sandbox can do depends on the disk as well.
fn trial_folder() -> PathBuf {
    StateFolder::path_from_environment()
        .and_then(|path| StateFolder::open(&path))
        .map_or_else(|_| std::env::temp_dir(), |folder| folder.path().to_owned())
}

fn page(local: &Local) -> String {
    let who = match &local.probe {
        Some(probe) if probe.as_root => ", as root",
        Some(_) => ", as an ordinary user",
        None => "",
    };
    let mut text = format!(
        "local  this machine{who}: {} cores, {} MiB of memory\n",
        local.capacity.cpu, local.capacity.memory_mb
    );
    for thing in &local.things {
        let mark = if thing.is_there { "yes" } else { "no " };
        let _ = writeln!(text, "  {mark}  {:<14} {}", thing.name, thing.found);
        for line in thing.means.iter().chain(&thing.remedy) {
            let _ = writeln!(text, "                      {line}");
        }
    }
    text
}

fn sandbox(probe: &Probe) -> Thing {
    let found = probe.sandbox.words();
    if probe.sandbox == Level::Overlay {
        return Thing::there("sandbox", found);
    }
    let why = probe
        .not_enforced
        .iter()
        .find(|text| text.contains("sandbox"));
    let found = why.map_or(found, String::as_str);
    let means = match probe.sandbox {
        Level::Plain => {
            "tasks see and change all that you may, storages are not mounted, and a stray `rm -rf` of a job is real"
        }
        Level::ReadOnly | Level::Overlay => {
            "tasks write to their own folder and `/tmp` alone; `mkdir /dataset` or `apt-get install` in a job fail"
        }
    };
    let switches: Vec<String> = probe
        .switches
        .iter()
        .map(|switch| format!("{}={}", switch.name, switch.wanted))
        .collect();
    let remedy = match (probe.sandbox, probe.as_root) {
        (Level::Plain, false) if !switches.is_empty() => {
            format!("have root run `sysctl -w {}`", switches.join(" "))
        }
        (Level::Plain, false) => {
            "run Pinnace where user namespaces are allowed, or as root; in a container, with `--security-opt seccomp=unconfined`"
                .to_owned()
        }
        (Level::Plain, true) => {
            "give this container the right to mount: `--privileged`, or `--cap-add SYS_ADMIN` without seccomp and AppArmor"
                .to_owned()
        }
        (Level::ReadOnly | Level::Overlay, _) => {
            "put the state directory on ext4, xfs or tmpfs (`PINNACE_STATE`); an ordinary user needs Linux 5.11 or later"
                .to_owned()
        }
    };
    Thing::missing("sandbox", found, means, &remedy)
}

fn limit(controller: &Controller, probe: &Probe) -> Thing {
    let (name, means) = match controller.name {
        "memory" => (
            "memory limit",
            "a task as a whole is not bounded, only each of its processes, and a kill for want of memory is not recognised",
        ),
        "cpu" => ("cpu limit", "a task may use more cores than it asked for"),
        _ => (
            "process limit",
            "the number of a job's processes is not bounded",
        ),
    };
    match controller.version {
        Some(version) if controller.usable => {
            Thing::there(name, format!("control groups, version {version}"))
        }
        None => Thing::missing(
            name,
            &format!("the kernel offers no controller `{}`", controller.name),
            means,
            "mount control groups (`mount -t cgroup2 none /sys/fs/cgroup`), or allow the controller to this container",
        ),
        Some(version) => Thing::missing(
            name,
            &format!("control groups of version {version}, which this user may not make"),
            means,
            match (version, probe.as_root) {
                (2, false) => {
                    "run it as `systemd-run --user --scope -p Delegate=yes pinnace run …`, or as root"
                }
                (2, true) => {
                    "the controllers are not handed down: start Pinnace in a group without other processes, or with `Delegate=yes`"
                }
                _ => "run Pinnace as root, or have root give you a group of your own",
            },
        ),
    }
}

fn cards(capacity: &machine::Capacity) -> Thing {
    if capacity.gpus.is_empty() {
        let found = match probe::program("nvidia-smi") {
            Some(_) => "`nvidia-smi` lists no card",
            None => "no `nvidia-smi`",
        };
        return Thing::missing(
            "GPU cards",
            found,
            "a job that asks for cards is refused, unless `--simulate-resources` is given",
            "install the driver of the cards, if the machine has some",
        );
    }
    let cards = capacity.gpus.iter();
    let cards: Vec<String> = cards
        .map(|card| format!("{} ({} MiB)", card.name, card.memory_mb))
        .collect();
    Thing::there("GPU cards", cards.join(", "))
}

fn bash(kind: ShellKind, path: &str) -> Thing {
    match kind {
        ShellKind::Bash => Thing::there("bash", path),
        ShellKind::Sh => Thing::missing(
            "bash",
            &format!("tasks run in {path}"),
            "commands that are written for bash may fail, and a failure within a pipe goes unnoticed",
            "install the package `bash`",
        ),
    }
}

/// A program that some jobs need.
struct Needed {
    program: &'static str,
    means: &'static str,
    remedy: &'static str,
}

const PROGRAMS: [Needed; 4] = [
    Needed {
        program: "git",
        means: "the start hook of the plugin `git` fails",
        remedy: "install the package `git`",
    },
    Needed {
        program: "sshd",
        means: "the start hook of the plugin `ssh` fails",
        remedy: "install the package `openssh-server`",
    },
    Needed {
        program: "ssh-keygen",
        means: "tasks of a job get no keys to log in to each other",
        remedy: "install the package `openssh-client`",
    },
    Needed {
        program: "tensorboard",
        means: "the plugin `tensorboard` fails",
        remedy: "run `pip install tensorboard`",
    },
];

impl Needed {
    fn look(&self, found: Option<PathBuf>) -> Thing {
        match found {
            Some(path) => Thing::there(self.program, path.display().to_string()),
            None => Thing::missing(self.program, "not installed", self.means, self.remedy),
        }
    }
}

#[cfg(test)]
mod tests {
    use pinnace_exec::probe::Switch;

    use super::*;

    fn probe(sandbox: Level, as_root: bool) -> Probe {
        Probe {
            as_root,
            sandbox,
            not_enforced: vec!["sandbox: plain processes (EPERM)".to_owned()],
            controllers: Vec::new(),
            switches: vec![Switch {
                name: "kernel.unprivileged_userns_clone",
                wanted: "1",
            }],
        }
    }

    #[test]
    fn what_is_missing_says_what_that_means_and_how_to_get_it() {
        let mut things = vec![
            sandbox(&probe(Level::Plain, false)),
            sandbox(&probe(Level::Plain, true)),
            sandbox(&probe(Level::ReadOnly, false)),
            bash(ShellKind::Sh, "/bin/sh"),
        ];
        things.extend(PROGRAMS.iter().map(|one| one.look(None)));
        for name in ["memory", "cpu", "pids"] {
            for version in [None, Some(1), Some(2)] {
                let controller = Controller {
                    name,
                    version,
                    usable: false,
                };
                things.push(limit(&controller, &probe(Level::Overlay, false)));
            }
        }
        for thing in things {
            assert!(!thing.is_there, "{thing:?}");
            assert!(thing.means.is_some() && thing.remedy.is_some(), "{thing:?}");
        }
    }

    #[test]
    fn a_switch_of_the_kernel_that_stands_in_the_way_is_named() {
        let thing = sandbox(&probe(Level::Plain, false));
        let remedy = thing.remedy.unwrap_or_default();
        assert!(
            remedy.contains("sysctl -w kernel.unprivileged_userns_clone=1"),
            "{remedy}"
        );
        assert_eq!(thing.found, "sandbox: plain processes (EPERM)");
        let thing = sandbox(&probe(Level::Overlay, false));
        assert!(thing.is_there && thing.remedy.is_none());
    }
}
