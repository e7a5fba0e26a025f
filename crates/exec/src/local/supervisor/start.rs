//! How a task comes to life: folders, limits, pipes, and a first process in its sandbox.

use std::ffi::CString;
use std::fs;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use nix::unistd::pipe2;
use pinnace_core::plan::{Action, Role, Step};
use pinnace_core::text::Text;

use super::output::Source;
use super::task::{State, Task};
use super::{Supervisor, Timer, Token};
use crate::contract::{Attempt, Happening, Level, PhaseName, Secrets};
use crate::data::stage::StagedRole;
use crate::data::{PINNACE_LINKS, RealPlaces, hard_coded};
use crate::environment::{self, Folders, Shared};
use crate::local::Layout;
use crate::local::layout::task_name;
use crate::runner::channel::NextTask;
use crate::runner::init::{HookStreams, Init, Streams};
use crate::runner::script::Making;
use crate::sandbox::cgroup::{Limits, TaskGroup};
use crate::sandbox::{self, Access, Bind, View};
use crate::sys::{self, Side};
use crate::variables::Variables;

impl Supervisor {
    /// Starts a task; if that fails, it ends with a report that says why.
    pub(super) fn start(&mut self, index: usize) {
        let Some(task) = self.tasks.get(index) else {
            return;
        };
        if task.state != State::Queued {
            return;
        }
        if let Err(error) = self.try_start(index) {
            let Some(task) = self.tasks.get_mut(index) else {
                return;
            };
            task.start_failure = Some(error);
            self.conclude(index);
        }
    }

