//! The catalogue of data.

use pinnace_core::lifecycle::{Shown, Time};
use pinnace_core::plan::{
    DataKind, Input, InputMode, Location, Output, OutputMode, Plan, Register,
};
use pinnace_exec::Collected;

use super::fake::Fake;
use super::{finish, plan, role, scratch, submission};
use crate::control::Control;
use crate::store::{Dataset, Store};

fn made(name: &str, location: &str) -> Dataset {
    Dataset {
        name: name.to_owned(),
        version: 0,
        location: location.to_owned(),
        digest: None,
        files: None,
        bytes: None,
        description: None,
        job: None,
        output: None,
        added: Time(1),
    }
}

fn with_output(command: &str) -> Plan {
    let mut worker = role(1, command);
    worker.outputs.insert(
        "model".to_owned(),
        Output {
            target: "/out".to_owned(),
            kind: DataKind::Folder,
            mode: OutputMode::Mount,
            destination: None,
            register: Some(Register {
                name: "resnet".to_owned(),
                description: Some("trained".to_owned()),
            }),
            append: false,
            pointer: false,
        },
    );
    plan(vec![("worker", worker)])
}

/// Runs the job with an engine that says that it collected the output.
fn run(plan: Plan, folder: &tempfile::TempDir) -> (Shown, Vec<Dataset>, String) {
    let store = Store::open(folder.path()).unwrap();
    let admitted = submission(plan).admit().unwrap();
    let mut control = Control::submit(store, Fake::default(), admitted).unwrap();
    let collected = Collected {
        role: "worker".to_owned(),
        output: "model".to_owned(),
        location: "/data/model".to_owned(),
        files: 2,
        bytes: 10,
        digest: Some("sha256:ab".to_owned()),
        linked: false,
        points_to: None,
        failure: None,
    };
    let id = control.job().id.clone();
    let launch = control.store().folder().launch(&id, 0);
    std::fs::write(
        launch.join("outputs.json"),
        serde_json::to_vec(&[collected]).unwrap(),
    )
    .unwrap();
    finish(&mut control);
    let shown = control.job().state.shown();
    let datasets = control.store().datasets(Some("resnet")).unwrap();
    (shown, datasets, id.to_string())
}

#[test]
fn an_output_is_registered_with_its_job_when_the_job_succeeds() {
    let folder = scratch();
    let (shown, datasets, _) = run(with_output("exit 1"), &folder);
    assert_eq!((shown, datasets), (Shown::Failed, Vec::new()));
    let (shown, datasets, job) = run(with_output("exit 0"), &folder);
    assert_eq!(shown, Shown::Succeeded);
    let [dataset] = datasets.as_slice() else {
        panic!("{datasets:?}")
    };
    assert_eq!(dataset.version, 1);
    assert_eq!(dataset.location, "/data/model");
    assert_eq!(dataset.digest.as_deref(), Some("sha256:ab"));
    assert_eq!(dataset.job.as_deref(), Some(job.as_str()));
    assert_eq!(dataset.description.as_deref(), Some("trained"));
    let (_, datasets, _) = run(with_output("exit 0"), &folder);
    assert_eq!(datasets.len(), 2);
}

#[test]
fn versions_count_up_for_each_name_and_the_latest_is_meant() {
    let folder = scratch();
    let mut store = Store::open(folder.path()).unwrap();
    let mut add = |name, location| {
        let dataset = made(name, location);
        store.change(|change| change.register(&dataset)).unwrap()
    };
    assert_eq!((add("a", "/1"), add("b", "/2"), add("a", "/3")), (1, 1, 2));
    let place = |version| {
        let found = store.dataset("a", version).unwrap();
        found.map(|dataset| dataset.location)
    };
    assert_eq!(place(None).as_deref(), Some("/3"));
    assert_eq!(place(Some(1)).as_deref(), Some("/1"));
    assert_eq!(place(Some(9)), None);
    let latest = store.datasets(None).unwrap();
    let latest: Vec<(&str, u32)> = latest
        .iter()
        .map(|dataset| (dataset.name.as_str(), dataset.version))
        .collect();
    assert_eq!(latest, [("a", 2), ("b", 1)]);
}

#[test]
fn the_engine_is_told_what_a_jobs_datasets_stand_for() {
    let folder = scratch();
    let mut store = Store::open(folder.path()).unwrap();
    store
        .change(|change| change.register(&made("mnist", "/data/mnist")))
        .unwrap();
    let mut worker = role(1, "exit 0");
    for (name, source) in [("a", "dataset:mnist"), ("b", "dataset:mnist:7")] {
        worker.inputs.insert(
            name.to_owned(),
            Input {
                source: Location::parse(source, None).unwrap(),
                target: format!("/in/{name}"),
                kind: DataKind::Any,
                mode: InputMode::Mount,
            },
        );
    }
    let plan = plan(vec![("worker", worker)]);
    let admitted = submission(plan).admit().unwrap();
    let control = Control::submit(store, Fake::default(), admitted).unwrap();
    let folder = control.store().folder().launch(&control.job().id, 0);
    let told = crate::output::datasets_of(control.job(), control.store()).unwrap();
    assert!(folder.is_dir());
    let told: Vec<(&str, &str)> = told
        .iter()
        .map(|(name, place)| (name.as_str(), place.as_str()))
        .collect();
    assert_eq!(told, [("dataset:mnist", "/data/mnist")]);
}
