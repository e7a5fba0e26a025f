//! Before the first task: identity, lock, secrets, ports, environment.

use std::collections::{BinaryHeap, HashMap};
use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signalfd::SignalFd;
use pinnace_core::environment::PORTS_OF_EVERY_TASK;
use pinnace_core::plan::{Action, Role};

use super::parking::Parking;
use super::sockets::Clients;
use super::task::Task;
use super::{ANOTHER_SUPERVISOR, BUFFER, Supervisor, Token, new_poll};
use crate::contract::{Attempt, Changes, FORMAT, Level, MOST_TASKS_ON_DISK, Peer, Secrets};
use crate::data::stage::Staged;
use crate::environment::Shared;
use crate::local::adopt::remove_groups;
use crate::local::journal::Journal;
use crate::local::{Identity, Layout, write_atomically};
use crate::log::{QuietLog, Stencil};
use crate::machine::Ports;
use crate::runner;
use crate::sandbox::Machine;
use crate::sandbox::cgroup::{self, AttemptGroup, Hierarchy};
use crate::{signals, sys};

impl Supervisor {
    /// Takes the lock, reads what to do and makes everything ready but the tasks.
    pub(super) fn prepare(layout: &Layout) -> Result<Self, String> {
        // Fails if we lead a group already, which is as good.
        let _ = nix::unistd::setsid();
        // All that can be known beforehand, because we may have been started ahead.
        let surroundings = Surroundings::find()?;
        let secrets = read_secrets()?;
        let lock = take_lock(layout)?;
        let attempt = read_attempt(layout)?;
        let journal = Journal::create(&layout.events()).map_err(|error| {
            if error.kind() == std::io::ErrorKind::AlreadyExists {
                "this attempt was already carried out".to_owned()
            } else {
                format!("cannot write {}: {error}", layout.events().display())
            }
        })?;
        Self::begin(layout, surroundings, secrets, lock, attempt, journal).inspect_err(|_| {
            // Nothing has happened yet. An empty journal would say that something did, and nobody would learn why it did not.
            let _ = fs::remove_file(layout.events());
            remove_groups(layout);
        })
    }

    fn begin(
        layout: &Layout,
        surroundings: Surroundings,
        secrets: Secrets,
        lock: OwnedFd,
        attempt: Attempt,
        journal: Journal,
    ) -> Result<Self, String> {
        let Surroundings {
            signals,
            mut machine,
            hierarchy,
            capacity,
        } = surroundings;
        let group = (attempt.settings.enforce_limits).then(|| (hierarchy, layout.group_name()));
        Identity::own()
            .and_then(|mut own| {
                if let Some((hierarchy, name)) = &group {
                    own.groups = AttemptGroup::folders(hierarchy, name);
                }
                own.write(&layout.supervisor())
            })
            .map_err(|error| format!("cannot write {}: {error}", layout.supervisor().display()))?;
        let poll = new_poll()?;
        let clients = Clients::listen(layout)?;
        let open_files = raise_open_files();
        let mut level = attempt.settings.sandbox;
        let mut not_enforced = Vec::new();
        if level > Level::Plain && machine.as_root && attempt.tasks.len() > 1 {
            // Once for all tasks: their namespaces are copies of this one.
            let private = unshare(CloneFlags::CLONE_NEWNS).and_then(|()| {
                let flags = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
                mount(None::<&str>, "/", None::<&str>, flags, None::<&str>)
            });
            machine.is_private = private.is_ok();
            if let Err(error) = private {
                level = Level::Plain;
                not_enforced.push(format!("no sandbox: cannot have own mounts: {error}"));
            }
        }
        let group = group.map(|(hierarchy, name)| AttemptGroup::new(hierarchy, name));
        let in_memory = match attempt.settings.changes {
            Changes::Disk => false,
            Changes::Memory => true,
            Changes::Auto => attempt.tasks.len() > MOST_TASKS_ON_DISK,
        };
        prepare_places(layout, in_memory)?;
        let (mut tasks, peers) = assign_ports(layout, &attempt, in_memory)?;
        let parking = Parking::fill(&mut tasks);
        let environment = Shared::new(&attempt, peers);
        share(layout, &attempt, &environment)?;
        let mut supervisor = Self {
            stencil: Stencil::new(secrets.values())?,
            hidden: hidden(layout, &attempt),
            in_memory,
            shell: runner::shell(attempt.settings.shell),
            layout: layout.clone(),
            attempt,
            secrets,
            journal,
            quiet: QuietLog::new(&layout.tasks()),
            lock,
            signals,
            poll,
            clients,
            machine,
            group,
            environment,
            level,
            not_enforced,
            open_files,
            capacity,
            queue: (0..tasks.len()).collect(),
            running: tasks.len(),
            tasks,
            parking,
            pressure: None,
            by_pid: HashMap::new(),
            recent: Vec::new(),
            typical: Duration::ZERO,
            spares: Vec::new(),
            leaving: HashMap::new(),
            timers: BinaryHeap::new(),
            buffer: vec![0; BUFFER],
            helpers: HashMap::new(),
            next_helper: 0,
            staged: Staged::default(),
            is_staged: false,
        };
        supervisor.watch(supervisor.signals.as_fd(), Token::Signals);
        supervisor.watch(supervisor.clients.listener(), Token::Listener);
        supervisor.note_short_secrets();
        Ok(supervisor)
    }

