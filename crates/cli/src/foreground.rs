//! A job that runs in front of the user: driven by this process, shown by a thread of its own, which alone waits for
//! whoever reads.

use std::io::IsTerminal as _;
use std::time::Duration;

use pinnace_control::admit::Admitted;
use pinnace_control::control::{Control, ControlError};
use pinnace_control::engine::LocalEngine;
use pinnace_control::job::Job;
use pinnace_control::store::Store;
use pinnace_control::view::JobView;
use pinnace_core::plan::Role;
use pinnace_exec::TaskId;

use crate::command::run::{bold, exit_of};
use crate::command::{Exit, Format, complain, print_json};
use crate::interrupt::{self, Asked, Interrupts};
use crate::live::plain::Plain;
use crate::live::screen::Screen;
use crate::live::verdict;
use crate::live::viewer::Viewer;
use crate::state;
use crate::terminal::{self, Color, Silence};

/// How often the user is listened to.
const PACE: Duration = Duration::from_millis(100);

/// How a job is shown, and what its end means for this process.
pub(crate) struct Foreground {
    pub(crate) format: Format,
    pub(crate) quiet: bool,
    pub(crate) exit_code_from: Option<TaskId>,
    pub(crate) color: Color,
}

/// How the driving of a job ended.
enum Left {
    /// The job has ended.
    Finished,
    /// The terminal is gone; another process drives on.
    HungUp,
}

impl Foreground {
    /// Takes a job in and drives it to its end.
    pub(crate) fn run(&self, store: Store, admitted: Admitted) -> Result<Exit, ControlError> {
        let has_image = |role: &Role| role.image.is_some();
        if !self.quiet && admitted.plan().roles.values().any(has_image) {
            terminal::talk(
                "note: images are not used here; tasks run on a view of this machine's files\n",
            );
        }
        let on_terminal = std::io::stderr().is_terminal() && std::io::stdout().is_terminal();
        let on_screen = on_terminal && !self.quiet && self.format == Format::Text;
        let (interrupts, resumes) = match on_screen {
            true => Interrupts::begin_with_terminal().map(|(all, resumes)| (all, Some(resumes))),
            false => Interrupts::begin().map(|all| (all, None)),
        }
        .map_err(std::io::Error::from)?;
        let folder = store.folder().clone();
        let control = Control::submit(store, LocalEngine::this_program()?, admitted)?;
        let silence = on_screen.then(Silence::begin);
        let job = control.job();
        let viewer = match (self.format, resumes.zip(silence.clone())) {
            (Format::Json, _) => None,
            (Format::Text, Some((resumes, silence))) => {
                let screen = Screen::new(&job.id, folder.clone(), silence, resumes);
                Some(Viewer::start(&job.id, &folder, Box::new(screen))?)
            }
            (Format::Text, None) => {
                let plain = Plain::new(job, folder.clone(), self.quiet);
                Some(Viewer::start(&job.id, &folder, Box::new(plain))?)
            }
        };
        let mut driving = Driving {
            control,
            viewer,
            interrupts,
            silence,
            stopping: false,
        };
        if let Some(viewer) = driving
            .viewer
            .as_ref()
            .filter(|_| !on_terminal && !self.quiet)
        {
            viewer.say(&format!("{}: running", driving.control.job().id));
        }
        let left = driving.drive();
        let mut view = JobView::of(driving.control.job(), &folder);
        let Driving {
            control,
            viewer,
            mut interrupts,
            silence,
            stopping,
        } = driving;
        if let Ok(Left::HungUp) = left {
            let id = control.job().id.clone();
            let store = control.leave();
            state::start_owner(&store, &id);
            return Ok(Exit::Interrupted);
        }
        let exit = match stopping {
            true => Exit::Interrupted,
            false => self.exit(control.job(), &view),
        };
        // The job is as free for others as it ever will be, however long the rest takes.
        drop(control);
        let is_shown = viewer.is_none_or(|viewer| viewer.end(|| interrupts.take().is_some()));
        if let Some(silence) = silence {
            silence.end();
        }
        left?;
        if !is_shown {
            return Ok(Exit::Interrupted);
        }
        match self.format {
            Format::Json => print_json(&view),
            Format::Text if self.quiet => {}
            Format::Text => {
                // It was told when the job began.
                view.options.not_honoured.clear();
                terminal::talk(&verdict::page(&view, bold(self.color)));
            }
        }
        Ok(exit)
    }

    fn exit(&self, job: &Job, view: &JobView) -> Exit {
        if let Some(wanted) = &self.exit_code_from {
            let task = view
                .tasks
                .iter()
                .find(|task| task.role == wanted.role && task.index == wanted.index);
            let report = task.and_then(|task| task.facts.report.as_ref());
            match report.map(|report| u8::try_from(report.exit_code)) {
                Some(Ok(code)) => return Exit::Code(code),
                Some(Err(_)) => return Exit::Problems,
                None => complain(self.color, &format!("{wanted} has not run")),
            }
        }
        exit_of(job)
    }
}

/// A job on its way. Nothing in here waits for whoever reads the output.
struct Driving {
    control: Control<LocalEngine>,
    viewer: Option<Viewer>,
    interrupts: Interrupts,
    silence: Option<Silence>,
    /// Whether the user has asked to stop.
    stopping: bool,
}

impl Driving {
    fn drive(&mut self) -> Result<Left, ControlError> {
        loop {
            let news = self.control.take_news();
            if let Some(viewer) = &mut self.viewer {
                viewer.tell(self.control.job(), &news);
            }
            if self.control.is_finished() {
                return Ok(Left::Finished);
            }
            match self.interrupts.take() {
                Some(Asked::Stop) => self.stop()?,
                Some(Asked::HangUp) => return Ok(Left::HungUp),
                Some(Asked::Suspend) => self.suspend(),
                None => self.control.turn(PACE)?,
            }
        }
    }

    fn stop(&mut self) -> Result<(), ControlError> {
        self.control.stop(self.stopping)?;
        if let Some(viewer) = self.viewer.as_ref().filter(|_| !self.stopping) {
            viewer.say("stopping; Ctrl-C once more kills the tasks");
        }
        self.stopping = true;
        Ok(())
    }

    /// The terminal is as it was before for those who have it meanwhile.
    fn suspend(&self) {
        if let Some(silence) = &self.silence {
            silence.end();
            interrupt::suspend();
            silence.keep();
        }
    }
}
