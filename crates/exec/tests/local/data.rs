//! Code, inputs and outputs of tasks.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use pinnace_core::plan::{
    Code, DataKind, Input, InputMode, Location, MetricRule, Output, OutputMode, PythonEnvironment,
    Role, SuccessfulExit,
};
use pinnace_core::text::{SecretName, Text};
use pinnace_exec::local::{self, Adoption};
use pinnace_exec::log::Stream;
use pinnace_exec::{Collected, Happening, Level, PhaseName, metric};

use crate::support::{Run, as_ordinary_user, role};

fn location(path: &Path) -> Location {
    Location::parse(path.to_str().unwrap(), None).unwrap()
}

fn input(source: &Path, target: &str) -> Input {
    Input {
        source: location(source),
        target: target.to_owned(),
        kind: DataKind::Any,
        mode: InputMode::Mount,
    }
}

fn output(target: &str, destination: Option<&Path>) -> Output {
    Output {
        target: target.to_owned(),
        kind: DataKind::Folder,
        mode: OutputMode::Mount,
        destination: destination.map(location),
        register: None,
        append: false,
        pointer: false,
    }
}

/// A folder that everybody may use, as a user's project is for that user.
fn project() -> (tempfile::TempDir, PathBuf) {
    let scratch = tempfile::tempdir().unwrap();
    let open = fs::Permissions::from_mode(0o777);
    fs::set_permissions(scratch.path(), open.clone()).unwrap();
    let folder = scratch.path().join("project");
    for name in ["", "src", "data", "out"] {
        fs::create_dir(folder.join(name)).unwrap();
        fs::set_permissions(folder.join(name), open.clone()).unwrap();
    }
    fs::write(folder.join("src/main.sh"), "echo main; cat \"$1\"/*.csv\n").unwrap();
    fs::write(folder.join("data/a.csv"), "1,2\n").unwrap();
    fs::write(folder.join("single.csv"), "3,4\n").unwrap();
    (scratch, folder)
}

