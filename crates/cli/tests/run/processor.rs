//! Processors of Alibaba PAI, run as their users run them.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command;

use crate::support::{Place, Said, repository, skipped};

/// A processor of one instance with this command and these further lines.
fn processor(name: &str, command: &str, lines: &str) -> String {
    let command = serde_json::to_string(command).unwrap();
    format!("image_uri: python:3.11\ncommand: {command}\nbase_job_name: {name}\n{lines}")
}

fn run(place: &Place, name: &str, command: &str, lines: &str) -> Said {
    let file = place.file(&format!("{name}.yaml"), &processor(name, command, lines));
    place.pinnace(&["run", &file])
}

/// Lays the case out: code, data and the file itself.
fn lay_out_case(place: &Place) -> String {
    for folder in ["case", "case/src", "case/data", "case/data/train"] {
        place.folder(folder);
    }
    place.file("case/data/train/train.csv", "a,b\n1,2\n3,4\n");
    place.file(
        "case/src/main.py",
        r#"import json, os, pathlib, sys
texts = json.loads(pathlib.Path("/ml/input/config/hyperparameters.json").read_text())
rows = pathlib.Path("/ml/input/data/train-data/train.csv").read_text().splitlines()
pathlib.Path("/ml/output/model/model.json").write_text(json.dumps(
    {"rows": len(rows) - 1, "hyperparameters": texts, "stage": os.environ["STAGE"]}))
pathlib.Path("scribble").write_text("in the snapshot only")
print("trained with", sys.argv[1:])
"#,
    );
    let case = repository().join("crates/spec/tests/fixtures/processor/processor.yaml");
    let text = fs::read_to_string(case).unwrap();
    place.file("case/processor.yaml", &text)
}

fn case_runs(place: &Place) {
    let file = lay_out_case(place);
    let said = place.pinnace(&["run", &file]).succeeded();
    assert!(
        said.stdout.contains("trained with ['--epochs', '2']"),
        "{said:?}"
    );
    let model = fs::read_to_string(place.path().join("case/out/model/model.json")).unwrap();
    let model: serde_json::Value = serde_json::from_str(&model).unwrap();
    let expected = serde_json::json!({
        "rows": 2, "hyperparameters": {"epochs": "2", "lr": "0.01"}, "stage": "test"
    });
    assert_eq!(model, expected);
    let source: Vec<_> = fs::read_dir(place.path().join("case/src"))
        .unwrap()
        .collect();
    assert_eq!(source.len(), 1, "the source folder is as it was");
    assert!(!Path::new("/ml").exists(), "the machine has no /ml");
}

#[test]
fn the_case_runs_and_leaves_the_source_alone() {
    case_runs(&Place::in_sight());
}

#[test]
fn the_case_runs_for_an_ordinary_user() {
    if let Some(place) = Place::of_ordinary_user() {
        case_runs(&place);
    }
}

#[test]
fn an_ordinary_user_can_change_a_large_file_of_another_group_in_the_snapshot() {
    let Some(place) = Place::of_ordinary_user() else {
        return;
    };
    let code = place.folder("code");
    let large = code.join("large");
    fs::write(&large, vec![b'-'; 3 << 20]).unwrap();
    // Owned by the ordinary user where another one runs the tests, and still of the group of that other.
    let owner = fs::metadata(&code).unwrap().uid();
    std::os::unix::fs::chown(&large, Some(owner), None).unwrap();
    let command = "printf + | dd of=large conv=notrunc; head -c 1 large; mv large other";
    run(&place, "large", command, "source_dir: ./code\n").succeeded();
    assert_eq!(fs::read(&large).unwrap()[0], b'-');
}

