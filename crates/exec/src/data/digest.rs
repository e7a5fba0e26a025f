//! Digests of data.
//!
//! The digest of a file is that of its bytes. The digest of a folder is that of a list with a line for each file in it,
//! sorted by path: the file's digest, two blanks, its path. `sha256sum` makes the same list.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::copy::{self, Kind};

/// What a piece of data weighs, and its digest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Weighed {
    /// How many files.
    pub files: u64,
    /// How many bytes.
    pub bytes: u64,
    /// `sha256:` and the digest in hex; none if there is nothing.
    pub digest: Option<String>,
}

/// Weighs a file, or a folder with all that is in it.
pub fn weigh(path: &Path) -> io::Result<Weighed> {
    let kind = match fs::metadata(path) {
        Ok(kind) => kind,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Weighed::default()),
        Err(error) => return Err(error),
    };
    if kind.is_file() {
        return Ok(Weighed {
            files: 1,
            bytes: kind.len(),
            digest: Some(format!("sha256:{}", of_file(path)?)),
        });
    }
    let mut weighed = Weighed::default();
    let mut list = Sha256::new();
    for entry in copy::walk(path)? {
        if entry.kind == Kind::File {
            let file = path.join(&entry.path);
            weighed.files += 1;
            weighed.bytes += fs::metadata(&file)?.len();
            list.update(of_file(&file)?);
            list.update("  ");
            list.update(entry.path.as_os_str().as_encoded_bytes());
            list.update("\n");
        }
    }
    if weighed.files > 0 {
        weighed.digest = Some(format!("sha256:{}", hex(&list.finalize())));
    }
    Ok(weighed)
}

fn of_file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path).map_err(copy::at(path))?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 256 << 10];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hex(&hasher.finalize())),
            Ok(count) => hasher.update(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Bytes as digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_a_folder_is_that_of_the_list_that_sha256sum_makes() {
        let scratch = tempfile::tempdir().unwrap();
        fs::create_dir(scratch.path().join("sub")).unwrap();
        fs::write(scratch.path().join("sub/b"), "two\n").unwrap();
        fs::write(scratch.path().join("a"), "one\n").unwrap();
        let shell = "find . -type f -printf '%P\\n' | LC_ALL=C sort | xargs sha256sum | sha256sum";
        let output = std::process::Command::new("sh")
            .args(["-c", shell])
            .current_dir(scratch.path())
            .output()
            .unwrap();
        let wanted = String::from_utf8(output.stdout).unwrap();
        let weighed = weigh(scratch.path()).unwrap();
        assert_eq!((weighed.files, weighed.bytes), (2, 8));
        assert_eq!(
            weighed.digest.as_deref().unwrap(),
            format!("sha256:{}", wanted.split(' ').next().unwrap())
        );
    }

    #[test]
    fn nothing_has_no_digest() {
        let scratch = tempfile::tempdir().unwrap();
        assert_eq!(weigh(scratch.path()).unwrap(), Weighed::default());
        let missing = scratch.path().join("missing");
        assert_eq!(weigh(&missing).unwrap(), Weighed::default());
    }
}
