//! Scripts that name a path which exists only in a sandbox.

use std::fs;
use std::path::Path;

use aho_corasick::AhoCorasick;
use pinnace_core::plan::{Action, Role};
use pinnace_core::text::{Piece, Text};

use super::copy::{self, Kind};

/// More code than this is not searched.
const MOST_FILES: usize = 2000;
const LARGEST_FILE: u64 = 1 << 20;

/// The files of the code, or `the command`, that name one of the targets.
pub(crate) fn find<'p>(
    role: &Role,
    code: Option<&Path>,
    targets: impl Iterator<Item = &'p Path>,
) -> Vec<String> {
    let patterns: Vec<&[u8]> = targets
        .map(|target| target.as_os_str().as_encoded_bytes())
        .collect();
    let Ok(search) = AhoCorasick::new(patterns) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let names = |text: &Text| {
        text.pieces()
            .iter()
            .any(|piece| matches!(piece, Piece::Literal(text) if search.is_match(text)))
    };
    let steps = role.before.iter().chain(&role.after);
    let mut lines = role
        .command
        .iter()
        .chain(steps.flat_map(|step| match &step.action {
            Action::Shell { commands } => commands.as_slice(),
            _ => &[],
        }));
    if lines.any(names) {
        found.push("the command".to_owned());
    }
    let files = code
        .map(copy::walk)
        .and_then(Result::ok)
        .unwrap_or_default();
    let files = files.iter().filter(|entry| entry.kind == Kind::File);
    for entry in files.take(MOST_FILES) {
        let path = code.unwrap_or(Path::new("")).join(&entry.path);
        let is_small = fs::metadata(&path).is_ok_and(|kind| kind.len() <= LARGEST_FILE);
        if is_small && fs::read(&path).is_ok_and(|bytes| search.is_match(&bytes)) {
            found.push(format!("`{}`", entry.path.display()));
        }
    }
    found
}
