//! Processors from text to plan.
#![allow(clippy::unwrap_used, missing_docs)]

mod leaves;

use pinnace_core::fidelity::Honour;
use pinnace_core::plan::{DataKind, Plan, Role};
use pinnace_spec::diagnostic::Levels;
use pinnace_spec::job::{self, Job, Outcome, Request};
use pinnace_spec::library::{Answer, ItemRef, Library, Look};
use pinnace_spec::setting::Setting;
use pinnace_spec::shape;
use pinnace_spec::source::Sources;
use pinnace_spec::yaml::{self, Limits};

const CASE: &str = include_str!("fixtures/processor/processor.yaml");
const WHOLE: &str = include_str!("fixtures/processor/whole.yaml");

/// The files beside the processor.
struct Files;

impl Library for Files {
    fn find(&self, _: &ItemRef) -> Answer {
        Answer::NoMarketplace
    }

    fn look(&self, path: &str) -> Look {
        match path {
            "/job/src" | "/job/data/train" => Look::Folder,
            "/job/data/one.csv" | "/job/src/requirements.txt" => Look::File { size: 5 },
            _ => Look::Missing,
        }
    }
}

static LEVELS: std::sync::LazyLock<Levels> = std::sync::LazyLock::new(Levels::default);

fn read_with(text: &str, inputs: &[Setting], outputs: &[Setting]) -> Outcome {
    let sources = Sources::default();
    let source = sources.add("job.yaml", text);
    let request = Request {
        inputs,
        outputs,
        folder: Some("/job"),
        here: Some("/here"),
        plan: true,
        ..Request::new(&LEVELS)
    };
    job::read(&sources, source, &request, &Files)
}

fn job_of(text: &str) -> Job {
    let outcome = read_with(text, &[], &[]);
    let found: Vec<_> = outcome.diagnostics.iter().map(|one| &one.message).collect();
    outcome.job.unwrap_or_else(|| panic!("{found:?}"))
}

fn worker(plan: &Plan) -> &Role {
    &plan.roles["worker"]
}

fn env(role: &Role, name: &str) -> String {
    role.env[name].render(|_| String::new())
}

/// The codes of the problems in a processor with these lines, with their lines in the file.
fn problems(lines: &str) -> Vec<String> {
    let text = format!("image_uri: python:3.11\ncommand: python main.py\n{lines}");
    let sources = Sources::default();
    let source = sources.add("job.yaml", text.as_str());
    let request = Request {
        folder: Some("/job"),
        plan: true,
        ..Request::new(&LEVELS)
    };
    let outcome = job::read(&sources, source, &request, &Files);
    let line = |at: usize| text[..at].matches('\n').count() + 1;
    outcome
        .diagnostics
        .iter()
        .map(|one| format!("{} {}", one.code.id, line(one.span.start as usize)))
        .collect()
}

