//! How commands end, what that is called, and whether they are tried again: the tables of exit codes and retries.

use std::path::Path;

use crate::support::{Place, job, skipped, until};

/// A way to end, what it is called, and which line of the retry table holds for it.
struct Ending {
    name: &'static str,
    command: &'static str,
    code: i64,
    phrase: &'static str,
    behaviour: &'static str,
}

const fn ending(
    name: &'static str,
    command: &'static str,
    code: i64,
    phrase: &'static str,
    behaviour: &'static str,
) -> Ending {
    Ending {
        name,
        command,
        code,
        phrase,
        behaviour,
    }
}

const ENDINGS: &[Ending] = &[
    ending(
        "hup",
        "kill -HUP $$",
        255,
        "PAIRuntimeUnknownFailed",
        "unknown",
    ),
    ending(
        "int",
        "kill -INT $$",
        130,
        "ContainerSigIntReceived",
        "transient",
    ),
    // `bash` itself does not heed this one.
    ending(
        "quit",
        "exec sh -c 'ulimit -c 0; kill -QUIT $$'",
        131,
        "ContainerSigQuitReceived",
        "transient",
    ),
    ending(
        "ill",
        "ulimit -c 0; kill -ILL $$",
        132,
        "ContainerSigIllReceived",
        "permanent",
    ),
    ending(
        "trap",
        "ulimit -c 0; kill -TRAP $$",
        255,
        "PAIRuntimeUnknownFailed",
        "unknown",
    ),
    ending(
        "abrt",
        "ulimit -c 0; kill -ABRT $$",
        134,
        "ContainerSigAbrtReceived",
        "unknown",
    ),
    ending(
        "bus",
        "ulimit -c 0; kill -BUS $$",
        135,
        "ContainerSigBusReceived",
        "permanent",
    ),
    ending(
        "fpe",
        "ulimit -c 0; kill -FPE $$",
        136,
        "ContainerSigFpeReceived",
        "permanent",
    ),
    ending(
        "kill",
        "kill -KILL $$",
        137,
        "ContainerSigKillReceived",
        "transient",
    ),
    ending(
        "usr",
        "kill -USR1 $$",
        255,
        "PAIRuntimeUnknownFailed",
        "unknown",
    ),
    ending(
        "segv",
        "ulimit -c 0; kill -SEGV $$",
        139,
        "ContainerSigSegvReceived",
        "unknown",
    ),
    ending(
        "pipe",
        "kill -PIPE $$",
        141,
        "ContainerSigPipeReceived",
        "permanent",
    ),
    ending(
        "alrm",
        "kill -ALRM $$",
        255,
        "PAIRuntimeUnknownFailed",
        "unknown",
    ),
    ending(
        "term",
        "kill -TERM $$",
        143,
        "ContainerSigTermReceived",
        "transient",
    ),
    // The signal ends a program that the shell waits for.
    ending(
        "child",
        "sh -c 'kill -KILL $$'",
        137,
        "ContainerSigKillReceived",
        "transient",
    ),
    ending("code", "exit 9", 255, "PAIRuntimeUnknownFailed", "unknown"),
    // A code of the platform that a command gives itself means nothing.
    ending(
        "pretends",
        "exit 253",
        255,
        "PAIRuntimeUnknownFailed",
        "unknown",
    ),
    ending(
        "missing",
        "no-such-program",
        220,
        "ContainerUserCommandExitWithError",
        "permanent",
    ),
    ending(
        "import",
        "printf 'Traceback (most recent call last):\\n  File \"a.py\", line 1\\nModuleNotFoundError: No module named x\\n' >&2; exit 1",
        232,
        "ContainerImportError",
        "permanent",
    ),
    // The code with which the platform says that a gang got no place in time; a command that uses it is none.
    ending(
        "gang",
        "exit 251",
        255,
        "PAIRuntimeUnknownFailed",
        "unknown",
    ),
    ending("fine", "true", 0, "Succeeded", "success"),
];

/// Hands all jobs in at once, so that they run side by side.
fn hand_in(place: &Place, jobs: &[(String, String)]) -> Vec<String> {
    jobs.iter()
        .map(|(name, text)| {
            let file = place.file(&format!("{name}.yaml"), text);
            let said = place.pinnace(&["run", "-d", &file]).succeeded();
            said.stdout.trim().to_owned()
        })
        .collect()
}

