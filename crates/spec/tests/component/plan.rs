//! What a spec becomes.

use pinnace_core::origin::Cause;
use pinnace_core::plan::{InputMode, OutputMode, Role, SuccessfulExit};
use pinnace_spec::job::Request;
use pinnace_spec::setting::Setting;
use pinnace_spec::shape;
use pinnace_spec::source::Sources;
use pinnace_spec::yaml::{self, Limits};

use crate::corpus::{Case, Read, good, read_with};
use crate::leaves;

fn find(title: &str) -> Case {
    let found = good().into_iter().find(|case| case.title == title);
    found.unwrap_or_else(|| panic!("no case {title}"))
}

fn case(text: &str) -> Case {
    Case {
        text: text.to_owned(),
        ..Case::default()
    }
}

fn explain(case: &Case) -> Read {
    read_with(case, |request| Request {
        plan: true,
        ..request
    })
}

fn bound(case: &Case, inputs: &[&str], outputs: &[&str], run: bool) -> Read {
    let inputs: Vec<Setting> = inputs.iter().copied().map(Setting::input).collect();
    let outputs: Vec<Setting> = outputs.iter().copied().map(Setting::output).collect();
    let sources = Sources::default();
    let source = sources.add("spec.yaml", case.text.as_str());
    let levels = pinnace_spec::diagnostic::Levels::default();
    let request = Request {
        folder: Some(crate::corpus::FOLDER),
        here: Some("/here"),
        inputs: &inputs,
        outputs: &outputs,
        plan: true,
        run,
        ..Request::new(&levels)
    };
    let outcome = pinnace_spec::job::read(&sources, source, &request, case);
    Read { sources, outcome }
}

fn role(read: &Read) -> &Role {
    &read.job().plan.roles["main"]
}

fn command(read: &Read) -> String {
    let last = role(read).command.last().expect("a command");
    last.render(|_| String::new())
}

#[test]
fn every_leaf_of_every_plan_has_an_origin() {
    for case in good() {
        let read = explain(&case);
        leaves::all_have_origins(&case.title, read.job());
    }
}

#[test]
fn every_key_of_every_spec_is_accounted_for() {
    for case in good() {
        let read = explain(&case);
        let sources = Sources::default();
        let source = sources.add("spec.yaml", case.text.as_str());
        let document = yaml::load(source, &Limits::default());
        let keys = shape::count_keys(document.root.as_ref().unwrap());
        assert_eq!(read.job().fidelity.len(), keys, "{}", case.title);
    }
}

#[test]
fn written_text_reaches_the_command() {
    let read = explain(&find("inputs: every parameter type of version 1.5"));
    assert_eq!(command(&read), "run yes 3 -3 1e-3 2 .5 True 2.0");
    assert_eq!(read.job().plan.labels["version"], "2021-01-01");
    let read = explain(&find("inputs: every parameter type in small letters"));
    assert_eq!(
        command(&read),
        "run 2021-01-01 3 9223372036854775807 0.1 0 10 False true"
    );
}

const DATA: &str = "\
name: company.team.copy
version: 0.10
type: CommandComponent
inputs:
  data: {type: path}
  file: {type: AnyFile, datastore_mode: download}
  extra: {type: path, optional: true}
  lr: {type: float, default: 0.1, max: 1}
outputs:
  model: {type: path}
  report: {type: AnyFile, datastore_mode: upload}
  old: {type: path, is_link_mode: true}
successful_return_code: ZeroOrGreater
command: >-
  cp {inputs.data} {inputs.file} [-e {inputs.extra}] -l {inputs.lr} {outputs.model}
  {outputs.report} {outputs.old}
";

