//! Many jobs while those who drive them and those who look after their tasks are killed at random.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::{
    Place, has_ended, job, processes_of, say, state_of_launches, until, with_shared,
};

/// How many jobs, unless `PINNACE_CHAOS_JOBS` says otherwise; `PINNACE_CHAOS_SEED` makes other ones.
const JOBS: u32 = 12;

/// A few random numbers, the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % bound
    }
}

/// A job with the end that its exit codes imply, whatever else happens.
struct Wager {
    name: String,
    text: String,
    succeeds: bool,
}

/// No two processes of a task hold its lock at a time, in whichever attempt they are.
const LOCK: &str = "exec 9> /mnt/shared/lock-$PAI_CURRENT_TASK_ROLE_NAME-$PAI_TASK_INDEX-JOB\n\
                    flock -n 9 || { echo JOB >> /mnt/shared/twice; exit 77; }\n";
/// Fails once, and then no more.
const ONCE: &str =
    "mark=/mnt/shared/mark-$PAI_TASK_INDEX-JOB\n[ -e $mark ] && exit 0\ntouch $mark\nexit 9";
const FOREVER: &str = "while true; do sleep 0.2; done";

fn wager(number: u32, dice: &mut Dice) -> Wager {
    let name = format!("chaos{number}");
    let time = ["0", "0.2", "0.6"][dice.below(3)];
    let tasks = 1 + dice.below(3) as u32;
    let ends = |code: &str| format!("sleep {time}\nexit {code}");
    let one_fails = format!("sleep {time}\n[ $PAI_TASK_INDEX = 0 ] && exit 9\nexit 0");
    let (roles, change, succeeds) = match dice.below(7) {
        0 => (vec![("worker", tasks, (1, -1), ends("0"))], "", true),
        1 => (vec![("worker", tasks, (1, -1), ends("9"))], "", false),
        2 => (vec![("worker", tasks, (1, -1), one_fails)], "", false),
        3 => {
            let roles = vec![
                ("master", 1, (1, 1), ends("0")),
                ("worker", tasks, (1, -1), FOREVER.to_owned()),
            ];
            (roles, "", true)
        }
        4 => {
            let roles = vec![
                ("ps", 1, (1, -1), FOREVER.to_owned()),
                ("worker", tasks, (1, tasks as i32), one_fails),
            ];
            (roles, "", false)
        }
        5 => (vec![("worker", 1, (1, -1), ONCE.to_owned())], "job", true),
        _ => (
            vec![("worker", tasks, (1, -1), ONCE.to_owned())],
            "task",
            true,
        ),
    };
    let commands: Vec<String> = roles
        .iter()
        .map(|role| (LOCK.to_owned() + &role.3).replace("JOB", &name))
        .collect();
    let roles: Vec<(&str, u32, (i32, i32), &str)> = roles
        .iter()
        .zip(&commands)
        .map(|(role, command)| (role.0, role.1, role.2, &**command))
        .collect();
    let text = with_shared(&job(&name, &roles));
    let text = match change {
        "job" => text.replace("type: job\n", "type: job\njobRetryCount: 1\n"),
        "task" => {
            text.replace("    instances:", "    taskRetryCount: 1\n    instances:")
                + "extras:\n  gangAllocation: false\n"
        }
        _ => text,
    };
    Wager {
        name,
        text,
        succeeds,
    }
}

