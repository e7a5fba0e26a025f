//! What the supervisor costs, in one run on one machine.
//!
//! `cargo bench -p pinnace-exec` prints, for 1,000 trivial tasks in one attempt, the CPU time per task of everything
//! (supervisor, sandbox, shell) at each level, beside a plain loop that starts the same shell; and the throughput of one
//! task's log beside `cat > file`. CPU time is user and system time of all processes, which other load disturbs least.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use pinnace_core::plan::{Completion, Placement, Plan, Resources, Role};
use pinnace_core::text::SecretName;
use pinnace_exec::local::{self, Cursor, Launcher};
use pinnace_exec::{Attempt, Happening, Level, Secrets};

fn main() {
    let tasks: u32 = argument("tasks").unwrap_or(1000);
    let bare = bare_loop(tasks);
    println!(
        "{:<28} {:>9} {:>9} {:>12}",
        "", "wall ms", "CPU ms", "CPU ms/task"
    );
    show("a loop of `sh /dev/null`", bare, tasks);
    for level in [Level::Plain, Level::ReadOnly, Level::Overlay] {
        for (limits, words) in [(false, "no limits"), (true, "limits")] {
            let cost = attempt(tasks, level, limits, "true", &Secrets::default());
            show(&format!("{level:?}, {words}"), cost, tasks);
            let over = (cost.1.as_secs_f64() - bare.1.as_secs_f64()) * 1000.0 / f64::from(tasks);
            println!("{:<28} {over:>31.3} over the loop", "");
        }
    }
    let mebibytes: u32 = argument("mebibytes").unwrap_or(1024);
    let command = format!(
        "i=0; while [ $i -lt {mebibytes} ]; do cat {}; i=$((i+64)); done",
        sample().display()
    );
    let folder = tempfile::tempdir().unwrap();
    let begin = Instant::now();
    let file = std::fs::File::create(folder.path().join("file")).unwrap();
    Command::new("sh")
        .args(["-c", &format!("({command}) | cat")])
        .stdout(file)
        .status()
        .unwrap();
    let rate = |time: Duration| f64::from(mebibytes) / time.as_secs_f64();
    println!(
        "\n{mebibytes} MiB through `| cat > file`: {:.0} MiB/s",
        rate(begin.elapsed())
    );
    let secrets: Secrets = [(SecretName("a".into()), "correct horse battery".to_owned())]
        .into_iter()
        .collect();
    for (secrets, words) in [
        (Secrets::default(), "without secrets"),
        (secrets, "with a secret"),
    ] {
        let (wall, cpu) = attempt(1, Level::Plain, false, &command, &secrets);
        println!(
            "{mebibytes} MiB to `stdout`, {words}: {:.0} MiB/s ({:.0} MiB per second of CPU)",
            rate(wall),
            rate(cpu)
        );
    }
    let _ = std::fs::remove_file(sample());
}

fn argument(name: &str) -> Option<u32> {
    let start = format!("{name}=");
    std::env::args().find_map(|word| word.strip_prefix(&start)?.parse().ok())
}

/// 64 MiB of text in lines.
fn sample() -> PathBuf {
    let path = std::env::temp_dir().join("pinnace-bench-sample");
    if !path.exists() {
        let line = "step 1234 loss 0.123456 accuracy 0.98765 learning rate 0.0001 and so on and so forth\n";
        let mut text = line.repeat((64 << 20) / line.len() + 1);
        text.truncate(64 << 20);
        std::fs::write(&path, text).unwrap();
    }
    path
}

type Cost = (Duration, Duration);

fn show(name: &str, (wall, cpu): Cost, tasks: u32) {
    let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
    println!(
        "{name:<28} {:>9.0} {:>9.0} {:>12.3}",
        milliseconds(wall),
        milliseconds(cpu),
        milliseconds(cpu) / f64::from(tasks)
    );
}

fn children() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let time = |value: nix::sys::time::TimeVal| {
        Duration::from_micros(value.tv_sec() as u64 * 1_000_000 + value.tv_usec() as u64)
    };
    time(usage.user_time()) + time(usage.system_time())
}

fn measured(work: impl FnOnce()) -> Cost {
    let (begin, before) = (Instant::now(), children());
    work();
    (begin.elapsed(), children().saturating_sub(before))
}

/// The same shell with the same environment, without anything around it.
fn bare_loop(tasks: u32) -> Cost {
    let (_, shell) = pinnace_exec::shell(None);
    measured(|| {
        for _ in 0..tasks {
            Command::new(shell)
                .arg("/dev/null")
                .stdin(Stdio::null())
                .status()
                .unwrap();
        }
    })
}

fn attempt(tasks: u32, level: Level, limits: bool, command: &str, secrets: &Secrets) -> Cost {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("attempt");
    let mut attempt = Attempt::whole("bench", 0, "ann", plan(tasks, command));
    attempt.settings.sandbox = level;
    attempt.settings.enforce_limits = limits;
    if let Some(role) = attempt.plan.roles.get_mut("worker")
        && limits
    {
        (role.resources.cpu, role.resources.memory_mb) = (1, 512);
    }
    measured(|| {
        let launcher = Launcher {
            program: PathBuf::from(env!("CARGO_BIN_EXE_pinnace-supervisor")),
            arguments: Vec::new(),
        };
        let mut handle = local::launch(&launcher, &folder, &attempt, secrets).unwrap();
        handle.wait();
        check(&folder, tasks, level);
    })
}

fn check(folder: &Path, tasks: u32, level: Level) {
    let (events, _) = local::observe(folder, Cursor::default()).unwrap();
    let succeeded = events.iter().filter(|event| {
        matches!(&event.what, Happening::Exited { report } if report.succeeded() && report.level == level)
    });
    assert_eq!(succeeded.count(), tasks as usize);
}

fn plan(tasks: u32, command: &str) -> Plan {
    let role = Role {
        instances: tasks,
        resources: Resources {
            cpu: 1000,
            memory_mb: 1 << 30,
            ..Resources::default()
        },
        command: vec![command.into()],
        completion: Completion {
            min_failed: Some(1),
            min_succeeded: None,
        },
        ..Role::default()
    };
    Plan {
        name: "bench".to_owned(),
        roles: [("worker".to_owned(), role)].into_iter().collect(),
        placement: Placement {
            virtual_cluster: "default".to_owned(),
            gang: true,
            ..Placement::default()
        },
        ..Plan::default()
    }
}
