//! What each task of a role does, in order.

use std::fmt::Write as _;

use pinnace_core::plan::{Action, Event, OnFailure, Role, Step};
use pinnace_core::text::Text;
use pinnace_core::words;

use super::page::{Line, Look};
use super::plan::{View, line_of, plain};

/// How far the lines of a step are indented.
const LINES: usize = 7;

impl View<'_> {
    pub(super) fn steps(&mut self, role: &Role, path: &str) {
        self.page.labelled(2, "steps", 0, &Line::default(), "");
        let mut number = 0;
        for (index, mount) in role.mounts.iter().enumerate() {
            number += 1;
            let path = format!("{path}.mounts[{index}]");
            let origin = self.origin(&format!("{path}.name"));
            self.step_title(
                number,
                "before the start",
                &format!(" · {}", mount.name),
                &origin,
            );
            let words = format!(
                "mounts the storage {} at {}",
                plain(&mount.storage),
                plain(&mount.target)
            );
            let origin = self.origin(&format!("{path}.target"));
            self.page.row(LINES, &Line::plain(words), &origin);
        }
        for (index, step) in role.before.iter().enumerate() {
            number += 1;
            self.step(number, step, &format!("{path}.before[{index}]"));
        }
        number += 1;
        self.step_title(number, "command", "", "");
        self.lines(&role.command, &format!("{path}.command"));
        for (index, step) in role.after.iter().enumerate() {
            number += 1;
            self.step(number, step, &format!("{path}.after[{index}]"));
        }
    }

    fn step_title(&mut self, number: usize, when: &str, who: &str, origin: &str) {
        let line = Line::default()
            .with(Look::Title, format!("{number:>2}  {when}"))
            .with(Look::Plain, who);
        self.page.row(3, &line, origin);
    }

    fn step(&mut self, number: usize, step: &Step, path: &str) {
        let ignored = match (step.on_failure, step.on) {
            (OnFailure::Fail, _) => "",
            (OnFailure::Ignore, Event::Failure) => "",
            (OnFailure::Ignore, _) => " · its failure is ignored",
        };
        let who = format!(" · {}{ignored}", step.name);
        let origin = self.origin(&format!("{path}.name"));
        self.step_title(number, words::event(step.on), &who, &origin);
        self.action(&step.action, &format!("{path}.action"));
    }

    fn action(&mut self, action: &Action, path: &str) {
        match action {
            Action::Shell { commands } => self.lines(commands, &format!("{path}.commands")),
            Action::Ssh {
                between_tasks,
                public_keys,
                barrier,
                barrier_timeout_minutes,
            } => {
                let mut line = "an SSH server".to_owned();
                if *between_tasks {
                    line.push_str("; tasks of the job can log in to each other");
                }
                if *barrier {
                    let minutes = words::count(*barrier_timeout_minutes as usize, "minute");
                    let _ = write!(line, "; the command waits up to {minutes} for all of them");
                }
                let origin = self.origin(&format!("{path}.betweenTasks"));
                self.page.row(LINES, &Line::plain(line), &origin);
                for (index, key) in public_keys.iter().enumerate() {
                    let origin = self.origin(&format!("{path}.publicKeys[{index}]"));
                    let line = Line::plain(format!("key {}", key_in_short(&plain(key))));
                    self.page.row(LINES, &line, &origin);
                }
            }
            Action::GitClone {
                repository,
                options,
                directory,
            } => {
                let mut words = vec!["git clone".to_owned()];
                words.extend(options.iter().map(plain));
                words.push(plain(repository));
                words.extend(directory.as_ref().map(plain));
                let origin = self.origin(&format!("{path}.repository"));
                self.page.row(LINES, &Line::plain(words.join(" ")), &origin);
            }
            Action::TensorBoard { port, logdir } => {
                let port = port.map_or("a free port".to_owned(), |port| format!("port {port}"));
                let origin = self.origin(&format!("{path}.port"));
                self.page.row(
                    LINES,
                    &Line::plain(format!("TensorBoard on {port}")),
                    &origin,
                );
                for (name, folder) in logdir {
                    let origin = self.origin(&format!("{path}.logdir.{name}"));
                    let line = Line::plain(format!("{name}: {}", plain(folder)));
                    self.page.row(LINES + 2, &line, &origin);
                }
            }
        }
    }

    fn lines(&mut self, lines: &[Text], path: &str) {
        for (index, text) in lines.iter().enumerate() {
            let origin = self.origin(&format!("{path}[{index}]"));
            self.page.script_row(LINES, &line_of(text), &origin);
        }
    }
}

/// A public key without most of its letters; `explain PATH` shows it whole.
fn key_in_short(key: &str) -> String {
    let mut words = key.split_whitespace();
    let (kind, body) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    let tail: String = body
        .chars()
        .skip(body.chars().count().saturating_sub(8))
        .collect();
    let comment: Vec<&str> = words.collect();
    format!("{kind} …{tail} {}", comment.join(" "))
}