/// A role that uses all of it.
fn processor(folder: &Path) -> Role {
    let mut script = Text::from("sh main.sh ");
    script.push_path("/ml/input/data/train");
    let check = Text::from("cat \"$CONFIG\"/parameters.json");
    let mut single = Text::from("cat \"$SINGLE\"/single.csv && ! touch ");
    single.push_path("/ml/input/data/train/new");
    single.push_literal(" 2>/dev/null");
    let mut write = Text::from("echo made > mine && cp mine ");
    write.push_path("/ml/output/model");
    write.push_literal("/model.txt");
    let mut place = Text::default();
    place.push_path("/ml/input/data/one");
    let mut folder_of_config = Text::default();
    folder_of_config.push_path("/ml/input/config");
    let mut config = Text::from("{\"model\": \"");
    config.push_path("/ml/output/model");
    config.push_literal("\"}\n");
    Role {
        code: Some(Code {
            source: location(&folder.join("src")),
            target: "/ml/usercode".to_owned(),
            ignore: Vec::new(),
            includes: Vec::new(),
        }),
        files: [("/ml/input/config/parameters.json".to_owned(), config)].into(),
        inputs: [
            (
                "train".to_owned(),
                input(&folder.join("data"), "/ml/input/data/train"),
            ),
            (
                "one".to_owned(),
                input(&folder.join("single.csv"), "/ml/input/data/one"),
            ),
        ]
        .into(),
        outputs: [(
            "model".to_owned(),
            output("/ml/output/model", Some(&folder.join("out/model"))),
        )]
        .into(),
        workdir: Some("/ml/usercode".to_owned()),
        env: [
            ("SINGLE".to_owned(), place),
            ("CONFIG".to_owned(), folder_of_config),
        ]
        .into(),
        command: vec![script, check, single, write],
        ..role(&[])
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn check_processor(level: Level, by_user: bool) {
    let (_scratch, folder) = project();
    let mut role = processor(&folder);
    if level == Level::Plain {
        // Nothing is read-only there.
        role.command.remove(2);
    }
    let run = Run::of(role).level(level);
    let run = if by_user {
        as_ordinary_user(run)
    } else {
        Some(run)
    };
    let Some(mut run) = run else { return };
    let report = run.run_to_end();
    assert_eq!(
        report.exit_code,
        0,
        "{report:#?} {}",
        run.log(Stream::Stderr)
    );
    if report.level != level {
        eprintln!("SKIPPED: the kernel refuses {level:?}");
        return;
    }
    let said = run.log(Stream::Stdout);
    assert!(said.starts_with("main\n1,2\n{\"model\": \""), "{said}");
    assert_eq!(said.contains("3,4"), level > Level::Plain, "{said}");
    assert_eq!(
        fs::read_to_string(folder.join("out/model/model.txt")).unwrap(),
        "made\n"
    );
    assert_eq!(names(&folder.join("src")), ["main.sh"]);
    assert_eq!(names(&folder.join("data")), ["a.csv"]);
    assert_eq!(names(&folder.join("out/model")), ["model.txt"]);
    assert!(!Path::new("/ml").exists());
    let collected = local::collected(&run.folder);
    let [model] = collected.as_slice() else {
        panic!("{collected:#?}")
    };
    assert_eq!((model.files, model.bytes), (1, 5));
    assert_eq!(Path::new(&model.location), folder.join("out/model"));
    assert!(model.digest.as_deref().unwrap().starts_with("sha256:"));
    let phases: Vec<&PhaseName> = report.phases.iter().map(|phase| &phase.name).collect();
    assert_eq!(
        phases,
        [
            &PhaseName::Queued,
            &PhaseName::Staging,
            &PhaseName::Sandbox,
            &PhaseName::Command,
            &PhaseName::Collecting
        ]
    );
}

#[test]
fn a_task_finds_its_data_and_leaves_outputs_in_every_kind_of_sandbox() {
    for level in [Level::Overlay, Level::ReadOnly, Level::Plain] {
        check_processor(level, false);
        check_processor(level, true);
    }
}

#[test]
fn without_a_sandbox_scripts_that_name_paths_are_told() {
    let (_scratch, folder) = project();
    fs::write(folder.join("src/bad.py"), "open('/ml/output/model/x')\n").unwrap();
    let mut role = processor(&folder);
    role.command = vec![Text::from("true")];
    let mut run = Run::of(role).level(Level::Plain);
    run.run_to_end();
    let notes: Vec<String> = run
        .events()
        .into_iter()
        .filter_map(|event| match event.what {
            Happening::Note { text, .. } => Some(text),
            _ => None,
        })
        .collect();
    let told = notes.iter().any(|note| note.contains("`bad.py`"));
    assert!(told, "{notes:?}");
}

#[test]
fn a_download_may_be_changed_and_the_original_stays() {
    let (_scratch, folder) = project();
    for level in [Level::Overlay, Level::ReadOnly] {
        let mut role = role(&["echo more >> /in/a.csv && cat /in/a.csv"]);
        let mut data = input(&folder.join("data"), "/in");
        data.mode = InputMode::Download;
        role.inputs = [("data".to_owned(), data)].into();
        let mut run = Run::of(role).level(level);
        let report = run.run_to_end();
        assert_eq!(report.exit_code, 0, "{report:#?}");
        assert_eq!(run.log(Stream::Stdout), "1,2\nmore\n");
        assert_eq!(
            fs::read_to_string(folder.join("data/a.csv")).unwrap(),
            "1,2\n"
        );
    }
}

#[test]
fn a_missing_input_is_the_reason_and_nothing_runs() {
    let mut role = role(&["echo ran"]);
    role.inputs = [(
        "train".to_owned(),
        input(Path::new("/nowhere/at/all"), "/in"),
    )]
    .into();
    let mut run = Run::of(role);
    let report = run.run_to_end();
    assert_eq!(
        report.start_failure.as_deref(),
        Some("the input `train`: there is no `/nowhere/at/all`")
    );
    assert_eq!(report.failed_in, Some(PhaseName::Staging));
    assert_eq!(run.log(Stream::Stdout), "");
    let claims = report.not_enforced.iter();
    let of_machine = claims.filter(|claim| claim.contains("files of this machine"));
    assert_eq!(of_machine.count(), 0, "{report:#?}");
}

#[test]
fn a_destination_that_nobody_knows_is_told_before_anything_runs() {
    let mut role = role(&["echo ran"]);
    let mut wanted = output("/out", None);
    wanted.destination = Some(Location::parse("dataset:none", None).unwrap());
    role.outputs = [("model".to_owned(), wanted)].into();
    let mut run = Run::of(role);
    let report = run.run_to_end();
    let why = report.start_failure.unwrap();
    assert!(why.contains("the output `model`"), "{why}");
    assert!(why.contains("the catalogue has no `dataset:none`"), "{why}");
    assert_eq!(run.log(Stream::Stdout), "");
}

#[test]
fn python_has_its_usual_name_also_where_the_machine_has_another() {
    let (_scratch, folder) = project();
    let mut role = processor(&folder);
    role.command = vec![Text::from("python -c 'print(\"it runs\")'")];
    for level in [Level::Overlay, Level::Plain] {
        let programs = tempfile::tempdir_in("/var/tmp").unwrap();
        let python = Path::new("/usr/bin/python3");
        if !python.exists() {
            eprintln!("SKIPPED: no Python here");
            return;
        }
        std::os::unix::fs::symlink(python, programs.path().join("python3")).unwrap();
        let path = programs.path().to_str().unwrap();
        let run = Run::of(role.clone()).level(level);
        let mut run = run.variables(&[("PATH", path)]);
        let report = run.run_to_end();
        let said = run.log(Stream::Stdout);
        assert_eq!(said, "it runs\n", "{report:#?} {}", run.log(Stream::Stderr));
    }
}

fn one_output(command: &str, destination: Option<&Path>) -> Role {
    let mut role = role(&[command]);
    role.outputs = [("model".to_owned(), output("/out", destination))].into();
    role
}

fn only(run: &Run) -> Collected {
    let mut collected = local::collected(&run.folder);
    assert_eq!(collected.len(), 1);
    collected.remove(0)
}

#[test]
fn outputs_are_collected_from_a_command_that_fails() {
    let (_scratch, folder) = project();
    let destination = folder.join("out/model");
    let mut run = Run::of(one_output("echo half > /out/x; exit 3", Some(&destination)));
    let report = run.run_to_end();
    assert_eq!(report.exit_code, 3);
    assert_eq!(report.failed_in, Some(PhaseName::Command));
    assert_eq!(fs::read(destination.join("x")).unwrap(), b"half\n");
}

#[test]
fn outputs_are_collected_when_the_time_is_over() {
    let (_scratch, folder) = project();
    let destination = folder.join("out/model");
    let command = "echo half > /out/x; sleep 100";
    let mut run = Run::of(one_output(command, Some(&destination)))
        .with(|attempt| attempt.settings.time_limit_seconds = Some(1));
    let report = run.run_to_end();
    assert!(report.timed_out);
    assert_eq!(fs::read(destination.join("x")).unwrap(), b"half\n");
}

#[test]
fn outputs_are_collected_from_a_task_that_is_stopped() {
    let (_scratch, folder) = project();
    let destination = folder.join("out/model");
    let command = "echo half > /out/x; echo ready; sleep 100";
    let mut run = Run::of(one_output(command, Some(&destination)));
    run.start();
    run.wait_for_command();
    crate::support::eventually("output", || run.log(Stream::Stdout).contains("ready"));
    local::stop(&run.folder, None, None).unwrap();
    let reports = run.finish();
    assert!(reports[0].stopped);
    assert_eq!(fs::read(destination.join("x")).unwrap(), b"half\n");
}

#[test]
fn an_output_without_a_destination_stays_with_the_job() {
    let mut run = Run::of(one_output("echo kept > /out/x", None));
    let kept = run.home().join("outputs");
    run.attempt.settings.outputs = Some(kept.clone());
    let report = run.run_to_end();
    assert_eq!(report.exit_code, 0, "{report:#?}");
    let collected = only(&run);
    assert!(Path::new(&collected.location).starts_with(&kept));
    assert_eq!(
        fs::read(Path::new(&collected.location).join("x")).unwrap(),
        b"kept\n"
    );
}

#[test]
fn an_output_that_cannot_be_placed_is_kept_and_its_place_is_named() {
    let (_scratch, folder) = project();
    // A file where a folder should be stops root as well.
    fs::write(folder.join("file"), "").unwrap();
    let mut run = Run::of(one_output(
        "echo made > /out/x",
        Some(&folder.join("file/model")),
    ));
    let report = run.run_to_end();
    assert_eq!(report.failed_in, Some(PhaseName::Collecting));
    assert_ne!(report.exit_code, 0);
    let why = report.collect_failure.unwrap();
    let collected = only(&run);
    assert!(
        why.contains(&format!("it is kept in `{}`", collected.location)),
        "{why}"
    );
    assert!(why.contains("not a directory"), "{why}");
    assert_eq!(
        fs::read(Path::new(&collected.location).join("x")).unwrap(),
        b"made\n"
    );
}

#[test]
fn a_full_disk_at_the_destination_is_told() {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("SKIPPED: only root can mount a small disk");
        return;
    }
    let (_scratch, folder) = project();
    let disk = folder.join("small");
    fs::create_dir(&disk).unwrap();
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"])
        .arg(&disk)
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: nothing can be mounted here");
        return;
    }
    let mut run = Run::of(one_output(
        "head -c 1000000 /dev/zero > /out/large",
        Some(&disk.join("model")),
    ));
    let report = run.run_to_end();
    let left = names(&disk.join("model"));
    let _ = std::process::Command::new("umount").arg(&disk).status();
    let why = report.collect_failure.unwrap();
    assert!(why.contains("no space left"), "{why}");
    assert_eq!(left, [] as [&str; 0]);
    let kept = Path::new(&only(&run).location).join("large");
    assert_eq!(fs::metadata(kept).unwrap().len(), 1_000_000);
}

