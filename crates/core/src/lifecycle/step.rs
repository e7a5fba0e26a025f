//! One step of a job's life.

mod job;
mod task;

use super::completion::Condition;
use super::job::{JobState, StopAsked};
use super::message::{Effect, Group, Input, KillReason, Timer};
use super::state::State;
use super::task::{TaskAttempt, Time, Times};
use crate::exit::Verdict;
use crate::exit::code::{ATTEMPT_OVER, NODE_LOST, REMOVED, STOP_ASKED, TIME_LIMIT};

/// Takes in what happened and says what to do. An input that says nothing new changes nothing.
pub fn step(job: &mut JobState, input: Input, now: Time) -> Vec<Effect> {
    let mut step = Step::of(job, now);
    let heard = match input {
        Input::Placed { group } => step.placed(group),
        Input::PlaceRefused { group, verdict } => step.place_refused(group, verdict),
        Input::LaunchFailed { group, verdict } => step.launch_failed(group, verdict),
        Input::TaskPreparing { task } => step.preparing(task),
        Input::TaskStarted { task } => step.started(task),
        Input::TaskExited { task, verdict } => step.exited(task, verdict),
        Input::TaskLost { task } => step.exited(task, Verdict::of(NODE_LOST)),
        Input::KillAccepted { task } => step.kill_accepted(task),
        Input::TaskEnding { task } => step.ending(task),
        Input::Preempted { group } => step.preempted(group),
        Input::Stop { force } => step.stop(force),
        Input::TimerFired { timer } => step.timer_fired(timer),
    };
    let effects = step.effects;
    job.revision += u64::from(heard.is_some());
    effects
}

/// Starts the attempt for which the job's state is made ready.
pub(super) fn begin_attempt(job: &mut JobState, now: Time) -> Vec<Effect> {
    let mut step = Step::of(job, now);
    step.begin_attempt();
    step.effects
}

/// `Some` when an input was heard, `None` when it says nothing new.
type Heard = Option<()>;

struct Step<'a> {
    job: &'a mut JobState,
    now: Time,
    effects: Vec<Effect>,
    /// Whether the scheduler knows of the current attempt; false for one that ends as it begins.
    asked_for_places: bool,
}

impl<'a> Step<'a> {
    fn of(job: &'a mut JobState, now: Time) -> Self {
        Step {
            job,
            now,
            effects: Vec::new(),
            asked_for_places: true,
        }
    }

    // What the scheduler says.

    fn placed(&mut self, group: Group) -> Heard {
        match group {
            Group::Gang(attempt) => {
                self.waiting_gang(attempt)?;
                for at in 0..self.job.tasks.len() {
                    self.take_place(at);
                }
            }
            Group::Task(task) => {
                let at = self.waiting_task(task)?;
                self.take_place(at);
            }
        }
        if self.job.state == State::AttemptCreationPending {
            self.job.times.placed = Some(self.now);
            self.enter(State::AttemptCreationRequested);
        }
        self.effects.push(Effect::Launch { group });
        Some(())
    }

    fn take_place(&mut self, at: usize) {
        self.job.tasks[at].times.placed = Some(self.now);
        self.job.live += 1;
        self.enter_task(at, State::AttemptCreationRequested);
    }

    fn place_refused(&mut self, group: Group, verdict: Verdict) -> Heard {
        match group {
            Group::Gang(attempt) => {
                self.waiting_gang(attempt)?;
                self.decide(verdict, Condition::PlaceRefused, None);
            }
            Group::Task(task) => {
                let at = self.waiting_task(task)?;
                self.task_ended(at, verdict);
            }
        }
        Some(())
    }

    fn preempted(&mut self, group: Group) -> Heard {
        match group {
            Group::Gang(attempt) => {
                let has_place = self.job.state != State::AttemptCreationPending;
                let current = self.job.gang && self.job.retries.total == attempt;
                (current && has_place && self.job.outcome.is_none()).then_some(())?;
                self.decide(Verdict::of(REMOVED), Condition::Preempted, None);
            }
            Group::Task(task) => {
                let at = self.job.current(task).filter(|_| !self.job.gang)?;
                let state = self.job.tasks[at].state;
                (state.is_live() && !state.is_being_ended()).then_some(())?;
                self.kill(at, REMOVED, KillReason::Preempted);
            }
        }
        Some(())
    }

    fn waiting_gang(&self, attempt: u32) -> Heard {
        let job = &self.job;
        let waits = job.state == State::AttemptCreationPending;
        (job.gang && waits && job.retries.total == attempt).then_some(())
    }

    fn waiting_task(&self, task: TaskAttempt) -> Option<usize> {
        let at = self.job.current(task).filter(|_| !self.job.gang)?;
        (self.job.tasks[at].state == State::AttemptCreationPending).then_some(at)
    }

    // What the engine says.

