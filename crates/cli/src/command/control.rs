use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::time::Duration;

use clap::Args;
use pinnace_control::control::{self, ControlError};
use pinnace_control::engine::LocalEngine;
use pinnace_control::store::{Found, Store};

use super::Exit;

/// Drive a job in the background until it has ended
///
/// Other commands start this for jobs that nobody drives.
#[derive(Debug, Args)]
pub(crate) struct Control {
    /// The job
    #[arg(value_name = "JOB")]
    job: String,
}

impl Control {
    pub(crate) fn run(self) -> Exit {
        // Fails only for the leader of a group, which this is not if another command started it.
        let _ = nix::unistd::setsid();
        match self.drive() {
            Ok(()) | Err(ControlError::Owned | ControlError::Missing) => Exit::Clean,
            Err(error) => {
                self.complain(&error);
                Exit::Engine
            }
        }
    }

    fn drive(&self) -> Result<(), ControlError> {
        let store = Store::from_environment()?;
        let Found::One(id) = store.find(&self.job)? else {
            return Err(ControlError::Missing);
        };
        let engine = LocalEngine::this_program()?;
        let mut control = control::Control::resume(store, engine, &id)?;
        while !control.is_finished() {
            control.turn(Duration::from_secs(10))?;
            control.take_news();
        }
        Ok(())
    }

    /// There is nobody to talk to, so it is written down.
    fn complain(&self, error: &ControlError) {
        let Ok(store) = Store::from_environment() else {
            return;
        };
        let Ok(Found::One(id)) = store.find(&self.job) else {
            return;
        };
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(store.folder().job(&id).join("control.err"));
        if let Ok(mut file) = file {
            let _ = writeln!(file, "{error}");
        }
    }
}
