//! What a task finds in its environment, and what prerequisites of other kinds do.

use std::fs;
use std::process::Command;

use pinnace_core::plan::{Action, Event as When, OnFailure, Step};
use pinnace_exec::log::Stream;
use pinnace_exec::{ExitReport, Level, TaskId};

use crate::support::{Run, hook, role, worker};

#[test]
fn a_task_finds_every_variable_that_is_promised() {
    let mut server = role(&["true"]);
    server.instances = 2;
    server.ports.insert("grpc".to_owned(), 2);
    let worker_role = role(&["env"]);
    let mut run = Run::of_roles(vec![("ps_server", server), ("worker", worker_role)]);
    let plan = run.attempt.plan.clone();
    run.start();
    run.finish();
    let log = run.log(Stream::Stdout);
    let value = |name: &str| {
        let found: Vec<&str> = log
            .lines()
            .filter_map(|line| line.strip_prefix(name)?.strip_prefix('='))
            .collect();
        assert!(found.len() == 1, "{name}: {found:?}\n{log}");
        found[0].to_owned()
    };
    for variable in pinnace_core::environment::variables(&plan, "worker") {
        for name in variable.names() {
            value(&name);
        }
    }
    assert_eq!(value("PAI_JOB_NAME"), "ann~test");
    assert_eq!(value("RANK"), "2");
    assert_eq!(value("WORLD_SIZE"), "3");
    assert_eq!(
        value("MASTER_PORT"),
        value("PAI_PORT_LIST_ps_server_0_http")
    );
    assert_eq!(
        value("PAI_psserver_1_grpc_PORT"),
        value("PAI_PORT_LIST_ps_server_1_grpc")
    );
    assert_eq!(value("PAI_PORT_LIST_psserver_1_grpc").split(',').count(), 2);
    let hosts = value("PAI_TASK_ROLE_psserver_HOST_LIST");
    assert_eq!(hosts, value("PAI_TASK_ROLE_ps_server_HOST_LIST"));
    assert_eq!(hosts.split(',').count(), 2);
    assert!(value("PAI_CONTAINER_HOST_PORT_LIST").starts_with("ssh:"));
    assert_eq!(value("HOME"), value("PAI_WORK_DIR"));
    assert_eq!(value("CUDA_VISIBLE_DEVICES"), "");
}

#[test]
fn every_task_can_use_its_ports_however_many_there_are() {
    let bind = "import os,socket; socket.socket().bind(('127.0.0.1', int(os.environ['PAI_PORT_LIST_narrow_69_http'])))";
    let mut wide = role(&["true"]);
    wide.ports.insert("many".to_owned(), 130);
    let mut narrow = role(&[&format!(
        "[ \"$PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX\" != 69 ] || python3 -c \"{bind}\""
    )]);
    narrow.instances = 70;
    let mut run = Run::of_roles(vec![("wide", wide), ("narrow", narrow)]);
    run.start();
    let reports = run.finish();
    assert_eq!(reports.len(), 71);
    let failed = reports.iter().find(|report| report.exit_code != 0);
    assert!(failed.is_none(), "{failed:#?}");
}

#[test]
fn a_task_has_an_empty_standard_input() {
    // Without one, the first pipe of a shell would take its number.
    let mut run = Run::of(role(&[
        "[ -z \"$(cat)\" ]",
        "[ $(readlink /proc/self/fd/0) = /dev/null ]",
    ]));
    assert_eq!(run.run_to_end().exit_code, 0);
}

#[test]
fn peers_talk_over_their_ports() {
    let server = role(&[
        "python3 - <<'END'\nimport os,socket\ns=socket.socket(); s.bind(('', int(os.environ['PAI_CONTAINER_HOST_PORT']))); s.listen()\nc,_=s.accept(); c.sendall(b'hello'); c.close()\nEND",
    ]);
    let client = role(&[
        "python3 - <<'END'\nimport json,os,socket,time\npeers=json.load(open(os.environ['PINNACE_PEERS']))\np=[p for p in peers if p['role']=='server'][0]\nwhile True:\n  try:\n    c=socket.create_connection((p['address'],p['ports']['http'][0])); break\n  except OSError: time.sleep(0.05)\nprint(c.recv(9).decode())\nEND",
    ]);
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("SKIPPED: no python3 here");
        return;
    }
    let mut run = Run::of_roles(vec![("server", server), ("client", client)]);
    run.start();
    let reports = run.finish();
    let client = TaskId {
        role: "client".to_owned(),
        index: 0,
    };
    assert!(
        reports.iter().all(ExitReport::succeeded),
        "{}",
        run.log_of(&client, Stream::Stderr)
    );
    assert_eq!(run.log_of(&client, Stream::Stdout), "hello\n");
}