#[test]
fn two_instances_add_up_over_the_address_of_the_first() {
    let place = Place::in_sight();
    let example = repository().join("examples/processor/processor.yaml");
    let model = place.path().join("model");
    let output = format!("model={}", model.display());
    place
        .pinnace(&["run", example.to_str().unwrap(), "--output", &output])
        .succeeded();
    let text = fs::read_to_string(model.join("model.json")).unwrap();
    assert_eq!(text, r#"{"slope": 2.0}"#);
}

#[test]
fn tensorflow_and_mpi_find_their_peers() {
    let place = Place::new();
    let said = run(
        &place,
        "tf",
        "echo $TF_CONFIG",
        "job_type: TFJob\ninstance_count: 2\n",
    )
    .succeeded();
    let line = said
        .stdout
        .lines()
        .find(|line| line.starts_with("worker[1] | "))
        .unwrap();
    let config: serde_json::Value =
        serde_json::from_str(line.trim_start_matches("worker[1] | ")).unwrap();
    assert_eq!(
        config["task"],
        serde_json::json!({"type": "worker", "index": 1})
    );
    assert_eq!(config["cluster"]["worker"].as_array().unwrap().len(), 2);
    let said = run(
        &place,
        "mpi",
        "echo $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE",
        "job_type: MPIJob\ninstance_count: 2\n",
    );
    assert!(said.succeeded().stdout.contains("1 of 2"));
}

#[test]
fn a_text_is_a_shell_command_and_a_list_is_not() {
    let place = Place::new();
    let said = run(
        &place,
        "text",
        "false; echo \"on $PAI_HPS_A\"",
        "parameters: {a: 1}\n",
    )
    .succeeded();
    assert!(said.stdout.contains("on 1"), "{said:?}");
    let file = place.file(
        "list.yaml",
        "image_uri: x\ncommand: [echo, $PAI_HPS_A, \"it's; a word\"]\nparameters: {a: 1}\n",
    );
    let said = place.pinnace(&["run", &file]).succeeded();
    assert!(said.stdout.contains("$PAI_HPS_A it's; a word"), "{said:?}");
}

#[test]
fn outputs_are_collected_whatever_comes_of_the_command() {
    let place = Place::in_sight();
    let out = place.path().join("out");
    let lines = format!("outputs: {{model: {}}}\n", out.display());
    let said = run(
        &place,
        "fails",
        "echo half > $PAI_OUTPUT_MODEL/part; exit 3",
        &lines,
    );
    assert_eq!(said.code, Some(1));
    assert!(said.stderr.contains("exit code 3"), "{said:?}");
    assert_eq!(fs::read_to_string(out.join("part")).unwrap(), "half\n");
    fs::remove_dir_all(&out).unwrap();
    let said = run(
        &place,
        "late",
        "echo half > $PAI_OUTPUT_MODEL/part; sleep 600",
        &format!("{lines}max_run_time: 1\n"),
    );
    assert_eq!(said.code, Some(1));
    assert!(
        said.stderr
            .contains("the time limit of the job has passed: 1 s"),
        "{said:?}"
    );
    assert_eq!(fs::read_to_string(out.join("part")).unwrap(), "half\n");
}

#[test]
fn a_command_that_does_not_end_in_time_is_killed_and_that_is_told() {
    let place = Place::new();
    let command = "trap '' TERM; echo begun; while :; do sleep 0.1; done";
    let file = place.file(
        "deaf.yaml",
        &processor("deaf", command, "max_run_time: 2\n"),
    );
    let said = place.pinnace(&["run", &file, "--grace", "1s"]);
    assert_eq!(said.code, Some(1));
    let limit = "the time limit of the job has passed: 2 s";
    assert!(said.stderr.contains(limit), "{said:?}");
    // On a machine that is so slow that the command has not begun, nothing need be killed.
    if said.stdout.contains("begun") {
        let told = "did not end when told to, and was killed";
        assert!(said.stderr.contains(told), "{said:?}");
    }
}

#[test]
fn an_output_that_cannot_be_brought_is_kept_and_its_place_is_told() {
    let place = Place::in_sight();
    let said = run(
        &place,
        "kept",
        "echo whole > $PAI_OUTPUT_MODEL/file",
        "outputs: {model: /proc/nowhere/model}\n",
    );
    assert_eq!(said.code, Some(1));
    assert!(
        said.stderr
            .contains("cannot be brought to `/proc/nowhere/model`"),
        "{said:?}"
    );
    let kept = said.stderr.split("it is kept in `").nth(1).unwrap();
    let kept = Path::new(kept.split('`').next().unwrap());
    assert_eq!(fs::read_to_string(kept.join("file")).unwrap(), "whole\n");
}

#[test]
fn a_full_disk_is_named_as_the_reason() {
    let place = Place::in_sight();
    let small = place.folder("small");
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"])
        .arg(&small)
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        skipped("a full disk: this user cannot mount a small one");
        return;
    }
    let lines = format!("outputs: {{model: {}/model}}\n", small.display());
    let said = run(
        &place,
        "full",
        "head -c 1000000 /dev/zero > $PAI_OUTPUT_MODEL/big",
        &lines,
    );
    let _ = Command::new("umount").arg(&small).status();
    assert_eq!(said.code, Some(1));
    assert!(
        said.stderr.to_lowercase().contains("no space left"),
        "{said:?}"
    );
    assert!(said.stderr.contains("it is kept in"), "{said:?}");
}

