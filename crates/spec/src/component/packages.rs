//! The packages that the environment of a component lists: those of pip, which can be installed into an
//! environment of the task, and those of conda, which cannot.

use pinnace_core::fidelity::{Account, Engine, Feature, Honour};
use pinnace_core::text::{SecretName, Text};

use super::command::Syntax;
use super::includes::{self, code_folder};
use super::model::Component;
use super::read::at;
use super::{check, paths};
use crate::diagnostic::Diagnostics;
use crate::job::Request;
use crate::library::{Library, Look};
use crate::overrides;
use crate::secrets::url_login;
use crate::source::{Sources, Span};
use crate::yaml::access::{items, value};
use crate::yaml::{self, Node};

const NO_CONDA: &str = "a package of conda; only those of pip are installed";
const OWN_PYTHON: &str = "the Python of this machine is used, of whichever version it is";
const ONLY_PIP: &str = "the packages of pip are installed, and not those of conda";
const NO_CHANNELS: &str = "nothing is fetched from channels of conda";

/// Where an environment can stand, what counts most first.
const ENVIRONMENTS: &[&str] = &["runsettings.environment", "environment", "task.environment"];

/// A package, or a line for pip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Package {
    /// As written.
    pub(super) text: String,
    /// Where it stands, in the spec or in another file.
    pub(super) span: Span,
    /// Its path in the document that it stands in, or that of the key that names its file.
    pub(super) path: String,
}

/// The packages of a component.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Packages {
    /// Lines for pip.
    pub(super) pip: Vec<Package>,
    /// Packages of conda.
    pub(super) conda: Vec<Package>,
    /// The file in which they stand, if it is another one.
    pub(super) file: Option<PackageFile>,
    /// The path of the key that names them all.
    key: String,
}

/// A file of packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PackageFile {
    /// Where it lies.
    pub(super) path: String,
    /// Where a task finds it, from the folder of its code; nothing if it is no part of the code.
    pub(super) in_code: Option<String>,
    /// Its text without the feeds, if the rules of a tenant take some out.
    pub(super) without_feeds: Option<String>,
}

/// Reads the packages of a component, whichever of the ways names them.
pub(super) fn of(
    component: &Component<'_>,
    request: &Request<'_>,
    sources: &Sources,
    library: &dyn Library,
) -> Packages {
    let files = Files {
        component,
        request,
        sources,
        library,
    };
    let environment = ENVIRONMENTS.iter().find_map(|path| {
        let node = at(component.root, path)?;
        node.as_map().map(|_| (*path, node))
    });
    let Some((path, environment)) = environment else {
        return Packages::default();
    };
    if let Some(conda) = value(environment, "conda") {
        for way in check::WAYS {
            for key in way {
                if let Some(node) = value(conda, key).filter(|node| !node.is_null()) {
                    let is_pip = key.starts_with("pip");
                    return files.packages(node, &format!("{path}.conda.{key}"), is_pip, true);
                }
            }
        }
    }
    match value(environment, "conda_file").filter(|node| !node.is_null()) {
        // Version 2 takes the paths of an environment from the folder of the spec.
        Some(node) => {
            let in_code = component.syntax == Syntax::V1;
            files.packages(node, &format!("{path}.conda_file"), false, in_code)
        }
        None => Packages::default(),
    }
}

struct Files<'a> {
    component: &'a Component<'a>,
    request: &'a Request<'a>,
    sources: &'a Sources,
    library: &'a dyn Library,
}

