//! Files that others wrote.

use crate::support::{Place, repository};

#[test]
fn the_quickstart_runs() {
    let place = Place::new();
    let file = repository().join("examples/quickstart.yaml");
    let said = place
        .pinnace(&["run", file.to_str().unwrap(), "-p", "steps=20"])
        .succeeded();
    assert!(
        said.stdout.contains("server[0] | step  20: y ="),
        "{said:?}"
    );
    assert_eq!(said.stdout.matches("| learned y =").count(), 3);
    assert!(said.stderr.contains("succeeded after"));
    assert!(!said.stdout.contains('\u{1b}') && !said.stderr.contains('\u{1b}'));
}

/// The job of the prerequisites proposal that tells of its order, without the SSH plugin, which needs a server.
const ORDER: &str = "
protocolVersion: 2
name: order
type: job
prerequisites:
  - {name: image, type: dockerimage, uri: 'debian:12'}
  - name: first
    type: script
    callbacks:
      - event: taskStarts
        commands: [echo 111]
      - event: taskSucceeds
        commands: [echo 222]
  - name: later
    type: script
    callbacks:
      - event: taskStarts
        commands: [echo aaa, cd /tmp, export SEEN=yes]
      - event: taskCompletes
        commands: [echo bbb]
taskRoles:
  taskrole:
    instances: 1
    dockerImage: image
    prerequisites: [first, later]
    resourcePerInstance: {cpu: 1, memoryMB: 64, gpu: 1}
    commands: [echo $SEEN in $PWD]
";

#[test]
fn hooks_and_command_share_a_shell_and_exit_hooks_come_in_reverse() {
    let place = Place::new();
    let file = place.file("order.yaml", ORDER);
    let said = place
        .pinnace(&["run", &file, "--simulate-resources"])
        .succeeded();
    assert!(
        said.stdout.contains("taskrole[0] | yes in /tmp"),
        "{said:?}"
    );
    assert_eq!(
        place.runtime_log("order", "taskrole[0]"),
        [
            "[openpai-runtime] [INFO] Starting to exec precommands",
            "[openpai-runtime] 111",
            "[openpai-runtime] aaa",
            "[openpai-runtime] [INFO] Precommands finished",
            "[openpai-runtime] [INFO] USER COMMAND START",
            "[openpai-runtime] [INFO] USER COMMAND END",
            "[openpai-runtime] bbb",
            "[openpai-runtime] 222",
        ]
    );
}

#[test]
fn a_job_that_asks_for_missing_cards_is_refused_with_the_arithmetic() {
    let place = Place::new();
    let asks = ORDER.replace("gpu: 1", "gpu: 64");
    let file = place.file("order.yaml", &asks);
    for flags in [&["run", &file] as &[&str], &["run", "--detach", &file]] {
        let said = place.pinnace(flags);
        assert_eq!((said.code, &*said.stdout), (Some(3), ""), "{said:?}");
        assert!(
            said.stderr
                .contains("asks for 64 GPU cards, and this machine has")
        );
        assert!(said.stderr.contains("help: `--simulate-resources`"));
    }
    assert!(!place.state().exists());
}

#[test]
fn a_storage_is_a_folder_of_this_machine() {
    let place = Place::new();
    std::fs::create_dir(place.path().join("data")).unwrap();
    place.file("data/numbers", "1 2 3\n");
    let text = "
protocolVersion: 2
name: stored
type: job
prerequisites:
  - {name: image, type: dockerimage, uri: 'debian:12'}
  - name: nfs
    type: storage
    plugin: com.microsoft.pai.rest.storage
    config: nfsconfig
    mountPoint: /mnt/numbers
taskRoles:
  taskrole:
    dockerImage: image
    prerequisites: [nfs]
    resourcePerInstance: {cpu: 1, memoryMB: 64, gpu: 0}
    commands: [cat /mnt/numbers/numbers, touch /dataset-of-the-job]
";
    let file = place.file("stored.yaml", text);
    let said = place.pinnace(&["run", &file]);
    assert_eq!(said.code, Some(3), "{said:?}");
    assert!(
        said.stderr.contains("`--storage nfsconfig=DIR`"),
        "{said:?}"
    );
    assert!(!place.state().exists());
    let said = place.pinnace(&["run", &file, "--storage", "nfsconfig=data"]);
    assert!(said.stdout.contains("1 2 3"), "{said:?}");
    assert!(!std::path::Path::new("/dataset-of-the-job").exists());
}