    fn launch_failed(&mut self, group: Group, verdict: Verdict) -> Heard {
        match group {
            Group::Gang(attempt) => {
                let current = self.job.gang && self.job.retries.total == attempt;
                (current && never_seen(self.job.state, &self.job.times)).then_some(())?;
                if self.job.outcome.is_none() {
                    self.record_outcome(verdict, Condition::LaunchFailed, None);
                }
                for at in 0..self.job.tasks.len() {
                    if self.job.tasks[at].state.is_live() {
                        self.task_ended(at, Verdict::of(ATTEMPT_OVER));
                    }
                }
            }
            Group::Task(task) => {
                let at = self.job.current(task).filter(|_| !self.job.gang)?;
                let own = &self.job.tasks[at];
                never_seen(own.state, &own.times).then_some(())?;
                self.task_ended(at, verdict);
            }
        }
        Some(())
    }

    fn preparing(&mut self, task: TaskAttempt) -> Heard {
        let at = self.job.current(task)?;
        (self.job.tasks[at].state == State::AttemptCreationRequested).then_some(())?;
        self.enter_task(at, State::AttemptPreparing);
        if self.job.state == State::AttemptCreationRequested {
            self.enter(State::AttemptPreparing);
        }
        Some(())
    }

    fn started(&mut self, task: TaskAttempt) -> Heard {
        let at = self.job.current(task)?;
        self.preparing(task);
        (self.job.tasks[at].state == State::AttemptPreparing).then_some(())?;
        self.job.tasks[at].times.ran = Some(self.now);
        self.enter_task(at, State::AttemptRunning);
        if self.job.state == State::AttemptPreparing {
            self.job.times.ran = Some(self.now);
            self.enter(State::AttemptRunning);
            if let Some(limit) = self.job.settings.time_limit_ms {
                let timer = Timer::TimeLimit(self.job.retries.total);
                let at = self.now.after(limit);
                self.effects.push(Effect::ScheduleTimer { at, timer });
            }
        }
        Some(())
    }

    fn exited(&mut self, task: TaskAttempt, verdict: Verdict) -> Heard {
        let at = self.job.current(task)?;
        self.job.tasks[at].state.is_live().then_some(())?;
        self.task_ended(at, verdict);
        Some(())
    }

    fn kill_accepted(&mut self, task: TaskAttempt) -> Heard {
        let at = self.job.current(task)?;
        (self.job.tasks[at].state == State::AttemptDeletionPending).then_some(())?;
        self.enter_task(at, State::AttemptDeletionRequested);
        if self.job.state == State::AttemptDeletionPending {
            self.enter(State::AttemptDeletionRequested);
        }
        Some(())
    }

    fn ending(&mut self, task: TaskAttempt) -> Heard {
        let at = self.job.current(task)?;
        let state = self.job.tasks[at].state;
        (state.is_being_ended() && state != State::AttemptDeleting).then_some(())?;
        self.enter_task(at, State::AttemptDeleting);
        self.show_deleting();
        Some(())
    }

    // What people and clocks say.

    fn stop(&mut self, force: bool) -> Heard {
        let heard = self.job.stop.is_some_and(|stop| stop.force || !force);
        (self.job.state != State::Completed && !heard).then_some(())?;
        self.job.stop = Some(StopAsked { force });
        if self.job.state == State::AttemptCompleted {
            self.retry_job();
        } else if self.job.outcome.is_none() {
            self.decide(Verdict::of(STOP_ASKED), Condition::StopAsked, None);
        } else if force {
            for at in 0..self.job.tasks.len() {
                if self.job.tasks[at].state.is_live() {
                    self.push_kill(at, KillReason::StopAsked);
                }
            }
        }
        Some(())
    }

    fn timer_fired(&mut self, timer: Timer) -> Heard {
        match timer {
            Timer::JobRetry(attempt) => {
                let waits = self.job.state == State::AttemptCompleted;
                (waits && self.job.retries.total == attempt).then_some(())?;
                self.retry_job();
            }
            Timer::TaskRetry(task) => {
                let at = self.job.current(task)?;
                (self.job.tasks[at].state == State::AttemptCompleted).then_some(())?;
                self.retry_task(at);
            }
            Timer::TimeLimit(attempt) => {
                let current = self.job.retries.total == attempt;
                (current && self.job.outcome.is_none() && self.job.times.ran.is_some())
                    .then_some(())?;
                self.decide(Verdict::of(TIME_LIMIT), Condition::TimeLimit, None);
            }
        }
        Some(())
    }

    // The only two places where a state changes.

    fn enter(&mut self, next: State) {
        debug_assert!(self.job.state.successors().contains(&next));
        self.job.state = next;
    }

    fn enter_task(&mut self, at: usize, next: State) {
        let task = &mut self.job.tasks[at];
        debug_assert!(task.state.successors().contains(&next));
        let states = &mut self.job.roles[task.id.role as usize].states;
        states[task.state as usize] -= 1;
        states[next as usize] += 1;
        task.state = next;
    }
}

/// Whether the engine was never heard of since the launch was asked for.
fn never_seen(state: State, times: &Times) -> bool {
    match state {
        State::AttemptCreationRequested => true,
        State::AttemptDeleting => times.ran.is_none(),
        _ => false,
    }
}
