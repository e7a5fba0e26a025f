//! The live view, on a terminal as people have it.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::pty::{Winsize, openpty};
use nix::sys::termios::LocalFlags;

use crate::support::{DEADLINE, Place, job, until, with_shared};

/// A terminal: what a person would see, and whether anything went wrong on the way there.
struct Screen {
    width: usize,
    rows: Vec<Vec<char>>,
    row: usize,
    column: usize,
    /// Rows that have left the screen at its top.
    gone: Vec<String>,
    /// The beginning of an escape sequence.
    escape: String,
    /// What a careful program never does.
    mishaps: Vec<String>,
}

impl Screen {
    fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            rows: vec![Vec::new(); height],
            row: 0,
            column: 0,
            gone: Vec::new(),
            escape: String::new(),
            mishaps: Vec::new(),
        }
    }

    fn write(&mut self, text: &str) {
        for char in text.chars() {
            if !self.escape.is_empty() {
                self.escape.push(char);
                if char.is_ascii_alphabetic() {
                    let sequence = std::mem::take(&mut self.escape);
                    self.obey(&sequence);
                }
                continue;
            }
            match char {
                '\u{1b}' => self.escape.push(char),
                '\r' => self.column = 0,
                '\n' if self.row + 1 < self.rows.len() => self.row += 1,
                '\n' => {
                    let first: String = self.rows.remove(0).into_iter().collect();
                    self.gone.push(first.trim_end().to_owned());
                    self.rows.push(Vec::new());
                }
                char if char.is_control() => self.mishaps.push(format!("control {char:?}")),
                char => self.put(char),
            }
        }
    }

    fn put(&mut self, char: char) {
        // East Asian letters take two columns; others are not written by these tests.
        let wide = if char >= '\u{2e80}' { 2 } else { 1 };
        if self.column + wide > self.width {
            // A long path on the page at the end is not drawn again, and may wrap.
            if !self.text().contains(" after ") {
                self.mishaps.push(format!("wraps at {char:?}"));
            }
            self.column = 0;
            self.write("\n");
        }
        let row = &mut self.rows[self.row];
        row.resize(row.len().max(self.column + wide), ' ');
        row[self.column] = char;
        self.column += wide;
    }

    fn obey(&mut self, sequence: &str) {
        let number = sequence.trim_matches(|char: char| !char.is_ascii_digit());
        let number: usize = number.parse().unwrap_or(1);
        match sequence.chars().last() {
            Some('A') if number > self.row => self.mishaps.push(format!(
                "{number} rows up from row {}, which is above the screen",
                self.row
            )),
            Some('A') => self.row -= number,
            Some('J') => {
                self.rows[self.row].truncate(self.column);
                for row in self.rows.iter_mut().skip(self.row + 1) {
                    row.clear();
                }
            }
            Some('m') => {}
            _ => self.mishaps.push(format!("unknown {sequence:?}")),
        }
    }

    /// All that can be read, with what has scrolled away.
    fn text(&self) -> String {
        let rows = self.rows.iter();
        let rows = rows.map(|row| row.iter().collect::<String>().trim_end().to_owned());
        let lines: Vec<String> = self.gone.iter().cloned().chain(rows).collect();
        lines.join("\n").trim_end().to_owned()
    }
}

/// A program that runs on a terminal.
struct Session {
    terminal: File,
    program: Child,
    screen: Screen,
    /// The end of what was read, if it is no whole character.
    rest: Vec<u8>,
}

impl Session {
    /// Nothing if there is no `setsid`, which makes the terminal that of the program.
    fn start(place: &Place, arguments: &[&str], size: (u16, u16)) -> Option<Self> {
        Self::start_below(place, &[], arguments, size)
    }

