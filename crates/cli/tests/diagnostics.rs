//! Every code has a page, and every page tells the truth: its wrong example yields the code, its
//! right example yields no error and not the code. What `pinnace check` says about the wrong example
//! is kept in `snapshots/diagnostics/`.
//!
//! `PINNACE_UPDATE_SNAPSHOTS=1` rewrites the snapshots and the table of codes.

#![allow(clippy::expect_used)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pinnace_spec::diagnostic::{self, Code, Severity, codes};

const DEFAULT_RUN: &str = "pinnace check job.yaml";

/// Problems of a Wrong example that cannot be had without another: the code and the others.
const COMPANIONS: &[(&str, &[&str])] = &[("P0114", &["P0202", "P0990"])];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn is_updating() -> bool {
    std::env::var_os("PINNACE_UPDATE_SNAPSHOTS").is_some()
}

/// A section of a page with the files that it shows.
#[derive(Default)]
struct Example {
    files: Vec<(String, String)>,
    script: String,
    run: Option<String>,
}

impl Example {
    /// Reads the section below a heading.
    fn read(page: &str, heading: &str) -> Example {
        let mut example = Example::default();
        let mut inside = false;
        let mut lines = page.lines();
        while let Some(line) = lines.next() {
            if let Some(fence) = line.strip_prefix("```") {
                let block = lines.by_ref().take_while(|line| *line != "```");
                let block = block.fold(String::new(), |block, line| block + line + "\n");
                if inside {
                    example.add_block(fence, block);
                }
            } else if line.starts_with("## ") {
                inside = line == heading;
            } else if let Some(run) = line.strip_prefix("Run with: ").filter(|_| inside) {
                example.run = Some(run.trim_matches('`').to_owned());
            }
        }
        example
    }

    fn add_block(&mut self, fence: &str, block: String) {
        match fence.split_once(' ') {
            None if fence == "yaml" => self.files.push(("job.yaml".to_owned(), block)),
            None if fence == "console" => self.script = block.replace("$ ", ""),
            Some(("yaml", file)) => {
                let name = file.strip_prefix("file=").unwrap_or(file);
                self.files.push((name.to_owned(), block));
            }
            _ => panic!("a block of the kind `{fence}` has no meaning here"),
        }
    }

    /// Makes the files in a folder of their own and runs the command there.
    fn run(&self) -> Outcome {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, content) in &self.files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, content).expect("a file");
        }
        if !self.script.is_empty() {
            let program = Path::new(env!("CARGO_BIN_EXE_pinnace"));
            let own = program.parent().expect("a folder").display();
            let path = std::env::var("PATH").expect("a path");
            let status = Command::new("sh")
                .args(["-c", &self.script])
                .env("PATH", format!("{own}:{path}"))
                .env("PINNACE_STATE", folder.path().join("state"))
                .current_dir(folder.path())
                .stdout(Stdio::null())
                .status()
                .expect("a shell");
            assert!(status.success(), "{}", self.script);
        }
        let run = self.run.as_deref().unwrap_or(DEFAULT_RUN);
        let words = words(run);
        assert_eq!(words.first().map(String::as_str), Some("pinnace"), "{run}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_pinnace"));
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("PINNACE_")) {
            command.env_remove(name);
        }
        let output = command
            .args(&words[1..])
            .args(["--color", "never"])
            .env("PINNACE_STATE", folder.path().join("state"))
            .current_dir(folder.path())
            .output()
            .expect("the command");
        let said = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        Outcome {
            status: output.status.code(),
            text: format!("$ {run}\n{said}"),
        }
    }
}

struct Outcome {
    status: Option<i32>,
    text: String,
}

