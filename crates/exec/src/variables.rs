//! Environment variables in the form in which a program gets them.

use std::ffi::CStr;

/// `NAME=value` with a zero byte at its end, one after the other. In one piece, because every task has dozens of them and
/// a short one is over before as many small pieces are made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Variables(Vec<u8>);

impl Variables {
    /// Adds a variable. A value with a zero byte cannot be an environment variable; it is left out.
    pub(crate) fn add(&mut self, name: &str, value: &str) {
        if name.contains('\0') || value.contains('\0') {
            return;
        }
        self.0.extend_from_slice(name.as_bytes());
        self.0.push(b'=');
        self.0.extend_from_slice(value.as_bytes());
        self.0.push(0);
    }

    /// Takes all variables of a name out, and gives the value that counted.
    pub(crate) fn take(&mut self, name: &str) -> Option<String> {
        let mut value = None;
        let mut rest = Vec::with_capacity(self.0.len());
        for entry in self.0.split_inclusive(|byte| *byte == 0) {
            let found = entry
                .strip_prefix(name.as_bytes())
                .and_then(|entry| entry.strip_prefix(b"="));
            match found.and_then(|value| value.strip_suffix(&[0])) {
                Some(found) => value = Some(String::from_utf8_lossy(found).into_owned()),
                None => rest.extend_from_slice(entry),
            }
        }
        self.0 = rest;
        value
    }

    /// Each for itself.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &CStr> {
        let mut rest = &*self.0;
        std::iter::from_fn(move || {
            let entry = CStr::from_bytes_until_nul(rest).ok()?;
            rest = rest.get(entry.count_bytes() + 1..)?;
            Some(entry)
        })
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The reverse of [`Variables::as_bytes`].
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let is_whole = bytes.last().is_none_or(|last| *last == 0);
        is_whole.then(|| Self(bytes.to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_kept_in_order_and_taken_by_their_whole_name() {
        let mut variables = Variables::default();
        for (name, value) in [
            ("A", "1"),
            ("AB", "2"),
            ("A", "x=y"),
            ("C", ""),
            ("D", "\0"),
        ] {
            variables.add(name, value);
        }
        assert_eq!(variables.take("A").as_deref(), Some("x=y"));
        assert_eq!(variables.take("B"), None);
        let left: Vec<&CStr> = variables.entries().collect();
        assert_eq!(left, [c"AB=2", c"C="]);
        assert_eq!(
            Variables::from_bytes(variables.as_bytes()),
            Some(variables.clone())
        );
        assert_eq!(Variables::from_bytes(b"A=1"), None);
    }
}
