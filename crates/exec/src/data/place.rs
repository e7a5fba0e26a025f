//! From where data is said to lie to where it can be had.

use std::path::{Component, Path, PathBuf};

use pinnace_core::plan::{Location, Scheme};

use crate::contract::Settings;

/// Where data can be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// On this machine.
    Here(PathBuf),
    /// Elsewhere, by `http`, `s3` or `oss`.
    There(Location),
}

/// Finds the place of a location; or says why it has none.
pub(crate) fn find(location: &Location, settings: &Settings) -> Result<Place, String> {
    match location.scheme() {
        Scheme::Local => Ok(Place::Here(PathBuf::from(
            location.local().unwrap_or_default(),
        ))),
        Scheme::Http | Scheme::S3 | Scheme::Oss => Ok(Place::There(location.clone())),
        Scheme::Datastore => in_datastore(location, settings),
        Scheme::Dataset => {
            let found = settings.datasets.get(location.as_str()).ok_or_else(|| {
                format!("the catalogue has no `{location}`; `pinnace data ls` shows what it has")
            })?;
            match Location::parse(found, None) {
                Ok(found) if found.scheme() != Scheme::Dataset => find(&found, settings),
                _ => Err(format!("the catalogue's entry for `{location}` is broken")),
            }
        }
    }
}

fn in_datastore(location: &Location, settings: &Settings) -> Result<Place, String> {
    let (name, path) = location
        .datastore()
        .ok_or_else(|| format!("`{location}` names no datastore"))?;
    let folder = settings.datastores.get(name).ok_or_else(|| {
        format!("no folder is known for the datastore `{name}`; `--datastore {name}=DIR` names one")
    })?;
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if !Path::new(path).components().all(plain) {
        return Err(format!("`{location}` leads out of its datastore"));
    }
    Ok(Place::Here(folder.join(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_text(text: &str, settings: &Settings) -> Result<Place, String> {
        find(&Location::parse(text, None).unwrap(), settings)
    }

    #[test]
    fn datastores_are_folders_that_nothing_leads_out_of() {
        let settings = Settings {
            datastores: [("blob".to_owned(), PathBuf::from("/stores/blob"))].into(),
            ..Settings::default()
        };
        let find = |text| find_text(text, &settings);
        assert_eq!(
            find("azureml://datastores/blob/paths/a/b"),
            Ok(Place::Here(PathBuf::from("/stores/blob/a/b")))
        );
        assert!(find("azureml://datastores/blob/paths/../x").is_err());
        assert!(find("azureml://datastores/blob/paths//etc").is_err());
        let unknown = find("azureml://datastores/other/paths/a").unwrap_err();
        assert!(unknown.contains("--datastore other=DIR"), "{unknown}");
    }

    #[test]
    fn a_dataset_stands_for_its_location() {
        let settings = Settings {
            datasets: [
                ("dataset:a".to_owned(), "/data/a".to_owned()),
                ("dataset:b".to_owned(), "dataset:b".to_owned()),
            ]
            .into(),
            ..Settings::default()
        };
        let find = |text| find_text(text, &settings);
        assert_eq!(find("dataset:a"), Ok(Place::Here(PathBuf::from("/data/a"))));
        assert!(find("dataset:b").is_err());
        assert!(find("dataset:c").is_err());
    }
}
