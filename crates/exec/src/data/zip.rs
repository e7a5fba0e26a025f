//! A folder as a zip file, as Azure ML makes one of an include `x.zip` for a folder `x`: not compressed, everything
//! below the name of the folder. Equal folders give equal bytes.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::copy::{self, at};

/// The first day that a zip file can name.
const DATE: u16 = 0x0021;

/// Names are UTF-8.
const FLAGS: u16 = 0x0800;

/// The version that knows folders.
const VERSION: u16 = 20;

/// Made on Unix, so that permissions count.
const MADE_BY: u16 = (3 << 8) | VERSION;

/// A file or folder that was written.
struct Entry {
    name: Vec<u8>,
    mode: u32,
    checksum: u32,
    size: u32,
    offset: u32,
}

/// Writes all below a folder into a new zip file.
pub(crate) fn write(folder: &Path, to: &Path) -> io::Result<()> {
    let mut out = BufWriter::new(File::create_new(to).map_err(at(to))?);
    let root = folder.file_name().unwrap_or_default().to_string_lossy();
    let found = copy::walk(folder)?;
    let mut entries = Vec::new();
    let mut offset = add(folder, format!("{root}/"), 0, &mut out, &mut entries)?;
    for entry in &found {
        let path = folder.join(&entry.path);
        let name = format!("{root}/{}", entry.path.to_string_lossy());
        // What a link leads to, as it is for a copy.
        let Ok(kind) = fs::metadata(&path) else {
            continue;
        };
        let name = if kind.is_dir() { name + "/" } else { name };
        offset = add(&path, name, offset, &mut out, &mut entries)?;
    }
    let start = offset;
    for entry in &entries {
        offset = offset
            .checked_add(46 + entry.name.len() as u32)
            .ok_or_else(too_large)?;
        out.write_all(&0x0201_4b50_u32.to_le_bytes())?;
        out.write_all(&MADE_BY.to_le_bytes())?;
        entry.describe(&mut out)?;
        // No comment, the first disk, no attributes of MS-DOS but that of a folder.
        let is_folder = entry.name.ends_with(b"/");
        out.write_all(&[0; 6])?;
        out.write_all(&((entry.mode << 16) | if is_folder { 0x10 } else { 0 }).to_le_bytes())?;
        out.write_all(&entry.offset.to_le_bytes())?;
        out.write_all(&entry.name)?;
    }
    let count = u16::try_from(entries.len()).map_err(|_| too_large())?;
    out.write_all(&0x0605_4b50_u32.to_le_bytes())?;
    out.write_all(&[0; 4])?;
    out.write_all(&count.to_le_bytes())?;
    out.write_all(&count.to_le_bytes())?;
    out.write_all(&(offset - start).to_le_bytes())?;
    out.write_all(&start.to_le_bytes())?;
    out.write_all(&[0; 2])?;
    out.flush()
}

impl Entry {
    /// The part that both headers of an entry share.
    fn describe(&self, out: &mut impl io::Write) -> io::Result<()> {
        for number in [VERSION, FLAGS, 0, 0, DATE] {
            out.write_all(&number.to_le_bytes())?;
        }
        for number in [self.checksum, self.size, self.size] {
            out.write_all(&number.to_le_bytes())?;
        }
        let length = u16::try_from(self.name.len()).map_err(|_| too_large())?;
        out.write_all(&length.to_le_bytes())?;
        out.write_all(&[0; 2])
    }
}

/// Writes a file or folder; tells where the next one begins.
fn add(
    path: &Path,
    name: String,
    offset: u32,
    out: &mut impl io::Write,
    entries: &mut Vec<Entry>,
) -> io::Result<u32> {
    let mode = fs::metadata(path).map_err(at(path))?.permissions().mode();
    let mut entry = Entry {
        name: name.into_bytes(),
        mode,
        checksum: 0,
        size: 0,
        offset,
    };
    let is_file = !entry.name.ends_with(b"/");
    if is_file {
        (entry.checksum, entry.size) = weigh(path)?;
    }
    out.write_all(&0x0403_4b50_u32.to_le_bytes())?;
    entry.describe(out)?;
    out.write_all(&entry.name)?;
    if is_file {
        let copied = io::copy(&mut File::open(path).map_err(at(path))?, out)?;
        if copied != u64::from(entry.size) {
            return Err(io::Error::other(format!(
                "`{}` changed while it was zipped",
                path.display()
            )));
        }
    }
    let next = offset
        .checked_add(30 + entry.name.len() as u32)
        .and_then(|next| next.checked_add(entry.size))
        .ok_or_else(too_large)?;
    entries.push(entry);
    Ok(next)
}

/// The checksum (CRC-32) and the size of a file.
fn weigh(path: &Path) -> io::Result<(u32, u32)> {
    let mut file = BufReader::new(File::open(path).map_err(at(path))?);
    let mut buffer = [0; 16 * 1024];
    let (mut checksum, mut size) = (!0_u32, 0_u32);
    loop {
        let count = file.read(&mut buffer).map_err(at(path))?;
        if count == 0 {
            return Ok((!checksum, size));
        }
        size = size.checked_add(count as u32).ok_or_else(too_large)?;
        for byte in buffer.iter().take(count) {
            checksum ^= u32::from(*byte);
            for _ in 0..8 {
                let carry = if checksum & 1 == 1 { 0xEDB8_8320 } else { 0 };
                checksum = (checksum >> 1) ^ carry;
            }
        }
    }
}

fn too_large() -> io::Error {
    io::Error::other("it is too large for a zip file")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_zip() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "123456789").unwrap();
        assert_eq!(weigh(file.path()).unwrap(), (0xCBF4_3926, 9));
    }

    #[test]
    fn equal_folders_make_equal_files_with_their_name_in_them() {
        let scratch = tempfile::tempdir().unwrap();
        let zipped = |place: &str| {
            let folder = scratch.path().join(place).join("lib");
            fs::create_dir_all(folder.join("deep")).unwrap();
            fs::write(folder.join("deep/a.py"), "a = 1\n").unwrap();
            fs::write(folder.join("b.txt"), "").unwrap();
            let to = scratch.path().join(format!("{place}.zip"));
            write(&folder, &to).unwrap();
            fs::read(to).unwrap()
        };
        let bytes = zipped("one");
        assert_eq!(bytes, zipped("two"));
        let text = String::from_utf8_lossy(&bytes).into_owned();
        for name in ["lib/", "lib/b.txt", "lib/deep/", "lib/deep/a.py"] {
            assert!(text.matches(name).count() >= 2, "{name}");
        }
    }
}