    fn try_start(&mut self, index: usize) -> Result<(), String> {
        if self.move_in(index) {
            return Ok(());
        }
        self.hand_over_ports(index);
        let level = self.level;
        let as_root = self.machine.as_root;
        let Some(task) = self.tasks.get(index) else {
            return Ok(());
        };
        let watched = self
            .attempt
            .plan
            .roles
            .get(&task.spec.id.role)
            .is_some_and(|role| !self.queue.is_empty() && self.can_follow(role, level));
        let Some(task) = self.tasks.get_mut(index) else {
            return Ok(());
        };
        let role = self
            .attempt
            .plan
            .roles
            .get(&task.spec.id.role)
            .ok_or_else(|| format!("the plan has no role `{}`", task.spec.id.role))?;
        task.level = level;
        task.turn_to(Some(PhaseName::Sandbox), None);
        make_folders(task)?;
        let mut binds = binds(
            role,
            &self.secrets,
            &self.attempt.settings.storages,
            level,
            &task.folder.work(),
            &self.layout.shared(),
        )?;
        let nothing = StagedRole::default();
        let staged = self.staged.roles.get(&task.spec.id.role);
        let staged = staged.unwrap_or(&nothing);
        binds.extend(staged.shown.iter().cloned());
        let program = program_for_links(staged, level, &self.layout, &mut binds)?;
        let places = match level {
            Level::Plain => {
                let files = role.files.keys().map(String::as_str);
                let instead = [&staged.instead[..], &staged.told].concat();
                RealPlaces::new(&binds, &instead, files, task.folder.changes())
            }
            _ => RealPlaces::told(&staged.told),
        };
        let limits = limits(role, self.capacity);
        task.group = match &self.group {
            Some(group) => group
                .task(&task_name(&task.spec.id), limits)
                .map_err(|error| format!("cannot make the control group: {error}"))?,
            None => TaskGroup::default(),
        };
        let home = match &self.group {
            Some(group) => group.door(),
            None => Ok(None),
        };
        let home = home.map_err(|error| format!("cannot use the control group: {error}"))?;
        let needs_hook_streams = !role.before.is_empty() || !role.after.is_empty();
        let (stdout, stdout_far) = pipe()?;
        let (stderr, stderr_far) = pipe()?;
        let (runtime, phases) = if needs_hook_streams {
            (Some(pipe()?), Some(pipe()?))
        } else {
            (None, None)
        };
        let (channel, channel_far) = socketpair(
            AddressFamily::Unix,
            SockType::SeqPacket,
            None,
            SockFlag::SOCK_CLOEXEC,
        )
        .map_err(|error| format!("cannot make a channel: {error}"))?;
        let work = task.folder.work();
        let memory = self.layout.memory();
        if level == Level::Plain {
            make_folder(&self.layout.temporary(), 0o755)?;
            let temporary = self.layout.temporary_of(&task.spec.id, level);
            make_folder(&temporary, 0o700)?;
        }
        let ports = self.environment.ports_of(&task.spec.id);
        let start_in = match &role.workdir {
            Some(path) => PathBuf::from(places.of(path)),
            None => work.clone(),
        };
        let mut own = own_variables(&self.environment, &self.attempt, &self.layout, task, &ports);
        environment::add(&mut own, staged, program.as_deref());
        let waits_for_orders =
            !role.after.is_empty() || self.attempt.settings.keep_on_failure_minutes.is_some();
        let (runtime, runtime_far) = runtime.unzip();
        let (phases, phases_far) = phases.unzip();
        let side = sys::fork_into(sandbox::namespaces(level, as_root))
            .map_err(|error| format!("cannot start a process: {error}"));
        let side = match side {
            Err(_) if level > Level::Plain => {
                // The kernel refuses namespaces altogether.
                let error = side.err().unwrap_or_default();
                return self.step_down(index, &error);
            }
            side => side?,
        };
        let making = Making {
            role,
            secrets: &self.secrets,
            shell: self.shell.0,
            nounset: self.attempt.settings.nounset,
            places: &places,
        };
        match side {
            Side::Child => Init {
                view: View {
                    machine: &self.machine,
                    level,
                    folder: &task.folder,
                    memory: self.in_memory.then_some(&*memory),
                    hidden: &self.hidden,
                    binds,
                    files: making.files(),
                    shm_mb: role.resources.shm_mb,
                    pai_folder: speaks_of_pai_folder(role),
                    watched,
                },
                making,
                shell_path: CString::new(self.shell.1).unwrap_or_default(),
                environment: self.environment.of_role(&task.spec.id.role),
                task: NextTask {
                    folder: task.folder.path().to_owned(),
                    start_in,
                    environment: own,
                },
                home,
                doors: task.group.take_doors(),
                data_limit: data_limit(
                    limits,
                    self.group.as_ref().map(|group| group.can_limit().0),
                ),
                open_files: self.open_files,
                channel: channel_far,
                streams: Streams {
                    stdout: stdout_far,
                    stderr: stderr_far,
                    hooks: runtime_far
                        .zip(phases_far)
                        .map(|(runtime, phases)| HookStreams { runtime, phases }),
                },
                lock: self.lock.as_raw_fd(),
                waits_for_orders,
                work: None,
            }
            .live(),
            Side::Parent(pid) => {
                task.pid = Some(pid);
                task.state = State::Preparing;
                task.group.take_doors();
                task.output.connect(Source::Stdout, stdout, &self.stencil);
                task.output.connect(Source::Stderr, stderr, &self.stencil);
                if let Some(runtime) = runtime {
                    task.output.connect(Source::Runtime, runtime, &self.stencil);
                }
                task.channel = Some(channel);
                task.marks = phases;
                self.by_pid.insert(pid, index);
                self.journal.add(Happening::Started {
                    task: task.spec.id.clone(),
                    pid: pid.as_raw(),
                    ports,
                    level,
                });
                self.after_start(index);
                self.warn_of_hard_coded_paths(index, &places);
                Ok(())
            }
        }
    }