#[test]
fn the_case_keeps_the_contract() {
    let job = job_of(CASE);
    let role = worker(&job.plan);
    assert_eq!(job.plan.name, "prepare");
    assert_eq!(job.plan.time_limit_seconds, Some(600));
    let command: Vec<_> = role
        .command
        .iter()
        .filter_map(|line| line.as_literal())
        .collect();
    assert_eq!(command, ["sh -c 'python main.py --epochs $PAI_HPS_EPOCHS'"]);
    assert_eq!(env(role, "PAI_HPS"), r#"{"epochs":"2","lr":"0.01"}"#);
    assert_eq!(env(role, "PAI_HPS_EPOCHS"), "2");
    assert_eq!(env(role, "PAI_USER_ARGS"), "--epochs 2 --lr 0.01");
    assert_eq!(
        env(role, "PAI_INPUT_TRAIN_DATA"),
        "/ml/input/data/train-data/"
    );
    assert_eq!(env(role, "PAI_OUTPUT_MODEL"), "/ml/output/model/");
    assert_eq!(env(role, "PAI_WORKING_DIR"), "/ml/usercode/");
    assert_eq!(env(role, "PAI_CONFIG_DIR"), "/ml/input/config/");
    assert_eq!(env(role, "STAGE"), "test");
    let text = |name: &str| role.files[name].as_literal().map(str::to_owned);
    assert_eq!(
        text("/ml/input/config/hyperparameters.json").as_deref(),
        Some("{\n  \"epochs\": \"2\",\n  \"lr\": \"0.01\"\n}\n")
    );
    assert_eq!(
        text("/ml/input/config/parameters.json").as_deref(),
        Some("{\n  \"epochs\": 2,\n  \"lr\": 0.01\n}\n")
    );
    let input = &role.inputs["train-data"];
    assert_eq!(input.source.as_str(), "/job/data/train");
    let output = role.outputs["model"].destination.as_ref().unwrap();
    assert_eq!(output.as_str(), "/job/out/model");
    assert_eq!(
        role.python.as_ref().unwrap().file.as_deref(),
        Some("requirements.txt")
    );
}

#[test]
fn every_field_reaches_the_plan() {
    let job = job_of(WHOLE);
    let role = worker(&job.plan);
    assert_eq!(role.instances, 2);
    assert_eq!(role.completion.min_succeeded, Some(2));
    assert_eq!(
        role.command[0].as_literal(),
        Some(r"python main.py --name 'it'\''s here' 3")
    );
    assert_eq!(env(role, "PAI_HPS_LR"), "1e-05");
    assert_eq!(env(role, "PAI_HPS_LAYERS"), "[1, 'a']");
    assert_eq!(env(role, "PAI_HPS_TRAIN_MOMENTUM"), "0.9");
    assert!(env(role, "PAI_USER_ARGS").contains("--shuffle True --nothing None --layers '[1, "));
    assert_eq!(
        env(role, "PAI_INPUT_SINGLE"),
        "/ml/input/data/single/one.csv"
    );
    assert_eq!(role.inputs["single"].kind, DataKind::File);
    assert_eq!(env(role, "PAI_INPUT_REMOTE"), "/ml/input/data/remote/");
    assert_eq!(
        env(role, "PAI_INPUT_REMOTE_FILE"),
        "/ml/input/data/remote-file/b.csv"
    );
    assert_eq!(role.inputs["set"].source.as_str(), "dataset:d-1:2");
    assert!(role.outputs["checkpoints"].append && role.outputs["board"].append);
    assert!(!role.outputs["model"].append);
    let extra = role.outputs["extra"].destination.as_ref().unwrap();
    assert_eq!(extra.as_str(), "/job/out/{job}/extra");
    assert_eq!(role.before[0].name, "tf-config");
    assert_eq!(job.plan.metrics[0].pattern, "loss=([0-9.]+)");
}

#[test]
fn every_leaf_of_a_plan_has_an_origin() {
    for (name, text) in [("case", CASE), ("whole", WHOLE)] {
        leaves::all_have_origins(name, &job_of(text));
    }
}

#[test]
fn every_key_is_accounted_for_and_what_a_machine_lacks_is_told() {
    let job = job_of(WHOLE);
    let sources = Sources::default();
    let document = yaml::load(sources.add("job.yaml", WHOLE), &Limits::default());
    let keys = shape::count_keys(&document.root.unwrap());
    assert_eq!(job.fidelity.len(), keys);
    let lost: Vec<&str> = pinnace_core::fidelity::losses(&job.fidelity)
        .filter(|account| account.status == Honour::NotHonoured)
        .map(|account| account.path.as_str())
        .collect();
    assert_eq!(
        lost,
        [
            "instance_type",
            "spot_spec",
            "resource_type",
            "user_vpc_config",
            "experiment_config",
            "settings",
            "settings.Priority",
            "show_logs"
        ]
    );
}

#[test]
fn a_flag_gives_and_replaces_inputs_and_outputs() {
    let inputs = [
        Setting::input("train-data=/job/data/one.csv"),
        Setting::input("more=/job/data/train"),
    ];
    let outputs = [Setting::output("model=there")];
    let job = read_with(CASE, &inputs, &outputs).job.unwrap();
    let role = worker(&job.plan);
    assert_eq!(
        role.inputs["train-data"].source.as_str(),
        "/job/data/one.csv"
    );
    assert_eq!(role.inputs["more"].target, "/ml/input/data/more");
    let model = role.outputs["model"].destination.as_ref().unwrap();
    assert_eq!(model.as_str(), "/here/there");
    leaves::all_have_origins("flags", &job);
}

#[test]
fn problems_are_found_where_they_stand() {
    for (lines, expected) in [
        ("job_type: PytorchJob\n", "P1120 3"),
        ("input_channels: [{name: a, required: true}]\n", "P1121 3"),
        (
            "input_channels: [{name: ab}]\ninputs:\n  abc: oss://b/k\n",
            "P1122 5",
        ),
        ("output_channels:\n- name: a\n- name: a\n", "P1123 5"),
        ("parameters: {a.b: 1, a_b: 2}\n", "P1124 3"),
        (
            "spot_spec: {spot_strategy: SpotWithPriceLimit}\n",
            "P1125 3",
        ),
        (
            "spot_spec: {spot_strategy: SpotAsPriceGo, spot_discount_limit: 0.5}\n",
            "P1125 3",
        ),
        (
            "spot_spec: {spot_strategy: SpotWithPriceLimit, spot_discount_limit: 1.5}\n",
            "P1125 3",
        ),
        (
            "spot_spec: {spot_strategy: SpotWithPriceLimit, spot_discount_limit: 0.125}\n",
            "P1125 3",
        ),
        ("requirements: ['-r x']\n", "P1126 3"),
        ("requirements: ['']\n", "P1126 3"),
        ("requirements: ['==1']\n", "P1126 3"),
        ("inputs: {a: 'nas://fs/dir'}\n", "P1128 3"),
        ("inputs: {a: {dataset_name: x}}\n", "P1128 3"),
        ("outputs: {a: 'https://x/y'}\n", "P1128 3"),
        ("outputs: {a: data/one.csv}\n", "P1128 3"),
        ("source_dir: data/one.csv\n", "P1128 3"),
        ("source_dir: 'oss://bucket/code/'\n", "P1128 3"),
        ("inputs: {a: {uri: data, dataset_id: x}}\n", "P1128 3"),
        ("inputs: {a: {dataset_id: ''}}\n", "P1128 3"),
        ("inputs: {a: null}\n", "P0203 3"),
        ("job_type: 3\n", "P0203 3"),
        ("outputs: {a: {name: b, uri: ./o}}\n", "P1130 3"),
        ("outputs: {a: ./o, b: ./o/}\n", "P1131 3"),
        (
            "output_channels: [{name: a.b}]\noutputs: {a_b: ./o}\n",
            "P1124 3",
        ),
        ("inputs: {a: ./none}\n", "P1014 3"),
        ("source_dir: ./none\n", "P1014 3"),
        ("metric_definitions: [{name: a, regex: 'x'}]\n", "P1129 3"),
        ("metric_definitions: [{name: a, regex: '(x'}]\n", "P1129 3"),
    ] {
        assert_eq!(problems(lines), [expected], "{lines}");
    }
}

#[test]
fn a_command_that_names_what_is_not_there_is_told() {
    let read = |command: &str, outputs: &[Setting]| -> Vec<String> {
        let text = format!(
            "image_uri: x\ncommand: {command}\nparameters: {{epochs: 1}}\nenvironments: {{PAI_HPS_OWN: 1}}\noutput_channels: [{{name: logs}}]\n"
        );
        let outcome = read_with(&text, &[], outputs);
        let codes = outcome.diagnostics.iter().map(|one| one.code.id.to_owned());
        codes.collect()
    };
    for good in [
        "a $PAI_HPS_EPOCHS ${PAI_HPS_SEED:-1} $PAI_HPS_OWN",
        "[cp, a, /ml/output/logs/b]",
        "ls /ml/output/* $PAI_OUTPUT_LOGS",
    ] {
        assert_eq!(read(good, &[]), Vec::<String>::new(), "{good}");
    }
    for bad in [
        "a $PAI_HPS_EPOCH $PAI_HPS_EPOCH",
        "cat ${PAI_INPUT_TRAIN}/x",
        "[cp, a, /ml/output/model/b]",
    ] {
        assert_eq!(read(bad, &[]), ["P1132"], "{bad}");
    }
    let model = [Setting::output("model=there")];
    let command = "cp a /ml/output/model/b $PAI_OUTPUT_MODEL";
    assert_eq!(read(command, &model), Vec::<String>::new());
    let odd = [Setting::output("../../etc=there")];
    assert_eq!(read("a", &odd), ["P0205"]);
}

#[test]
fn what_is_too_long_for_a_variable_is_left_out_and_told_once() {
    let lines = format!("parameters:\n  short: 1\n  long: {}\n", "x".repeat(200_000));
    assert_eq!(problems(&lines), ["P1133 5"]);
    let job = job_of(&format!("image_uri: x\ncommand: y\n{lines}"));
    let role = worker(&job.plan);
    assert_eq!(env(role, "PAI_HPS_SHORT"), "1");
    for name in ["PAI_HPS", "PAI_USER_ARGS", "PAI_HPS_LONG"] {
        assert!(!role.env.contains_key(name), "{name}");
    }
    let file = &role.files["/ml/input/config/hyperparameters.json"];
    assert!(file.render(|_| String::new()).len() > 200_000);
}

#[test]
fn a_small_file_cannot_ask_for_more_text_than_a_machine_has() {
    let long = "x".repeat(900_000);
    let names: Vec<String> = (0..15).map(|number| format!("  b{number}: *a\n")).collect();
    let aliases = names.concat();
    let lines = format!("parameters:\n  a: &a {long}\n{aliases}");
    assert_eq!(problems(&lines), ["P0412 3"]);
}

#[test]
fn null_is_the_same_as_leaving_an_argument_out() {
    let least = "image_uri: x\ncommand: y\n";
    let plan = job_of(least).plan;
    for key in [
        "source_dir",
        "job_type",
        "parameters",
        "environments",
        "requirements",
        "max_run_time",
        "base_job_name",
        "output_path",
        "instance_type",
        "instance_count",
        "spot_spec",
        "resource_type",
        "user_vpc_config",
        "experiment_config",
        "settings",
        "labels",
        "inputs",
        "outputs",
        "input_channels",
        "output_channels",
        "metric_definitions",
        "wait",
        "show_logs",
    ] {
        for null in ["null", "~", ""] {
            let job = job_of(&format!("{least}{key}: {null}\n"));
            assert_eq!(job.plan, plan, "{key}: {null}");
        }
    }
}

#[test]
fn a_dataset_has_the_version_that_pai_writes() {
    let source = |id: &str| {
        let text = format!("image_uri: x\ncommand: y\ninputs: {{a: {{dataset_id: {id}}}}}\n");
        worker(&job_of(&text).plan).inputs["a"].source.to_string()
    };
    assert_eq!(source("d-abc"), "dataset:d-abc");
    assert_eq!(source("d-abc/v2"), "dataset:d-abc:2");
    assert_eq!(source("d-abc/2"), "dataset:d-abc:2");
}

#[test]
fn a_misspelt_argument_is_refused_with_a_suggestion() {
    let outcome = read_with("image_uri: x\ncomand: y\nsession: z\n", &[], &[]);
    let helps: Vec<String> = outcome
        .diagnostics
        .iter()
        .map(|one| format!("{one:?}"))
        .collect();
    assert!(
        helps.iter().any(|help| help.contains("command")),
        "{helps:?}"
    );
    assert!(
        helps.iter().any(|help| help.contains("no session")),
        "{helps:?}"
    );
}
