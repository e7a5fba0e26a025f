//! Carries an attempt out and stays with it until its end.

use std::io;
use std::path::Path;
use std::time::Duration;

use super::{Adoption, Cursor, Launcher, News, Watch, adopt, launch, observe, stop};
use crate::contract::{Attempt, Event, ExitReport, Happening, Secrets};

/// How often the one who waits may ask for a stop.
const PACE: Duration = Duration::from_millis(100);

/// How often a supervisor that takes no more requests is looked at.
const CLOSING: Duration = Duration::from_millis(2);

/// What the one who waits wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// To wait on.
    Wait,
    /// That the tasks end, with the attempt's grace period.
    Stop,
    /// That they end at once.
    Kill,
}

/// Launches an attempt, or finds it launched, and follows it to its end. Every event is shown; `wish` is asked
/// again and again. The reports of tasks that were lost with their supervisor are missing.
pub fn carry_out(
    launcher: &Launcher,
    folder: &Path,
    attempt: &Attempt,
    secrets: &Secrets,
    mut show: impl FnMut(&Event),
    mut wish: impl FnMut() -> Wish,
) -> io::Result<Vec<ExitReport>> {
    let mut handle = launch(launcher, folder, attempt, secrets).map_err(io::Error::other)?;
    let mut watch = Watch::begin(folder).ok();
    let mut cursor = Cursor::default();
    let mut reports = Vec::new();
    loop {
        let (events, next) = observe(folder, cursor)?;
        cursor = next;
        for event in events {
            show(&event);
            match event.what {
                Happening::Exited { report } => reports.push(*report),
                Happening::Ended => {
                    handle.wait();
                    return Ok(reports);
                }
                _ => {}
            }
        }
        let Some(watched) = &mut watch else {
            // Nobody is there to tell more; whether the end is near is for the lock to say.
            match adopt(folder)? {
                Adoption::Over { reports, .. } => return Ok(reports),
                Adoption::NotStarted => return Ok(Vec::new()),
                Adoption::Alive(_) => watch = Watch::begin(folder).ok(),
            }
            if watch.is_none() {
                // It clears up and tells its end in a moment.
                std::thread::sleep(CLOSING);
            }
            continue;
        };
        if watched.wait(PACE)? == News::Gone {
            watch = None;
        }
        let grace = match wish() {
            Wish::Wait => continue,
            Wish::Stop => None,
            Wish::Kill => Some(Duration::ZERO),
        };
        match stop(folder, None, grace) {
            Ok(()) => {}
            // It ends already.
            Err(_) if watch.is_none() => {}
            Err(error) => return Err(error),
        }
    }
}
