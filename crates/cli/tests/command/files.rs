use std::os::unix::ffi::OsStrExt as _;

use crate::environment::{HELLO, TestEnv};

#[test]
fn a_folder_stands_for_its_job_files() {
    let env = TestEnv::new();
    for path in [
        "a.yaml",
        "b/c.yml",
        "b/d.json",
        ".hidden/e.yaml",
        "node_modules/f.yaml",
        "target/g.yaml",
        "b/.h.yaml",
    ] {
        env.write(path, HELLO);
    }
    env.write("values.yaml", "a: 1\n");
    env.write("template.yaml", "{{- if }}\n\t:\n");
    env.write("notes.txt", "hello");
    let run = env.run(&["check", "."]).expect(0);
    assert_eq!(
        run.stderr,
        "skipped 2 files that are no job files: template.yaml, values.yaml\nchecked 3 files: no problems\n"
    );
}

#[test]
fn files_of_a_folder_are_read_whole_whatever_their_size() {
    // The last command is wrong, so that it shows whether it was read.
    for size in [8191, 8192, 8193, 20_000] {
        let env = TestEnv::new();
        let end = "      - echo <% $parameters.missing %>\n";
        let filler = size - HELLO.len() - end.len() - 3;
        env.write("a.yaml", format!("{HELLO}# {}\n{end}", "x".repeat(filler)));
        let run = env.run(&["check", "."]).expect(1);
        assert!(run.stdout.contains("missing"), "{}", run.transcript());
    }
}

#[test]
fn a_pipe_in_a_folder_is_not_waited_for() {
    let env = TestEnv::new();
    env.write("a.yaml", HELLO);
    let mode = nix::sys::stat::Mode::S_IRWXU;
    nix::unistd::mkfifo(&env.path().join("b.yaml"), mode).unwrap();
    let run = env.run(&["check", "."]).expect(0);
    assert!(!run.stderr.contains("b.yaml"), "{}", run.transcript());
}

#[test]
fn a_file_named_itself_is_never_skipped() {
    let env = TestEnv::new();
    env.write("values.yaml", "a: 1\n");
    let run = env.run(&["check", "values.yaml"]).expect(1);
    assert!(run.stdout.contains("P0209"), "{}", run.transcript());
    let run = env
        .run(&["check", "--dialect", "openpai", "values.yaml"])
        .expect(1);
    assert!(run.stdout.contains("P0202"), "{}", run.transcript());
}

#[test]
fn patterns_are_expanded_also_when_the_shell_does_not() {
    let env = TestEnv::new();
    for path in [
        "a.yaml",
        "b/c.yaml",
        "b/d/e.yaml",
        "b/d/f.txt",
        "target/g.yaml",
    ] {
        env.write(path, HELLO);
    }
    let checked = |pattern: &str| env.run(&["check", pattern]).expect(0).stderr;
    assert_eq!(checked("**/*.yaml"), "checked 3 files: no problems\n");
    assert_eq!(checked("b/*.yaml"), "b/c.yaml: no problems\n");
    assert_eq!(checked("b/**/?.yaml"), "checked 2 files: no problems\n");
    let run = env.run(&["check", "z*.yaml"]).expect(2);
    assert_eq!(run.stderr, "error: no file fits `z*.yaml`\n");
}

#[test]
fn a_file_is_checked_once() {
    let env = TestEnv::new();
    env.write("a.yaml", HELLO);
    let run = env.run(&["check", "a.yaml", "*.yaml", "a.yaml"]).expect(0);
    assert_eq!(run.stderr, "a.yaml: no problems\n");
}

#[test]
fn standard_input_is_read() {
    let env = TestEnv::new();
    let run = env
        .run_with_input(&["check", "-"], HELLO.as_bytes())
        .expect(0);
    assert_eq!(run.stderr, "<stdin>: no problems\n");
    let run = env
        .run_with_input(&["check", "-"], b"protocolVersion: 3\n")
        .expect(1);
    assert!(run.stdout.contains("<stdin>:1:18"), "{}", run.transcript());
    env.run_with_input(&["explain", "-"], HELLO.as_bytes())
        .expect(0);
}

#[test]
fn what_is_not_there_is_wrong_use() {
    let env = TestEnv::new();
    env.write("hello.yaml", HELLO);
    env.write("empty/readme.txt", "");
    env.write("other/values.yaml", "a: 1");
    let error = |arguments: &[&str]| env.run(arguments).expect(2).stderr;
    assert_eq!(
        error(&["check", "hallo.yaml"]),
        "error: no such file: `hallo.yaml`; did you mean `hello.yaml`?\n"
    );
    assert_eq!(
        error(&["check", "empty"]),
        "error: no .yaml, .yml or .json file in `empty`\n"
    );
    assert!(error(&["check", "other"]).ends_with("nothing to check\n"));
    assert!(error(&["check"]).contains("FILE"));
    assert!(error(&["check", "--marketplace", "nowhere", "hello.yaml"]).contains("no folder"));
    assert!(error(&["explain", "nowhere/hello.yaml"]).contains("no such file"));
}

#[test]
fn odd_names_do_not_break_anything() {
    let env = TestEnv::new();
    let odd = std::ffi::OsStr::from_bytes(b"a\xff\x1b[31m.yaml");
    env.write(odd, HELLO.replace("name: hello", "name: h e"));
    let run = env.run(&["check", "."]).expect(1);
    assert!(
        !run.stdout.contains('\u{1b}') && !run.stderr.contains('\u{1b}'),
        "{}",
        run.transcript()
    );
    let run = env.run(&[std::ffi::OsStr::new("check"), odd]).expect(1);
    assert!(run.stdout.contains("P0205"), "{}", run.transcript());
}

#[test]
fn files_that_are_no_text_or_too_large_are_diagnosed() {
    let env = TestEnv::new();
    env.write("bytes.yaml", b"name: \xff\xfe\n");
    env.write("large.yaml", "#".repeat(2_000));
    let run = env.run(&["check", "bytes.yaml"]).expect(1);
    assert!(run.stdout.contains("P0106"), "{}", run.transcript());
    let run = env
        .run(&["check", "--max-size", "1KiB", "large.yaml"])
        .expect(1);
    assert!(run.stdout.contains("P0107"), "{}", run.transcript());
}
