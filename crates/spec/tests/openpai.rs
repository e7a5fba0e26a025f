//! OpenPAI jobs from text to plan: the cases of the protocol and of the prerequisites proposal.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod leaves;

use std::collections::HashMap;

use pinnace_core::plan::{Action, Event, OnFailure, Role, Step};
use pinnace_spec::diagnostic::{Diagnostic, Levels, Severity};
use pinnace_spec::job::{self, Compat, Job, Outcome, Request};
use pinnace_spec::library::{Answer, ItemRef, Library};
use pinnace_spec::setting::Setting;
use pinnace_spec::source::Sources;

#[derive(Default)]
struct Shelf(HashMap<String, &'static str>);

impl Library for Shelf {
    fn find(&self, item: &ItemRef) -> Answer {
        match self.0.get(&item.to_string()) {
            Some(text) => Answer::Item {
                name: item.to_string(),
                text: (*text).to_owned(),
            },
            None => Answer::Missing {
                others: self.0.keys().cloned().collect(),
            },
        }
    }
}

fn marketplace() -> Shelf {
    Shelf(HashMap::from([
        (
            "marketplace://data/mnist".to_owned(),
            include_str!("fixtures/marketplace/data/mnist.yaml"),
        ),
        (
            "marketplace://script/pai_copy".to_owned(),
            include_str!("fixtures/marketplace/script/pai_copy.yaml"),
        ),
    ]))
}

struct Read {
    sources: Sources,
    outcome: Outcome,
}

static LEVELS: std::sync::LazyLock<Levels> = std::sync::LazyLock::new(Levels::default);

fn request(settings: &[Setting], compat: Compat) -> Request<'_> {
    Request {
        settings,
        compat,
        plan: true,
        ..Request::new(&LEVELS)
    }
}

fn read_with(text: &str, settings: &[Setting], compat: Compat, library: &dyn Library) -> Read {
    let sources = Sources::default();
    let source = sources.add("job.yaml", text);
    let request = request(settings, compat);
    let outcome = job::read(&sources, source, &request, library);
    Read { sources, outcome }
}

fn read(text: &str) -> Read {
    read_with(text, &[], Compat::None, &marketplace())
}

impl Read {
    fn errors(&self) -> Vec<&Diagnostic> {
        self.outcome
            .diagnostics
            .iter()
            .filter(|found| found.severity == Severity::Error)
            .collect()
    }

    fn summary(&self) -> Vec<String> {
        let line = |found: &Diagnostic| {
            let place = self.sources.place(found.span);
            format!(
                "{}:{}:{} {} {}",
                place.file, place.line, place.column, found.code.id, found.message
            )
        };
        self.outcome.diagnostics.iter().map(line).collect()
    }

    fn job(&self) -> &Job {
        assert!(self.errors().is_empty(), "{:#?}", self.summary());
        self.outcome
            .job
            .as_ref()
            .expect("no errors, so there is a job")
    }

    fn role(&self, name: &str) -> &Role {
        &self.job().plan.roles[name]
    }
}

fn names(steps: &[Step]) -> Vec<&str> {
    steps.iter().map(|step| step.name.as_str()).collect()
}

fn shown(step: &Step) -> Vec<String> {
    match &step.action {
        Action::Shell { commands } => commands
            .iter()
            .map(|line| line.render(|name| format!("<{name}>")))
            .collect(),
        other => panic!("not a shell step: {other:?}"),
    }
}

macro_rules! case {
    ($name:literal) => {
        include_str!(concat!("fixtures/openpai/", $name, ".yaml"))
    };
}