#[test]
fn file_outputs_of_one_folder_can_be_replaced_by_their_task() {
    let (_scratch, folder) = project();
    let mut role = role(&["echo a > /res/new && mv /res/new /res/a.txt && echo b > /res/b.txt"]);
    for name in ["a", "b"] {
        let destination = folder.join(format!("out/{name}.copy"));
        role.outputs.insert(
            name.to_owned(),
            Output {
                kind: DataKind::File,
                ..output(&format!("/res/{name}.txt"), Some(&destination))
            },
        );
    }
    let mut run = Run::of(role);
    let report = run.run_to_end();
    assert_eq!(report.exit_code, 0, "{report:#?}");
    assert_eq!(fs::read(folder.join("out/a.copy")).unwrap(), b"a\n");
    assert_eq!(fs::read(folder.join("out/b.copy")).unwrap(), b"b\n");
}

#[test]
fn tasks_of_a_role_share_their_outputs() {
    let (_scratch, folder) = project();
    let mut role = one_output(
        "echo $PAI_TASK_INDEX > /out/$PAI_TASK_INDEX",
        Some(&folder.join("out")),
    );
    role.instances = 3;
    let mut run = Run::of(role);
    run.start();
    assert_eq!(run.finish().len(), 3);
    assert_eq!(names(&folder.join("out")), ["0", "1", "2"]);
}

