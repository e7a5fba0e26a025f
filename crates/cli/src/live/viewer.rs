//! Shows a job from a thread of its own, at the pace of whoever reads, so that the process that drives the job
//! never waits for a reader.
//!
//! What is handed over is small: which launches have told something, a line for each thing that is told of only once,
//! and the latest glance at the job. Events and logs are read from their files when there is someone to show them to.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pinnace_control::control::News;
use pinnace_control::folder::StateFolder;
use pinnace_control::job::{Job, JobId};
use pinnace_exec::local::{Cursor, observe};

use super::Show;
use super::glance::Glance;

/// How often logs are looked at, and how often a reader gets to see something new.
pub(super) const PACE: Duration = Duration::from_millis(80);

/// What is to be shown, in order.
#[derive(Debug, PartialEq, Eq)]
enum Item {
    /// There are new events of a launch.
    Told(u32),
    /// A line.
    Said(String),
}

/// What is handed over.
#[derive(Debug, Default)]
struct Board {
    items: Vec<Item>,
    glance: Option<Glance>,
    is_over: bool,
}

impl Board {
    /// However much a launch tells, it is noted once between two lines.
    fn note(&mut self, launch: u32) {
        let since_last_line = self.items.iter().rev();
        let mut since_last_line = since_last_line.take_while(|item| matches!(item, Item::Told(_)));
        if !since_last_line.any(|item| *item == Item::Told(launch)) {
            self.items.push(Item::Told(launch));
        }
    }
}

#[derive(Debug, Default)]
struct Shared {
    board: Mutex<Board>,
    changed: Condvar,
}

impl Shared {
    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits a little for something new, and takes it.
    fn take(&self) -> Board {
        let nothing =
            |board: &mut Board| board.items.is_empty() && board.glance.is_none() && !board.is_over;
        let waited = self.changed.wait_timeout_while(self.board(), PACE, nothing);
        let (mut board, _) = waited.unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *board)
    }
}

/// The thread, as seen by whoever drives the job.
#[derive(Debug)]
pub(crate) struct Viewer {
    shared: Arc<Shared>,
    ended: Receiver<()>,
    /// Which news is worth a line.
    line: fn(&Job, &News) -> Option<String>,
    glances: bool,
    glanced: Option<Instant>,
}

impl Viewer {
    /// Begins to show a job.
    pub(crate) fn start(
        job: &JobId,
        folder: &StateFolder,
        mut show: Box<dyn Show + Send>,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let (end, ended) = channel();
        let line = show.line();
        let glances = show.wants_glances();
        let told = Told {
            job: job.clone(),
            folder: folder.clone(),
            cursors: HashMap::new(),
        };
        let board = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("viewer".to_owned())
            .spawn(move || {
                view(&board, told, &mut *show);
                drop(end);
            })?;
        Ok(Self {
            shared,
            ended,
            line,
            glances,
            glanced: None,
        })
    }

    /// Hands over what has happened.
    pub(crate) fn tell(&mut self, job: &Job, news: &[News]) {
        let is_time = self.glances && self.glanced.is_none_or(|last| last.elapsed() >= PACE);
        if news.is_empty() && !is_time {
            return;
        }
        let mut board = self.shared.board();
        for one in news {
            if let News::Told { launch } = one {
                board.note(*launch);
            }
            board.items.extend((self.line)(job, one).map(Item::Said));
        }
        if is_time && board.glance.is_none() {
            board.glance = Some(Glance::of(job));
            self.glanced = Some(Instant::now());
        }
        drop(board);
        self.shared.changed.notify_one();
    }

    /// Hands over something else to say.
    pub(crate) fn say(&self, text: &str) {
        self.shared.board().items.push(Item::Said(text.to_owned()));
        self.shared.changed.notify_one();
    }

    /// There is nothing more to come: waits until all is shown; false if that is not wished any longer.
    pub(crate) fn end(&self, mut is_enough: impl FnMut() -> bool) -> bool {
        self.shared.board().is_over = true;
        self.shared.changed.notify_one();
        while self.ended.recv_timeout(PACE) == Err(RecvTimeoutError::Timeout) {
            if is_enough() {
                return false;
            }
        }
        true
    }
}

/// Reads what launches have told.
#[derive(Debug)]
struct Told {
    job: JobId,
    folder: StateFolder,
    cursors: HashMap<u32, Cursor>,
}

impl Told {
    fn read(&mut self, launch: u32, show: &mut dyn Show) {
        let cursor = self.cursors.entry(launch).or_default();
        let folder = self.folder.launch(&self.job, launch);
        // Without its files, because someone has removed the job, there is nothing to show.
        if let Ok((events, next)) = observe(&folder, *cursor) {
            *cursor = next;
            for event in &events {
                show.on_event(launch, event);
            }
        }
    }
}

fn view(shared: &Shared, mut told: Told, show: &mut dyn Show) {
    loop {
        let board = shared.take();
        for item in board.items {
            match item {
                Item::Told(launch) => told.read(launch, show),
                Item::Said(text) => show.say(&text),
            }
        }
        show.refresh(board.glance);
        if board.is_over {
            return show.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_is_noted_once_between_two_lines() {
        let mut board = Board::default();
        for launch in [0, 1, 0, 0, 1] {
            board.note(launch);
        }
        board.items.push(Item::Said("again".to_owned()));
        board.note(0);
        board.note(0);
        assert_eq!(
            board.items,
            [
                Item::Told(0),
                Item::Told(1),
                Item::Said("again".to_owned()),
                Item::Told(0)
            ]
        );
    }
}