#[test]
fn data_is_laid_out_as_azure_ml_does() {
    let read = bound(
        &case(DATA),
        &["data=./train", "file=https://example.com/a.csv", "lr=0.5"],
        &["model=out", "report=/tmp/report.txt"],
        true,
    );
    assert_eq!(
        command(&read),
        "cp /mnt/input/data /mnt/input/file -l 0.5 /mnt/outputs/default/model /mnt/outputs/default/report /mnt/outputs/default/old"
    );
    let role = role(&read);
    assert_eq!(role.inputs["data"].source.as_str(), "/here/train");
    assert_eq!(role.inputs["file"].mode, InputMode::Download);
    assert!(!role.inputs.contains_key("extra") && !role.inputs.contains_key("lr"));
    assert_eq!(
        role.outputs["model"].destination.as_ref().unwrap().as_str(),
        "/here/out"
    );
    assert_eq!(role.outputs["report"].mode, OutputMode::Upload);
    assert_eq!(role.outputs["old"].mode, OutputMode::Link);
    assert_eq!(role.outputs["old"].destination, None);
    assert_eq!(role.success, SuccessfulExit::ZeroOrGreater);
    assert_eq!(role.workdir.as_deref(), Some("/mnt/scripts"));
    assert_eq!(role.code.as_ref().unwrap().source.as_str(), "/job");
    let env = |name: &str| role.env[name].render(|_| String::new());
    assert_eq!(env("data"), "/mnt/input/data");
    assert_eq!(
        env("AZUREML_DATASET_ENVIRONMENT_VARS"),
        "data:mount,file:download"
    );
    assert_eq!(env("AZUREML_DATASET_FILE_OUTPUTS"), "model;report");
    assert_eq!(env("AZUREML_LINK_DATASET_OUTPUTS"), "old");
    let origin = serde_json::to_string(&read.job().origins["roles.main.command[0]"]).unwrap();
    assert!(
        origin.contains("--input lr=0.5") && origin.contains("inputs.lr.default"),
        "{origin}"
    );
}

#[test]
fn a_missing_input_is_an_error_only_when_it_is_run() {
    let read = bound(&case(DATA), &["data=x"], &[], true);
    assert_eq!(read.errors(), ["P1026"]);
    assert!(read.outcome.job.is_none());
    let read = bound(&case(DATA), &["data=x"], &[], false);
    assert_eq!(read.problems(), ["P1026:6"]);
    assert!(command(&read).starts_with("cp /mnt/input/data /mnt/input/file"));
}

#[test]
fn a_missing_input_is_told_together_with_all_other_problems_and_once() {
    let wrong = case(&format!("is_deterministic: maybe\n{DATA}"));
    let read = bound(&wrong, &["data=x"], &[], true);
    let errors = read.errors();
    assert!(errors.contains(&"P0203"), "{errors:?}");
    assert!(errors.contains(&"P1026"), "{errors:?}");
    // A flag that is wrong means its input, however it is wrong.
    for flag in ["fil=/f", "file=ftp://host/x"] {
        let read = bound(&case(DATA), &["data=x", flag], &[], true);
        assert!(!read.errors().contains(&"P1026"), "{flag}");
    }
}

#[test]
fn flags_are_held_against_the_inputs() {
    for (flag, code) in [
        ("dta=x", "P1027"),
        ("lr=2", "P1028"),
        ("lr=much", "P1028"),
        ("data=ftp://host/x", "P1028"),
    ] {
        let read = bound(&case(DATA), &[flag, "file=/f"], &[], false);
        assert_eq!(read.errors(), [code], "{flag}");
    }
    let read = bound(&case(DATA), &["data=x", "file=/f"], &["modle=x"], false);
    assert_eq!(read.errors(), ["P1027"]);
}

#[test]
fn ranks_are_tasks_that_know_their_number() {
    let read = explain(&find("types: distributed by mpi"));
    let role = role(&read);
    assert_eq!(role.instances, 4);
    let step = serde_json::to_string(&role.before).unwrap();
    for line in [
        "LOCAL_RANK=$((RANK % 2))",
        "NODE_RANK=$((RANK / 2))",
        "OMPI_COMM_WORLD_RANK=$RANK",
    ] {
        assert!(step.contains(line), "{step}");
    }
    let origin = serde_json::to_string(&read.job().origins["roles.main.instances"]).unwrap();
    assert!(origin.contains("runsettings.node_count"), "{origin}");
    let read = explain(&find("v2: command with every field"));
    assert_eq!(read.job().plan.roles["main"].instances, 4);
    assert_eq!(read.job().plan.time_limit_seconds, Some(300));
    assert_eq!(read.job().plan.roles["main"].resources.shm_mb, 2048);
}

