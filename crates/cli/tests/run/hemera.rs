//! Hemera components and the register of modules, with the real program.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Place, Said, repository, state_of_launches, until};

/// The component of the Hemera documentation, and the id of its module.
const HEMERA: &str = include_str!("../fixtures/component/hemera.yaml");
const ID: &str = "c3d0fbd2-8b78-4231-a665-3a0de1796264";

/// Writes down its words, makes a model beside its training data and says where that is. The byte order mark and
/// the line ends are those of a program for Windows.
const PROGRAM: &str = r#"#!/bin/sh
set -eu
printf '%s\n' "$@" >> "$2/../words.txt"
while [ $# -gt 0 ]; do
  case $1 in
    -_TrainingDataDir) train=$2 ;;
    -_ModelOutputDir) model=$2 ;;
    -_ValidationOutputDir) validation=$2 ;;
  esac
  shift
done
while [ -e "$train/../wait" ]; do sleep 0.05; done
mkdir -p "$train/../model"
cat "$train/data.txt" > "$train/../model/model.txt"
printf '\357\273\277%s\r\n' "$(realpath "$train/../model")" > "$model"
echo "$(realpath "$train")" > "$validation"
"#;

/// A place with a component, its module and a datastore with training data.
struct Scene {
    place: Place,
}

impl Scene {
    fn new() -> Self {
        Self::at(Place::in_sight())
    }

    fn at(place: Place) -> Self {
        let scene = Scene { place };
        scene.place.folder("cosmos");
        scene.place.folder("cosmos/train");
        scene.place.file("cosmos/train/data.txt", "one two three\n");
        scene.place.file("hemera.yaml", HEMERA);
        scene.place.folder("module");
        scene.place.file("module/run.bat", "@echo off\r\n");
        scene.program(PROGRAM);
        scene
    }