    /// Makes the control group of the attempt, if it may have one.
    pub(super) fn make_group(&mut self) {
        if let Some(group) = &mut self.group {
            group.make(self.attempt.settings.max_processes);
        }
        let group = self.group.as_ref();
        if !group.is_some_and(AttemptGroup::bounds_processes) {
            let text = "the number of processes is not limited";
            self.not_enforced.push(text.to_owned());
        }
    }

    fn note_short_secrets(&mut self) {
        for name in self.secrets.too_short() {
            self.not_enforced.push(format!(
                "the secret `{name}` is shorter than {} characters and is not scrubbed from logs",
                crate::log::SHORTEST_SECRET
            ));
        }
    }
}

/// What a supervisor works with, whatever it has to do.
struct Surroundings {
    signals: SignalFd,
    machine: Machine,
    hierarchy: Hierarchy,
    capacity: (u32, u64),
}

impl Surroundings {
    fn find() -> Result<Self, String> {
        let mounts = cgroup::mounts();
        Ok(Self {
            signals: signals::watch().map_err(|error| format!("cannot watch signals: {error}"))?,
            machine: Machine::find(&mounts),
            hierarchy: Hierarchy::find(&mounts),
            capacity: crate::machine::cores_and_memory(),
        })
    }
}

/// Appends a line to the file of the supervisor's own complaints.
pub(super) fn complain(layout: &Layout, text: &str) {
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(layout.complaints());
    if let Ok(mut file) = file {
        let _ = writeln!(file, "{text}");
    }
}

fn read_secrets() -> Result<Secrets, String> {
    let mut bytes = Vec::new();
    File::from(sys::take_standard(0))
        .read_to_end(&mut bytes)
        .map_err(|error| format!("cannot read the secrets: {error}"))?;
    // The standard streams of all tasks, and ours from now on.
    keep_nothing_at(0)?;
    Secrets::from_wire(&bytes)
        .map_err(|_| "the secrets came in a form that is not known".to_owned())
}

/// Puts `/dev/null` at one of the standard numbers.
pub(super) fn keep_nothing_at(number: i32) -> Result<(), String> {
    let nothing = OpenOptions::new().read(true).write(true).open("/dev/null");
    let nothing = nothing.map_err(|error| format!("cannot open /dev/null: {error}"))?;
    sys::keep_as_standard(number, OwnedFd::from(nothing));
    Ok(())
}

fn take_lock(layout: &Layout) -> Result<OwnedFd, String> {
    let path = layout.lock();
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(|error| format!("cannot open {}: {error}", path.display()))?;
    if sys::lock_byte(file.as_fd(), 0) {
        Ok(OwnedFd::from(file))
    } else {
        Err(ANOTHER_SUPERVISOR.to_owned())
    }
}

fn read_attempt(layout: &Layout) -> Result<Attempt, String> {
    let path = layout.attempt();
    let bytes =
        fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let attempt: Attempt = serde_json::from_slice(&bytes)
        .map_err(|error| format!("cannot understand {}: {error}", path.display()))?;
    if attempt.format != FORMAT {
        return Err(format!(
            "{} has the format `{}`, not `{FORMAT}`",
            path.display(),
            attempt.format
        ));
    }
    for task in &attempt.tasks {
        if attempt.role(&task.id).is_none() {
            return Err(format!("the plan has no role for the task `{}`", task.id));
        }
    }
    Ok(attempt)
}