const GOOD_CASES: &[(&str, &str)] = &[
    ("distributed-tensorflow", case!("distributed-tensorflow")),
    ("prerequisites-backward", case!("prerequisites-backward")),
    ("prerequisites-cmd", case!("prerequisites-cmd")),
    ("prerequisites-data", case!("prerequisites-data")),
    (
        "prerequisites-marketplace",
        case!("prerequisites-marketplace"),
    ),
    ("prerequisites-multiple", case!("prerequisites-multiple")),
    (
        "prerequisites-parameters-secrets",
        case!("prerequisites-parameters-secrets"),
    ),
    ("prerequisites-proposal", case!("prerequisites-proposal")),
];

#[test]
fn every_good_case_has_a_plan() {
    for (name, text) in GOOD_CASES {
        let read = read(text);
        assert!(read.errors().is_empty(), "{name}: {:#?}", read.summary());
        assert!(read.outcome.job.is_some(), "{name}");
    }
}

#[test]
fn an_unknown_prerequisite_is_reported_where_it_is_named() {
    let read = read(case!("prerequisites-wrong"));
    let [error] = read.errors()[..] else {
        panic!("{:#?}", read.summary())
    };
    let place = read.sources.place(error.span);
    assert_eq!(
        (error.code.name, place.line, place.column),
        ("unknown-prerequisite", 29, 9)
    );
    assert_eq!(error.help, ["did you mean `justecho`?"]);
    assert!(read.outcome.job.is_none());
}

