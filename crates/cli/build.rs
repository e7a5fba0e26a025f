//! Tells the command which commit it was built from (a tree without git builds as well), and has it linked for a fixed
//! address.

use std::process::Command;

fn main() {
    link_for_a_fixed_address();
    println!("cargo::rerun-if-env-changed=PINNACE_COMMIT");
    println!("cargo::rerun-if-changed=build.rs");
    // Only a new commit or another branch makes this run again. `--git-path` knows worktrees.
    for file in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", file])
            && std::path::Path::new(&path).exists()
        {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    let given = std::env::var("PINNACE_COMMIT")
        .ok()
        .filter(|commit| !commit.is_empty());
    let commit = given.or_else(|| git(&["log", "-1", "--format=%h %cs"]));
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    match commit {
        Some(commit) => println!("cargo::rustc-env=PINNACE_VERSION={version} ({commit})"),
        None => println!("cargo::rustc-env=PINNACE_VERSION={version}"),
    }
}

/// A program that may lie anywhere has thousands of addresses to correct whenever it starts (decision 0009).
fn link_for_a_fixed_address() {
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    if is("PROFILE", "release") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim();
    (output.status.success() && !text.is_empty()).then(|| text.to_owned())
}
