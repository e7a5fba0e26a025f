//! The supervisor as a program of its own, for tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    let code = pinnace_exec::local::supervisor::main(std::env::args_os().skip(1));
    ExitCode::from(u8::try_from(code).unwrap_or(3))
}