impl Files<'_> {
    /// What a key says itself, or the file that it names.
    fn packages(&self, node: &Node<'_>, key: &str, is_pip: bool, in_code: bool) -> Packages {
        let mut packages = Packages {
            key: key.to_owned(),
            ..Packages::default()
        };
        let Some(written) = node.as_text() else {
            packages.of_conda(node, key);
            return packages;
        };
        let written = paths::without_scheme(written);
        let Some((path, in_code)) = self.find(written, in_code) else {
            return packages;
        };
        let Ok(text) = self.library.text(&path) else {
            return packages;
        };
        let source = self.sources.add(paths::file_name(written), text);
        let rules = self.request.overrides.map(|overrides| overrides.rules);
        let removes_feeds = rules.and_then(overrides::Overrides::feed_rule).is_some();
        let without_feeds = match (removes_feeds, is_pip) {
            (true, true) => overrides::without_feed_lines(source.text()),
            (true, false) => overrides::without_feeds(source, &self.request.limits),
            (false, _) => None,
        };
        packages.file = Some(PackageFile {
            path,
            in_code,
            without_feeds,
        });
        if is_pip {
            let folder = written.trim_start_matches("./").rsplit_once('/');
            let folder = folder.map(|(folder, _)| folder).unwrap_or_default();
            let mut start = 0;
            for line in source.text().split_inclusive('\n') {
                let text = line.trim();
                if !text.is_empty() && !text.starts_with('#') {
                    let at = start + (line.len() - line.trim_start().len());
                    packages.pip.push(Package {
                        text: from_folder(text, folder),
                        span: Span::new(source.id(), at, at + text.len()),
                        path: key.to_owned(),
                    });
                }
                start += line.len();
            }
        } else if let Some(root) = &yaml::load(source, &self.request.limits).root {
            packages.of_conda(root, "");
            for package in packages.pip.iter_mut().chain(&mut packages.conda) {
                key.clone_into(&mut package.path);
            }
        }
        if removes_feeds {
            packages.pip.retain(|line| !overrides::is_feed(&line.text));
        }
        packages
    }

    /// Where a file lies, and where in the code: in the code folder, in the includes, or in the folder of the spec.
    fn find(&self, written: &str, in_code: bool) -> Option<(String, Option<String>)> {
        let folder = self.request.folder?;
        let is_file = |path: &String| matches!(self.library.look(path), Look::File { .. });
        let code = code_folder(self.component, folder);
        let inner = |path: &str| {
            let inner = path.strip_prefix(&code)?.trim_start_matches('/');
            Some(inner.to_owned())
        };
        if !in_code {
            let path = Some(paths::absolute(folder, written)).filter(is_file)?;
            let inner = inner(&path);
            return Some((path, inner));
        }
        if let Some(path) = Some(paths::absolute(&code, written)).filter(is_file) {
            let inner = inner(&path);
            return Some((path, inner));
        }
        let plain = written.trim_start_matches("./");
        let (first, rest) = plain.split_once('/').unwrap_or((plain, ""));
        // What is wrong with the includes was told by the check.
        let found = includes::includes(
            self.component,
            self.sources,
            self.request,
            self.library,
            &mut Diagnostics::default(),
        );
        let include = found
            .iter()
            .find(|include| paths::file_name(&include.path) == first)?;
        let path = Some(paths::absolute(&include.path, rest)).filter(is_file)?;
        Some((path, Some(plain.to_owned())))
    }
}

/// A line of a requirements file as it must be written in the code folder, if the file lies in a folder below.
fn from_folder(line: &str, folder: &str) -> String {
    if folder.is_empty() {
        return line.to_owned();
    }
    let options = ["-r", "--requirement", "-c", "--constraint", "-e"];
    for option in options {
        let Some(rest) = line.strip_prefix(option) else {
            continue;
        };
        let path = rest.trim_start_matches([' ', '\t', '=']);
        if path.len() < rest.len() && !path.starts_with('/') && !path.contains("://") {
            return format!("{option} {folder}/{path}");
        }
    }
    match line.starts_with("./") || line.starts_with("../") {
        true => format!("{folder}/{line}"),
        false => line.to_owned(),
    }
}

impl Packages {
    /// Takes the packages of a conda file's document.
    fn of_conda(&mut self, root: &Node<'_>, path: &str) {
        let dot = if path.is_empty() { "" } else { "." };
        let dependencies = value(root, "dependencies");
        for (index, item) in items(dependencies).iter().enumerate() {
            let path = format!("{path}{dot}dependencies[{index}]");
            if let Some(text) = item.as_text() {
                self.conda.push(Package {
                    text: text.trim().to_owned(),
                    span: item.span,
                    path,
                });
                continue;
            }
            for (index, line) in items(value(item, "pip")).iter().enumerate() {
                if let Some(text) = line.as_text().filter(|text| !text.trim().is_empty()) {
                    self.pip.push(Package {
                        text: text.trim().to_owned(),
                        span: line.span,
                        path: format!("{path}.pip[{index}]"),
                    });
                }
            }
        }
        // `pip` itself is there wherever packages are installed.
        self.conda.retain(|package| name_of(&package.text) != "pip");
    }

