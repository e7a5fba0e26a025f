//! What the live view shows of a job, fitted into the rows of the terminal.

use std::fmt::Write as _;

use pinnace_control::view::RoleView;
use pinnace_core::lifecycle::Shown;
use pinnace_core::words;
use unicode_width::UnicodeWidthChar as _;

use super::glance::TaskGlance;

/// A terminal with fewer rows gets this many lines all the same.
const FEWEST_LINES: usize = 3;

/// A job at one moment.
#[derive(Debug)]
pub(super) struct Picture<'a> {
    /// The job itself.
    pub(super) head: String,
    /// What else is to be said, the most important last.
    pub(super) notes: Vec<String>,
    pub(super) roles: &'a [RoleView],
    pub(super) tasks: &'a [TaskGlance],
}

impl Picture<'_> {
    /// Whether every task gets a line.
    pub(super) fn is_whole(&self, height: usize) -> bool {
        let roles = if self.has_choices() {
            self.roles.len()
        } else {
            0
        };
        1 + roles + self.tasks.len() + self.notes.len() <= room(height)
    }

    /// The lines, fewer than the terminal has rows: where the cursor stands is a row as well. Where there is no room for
    /// all tasks, roles are summed up and failures listed.
    pub(super) fn lines(
        &self,
        height: usize,
        task_line: impl Fn(&TaskGlance) -> String,
    ) -> Vec<String> {
        let room = room(height);
        let mut lines = vec![self.head.clone()];
        if self.is_whole(height) {
            if self.has_choices() {
                lines.extend(self.roles.iter().map(policy_line));
            }
            lines.extend(self.tasks.iter().map(task_line));
            lines.extend(self.notes.iter().cloned());
            return lines;
        }
        let notes = self.notes.len().min(room.saturating_sub(lines.len()));
        let left = room.saturating_sub(lines.len() + notes);
        extend(
            &mut lines,
            left,
            "roles",
            self.roles.iter().map(sum_line),
            self.roles.len(),
        );
        let left = room.saturating_sub(lines.len() + notes);
        let failed = || {
            let is_failed = |task: &&TaskGlance| task.state == Shown::Failed;
            self.tasks.iter().filter(is_failed)
        };
        let failures = failed().map(task_line);
        extend(&mut lines, left, "failed tasks", failures, failed().count());
        let from = self.notes.len() - notes;
        lines.extend(self.notes.iter().skip(from).cloned());
        lines
    }

    /// A job of a single task is decided by that, which needs no words.
    fn has_choices(&self) -> bool {
        self.tasks.len() > 1
    }
}

fn room(height: usize) -> usize {
    height.saturating_sub(1).max(FEWEST_LINES)
}

/// Adds as many lines as there is room for, the last of which tells how many are not shown. Only lines that are shown
/// are made: each may cost a look at a log.
fn extend(
    lines: &mut Vec<String>,
    room: usize,
    what: &str,
    all: impl Iterator<Item = String>,
    count: usize,
) {
    if count <= room {
        lines.extend(all);
    } else if let Some(shown) = room.checked_sub(1) {
        lines.extend(all.take(shown));
        lines.push(format!("  … and {} more {what}", count - shown));
    }
}

fn policy_line(role: &RoleView) -> String {
    format!("  {:<14} {}", role.name, progress(role))
}

fn sum_line(role: &RoleView) -> String {
    let mut line = format!("  {:<14}", role.name);
    for (count, what) in [
        (role.waiting, "waiting"),
        (role.running, "running"),
        (role.ending, "ending"),
        (role.stopped, "stopped"),
    ] {
        if count > 0 {
            let _ = write!(line, " {count} {what},");
        }
    }
    let _ = write!(line, " {}", progress(role));
    line
}

/// How far a role is from what decides the job.
fn progress(role: &RoleView) -> String {
    words::progress(role.succeeded, role.failed, role.total, role.completion)
}

/// At most so many columns.
pub(super) fn cut(line: &str, width: usize) -> String {
    let mut left = width;
    let fits = |char: &char| match char.width().unwrap_or(0) {
        wide if wide > left => false,
        wide => {
            left -= wide;
            true
        }
    };
    line.chars().take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use pinnace_core::plan::Completion;
    use pinnace_exec::TaskId;

    use super::*;

    fn role(name: &str, total: u32, failed: u32) -> RoleView {
        RoleView {
            name: name.to_owned(),
            total,
            waiting: 0,
            running: total - failed,
            ending: 0,
            succeeded: 0,
            failed,
            stopped: 0,
            completion: Completion {
                min_failed: Some(500),
                min_succeeded: Some(total),
            },
        }
    }

    fn tasks(total: u32, failed: u32) -> Vec<TaskGlance> {
        let task = |index| {
            let role = "worker".to_owned();
            let state = if index < failed {
                Shown::Failed
            } else {
                Shown::Running
            };
            TaskGlance {
                id: TaskId { role, index },
                state,
                retries: 0,
            }
        };
        (0..total).map(task).collect()
    }

    fn lines(picture: &Picture<'_>, height: usize) -> Vec<String> {
        picture.lines(height, |task| format!("  {}", task.id))
    }

    #[test]
    fn a_thousand_tasks_fit_any_terminal_and_failures_are_listed() {
        let picture = Picture {
            head: "job running".to_owned(),
            notes: vec!["stopping".to_owned()],
            roles: &[role("worker", 1000, 40), role("server", 1, 0)],
            tasks: &tasks(1000, 40),
        };
        for height in 1..60 {
            let lines = lines(&picture, height);
            assert!(lines.len() < height.max(4), "{height}: {lines:#?}");
            assert_eq!(lines.last().map(String::as_str), Some("stopping"));
        }
        let lines = lines(&picture, 24);
        assert_eq!(
            lines.get(1).map(String::as_str),
            Some(
                "  worker         960 running, 0/1000 succeeded, the job succeeds at 1000; 40 failed, it fails at 500"
            )
        );
        assert_eq!(lines.get(3).map(String::as_str), Some("  worker[0]"));
        assert_eq!(
            lines.get(21).map(String::as_str),
            Some("  … and 22 more failed tasks")
        );
    }

    #[test]
    fn more_roles_than_rows_are_counted() {
        let roles: Vec<RoleView> = (0..50).map(|_| role("many", 1, 0)).collect();
        let picture = Picture {
            head: "job".to_owned(),
            notes: Vec::new(),
            roles: &roles,
            tasks: &tasks(50, 0),
        };
        let lines = lines(&picture, 10);
        assert_eq!(lines.len(), 9);
        assert_eq!(
            lines.last().map(String::as_str),
            Some("  … and 43 more roles")
        );
    }

    #[test]
    fn few_tasks_have_a_line_each_below_the_policy_of_their_role() {
        let picture = Picture {
            head: "job".to_owned(),
            notes: Vec::new(),
            roles: &[role("worker", 2, 0)],
            tasks: &tasks(2, 0),
        };
        assert_eq!(lines(&picture, 24).len(), 4);
        let single = Picture {
            tasks: &tasks(1, 0),
            ..picture
        };
        assert_eq!(lines(&single, 24), ["job", "  worker[0]"]);
    }

    #[test]
    fn a_line_is_cut_by_columns_not_by_characters() {
        assert_eq!(cut("abc", 2), "ab");
        assert_eq!(cut("模型模型", 5), "模型");
        assert_eq!(cut("e\u{301}e\u{301}e", 2), "e\u{301}e\u{301}");
    }
}
