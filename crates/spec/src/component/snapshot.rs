//! The id of a code snapshot, as Azure ML computes it: a tree of SHA-512 digests over the files.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sha2::{Digest as _, Sha512};

/// The id of these files and folders, each with its path (`/` between the parts) and, if it is a file,
/// its bytes. Equal files in folders of other names have one id: the names of folders do not count.
pub fn id<'a>(entries: impl IntoIterator<Item = (&'a str, Option<&'a [u8]>)>) -> String {
    let mut root = Folder::default();
    for (path, bytes) in entries {
        root.add(path, bytes);
    }
    let mut hex = String::new();
    for byte in root.digest() {
        let _ = write!(hex, "{byte:02x}");
    }
    let every_fourth: String = hex.chars().step_by(4).collect();
    let mut id = String::new();
    for (index, char) in every_fourth.chars().enumerate() {
        if matches!(index, 8 | 12 | 16 | 20) {
            id.push('-');
        }
        id.push(char);
    }
    id
}

#[derive(Default)]
struct Folder {
    entries: BTreeMap<String, Entry>,
}

enum Entry {
    File([u8; 64]),
    Folder(Folder),
}

impl Folder {
    fn add(&mut self, path: &str, bytes: Option<&[u8]>) {
        let mut folder = self;
        let mut parts = path.split('/').filter(|part| !part.is_empty()).peekable();
        while let Some(part) = parts.next() {
            if let (None, Some(bytes)) = (parts.peek(), bytes) {
                let mut hasher = Sha512::new();
                hasher.update(bytes);
                hasher.update(part.as_bytes());
                hasher.update(b"File");
                let digest = Entry::File(hasher.finalize().into());
                folder.entries.insert(part.to_owned(), digest);
                return;
            }
            let entry = folder
                .entries
                .entry(part.to_owned())
                .or_insert_with(|| Entry::Folder(Folder::default()));
            match entry {
                Entry::Folder(inner) => folder = inner,
                // A file cannot hold another; whoever listed it so meant the file.
                Entry::File(_) => return,
            }
        }
    }

    fn digest(&self) -> [u8; 64] {
        let mut hasher = Sha512::new();
        for entry in self.entries.values() {
            match entry {
                Entry::File(digest) => hasher.update(digest),
                Entry::Folder(folder) => hasher.update(folder.digest()),
            }
        }
        hasher.finalize().into()
    }
}

#[cfg(test)]
mod tests;
