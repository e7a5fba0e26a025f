//! The loop of one job.
//!
//! [`Control::turn`] waits until something happens, decides, makes the decision durable and carries it out. It
//! is called until [`Control::is_finished`]. Between two calls the caller can look at the job, show what
//! [`Control::take_news`] tells, and ask for a stop.

mod decide;
mod observe;
mod perform;

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pinnace_core::lifecycle::{Effect, Group, Input, Time, Timer};
use pinnace_exec::local::Cursor;
use pinnace_exec::{Peer, Secrets, TaskId};

use crate::admit::Admitted;
use crate::engine::Engine;
use crate::execution_log::ExecutionLog;
use crate::job::{Job, JobId};
use crate::owner::Ownership;
use crate::place::Room;
use crate::store::{Command, Store, StoreError};
use decide::is_fleeting;

/// How often the store is looked at for requests of other processes and for free places.
const LOOK_AROUND: Duration = Duration::from_millis(150);

/// While more tasks than this may have something to tell, what they tell within a span is made durable together: a
/// transaction waits for the disk, and a thousand of them for a thousand tasks would be most of the work.
const FEW_TASKS: usize = 16;
const GROUP: Duration = Duration::from_millis(50);

/// Why a job cannot be driven on. What runs goes on running.
#[derive(Debug)]
pub enum ControlError {
    /// The store.
    Store(StoreError),
    /// The engine, or the files of the job.
    Engine(io::Error),
    /// Another process drives the job.
    Owned,
    /// There is no such job.
    Missing,
}

impl fmt::Display for ControlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ControlError::Store(error) => error.fmt(f),
            ControlError::Engine(error) => write!(f, "the engine failed: {error}"),
            ControlError::Owned => f.write_str("another process drives the job"),
            ControlError::Missing => f.write_str("there is no such job"),
        }
    }
}

impl std::error::Error for ControlError {}

impl From<StoreError> for ControlError {
    fn from(error: StoreError) -> Self {
        ControlError::Store(error)
    }
}

impl From<io::Error> for ControlError {
    fn from(error: io::Error) -> Self {
        ControlError::Engine(error)
    }
}

/// Something that a person who watches may want to see.
#[derive(Clone, Debug)]
pub enum News {
    /// The engine told something of a launch: it has new events.
    Told {
        /// Which launch.
        launch: u32,
    },
    /// The job's life went on.
    Heard {
        /// When.
        at: Time,
        /// What was heard.
        input: Input,
    },
    /// The job waits for a place.
    Waits {
        /// Why.
        why: String,
    },
}

/// A launch of which more events may come.
#[derive(Debug)]
struct Following {
    launch: u32,
    folder: PathBuf,
    cursor: Cursor,
    /// Nobody looks after it any more.
    gone: bool,
}

/// Drives a job.
#[derive(Debug)]
pub struct Control<E> {
    store: Store,
    engine: E,
    job: Job,
    secrets: Secrets,
    _owner: Ownership,
    following: Vec<Following>,
    /// The folders of launches that are over, but not forgotten.
    over: Vec<PathBuf>,
    /// Where tasks are reached that have started.
    peers: HashMap<TaskId, Peer>,
    timers: BTreeSet<(Time, Timer)>,
    /// Groups without a place.
    waiting: Vec<Group>,
    room: Option<Room>,
    /// The revision of the state that is kept whole.
    kept: u64,
    /// The latest request of another process that was heard.
    heard: Option<i64>,
    /// What was heard and waits for more, and since when.
    held: Vec<(Time, Input)>,
    held_since: Option<std::time::Instant>,
    store_version: Option<i64>,
    looked_around: Option<std::time::Instant>,
    /// When something was last heard.
    listened: Option<std::time::Instant>,
    news: Vec<News>,
    execution_log: Option<ExecutionLog>,
}