#[test]
fn what_is_added_to_a_destination_is_seen_with_what_lies_there() {
    let (_scratch, folder) = project();
    fs::write(folder.join("out/old"), "old\n").unwrap();
    let mut role = one_output(
        "cat /out/old; echo new > /out/new",
        Some(&folder.join("out")),
    );
    role.outputs.get_mut("model").unwrap().append = true;
    let mut run = Run::of(role);
    let report = run.run_to_end();
    assert_eq!(report.exit_code, 0, "{report:#?}");
    assert_eq!(run.log(Stream::Stdout), "old\n");
    assert_eq!(names(&folder.join("out")), ["new", "old"]);
}

#[test]
fn after_the_supervisors_death_outputs_are_collected_once() {
    let (_scratch, folder) = project();
    let destination = folder.join("out/model");
    let command = "echo half > /out/x; echo ready; sleep 100";
    let mut run = Run::of(one_output(command, Some(&destination)));
    run.start();
    crate::support::eventually("output", || run.log(Stream::Stdout).contains("ready"));
    let supervisor = run.wait_for("supervisor", |event| {
        matches!(event.what, Happening::Supervising { .. })
    });
    let Happening::Supervising { pid } = supervisor.what else {
        panic!("{supervisor:?}")
    };
    let pid = nix::unistd::Pid::from_raw(pid);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
    run.forget();
    for _ in 0..2 {
        let adoption = local::adopt(&run.folder).unwrap();
        assert!(matches!(adoption, Adoption::Over { lost, .. } if lost.len() == 1));
        assert_eq!(fs::read(destination.join("x")).unwrap(), b"half\n");
        assert_eq!(only(&run).failure, None);
    }
}

