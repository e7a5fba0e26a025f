//! What can be read.

use pinnace_core::lifecycle::{Input, JobState, Time, step};
use pinnace_exec::Secrets;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::de::DeserializeOwned;

use super::vault::Vault;
use super::{Command, Store, StoreError};
use crate::folder::StateFolder;
use crate::job::{Job, JobId, Launch, PlacedTask, Summary};

/// What a word of the user stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// One job.
    One(JobId),
    /// No job.
    None,
    /// The beginning of several jobs' identifiers; some of them.
    Several(Vec<JobId>),
}

impl Store {
    /// All jobs, or those that have not ended, the oldest first.
    pub fn list(&self, unfinished_only: bool) -> Result<Vec<Summary>, StoreError> {
        let sql = match unfinished_only {
            true => "SELECT summary FROM jobs WHERE finished IS NULL ORDER BY number",
            false => "SELECT summary FROM jobs ORDER BY number",
        };
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                statement
                    .query_map([], |row| row.get::<_, String>(0))?
                    .collect::<rusqlite::Result<Vec<String>>>()
            })
            .map_err(|error| self.failed(&error))?
            .iter()
            .map(|text| self.parse("the summary of a job", text))
            .collect()
    }

    /// Which job is meant: an identifier, a name (the latest job of it), or the beginning of an identifier.
    pub fn find(&self, word: &str) -> Result<Found, StoreError> {
        let find = || -> rusqlite::Result<Found> {
            let exact = self
                .connection
                .query_row(
                    "SELECT id FROM jobs WHERE id = ?1 OR name = ?1 ORDER BY id = ?1 DESC, number DESC LIMIT 1",
                    [word],
                    id,
                )
                .optional()?;
            if let Some(id) = exact {
                return Ok(Found::One(id));
            }
            let mut begins: Vec<JobId> = self
                .connection
                .prepare_cached(
                    "SELECT id FROM jobs WHERE substr(id, 1, length(?1)) = ?1 ORDER BY number DESC LIMIT 5",
                )?
                .query_map([word], id)?
                .collect::<rusqlite::Result<_>>()?;
            Ok(match begins.len() {
                0 => Found::None,
                1 => begins.pop().map_or(Found::None, Found::One),
                _ => Found::Several(begins),
            })
        };
        find().map_err(|error| self.failed(&error))
    }

    /// All that is known of a job: its last kept state, with the inputs after it replayed.
    pub fn load(&self, id: &JobId) -> Result<Option<Job>, StoreError> {
        // One read transaction, so that the parts are of one moment.
        let transaction = self
            .connection
            .unchecked_transaction()
            .map_err(|error| self.failed(&error))?;
        let row = transaction
            .query_row(
                "SELECT number, plan, digest, options, state, seq, finished, summary
                 FROM jobs JOIN states ON job = number WHERE id = ?1",
                [id.as_str()],
                JobRow::read,
            )
            .optional()
            .map_err(|error| self.failed(&error))?;
        let Some(row) = row else { return Ok(None) };
        let mut state: JobState = self.parse("the state of a job", &row.state)?;
        let inputs =
            inputs(&transaction, row.number, row.state_seq).map_err(|error| self.failed(&error))?;
        for (at, text) in inputs {
            let input: Input = self.parse("an input of a job", &text)?;
            step(&mut state, input, at);
        }
        let launches = launches(&transaction, row.number)
            .map_err(|error| self.failed(&error))?
            .into_iter()
            .map(|(number, text)| {
                let tasks: Vec<PlacedTask> = self.parse("a launch of a job", &text)?;
                Ok(Launch { number, tasks })
            })
            .collect::<Result<_, StoreError>>()?;
        let summary: Summary = self.parse("the summary of a job", &row.summary)?;
        Ok(Some(Job {
            number: row.number,
            id: id.clone(),
            plan: self.parse("the plan of a job", &row.plan)?,
            digest: row.digest,
            options: self.parse("the options of a job", &row.options)?,
            state,
            launches,
            finished: row.finished,
            waits: summary.waits,
        }))
    }

    /// Whether a job has ended; also when it was removed.
    pub fn has_ended(&self, id: &JobId) -> Result<bool, StoreError> {
        self.connection
            .prepare_cached("SELECT 1 FROM jobs WHERE id = ?1 AND finished IS NULL")
            .and_then(|mut statement| statement.exists([id.as_str()]))
            .map(|unfinished| !unfinished)
            .map_err(|error| self.failed(&error))
    }

    /// What was asked of the process that drives a job, the oldest first, with the number of each.
    pub(crate) fn commands(&self, job: &Job) -> Result<Vec<(i64, Command)>, StoreError> {
        let read = || -> rusqlite::Result<Vec<(i64, String)>> {
            self.connection
                .prepare_cached(
                    "SELECT number, command FROM commands WHERE job = ?1 ORDER BY number",
                )?
                .query_map([job.number], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        };
        read()
            .map_err(|error| self.failed(&error))?
            .into_iter()
            .map(|(number, text)| Ok((number, self.parse("a request", &text)?)))
            .collect()
    }

    /// The secrets of a job, while they are kept.
    pub fn secrets(&self, job: &Job) -> Result<Secrets, StoreError> {
        secrets(&self.connection, &self.folder, job.number)
    }

    fn parse<T: DeserializeOwned>(&self, what: &str, text: &str) -> Result<T, StoreError> {
        serde_json::from_str(text).map_err(|error| StoreError::Damaged {
            path: self.folder.database(),
            what: format!("{what} cannot be read: {error}"),
        })
    }
}

