//! The test cases of the proposal for prerequisites, as their authors wrote them.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{Place, Said, case, has_ssh_server, repository};

/// The lines of the SSH plugin in the expected logs of the proposal.
const SSH: [&str; 4] = [
    "[package_cache] Skip installation of group ssh.",
    "[INFO] start ssh service",
    "* Restarting OpenBSD Secure Shell server sshd",
    "...done.",
];

/// Runs a case that asks for a GPU card, and compares its runtime log.
fn says(place: &Place, file: &str, before: &[&str], after: &[&str]) {
    place
        .pinnace(&["run", &case(file), "--simulate-resources"])
        .succeeded();
    let id = place.pinnace(&["ps", "--all", "-o", "json"]).json()[0]["id"].clone();
    let mut expected = vec!["[INFO] Starting to exec precommands"];
    expected.extend(before);
    expected.extend(SSH);
    expected.extend([
        "[INFO] Precommands finished",
        "[INFO] USER COMMAND START",
        "[INFO] USER COMMAND END",
    ]);
    expected.extend(after);
    let expected: Vec<String> = expected
        .iter()
        .map(|line| format!("[openpai-runtime] {line}"))
        .collect();
    let log = place.runtime_log(id.as_str().unwrap(), "taskrole[0]");
    assert_eq!(log, expected, "{file}");
}

#[test]
fn the_runtime_logs_are_those_of_the_proposal() {
    if !has_ssh_server("the runtime logs of the proposal for prerequisites") {
        return;
    }
    let places = [Some(Place::new()), Place::of_ordinary_user()];
    for place in places.iter().flatten() {
        says(
            place,
            "prerequisites-cmd.yaml",
            &["111", "222"],
            &["333", "444"],
        );
        says(
            place,
            "prerequisites-multiple.yaml",
            &["111", "aaa"],
            &["bbb", "222"],
        );
        says(
            place,
            "prerequisites-parameters-secrets.yaml",
            &["111", "222"],
            &[],
        );
    }
}

#[test]
fn a_name_that_leads_nowhere_is_refused() {
    let place = Place::new();
    let said = place.pinnace(&[
        "run",
        &case("prerequisites-wrong.yaml"),
        "--simulate-resources",
    ]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.stderr.contains("justecho_wrong"), "{said:?}");
}

#[test]
fn what_a_prerequisite_exports_is_seen_by_the_command() {
    if !has_ssh_server("the example of the proposal for prerequisites") {
        return;
    }
    let places = [Some(Place::in_sight()), Place::of_ordinary_user()];
    for place in places.iter().flatten() {
        place.folder("nfs");
        place.folder("nfs/mnist");
        place.file("nfs/mnist/digits", "");
        // Neither is a part of this machine; the first one's failure is ignored.
        place.program("npm", "exit 1");
        place.program("pai_copy", "echo copied to $1, $MNIST_DIR, $OUTPUT_DIR");
        let file = case("prerequisites-proposal.yaml");
        let arguments = [
            "run",
            &file,
            "--simulate-resources",
            "--storage",
            "nfsconfig=nfs",
        ];
        let said = place.pinnace(&arguments).succeeded();
        let log = place.runtime_log("prerequisites_proposal", "taskrole[0]");
        let copied = "[openpai-runtime] copied to upload, /mnt/nfs-storage-1/mnist, /tmp/output";
        assert_eq!(log.last().unwrap(), copied);
        assert!(said.stdout.contains("taskrole[0] | digits\n"), "{said:?}");
    }
    assert!(!Path::new("/mnt/nfs-storage-1").exists());
}

#[test]
fn items_of_a_marketplace_go_before_what_needs_them() {
    let place = Place::new();
    let market = repository().join("crates/spec/tests/fixtures/marketplace");
    let (file, market) = (
        case("prerequisites-marketplace.yaml"),
        market.to_str().unwrap(),
    );
    let arguments = ["run", &file, "--marketplace", market];
    let said = place.pinnace(&arguments);
    // The item copies nothing, so that there is nothing to list; the log tells how far it came.
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stdout.contains("/tmp/mnist"), "{said:?}");
    let log = place.runtime_log("prerequisites_marketplace", "taskrole[0]");
    assert_eq!(
        log[1..3],
        [
            "[openpai-runtime] copy https://example.com/mnist /tmp/mnist",
            "[openpai-runtime] copy data",
        ]
    );

    let item = "name: mnist\ntype: data\ncallbacks:\n  - event: taskStarts\n    commands: [mkdir -p /data/mnist, \
                touch /data/mnist/digits, export MNIST_DIR=/data/mnist]\n";
    place.folder("market/data");
    place.folder("market/script");
    place.file("market/data/mnist.yaml", item);
    let copy = "name: pai_copy\ntype: script\ncallbacks:\n  - event: taskStarts\n    commands: ['pai_copy() { echo copy $*; }']\n";
    place.file("market/script/pai_copy.yaml", copy);
    let arguments = ["run", &file, "--marketplace", "market"];
    let said = place.pinnace(&arguments).succeeded();
    assert_eq!(said.stdout, "taskrole[0] | digits\n");
}

/// Lets `git` find the data set of the cases in a folder of this machine.
fn instead_of_the_network(place: &Place) {
    let shell = |lines: &str| {
        let done = Command::new("sh")
            .args(["-ec", lines])
            .current_dir(place.path())
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    shell(
        "git init -q remote && cd remote && echo lungs > images && git add images && \
         git -c user.name=a -c user.email=a@b commit -q -m images",
    );
    let real =
        String::from_utf8(Command::new("which").arg("git").output().unwrap().stdout).unwrap();
    let (real, remote) = (real.trim(), place.path().join("remote"));
    let instead = format!(
        "url.file://{}.insteadOf=https://github.com/ieee8023/covid-chestxray-dataset.git",
        remote.display()
    );
    place.program("git", &format!("exec {real} -c {instead} \"$@\""));
    place.program("apt", "echo apt $*");
}

fn run(place: &Place, file: &str) -> Said {
    place
        .pinnace(&["run", &case(file), "--simulate-resources"])
        .succeeded()
}

#[test]
fn a_data_prerequisite_writes_beside_the_machines_files() {
    if !has_ssh_server("the data case of the proposal for prerequisites") {
        return;
    }
    let place = Place::in_sight();
    instead_of_the_network(&place);
    let said = run(&place, "prerequisites-data.yaml");
    assert!(said.stdout.contains(" images\n"), "{said:?}");
    let log = place.runtime_log("pre1_f7a15a5c", "taskrole[0]");
    assert_eq!(log[1], "[openpai-runtime] apt update");
    assert!(!Path::new("/dataset").exists());
}

#[test]
fn a_job_of_the_time_before_callbacks_still_runs() {
    let place = Place::in_sight();
    instead_of_the_network(&place);
    run(&place, "prerequisites-backward.yaml");
    let jobs = place.state().join("jobs");
    let job = fs::read_dir(jobs).unwrap().next().unwrap().unwrap().path();
    let cloned = job.join("launches/0/tasks/taskrole-0/work/covid-chestxray-dataset/images");
    assert_eq!(fs::read_to_string(cloned).unwrap(), "lungs\n");
}
