//! Paths in a spec, made absolute without a look at the disk.

/// A path from a folder; `.` and `..` are resolved as text.
pub(super) fn absolute(folder: &str, path: &str) -> String {
    let mut made = String::with_capacity(folder.len() + path.len() + 2);
    let folder = if path.starts_with('/') { "" } else { folder };
    for part in [folder, path].iter().flat_map(|text| text.split('/')) {
        match part {
            "" | "." => {}
            ".." => made.truncate(made.rfind('/').unwrap_or_default()),
            part => {
                made.push('/');
                made.push_str(part);
            }
        }
    }
    if made.is_empty() {
        made.push('/');
    }
    made
}

/// The last part of a path.
pub(super) fn file_name(path: &str) -> &str {
    path.trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or(path)
}

/// The folder of a path.
pub(super) fn parent(path: &str) -> &str {
    match path.trim_end_matches('/').rsplit_once('/') {
        Some(("", _)) | None => "/",
        Some((folder, _)) => folder,
    }
}

/// Without the `file:` that may stand before a path.
pub(super) fn without_scheme(path: &str) -> &str {
    path.strip_prefix("file://")
        .or_else(|| path.strip_prefix("file:"))
        .unwrap_or(path)
}

/// Whether it is no path of this machine: `https://…`, `azureml:…`, `git+ssh://…`.
pub(super) fn is_remote(path: &str) -> bool {
    let Some((scheme, _)) = path.split_once(':') else {
        return false;
    };
    scheme.len() > 1
        && scheme != "file"
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_made_absolute_as_text() {
        assert_eq!(absolute("/a/b", "c/d"), "/a/b/c/d");
        assert_eq!(absolute("/a/b", "./../c"), "/a/c");
        assert_eq!(absolute("/a/b", "/x/./y"), "/x/y");
        assert_eq!(absolute("/a", "../../.."), "/");
        assert_eq!(absolute("/a/b", "."), "/a/b");
    }

    #[test]
    fn only_schemes_make_a_path_remote() {
        assert!(is_remote("https://example.com/x"));
        assert!(is_remote("azureml:name:1"));
        assert!(is_remote("git+https://example.com/x"));
        assert!(!is_remote("./a:b"));
        assert!(!is_remote("file:./spec.yaml"));
        assert!(!is_remote("c:\\code"));
    }

    #[test]
    fn a_path_has_a_folder_and_a_name() {
        assert_eq!((parent("/a/b"), file_name("/a/b/")), ("/a", "b"));
        assert_eq!((parent("/a"), file_name("a")), ("/", "a"));
    }
}
