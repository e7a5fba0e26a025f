//! The files and folders that belong to a component, beside its spec: for those who copy it.

use super::command::Syntax;
use super::model::Component;
use super::{code, includes, packages, paths, read};
use crate::diagnostic::{Diagnostics, Levels};
use crate::job::{OverrideRequest, Request};
use crate::library::{Library, Look};
use crate::overrides::Overrides;
use crate::source::Sources;
use crate::yaml::Node;

/// What belongs to a component. Paths are absolute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Files and folders.
    pub paths: Vec<String>,
    /// The names of the files that say what is left out of a folder; the first that exists counts.
    pub ignore: &'static [&'static str],
    /// A file of packages that the rules of a tenant change, and its new text.
    pub changed: Option<(String, String)>,
}

/// What belongs to the component of a document; nothing if it is none.
pub fn parts(
    root: &Node<'_>,
    rules: &Overrides,
    folder: &str,
    sources: &Sources,
    library: &dyn Library,
) -> Option<Parts> {
    if !super::is_component(root) {
        return None;
    }
    let component = read::component(root)?;
    let levels = Levels::default();
    let request = Request {
        folder: Some(folder),
        overrides: Some(OverrideRequest { rules, diff: false }),
        ..Request::new(&levels)
    };
    let mut paths = vec![includes::code_folder(&component, folder)];
    let spec = sources.get(root.span.source).name();
    paths.push(paths::absolute(folder, &includes::list_name(spec)));
    let mut out = Diagnostics::default();
    for include in includes::includes(&component, sources, &request, library, &mut out) {
        let is_there = library.look(&include.path) != Look::Missing;
        let folder = include.path.strip_suffix(".zip").filter(|_| !is_there);
        paths.push(folder.unwrap_or(&include.path).to_owned());
    }
    paths.extend(beside(&component, folder));
    let file = packages::of(&component, &request, sources, library).file;
    let changed = file.as_ref().and_then(|file| {
        let text = file.without_feeds.clone()?;
        Some((file.path.clone(), text))
    });
    paths.extend(file.map(|file| file.path));
    paths.retain(|path| library.look(path) != Look::Missing);
    Some(Parts {
        paths,
        ignore: code::IGNORE_FILES,
        changed,
    })
}

/// The folder from which version 2 builds an image.
fn beside(component: &Component<'_>, folder: &str) -> Option<String> {
    let context = read::at(component.environment?, "build.path")?.as_text()?;
    let is_here = component.syntax == Syntax::V2 && !paths::is_remote(context);
    is_here.then(|| paths::absolute(folder, context))
}
