//! SSH between tasks and from outside, with a real server in every task.

use std::process::{Command, Stdio};

use crate::support::{Place, has_ssh_server, job, until};

/// Asks another task who it is, and waits for a word from outside.
const LEFT: &str = "echo port $PAI_CONTAINER_SSH_PORT\n\
                    echo one says $(ssh right_side-1 'cat name')\n\
                    echo two says $(ssh right_side-0 \"ssh right_side-1 'cat name'\")\n\
                    while [ ! -e go ]; do sleep 0.05; done";
const RIGHT: &str =
    "echo $PAI_CURRENT_TASK_ROLE_NAME $PAI_TASK_INDEX > name\nwhile true; do sleep 0.1; done";

fn file(place: &Place, key: &str) -> String {
    // The command of the left one begins when the others answer, not when they have written their names.
    let left = format!("until ssh right_side-1 'test -s name'; do sleep 0.1; done\n{LEFT}");
    let text = job(
        "reach",
        &[
            ("left", 1, (1, 1), &left),
            ("right_side", 2, (1, -1), RIGHT),
        ],
    );
    let plugin = format!(
        "extras:\n  com.microsoft.pai.runtimeplugin:\n    - plugin: ssh\n      parameters: {{jobssh: true, sshbarrier: true, \
         sshbarrierTimeout: 1, userssh: {{type: custom, value: '{key}'}}}}\n"
    );
    place.file("reach.yaml", &(text + &plugin))
}

#[test]
fn tasks_reach_each_other_by_name_and_a_user_reaches_them_by_key() {
    if !has_ssh_server("SSH between tasks") {
        return;
    }
    let places = [Some(Place::new()), Place::of_ordinary_user()];
    for place in places.iter().flatten() {
        let key = place.path().join("key");
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-C", "me", "-f"])
            .arg(&key)
            .status()
            .unwrap();
        assert!(made.success());
        let public = std::fs::read_to_string(key.with_extension("pub")).unwrap();
        let run = place.start(&["run", &file(place, public.trim())]);
        let mut said = String::new();
        until("the left task is answered", || {
            said = place.pinnace(&["logs", "reach", "left[0]"]).stdout;
            said.contains("two says")
        });
        assert!(
            said.contains("one says right_side 1\ntwo says right_side 1\n"),
            "{said}"
        );

        let port = said
            .strip_prefix("port ")
            .unwrap()
            .split_once('\n')
            .unwrap()
            .0;
        let jobs = place.state().join("jobs");
        let job = std::fs::read_dir(jobs).unwrap().next().unwrap().unwrap();
        let keys = job.path().join("launches/0/shared/ssh");
        let config = std::fs::read_to_string(keys.join("config")).unwrap();
        let user = config
            .lines()
            .find_map(|line| line.strip_prefix("  User "))
            .unwrap();
        let ssh = |command: &str| {
            let options = [
                "StrictHostKeyChecking=no",
                "UserKnownHostsFile=/dev/null",
                "BatchMode=yes",
                "LogLevel=ERROR",
            ];
            Command::new("ssh")
                .args(["-F", "/dev/null", "-p", port, "-i"])
                .arg(&key)
                .args(options.iter().flat_map(|option| ["-o", option]))
                .args([&format!("{user}@127.0.0.1"), command])
                .stdin(Stdio::null())
                .output()
                .unwrap()
        };
        let reached = ssh("echo reached");
        assert!(reached.status.success(), "{reached:?}");
        assert_eq!(reached.stdout, b"reached\n");
        // This ends the task, which may take the server away before it says how the command ended.
        ssh("touch go");
        let output = run.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(!keys.exists());
    }
}

#[test]
fn an_ssh_server_that_never_answers_is_told_as_such() {
    if !has_ssh_server("the SSH barrier") {
        return;
    }
    let place = Place::in_sight();
    let text = job("alone", &[("worker", 1, (1, -1), "true")]);
    let plugin = "extras:\n  com.microsoft.pai.runtimeplugin:\n    - plugin: ssh\n      parameters: {jobssh: true, sshbarrier: \
                  true, sshbarrierTimeout: 1}\n";
    let file = place.file("alone.yaml", &(text + plugin));
    // With a client that never gets through, and a clock that makes a minute of every look at it.
    place.program("ssh", "exit 255");
    place.program(
        "date",
        "now=$(($(cat /tmp/now 2>/dev/null || echo 0) + 61)); echo $now | tee /tmp/now",
    );
    let said = place.pinnace(&["run", &file]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.stderr.contains("PAIRuntimeSSHBarrierTimeout (249)"),
        "{said:?}"
    );
}
