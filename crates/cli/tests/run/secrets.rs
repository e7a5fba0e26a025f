//! The value of a secret is known to the job's own tasks and to nobody else.

use std::path::Path;
use std::process::Command;

use crate::support::{Place, job, until, with_shared};

const VALUE: &str = "open-sesame-4711";

fn holds_value(path: &Path) -> Option<std::path::PathBuf> {
    if path.is_dir() {
        return std::fs::read_dir(path)
            .unwrap()
            .flatten()
            .find_map(|entry| holds_value(&entry.path()));
    }
    let bytes = std::fs::read(path).unwrap_or_default();
    bytes
        .windows(VALUE.len())
        .any(|window| window == VALUE.as_bytes())
        .then(|| path.to_owned())
}

#[test]
fn a_secret_reaches_its_task_and_is_in_no_file_log_or_list_of_processes() {
    let place = Place::new();
    let command = "export TOKEN='<% $secrets.token %>'\n[ ${#TOKEN} = 16 ] || exit 5\necho token: $TOKEN\n\
                   echo $TOKEN | base64\nwhile [ ! -e /mnt/shared/go ]; do sleep 0.05; done\nexit 6";
    std::fs::create_dir(place.path().join("shared")).unwrap();
    let text = with_shared(&job("secret", &[("worker", 1, (1, -1), command)])).replace(
        "taskRoles:",
        &format!("secrets:\n  token: {VALUE}\ntaskRoles:"),
    );
    let file = place.file("secret.yaml", &text);
    let run = place.start(&["run", &file, "--storage", "shared=shared"]);
    until("the task speaks", || {
        place.pinnace(&["logs", "secret"]).stdout.contains("token:")
    });
    let processes = Command::new("ps").args(["axwwo", "args"]).output();
    if let Ok(processes) = processes {
        let list = String::from_utf8_lossy(&processes.stdout).into_owned();
        assert!(!list.contains(VALUE), "{list}");
    }
    assert_eq!(holds_value(&place.state()), None);
    place.file("shared/go", "");
    let output = run.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    for stream in [&output.stdout, &output.stderr] {
        assert!(!String::from_utf8_lossy(stream).contains(VALUE));
    }
    assert_eq!(holds_value(&place.state()), None);
    assert!(
        !place
            .pinnace(&["show", "secret", "-o", "json"])
            .stdout
            .contains(VALUE)
    );
}
