//! Secrets reach the task and nothing else.

use std::fs;
use std::process::Command;

use pinnace_core::plan::Event as When;
use pinnace_core::text::{SecretName, Text};
use pinnace_exec::log::Stream;

use crate::support::{Run, eventually, hook, role};

const SECRET: &str = "s3cr3t/Käse +hush";

fn with_secret(before: &str, after: &str) -> Text {
    let mut text = Text::from(before);
    text.push_secret(SecretName("token".to_owned()));
    text.push_literal(after);
    text
}

/// Every text in which the value must not be found.
fn forms() -> [&'static [u8]; 3] {
    [
        SECRET.as_bytes(),
        b"czNjcjN0L0vDpHNlICtodXNo",
        b"s3cr3t%2FK%C3%A4se%20%2Bhush",
    ]
}

fn search(folder: &std::path::Path) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            search(&path);
        } else if let Ok(bytes) = fs::read(&path) {
            for form in forms() {
                let found = bytes.windows(form.len()).any(|window| window == form);
                assert!(!found, "{} holds the secret", path.display());
            }
        }
    }
}

#[test]
fn a_secret_reaches_the_task_and_is_found_nowhere() {
    let mut worker = role(&["echo \"length ${#TOKEN}\""]);
    worker.env.insert("TOKEN".to_owned(), with_secret("", ""));
    worker.command.push(with_secret("echo 'clear: ", "'"));
    worker
        .command
        .push("printf '%s' \"$TOKEN\" | base64".into());
    worker
        .command
        .push("echo s3cr3t%2FK%C3%A4s''e%20%2Bhush >&2".into());
    worker
        .command
        .push("printf 's3cr3t/K'; sleep 0.05; printf 'äse +hush\\n'".into());
    worker
        .command
        .push("until [ -e \"$GO\" ]; do sleep 0.02; done".into());
    worker.before = vec![hook("setup", When::Start, &["echo \"hook $TOKEN\""])];
    worker.after = vec![hook("end", When::Always, &["echo \"end $TOKEN\" >&2"])];
    let run = Run::of(worker).secret("token", SECRET).secret("pin", "123");
    let go = run.home().join("go");
    let mut run = run.with(|attempt| {
        let value = go.to_string_lossy().into_owned();
        attempt.settings.environment.insert("GO".to_owned(), value);
        attempt.settings.sandbox = pinnace_exec::Level::Plain;
    });
    run.start();
    eventually("output", || run.log(Stream::Stdout).lines().count() >= 4);
    let processes = Command::new("ps").args(["axww"]).output().unwrap();
    assert!(!String::from_utf8_lossy(&processes.stdout).contains("s3cr3t/K"));
    search(run.home());
    fs::write(&go, "").unwrap();
    let report = run.finish().remove(0);
    assert_eq!(report.exit_code, 0, "{}", run.log(Stream::Stderr));
    assert_eq!(
        run.log(Stream::Stdout),
        format!(
            "length {}\nclear: ******\n******\n******\n",
            SECRET.chars().count()
        )
    );
    assert_eq!(run.log(Stream::Stderr), "******\n");
    let runtime = run.runtime();
    assert!(
        runtime.contains(&"hook ******".to_owned()) && runtime.contains(&"end ******".to_owned()),
        "{runtime:?}"
    );
    assert!(
        report
            .not_enforced
            .iter()
            .any(|text| text.contains("`pin` is shorter"))
    );
    search(run.home());
}
