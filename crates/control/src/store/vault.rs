//! The values of secrets at rest: encrypted with a key that lies in a file of its own.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
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
    /// Reads the key, and makes one if there is none.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let failed = |error: io::Error| StoreError::folder(path, &error);
        let key = match fs::read(path) {
            Ok(key) => key,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make_key(path)?;
                fs::read(path).map_err(failed)?
            }
            Err(error) => return Err(failed(error)),
        };
        let key = Zeroizing::new(key);
        let key = Key::try_from(key.as_slice()).map_err(|_| StoreError::WrongKey {
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

/// Makes a key that is there whole or not at all, and never replaces one.
fn make_key(path: &Path) -> Result<(), StoreError> {
    let failed = |error: io::Error| StoreError::folder(path, &error);
    let mut key = Zeroizing::new([0_u8; KEY_BYTES]);
    getrandom::fill(&mut *key).map_err(|_| StoreError::NoRandomness)?;
    let fresh = path.with_extension(format!("new-{}", std::process::id()));
    let write = || {
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&fresh)?;
        file.write_all(&*key)?;
        file.sync_all()?;
        match fs::hard_link(&fresh, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            other => other,
        }
    };
    let written = write();
    let _ = fs::remove_file(&fresh);
    written.map_err(failed)
}