    /// The same, started by another program, which gets its words.
    fn start_below(
        place: &Place,
        starter: &[&str],
        arguments: &[&str],
        (width, height): (u16, u16),
    ) -> Option<Self> {
        let known = Command::new("setsid").arg("--version").output().ok()?;
        assert!(known.status.success());
        let size = Winsize {
            ws_row: height,
            ws_col: width,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        let pair = openpty(Some(&size), None).unwrap();
        let stream = |fd: &OwnedFd| Stdio::from(fd.try_clone().unwrap());
        let plain = place.command(arguments);
        let mut command = Command::new("setsid");
        command
            .args(["--ctty", "--wait"])
            .args(starter)
            .arg(plain.get_program())
            .args(plain.get_args())
            .envs(
                plain
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .env("TERM", "xterm-256color")
            .current_dir(plain.get_current_dir().unwrap())
            .stdin(stream(&pair.slave))
            .stdout(stream(&pair.slave))
            .stderr(stream(&pair.slave));
        let program = command.spawn().unwrap();
        drop((command, pair.slave));
        Some(Self {
            terminal: File::from(pair.master),
            program,
            screen: Screen::new(width.into(), height.into()),
            rest: Vec::new(),
        })
    }

    /// Reads what has come; false if nothing will come any more.
    fn read(&mut self) -> bool {
        let mut ready = [PollFd::new(self.terminal.as_fd(), PollFlags::POLLIN)];
        if poll(&mut ready, PollTimeout::from(50_u8)).unwrap() == 0 {
            return true;
        }
        let mut buffer = [0; 4096];
        // The kernel's word for a terminal that nobody has open is an error.
        let count = self.terminal.read(&mut buffer).unwrap_or(0);
        self.rest.extend_from_slice(&buffer[..count]);
        let whole = match std::str::from_utf8(&self.rest) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let text: Vec<u8> = self.rest.drain(..whole).collect();
        self.screen.write(std::str::from_utf8(&text).unwrap());
        count > 0
    }

    /// Reads until the screen shows something.
    fn until(&mut self, what: &str) {
        let begin = Instant::now();
        while !self.screen.text().contains(what) {
            let more = self.read();
            let text = self.screen.text();
            assert!(more || text.contains(what), "no `{what}` in\n{text}");
            assert!(begin.elapsed() < DEADLINE, "no `{what}` in\n{text}");
        }
    }

    fn press(&mut self, keys: &str) {
        self.terminal.write_all(keys.as_bytes()).unwrap();
    }

    /// Reads to the end; what is then seen, and the exit status.
    fn end(mut self) -> (String, Option<i32>) {
        let begin = Instant::now();
        while self.read() {
            assert!(begin.elapsed() < DEADLINE, "{}", self.screen.text());
        }
        let status = self.program.wait().unwrap();
        assert_eq!(self.screen.mishaps, [""; 0], "{}", self.screen.text());
        (self.screen.text(), status.code())
    }
}

/// Says things that no terminal can show on one line, then waits for a file.
const TALK: &str = "printf '\\033[31mred\\033[0m\\t%0300d\\n' 7\nprintf '\\346\\250\\241%.0s' $(seq 150); echo\n\
                    while [ ! -e /mnt/shared/go ]; do sleep 0.05; done";

#[test]
fn the_view_is_drawn_in_place_on_terminals_of_any_size_and_leaves_no_rubbish() {
    for size in [(80, 24), (200, 50), (80, 6)] {
        let place = Place::new();
        std::fs::create_dir(place.path().join("shared")).unwrap();
        let roles = [("worker", 3, (2, 3), TALK), ("server", 1, (-1, -1), TALK)];
        let file = place.file("talk.yaml", &with_shared(&job("talk", &roles)));
        let arguments = ["run", &file, "--storage", "shared=shared"];
        let Some(mut session) = Session::start(&place, &arguments, size) else {
            return;
        };
        session.until(" running ");
        if size.1 > 6 {
            session.until("0/3 succeeded, the job succeeds at 3; 0 failed, it fails at 2");
            session.until("server[0]      running");
            session.until("模 模 模");
        }
        // What is typed does not show.
        session.press("rubbish\r");
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_millis(300) {
            session.read();
        }
        place.file("shared/go", "");
        let (text, code) = session.end();
        assert_eq!(code, Some(0), "{text}");
        let id = place.show("talk")["id"].as_str().unwrap().to_owned();
        assert!(text.contains(&format!("{id} succeeded after ")), "{text}");
        for rubbish in ["rubbish", "running", "0/3 succeeded"] {
            assert!(!text.contains(rubbish), "{rubbish} in\n{text}");
        }
    }
}

#[test]
fn many_tasks_are_summed_up_on_the_screen_and_failures_listed() {
    let place = Place::new();
    std::fs::create_dir(place.path().join("shared")).unwrap();
    let command = "[ $PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX = 7 ] && exit 3\n\
                   while [ ! -e /mnt/shared/go ]; do sleep 0.3; done";
    let text = with_shared(&job("many", &[("worker", 60, (9, 59), command)]));
    let file = place.file("many.yaml", &text.replace("memoryMB: 64", "memoryMB: 8"));
    let arguments = ["run", &file, "--storage", "shared=shared"];
    let Some(mut session) = Session::start(&place, &arguments, (100, 24)) else {
        return;
    };
    session.until("59 running, 0/59 succeeded, the job succeeds at 59; 1 failed, it fails at 9");
    session.until("worker[7]      failed");
    assert!(!session.screen.text().contains("worker[8]"));
    place.file("shared/go", "");
    let (text, code) = session.end();
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn the_first_ctrl_c_stops_gracefully_and_the_second_kills() {
    let stubborn = "trap 'echo told' TERM\necho begun\nwhile true; do sleep 0.1 || true; done";
    let gentle = "trap 'exit 0' TERM\necho begun\nwhile true; do sleep 0.1; done";
    for (command, presses) in [(gentle, 1), (stubborn, 2)] {
        let place = Place::new();
        let file = place.file(
            "stop.yaml",
            &job("stop", &[("worker", 1, (1, -1), command)]),
        );
        let Some(mut session) = Session::start(&place, &["run", &file], (80, 24)) else {
            return;
        };
        session.until("begun");
        session.press("\u{3}");
        if presses == 2 {
            session.until("stopping; Ctrl-C once more kills the tasks");
            session.until("told");
            session.press("\u{3}");
        }
        let (text, code) = session.end();
        assert_eq!(code, Some(130), "{text}");
        assert!(text.contains(" stopped after "), "{text}");
        let report = &place.show("stop")["tasks"][0]["facts"]["report"];
        assert_eq!(report["killed"], presses == 2, "{report}");
    }
}

#[test]
fn a_terminal_that_stands_still_does_not_hold_the_job_up() {
    let place = Place::new();
    place.folder("shared");
    let command = "mkdir /mnt/shared/tried-$PAI_TASK_INDEX && exit 9\nsleep 1";
    let text = with_shared(&job("still", &[("worker", 30, (1, 30), command)]));
    let text = text
        .replace("type: job\n", "type: job\njobRetryCount: 30\n")
        .replace("memoryMB: 64", "memoryMB: 8");
    let file = place.file("still.yaml", &text);
    let arguments = ["run", &file, "--storage", "shared=shared"];
    let Some(session) = Session::start(&place, &arguments, (200, 60)) else {
        return;
    };
    until("the job succeeds", || {
        let said = place.pinnace(&["show", "still", "-o", "json"]);
        said.code == Some(0) && said.json()["state"] == "SUCCEEDED"
    });
    let (text, code) = session.end();
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains(" succeeded after "), "{text}");
}

#[test]
fn after_a_suspension_the_view_is_drawn_anew_below() {
    let place = Place::new();
    place.folder("shared");
    let file = place.file(
        "pause.yaml",
        &with_shared(&job("pause", &[("worker", 1, (1, -1), TALK)])),
    );
    let arguments = ["run", &file, "--storage", "shared=shared"];
    let shell = [
        "bash",
        "-mc",
        "\"$@\"; echo something else; read -r _; fg",
        "x",
    ];
    let Some(mut session) = Session::start_below(&place, &shell, &arguments, (80, 24)) else {
        return;
    };
    let echoes = |session: &Session| {
        let modes = nix::sys::termios::tcgetattr(&session.terminal).unwrap();
        modes.local_flags.contains(LocalFlags::ECHO)
    };
    session.until("worker[0]      running");
    assert!(!echoes(&session));
    session.press("\u{1a}");
    session.until("something else");
    assert!(echoes(&session));
    session.press("\r");
    let is_below = |session: &Session| {
        let text = session.screen.text();
        let (_, below) = text.split_once("something else").unwrap();
        below.contains("worker[0]      running")
    };
    let begin = Instant::now();
    while !is_below(&session) {
        session.read();
        assert!(begin.elapsed() < DEADLINE, "{}", session.screen.text());
    }
    until("nothing that is typed shows", || !echoes(&session));
    place.file("shared/go", "");
    let (text, code) = session.end();
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("something else"), "{text}");
}

#[test]
fn a_secret_is_asked_for_without_an_echo() {
    let place = Place::new();
    let command = "printf %s '<% $secrets.token %>' | wc -c";
    let file = place.file("ask.yaml", &job("ask", &[("worker", 1, (1, -1), command)]));
    let arguments = ["run", "-q", &file, "--secret", "token=-"];
    let Some(mut session) = Session::start(&place, &arguments, (80, 24)) else {
        return;
    };
    session.until("value of the secret `token`:");
    session.press("open-sesame\r");
    let (text, code) = session.end();
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("worker[0] | 11"), "{text}");
    assert!(!text.contains("sesame"), "{text}");