#[test]
fn what_is_missing_is_told_before_anything_starts() {
    let place = Place::new();
    let said = run(&place, "none", "true", "inputs: {train: ./nowhere}\n");
    assert_eq!(said.code, Some(2));
    assert!(
        said.stderr.contains("P1014") && said.stderr.contains("./nowhere"),
        "{said:?}"
    );
    assert!(!place.state().join("jobs").exists());
}

#[test]
fn a_requirement_that_does_not_exist_fails_the_job_with_what_pip_says() {
    let place = Place::in_sight();
    let file = place.file(
        "requires.yaml",
        &processor(
            "requires",
            "true",
            "requirements: [there-is-no-such-package-9]\n",
        ),
    );
    let said: Said = place
        .command(&["run", &file])
        .env("PIP_NO_INDEX", "1")
        .env("UV_OFFLINE", "1")
        .output()
        .unwrap()
        .into();
    assert_eq!(said.code, Some(1));
    assert!(
        said.stderr.contains("there-is-no-such-package-9"),
        "{said:?}"
    );
    assert!(
        said.stderr
            .contains("the Python packages cannot be installed"),
        "{said:?}"
    );
}

#[test]
fn what_a_machine_cannot_honour_is_said_once_and_kept() {
    let place = Place::new();
    let lines = "resource_type: Lingjun\nuser_vpc_config: {vpc_id: v, security_group_id: s}\n";
    let said = run(&place, "cloudy", "true", lines).succeeded();
    let told = "not honoured here: `resource_type`, `user_vpc_config` (only the cloud has it)";
    assert_eq!(said.stderr.matches(told).count(), 1, "{said:?}");
    assert_eq!(
        said.stderr.matches("user_vpc_config").count(),
        1,
        "{said:?}"
    );
    let shown = place.pinnace(&["show", "cloudy"]).succeeded();
    let kept = "`resource_type` and `user_vpc_config`: only the cloud has it";
    assert!(shown.stdout.contains(kept), "{shown:?}");
}

#[test]
fn metrics_are_shown_and_a_wrong_name_is_told() {
    let place = Place::new();
    let lines = "metric_definitions: [{Name: loss, Regex: 'loss=([0-9.]+)'}]\n";
    run(&place, "learns", "echo loss=0.5; echo loss=0.25", lines).succeeded();
    let values = place
        .pinnace(&["metrics", "learns", "loss", "--format", "json"])
        .succeeded()
        .json();
    let points = values[0]["points"].as_array().unwrap();
    let values: Vec<f64> = points
        .iter()
        .map(|point| point["value"].as_f64().unwrap())
        .collect();
    assert_eq!(values, [0.5, 0.25]);
    let table = place.pinnace(&["metrics", "learns"]).succeeded().stdout;
    assert!(table.contains("█▁"), "{table}");
    let said = place.pinnace(&["metrics", "learns", "los"]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("no metric `los`; it has `loss`"));
    run(&place, "mute", "true", "").succeeded();
    let said = place.pinnace(&["metrics", "mute"]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("defines no metrics"), "{said:?}");
}

