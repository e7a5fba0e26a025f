//! What flows in and out of tasks: code, inputs, outputs, and where they lie.

use serde::{Deserialize, Serialize};

use crate::text::Text;

/// A folder of the user's code. Tasks get a snapshot of it and cannot change the folder itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Code {
    /// The folder, or a single file.
    pub source: Location,
    /// Absolute path in the task.
    pub target: String,
    /// Names of files in the folder that say what to leave out; the first that exists is used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    /// Further files and folders that appear in the snapshot under their own names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub includes: Vec<Location>,
}

/// Data that a task reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Input {
    /// Where it lies.
    pub source: Location,
    /// Absolute path in the task.
    pub target: String,
    /// Whether it is a file or a folder.
    pub kind: DataKind,
    /// How the task comes to it.
    pub mode: InputMode,
}

/// How a task comes to its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum InputMode {
    /// It sees the data itself, read-only.
    Mount,
    /// It gets a copy of its own, which it may change.
    Download,
    /// It is only told where the data lies.
    Direct,
}

/// Data that tasks write. All tasks of a role write to one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Output {
    /// Absolute path in the task.
    pub target: String,
    /// Whether it is a file or a folder; `any` is a folder.
    pub kind: DataKind,
    /// How it leaves the task.
    pub mode: OutputMode,
    /// Where it goes; `None` is a folder of the job that Pinnace keeps.
    pub destination: Option<Location>,
    /// The dataset that it becomes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub register: Option<Register>,
    /// Whether what lies at the destination already is kept, and shown to the task.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub append: bool,
    /// Whether it is a small file that says where the real data lies.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pointer: bool,
}

/// How an output leaves its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OutputMode {
    /// The task writes to where it will be collected from.
    Mount,
    /// It is copied to its destination when the task has ended.
    Upload,
    /// The task names data that exists already; nothing is copied.
    Link,
}

/// What a piece of data is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DataKind {
    /// A file, at the target itself.
    File,
    /// A folder.
    Folder,
    /// What the source is. A file appears under its own name in the target, which is a folder.
    #[default]
    Any,
}

/// A dataset that an output becomes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Register {
    /// Its name in the catalogue.
    pub name: String,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl Register {
    /// Whether a dataset can have this name; `dataset:NAME:VERSION` must be readable again.
    pub fn is_name(text: &str) -> bool {
        !text.is_empty() && !text.contains([':', '/'])
    }
}

/// Python packages for a task, installed into an environment of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PythonEnvironment {
    /// Lines as in `requirements.txt`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<Text>,
    /// A file with such lines, relative to the code folder; used if it exists there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// Finds a number in what a task prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MetricRule {
    /// What the number is called.
    pub name: String,
    /// A regular expression for a line; its first group is the number.
    pub pattern: String,
}

/// Which exit codes of a command are a success.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SuccessfulExit {
    /// Only 0.
    #[default]
    Zero,
    /// All that a command can choose itself: 0 to 127.
    ZeroOrGreater,
}

impl SuccessfulExit {
    #[allow(clippy::trivially_copy_pass_by_ref)] // The form that serde asks for.
    pub(super) fn is_zero(&self) -> bool {
        *self == SuccessfulExit::Zero
    }

    /// Whether a command that ended with this code succeeded.
    pub fn holds(self, code: i32) -> bool {
        match self {
            SuccessfulExit::Zero => code == 0,
            SuccessfulExit::ZeroOrGreater => (0..=127).contains(&code),
        }
    }
}

/// Where data lies: an absolute path of this machine, a URL, or `dataset:NAME[:VERSION]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Location(String);

/// The ways to come to data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// An absolute path, or `file://`.
    Local,
    /// `http://` and `https://`.
    Http,
    /// `s3://BUCKET/KEY`.
    S3,
    /// `oss://BUCKET/KEY`, or `oss://BUCKET.ENDPOINT/KEY`.
    Oss,
    /// `azureml://datastores/NAME/paths/PATH`, or the long form of it.
    Datastore,
    /// `dataset:NAME[:VERSION]`.
    Dataset,
}

/// Why a text is no location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotALocation {
    /// Nothing is written.
    Empty,
    /// The path is relative, and nobody knows to what.
    NoFolder,
    /// There is no way to such data.
    UnknownScheme(String),
    /// The URL lacks what its scheme asks for; the words say what.
    Incomplete(&'static str),
}

