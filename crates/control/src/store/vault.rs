//! The values of secrets at rest: encrypted with a key that lies in a file of its own. The key is used as long as there
//! is something to decrypt; then it is overwritten, and what copies of the encrypted bytes there may be mean nothing.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{ChaCha20Poly1305, Key, Nonce};
use pinnace_core::text::SecretName;
use pinnace_exec::Secrets;
use zeroize::Zeroizing;

use super::StoreError;

const KEY_BYTES: usize = 32;
const NONCE_BYTES: usize = 12;

/// Seals and opens the secrets of jobs.
pub(super) struct Vault {
    cipher: ChaCha20Poly1305,
    path: PathBuf,
}

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vault")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl Vault {
    /// Reads the key.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let key = fs::read(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => StoreError::WrongKey {
                path: path.to_owned(),
            },
            _ => StoreError::folder(path, &error),
        })?;
        Self::of(&Zeroizing::new(key), path)
    }

    /// Makes a key, which is on the disk when this returns. Only while nothing is sealed, and within a transaction
    /// that nobody else can have at the same time.
    pub(super) fn with_new_key(path: &Path) -> Result<Self, StoreError> {
        let failed = |error: io::Error| StoreError::folder(path, &error);
        let (key, file) = write_key(path)?;
        file.sync_data().map_err(failed)?;
        Self::of(&key[..], path)
    }

    /// Makes sure that nobody can open what was sealed. Only while nothing is sealed that is still needed, and within
    /// a transaction.
    pub(super) fn forget(path: &Path) -> Result<(), StoreError> {
        match path.exists() {
            true => write_key(path).map(drop),
            false => Ok(()),
        }
    }

    fn of(key: &[u8], path: &Path) -> Result<Self, StoreError> {
        let key = Key::try_from(key).map_err(|_| StoreError::WrongKey {
            path: path.to_owned(),
        })?;
        Ok(Self {
            cipher: ChaCha20Poly1305::new(&key),
            path: path.to_owned(),
        })
    }

    /// Encrypts the secrets of a job, so that they can be opened as those of this job alone.
    pub(super) fn seal(&self, job: i64, secrets: &Secrets) -> Result<Vec<u8>, StoreError> {
        let pairs: Vec<(&SecretName, &str)> = secrets.iter().collect();
        let clear = Zeroizing::new(serde_json::to_vec(&pairs).unwrap_or_default());
        let mut sealed = vec![0; NONCE_BYTES];
        getrandom::fill(&mut sealed).map_err(|_| StoreError::NoRandomness)?;
        let nonce = Nonce::try_from(sealed.as_slice()).map_err(|_| self.wrong())?;
        let payload = Payload {
            msg: &clear,
            aad: &job.to_le_bytes(),
        };
        let body = self
            .cipher
            .encrypt(&nonce, payload)
            .map_err(|_| self.wrong())?;
        sealed.extend_from_slice(&body);
        Ok(sealed)
    }

    pub(super) fn unseal(&self, job: i64, sealed: &[u8]) -> Result<Secrets, StoreError> {
        let (nonce, body) = sealed
            .split_at_checked(NONCE_BYTES)
            .ok_or_else(|| self.wrong())?;
        let nonce = Nonce::try_from(nonce).map_err(|_| self.wrong())?;
        let payload = Payload {
            msg: body,
            aad: &job.to_le_bytes(),
        };
        let clear = self
            .cipher
            .decrypt(&nonce, payload)
            .map_err(|_| self.wrong())?;
        let clear = Zeroizing::new(clear);
        let pairs: Vec<(SecretName, String)> =
            serde_json::from_slice(&clear).map_err(|_| self.wrong())?;
        Ok(pairs.into_iter().collect())
    }

    fn wrong(&self) -> StoreError {
        StoreError::WrongKey {
            path: self.path.clone(),
        }
    }
}

/// Writes random bytes over the key, so that the old one is nowhere on the disk.
fn write_key(path: &Path) -> Result<(Zeroizing<[u8; KEY_BYTES]>, File), StoreError> {
    let failed = |error: io::Error| StoreError::folder(path, &error);
    let mut key = Zeroizing::new([0_u8; KEY_BYTES]);
    getrandom::fill(&mut *key).map_err(|_| StoreError::NoRandomness)?;
    let is_new = !path.exists();
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .map_err(failed)?;
    file.write_all_at(&*key, 0)
        .and_then(|()| file.set_len(KEY_BYTES as u64))
        .map_err(failed)?;
    if is_new {
        let folder = path.parent().unwrap_or(path);
        file.sync_all()
            .and_then(|()| File::open(folder)?.sync_all())
            .map_err(failed)?;
    }
    Ok((key, file))
}