/// Writes an empty package into a folder, as an index would hold it.
pub(crate) fn wheel(folder: &Path, version: &str) {
    let script = format!(
        "import sys, zipfile
name = 'tinypinnace-{version}.dist-info/'
with zipfile.ZipFile(sys.argv[1] + '/tinypinnace-{version}-py3-none-any.whl', 'w') as wheel:
    wheel.writestr('tinypinnace.py', 'version = {version:?}')
    wheel.writestr(name + 'METADATA', 'Metadata-Version: 2.1\\nName: tinypinnace\\nVersion: {version}\\n')
    wheel.writestr(name + 'WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr(name + 'RECORD', '')
"
    );
    let made = Command::new("python3")
        .args(["-c", &script])
        .arg(folder)
        .status()
        .unwrap();
    assert!(made.success());
}

#[test]
fn requirements_win_over_the_file_of_the_code() {
    let place = Place::in_sight();
    let wheels = place.folder("wheels");
    wheel(&wheels, "1.0");
    wheel(&wheels, "2.0");
    place.folder("code");
    place.file("code/requirements.txt", "tinypinnace==1.0\n");
    let command = "python -c 'import tinypinnace; print(tinypinnace.version)'; ls -A";
    let lines = "source_dir: code\nrequirements: [TinyPinnace==2.0]\n";
    let file = place.file("wins.yaml", &processor("wins", command, lines));
    let said: Said = place
        .command(&["run", &file])
        .env("PIP_NO_INDEX", "1")
        .env("PIP_FIND_LINKS", &wheels)
        .env("UV_OFFLINE", "1")
        .env("UV_FIND_LINKS", &wheels)
        .output()
        .unwrap()
        .into();
    let said = said.succeeded();
    assert_eq!(
        said.stdout,
        "worker[0] | 2.0\nworker[0] | requirements.txt\n"
    );
}

/// The keys of a value at every depth, without the names that users choose.
fn shape(value: &serde_json::Value) -> Vec<String> {
    let Some(fields) = value.as_object() else {
        return Vec::new();
    };
    fields.keys().cloned().collect()
}

#[test]
fn a_processor_and_an_openpai_job_lower_to_one_shape() {
    let place = Place::new();
    let explained = |name: &str, text: &str| {
        let file = place.file(name, text);
        place
            .pinnace(&["explain", &file, "--format", "json"])
            .succeeded()
            .json()
    };
    let own = explained(
        "own.yaml",
        &processor("same", "echo hello", "instance_count: 2\n"),
    );
    let openpai = crate::support::job("same", &[("worker", 2, (1, 2), "echo hello")]);
    let other = explained("other.yaml", &openpai);
    let plan = |value: &serde_json::Value| value.get("plan").unwrap_or(value).clone();
    let (own, other) = (plan(&own), plan(&other));
    assert_eq!(shape(&own), shape(&other));
    let role = |plan: &serde_json::Value| plan["roles"]["worker"].clone();
    let more: Vec<String> = shape(&role(&own))
        .into_iter()
        .filter(|key| !shape(&role(&other)).contains(key))
        .collect();
    assert_eq!(
        more,
        ["files", "workdir"],
        "the /ml contract, and nothing else"
    );
    for key in [
        "instances",
        "completion",
        "retry",
        "mounts",
        "before",
        "after",
    ] {
        assert_eq!(role(&own)[key], role(&other)[key], "{key}");
    }
}