fn clone(repository: &str, directory: Option<&str>) -> Step {
    Step {
        action: Action::GitClone {
            repository: repository.into(),
            options: vec!["--depth".into(), "1".into()],
            directory: directory.map(Into::into),
        },
        ..hook("git", When::Start, &[])
    }
}

#[test]
fn a_repository_is_cloned() {
    if Command::new("git").arg("--version").output().is_err() {
        eprintln!("SKIPPED: no git here");
        return;
    }
    let home = tempfile::tempdir_in("/var/tmp").unwrap();
    let repository = home.path().join("repository");
    let script = "git init -q . && echo content > file && git add . && \
                  git -c user.name=a -c user.email=a@b commit -qm first";
    fs::create_dir(&repository).unwrap();
    assert!(
        Command::new("sh")
            .args(["-c", script])
            .current_dir(&repository)
            .status()
            .unwrap()
            .success()
    );
    let address = format!("file://{}", repository.display());
    for directory in [None, Some("code")] {
        let mut worker = role(&["cat \"$CODE/file\""]);
        worker.env.insert(
            "CODE".to_owned(),
            directory.unwrap_or("/usr/local/pai/code").into(),
        );
        worker.before = vec![clone(&address, directory)];
        let mut run = Run::of(worker);
        let report = run.run_to_end();
        if directory.is_none() && report.level < Level::Overlay {
            eprintln!("SKIPPED: no overlay here");
            continue;
        }
        assert_eq!(report.exit_code, 0, "{:?}", run.runtime());
        assert_eq!(run.log(Stream::Stdout), "content\n");
    }
    let mut worker = role(&["true"]);
    worker.before = vec![clone("file:///nowhere", Some("/usr"))];
    let mut run = Run::of(worker);
    assert_ne!(run.run_to_end().exit_code, 0);
    assert!(run.runtime().iter().any(|line| line.contains("not empty")));
}

#[test]
fn what_is_not_installed_is_named() {
    let mut worker = role(&["true"]);
    worker.before = vec![Step {
        action: Action::TensorBoard {
            port: None,
            logdir: [("log".to_owned(), "/logs".into())].into_iter().collect(),
        },
        ..hook("tensorboard", When::Start, &[])
    }];
    let mut run = Run::of(worker).with(|attempt| {
        attempt
            .settings
            .environment
            .insert("PATH".to_owned(), "/bin:/usr/bin".to_owned());
    });
    let report = run.run_to_end();
    if report.exit_code == 0 {
        eprintln!("SKIPPED: TensorBoard is installed");
        return;
    }
    assert!(
        run.runtime()
            .iter()
            .any(|line| line.contains("pip install tensorboard")),
        "{:?}",
        run.runtime()
    );
}

#[test]
fn tasks_log_in_to_each_other() {
    let ssh = Step {
        action: Action::Ssh {
            between_tasks: true,
            public_keys: Vec::new(),
            barrier: true,
            barrier_timeout_minutes: 1,
        },
        on_failure: OnFailure::Fail,
        ..hook("ssh", When::Start, &[])
    };
    let mut role = role(&[
        "[ \"$PAI_TASK_INDEX\" = 0 ] && ssh worker-1 'echo reached $0; hostname >/dev/null' || sleep 3",
    ]);
    role.instances = 2;
    role.before = vec![ssh];
    let mut run = Run::of(role);
    run.start();
    let reports = run.finish();
    let runtime = run.runtime();
    if runtime.iter().any(|line| line.contains("openssh-server")) {
        eprintln!("SKIPPED: no SSH server here, and the failure says what to install");
        assert!(reports.iter().all(|report| !report.succeeded()));
        return;
    }
    assert!(reports.iter().all(ExitReport::succeeded), "{runtime:?}");
    assert!(
        run.log_of(&worker(0), Stream::Stdout)
            .starts_with("reached")
    );
}
