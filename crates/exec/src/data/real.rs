//! Where things really lie, for tasks without a view of their own.

use std::path::{Component, Path, PathBuf};

use crate::sandbox::{Access, Bind};

/// From targets to real places. Empty where a task sees its targets.
#[derive(Clone, Debug, Default)]
pub(crate) struct RealPlaces {
    /// Each stands for itself and all below it.
    targets: Vec<(PathBuf, PathBuf)>,
    /// The folders of written files. Each stands only for itself: what else would be in it is not there.
    folders: Vec<(PathBuf, PathBuf)>,
}

impl RealPlaces {
    /// `own` is the folder for what a task has a copy of, or gets written.
    pub(crate) fn new<'p>(
        binds: &[Bind],
        instead: &[(PathBuf, PathBuf)],
        files: impl IntoIterator<Item = &'p str>,
        own: &Path,
    ) -> Self {
        let mut targets = instead.to_vec();
        let mut folders = Vec::new();
        for (number, bind) in binds.iter().enumerate() {
            let real = match bind.access {
                Access::Copy => copy_of(own, number),
                Access::Read | Access::Write => bind.from.clone(),
            };
            targets.push((bind.to.clone(), real));
        }
        for file in files.into_iter().map(Path::new) {
            let real = laid_out(own, file);
            if let (Some(folder), Some(real)) = (file.parent(), real.parent()) {
                folders.push((folder.to_owned(), real.to_owned()));
            }
            targets.push((file.to_owned(), real));
        }
        Self { targets, folders }
    }

    /// Only what tasks are told in the place of targets.
    pub(crate) fn told(told: &[(PathBuf, PathBuf)]) -> Self {
        Self {
            targets: told.to_vec(),
            folders: Vec::new(),
        }
    }

    /// The real place of a path of the task.
    pub(crate) fn of(&self, path: &str) -> String {
        let path = Path::new(path);
        let targets = self.targets.iter();
        let around = targets.filter(|(target, _)| path.starts_with(target));
        let nearest = around.max_by_key(|(target, _)| target.components().count());
        let nearest = nearest.or_else(|| self.folders.iter().find(|(folder, _)| folder == path));
        let real = nearest.and_then(|(target, real)| {
            let rest = path.strip_prefix(target).ok()?;
            Some(match rest.as_os_str().is_empty() {
                true => real.clone(),
                false => real.join(rest),
            })
        });
        real.as_deref()
            .unwrap_or(path)
            .to_string_lossy()
            .into_owned()
    }

    /// The targets.
    pub(crate) fn targets(&self) -> impl Iterator<Item = &Path> {
        self.targets.iter().map(|(target, _)| target.as_path())
    }
}

/// A task's own copy of what it is shown.
pub(crate) fn copy_of(own: &Path, number: usize) -> PathBuf {
    own.join(format!("copy{number}.own"))
}

/// A file that is written for the task and mounted where it belongs.
pub(crate) fn written(own: &Path, number: usize) -> PathBuf {
    own.join(format!("file{number}"))
}

/// A file that is written for the task where nothing can be mounted: under its own name, beside those of its folder.
pub(crate) fn laid_out(own: &Path, file: &Path) -> PathBuf {
    let names = file.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    own.join("files").join(names.collect::<PathBuf>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_target_counts() {
        let bind = |from: &str, to: &str, access| Bind {
            from: PathBuf::from(from),
            to: PathBuf::from(to),
            access,
        };
        let binds = [
            bind("/state/out", "/ml/output", Access::Write),
            bind("/home/ann/src", "/ml/usercode", Access::Copy),
        ];
        let instead = [(PathBuf::from("/ml/input/x"), PathBuf::from("/state/x"))];
        let places = RealPlaces::new(&binds, &instead, ["/ml/config.json"], Path::new("/own"));
        assert_eq!(places.of("/ml/output"), "/state/out");
        assert_eq!(places.of("/ml/output/model"), "/state/out/model");
        assert_eq!(places.of("/ml/usercode/a"), "/own/copy1.own/a");
        assert_eq!(places.of("/ml/input/x/y.csv"), "/state/x/y.csv");
        assert_eq!(places.of("/ml/config.json"), "/own/files/ml/config.json");
        assert_eq!(places.of("/ml"), "/own/files/ml");
        assert_eq!(places.of("/ml/config"), "/ml/config");
        assert_eq!(places.of("/ml/outputs"), "/ml/outputs");
        assert_eq!(RealPlaces::default().of("/ml/output"), "/ml/output");
    }
}
