//! Many jobs while those who drive them and those who look after their tasks are killed at random.

use std::fs;
use std::process::Command;

use crate::support::{Place, job, until, with_shared};

/// How many jobs, unless `PINNACE_CHAOS_JOBS` says otherwise.
const JOBS: u32 = 10;

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

/// Processes of this place's jobs: drivers and supervisors.
fn processes(place: &Place) -> Vec<String> {
    let state = place.state();
    let state = state.to_str().unwrap();
    let is_ours = |pid: &String| {
        let read = |file: &str| {
            let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let line = read("cmdline");
        let is_driver = line.contains("\0control\0") && read("environ").contains(state);
        let is_supervisor = line.contains("\0supervisor\0") && line.contains(state);
        is_driver || is_supervisor
    };
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .filter(is_ours)
        .collect()
}

#[test]
fn every_job_reaches_its_verdict_and_no_task_runs_twice_at_a_time() {
    let place = Place::new();
    fs::create_dir(place.path().join("shared")).unwrap();
    let count = std::env::var("PINNACE_CHAOS_JOBS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(JOBS);
    let mut dice = Dice(4711);
    let mut jobs = Vec::new();
    for number in 0..count {
        let code = [0, 0, 9][dice.below(3)];
        let time = ["0", "0.2", "0.6"][dice.below(3)];
        let command = format!(
            "exec 9> /mnt/shared/lock-{number}-$PAI_TASK_INDEX\n\
             flock -n 9 || {{ echo {number} >> /mnt/shared/twice; exit 77; }}\nsleep {time}\nexit {code}"
        );
        let tasks = 1 + dice.below(3) as u32;
        let name = format!("chaos{number}");
        let text = with_shared(&job(&name, &[("worker", tasks, (1, -1), &command)]));
        let file = place.file("chaos.yaml", &text);
        let said = place.pinnace(&["run", "-d", &file, "--storage", "shared=shared"]);
        jobs.push((said.succeeded().stdout.trim().to_owned(), code));
        let alive = processes(&place);
        if !alive.is_empty() && dice.below(4) > 0 {
            // It may have ended meanwhile.
            let _ = Command::new("kill")
                .args(["-9", &alive[dice.below(alive.len())]])
                .status();
        }
    }
    for (id, code) in &jobs {
        let said = place.pinnace(&["wait", id]);
        assert_eq!(said.code == Some(0), *code == 0, "{id} {code}: {said:?}");
    }
    assert!(!place.path().join("shared/twice").exists());
    until("all processes are gone", || processes(&place).is_empty());
}
