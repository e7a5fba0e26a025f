//! Tells the command which commit it was built from. A tree without git builds as well.

use std::process::Command;

fn main() {
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

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim();
    (output.status.success() && !text.is_empty()).then(|| text.to_owned())
}