impl Outcome {
    /// The codes of the problems shown, each once.
    fn codes(&self) -> Vec<&str> {
        let mut found: Vec<&str> = self
            .text
            .lines()
            .filter_map(|line| {
                let rest = line
                    .strip_prefix("error[")
                    .or_else(|| line.strip_prefix("warning["))?;
                rest.split_once(']').map(|(code, _)| code)
            })
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Splits a command line at blanks that are not quoted.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for char in line.chars() {
        match (quote, char) {
            (Some(mark), _) if mark == char => quote = None,
            (None, '\'' | '"') => quote = Some(char),
            (None, ' ') if !word.is_empty() => words.push(std::mem::take(&mut word)),
            _ => word.push(char),
        }
    }
    words.push(word);
    words
}

/// What is wrong with the page of a code.
fn problems_of_page(code: &Code) -> Vec<String> {
    let mut problems = Vec::new();
    let path = repository().join(format!("docs/diagnostics/{}.md", code.id));
    let Ok(page) = std::fs::read_to_string(&path) else {
        return vec!["has no page".to_owned()];
    };
    let severity = match code.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let head = format!("`{}`, {severity}: {}.", code.name, code.summary);
    if !page.starts_with(&format!("# {}: ", code.id)) || page.lines().nth(2) != Some(&head) {
        problems.push(format!(
            "must begin with `# {}: …`, an empty line, and the line {head:?}",
            code.id
        ));
    }
    if diagnostic::page(code) != page {
        problems.push("must be listed in crates/spec/src/diagnostic/pages.rs".to_owned());
    }
    if !page.contains("\n## See also\n") {
        problems.push("has no section `## See also`".to_owned());
    }

    let wrong = Example::read(&page, "## Wrong").run();
    let mut expected = vec![code.id];
    let companions = COMPANIONS.iter().filter(|(id, _)| *id == code.id);
    expected.extend(companions.flat_map(|(_, others)| *others));
    expected.sort_unstable();
    if wrong.codes() != expected {
        problems.push(format!(
            "its wrong example yields {:?}, not {expected:?}:\n{}",
            wrong.codes(),
            abridged(&wrong.text)
        ));
    }
    let right = Example::read(&page, "## Right").run();
    if right.status != Some(0) || right.codes().contains(&code.id) {
        problems.push(format!("its right example is not right:\n{}", right.text));
    }
    problems.extend(snapshot_problem(code, &abridged(&wrong.text)));
    problems
}

/// The first and the last lines of a text that is too long to keep.
fn abridged(text: &str) -> String {
    const ENDS: usize = 20;
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() < 20 * ENDS {
        return text.to_owned();
    }
    let (head, tail) = (&lines[..ENDS], &lines[lines.len() - ENDS..]);
    format!("{}\n[…]\n{}\n", head.join("\n"), tail.join("\n"))
}

fn snapshot_problem(code: &Code, text: &str) -> Option<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(format!("tests/snapshots/diagnostics/{}.txt", code.id));
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    if kept == text {
        return None;
    }
    if is_updating() {
        std::fs::create_dir_all(path.parent()?).expect("a folder");
        std::fs::write(&path, text).expect("a snapshot");
        return None;
    }
    Some(format!("says something new:\n{}", difference(&kept, text)))
}

/// The lines of both texts, those in common once.
fn difference(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same_start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[same_start..], &new[same_start..]);
    let same_end = old_rest
        .iter()
        .rev()
        .zip(new_rest.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let mut shown = String::new();
    for line in &old[..same_start] {
        let _ = writeln!(shown, "  {line}");
    }
    for line in &old_rest[..old_rest.len() - same_end] {
        let _ = writeln!(shown, "- {line}");
    }
    for line in &new_rest[..new_rest.len() - same_end] {
        let _ = writeln!(shown, "+ {line}");
    }
    for line in &old_rest[old_rest.len() - same_end..] {
        let _ = writeln!(shown, "  {line}");
    }
    shown
}

#[test]
fn every_code_has_a_page_that_tells_the_truth() {
    let mut report = String::new();
    for code in codes::ALL {
        for problem in problems_of_page(code) {
            let _ = writeln!(report, "{} {problem}", code.id);
        }
    }
    assert!(
        report.is_empty(),
        "{report}\nPINNACE_UPDATE_SNAPSHOTS=1 accepts what is said now"
    );
}

#[test]
fn no_page_or_snapshot_is_left_of_a_code_that_is_gone() {
    for folder in ["docs/diagnostics", "crates/cli/tests/snapshots/diagnostics"] {
        for entry in std::fs::read_dir(repository().join(folder)).expect("the folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_stem().and_then(|name| name.to_str());
            let is_known = name.is_some_and(|name| name == "README" || codes::find(name).is_some());
            assert!(is_known, "{} belongs to no code", path.display());
        }
    }
}

#[test]
fn the_index_lists_every_code() {
    const START: &str = "<!-- the table is made by a test: PINNACE_UPDATE_SNAPSHOTS=1 -->\n";
    let path = repository().join("docs/diagnostics/README.md");
    let page = std::fs::read_to_string(&path).expect("the index");
    let (head, _) = page.split_once(START).expect("the place of the table");
    let mut wanted =
        format!("{head}{START}\n| code | name | | what it means |\n| --- | --- | --- | --- |\n");
    for code in codes::ALL {
        let severity = match code.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let _ = writeln!(
            wanted,
            "| [{id}]({id}.md) | `{}` | {severity} | {} |",
            code.name,
            code.summary,
            id = code.id
        );
    }
    if is_updating() {
        std::fs::write(&path, wanted).expect("the index");
    } else {
        assert!(
            page == wanted,
            "{}\nPINNACE_UPDATE_SNAPSHOTS=1 writes the table anew",
            difference(&page, &wanted)
        );
    }
}
