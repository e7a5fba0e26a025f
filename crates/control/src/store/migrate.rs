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
