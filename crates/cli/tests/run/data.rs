//! The catalogue of data, and data of jobs, with the real program.

use std::fs;

use crate::support::Place;

#[test]
fn datasets_are_added_listed_and_shown() {
    let place = Place::new();
    let said = place.pinnace(&["data", "ls"]).succeeded();
    assert!(said.stdout.starts_with("there are no datasets yet"));
    let folder = place.path().join("mnist");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("a"), "12345").unwrap();
    let folder = folder.to_str().unwrap();
    let added = place.pinnace(&["data", "add", "mnist", folder]).succeeded();
    assert_eq!(added.stdout, "mnist:1\n");
    let url = [
        "data",
        "add",
        "mnist",
        "https://example.com/mnist.zip",
        "--description",
        "zipped",
    ];
    assert_eq!(place.pinnace(&url).succeeded().stdout, "mnist:2\n");
    let shown = place
        .pinnace(&["data", "show", "mnist", "-o", "json"])
        .succeeded()
        .json();
    assert_eq!(shown[0]["location"], folder);
    assert_eq!(shown[0]["bytes"], 5);
    assert!(shown[0]["digest"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(shown[1]["description"], "zipped");
    let listed = place.pinnace(&["data", "ls"]).succeeded().stdout;
    assert!(listed.contains("https://example.com/mnist.zip"), "{listed}");
    let wrong = place.pinnace(&["data", "add", "x", "/no/such/place"]);
    assert_eq!(wrong.code, Some(2));
    assert!(
        wrong.stderr.contains("there is no `/no/such/place`"),
        "{wrong:?}"
    );
    let wrong = place.pinnace(&["data", "show", "other"]);
    assert_eq!(wrong.code, Some(2));
    let wrong = place.pinnace(&["data", "link", "model", "/"]);
    assert!(wrong.stderr.contains("no task"), "{wrong:?}");
}