/// The job when its first attempt has been decided upon, or that of its first task.
fn decided(place: &Place, id: &str, of_task: bool) -> serde_json::Value {
    let mut found = serde_json::Value::Null;
    until("the first attempt is over", || {
        let view = place.show(id);
        let of = if of_task { &view["tasks"][0] } else { &view };
        found = match &of["history"][0] {
            serde_json::Value::Null => of.clone(),
            first => first.clone(),
        };
        !found["decision"].is_null() || !view["finished"].is_null()
    });
    found
}

#[test]
fn every_ending_has_its_name_and_a_job_is_tried_again_only_if_it_makes_sense() {
    let place = Place::new();
    let jobs: Vec<(String, String)> = ENDINGS
        .iter()
        .map(|ending| {
            let text = job(ending.name, &[("worker", 1, (1, -1), ending.command)]);
            let text = text.replace("type: job\n", "type: job\njobRetryCount: 1\n");
            (ending.name.to_owned(), text)
        })
        .collect();
    let ids = hand_in(&place, &jobs);
    for (ending, id) in ENDINGS.iter().zip(ids) {
        let Ending { name, code, .. } = ending;
        let first = decided(&place, &id, false);
        let (rule, again, counted) = match ending.behaviour {
            "transient" => ("transient", true, false),
            "permanent" => ("permanent", false, false),
            "success" => ("succeeded", false, false),
            _ => ("budget", true, true),
        };
        let decision = &first["decision"];
        assert_eq!(decision["rule"], rule, "{name}: {first}");
        assert_eq!(decision["again"], again, "{name}: {first}");
        assert_eq!(decision["counted"], counted, "{name}: {first}");
        if ending.behaviour == "transient" {
            assert_eq!(decision["delayMs"], 1000, "{name}: {first}");
            // Told flat of the attempt at hand, and with more around it of those before.
            let outcome = &first["outcome"];
            let verdict = outcome.get("verdict").unwrap_or(outcome);
            assert_eq!(verdict["code"], *code, "{name}: {first}");
            place.pinnace(&["stop", "--force", &id]).succeeded();
            continue;
        }
        place.pinnace(&["wait", &id]);
        let view = place.show(&id);
        assert_eq!(view["code"], *code, "{name}: {view}");
        assert_eq!(view["phrase"], ending.phrase, "{name}: {view}");
        let tries = u32::from(rule == "budget");
        assert_eq!(view["attempt"], tries, "{name}: {view}");
    }
}

/// The lines of the retry table, for tasks that are tried again by themselves.
const BUDGETS: [(i32, [&str; 4]); 4] = [
    (0, ["succeeded", "transient", "permanent", "budgetSpent"]),
    (1, ["succeeded", "transient", "permanent", "budget"]),
    (-1, ["succeeded", "transient", "permanent", "withoutEnd"]),
    (-2, ["always", "transient", "permanent", "always"]),
];

#[test]
fn tasks_without_a_gang_follow_the_retry_table() {
    let place = Place::new();
    let commands = ["true", "kill -TERM $$", "kill -FPE $$", "exit 9"];
    let mut jobs = Vec::new();
    let mut rules = Vec::new();
    for (budget, expected) in BUDGETS {
        for (command, rule) in commands.iter().zip(expected) {
            let name = format!("row{}", jobs.len());
            let text = job(&name, &[("worker", 1, (1, -1), command)]).replace(
                "    completion:",
                &format!("    taskRetryCount: {budget}\n    completion:"),
            ) + "extras:\n  gangAllocation: false\n";
            jobs.push((name, text));
            rules.push((budget, *command, rule));
        }
    }
    let ids = hand_in(&place, &jobs);
    for ((budget, command, rule), id) in rules.into_iter().zip(ids) {
        let first = decided(&place, &id, true);
        assert_eq!(
            first["decision"]["rule"], rule,
            "{budget}, {command}: {first}"
        );
        if rule == "budget" {
            // The budget of one is spent by the second try.
            place.pinnace(&["wait", &id]);
            let task = &place.show(&id)["tasks"][0];
            assert_eq!(task["retries"]["total"], 1, "{task}");
            assert_eq!(task["decision"]["rule"], "budgetSpent", "{task}");
        } else {
            place.pinnace(&["stop", "--force", &id]);
        }
    }
}