    /// Without a sandbox, a path of the task is found only by those who ask where it really lies.
    fn warn_of_hard_coded_paths(&mut self, index: usize, places: &RealPlaces) {
        let Some(task) = self.tasks.get(index) else {
            return;
        };
        let is_first = !self.tasks.iter().take(index).any(|earlier| {
            earlier.spec.id.role == task.spec.id.role && earlier.state != State::Queued
        });
        let (Some(role), true, Level::Plain) = (
            self.attempt.plan.roles.get(&task.spec.id.role),
            is_first,
            task.level,
        ) else {
            return;
        };
        let staged = self.staged.roles.get(&task.spec.id.role);
        let code = role.code.as_ref().zip(staged).and_then(|(code, staged)| {
            let is_code = |bind: &&Bind| bind.to == Path::new(&code.target);
            Some(&*staged.shown.iter().find(is_code)?.from)
        });
        let targets: Vec<&Path> = places
            .targets()
            .filter(|target| !target.starts_with(self.layout.folder()))
            .collect();
        let found = hard_coded::find(role, code, targets.into_iter());
        if !found.is_empty() {
            let text = format!(
                "there is no sandbox, so paths of the job do not exist as written; they are named by {}",
                pinnace_core::words::listed(&found, "and")
            );
            self.note(index, &text);
        }
    }

    /// A task has a first process.
    pub(super) fn after_start(&mut self, index: usize) {
        self.watch_all(index);
        let now = Instant::now();
        self.recent.push((index, now));
        if let Some(task) = self.tasks.get_mut(index) {
            task.started = now;
        }
        if let Some(seconds) = self.attempt.settings.time_limit_seconds {
            self.set_timer(index, Duration::from_secs(seconds), Timer::TimeLimit);
        }
    }

    fn watch_all(&self, index: usize) {
        let (Some(task), Ok(number)) = (self.tasks.get(index), u32::try_from(index)) else {
            return;
        };
        for source in [Source::Stdout, Source::Stderr, Source::Runtime] {
            if let Some(fd) = task.output.descriptor(source) {
                self.watch(fd, Token::Output(number, source));
            }
        }
        if let Some(fd) = &task.channel {
            let token = Token::Channel(number);
            match task.moved_in {
                None => self.watch(fd.as_fd(), token),
                Some(_) => self.watch_for_another(fd.as_fd(), token),
            }
        }
        if let Some(fd) = &task.marks {
            self.watch(fd.as_fd(), Token::Marks(number));
        }
    }

    /// The sandbox could not be made: this task and all that follow use the next lower level.
    pub(super) fn step_down(&mut self, index: usize, error: &str) -> Result<(), String> {
        let Some(task) = self.tasks.get_mut(index) else {
            return Ok(());
        };
        if task.level <= self.level {
            let lower = match task.level {
                Level::Overlay => Level::ReadOnly,
                Level::ReadOnly | Level::Plain => Level::Plain,
            };
            self.not_enforced
                .push(format!("sandbox: {} ({error})", lower.words()));
            self.level = lower;
        }
        task.state = State::Queued;
        task.pid = None;
        self.try_start(index)
    }
}

/// The variables that only this task has.
pub(super) fn own_variables(
    environment: &Shared,
    attempt: &Attempt,
    layout: &Layout,
    task: &Task,
    ports: &IndexMap<String, Vec<u16>>,
) -> Variables {
    let work = task.folder.work();
    let temporary = layout.temporary_of(&task.spec.id, task.level);
    let code = match task.level {
        Level::Overlay => PathBuf::from("/usr/local/pai/code"),
        Level::ReadOnly | Level::Plain => work.join("code"),
    };
    let folders = Folders {
        work: &work,
        task: &temporary.join(".pinnace"),
        shared: &layout.shared(),
        temporary: &temporary,
        code: &code,
    };
    environment.of_task(attempt, &task.spec, ports, folders)
}

/// Where tasks find this program, if they may link outputs.
fn program_for_links(
    staged: &StagedRole,
    level: Level,
    layout: &Layout,
    binds: &mut Vec<Bind>,
) -> Result<Option<PathBuf>, String> {
    if !staged.variables.contains_key(PINNACE_LINKS) {
        return Ok(None);
    }
    let Some(program) = std::env::current_exe().ok().filter(|path| path.is_file()) else {
        return Ok(None);
    };
    if level == Level::Plain {
        return Ok(Some(program));
    }
    let shown = layout.shared().join(PROGRAM);
    fs::File::create(&shown)
        .map_err(|error| format!("cannot write {}: {error}", shown.display()))?;
    binds.push(Bind {
        from: program,
        to: shown.clone(),
        access: Access::Read,
    });
    Ok(Some(shown))
}