#[test]
fn a_link_output_is_what_the_task_names() {
    let (_scratch, folder) = project();
    let data = folder.join("data");
    let line = format!(
        "printf '{{\"output\":\"model\",\"path\":\"%s\"}}\\n' {} >> \"$PINNACE_LINKS\"",
        data.display()
    );
    for (level, by_user) in [
        (Level::Overlay, false),
        (Level::Overlay, true),
        (Level::Plain, false),
    ] {
        let mut role = one_output(&line, None);
        role.outputs.get_mut("model").unwrap().mode = OutputMode::Link;
        role.command.push(Text::from(
            "test \"$AZUREML_LINK_DATASET_OUTPUTS\" = model && test -x \"$PINNACE\"",
        ));
        let run = Run::of(role).level(level);
        let run = if by_user {
            as_ordinary_user(run)
        } else {
            Some(run)
        };
        let Some(mut run) = run else { continue };
        let report = run.run_to_end();
        assert_eq!(
            report.exit_code,
            0,
            "{report:#?} {}",
            run.log(Stream::Stderr)
        );
        let collected = only(&run);
        assert!(collected.linked);
        assert_eq!(Path::new(&collected.location), data);
        assert_eq!((collected.files, collected.bytes), (1, 4));
    }
}

#[test]
fn a_link_output_that_is_never_linked_fails_the_task() {
    let mut role = one_output("true", None);
    role.outputs.get_mut("model").unwrap().mode = OutputMode::Link;
    let report = Run::of(role).run_to_end();
    assert_eq!(
        report.collect_failure.as_deref(),
        Some("the output `model` was never linked")
    );
    assert!(!report.succeeded());
}

#[test]
fn every_code_that_a_command_chooses_can_be_a_success() {
    let mut any = role(&["exit 7"]);
    any.success = SuccessfulExit::ZeroOrGreater;
    assert!(Run::of(any.clone()).run_to_end().succeeded());
    any.command = vec![Text::from("kill -9 $$")];
    assert!(!Run::of(any).run_to_end().succeeded());
}

#[test]
fn a_written_file_may_hold_a_secret() {
    let mut with_secret = role(&["test \"$(wc -c < /etc/pinnace/token)\" = 9"]);
    let mut text = Text::default();
    text.push_secret(SecretName("token".to_owned()));
    with_secret.files = [("/etc/pinnace/token".to_owned(), text)].into();
    for level in [Level::Overlay, Level::ReadOnly] {
        let mut run = Run::of(with_secret.clone())
            .secret("token", "verysafe!")
            .level(level);
        let report = run.run_to_end();
        assert_eq!(report.exit_code, 0, "{report:#?}");
    }
}