    // Nobody is asked for the sake of a file that cannot be run.
    let text = std::fs::read_to_string(&file).unwrap();
    let wrong = place.file(
        "wrong.yaml",
        &text.replace("dockerImage: image", "dockerImage: other"),
    );
    let wrong = ["run", "-q", &wrong, "--secret", "token=-"];
    let Some(session) = Session::start(&place, &wrong, (80, 24)) else {
        return;
    };
    let (text, code) = session.end();
    assert_eq!(code, Some(2), "{text}");
    assert!(!text.contains("value of the secret"), "{text}");

    // Whoever thinks better of it gets the terminal back as it was, and nothing is stored.
    let stored = std::fs::read_dir(place.state().join("jobs"))
        .unwrap()
        .count();
    let Some(mut session) = Session::start(&place, &arguments, (80, 24)) else {
        return;
    };
    session.until("value of the secret `token`:");
    session.press("\u{3}");
    until("the program ends", || {
        session.program.try_wait().unwrap().is_some()
    });
    let modes = nix::sys::termios::tcgetattr(&session.terminal).unwrap();
    assert!(
        modes
            .local_flags
            .contains(nix::sys::termios::LocalFlags::ECHO)
    );
    let now = std::fs::read_dir(place.state().join("jobs"))
        .unwrap()
        .count();
    assert_eq!(now, stored);
}
