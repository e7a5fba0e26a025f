//! SSH in a task: a server on the task's own port, and a way from task to task.

use std::fmt::Write as _;

/// The lines of the start hook. The keys are words of the shell; the barrier has its minutes.
pub(super) fn lines(
    between_tasks: bool,
    public_keys: &[String],
    barrier: Option<u32>,
    out: &mut String,
) {
    out.push_str(include_str!("ssh/server.sh"));
    for key in public_keys {
        let _ = writeln!(
            out,
            "printf '%s\\n' {key} >> \"$pinnace_ssh/authorized_keys\""
        );
    }
    if between_tasks {
        out.push_str(include_str!("ssh/between.sh"));
    }
    out.push_str(include_str!("ssh/start.sh"));
    // Without keys there is no way to see whether the others answer.
    if let Some(minutes) = barrier.filter(|_| between_tasks) {
        let _ = writeln!(out, "pinnace_deadline=$(($(date +%s) + {minutes} * 60))");
        out.push_str(include_str!("ssh/barrier.sh"));
    }
}