impl std::fmt::Display for NotALocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NotALocation::Empty => f.write_str("no path is given"),
            NotALocation::NoFolder => {
                f.write_str("the path is relative, and the file that names it lies in no folder")
            }
            NotALocation::UnknownScheme(scheme) => {
                write!(f, "Pinnace does not read `{scheme}:` locations")
            }
            NotALocation::Incomplete(what) => f.write_str(what),
        }
    }
}

impl Location {
    /// Reads a path or URL as a user writes it. A relative path is taken from `folder`.
    pub fn parse(text: &str, folder: Option<&str>) -> Result<Self, NotALocation> {
        let text = text.trim();
        if text.is_empty() {
            return Err(NotALocation::Empty);
        }
        if let Some(rest) = text.strip_prefix("dataset:") {
            let complete = !rest.split(':').next().unwrap_or_default().is_empty();
            return if complete {
                Ok(Location(text.to_owned()))
            } else {
                Err(NotALocation::Incomplete(
                    "write `dataset:NAME` or `dataset:NAME:VERSION`",
                ))
            };
        }
        let Some((scheme, rest)) = text.split_once("://") else {
            return Self::path(text, folder);
        };
        match scheme.to_ascii_lowercase().as_str() {
            "file" => Self::file(rest),
            "http" | "https" if rest.is_empty() => {
                Err(NotALocation::Incomplete("the URL names no host"))
            }
            "s3" | "oss" if rest.split('/').next().unwrap_or_default().is_empty() => {
                Err(NotALocation::Incomplete("the URL names no bucket"))
            }
            "azureml" if datastore_parts(rest).is_none() => Err(NotALocation::Incomplete(
                "write `azureml://datastores/NAME/paths/PATH`",
            )),
            scheme @ ("http" | "https" | "s3" | "oss" | "azureml") => {
                Ok(Location(format!("{scheme}://{rest}")))
            }
            other => Err(NotALocation::UnknownScheme(other.to_owned())),
        }
    }

    fn path(text: &str, folder: Option<&str>) -> Result<Self, NotALocation> {
        if text.starts_with('/') {
            return Ok(Location(tidy(text)));
        }
        match folder {
            Some(folder) => Ok(Location(tidy(&format!("{folder}/{text}")))),
            None => Err(NotALocation::NoFolder),
        }
    }

    /// `rest` is what follows `file://`: an empty host or `localhost`, and a percent-encoded path.
    fn file(rest: &str) -> Result<Self, NotALocation> {
        let path = rest.strip_prefix("localhost").unwrap_or(rest);
        if !path.starts_with('/') {
            return Err(NotALocation::Incomplete(
                "write `file:///` and an absolute path",
            ));
        }
        match decoded(path) {
            Some(path) => Ok(Location(tidy(&path))),
            None => Err(NotALocation::Incomplete(
                "the percent-encoding of the URL is broken",
            )),
        }
    }

    /// Stands in a location for the identifier of the job.
    pub const JOB: &'static str = "{job}";

    /// The location for one job: its identifier in every place that waits for it.
    #[must_use]
    pub fn for_job(&self, id: &str) -> Self {
        Location(self.0.replace(Self::JOB, id))
    }

    /// The path or URL.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The way to it.
    pub fn scheme(&self) -> Scheme {
        let text = &self.0;
        match text.split_once("://").map(|(scheme, _)| scheme) {
            Some("http" | "https") => Scheme::Http,
            Some("s3") => Scheme::S3,
            Some("oss") => Scheme::Oss,
            Some("azureml") => Scheme::Datastore,
            _ if text.starts_with("dataset:") => Scheme::Dataset,
            _ => Scheme::Local,
        }
    }

    /// The path, if it is one of this machine.
    pub fn local(&self) -> Option<&str> {
        match self.scheme() {
            // A plan that was not made by `parse` may still spell the scheme out.
            Scheme::Local => Some(self.0.strip_prefix("file://").unwrap_or(&self.0)),
            _ => None,
        }
    }

    /// The datastore and the path in it, if it lies in one.
    pub fn datastore(&self) -> Option<(&str, &str)> {
        datastore_parts(self.0.strip_prefix("azureml://")?)
    }

    /// The dataset's name and version, if it is one.
    pub fn dataset(&self) -> Option<(&str, Option<&str>)> {
        let rest = self.0.strip_prefix("dataset:")?;
        Some(match rest.split_once(':') {
            Some((name, version)) => (name, Some(version)),
            None => (rest, None),
        })
    }