#[test]
fn a_setting_by_flag_changes_the_run() {
    let settings = [
        Setting::set("runsettings.node_count=3"),
        Setting::set("runsettings.environment_variables.A=x"),
    ];
    let case = find("types: distributed by torch");
    let sources = Sources::default();
    let source = sources.add("spec.yaml", case.text.as_str());
    let levels = pinnace_spec::diagnostic::Levels::default();
    let request = Request {
        settings: &settings,
        plan: true,
        ..Request::new(&levels)
    };
    let outcome = pinnace_spec::job::read(&sources, source, &request, &case);
    let job = outcome.job.expect("a job");
    assert_eq!(job.plan.roles["main"].instances, 3);
    assert_eq!(job.plan.roles["main"].env["A"].as_literal(), Some("x"));
}

#[test]
fn a_parallel_component_calls_the_driver() {
    let read = explain(&find("types: parallel over two inputs"));
    assert_eq!(
        command(&read),
        "python3 /mnt/scripts/.pinnace_parallel.py --entry score.py --input /mnt/input/images --input /mnt/input/more \
         --output /mnt/outputs/default/scores --batch 1 --tries 3 --timeout 60 --failures -1 --failed-batches -1 --count /mnt/outputs/default/failed_files -- --model /mnt/input/model"
    );
    let files = &role(&read).files;
    assert!(
        files["/mnt/scripts/.pinnace_parallel.py"]
            .as_literal()
            .unwrap()
            .contains("def main")
    );
    let read = explain(&find("v2: parallel with every field"));
    assert!(
        command(&read)
            .contains("--batch 5 --tries 2 --timeout 30 --failures -1 --failed-batches 1"),
        "{}",
        command(&read)
    );
}

#[test]
fn a_type_of_another_engine_is_explained_and_not_run() {
    for (title, shown) in [
        ("types: scope", "extract.script Events"),
        ("types: hdinsight", "spark-submit wordcount.py --words"),
        ("types: starlite", "starlite -in"),
    ] {
        let case = find(title);
        let read = explain(&case);
        assert!(
            command(&read).starts_with(shown),
            "{title}: {}",
            command(&read)
        );
        let losses = read.job().fidelity.iter();
        assert!(
            losses
                .clone()
                .any(|account| account.reason.contains("engine")),
            "{title}"
        );
        assert!(
            bound(&case, &[], &[], true).errors().contains(&"P1034"),
            "{title}"
        );
    }
}

#[test]
fn a_hemera_component_wants_its_module_only_when_it_is_run() {
    let case = find("types: hemera");
    let read = bound(&case, &["Cluster=c"], &[], false);
    assert_eq!(
        command(&read),
        "run.bat %CLUSTER%=c -Out /mnt/outputs/default/result"
    );
    assert_eq!(bound(&case, &[], &[], true).errors(), ["P1033"]);
    let read = bound(&case, &["TrainingData=https://host/cosmos/a"], &[], false);
    assert!(
        command(&read).contains(" -Data https://host/cosmos/a -Out "),
        "{}",
        command(&read)
    );
}

#[test]
fn a_python_style_command_is_called_by_python() {
    let read = explain(&find("types: labelled type"));
    assert_eq!(command(&read), "python train.py --data /mnt/input/data");
}

#[test]
fn the_snapshot_id_is_a_label() {
    let read = explain(&find("code: includes in a list beside the spec"));
    let id = &read.job().plan.labels["snapshot"];
    assert_eq!(id.len(), 36);
    let code = read.job().plan.roles["main"].code.as_ref().unwrap();
    let includes: Vec<&str> = code
        .includes
        .iter()
        .map(pinnace_core::plan::Location::as_str)
        .collect();
    assert_eq!(includes, ["/job/shared", "/job/more/lib.py"]);
    let print = Some(&b"print(1)\n"[..]);
    let files = [
        ("train.py", print),
        ("shared/a.py", print),
        ("lib.py", print),
    ];
    assert_eq!(*id, pinnace_spec::component::snapshot::id(files));
}

#[test]
fn code_of_a_parallel_task_is_what_the_task_gets() {
    let read = explain(&find("v2: parallel with its code in the task"));
    let code = role(&read).code.as_ref().expect("code");
    assert_eq!(code.source.to_string(), "/job/src");
    let origin = &read.job().origins["roles.main.code.source"];
    assert_eq!(
        origin.cause,
        Cause::Written {
            path: "task.code".to_owned()
        }
    );
}