impl<E: Engine> Control<E> {
    /// Takes in a new job and drives it from its beginning.
    pub fn submit(
        mut store: Store,
        mut engine: E,
        admitted: Admitted,
    ) -> Result<Self, ControlError> {
        let secrets = admitted.submission.secrets.clone();
        let (id, owner) = new_id(&mut store, &admitted.submission.plan.name)?;
        engine.expect(&store.folder().launch(&id, 0), admitted.plan());
        let begun = match Self::begin(&mut store, &id, admitted) {
            Ok(begun) => begun,
            Err(error) => {
                drop(engine);
                let _ = std::fs::remove_dir_all(store.folder().job(&id));
                return Err(error.into());
            }
        };
        let mut control = Self::of(store, engine, begun.job, secrets, owner);
        control.room = begun.room;
        control.waiting = begun.waiting;
        control.news = begun.news;
        let inputs = control.perform(begun.intents)?;
        control.engine.relax();
        if !inputs.is_empty() {
            control.go_on(inputs, Vec::new())?;
        }
        Ok(control)
    }

    /// Drives a job on that nobody drives. Finds out what became of all that may run.
    pub fn resume(store: Store, engine: E, id: &JobId) -> Result<Self, ControlError> {
        let owner = Ownership::take(store.folder(), id)?.ok_or(ControlError::Owned)?;
        let job = store.load(id)?.ok_or(ControlError::Missing)?;
        let secrets = match job.finished {
            Some(_) => Secrets::default(),
            None => store.secrets(&job)?,
        };
        let mut control = Self::of(store, engine, job, secrets, owner);
        if !control.is_finished() {
            control.adopt_all()?;
            let effects = control.job.state.outstanding();
            control.go_on(Vec::new(), effects)?;
        }
        Ok(control)
    }

    fn of(store: Store, engine: E, job: Job, secrets: Secrets, owner: Ownership) -> Self {
        let kept = job.state.revision();
        let execution_log = ExecutionLog::of(&job, store.folder());
        Self {
            store,
            engine,
            job,
            secrets,
            _owner: owner,
            following: Vec::new(),
            over: Vec::new(),
            peers: HashMap::new(),
            timers: BTreeSet::new(),
            waiting: Vec::new(),
            room: None,
            kept,
            heard: None,
            held: Vec::new(),
            held_since: None,
            store_version: None,
            looked_around: None,
            listened: None,
            news: Vec::new(),
            execution_log,
        }
    }

    /// The job as it stands.
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// Where the job's files lie.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Whether the job has ended.
    pub fn is_finished(&self) -> bool {
        self.job.finished.is_some()
    }

    /// What happened since this was last asked.
    pub fn take_news(&mut self) -> Vec<News> {
        std::mem::take(&mut self.news)
    }

    /// Gives up driving the job without ending it, and hands the store back.
    pub fn leave(self) -> Store {
        self.store
    }

    /// Asks the job to stop.
    pub fn stop(&mut self, force: bool) -> Result<(), ControlError> {
        let mut inputs = std::mem::take(&mut self.held);
        inputs.push((now(), Input::Stop { force }));
        self.go_on(inputs, Vec::new())
    }

    /// Waits until something happens, at most so long, and goes on with the job.
    pub fn turn(&mut self, timeout: Duration) -> Result<(), ControlError> {
        self.gather();
        let mut inputs = self.collect()?;
        if inputs.is_empty() && !self.is_finished() {
            let folders: Vec<PathBuf> = self
                .following
                .iter()
                .filter(|following| !following.gone)
                .map(|following| following.folder.clone())
                .collect();
            for folder in self.engine.wait(&folders, self.patience(timeout))? {
                for following in &mut self.following {
                    following.gone |= following.folder == folder;
                }
            }
            inputs = self.collect()?;
        }
        let inputs = self.hold_back(inputs);
        let again = !self.waiting.is_empty() && self.is_time_to_look();
        if !inputs.is_empty() || again {
            return self.go_on(inputs, Vec::new());
        }
        self.forget_what_is_over();
        self.log_execution();
        Ok(())
    }

    /// Lets more come together before it is looked at, if much is going on. Nothing is done meanwhile that was not
    /// durable before: only what is heard is heard a little later.
    fn gather(&self) {
        let since = self.listened.map(|listened| listened.elapsed());
        if let Some(rest) = since.and_then(|since| GROUP.checked_sub(since))
            && self.job.state.live_attempts().nth(FEW_TASKS).is_some()
        {
            std::thread::sleep(rest);
        }
    }