#[test]
fn requirements_go_first_each_once_and_exits_are_reversed() {
    let read = read(case!("prerequisites-proposal"));
    let role = read.role("taskrole");
    assert_eq!(
        names(&role.before),
        ["mnist-data", "install-pai-copy", "output-dir", "enable-ssh"]
    );
    assert_eq!(names(&role.after), ["output-dir"]);
    assert_eq!(role.after[0].on, Event::Always);
    assert_eq!(role.before[1].on_failure, OnFailure::Ignore);
    assert_eq!(
        shown(&role.before[0]),
        ["export MNIST_DIR=/mnt/nfs-storage-1/mnist"]
    );
    let [mount] = &role.mounts[..] else {
        panic!("{:?}", role.mounts)
    };
    assert_eq!(mount.storage.as_literal(), Some("nfsconfig"));
    assert_eq!(mount.target.as_literal(), Some("/mnt/nfs-storage-1"));
    let origin = &read.job().origins["roles.taskrole.before[0].action.commands[0]"];
    let json = serde_json::to_string(origin).unwrap();
    assert!(
        json.contains(r#""kind":"inherited","from":"nfs-storage-1""#),
        "{json}"
    );
}

#[test]
fn exit_hooks_run_in_the_opposite_order() {
    let read = read(case!("prerequisites-multiple"));
    let role = read.role("taskrole");
    assert_eq!(
        names(&role.before),
        ["justecho_first", "justecho_later", "ssh"]
    );
    assert_eq!(names(&role.after), ["justecho_later", "justecho_first"]);
    assert_eq!(shown(&role.after[0]), ["echo bbb"]);
    assert_eq!(role.after[0].on, Event::Success);
}

#[test]
fn marketplace_items_bring_their_own_requirements() {
    let read = read(case!("prerequisites-marketplace"));
    let role = read.role("taskrole");
    assert_eq!(names(&role.before), ["pai_copy", "mnist", "copy_data"]);
    assert_eq!(
        shown(&role.before[1]),
        [
            "pai_copy https://example.com/mnist /tmp/mnist",
            "export MNIST_DIR=/tmp/mnist"
        ]
    );
}

#[test]
fn a_deployment_goes_around_the_command_and_only_secrets_stay_symbolic() {
    let text = case!("distributed-tensorflow")
        .replace(
            "docker_password: password",
            "docker_password: zebra-crossing-17",
        )
        .replace("cGFzc3dvcmQ=", "giraffe-feeding-23");
    let read = read(&text);
    let worker = read.role("worker");
    let lines: Vec<String> = worker
        .command
        .iter()
        .map(|line| line.render(|name| format!("<{name}>")))
        .collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(
        lines[0],
        "wget https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz -P data_cifar10"
    );
    assert!(lines[1].starts_with(
        "git clone https://MaggieQi:<github_token>@gh.neting.cc/MaggieQi/benchmarks script_tensorflow_cnnbenchmarks &&"
    ));
    assert!(
        lines[3].contains("--model=resnet20 --batch_size=32"),
        "{}",
        lines[3]
    );
    assert!(!lines.iter().any(|line| line.contains("<%")));
    assert_eq!(read.role("ps_server").command.len(), 5);
    let auth = worker
        .image
        .as_ref()
        .and_then(|image| image.auth.as_ref())
        .unwrap();
    assert_eq!(auth.password.as_ref().unwrap().secrets().count(), 1);
    let everything = format!("{:?}", read.outcome);
    assert!(!everything.contains("zebra") && !everything.contains("giraffe"));
}

#[test]
fn a_secret_written_in_clear_is_named_in_the_plan() {
    let text = case!("prerequisites-parameters-secrets")
        .replace("'222'", "hunter22")
        .replace("- sleep 0s", "- curl -H 'token hunter22' example.com");
    let read = read(&text);
    let line = &read.role("taskrole").command[0];
    assert_eq!(
        line.render(|name| format!("<{name}>")),
        "curl -H 'token <y>' example.com"
    );
    assert!(!format!("{:?}", read.outcome).contains("hunter22"));
}

#[test]
fn every_leaf_of_a_plan_has_an_origin() {
    for (name, text) in GOOD_CASES {
        let read = read(text);
        let job = read.job();
        leaves::all_have_origins(name, job);
    }
}

/// A job whose prerequisites and role lines are given.
fn job_with(prerequisites: &str, role: &str, rest: &str) -> String {
    format!(
        "protocolVersion: 2\nname: j\ntype: job\nprerequisites:\n  - {{name: img, type: dockerimage, uri: 'a:1'}}\n{prerequisites}\
         taskRoles:\n  main:\n    dockerImage: img\n    resourcePerInstance: {{cpu: 1, memoryMB: 1, gpu: 0}}\n{role}{rest}"
    )
}

#[test]
fn a_cycle_is_reported_once_as_the_cycle_it_is() {
    let prerequisites = "  - {name: a, type: script, require: [b]}\n  - {name: b, type: script, require: [c]}\n  - {name: c, type: script, require: [a]}\n";
    let read = read(&job_with(
        prerequisites,
        "    prerequisites: [a]\n    commands: [ls]\n",
        "",
    ));
    let errors = read.errors();
    let [error] = errors[..] else {
        panic!("{:#?}", read.summary())
    };
    assert_eq!(error.code.name, "require-cycle");
    assert!(
        error
            .message
            .ends_with("`a` requires `b` requires `c` requires `a`"),
        "{}",
        error.message
    );
    assert_eq!(error.related.len(), 2);
}

#[test]
fn the_nearest_requirement_wins_and_equally_near_ones_conflict() {
    let shared = "  - {name: far, type: data, dir: /far, size: 1}\n  - {name: near, type: data, dir: /near, require: [far]}\n";
    let one = format!(
        "{shared}  - {{name: use, type: script, require: [near], callbacks: [{{event: taskStarts, commands: ['echo <% this.dir %> <% this.parameters.size %>']}}]}}\n"
    );
    let found = read(&job_with(
        &one,
        "    prerequisites: [use]\n    commands: [ls]\n",
        "",
    ));
    assert_eq!(shown(&found.role("main").before[0]), ["echo /near 1"]);
    let two = format!(
        "{shared}  - {{name: use, type: script, require: [near, far], callbacks: [{{event: taskStarts, commands: ['echo <% this.dir %>']}}]}}\n"
    );
    let found = read(&job_with(
        &two,
        "    prerequisites: [use]\n    commands: [ls]\n",
        "",
    ));
    let errors = found.errors();
    let [error] = errors[..] else {
        panic!("{:#?}", found.summary())
    };
    assert_eq!(error.code.name, "inherited-twice");
}

#[test]
fn a_missing_reference_is_an_error_and_stays_literal_in_upstream_manner() {
    let text = job_with(
        "",
        "    commands: ['echo <% $parameters.batchsize %>']\n",
        "parameters: {batch_size: 1}\n",
    );
    let strict = read(&text);
    assert!(
        strict
            .errors()
            .iter()
            .any(|error| error.code.name == "missing-reference"),
        "{:?}",
        strict.summary()
    );
    let relaxed = read_with(&text, &[], Compat::OpenPai, &marketplace());
    assert!(relaxed.errors().is_empty(), "{:?}", relaxed.summary());
    assert_eq!(
        relaxed.role("main").command[0].as_literal(),
        Some("echo <% $parameters.batchsize %>")
    );
}

#[test]
fn a_parameter_from_the_command_line_keeps_what_it_replaced() {
    let text = job_with(
        "",
        "    commands: ['echo <% $parameters.batch %>']\n",
        "parameters: {batch: 32}\n",
    );
    let read = read_with(
        &text,
        &[Setting::parameter("batch=28")],
        Compat::None,
        &marketplace(),
    );
    assert_eq!(read.role("main").command[0].as_literal(), Some("echo 28"));
    let origin = serde_json::to_value(&read.job().origins["roles.main.command[0]"]).unwrap();
    assert_eq!(origin["via"][0]["flag"], "-p batch=28");
    assert_eq!(origin["via"][0]["via"][0]["path"], "parameters.batch");
}

#[test]
fn a_missing_image_is_reported_once_with_every_place() {
    let text = "protocolVersion: 2\nname: j\ntype: job\ntaskRoles:\n  a: &r\n    dockerImage: gone\n    resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0}\n    commands: [ls]\n    completion: {minSucceededInstances: -1}\n  b:\n    dockerImage: gone\n    resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0}\n    commands: [ls]\n    completion: {minSucceededInstances: -1}\n";
    let read = read(text);
    let errors = read.errors();
    let [error] = errors[..] else {
        panic!("{:#?}", read.summary())
    };
    assert_eq!(
        (error.code.name, error.related.len()),
        ("unknown-prerequisite", 1)
    );
}

#[test]
fn plugins_are_checked_and_unknown_ones_refused() {
    let extras = "extras:\n  com.microsoft.pai.runtimeplugin:\n    - {plugin: sshh}\n    - {plugin: git, parameters: {options: [--depth=1]}}\n    - {plugin: nope, failurePolicy: ignore}\n    - {plugin: ssh, parameters: {jobssh: 'yes', jobsshh: true}}\n";
    let read = read(&job_with("", "    commands: [ls]\n", extras));
    let summary: Vec<(&str, Severity)> = read
        .outcome
        .diagnostics
        .iter()
        .map(|found| (found.code.name, found.severity))
        .collect();
    assert_eq!(
        summary,
        [
            ("unknown-plugin", Severity::Error),
            ("missing-key", Severity::Error),
            ("unknown-plugin", Severity::Warning),
            ("wrong-type", Severity::Error),
            ("ignored-key", Severity::Warning),
        ],
        "{:#?}",
        read.summary()
    );
}

#[test]
fn a_failed_task_is_kept_as_long_as_the_file_says() {
    let kept = |minutes: &str| {
        let extras = format!("extras: {{pinnace: {{keepOnFailureMinutes: {minutes}}}}}\n");
        read(&job_with("", "    commands: [ls]\n", &extras))
    };
    let half_an_hour = kept("30");
    assert_eq!(half_an_hour.job().plan.keep_on_failure_minutes, Some(30));
    let origin = half_an_hour.job().origins.get("keepOnFailureMinutes");
    assert!(origin.is_some());
    assert_eq!(kept("0").job().plan.keep_on_failure_minutes, None);
    assert_eq!(kept("soon").errors().len(), 1);
    assert_eq!(kept("100000").errors().len(), 1);
}

#[test]
fn hived_settings_are_checked_in_both_spellings() {
    let extras = "extras:\n  hivedscheduler:\n    jobPriorityClass: crit\n    taskRoles:\n      main: {gpuType: V100, reservationId: cell-1}\n      mainn: {gpuType: K80}\n";
    let read = read(&job_with("", "    commands: [ls]\n", extras));
    let codes: Vec<&str> = read.errors().iter().map(|error| error.code.name).collect();
    assert_eq!(
        codes,
        ["sku-and-cell", "unknown-scheduled-role"],
        "{:#?}",
        read.summary()
    );
}

#[test]
fn a_tangle_of_requirements_stops_in_time() {
    use std::fmt::Write as _;
    let count = 1_500;
    let all: Vec<String> = (0..count).map(|index| format!("w{index}")).collect();
    let mut prerequisites = format!(
        "  - {{name: hub, type: script, require: [{}]}}\n",
        all.join(", ")
    );
    for name in &all {
        let _ = writeln!(prerequisites, "  - {{name: {name}, type: script}}");
    }
    let mut roles = String::new();
    for index in 0..count {
        let _ = writeln!(
            roles,
            "  r{index}: {{dockerImage: img, prerequisites: [hub], resourcePerInstance: {{cpu: 1, memoryMB: 1, gpu: 0}}, commands: [ls]}}"
        );
    }
    let text = job_with(&prerequisites, "    commands: [ls]\n", &roles);
    let read = read(&text);
    assert!(
        read.errors()
            .iter()
            .any(|error| error.code.name == "tangled-prerequisites")
    );
}

#[test]
fn without_a_marketplace_a_check_warns_and_a_plan_is_refused() {
    use pinnace_spec::library::NoLibrary;
    let text =
        case!("prerequisites-marketplace").replace("pai_copy data", "pai_copy <% this.source %>");
    let sources = Sources::default();
    let source = sources.add("job.yaml", text);
    for plan in [false, true] {
        let request = Request {
            plan,
            ..request(&[], Compat::None)
        };
        let outcome = job::read(&sources, source, &request, &NoLibrary);
        let severity = if plan {
            Severity::Error
        } else {
            Severity::Warning
        };
        let found: Vec<_> = outcome
            .diagnostics
            .iter()
            .map(|found| (found.code.name, found.severity))
            .collect();
        assert_eq!(
            found,
            [("no-marketplace", severity), ("no-marketplace", severity)]
        );
    }
}

#[test]
fn a_name_that_means_nothing_does_not_make_others_unused() {
    let text = job_with("", "    commands: [ls]\n", "")
        .replace("dockerImage: img", "dockerImage: something_else");
    let read = read(&text);
    let codes: Vec<&str> = read
        .outcome
        .diagnostics
        .iter()
        .map(|found| found.code.name)
        .collect();
    assert_eq!(codes, ["unknown-prerequisite"], "{:#?}", read.summary());
}

#[test]
fn a_loss_that_a_flag_brings_is_shown_at_the_flag() {
    let text = job_with("", "    commands: [ls]\n", "");
    let sources = Sources::default();
    let source = sources.add("job.yaml", text);
    let settings = [
        Setting::set("taskRoles.main.instances=2"),
        Setting::set("taskRoles.main.extraContainerOptions.infiniband=true"),
    ];
    let request = Request {
        strict: true,
        ..request(&settings, Compat::None)
    };
    let outcome = job::read(&sources, source, &request, &marketplace());
    let loss = outcome
        .diagnostics
        .iter()
        .find(|found| found.message.contains("infiniband"))
        .unwrap();
    assert_eq!(loss.code.name, "fidelity-loss");
    assert_eq!(
        sources.get(loss.span.source).text(),
        "taskRoles.main.extraContainerOptions.infiniband=true"
    );
}