    /// Tells in the accounts what becomes of them once they are installed.
    pub(super) fn account(&self, accounts: &mut Vec<Account>, engine: Engine, sources: &Sources) {
        if self.pip.is_empty() && self.conda.is_empty() {
            return;
        }
        let (_, of_packages) = engine.honour(Feature::Packages);
        let mut place = accounts.len();
        for (index, account) in accounts.iter_mut().enumerate() {
            let verdict = self.verdict(&account.path, account.reason == of_packages);
            if let Some((status, reason)) = verdict {
                place = index + 1;
                account.status = status;
                reason.clone_into(&mut account.reason);
            }
        }
        let lost = self.conda.iter().map(|package| {
            let (status, reason) = match name_of(&package.text) {
                "python" => (Honour::Approximated, OWN_PYTHON),
                _ => (Honour::NotHonoured, NO_CONDA),
            };
            Account {
                path: format!("{} ({})", package.path, package.text),
                place: sources.place(package.span),
                status,
                reason: reason.to_owned(),
            }
        });
        let lost: Vec<Account> = lost.collect();
        accounts.splice(place..place, lost);
    }

    /// What becomes of the key at a path; nothing if it does not lead to the packages.
    fn verdict(&self, path: &str, is_of_packages: bool) -> Option<(Honour, &'static str)> {
        let all = if self.conda.is_empty() {
            (Honour::Honoured, "")
        } else {
            (Honour::Approximated, ONLY_PIP)
        };
        match path.strip_prefix(self.key.as_str()) {
            Some(".name" | ".prefix") => Some((Honour::Honoured, "")),
            Some(rest) if rest.starts_with(".channels") => Some((Honour::NotHonoured, NO_CHANNELS)),
            Some(rest) if rest.ends_with("].pip") => Some((Honour::Honoured, "")),
            Some(rest) if rest.is_empty() || rest.starts_with('.') => Some(all),
            _ => {
                let rest = self.key.strip_prefix(path)?;
                (is_of_packages && rest.starts_with('.')).then_some(all)
            }
        }
    }
}

/// The name of a package of conda, without its channel and version.
fn name_of(text: &str) -> &str {
    let name = text.rsplit("::").next().unwrap_or(text);
    let end = name.find(|char: char| "=<>! ~[".contains(char));
    name.get(..end.unwrap_or(name.len())).unwrap_or(name)
}

/// A line for pip with what logs in to a feed named, and its value.
pub(super) fn without_login(line: &str, number: usize) -> (Text, Option<(SecretName, String)>) {
    let Some(login) = url_login(line) else {
        return (Text::from(line), None);
    };
    let name = SecretName(format!("feeds.{number}"));
    let mut text = Text::from(line.get(..login.start).unwrap_or_default());
    text.push_secret(name.clone());
    text.push_literal(line.get(login.end..).unwrap_or_default());
    let value = line.get(login).unwrap_or_default().to_owned();
    (text, Some((name, value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_of_feeds_are_named_and_variables_are_left() {
        let (text, secret) = without_login("--index-url https://me:to@ken@host/simple/", 1);
        assert_eq!(
            text.render(|name| format!("<{name}>")),
            "--index-url https://<feeds.1>@host/simple/"
        );
        assert_eq!(secret.map(|(_, value)| value).as_deref(), Some("me:to@ken"));
        for plain in [
            "numpy==1.2",
            "--index-url https://host/a@b/",
            "--index-url https://me:${TOKEN}@host/",
            "https://@host/x.whl",
        ] {
            assert_eq!(
                without_login(plain, 1),
                (Text::from(plain), None),
                "{plain}"
            );
        }
    }

    #[test]
    fn lines_of_a_file_in_a_folder_still_find_their_files() {
        assert_eq!(from_folder("-r more.txt", "env"), "-r env/more.txt");
        assert_eq!(
            from_folder("--requirement=more.txt", "env"),
            "--requirement env/more.txt"
        );
        assert_eq!(from_folder("-e .", "env"), "-e env/.");
        assert_eq!(from_folder("./wheels/a.whl", "env"), "env/./wheels/a.whl");
        assert_eq!(from_folder("requests", "env"), "requests");
        assert_eq!(from_folder("-r more.txt", ""), "-r more.txt");
    }

    #[test]
    fn packages_of_conda_have_names() {
        for (text, name) in [
            ("python=3.8", "python"),
            ("conda-forge::numpy>=1", "numpy"),
            ("pip", "pip"),
            ("scipy 1.2.*", "scipy"),
        ] {
            assert_eq!(name_of(text), name);
        }
    }
}
