//! The store: what it keeps, and what it says when it cannot.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use pinnace_core::text::SecretName;
use pinnace_exec::Secrets;

use super::{plan, role, scratch, submission};
use crate::control::hand_in;
use crate::job::Submission;
use crate::store::{Found, Store, StoreError};

fn one_task() -> Submission {
    submission(plan(vec![("worker", role(1, "exit 0"))]))
}

fn with_secret(value: &str) -> Submission {
    let secrets: Secrets = [(SecretName("token".to_owned()), value.to_owned())]
        .into_iter()
        .collect();
    Submission {
        secrets,
        ..one_task()
    }
}

#[test]
fn a_job_comes_back_as_it_was_handed_in() {
    let folder = scratch();
    let mut store = Store::open(folder.path()).unwrap();
    let plan = one_task().plan;
    let id = hand_in(&mut store, one_task().admit().unwrap()).unwrap();
    let job = Store::open(folder.path())
        .unwrap()
        .load(&id)
        .unwrap()
        .unwrap();
    assert_eq!(job.digest, plan.digest());
    assert_eq!(job.plan, plan);
    assert!(job.finished.is_none());
    assert_eq!(store.list(true).unwrap(), [job.summary()]);
}

#[test]
fn only_the_owner_may_look_inside() {
    let folder = scratch();
    let path = folder.path().join("state");
    let mut store = Store::open(&path).unwrap();
    hand_in(&mut store, with_secret("open-sesame").admit().unwrap()).unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o700);
    assert_eq!(mode(&path.join("pinnace.db")), 0o600);
    assert_eq!(mode(&path.join("vault.key")), 0o600);
}

#[test]
fn names_can_be_used_again_and_the_latest_is_meant() {
    let folder = scratch();
    let mut store = Store::open(folder.path()).unwrap();
    let first = hand_in(&mut store, one_task().admit().unwrap()).unwrap();
    let second = hand_in(&mut store, one_task().admit().unwrap()).unwrap();
    assert_ne!(first, second);
    assert_eq!(store.find("test").unwrap(), Found::One(second.clone()));
    assert_eq!(
        store.find(first.as_str()).unwrap(),
        Found::One(first.clone())
    );
    assert_eq!(
        store.find("tes").unwrap(),
        Found::Several(vec![second.clone(), first])
    );
    let almost = &second.as_str()[..second.as_str().len() - 1];
    assert_eq!(store.find(almost).unwrap(), Found::One(second));
    assert_eq!(store.find("%").unwrap(), Found::None);
}

#[test]
fn a_job_that_has_not_ended_cannot_be_forgotten() {
    let folder = scratch();
    let mut store = Store::open(folder.path()).unwrap();
    let id = hand_in(&mut store, one_task().admit().unwrap()).unwrap();
    assert!(!store.change(|change| change.forget(&id)).unwrap());
    assert!(store.load(&id).unwrap().is_some());
}

#[test]
fn the_value_of_a_secret_is_in_no_file() {
    let folder = scratch();
    let mut store = Store::open(folder.path()).unwrap();
    hand_in(&mut store, with_secret("open-sesame").admit().unwrap()).unwrap();
    let mut files = 0;
    for entry in fs::read_dir(folder.path()).unwrap().flatten() {
        let Ok(bytes) = fs::read(entry.path()) else {
            continue;
        };
        files += 1;
        assert!(!bytes.windows(11).any(|window| window == b"open-sesame"));
    }
    assert!(files >= 2);
}

#[test]
fn secrets_open_with_their_own_key_only() {
    let folder = scratch();
    let mut store = Store::open(folder.path()).unwrap();
    let id = hand_in(&mut store, with_secret("open-sesame").admit().unwrap()).unwrap();
    let job = store.load(&id).unwrap().unwrap();
    let key = folder.path().join("vault.key");
    let right = fs::read(&key).unwrap();
    let mut wrong = right.clone();
    wrong[0] ^= 1;
    for bytes in [wrong, vec![1, 2, 3]] {
        fs::write(&key, bytes).unwrap();
        assert!(matches!(
            store.secrets(&job),
            Err(StoreError::WrongKey { .. })
        ));
    }
    fs::write(&key, right).unwrap();
    let secrets = store.secrets(&job).unwrap();
    assert_eq!(secrets.get(&SecretName("token".to_owned())), "open-sesame");
}

#[test]
fn a_later_database_is_refused_and_left_alone() {
    let folder = scratch();
    drop(Store::open(folder.path()).unwrap());
    let path = folder.path().join("pinnace.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let before = fs::read(&path).unwrap();
    let error = Store::open(folder.path()).unwrap_err();
    assert!(
        matches!(error, StoreError::Newer { found: 99, .. }),
        "{error}"
    );
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_damaged_database_is_told_of() {
    let folder = scratch();
    drop(Store::open(folder.path()).unwrap());
    let path = folder.path().join("pinnace.db");
    fs::write(
        &path,
        b"this is no database, whatever its name says, and it is long enough",
    )
    .unwrap();
    let error = Store::open(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
}

#[test]
fn a_state_that_contradicts_itself_is_damage_and_not_a_wrong_decision() {
    let folder = scratch();
    let mut store = Store::open(folder.path()).unwrap();
    let id = hand_in(&mut store, one_task().admit().unwrap()).unwrap();
    let connection = rusqlite::Connection::open(folder.path().join("pinnace.db")).unwrap();
    connection
        .execute(
            "UPDATE states SET state = replace(state, '\"live\":0', '\"live\":7')",
            [],
        )
        .unwrap();
    let error = store.load(&id).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
}

#[test]
fn something_in_the_way_of_the_folder_is_told_of() {
    let folder = scratch();
    let path = folder.path().join("state");
    fs::write(&path, "a file").unwrap();
    let error = Store::open(&path).unwrap_err();
    assert!(
        error.to_string().contains("no folder is in the way"),
        "{error}"
    );
}

#[test]
fn many_can_open_a_new_store_at_once_and_write() {
    let folder = scratch();
    let path = folder.path();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut store = Store::open(path).unwrap();
                hand_in(&mut store, one_task().admit().unwrap()).unwrap();
            });
        }
    });
    assert_eq!(Store::open(path).unwrap().list(true).unwrap().len(), 8);
}