    /// That a task has started is most often followed by more, and by the end of a short one at once: it waits a little
    /// for what it can be made durable with.
    fn hold_back(&mut self, inputs: Vec<(Time, Input)>) -> Vec<(Time, Input)> {
        if !inputs.is_empty() {
            self.listened = Some(std::time::Instant::now());
        }
        self.held.extend(inputs);
        let can_wait = self.held.iter().all(|(_, input)| is_fleeting(input));
        if self.held.is_empty() {
            self.held_since = None;
        } else if can_wait {
            let since = self.held_since.get_or_insert_with(std::time::Instant::now);
            if since.elapsed() < GROUP {
                return Vec::new();
            }
        }
        self.held_since = None;
        std::mem::take(&mut self.held)
    }

    fn patience(&self, timeout: Duration) -> Duration {
        let timeout = match self.held_since {
            Some(since) => timeout.min(GROUP.saturating_sub(since.elapsed())),
            None => timeout,
        };
        let until_timer = self.timers.first().map_or(Duration::MAX, |(at, _)| {
            Duration::from_millis(at.since(now()))
        });
        timeout.min(until_timer).min(LOOK_AROUND)
    }

    /// Everything that has come since the last look.
    fn collect(&mut self) -> Result<Vec<(Time, Input)>, ControlError> {
        let mut inputs = self.observe_all()?;
        let now = now();
        while let Some((_, timer)) = self.timers.first().copied().filter(|(at, _)| *at <= now) {
            self.timers.pop_first();
            inputs.push((now, Input::TimerFired { timer }));
        }
        let version = Some(self.store.version()?);
        if version != self.store_version {
            self.store_version = version;
            // A place may be free as well.
            self.looked_around = None;
            for (number, command) in self.store.commands(&self.job)? {
                if self.heard.is_some_and(|heard| number <= heard) {
                    continue;
                }
                self.heard = Some(number);
                match command {
                    Command::Stop { force } => inputs.push((now, Input::Stop { force })),
                }
            }
        }
        Ok(inputs)
    }

    fn is_time_to_look(&mut self) -> bool {
        let is_time = self
            .looked_around
            .is_none_or(|last| last.elapsed() > 5 * LOOK_AROUND);
        if is_time {
            self.looked_around = Some(std::time::Instant::now());
        }
        is_time
    }

    /// Decides, makes it durable, carries it out, and so on with what comes of that.
    fn go_on(
        &mut self,
        inputs: Vec<(Time, Input)>,
        effects: Vec<Effect>,
    ) -> Result<(), ControlError> {
        let mut inputs = inputs;
        let mut effects = effects;
        loop {
            let intents = self.decide(inputs, effects)?;
            self.forget_what_is_over();
            self.log_execution();
            inputs = self.perform(intents)?;
            effects = Vec::new();
            if inputs.is_empty() {
                return Ok(());
            }
        }
    }
}

impl<E> Control<E> {
    fn log_execution(&mut self) {
        if let Some(log) = &mut self.execution_log {
            log.go_on(&self.job, now());
        }
    }
}

/// Takes a job in for whoever drives it next.
pub fn hand_in(store: &mut Store, admitted: Admitted) -> Result<JobId, ControlError> {
    let submission = admitted.submission;
    let (id, _owner) = new_id(store, &submission.plan.name)?;
    let submitted = store.change(|change| change.submit(&id, submission, now()));
    if let Err(error) = submitted {
        let _ = std::fs::remove_dir_all(store.folder().job(&id));
        return Err(error.into());
    }
    Ok(id)
}

/// An identifier that nobody has, and the right to drive its job.
fn new_id(store: &mut Store, name: &str) -> Result<(JobId, Ownership), ControlError> {
    loop {
        let id = JobId::random(name).map_err(|_| StoreError::NoRandomness)?;
        let folder = store.folder().job(&id);
        if folder.exists() {
            continue;
        }
        let owner = Ownership::take(store.folder(), &id)
            .map_err(|error| StoreError::folder(&folder, &error))?;
        if let Some(owner) = owner {
            return Ok((id, owner));
        }
    }
}

/// The clock on the wall.
pub fn now() -> Time {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Time(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