/// The program's name among what all tasks see.
const PROGRAM: &str = "pinnace";

pub(super) fn pipe() -> Result<(OwnedFd, OwnedFd), String> {
    let (near, far) =
        pipe2(OFlag::O_CLOEXEC).map_err(|error| format!("cannot make a pipe: {error}"))?;
    // Only our end: a task that finds its output full shall wait, not fail.
    fcntl(&near, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))
        .map_err(|error| format!("cannot make a pipe: {error}"))?;
    Ok((near, far))
}

fn make_folders(task: &Task) -> Result<(), String> {
    let folder = &task.folder;
    make_folder(folder.path(), 0o700)?;
    make_folder(&folder.work(), 0o755)
}

pub(super) fn make_folder(path: &Path, mode: u32) -> Result<(), String> {
    match fs::DirBuilder::new().mode(mode).create(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(format!("cannot make {}: {error}", path.display())),
    }
}

/// What a task sees besides the machine's files. A storage that is not there fails the task: to go on without
/// it, or without a sandbox, would be worse.
fn binds(
    role: &Role,
    secrets: &Secrets,
    storages: &IndexMap<String, PathBuf>,
    level: Level,
    work: &Path,
    shared: &Path,
) -> Result<Vec<Bind>, String> {
    let bind = |from: &Path, to: &Path, access| Bind {
        from: from.to_owned(),
        to: to.to_owned(),
        access,
    };
    let mut binds = vec![
        bind(work, work, Access::Write),
        bind(shared, shared, Access::Read),
    ];
    for mount in &role.mounts {
        let plain = |text: &Text| text.render(|name| secrets.get(name).to_owned());
        let (name, target) = (plain(&mount.storage), plain(&mount.target));
        let from = storages
            .get(&name)
            .ok_or_else(|| format!("no folder is known for the storage `{name}`"))?;
        if !from.is_dir() {
            return Err(format!(
                "the storage `{name}` is not a folder: {}",
                from.display()
            ));
        }
        if !target.starts_with('/') {
            return Err(format!(
                "the mount point `{target}` of the storage `{name}` is not an absolute path"
            ));
        }
        let is_there = || {
            let target = Path::new(&target).canonicalize();
            target.is_ok_and(|target| from.canonicalize().is_ok_and(|from| from == target))
        };
        if level == Level::Plain && !is_there() {
            return Err(format!(
                "the storage `{name}` cannot be mounted at `{target}`, because this machine allows no sandbox; \
                 make `{target}` a link to {}, or allow user namespaces",
                from.display()
            ));
        }
        binds.push(bind(from, Path::new(&target), Access::Write));
    }
    Ok(binds)
}

pub(super) fn speaks_of_pai_folder(role: &Role) -> bool {
    let is_shell = |step: &Step| matches!(step.action, Action::Shell { .. });
    !role.steps().all(is_shell)
        || role
            .known_words()
            .any(|text| text.contains("/usr/local/pai"))
}

/// Limits that can bite on this machine.
pub(super) fn limits(role: &Role, (cpu, memory_mb): (u32, u64)) -> Limits {
    let resources = &role.resources;
    Limits {
        memory_bytes: (resources.memory_mb > 0 && resources.memory_mb < memory_mb)
            .then(|| resources.memory_mb.saturating_mul(1 << 20)),
        cpus: (resources.cpu > 0 && resources.cpu < cpu).then_some(resources.cpu),
    }
}

/// Where no group bounds memory, each process is bounded by itself.
fn data_limit(limits: Limits, groups_limit_memory: Option<bool>) -> Option<u64> {
    match groups_limit_memory {
        Some(false) => limits.memory_bytes,
        _ => None,
    }
}