/// Kills commands in the foreground, drivers and supervisors, again and again.
fn kill_at_random(place: &Place, dice: Dice, is_over: &AtomicBool, kills: &[AtomicU32; 3]) {
    let mut dice = dice;
    while !is_over.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(20 + dice.below(60) as u64));
        let alive: Vec<(i32, usize)> = processes_of(&place.state())
            .into_iter()
            .filter_map(|(pid, line)| {
                let kinds = ["\0run\0", "\0control\0", "\0supervisor\0"];
                Some((pid, kinds.iter().position(|kind| line.contains(kind))?))
            })
            .collect();
        if !alive.is_empty() && dice.below(4) > 0 {
            let (pid, kind) = alive[dice.below(alive.len())];
            if kill(Pid::from_raw(pid), Signal::SIGKILL).is_ok() {
                kills[kind].fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// Hands a job in, one way or another, until it is taken.
fn hand_in(place: &Place, wager: &Wager, in_front: bool, shown: &mut Vec<Child>) {
    let file = place.file(&format!("{}.yaml", wager.name), &wager.text);
    loop {
        let arguments = ["run", &file, "--storage", "shared=shared"];
        if in_front {
            let run = place
                .command(&arguments)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn();
            shown.push(run.unwrap());
        } else {
            let said = place.pinnace(&[&arguments[..], &["--detach"]].concat());
            assert!(matches!(said.code, Some(0) | None), "{said:?}");
        }
        let mut is_taken = false;
        until("the job is there, or its command dead", || {
            is_taken = place.pinnace(&["show", &wager.name]).code == Some(0);
            is_taken || !in_front || shown.last_mut().is_some_and(has_ended)
        });
        // It may have been taken just before its command died.
        if is_taken || place.pinnace(&["show", &wager.name]).code == Some(0) {
            return;
        }
    }
}

#[test]
fn every_job_reaches_its_verdict_and_no_task_runs_twice_at_a_time() {
    let place = Place::new();
    place.folder("shared");
    let asked = |name| std::env::var(name).ok()?.parse().ok();
    let count = asked("PINNACE_CHAOS_JOBS").unwrap_or(JOBS);
    let seed = asked("PINNACE_CHAOS_SEED").unwrap_or(4711);
    let mut dice = Dice(seed.into());
    let wagers: Vec<Wager> = (0..count).map(|number| wager(number, &mut dice)).collect();
    let is_over = AtomicBool::new(false);
    let kills = [const { AtomicU32::new(0) }; 3];
    let mut shown = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| kill_at_random(&place, Dice(seed.into()), &is_over, &kills));
        for wager in &wagers {
            hand_in(&place, wager, dice.below(3) == 0, &mut shown);
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let mut tries = BTreeMap::new();
    for wager in &wagers {
        let said = place.pinnace(&["wait", &wager.name]);
        assert_eq!(
            said.code == Some(0),
            wager.succeeds,
            "{}: {said:?}",
            wager.name
        );
        let attempt = place.show(&wager.name)["attempt"].as_u64().unwrap();
        *tries.entry(attempt).or_insert(0) += 1;
    }
    for run in &mut shown {
        run.wait().unwrap();
    }
    say(&format!(
        "{count} jobs; killed {kills:?} commands, drivers and supervisors; jobs by retries: {tries:?}"
    ));
    assert!(!place.path().join("shared/twice").exists());
    nothing_is_left(&place);
}

/// No process, control group, mount, port or temporary file of any job.
fn nothing_is_left(place: &Place) {
    let state = place.state();
    until("all processes are gone", || processes_of(&state).is_empty());
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.contains(state.to_str().unwrap()), "{mounts}");
    let register = place
        .temporary()
        .join(format!("pinnace-ports-{}", nix::unistd::geteuid()));
    let inode = format!(":{} ", fs::metadata(register).unwrap().ino());
    let locks = fs::read_to_string("/proc/locks").unwrap();
    assert!(!locks.contains(&inode), "{locks}");
    let launches = state_of_launches(&state);
    assert!(!launches.is_empty());
    for launch in launches {
        for group in &launch.groups {
            assert!(!group.exists(), "{}", group.display());
        }
        for name in ["control.sock", "root", "memory", "tmp"] {
            assert!(
                !launch.folder.join(name).exists(),
                "{} {name}",
                launch.folder.display()
            );
        }
        for task in fs::read_dir(launch.folder.join("tasks"))
            .into_iter()
            .flatten()
            .flatten()
        {
            assert!(
                !Path::new(&task.path()).join("changes").exists(),
                "{}",
                task.path().display()
            );
        }
    }
}
