//! Checks of the repository itself: what a reviewer would otherwise have to remember.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::path::{Path, PathBuf};

/// Every dependency is paid for on purpose: a commit that adds packages raises this number.
const MOST_PACKAGES: usize = 202;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All files below a folder whose names end so, hidden and built ones left out.
fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !name.starts_with('.') && !matches!(&*name, "target" | "node_modules") {
                files(&path, ending, found);
            }
        } else if name.ends_with(ending) {
            found.push(path);
        }
    }
}

#[test]
fn the_lock_file_stays_below_its_cap() {
    let packages = read("Cargo.lock").matches("[[package]]").count();
    assert!(
        packages <= MOST_PACKAGES,
        "{packages} packages in Cargo.lock; raise MOST_PACKAGES from {MOST_PACKAGES} if each is worth it"
    );
}

#[test]
fn both_pure_crates_have_the_same_fence() {
    assert_eq!(
        read("crates/core/clippy.toml"),
        read("crates/spec/clippy.toml")
    );
}

#[test]
fn only_tests_of_a_pure_crate_open_the_fence() {
    let mut sources = Vec::new();
    for name in ["core", "spec"] {
        files(
            &root().join("crates").join(name).join("src"),
            ".rs",
            &mut sources,
        );
    }
    assert!(!sources.is_empty());
    let is_test = |path: &PathBuf| {
        path.iter()
            .any(|part| part == "tests" || part == "tests.rs")
    };
    for path in sources.iter().filter(|path| !is_test(path)) {
        let text = fs::read_to_string(path).unwrap();
        let (product, _) = text.split_once("#[cfg(test)]").unwrap_or((&text, ""));
        assert!(
            !product.contains("clippy::disallowed_"),
            "{} allows what the fence forbids",
            path.display()
        );
    }
}

#[test]
fn links_in_the_documents_lead_somewhere() {
    let mut documents = Vec::new();
    files(&root(), ".md", &mut documents);
    let mut broken = Vec::new();
    for path in documents {
        let text = fs::read_to_string(&path).unwrap();
        for target in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            let file = target.split('#').next().unwrap_or_default();
            let outside =
                file.is_empty() || file.contains("://") || file.contains(char::is_whitespace);
            if !outside && !path.parent().unwrap().join(file).exists() {
                broken.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Compares a generated page with the one in the repository; with `UPDATE_DOCS=1`, writes it.
fn assert_current(path: &str, generated: &str) {
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(root().join(path), generated).unwrap();
    }
    assert!(
        read(path) == generated,
        "{path} is stale: run the tests once with UPDATE_DOCS=1"
    );
}

#[test]
fn the_reference_of_variables_is_current() {
    assert_current(
        "docs/environment.md",
        &pinnace_core::environment::reference(),
    );
}

#[test]
fn the_reference_of_openpai_fields_is_current() {
    assert_current(
        "docs/openpai-fields.md",
        &pinnace_spec::openpai::fields::reference(),
    );
}

#[test]
fn the_reference_of_component_fields_is_current() {
    assert_current(
        "docs/component-fields.md",
        &pinnace_spec::component::fields::reference(),
    );
}

#[test]
fn the_reference_of_processor_fields_is_current() {
    assert_current(
        "docs/processor-fields.md",
        &pinnace_spec::processor::fields::reference(),
    );
}

fn pinnace(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_pinnace"))
        .args(arguments)
        .current_dir(root())
        .env_remove("PINNACE_MARKETPLACE")
        .env("PINNACE_STATE", root().join("no-such-state"))
        .output()
        .unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn the_examples_are_clean() {
    let marketplace = ["--marketplace", "examples/marketplace"];
    let arguments = [
        &["check", "--deny", "warnings"][..],
        &marketplace,
        &["examples/"],
    ]
    .concat();
    let (code, problems, summary) = pinnace(&arguments);
    assert_eq!((code, &*problems), (Some(0), ""), "{summary}");
}

#[test]
fn the_readme_shows_real_output() {
    let readme = read("README.md");
    let (_, picture) = readme.split_once("```\n$ ").unwrap();
    let (picture, _) = picture.split_once("```").unwrap();
    for shown in picture.split("\n$ ") {
        let (command, shown) = shown.split_once('\n').unwrap();
        let words: Vec<&str> = command
            .split(' ')
            .map(|word| word.trim_matches('\''))
            .collect();
        assert_eq!(words[0], "pinnace");
        let (_, real, _) = pinnace(&words[1..]);
        let shown = shown.split("\n…").next().unwrap_or_default();
        for part in shown.trim_end().split("\n\n") {
            assert!(
                real.contains(part),
                "`{command}` does not show:\n{part}\nbut:\n{real}"
            );
        }
    }
}
