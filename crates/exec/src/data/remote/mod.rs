//! Data that lies elsewhere: fetched into a cache by `http`, `https`, `s3` and `oss`, sent by `s3` and `oss`.
//!
//! Credentials and endpoints come from the environment and go nowhere but into the requests.

mod bucket;
mod client;
mod sign;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pinnace_core::plan::{Location, Scheme};
use sha2::{Digest as _, Sha256};

use super::copy::{self, Kind};
use super::digest::hex;
use super::tell::Teller;
use bucket::{Bucket, Object, Refused};
use client::{Client, MOST_TRIES};

/// Fetches a file, or all objects below a prefix into a new folder. What was fetched before is used again if it has not changed.
pub(crate) fn fetch(
    location: &Location,
    cache: &Path,
    folder: &Path,
    teller: &Teller,
) -> Result<PathBuf, String> {
    let client = Client::new();
    if location.scheme() == Scheme::Http {
        let url = location.as_str();
        let shown = client::shown(url);
        let ask = |more: &[(String, String)]| client.get(url, more);
        return client::download(url, &shown, &ask, cache, teller)
            .map_err(|why| format!("`{shown}` cannot be fetched: {why}"));
    }
    let (bucket, key) = Bucket::of(location)?;
    from_bucket(&client, &bucket, &key, cache, folder, teller)
        .map_err(|why| format!("`{location}` cannot be fetched: {why}"))
}

fn from_bucket(
    client: &Client,
    bucket: &Bucket,
    key: &str,
    cache: &Path,
    folder: &Path,
    teller: &Teller,
) -> Result<PathBuf, String> {
    let get = |object: &Object| {
        let ask = |more: &[(String, String)]| {
            let (url, headers) = bucket.request("GET", &object.key, &[], sign::EMPTY);
            client.get(&url, &[headers, more.to_vec()].concat())
        };
        let name = bucket.name_of(&object.key);
        client::download(&bucket.id_of(&object.key), &name, &ask, cache, teller)
    };
    let objects = list(client, bucket, key, cache, teller)?;
    if let Some(object) = objects.iter().find(|object| object.key == key) {
        return get(object);
    }
    let prefix = match key.is_empty() || key.ends_with('/') {
        true => key.to_owned(),
        false => format!("{key}/"),
    };
    let inside: Vec<(&Object, &str)> = objects
        .iter()
        .filter_map(|object| Some((object, object.key.strip_prefix(&prefix)?)))
        .filter(|(_, path)| !path.is_empty() && !path.ends_with('/'))
        .collect();
    if inside.is_empty() {
        return Err("there is nothing".to_owned());
    }
    let _ = fs::remove_dir_all(folder);
    for (object, path) in inside {
        let plain = |part: &str| !matches!(part, "" | "." | "..");
        if !path.split('/').all(plain) {
            return Err(format!(
                "the object `{}` has no place in a folder",
                object.key
            ));
        }
        let content = get(object)?;
        let target = folder.join(path);
        let words = |error: std::io::Error| error.to_string();
        fs::create_dir_all(target.parent().unwrap_or(folder)).map_err(words)?;
        if fs::hard_link(&content, &target).is_err() {
            copy::copy_file(&content, &target).map_err(words)?;
        }
    }
    Ok(folder.to_owned())
}

/// The objects whose keys begin so. If the server cannot be reached, those that it had before.
fn list(
    client: &Client,
    bucket: &Bucket,
    key: &str,
    cache: &Path,
    teller: &Teller,
) -> Result<Vec<Object>, String> {
    let folder = cache.join("fetched");
    copy::open_folder(&folder).map_err(|error| error.to_string())?;
    let id = hex(&Sha256::digest(bucket.id_of(key)));
    let known = folder.join(format!("{id}.list"));
    let mut last = String::new();
    for number in 0..MOST_TRIES {
        if number > 0 {
            std::thread::sleep(Duration::from_millis(100 << number));
        }
        match bucket.list(client, key) {
            Ok(objects) => {
                let keys: Vec<&str> = objects.iter().map(|object| &*object.key).collect();
                let bytes = serde_json::to_vec(&keys).unwrap_or_default();
                // Without it the next run only needs its server.
                let _ = crate::local::write_atomically(&known, &bytes);
                return Ok(objects);
            }
            Err(Refused::ForGood(why)) => return Err(why),
            Err(Refused::ForNow(why)) => last = why,
            Err(Refused::NotReached(why)) => {
                let bytes = fs::read(&known).unwrap_or_default();
                if let Ok(keys) = serde_json::from_slice::<Vec<String>>(&bytes) {
                    let place = bucket.name_of(key);
                    teller.note(format!(
                        "`{place}` cannot be reached ({why}); an earlier copy is used"
                    ));
                    return Ok(keys.into_iter().map(|key| Object { key }).collect());
                }
                last = why;
            }
        }
    }
    Err(last)
}

/// Sends a file, or all files of a folder below a prefix. Tells where it lies then.
pub(crate) fn send(from: &Path, location: &Location, teller: &Teller) -> Result<(), String> {
    if location.scheme() == Scheme::Http {
        return Err("nothing can be sent by `http`".to_owned());
    }
    let client = Client::new();
    let (bucket, key) = Bucket::of(location)?;
    if from.is_file() {
        let key = match key.is_empty() || key.ends_with('/') {
            true => format!(
                "{key}{}",
                from.file_name().unwrap_or_default().to_string_lossy()
            ),
            false => key,
        };
        return bucket.put(&client, &key, from, teller);
    }
    for entry in copy::walk(from).map_err(|error| error.to_string())? {
        if entry.kind == Kind::Folder {
            continue;
        }
        let path = entry
            .path
            .to_str()
            .ok_or_else(|| format!("`{}` is no name for an object", entry.path.display()))?;
        let key = match key.trim_end_matches('/') {
            "" => path.to_owned(),
            prefix => format!("{prefix}/{path}"),
        };
        let file = from.join(&entry.path);
        if file.is_file() {
            bucket.put(&client, &key, &file, teller)?;
        }
    }
    Ok(())
}
