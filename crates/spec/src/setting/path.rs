//! The left side of a flag: where it ends.

/// The offset of the `=` between target and value: the first one outside brackets and quotes, so
/// that a filter such as `[?@.type == 'data']` belongs to the target.
pub(super) fn end_of_target(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut quote = None;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(open), _) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"') if depth > 0 => quote = Some(byte),
            (None, b'[') => depth += 1,
            (None, b']') => depth = depth.saturating_sub(1),
            (None, b'=') if depth == 0 => return Some(at),
            _ => {}
        }
    }
    // What is not closed is a mistake in the target, and is told as one.
    text.find('=').filter(|_| depth > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_equals_sign_of_a_filter_is_not_the_one_that_ends_the_target() {
        let text = "$.a[?@.b=='=]'].c=x=y";
        assert_eq!(end_of_target(text), text.find("=x"));
        assert_eq!(end_of_target("it's=1"), Some(4));
        assert_eq!(end_of_target("a"), None);
        assert_eq!(end_of_target("a[b='x'=1"), Some(3));
        assert_eq!(end_of_target("a['"), None);
    }
}