#[test]
fn the_budget_of_a_job_is_for_failures_of_which_nobody_can_say_more() {
    let place = Place::new();
    let mut jobs = Vec::new();
    let mut expected = Vec::new();
    for (budget, command, rule, tries) in [
        (0, "true", "succeeded", 1),
        (0, "exit 9", "budgetSpent", 1),
        (0, "kill -FPE $$", "permanent", 1),
        (2, "true", "succeeded", 1),
        (2, "exit 9", "budgetSpent", 3),
        (2, "kill -FPE $$", "permanent", 1),
        (0, "kill -TERM $$", "transient", 0),
    ] {
        let name = format!("job{}", jobs.len());
        let text = job(&name, &[("worker", 2, (1, -1), command)])
            .replace(
                "type: job\n",
                &format!("type: job\njobRetryCount: {budget}\n"),
            )
            // In a gang no task is tried again by itself.
            .replace("    completion:", "    taskRetryCount: 5\n    completion:");
        jobs.push((name, text));
        expected.push((rule, tries));
    }
    let ids = hand_in(&place, &jobs);
    for ((rule, tries), id) in expected.into_iter().zip(ids) {
        if rule == "transient" {
            let first = decided(&place, &id, false);
            assert_eq!(first["decision"]["rule"], rule, "{first}");
            continue;
        }
        place.pinnace(&["wait", &id]);
        let view = place.show(&id);
        assert_eq!(view["decision"]["rule"], rule, "{view}");
        assert_eq!(view["attempt"], tries - 1, "{view}");
        assert_eq!(view["tasks"][0]["retries"]["total"], 0, "{view}");
    }
}

/// The rows of the retry table for budgets without end are for tasks alone: the protocol has no such budget for a job.
#[test]
fn a_job_has_no_budget_without_end() {
    let place = Place::new();
    for budget in [-1, -2] {
        let count = format!("type: job\njobRetryCount: {budget}\n");
        let text = job("endless", &[("worker", 1, (1, -1), "exit 9")]);
        let file = place.file("endless.yaml", &text.replace("type: job\n", &count));
        let said = place.pinnace(&["run", &file]);
        assert_eq!(said.code, Some(2), "{said:?}");
        let words = format!("`jobRetryCount` must be at least 0, found {budget}");
        assert!(said.stderr.contains(&words), "{said:?}");
    }
    let said = place.pinnace(&["ps", "--all", "-o", "json"]).succeeded();
    assert_eq!(said.json(), serde_json::json!([]));
}

#[test]
fn a_job_that_waits_for_its_next_try_can_be_stopped() {
    let place = Place::new();
    let text = job("waits", &[("worker", 1, (1, -1), "kill -TERM $$")]);
    let file = place.file("waits.yaml", &text);
    let id = place.pinnace(&["run", "-d", &file]).succeeded().stdout;
    decided(&place, id.trim(), false);
    place.pinnace(&["stop", id.trim()]).succeeded();
    let view = place.show(id.trim());
    assert_eq!(
        (&view["state"], &view["code"]),
        (&"STOPPED".into(), &(-210).into()),
        "{view}"
    );
}

#[test]
fn a_task_that_takes_too_much_memory_is_told_so_and_not_tried_again() {
    let place = Place::new();
    // `tail` keeps the last line, and this one never ends.
    let command = "head -c 500000000 /dev/zero | tail -n 1 > /dev/null";
    let text = job("hungry", &[("worker", 1, (1, -1), command)])
        .replace("type: job\n", "type: job\njobRetryCount: 3\n");
    let file = place.file("hungry.yaml", &text);
    let said = place.pinnace(&["run", &file]);
    let view = place.show("hungry");
    let unlimited = view["tasks"][0]["facts"]["report"]["notEnforced"]
        .as_array()
        .unwrap()
        .iter()
        .any(|line| line.as_str().unwrap().starts_with("memory is not limited"));
    if unlimited {
        skipped("want of memory: this machine lets nobody limit the memory of a task as a whole");
        return;
    }
    assert_eq!(said.code, Some(1), "{said:?}");
    assert_eq!(view["code"], -1200, "{view}");
    assert_eq!(view["decision"]["rule"], "permanent", "{view}");
    if !Path::new("/sys/fs/cgroup/cgroup.controllers").exists() {
        skipped("want of memory with control groups of version 2: this machine has version 1");
    }
    assert!(
        said.stderr.contains("UserContainerDockerOOMKilled"),
        "{said:?}"
    );
}