    fn program(&self, text: &str) {
        let path = self.place.file("module/run.sh", text);
        fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    fn add(&self, more: &[&str]) -> Said {
        let words = [&["module", "add", "module", "--id", ID], more].concat();
        self.place.pinnace(&words)
    }

    fn cosmos(&self, path: &str) -> PathBuf {
        let cosmos = self.place.path().join("cosmos").canonicalize().unwrap();
        cosmos.join(path)
    }

    /// The words that run the component with one of its three optional inputs.
    fn run_words(more: &[&str]) -> Vec<String> {
        Self::run_words_with("TrainingDataDir=cosmos/train", more)
    }

    fn run_words_with(training: &str, more: &[&str]) -> Vec<String> {
        let words = [
            "run",
            "hemera.yaml",
            "--datastore",
            "cosmos=cosmos",
            "--input",
            training,
            "--allow",
            "P1060",
        ];
        let words = words.iter().chain(more);
        words.map(|word| (*word).to_owned()).collect()
    }

    fn run(&self, more: &[&str]) -> Said {
        let words = Self::run_words(more);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.place.pinnace(&words)
    }

    /// The words that the program was started with, paths without their folders.
    fn words(&self) -> Vec<String> {
        let text = fs::read_to_string(self.cosmos("words.txt")).unwrap();
        text.lines()
            .map(|line| match Path::new(line).file_name() {
                Some(name) if line.starts_with('/') => name.to_string_lossy().into_owned(),
                _ => line.to_owned(),
            })
            .collect()
    }

    fn outputs(&self) -> Value {
        let job = "microsoft.com.azureml.samples.hemera.AdsLRDNNRawKeys_Dummy";
        let said = self
            .place
            .pinnace(&["show", job, "--outputs", "-o", "json"]);
        said.succeeded().json()
    }

    fn view(&self) -> Value {
        self.place
            .show("microsoft.com.azureml.samples.hemera.AdsLRDNNRawKeys_Dummy")
    }

    fn execution_log(&self) -> String {
        let job = "microsoft.com.azureml.samples.hemera.AdsLRDNNRawKeys_Dummy";
        let said = self.place.pinnace(&["logs", job, "--execution"]);
        said.succeeded().stdout
    }

    fn has_jobs(&self) -> bool {
        let jobs = fs::read_dir(self.place.state().join("jobs"));
        jobs.into_iter().flatten().next().is_some()
    }
}

const READER: &str = "\
name: company.team.read
version: 1
type: CommandComponent
inputs:
  model: {type: path}
outputs:
  copy: {type: AnyFile}
command: cat {inputs.model}/model.txt > {outputs.copy}
";

/// A module with one input of three; its pointer is made a dataset; the next component reads that.
fn whole_chain(manner: &str, wanted: &[&str]) {
    let scene = Scene::new();
    scene.add(&[]).succeeded();
    let said = scene.run(&["--manner", manner]).succeeded();
    assert!(said.stderr.contains("no engine is set"), "{said:?}");
    assert_eq!(scene.words(), wanted);

    let outputs = scene.outputs();
    let model = scene.cosmos("model").display().to_string();
    assert_eq!(outputs[0]["output"], "output1");
    assert_eq!(outputs[0]["pointsTo"], model);
    let train = scene.cosmos("train").display().to_string();
    assert_eq!(outputs[1]["pointsTo"], train);

    let view = scene.view();
    assert_eq!(view["cluster"], "mtprime-bn2-0");
    assert_eq!(view["queue"], "default");
    assert_eq!(view["module"]["id"], ID);

    let link = repository().join("examples/components/pointer-to-dataset/spec.yaml");
    let pointer = format!(
        "intermediate_data_dir={}",
        outputs[0]["location"].as_str().unwrap()
    );
    let linked = scene.place.pinnace(&[
        "run",
        link.to_str().unwrap(),
        "--input",
        &pointer,
        "--register",
        "output_dataset=lr-model",
    ]);
    linked.succeeded();
    let shown = scene
        .place
        .pinnace(&["data", "show", "lr-model", "-o", "json"]);
    assert_eq!(shown.succeeded().json()[0]["location"], model);

    let reader = scene.place.file("read.yaml", READER);
    let read = [
        "run",
        &reader,
        "--input",
        "model=dataset:lr-model",
        "--output",
        "copy=copy.txt",
    ];
    scene.place.pinnace(&read).succeeded();
    let copy = fs::read_to_string(scene.place.path().join("copy.txt")).unwrap();
    assert_eq!(copy, "one two three\n");
}

#[test]
fn a_module_runs_in_the_manner_of_azure_ml_and_the_next_component_reads_its_real_result() {
    let wanted = [
        "-_TrainingDataDir",
        "train",
        "%CLUSTER%=mtprime-bn2-0",
        "-JobQueue",
        "default",
        "-_ModelOutputDir",
        "output1",
        "-_ValidationOutputDir",
        "output2",
    ];
    whole_chain("aml", &wanted);
}

#[test]
fn a_module_runs_in_the_manner_of_aether_and_the_next_component_reads_its_real_result() {
    let wanted = [
        "-_TrainingDataDir",
        "train",
        "-_ValidationDataDir",
        "",
        "-_InitialModelDir",
        "",
        "%CLUSTER%=mtprime-bn2-0",
        "-JobQueue",
        "default",
        "-_ModelOutputDir",
        "output1",
        "-_ValidationOutputDir",
        "output2",
    ];
    whole_chain("aether", &wanted);
}

#[test]
fn a_module_is_told_where_the_data_of_a_dataset_or_a_datastore_really_lies() {
    let scene = Scene::new();
    let show = "#!/bin/sh\ncat \"$2/data.txt\" && printf 'at %s\\n' \"$2\"\necho /x | tee \"$7\" > \"$9\"\n";
    scene.program(show);
    scene.add(&[]).succeeded();
    let added = ["data", "add", "train", "cosmos/train"];
    scene.place.pinnace(&added).succeeded();
    // Tasks have a `/tmp` of their own, and see nothing in it but what they are told of.
    let hidden = tempfile::tempdir().unwrap();
    fs::write(hidden.path().join("data.txt"), "hidden\n").unwrap();
    let hidden = hidden.path().to_str().unwrap();
    let train = scene.cosmos("train").display().to_string();
    for (input, text, place) in [
        ("dataset:train", "one two three", &*train),
        (
            "azureml://datastores/cosmos/paths/train",
            "one two three",
            &*train,
        ),
        (hidden, "hidden", hidden),
    ] {
        let words = Scene::run_words_with(&format!("TrainingDataDir={input}"), &[]);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let said = scene.place.pinnace(&words).succeeded();
        assert!(said.stdout.contains(text), "{said:?}");
        assert!(said.stdout.contains(&format!("at {place}\n")), "{said:?}");
    }
    let words = Scene::run_words_with("TrainingDataDir=dataset:other", &[]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    for _ in 0..5 {
        let said = scene.place.pinnace(&words);
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(
            said.stderr.contains("the catalogue has no `dataset:other`"),
            "{said:?}"
        );
    }
    // Whoever moves data is in the groups too, and may take a moment to be gone.
    for launch in state_of_launches(&scene.place.state()) {
        assert!(launch.groups.is_empty(), "{:?}", launch.groups);
    }
}

#[test]
fn an_ordinary_user_registers_and_runs_a_module() {
    let Some(place) = Place::of_ordinary_user() else {
        return;
    };
    let scene = Scene::at(place);
    scene.add(&[]).succeeded();
    scene.run(&[]).succeeded();
    let model = scene.cosmos("model").display().to_string();
    assert_eq!(scene.outputs()[0]["pointsTo"], model);
    let text = fs::read_to_string(scene.cosmos("model/model.txt")).unwrap();
    assert_eq!(text, "one two three\n");
}

#[test]
fn a_killed_run_goes_on_with_the_module_that_it_began_with() {
    let scene = Scene::new();
    scene.add(&[]).succeeded();
    let wait = scene.place.file("cosmos/wait", "");
    let words = Scene::run_words(&[]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut run = scene.place.start(&words);
    until("the program has begun", || {
        scene.cosmos("words.txt").exists()
    });
    run.kill().unwrap();
    run.wait().unwrap();
    // What is registered now is another program; the job goes on with its own.
    scene.program("#!/bin/sh\nexit 1\n");
    scene.add(&["--replace"]).succeeded();
    fs::remove_file(wait).unwrap();
    let job = "microsoft.com.azureml.samples.hemera.AdsLRDNNRawKeys_Dummy";
    scene.place.pinnace(&["wait", job]).succeeded();
    let once = scene.words();
    assert_eq!(
        once.iter().filter(|word| *word == "-JobQueue").count(),
        1,
        "{once:?}"
    );
    let model = scene.cosmos("model").display().to_string();
    assert_eq!(scene.outputs()[0]["pointsTo"], model);
    let log = scene.execution_log();
    assert_eq!(log.matches("JobManager submitted job").count(), 1, "{log}");
    assert_eq!(log.matches("(Finished)").count(), 1, "{log}");
    assert!(log.ends_with("Job is finished. The TakStatusCode is (Finished)\n"));
}

#[test]
fn the_execution_log_has_the_lines_of_the_platform() {
    let scene = Scene::new();
    scene.add(&[]).succeeded();
    scene.run(&["--cluster", "mtprime-bn2-0=local"]).succeeded();
    let log = scene.execution_log();
    let lines: Vec<&str> = log.lines().collect();
    let texts: Vec<&str> = lines
        .iter()
        .filter(|line| line.starts_with('['))
        .map(|line| line.split_once("Z] ").unwrap().1)
        .collect();
    let is_status = |text: &&&str| text.contains("TakStatusCode");
    let mut statuses: Vec<&str> = texts.iter().filter(is_status).copied().collect();
    // On a slow machine there is more than one poll.
    statuses.dedup();
    assert_eq!(
        statuses,
        [
            "Job is in processing. The TakStatusCode is (Queued)",
            "Job is running. The TakStatusCode is (Running)",
            "Job is finished. The TakStatusCode is (Finished)",
        ]
    );
    let submitting =
        format!("Add this job in hemera managerJobManager is submitting job {ID}@@@m@@@");
    assert!(log.contains(&submitting), "{log}");
    let folder = scene.view()["folder"].as_str().unwrap().to_owned();
    let link = format!("=============Job webportal link: file://{folder}?jobName=JD_");
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with(&link) && line.ends_with("&subCluster=mtprime-bn2-0")),
        "{log}"
    );
    let file = Path::new(&folder).join("logs/azureml/executionlogs.txt");
    assert_eq!(fs::read_to_string(file).unwrap(), log);
}

#[test]
fn an_output_that_is_no_pointer_fails_the_step_with_the_reason() {
    let scene = Scene::new();
    for (text, why) in [
        (
            ": > \"$9\"",
            "`output2` must be a file with one line, the place of the real data: it is empty",
        ),
        ("printf '/a\\n/b\\n' > \"$9\"", "it has 2 lines"),
        (
            "printf '\\377\\376/\\000' > \"$9\"",
            "it is UTF-16, and must be UTF-8",
        ),
    ] {
        scene.program(&format!("#!/bin/sh\necho /data > \"$7\"\n{text}\n"));
        scene.add(&["--replace"]).succeeded();
        let said = scene.run(&[]);
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.stderr.contains(why), "{said:?}");
    }
    let outputs = scene.outputs();
    assert_eq!(outputs[0]["pointsTo"], "/data");
    assert_eq!(outputs[0]["failure"], Value::Null);
    assert_eq!(outputs[1]["pointsTo"], Value::Null);
}

