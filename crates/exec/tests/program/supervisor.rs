//! The supervisor as a program of its own, for tests. `enter PID LEVEL COMMAND FOLDER` enters the task `worker[0]`.

use std::process::ExitCode;

use pinnace_exec::TaskId;
use pinnace_exec::local::{Entry, enter, supervisor};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let code = match arguments.as_slice() {
        [verb, pid, level, command, folder] if verb == "enter" => {
            let entry = Entry {
                folder: folder.into(),
                task: TaskId {
                    role: "worker".to_owned(),
                    index: 0,
                },
                pid: pid.parse().unwrap_or_default(),
                level: serde_json::from_str(level).unwrap_or(pinnace_exec::Level::Plain),
            };
            enter(&entry, Some(command)).unwrap_or(99)
        }
        _ => supervisor::main(std::env::args_os().skip(1)),
    };
    ExitCode::from(u8::try_from(code).unwrap_or(3))
}
