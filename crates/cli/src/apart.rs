//! Lets threads that share work begin apart from each other.

use nix::sched::{sched_getaffinity, sched_getcpu, sched_setaffinity};
use nix::unistd::Pid;

/// The processor of a thread that is about to start others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Home(Option<usize>);

impl Home {
    pub(crate) fn here() -> Self {
        Home(sched_getcpu().ok())
    }

    /// Takes the calling thread to another processor if it has begun on this one, where it would only take turns with the
    /// one that has started it. The kernel finds an idle processor by itself, but often milliseconds later, when much of
    /// the work is done.
    pub(crate) fn leave(self) {
        let Some(home) = self.0.filter(|home| sched_getcpu() == Ok(*home)) else {
            return;
        };
        let this_thread = Pid::from_raw(0);
        let Ok(allowed) = sched_getaffinity(this_thread) else {
            return;
        };
        let mut others = allowed;
        // Refused if there is no other; then it stays.
        if others.unset(home).is_ok() && sched_setaffinity(this_thread, &others).is_ok() {
            let _ = sched_setaffinity(this_thread, &allowed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_leaves_may_run_where_it_could_before() {
        let allowed = || sched_getaffinity(Pid::from_raw(0));
        let before = allowed();
        assert!(before.is_ok());
        let home = Home::here();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                home.leave();
                assert_eq!(allowed(), before);
            });
        });
        home.leave();
        assert_eq!(allowed(), before);
    }
}
