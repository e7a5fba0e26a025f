//! A machine in trouble: no space, no right to write, a broken or later database, no sandbox.

use std::fs;
use std::process::{Command, Stdio};

use crate::support::{Place, Said, job, skipped, with_shared};

/// Runs lines of shell as root of a machine whose mounts nobody else sees; `pinnace` is the program. Nothing, and
/// said, if that cannot be done.
fn with_own_mounts(place: &Place, what: &str, lines: &str) -> Option<Said> {
    let can = Command::new("unshare")
        .args(["--mount", "mount", "-t", "tmpfs", "none", "/mnt"])
        .stderr(Stdio::null())
        .status();
    if !can.is_ok_and(|status| status.success()) {
        skipped(&format!("{what}: only root can mount a file system"));
        return None;
    }
    place.program(
        "pinnace",
        &format!("exec {} \"$@\"", env!("CARGO_BIN_EXE_pinnace")),
    );
    let ps = place.command(&[]);
    let mut command = Command::new("unshare");
    for (name, value) in ps.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    let output = command
        .args(["--mount", "sh", "-c", lines])
        .current_dir(place.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Some(output.into())
}

fn trivial(place: &Place, name: &str) {
    let text = job(name, &[("worker", 1, (1, -1), "echo hello")]);
    place.file(&format!("{name}.yaml"), &text);
}

#[test]
fn a_full_disk_is_told_of_and_what_runs_goes_on() {
    let place = Place::new();
    place.folder("state");
    trivial(&place, "one");
    let large = "head -c 6000000 /dev/zero | tr '\\0' x | fold -w 100\nexit 0";
    place.file(
        "large.yaml",
        &job("large", &[("worker", 1, (1, -1), large)]),
    );
    let lines = r#"
        mount -t tmpfs -o size=1500k none state
        fill() { dd if=/dev/zero of=state/filler bs=1k count=2000 2>/dev/null; }
        fill; pinnace run -q one.yaml; echo full at the start: $?
        rm state/filler; pinnace run -q one.yaml; echo with room: $?
        fill; pinnace run -q one.yaml; echo full again: $?
        rm state/filler; pinnace ps -o json | grep -c '"id"'
        pinnace run -q large.yaml > large.txt; echo filled by a log: $?
        mount -o remount,size=50m state; pinnace wait large; echo with room: $?
    "#;
    let Some(said) = with_own_mounts(&place, "a full disk", lines) else {
        return;
    };
    assert_eq!(
        said.stdout,
        "full at the start: 3\nworker[0] | hello\nwith room: 0\nfull again: 3\n1\nfilled by a log: 3\nwith room: 0\n",
        "{said:?}"
    );
    assert_eq!(
        said.stderr
            .matches("error: no space is left on the disk of")
            .count(),
        3,
        "{said:?}"
    );
    // What the log lost is told.
    assert!(said.stderr.contains("not kept    cannot write"), "{said:?}");
}

#[test]
fn a_state_directory_that_cannot_be_written_is_told_of() {
    let place = Place::new();
    place.folder("state");
    trivial(&place, "one");
    let lines = r"
        mount -t tmpfs none state
        pinnace run -q one.yaml
        mount -o remount,ro state; pinnace ps; echo $?; pinnace run one.yaml; echo $?
        mount -o remount,rw state; pinnace wait one 2>/dev/null; echo $?
    ";
    let Some(said) = with_own_mounts(&place, "a read-only state directory", lines) else {
        return;
    };
    assert_eq!(said.stdout, "worker[0] | hello\n3\n3\n0\n", "{said:?}");
    assert_eq!(
        said.stderr.matches("its file system is read-only").count(),
        2,
        "{said:?}"
    );
    assert!(
        said.stderr.contains("help: `PINNACE_STATE` names another"),
        "{said:?}"
    );
}

#[test]
fn a_database_that_is_damaged_or_of_a_later_version_is_left_alone() {
    let place = Place::new();
    trivial(&place, "one");
    place.pinnace(&["run", "-q", "one.yaml"]).succeeded();
    // So that all is in the file itself.
    place.pinnace(&["prune", "--older-than", "1d"]).succeeded();
    let path = place.state().join("pinnace.db");
    let whole = fs::read(&path).unwrap();
    let mut damaged = whole.clone();
    damaged[100..3000].fill(0xa5);
    let mut later = whole.clone();
    // Where SQLite keeps the number that programs give to their form of the database.
    later[60..64].copy_from_slice(&99_u32.to_be_bytes());
    for (bytes, words) in [
        (damaged, "is damaged"),
        (later, "was written by a later Pinnace (version 99"),
    ] {
        fs::write(&path, &bytes).unwrap();
        for arguments in [
            &["ps"] as &[&str],
            &["run", "one.yaml"],
            &["logs", "one"],
            &["prune"],
        ] {
            let said = place.pinnace(arguments);
            assert_eq!(said.code, Some(3), "{said:?}");
            assert!(said.stderr.starts_with("error: the database"), "{said:?}");
            assert!(
                said.stderr.contains(words) && said.stderr.contains("  help: "),
                "{said:?}"
            );
        }
        assert!(fs::read(&path).unwrap() == bytes);
    }
    fs::write(&path, whole).unwrap();
    let said = place.pinnace(&["logs", "one"]).succeeded();
    assert_eq!(said.stdout, "worker[0] | hello\n");
}

#[test]
fn without_a_sandbox_a_storage_is_refused_unless_it_is_where_it_should_be() {
    let place = Place::in_sight();
    let shared = place.folder("shared");
    let text = with_shared(&job(
        "plain",
        &[(
            "worker",
            1,
            (1, -1),
            "echo written > $TARGET/out; echo done",
        )],
    ));
    let command = |target: &str| {
        text.replace("$TARGET", target)
            .replace("/mnt/shared", target)
    };
    place.file("elsewhere.yaml", &command("/mnt/shared"));
    place.file("there.yaml", &command(shared.to_str().unwrap()));
    trivial(&place, "one");
    // As in a container without rights: no further namespaces.
    let lines = r"
        for kind in user mnt pid; do echo 0 > /proc/sys/user/max_${kind}_namespaces || exit 99; done
        pinnace run elsewhere.yaml --storage shared=shared; echo $?
        pinnace run -q there.yaml --storage shared=shared; echo $?
        pinnace run one.yaml; echo $?
    ";
    let path = format!(
        "{}:{}",
        place.path().join("bin").display(),
        std::env::var("PATH").unwrap()
    );
    place.program(
        "pinnace",
        &format!("exec {} \"$@\"", env!("CARGO_BIN_EXE_pinnace")),
    );
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "sh", "-c", lines])
        .env("PATH", path)
        .env("PINNACE_STATE", place.state())
        .env("TMPDIR", place.temporary())
        .current_dir(place.path())
        .stdin(Stdio::null())
        .output();
    let said = match output {
        Ok(output) if !matches!(output.status.code(), Some(1 | 99)) => Said::from(output),
        _ => {
            skipped("storages without a sandbox: no user namespace can be made here");
            return;
        }
    };
    assert_eq!(
        said.stdout, "1\nworker[0] | done\n0\nworker[0] | hello\n0\n",
        "{said:?}"
    );
    let why = "the storage `shared` cannot be mounted at `/mnt/shared`, because this machine allows no sandbox";
    assert!(said.stderr.contains(why), "{said:?}");
    assert!(
        said.stderr
            .contains("the task can see and change the files of this machine"),
        "{said:?}"
    );
    assert_eq!(fs::read_to_string(shared.join("out")).unwrap(), "written\n");
}
