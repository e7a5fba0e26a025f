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

/// A job whose file names a secret and does not have it.
fn job_without_value() -> String {
    job(
        "outside",
        &[(
            "worker",
            1,
            (1, -1),
            "printf %s '<% $secrets.token %>' | wc -c",
        )],
    )
}

#[test]
fn a_secret_can_come_from_a_variable_or_a_file_and_stays_out_of_every_file() {
    let place = Place::new();
    let file = place.file("job.yaml", &job_without_value());
    place.file("token.txt", &format!("{VALUE}\n"));
    let runs: [(&str, Option<&str>); 4] = [
        ("token", Some("token")),
        ("token", Some("PINNACE_SECRET_TOKEN")),
        ("token=MY_TOKEN", Some("MY_TOKEN")),
        ("token=@token.txt", None),
    ];
    for (word, variable) in runs {
        let mut command = place.command(&["run", "-q", &file, "--secret", word]);
        command.envs(variable.map(|variable| (variable, VALUE)));
        let output = command.output().unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(stdout, "worker[0] | 16\n", "{word}: {output:?}");
    }
    assert_eq!(holds_value(&place.state()), None);
    // The file is right as it is, for whoever says that the secret comes from outside.
    place
        .pinnace(&["check", &file, "--secret", "token"])
        .succeeded();
    assert_eq!(place.pinnace(&["check", &file]).code, Some(1));
}

#[test]
fn a_value_from_outside_takes_the_place_of_that_of_the_file_also_where_it_stands_in_clear() {
    let place = Place::new();
    let text = job_without_value()
        .replace("taskRoles:", "secrets: {token: another}\ntaskRoles:")
        .replace("wc -c", &format!("wc -c; echo {VALUE}"));
    let file = place.file("job.yaml", &text);
    let output = place
        .command(&["run", "-q", &file, "--secret", "token=MY_TOKEN"])
        .env("MY_TOKEN", VALUE)
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(stdout.starts_with("worker[0] | 16\n"), "{output:?}");
    assert_eq!(holds_value(&place.state()), None);
}

#[test]
fn a_wrong_secret_is_told_before_anything_is_stored_and_never_repeated() {
    let place = Place::new();
    let file = place.file("job.yaml", &job_without_value());
    place.file("empty.txt", "\n");
    for (word, told) in [
        ("token", "`--secret token=VARIABLE` takes another one"),
        ("token=UNSET_VARIABLE", "is not set"),
        ("token=open-sesame-4711", "never given on the command line"),
        ("token=@missing.txt", "missing.txt"),
        ("token=@empty.txt", "its value is empty"),
        ("token=-", "there is no terminal to ask at"),
    ] {
        let said = place.pinnace(&["run", &file, "--secret", word]);
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(said.stderr.contains(told), "{word}: {said:?}");
        assert!(!said.stderr.contains(VALUE), "{said:?}");
    }
    let said = place
        .command(&["run", &file, "--secret", "tokne"])
        .env("tokne", VALUE)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&said.stderr).into_owned();
    assert_eq!(said.status.code(), Some(2));
    assert!(
        stderr.contains("P0707") && stderr.contains("did you mean `token`?"),
        "{stderr}"
    );
    assert!(!place.state().exists());
}