    /// The last part of its path: the name under which it appears in a folder.
    pub fn name(&self) -> &str {
        let path = self.0.split(['?', '#']).next().unwrap_or_default();
        let path = match self.scheme() {
            Scheme::Local => self.0.as_str(),
            _ => path,
        };
        path.trim_end_matches('/')
            .rsplit(['/', ':'])
            .next()
            .unwrap_or_default()
    }
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The long form names subscription, group and workspace before `datastores`.
fn datastore_parts(rest: &str) -> Option<(&str, &str)> {
    let below = match rest.strip_prefix("datastores/") {
        Some(below) => below,
        None => &rest[rest.find("/datastores/")? + "/datastores/".len()..],
    };
    let (name, path) = below.split_once('/')?;
    let path = path
        .strip_prefix("paths/")
        .or((path == "paths").then_some(""))?;
    (!name.is_empty()).then_some((name, path))
}

/// The path without `.`, empty parts and `..`.
fn tidy(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

fn decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut digit = || bytes.next().and_then(|byte| char::from(byte).to_digit(16));
        let (high, low) = (digit()?, digit()?);
        out.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<String, NotALocation> {
        Location::parse(text, Some("/home/ann/job")).map(|location| location.0)
    }

    #[test]
    fn paths_are_made_absolute_and_tidy() {
        assert_eq!(parse("data").as_deref(), Ok("/home/ann/job/data"));
        assert_eq!(parse("../x/./y/").as_deref(), Ok("/home/ann/x/y"));
        assert_eq!(parse("/../a//b").as_deref(), Ok("/a/b"));
        assert_eq!(parse("file:///a%20b/c").as_deref(), Ok("/a b/c"));
        assert_eq!(parse("file://localhost/a").as_deref(), Ok("/a"));
        assert_eq!(Location::parse("data", None), Err(NotALocation::NoFolder));
    }

    #[test]
    fn what_no_one_can_reach_is_refused() {
        assert_eq!(parse(" "), Err(NotALocation::Empty));
        assert_eq!(
            parse("gs://bucket/x"),
            Err(NotALocation::UnknownScheme("gs".to_owned()))
        );
        for incomplete in [
            "file://a",
            "file:///%2",
            "s3://",
            "http://",
            "azureml://x",
            "dataset:",
        ] {
            assert!(
                matches!(parse(incomplete), Err(NotALocation::Incomplete(_))),
                "{incomplete}"
            );
        }
    }

    #[test]
    fn a_datastore_has_a_short_and_a_long_form() {
        let parts = |text: &str| {
            let location = Location::parse(text, None).ok()?;
            let (name, path) = location.datastore()?;
            Some((name.to_owned(), path.to_owned()))
        };
        let wanted = Some(("blob".to_owned(), "a/b.csv".to_owned()));
        assert_eq!(parts("azureml://datastores/blob/paths/a/b.csv"), wanted);
        assert_eq!(
            parts(
                "azureml://subscriptions/s/resourcegroups/g/workspaces/w/datastores/blob/paths/a/b.csv"
            ),
            wanted
        );
    }

    #[test]
    fn a_location_knows_its_name() {
        let name =
            |text: &str| Location::parse(text, None).map(|location| location.name().to_owned());
        assert_eq!(name("/a/b c").as_deref(), Ok("b c"));
        assert_eq!(name("https://h/a/b.csv?sig=x/y").as_deref(), Ok("b.csv"));
        assert_eq!(name("s3://bucket/folder/").as_deref(), Ok("folder"));
    }

    #[test]
    fn a_location_can_wait_for_the_job() {
        let location = Location::parse("/out/{job}/model", None).map(|one| one.for_job("train-x1"));
        assert_eq!(
            location.map(|one| one.0).as_deref(),
            Ok("/out/train-x1/model")
        );
    }

    #[test]
    fn datasets_may_name_a_version() {
        let dataset = |text: &str| {
            let location = Location::parse(text, None).ok()?;
            let (name, version) = location.dataset()?;
            Some((name.to_owned(), version.map(str::to_owned)))
        };
        assert_eq!(dataset("dataset:mnist"), Some(("mnist".to_owned(), None)));
        assert_eq!(
            dataset("dataset:mnist:3"),
            Some(("mnist".to_owned(), Some("3".to_owned())))
        );
    }
}
