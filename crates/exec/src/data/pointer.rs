//! Pointer files: the output of a task that only says where the real data lies.

use std::fs;
use std::path::Path;

/// A larger file is no pointer.
const LARGEST: u64 = 64 << 10;

/// The place that a pointer file names: its one line that is not empty, UTF-8, with or without a byte order mark.
pub(crate) fn read(output: &str, path: &Path) -> Result<String, String> {
    line_of(path).map_err(|why| {
        format!(
            "the output `{output}` must be a file with one line, the place of the real data: {why}"
        )
    })
}

fn line_of(path: &Path) -> Result<String, String> {
    match fs::metadata(path) {
        Ok(kind) if kind.is_dir() => return Err("it is a folder".to_owned()),
        Ok(kind) if kind.len() > LARGEST => return Err("it is larger than 64 KiB".to_owned()),
        Ok(_) => {}
        Err(_) => return Err("it is not there".to_owned()),
    }
    let bytes = fs::read(path).map_err(|error| format!("it cannot be read: {error}"))?;
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err("it is UTF-16, and must be UTF-8".to_owned());
    }
    let text = String::from_utf8(bytes).map_err(|_| "it is no UTF-8 text".to_owned())?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    match lines[..] {
        [line] => Ok(line.to_owned()),
        [] => Err("it is empty".to_owned()),
        _ => Err(format!("it has {} lines", lines.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_is_one_line_with_or_without_a_mark() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("pointer");
        let told = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            line_of(&path)
        };
        for good in [
            "/data/model",
            "/data/model\n",
            "\u{feff}/data/model\r\n",
            "\n  /data/model \n\n",
        ] {
            assert_eq!(told(good.as_bytes()).as_deref(), Ok("/data/model"));
        }
        let why = |found: Result<String, String>| found.unwrap_err();
        assert_eq!(why(told(b"")), "it is empty");
        assert_eq!(why(told("\u{feff} \n".as_bytes())), "it is empty");
        assert_eq!(why(told(b"/a\n/b\n")), "it has 2 lines");
        assert_eq!(why(told(b"\xff\xfe/\0")), "it is UTF-16, and must be UTF-8");
        assert_eq!(why(told(b"\xc3")), "it is no UTF-8 text");
        assert_eq!(why(told(&vec![b'a'; 70_000])), "it is larger than 64 KiB");
        fs::remove_file(&path).unwrap();
        assert_eq!(why(line_of(&path)), "it is not there");
        assert_eq!(why(line_of(scratch.path())), "it is a folder");
        assert!(read("out", &path).unwrap_err().contains("the output `out`"));
    }
}