#[test]
fn what_cannot_run_is_refused_before_anything_is_stored() {
    let scene = Scene::new();
    let unknown = scene.run(&[]);
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
    assert!(unknown.stderr.contains("error[P1033]"), "{unknown:?}");
    let lax = scene.run(&["--compat", "azureml"]);
    assert_eq!(lax.code, Some(2), "{lax:?}");
    let near = ID.replace("264", "265");
    let words = ["module", "add", "module", "--id", &near];
    scene.place.pinnace(&words).succeeded();
    let unknown = scene.run(&[]);
    assert!(unknown.stderr.contains(&format!("did you mean `{near}`?")));
    // A warning where it is only looked at, and none where there are no modules.
    let checked = scene.place.pinnace(&["check", "hemera.yaml"]).succeeded();
    let told = format!("{}{}", checked.stdout, checked.stderr);
    assert!(told.contains("warning[P1033]"), "{told}");

    fs::remove_file(scene.place.path().join("module/run.sh")).unwrap();
    scene.add(&[]).succeeded();
    // Where PowerShell is installed there is no `run.ps1` either.
    let foreign = scene.run(&[]);
    assert_eq!(foreign.code, Some(2), "{foreign:?}");
    assert!(foreign.stderr.contains("error[P1035]"), "{foreign:?}");
    assert!(foreign.stderr.contains("`run.sh` or `run`"), "{foreign:?}");

    scene.program(PROGRAM);
    scene.add(&["--replace"]).succeeded();
    let engine = scene.run(&["--cluster", "mtprime-bn2-0=yarn"]);
    assert_eq!(engine.code, Some(2), "{engine:?}");
    assert!(
        engine
            .stderr
            .contains("there is no engine `yarn`; there is `local`"),
        "{engine:?}"
    );
    assert!(!scene.has_jobs());
}

