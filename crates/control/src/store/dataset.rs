//! The catalogue of data.

use std::path::Path;

use pinnace_core::lifecycle::Time;
use rusqlite::{OptionalExtension as _, Row, params};
use serde::Serialize;

use super::{Change, Store, StoreError};

/// An entry of the catalogue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Dataset {
    /// Its name.
    pub name: String,
    /// Counts up from 1 for each name.
    pub version: u32,
    /// A path of this machine, or a URL.
    pub location: String,
    /// `sha256:` and the digest of what was registered.
    pub digest: Option<String>,
    /// How many files.
    pub files: Option<u64>,
    /// How many bytes.
    pub bytes: Option<u64>,
    /// For people.
    pub description: Option<String>,
    /// The job that made it.
    pub job: Option<String>,
    /// Which of its outputs.
    pub output: Option<String>,
    /// When it was registered.
    pub added: Time,
}

const COLUMNS: &str =
    "name, version, location, digest, files, bytes, description, job, output, added";

fn read(row: &Row<'_>) -> rusqlite::Result<Dataset> {
    Ok(Dataset {
        name: row.get(0)?,
        version: row.get(1)?,
        location: row.get(2)?,
        digest: row.get(3)?,
        files: row.get::<_, Option<i64>>(4)?.map(|count| count as u64),
        bytes: row.get::<_, Option<i64>>(5)?.map(|count| count as u64),
        description: row.get(6)?,
        job: row.get(7)?,
        output: row.get(8)?,
        added: Time(row.get::<_, i64>(9)? as u64),
    })
}

impl Store {
    /// The latest version of every dataset, or all versions of one, by name.
    pub fn datasets(&self, name: Option<&str>) -> Result<Vec<Dataset>, StoreError> {
        let condition = match name {
            Some(_) => "WHERE name = ?1",
            None => {
                "AS d WHERE ?1 IS NULL AND version = (SELECT max(version) FROM datasets WHERE name = d.name)"
            }
        };
        let sql = format!("SELECT {COLUMNS} FROM datasets {condition} ORDER BY name, version");
        self.connection
            .prepare_cached(&sql)
            .and_then(|mut statement| statement.query_map([name], read)?.collect())
            .map_err(|error| self.failed(&error))
    }

    /// The datasets that lie below a folder, by name.
    pub fn datasets_below(&self, folder: &Path) -> Result<Vec<Dataset>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM datasets ORDER BY name, version");
        let all: Vec<Dataset> = self
            .connection
            .prepare_cached(&sql)
            .and_then(|mut statement| statement.query_map([], read)?.collect())
            .map_err(|error| self.failed(&error))?;
        let lies_below = |dataset: &Dataset| Path::new(&dataset.location).starts_with(folder);
        Ok(all.into_iter().filter(lies_below).collect())
    }

    /// A dataset: the version that is asked for, or the latest.
    pub fn dataset(&self, name: &str, version: Option<u32>) -> Result<Option<Dataset>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM datasets WHERE name = ?1 AND (?2 IS NULL OR version = ?2)
             ORDER BY version DESC LIMIT 1"
        );
        self.connection
            .query_row(&sql, params![name, version], read)
            .optional()
            .map_err(|error| self.failed(&error))
    }
}

impl Change<'_> {
    /// Registers a dataset; its version is the next of its name, whatever it says. Tells which.
    pub fn register(&self, dataset: &Dataset) -> Result<u32, StoreError> {
        self.run(
            "INSERT INTO datasets (name, version, location, digest, files, bytes, description, job, output, added)
             SELECT ?1, coalesce(max(version), 0) + 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 FROM datasets WHERE name = ?1",
            params![
                dataset.name,
                dataset.location,
                dataset.digest,
                dataset.files.map(|count| count as i64),
                dataset.bytes.map(|count| count as i64),
                dataset.description,
                dataset.job,
                dataset.output,
                dataset.added.0 as i64,
            ],
        )?;
        self.transaction
            .query_row(
                "SELECT max(version) FROM datasets WHERE name = ?1",
                [&dataset.name],
                |row| row.get(0),
            )
            .map_err(|error| self.failed(&error))
    }
}
