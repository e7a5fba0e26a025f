//! Link outputs: a task names data that exists already, and that becomes its output.
//!
//! The task appends a line to the file that `PINNACE_LINKS` names: a JSON object with `output`, the output's name, and
//! `path`, an absolute path or a URL. `pinnace data link OUTPUT PATH` does that. Of several lines for one output the
//! last counts.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use indexmap::IndexMap;
use pinnace_core::plan::Location;
use serde::{Deserialize, Serialize};

/// One line of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The output's name.
    pub output: String,
    /// What becomes the output.
    pub path: String,
}

/// The variable that names the file.
pub const PINNACE_LINKS: &str = "PINNACE_LINKS";

/// Names data that exists as an output of the task in which this process runs.
pub fn link(output: &str, path: &str) -> Result<(), String> {
    let file = std::env::var_os(PINNACE_LINKS)
        .ok_or("there are no outputs to link: this is no task of a job with link outputs")?;
    let location = Location::parse(path, here().as_deref()).map_err(|why| why.to_string())?;
    if let Some(path) = location.local()
        && !Path::new(path).exists()
    {
        return Err(format!("there is no `{path}`"));
    }
    let link = Link {
        output: output.to_owned(),
        path: location.to_string(),
    };
    let mut line = serde_json::to_vec(&link).map_err(|error| error.to_string())?;
    line.push(b'\n');
    // One write, so that tasks of a role that link at once do not mix their lines.
    fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(&file)
        .and_then(|mut file| file.write_all(&line))
        .map_err(|error| format!("cannot write `{}`: {error}", Path::new(&file).display()))
}

fn here() -> Option<String> {
    let folder = std::env::current_dir().ok()?;
    folder.into_os_string().into_string().ok()
}

/// The name of the file in its folder.
pub(crate) const FILE: &str = "links";

/// A larger file was not written by our program.
const LARGEST: u64 = 1 << 20;

/// What a role's tasks have linked, by output.
pub(crate) fn read(folder: &Path) -> Result<IndexMap<String, Location>, String> {
    let path = folder.join(FILE);
    let mut links = IndexMap::new();
    match fs::metadata(&path) {
        Ok(kind) if kind.len() > LARGEST => {
            return Err("the file of links is too large".to_owned());
        }
        Ok(_) => {}
        Err(_) => return Ok(links),
    }
    let text = fs::read(&path).map_err(|error| format!("cannot read the links: {error}"))?;
    for line in String::from_utf8_lossy(&text).lines() {
        if line.trim().is_empty() {
            continue;
        }
        let link: Link = serde_json::from_str(line)
            .map_err(|_| format!("this is no link: `{}`", line.trim()))?;
        let location = Location::parse(&link.path, None)
            .map_err(|why| format!("the output `{}` cannot be linked: {why}", link.output))?;
        links.insert(link.output, location);
    }
    Ok(links)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_link_of_an_output_counts() {
        let scratch = tempfile::tempdir().unwrap();
        assert_eq!(read(scratch.path()), Ok(IndexMap::new()));
        let lines =
            "{\"output\":\"a\",\"path\":\"/one\"}\n\n{\"output\":\"a\",\"path\":\"/two\"}\n";
        fs::write(scratch.path().join(FILE), lines).unwrap();
        let links = read(scratch.path()).unwrap();
        assert_eq!(links["a"].as_str(), "/two");
    }

    #[test]
    fn what_is_no_link_is_told() {
        let scratch = tempfile::tempdir().unwrap();
        fs::write(scratch.path().join(FILE), "nonsense\n").unwrap();
        assert!(read(scratch.path()).unwrap_err().contains("`nonsense`"));
        fs::write(
            scratch.path().join(FILE),
            "{\"output\":\"a\",\"path\":\"relative\"}\n",
        )
        .unwrap();
        assert!(read(scratch.path()).unwrap_err().contains("relative"));
    }
}
