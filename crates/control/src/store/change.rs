//! What can be changed, within a transaction.

use pinnace_core::lifecycle::{Effect, Input, JobState, Settings, Time};
use pinnace_exec::Secrets;
use rusqlite::{OptionalExtension as _, Transaction, params};

use super::vault::Vault;
use super::{Command, StoreError};
use crate::folder::StateFolder;
use crate::job::{Job, JobId, Launch, Submission, Summary};
use crate::place::{Claim, Claims};

/// A transaction.
#[derive(Debug)]
pub struct Change<'a> {
    pub(super) transaction: &'a Transaction<'a>,
    pub(super) folder: &'a StateFolder,
}

type Done<T = ()> = Result<T, StoreError>;

impl Change<'_> {
    pub(super) fn run(&self, sql: &str, values: impl rusqlite::Params) -> Done<usize> {
        self.transaction
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute(values))
            .map_err(|error| self.failed(&error))
    }

    pub(super) fn failed(&self, error: &rusqlite::Error) -> StoreError {
        StoreError::database(&self.folder.database(), error)
    }

    /// Takes in a job: its life begins. The effects are to be carried out after the transaction.
    pub fn submit(
        &self,
        id: &JobId,
        submission: Submission,
        now: Time,
    ) -> Done<(Job, Vec<Effect>)> {
        let Submission {
            plan,
            options,
            secrets,
        } = submission;
        let mut seed = [0; 8];
        getrandom::fill(&mut seed).map_err(|_| StoreError::NoRandomness)?;
        let settings = Settings {
            seed: u64::from_le_bytes(seed),
            time_limit_ms: options
                .time_limit(&plan)
                .map(|seconds| seconds.saturating_mul(1000)),
            ..Settings::default()
        };
        let (state, effects) = JobState::begin(&plan, settings, now);
        let digest = plan.digest();
        self.run(
            "INSERT INTO jobs (id, name, plan, digest, options, summary, submitted)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                id.as_str(),
                plan.name,
                json(&plan),
                digest,
                json(&options),
                json(&Summary::of(id, &plan, &state, None, None)),
                now.0 as i64,
            ],
        )?;
        let number = self.transaction.last_insert_rowid();
        if secrets.values().next().is_some() {
            let key = self.folder.key();
            let vault = match self.has_secrets()? {
                true => Vault::open(&key)?,
                false => Vault::with_new_key(&key)?,
            };
            let sealed = vault.seal(number, &secrets)?;
            self.run(
                "INSERT INTO vault (job, sealed) VALUES (?1, ?2)",
                params![number, sealed],
            )?;
        }
        let job = Job {
            number,
            id: id.clone(),
            plan,
            digest,
            options,
            state,
            launches: Vec::new(),
            finished: None,
            waits: None,
        };
        self.keep_state(&job)?;
        Ok((job, effects))
    }

    /// Whether secrets of any job are kept.
    pub(super) fn has_secrets(&self) -> Done<bool> {
        self.transaction
            .prepare_cached("SELECT 1 FROM vault LIMIT 1")
            .and_then(|mut statement| statement.exists([]))
            .map_err(|error| self.failed(&error))
    }

    /// Whether an identifier is taken.
    pub fn has(&self, id: &JobId) -> Done<bool> {
        self.transaction
            .query_row(
                "SELECT 1 FROM jobs WHERE id = ?1",
                [id.as_str()],
                |_| Ok(()),
            )
            .optional()
            .map(|found| found.is_some())
            .map_err(|error| self.failed(&error))
    }

    /// Writes down an input that was heard; its number in the job's journal is the revision that it led to.
    pub(crate) fn append(&self, job: &Job, at: Time, input: &Input) -> Done {
        self.run(
            "INSERT INTO journal (job, seq, at, input) VALUES (?1, ?2, ?3, ?4)",
            params![
                job.number,
                job.state.revision() as i64,
                at.0 as i64,
                json(input)
            ],
        )?;
        Ok(())
    }

    /// Keeps the whole state, so that fewer inputs must be replayed.
    pub(crate) fn keep_state(&self, job: &Job) -> Done {
        self.run(
            "INSERT OR REPLACE INTO states (job, seq, state) VALUES (?1, ?2, ?3)",
            params![job.number, job.state.revision() as i64, json(&job.state)],
        )?;
        Ok(())
    }

    /// Renews what lists show.
    pub(crate) fn keep_summary(&self, job: &Job) -> Done {
        self.run(
            "UPDATE jobs SET summary = ?2, finished = ?3 WHERE number = ?1",
            params![
                job.number,
                json(&job.summary()),
                job.finished.map(|time| time.0 as i64)
            ],
        )?;
        Ok(())
    }

    /// Notes what is to be started.
    pub(crate) fn add_launch(&self, job: &Job, launch: &Launch) -> Done {
        self.run(
            "INSERT INTO launches (job, number, tasks) VALUES (?1, ?2, ?3)",
            params![job.number, launch.number, json(&launch.tasks)],
        )?;
        Ok(())
    }

    /// What tasks have of this machine, and what those jobs wait for that came before this one.
    pub(crate) fn claims(&self, job: &Job) -> Done<Claims> {
        let read = || -> rusqlite::Result<Claims> {
            let mut statement = self
                .transaction
                .prepare_cached("SELECT job, memory_mb, gpus, cards FROM places")?;
            let mut rows = statement.query([])?;
            let mut claims = Claims::default();
            while let Some(row) = rows.next()? {
                let owner: i64 = row.get(0)?;
                let memory_mb = row.get::<_, i64>(1)? as u64;
                let gpus: u32 = row.get(2)?;
                let cards: Option<String> = row.get(3)?;
                match cards {
                    Some(cards) => {
                        claims.held_memory_mb += memory_mb;
                        let cards: Vec<u32> = serde_json::from_str(&cards).unwrap_or_default();
                        claims.held_cards.extend(cards);
                    }
                    None if owner < job.number => {
                        claims.earlier_memory_mb += memory_mb;
                        claims.earlier_gpus += gpus;
                    }
                    None => {}
                }
            }
            Ok(claims)
        };
        read().map_err(|error| self.failed(&error))
    }

    /// Notes what a task has of this machine or waits for.
    pub(crate) fn claim(&self, job: &Job, claim: &Claim) -> Done {
        self.run(
            "INSERT OR REPLACE INTO places (job, task, memory_mb, gpus, cards) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![
                job.number,
                json(&claim.task),
                claim.memory_mb as i64,
                claim.gpus,
                claim.cards.as_ref().map(json),
            ],
        )?;
        Ok(())
    }

    /// What a task had is free again.
    pub(crate) fn unclaim(&self, job: &Job, task: pinnace_core::lifecycle::TaskAttempt) -> Done {
        if job.options.simulate_resources {
            // It never had anything.
            return Ok(());
        }
        self.run(
            "DELETE FROM places WHERE job = ?1 AND task = ?2",
            params![job.number, json(&task)],
        )?;
        Ok(())
    }

    /// The job has ended: nothing of it is needed but the record, and the datasets that it made.
    pub(crate) fn settle(&self, job: &Job, now: Time) -> Done {
        for dataset in crate::output::to_register(job, self.folder, now) {
            self.register(&dataset)?;
        }
        for table in ["places", "commands", "vault"] {
            self.run(&format!("DELETE FROM {table} WHERE job = ?1"), [job.number])?;
        }
        Ok(())
    }

    /// Asks something of the process that drives a job.
    pub fn ask(&self, job: &Job, command: Command) -> Done {
        self.run(
            "INSERT INTO commands (job, command) VALUES (?1, ?2)",
            params![job.number, json(&command)],
        )?;
        Ok(())
    }

    /// Forgets what was asked, up to this number.
    pub(crate) fn drop_commands(&self, job: &Job, up_to: i64) -> Done {
        self.run(
            "DELETE FROM commands WHERE job = ?1 AND number <= ?2",
            params![job.number, up_to],
        )?;
        Ok(())
    }

    /// Forgets a job that has ended; false if it has not, or is not there.
    pub fn forget(&self, id: &JobId) -> Done<bool> {
        let count = self.run(
            "DELETE FROM jobs WHERE id = ?1 AND finished IS NOT NULL",
            [id.as_str()],
        )?;
        Ok(count > 0)
    }

    /// The secrets of a job, while they are kept.
    pub fn secrets(&self, job: &Job) -> Done<Secrets> {
        super::query::secrets(self.transaction, self.folder, job.number)
    }
}

/// Everything that is stored is made of structs, lists and maps with text keys, and can always be written.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