/// A folder with a package that can be installed without a network; none where there is no Python.
fn wheels(folder: &Path) -> Option<PathBuf> {
    let wheels = folder.join("wheels");
    fs::create_dir(&wheels).unwrap();
    let script = "import sys, zipfile
with zipfile.ZipFile(sys.argv[1] + '/greeting-1.0-py3-none-any.whl', 'w') as wheel:
    info = 'greeting-1.0.dist-info/'
    wheel.writestr('greeting.py', 'WORDS = \"hello\"')
    wheel.writestr(info + 'METADATA', 'Metadata-Version: 2.1\\nName: greeting\\nVersion: 1.0\\n')
    wheel.writestr(info + 'WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr(info + 'RECORD', '')
";
    let made = std::process::Command::new("python3")
        .args(["-c", script])
        .arg(&wheels)
        .status();
    if made.is_ok_and(|status| status.success()) {
        return Some(wheels);
    }
    eprintln!("SKIPPED: no Python here");
    None
}

#[test]
fn python_packages_come_from_the_index_of_the_user_and_are_installed_once() {
    let (_scratch, folder) = project();
    let Some(wheels) = wheels(&folder) else {
        return;
    };
    // The file in the code and the lines of the job count together.
    fs::write(folder.join("src/requirements.txt"), "greeting==1.0\n").unwrap();
    let mut role = processor(&folder);
    role.command = vec![Text::from(
        "python -c 'import greeting, sys; print(greeting.WORDS, sys.prefix)'",
    )];
    role.outputs.clear();
    role.python = Some(PythonEnvironment {
        requirements: vec![Text::from(format!(
            "--no-index\n--find-links {}",
            wheels.display()
        ))],
        file: Some("requirements.txt".to_owned()),
    });
    let cache = folder.join("cache");
    let mut prefixes = Vec::new();
    for level in [Level::Overlay, Level::Plain] {
        let mut run = Run::of(role.clone()).level(level);
        run.attempt.settings.cache = Some(cache.clone());
        let report = run.run_to_end();
        assert_eq!(
            report.exit_code,
            0,
            "{report:#?} {}",
            run.log(Stream::Stderr)
        );
        let said = run.log(Stream::Stdout);
        assert!(said.starts_with("hello "), "{said}");
        prefixes.push(said);
    }
    assert_eq!(prefixes[0], prefixes[1]);
    let made: Vec<String> = names(&cache.join("python"));
    assert_eq!(made.len(), 2, "an environment and its lock: {made:?}");
}

#[test]
fn numbers_are_found_while_they_are_printed() {
    let role = role(&["echo loss=0.5; echo loss=0.25 >&2; echo ready; sleep 100"]);
    let mut run = Run::of(role).with(|attempt| {
        attempt.plan.metrics = vec![MetricRule {
            name: "loss".to_owned(),
            pattern: "loss=([0-9.]+)".to_owned(),
        }];
    });
    run.start();
    let logs = local::Layout::new(&run.folder).logs(&crate::support::worker(0));
    crate::support::eventually("two numbers", || metric::read(&logs).unwrap().len() == 2);
    let mut values: Vec<f64> = metric::read(&logs)
        .unwrap()
        .iter()
        .map(|point| point.value)
        .collect();
    values.sort_by(f64::total_cmp);
    assert_eq!(values, [0.25, 0.5]);
    local::stop(&run.folder, None, Some(std::time::Duration::ZERO)).unwrap();
    run.finish();
}

#[test]
fn a_package_that_does_not_exist_is_the_reason() {
    let mut role = role(&["true"]);
    role.python = Some(PythonEnvironment {
        requirements: vec![Text::from("--no-index"), Text::from("no-such-package==9.9")],
        file: None,
    });
    let report = Run::of(role).run_to_end();
    let why = report.start_failure.unwrap();
    assert!(
        why.starts_with("the Python packages cannot be installed: "),
        "{why}"
    );
    assert!(why.contains("no-such-package"), "{why}");
}