/// A thousand tasks need thousands of descriptors here; tasks keep the limit that they know.
fn raise_open_files() -> u64 {
    match getrlimit(Resource::RLIMIT_NOFILE) {
        Ok((soft, hard)) => {
            let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
            soft
        }
        Err(_) => 1024,
    }
}

fn hidden(layout: &Layout, attempt: &Attempt) -> Vec<PathBuf> {
    let mut hidden: Vec<PathBuf> = Vec::new();
    let mut candidates = attempt.settings.hidden.clone();
    candidates.push(layout.folder().to_owned());
    candidates.sort();
    for path in candidates {
        if !hidden.iter().any(|outer| path.starts_with(outer)) {
            hidden.push(path);
        }
    }
    hidden
}

fn assign_ports(
    layout: &Layout,
    attempt: &Attempt,
    in_memory: bool,
) -> Result<(Vec<Task>, Vec<Peer>), String> {
    let text = |error: std::io::Error| format!("cannot choose ports: {error}");
    let mut ports = Ports::open(attempt.settings.port_register.as_deref()).map_err(text)?;
    let mut tasks = Vec::with_capacity(attempt.tasks.len());
    let mut peers: IndexMap<(String, u32), Peer> = attempt
        .settings
        .peers
        .iter()
        .map(|peer| ((peer.role.clone(), peer.index), peer.clone()))
        .collect();
    for spec in &attempt.tasks {
        let Some(role) = attempt.role(&spec.id) else {
            continue;
        };
        let mut held: Vec<OwnedFd> = Vec::new();
        let mut by_label = IndexMap::new();
        for (label, count) in labels(role) {
            let mut numbers = Vec::new();
            for _ in 0..count {
                let port = ports.take().map_err(text)?;
                numbers.push(port.number);
                held.push(port.socket);
            }
            by_label.insert(label, numbers);
        }
        peers.insert(
            (spec.id.role.clone(), spec.id.index),
            Peer {
                role: spec.id.role.clone(),
                index: spec.id.index,
                address: attempt.settings.address.clone(),
                ports: by_label,
            },
        );
        let folder = layout.task(&spec.id, in_memory);
        tasks.push(Task::new(
            spec.clone(),
            folder,
            held,
            attempt.settings.log_bytes,
            &attempt.plan.metrics,
        ));
    }
    // The register stays open, and with it every port ours, until the process ends.
    ports.keep();
    Ok((tasks, peers.into_values().collect()))
}

/// Makes the folders that all tasks use.
fn prepare_places(layout: &Layout, in_memory: bool) -> Result<(), String> {
    let memory = in_memory.then(|| layout.memory());
    for path in [layout.tasks(), layout.shared()].into_iter().chain(memory) {
        match fs::DirBuilder::new().mode(0o755).create(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(format!("cannot make {}: {error}", path.display()));
            }
            _ => {}
        }
    }
    Ok(())
}

/// One port for each label of every task, and as many as the role asks for.
fn labels(role: &Role) -> impl Iterator<Item = (String, u32)> {
    let implicit = PORTS_OF_EVERY_TASK
        .into_iter()
        .filter(|label| !role.ports.contains_key(*label))
        .map(|label| (label.to_owned(), 1));
    implicit.chain(
        role.ports
            .iter()
            .map(|(label, count)| (label.clone(), *count)),
    )
}

/// Writes what all tasks see.
fn share(layout: &Layout, attempt: &Attempt, environment: &Shared) -> Result<(), String> {
    let shared = layout.shared();
    let text = |error: std::io::Error| format!("cannot write into {}: {error}", shared.display());
    let peers = serde_json::to_vec(environment.peers()).map_err(|error| error.to_string())?;
    write_atomically(&shared.join("peers.json"), &peers).map_err(text)?;
    let wants_ssh = |role: &Role| {
        role.before
            .iter()
            .any(|step| matches!(step.action, Action::Ssh { .. }))
    };
    if attempt.plan.roles.values().any(wants_ssh) {
        super::super::ssh::make_keys(&layout.ssh_keys(), environment.peers(), &attempt.user);
    }
    Ok(())
}