pub(super) fn secrets(
    connection: &Connection,
    folder: &StateFolder,
    job: i64,
) -> Result<Secrets, StoreError> {
    let sealed = || -> Result<Option<Vec<u8>>, StoreError> {
        connection
            .query_row("SELECT sealed FROM vault WHERE job = ?1", [job], |row| {
                row.get(0)
            })
            .optional()
            .map_err(|error| StoreError::database(&folder.database(), &error))
    };
    let Some(bytes) = sealed()? else {
        return Ok(Secrets::default());
    };
    let opened = Vault::open(&folder.key()).and_then(|vault| vault.unseal(job, &bytes));
    match opened {
        // The job has ended between the two looks, and the key with it.
        Err(StoreError::WrongKey { .. }) if sealed()?.is_none() => Ok(Secrets::default()),
        opened => opened,
    }
}

struct JobRow {
    number: i64,
    plan: String,
    digest: String,
    options: String,
    state: String,
    state_seq: i64,
    finished: Option<Time>,
    summary: String,
}

impl JobRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            number: row.get(0)?,
            plan: row.get(1)?,
            digest: row.get(2)?,
            options: row.get(3)?,
            state: row.get(4)?,
            state_seq: row.get(5)?,
            finished: row.get::<_, Option<i64>>(6)?.map(time),
            summary: row.get(7)?,
        })
    }
}

fn id(row: &Row<'_>) -> rusqlite::Result<JobId> {
    row.get(0).map(JobId::stored)
}

fn time(milliseconds: i64) -> Time {
    Time(milliseconds as u64)
}

fn inputs(connection: &Connection, job: i64, after: i64) -> rusqlite::Result<Vec<(Time, String)>> {
    connection
        .prepare_cached("SELECT at, input FROM journal WHERE job = ?1 AND seq > ?2 ORDER BY seq")?
        .query_map(params![job, after], |row| {
            Ok((time(row.get(0)?), row.get(1)?))
        })?
        .collect()
}

fn launches(connection: &Connection, job: i64) -> rusqlite::Result<Vec<(u32, String)>> {
    connection
        .prepare_cached("SELECT number, tasks FROM launches WHERE job = ?1 ORDER BY number")?
        .query_map([job], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}