#[test]
fn a_shift_of_arguments_is_told_by_the_script_of_the_registered_module() {
    let scene = Scene::new();
    let batch = "@echo off\r\npowershell -File \"%~dp0Launch.ps1\" %*\r\n";
    scene.place.file("module/run.bat", batch);
    let script = "param([string] $_TrainingDataDir, [string] $JobQueue,\n\
                  [string] $_ModelOutputDir, [string] $_ValidationOutputDir)\n";
    scene.place.file("module/Launch.ps1", script);
    scene.add(&[]).succeeded();
    let checked = scene.place.pinnace(&["check", "hemera.yaml"]).succeeded();
    let told = format!("{}{}", checked.stdout, checked.stderr);
    let wanted = "parameter `_TrainingDataDir` of `Launch.ps1` would get `%CLUSTER%=mtprime-bn2-0`";
    assert!(told.contains(wanted), "{told}");
}

#[test]
fn modules_are_added_listed_shown_checked_and_removed() {
    let scene = Scene::new();
    let place = &scene.place;
    assert!(
        place
            .pinnace(&["module", "ls"])
            .succeeded()
            .stdout
            .starts_with("there are no modules yet")
    );
    let wrong = place.pinnace(&["module", "add", "module", "--id", "123"]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.stderr.contains("`123` is no GUID"), "{wrong:?}");
    let missing = place.pinnace(&["module", "add", "nowhere", "--id", ID]);
    assert_eq!(missing.code, Some(2), "{missing:?}");
    place.folder("empty");
    let empty = place.pinnace(&["module", "add", "empty", "--id", ID]);
    assert!(
        empty.stderr.contains("there are no files in `empty`"),
        "{empty:?}"
    );

    assert_eq!(
        scene.add(&["--name", "LR DNN"]).succeeded().stdout,
        format!("{ID}\n")
    );
    let twice = scene.add(&[]);
    assert_eq!(twice.code, Some(2), "{twice:?}");
    assert!(twice.stderr.contains("`--replace`"), "{twice:?}");
    let listed = place
        .pinnace(&["module", "ls", "-o", "json"])
        .succeeded()
        .json();
    assert_eq!(listed[0]["name"], "LR DNN");
    assert_eq!(listed[0]["files"], 2);
    let large = ID.to_uppercase();
    let shown = place
        .pinnace(&["module", "show", &large, "-o", "json"])
        .succeeded()
        .json();
    assert_eq!(shown["digest"], listed[0]["digest"]);
    assert_eq!(shown["programs"][0]["name"], "run.bat");
    assert_eq!(shown["programs"][0]["starts"][0], "./run.sh");
    place.pinnace(&["module", "check"]).succeeded();

    let files = Path::new(shown["folder"].as_str().unwrap());
    fs::write(files.join("run.bat"), "changed").unwrap();
    let damaged = place.pinnace(&["module", "check", ID]);
    assert_eq!(damaged.code, Some(1), "{damaged:?}");
    assert!(
        damaged.stdout.contains("not those that were added"),
        "{damaged:?}"
    );

    place.pinnace(&["module", "rm", ID]).succeeded();
    assert!(!files.exists());
    let gone = place.pinnace(&["module", "show", ID]);
    assert_eq!(gone.code, Some(2), "{gone:?}");
}
