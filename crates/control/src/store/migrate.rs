//! Brings a database to the latest version, one numbered file at a time.

use rusqlite::{Connection, TransactionBehavior};

/// The files, the oldest first. A released one is never changed.
const MIGRATIONS: [&str; 3] = [
    include_str!("migrations/0001_jobs.sql"),
    include_str!("migrations/0002_datasets.sql"),
    include_str!("migrations/0003_states.sql"),
];

/// The version that the last file leads to.
pub(super) const LATEST: i64 = MIGRATIONS.len() as i64;

pub(super) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Each file is carried out in a transaction of its own, with the number that it leads to.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let found = usize::try_from(version(connection)?).unwrap_or_default();
    for (at, file) in MIGRATIONS.iter().enumerate().skip(found) {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(file)?;
        transaction.pragma_update(None, "user_version", at as i64 + 1)?;
        transaction.commit()?;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn jobs_of_an_older_version_keep_their_state() {
        let mut connection = Connection::open_in_memory().unwrap();
        for file in &MIGRATIONS[..2] {
            connection.execute_batch(file).unwrap();
        }
        connection.pragma_update(None, "user_version", 2).unwrap();
        connection
            .execute_batch(
                "INSERT INTO jobs (id, name, plan, digest, options, state, state_seq, summary, submitted)
                 VALUES ('a-1', 'a', '{}', 'd', '{}', 'whole', 7, '{}', 1);
                 INSERT INTO journal (job, seq, at, input) VALUES (1, 8, 2, 'later');",
            )
            .unwrap();
        migrate(&mut connection).unwrap();
        assert_eq!(version(&connection).unwrap(), LATEST);
        let kept: (i64, String, String) = connection
            .query_row(
                "SELECT states.seq, state, input FROM jobs
                 JOIN states ON states.job = number JOIN journal ON journal.job = number",
                [],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
            .unwrap();
        assert_eq!(kept, (7, "whole".to_owned(), "later".to_owned()));
    }
}
