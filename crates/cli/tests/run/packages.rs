//! Packages and includes of components.

use std::fs;
use std::path::Path;

use crate::processor::wheel;
use crate::support::{Place, Said};

const LOGIN: &str = "s3cret-of-the-feed";

fn spec(environment: &str) -> String {
    format!(
        "name: packages\nversion: 1\ntype: CommandComponent\ncode: code\nenvironment:\n  conda:\n    {environment}\n\
         command: python -c 'import tinypinnace; print(\"found\", tinypinnace.version)'\n"
    )
}

fn run(place: &Place, arguments: &[&str], wheels: &Path) -> Said {
    place
        .command(arguments)
        .env("PIP_NO_INDEX", "1")
        .env("PIP_FIND_LINKS", wheels)
        .env("UV_OFFLINE", "1")
        .env("UV_FIND_LINKS", wheels)
        .output()
        .unwrap()
        .into()
}

/// Whether some file below a folder holds a text.
fn holds(folder: &Path, text: &str) -> Option<String> {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = path.symlink_metadata().unwrap();
        if kind.is_dir() {
            if let Some(found) = holds(&path, text) {
                return Some(found);
            }
        } else if kind.is_file() {
            let bytes = fs::read(&path).unwrap_or_default();
            if bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes())
            {
                return Some(path.display().to_string());
            }
        }
    }
    None
}

#[test]
fn packages_of_pip_are_installed_when_that_is_asked_for() {
    let place = Place::in_sight();
    let wheels = place.folder("wheels");
    wheel(&wheels, "2.0");
    place.folder("code");
    let inline = format!(
        "conda_dependencies: {{name: e, channels: [defaults], dependencies: [python=3.8, pip, numpy, \
         {{pip: ['--index-url https://me:{LOGIN}@127.0.0.1:9/simple/', tinypinnace==2.0]}}]}}"
    );
    let file = place.file("inline.yaml", &spec(&inline));
    assert_eq!(run(&place, &["run", &file], &wheels).code, Some(1));
    let said = run(&place, &["run", &file, "--install-packages"], &wheels).succeeded();
    assert!(said.stdout.contains("found 2.0"), "{said:?}");
    assert_eq!(holds(&place.state(), LOGIN), None);
    let explain = ["explain", &file, "--install-packages", "--format", "json"];
    let shown = run(&place, &explain, &wheels).succeeded();
    assert!(!shown.stdout.contains(LOGIN), "{shown:?}");
    let accounts = shown.json()["fidelity"].as_array().unwrap().clone();
    let status = |path: &str| {
        let found = accounts.iter().find(|account| account["path"] == path);
        found.map(|account| account["status"].clone())
    };
    let below = "environment.conda.conda_dependencies";
    assert_eq!(status(below), Some("approximated".into()));
    for (path, expected) in [
        ("channels", "notHonoured"),
        ("dependencies[0] (python=3.8)", "approximated"),
        ("dependencies[2] (numpy)", "notHonoured"),
        ("dependencies[3].pip", "honoured"),
    ] {
        assert_eq!(
            status(&format!("{below}.{path}")),
            Some(expected.into()),
            "{accounts:?}"
        );
    }
}

#[test]
fn packages_may_stand_in_a_file_of_the_code() {
    let place = Place::in_sight();
    let wheels = place.folder("wheels");
    wheel(&wheels, "2.0");
    fs::create_dir_all(place.folder("code").join("env")).unwrap();
    place.file("code/env/pip.txt", "# packages\n-r more.txt\n");
    place.file("code/env/more.txt", "tinypinnace==2.0\n");
    place.file(
        "code/conda.yaml",
        "dependencies:\n  - python\n  - pip:\n    - tinypinnace==2.0\n",
    );
    for way in [
        "pip_requirements_file: env/pip.txt",
        "conda_dependencies_file: conda.yaml",
    ] {
        let file = place.file("file.yaml", &spec(way));
        let said = run(&place, &["run", &file, "--install-packages"], &wheels).succeeded();
        assert!(said.stdout.contains("found 2.0"), "{way}: {said:?}");
    }
}

#[test]
fn an_installer_that_fails_does_not_tell_the_login_of_a_feed() {
    let place = Place::in_sight();
    place.folder("code");
    let inline = format!(
        "conda_dependencies: {{dependencies: [{{pip: ['--index-url https://me:{LOGIN}@127.0.0.1:9/simple/', \
         there-is-no-such-package-9]}}]}}"
    );
    let file = place.file("inline.yaml", &spec(&inline));
    let said: Said = place
        .command(&["run", &file, "--install-packages"])
        .env("PIP_RETRIES", "0")
        .env("UV_OFFLINE", "1")
        .output()
        .unwrap()
        .into();
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.stderr.contains("there-is-no-such-package-9"),
        "{said:?}"
    );
    assert!(
        !said.stdout.contains(LOGIN) && !said.stderr.contains(LOGIN),
        "{said:?}"
    );
    assert_eq!(holds(&place.state(), LOGIN), None);
}

#[test]
fn a_folder_is_zipped_for_an_include_of_its_name() {
    let place = Place::new();
    fs::create_dir_all(place.folder("lib").join("deep")).unwrap();
    place.file("lib/one.txt", "one\n");
    place.file("lib/deep/two.txt", "two\n");
    place.folder("code");
    place.file(
        "code/look.py",
        "import zipfile\nlib = zipfile.ZipFile('lib.zip')\nassert lib.testzip() is None\n\
         print(sorted(lib.namelist()), lib.read('lib/deep/two.txt'))\n",
    );
    let file = place.file(
        "spec.yaml",
        "name: zipped\nversion: 1\ntype: CommandComponent\ncode: code\nadditional_includes: [lib.zip]\ncommand: python3 look.py\n",
    );
    let said = place.pinnace(&["run", &file]).succeeded();
    let expected = "['lib/', 'lib/deep/', 'lib/deep/two.txt', 'lib/one.txt'] b'two\\n'";
    assert!(said.stdout.contains(expected), "{said:?}");
    assert!(!place.path().join("lib.zip").exists());
}
