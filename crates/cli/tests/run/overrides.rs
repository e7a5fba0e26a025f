//! Runs with tenant overrides, which fail or are killed: the user's files stay what they are.

use std::path::Path;
use std::time::SystemTime;

use crate::support::{Place, until};

const TENANTS: &str = "\
tenant_overrides:
  dev:
    environment.docker.image: {'prod.example/(.+)': 'dev.example/$1'}
    tags: {eyesoff: dev}
";

fn spec(command: &str) -> String {
    format!(
        "$schema: http://azureml/sdk-2-0/CommandComponent.json\nname: canary\nversion: 0.0.1\ntags: eyesoff\n\
         type: CommandComponent\nenvironment:\n  docker:\n    image: prod.example/base\ncommand: >-\n  {command}\n"
    )
}

/// The bytes of a file, and when it was changed last.
fn state(path: &Path) -> (Vec<u8>, SystemTime) {
    let modified = path.metadata().unwrap().modified().unwrap();
    (std::fs::read(path).unwrap(), modified)
}

/// Files of the folder, but for the state directory and what tasks wrote.
fn names(place: &Place) -> Vec<String> {
    let component = place.path().join("component");
    let entries = std::fs::read_dir(component).unwrap().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn tenants(place: &Place) -> String {
    place.file("tenants.yaml", TENANTS)
}

#[test]
fn a_run_that_fails_leaves_the_files_as_they_were() {
    let place = Place::new();
    place.folder("component");
    let file = place.file("component/spec.yaml", &spec("exit 3"));
    let tenants = tenants(&place);
    let paths = [&file, &tenants].map(|name| place.path().join(name));
    let before = paths.each_ref().map(|path| state(path));
    let said = place.pinnace(&["run", &file, "--overrides", &tenants, "--tenant", "dev"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert_eq!(paths.each_ref().map(|path| state(path)), before);
    assert_eq!(names(&place), ["spec.yaml"]);
}

#[test]
fn a_run_that_is_killed_leaves_the_files_as_they_were() {
    let place = Place::new();
    place.folder("component");
    let file = place.file("component/spec.yaml", &spec("sleep 600"));
    let tenants = tenants(&place);
    let paths = [&file, &tenants].map(|name| place.path().join(name));
    let before = paths.each_ref().map(|path| state(path));
    let mut run = place.start(&["run", &file, "--overrides", &tenants, "--tenant", "dev"]);
    until("the job runs", || {
        place.pinnace(&["ps"]).stdout.contains("canary")
    });
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!(paths.each_ref().map(|path| state(path)), before);
    assert_eq!(names(&place), ["spec.yaml"]);
    // The job goes on without the command that began it, until it is stopped.
    place.pinnace(&["stop", "canary"]).succeeded();
    assert_eq!(paths.each_ref().map(|path| state(path)), before);
}
