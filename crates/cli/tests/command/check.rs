use std::io::Read as _;
use std::process::Stdio;

use crate::environment::{HELLO, TestEnv, assert_snapshot, fixtures};

#[test]
fn a_file_without_problems_is_told_in_one_line() {
    let env = TestEnv::new();
    env.write("hello.yaml", HELLO);
    let run = env.run(&["check", "hello.yaml"]).expect(0);
    assert_eq!(
        (&*run.stdout, &*run.stderr),
        ("", "hello.yaml: no problems\n")
    );
    let run = env.run(&["check", "--quiet", "hello.yaml"]).expect(0);
    assert_eq!((&*run.stdout, &*run.stderr), ("", ""));
}

#[test]
fn every_case_but_the_wrong_one_is_clean() {
    for name in fixtures() {
        let env = TestEnv::with_fixture(&name);
        let items = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../spec/tests/fixtures/marketplace"
        );
        let run = env.run(&["check", &name, "--marketplace", items]);
        let wanted = i32::from(name == "prerequisites-wrong.yaml");
        assert_eq!(run.code, Some(wanted), "{name}\n{}", run.transcript());
    }
}

#[test]
fn a_name_that_is_not_there_is_refused_at_its_line_with_the_likely_one() {
    let env = TestEnv::with_fixture("prerequisites-wrong.yaml");
    let run = env.run(&["check", "prerequisites-wrong.yaml"]).expect(1);
    assert_snapshot("check-wrong", &run.transcript());
}

#[test]
fn ten_mistakes() {
    let env = TestEnv::new();
    env.write("job.yaml", include_str!("../fixtures/ten-mistakes.yaml"));
    let run = env.run(&["check", "job.yaml"]).expect(1);
    assert_snapshot("check-ten-mistakes", &run.transcript());
    assert!(
        run.stderr.ends_with("job.yaml: 10 errors\n"),
        "{}",
        run.stderr
    );
}

#[test]
fn many_files_are_told_of_in_their_order() {
    let env = TestEnv::new();
    let names: Vec<String> = (0..100)
        .map(|index| format!("job-{index:03}.yaml"))
        .collect();
    for name in &names {
        env.write(
            name,
            HELLO.replace("dockerImage: image", "dockerImage: imag"),
        );
    }
    let mut arguments = vec!["check".to_owned()];
    arguments.extend(names.iter().rev().cloned());
    let run = env.run(&arguments).expect(1);
    let told: Vec<&str> = run
        .stdout
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("--> ")?.split(':').next())
        .collect();
    let wanted: Vec<&str> = names.iter().rev().map(String::as_str).collect();
    assert_eq!(told, wanted);
    assert_eq!(run.stderr, "checked 100 files: 100 errors\n");
}

#[test]
fn more_files_than_are_kept_at_once_are_told_of_in_their_order() {
    let env = TestEnv::new();
    let wrong = HELLO.replace("dockerImage: image", "dockerImage: imag");
    for index in 0..1_500 {
        let text = if index % 100 == 0 { &wrong } else { HELLO };
        env.write(format!("jobs/{index:04}.yaml"), text);
    }
    let run = env.run(&["check", "jobs"]).expect(1);
    let told: Vec<&str> = run
        .stdout
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("--> ")?.split(':').next())
        .collect();
    let wanted: Vec<String> = (0..15)
        .map(|hundred| format!("jobs/{hundred:02}00.yaml"))
        .collect();
    assert_eq!(told, wanted);
    assert_eq!(run.stderr, "checked 1500 files: 15 errors\n");
}

#[test]
fn json_and_sarif_are_one_document_each() {
    let env = TestEnv::with_fixture("prerequisites-wrong.yaml");
    env.write("hello.yaml", HELLO);
    for format in ["json", "sarif"] {
        let run = env.run(&["check", "--format", format, "."]).expect(1);
        let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let text = document.to_string();
        assert!(
            text.contains("P0301") && text.contains("prerequisites-wrong.yaml"),
            "{text}"
        );
        let run = env
            .run(&["check", "--format", format, "hello.yaml"])
            .expect(0);
        assert!(serde_json::from_str::<serde_json::Value>(&run.stdout).is_ok());
    }
}

#[test]
fn warnings_can_be_denied_and_allowed() {
    let env = TestEnv::new();
    let job = HELLO.replace(
        "uri: 'ubuntu:22.04'}",
        "uri: 'ubuntu:22.04', auth: {colour: red}}",
    );
    env.write("job.yaml", job);
    let run = env.run(&["check", "job.yaml"]).expect(0);
    assert!(
        run.stdout.contains("warning[P0208]"),
        "{}",
        run.transcript()
    );
    assert_eq!(run.stderr, "job.yaml: 1 warning\n");
    env.run(&["check", "--deny", "warnings", "job.yaml"])
        .expect(1);
    env.run(&["check", "--deny", "P0208", "job.yaml"]).expect(1);
    let run = env
        .run(&["check", "--allow", "ignored-key", "job.yaml"])
        .expect(0);
    assert_eq!(run.stderr, "job.yaml: no problems\n");
    let run = env
        .run(&["check", "--allow", "ignored-kye", "job.yaml"])
        .expect(2);
    assert!(
        run.stderr.contains("did you mean `ignored-key`?"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_loss_is_an_error_when_none_is_accepted() {
    let env = TestEnv::new();
    env.write("hello.yaml", HELLO);
    let run = env.run(&["check", "--strict", "hello.yaml"]).expect(1);
    assert!(
        run.stdout.contains("prerequisites[0].uri"),
        "{}",
        run.transcript()
    );
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let env = TestEnv::new();
    let lines: String = "      - echo <% $parameters.x %>\n".repeat(4_000);
    env.write("job.yaml", HELLO.replace("      - echo hello\n", &lines));
    let mut child = env
        .command()
        .args(["check", "job.yaml"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut errors = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut errors)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(!errors.contains("panic"), "{errors}");
}

#[test]
fn colour_is_used_only_when_asked_for_in_a_pipe() {
    let env = TestEnv::with_fixture("prerequisites-wrong.yaml");
    let check = ["check", "prerequisites-wrong.yaml"];
    let coloured = |run: &crate::environment::Run| run.stdout.contains('\u{1b}');
    assert!(!coloured(&env.run(&check)));
    assert!(coloured(&env.run(&[
        "check",
        "--color",
        "always",
        "prerequisites-wrong.yaml"
    ])));
    let mut forced = env.command();
    forced.args(check).env("CLICOLOR_FORCE", "1");
    assert!(coloured(&crate::environment::finish(&mut forced, b"")));
    forced.env("NO_COLOR", "1");
    assert!(!coloured(&crate::environment::finish(&mut forced, b"")));
}
