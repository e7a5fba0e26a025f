//! The left side of a flag: where it ends, and the steps of a path that names one place.

use std::borrow::Cow;

/// A step from a node to one below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step<'t> {
    /// To the value of a key.
    Key(Cow<'t, str>),
    /// To an entry of a list; from its end if negative.
    Index(i64),
}

/// A step and the bytes of the text that name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment<'t> {
    pub(super) step: Step<'t>,
    pub(super) start: usize,
    pub(super) end: usize,
}

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

/// The steps of a path that names exactly one place: `$.a.b[0]['c d']`, with or without the `$.`.
/// Beside what JSONPath allows, a name after a dot may hold `-`. `None` if it is no such path.
pub(super) fn singular(path: &str) -> Option<Vec<Segment<'_>>> {
    let mut at = usize::from(path.starts_with('$'));
    let mut bare_start = at == 0;
    let mut segments = Vec::new();
    while at < path.len() {
        let rest = path.get(at..)?;
        let segment = match rest.bytes().next()? {
            b'[' => bracket(path, at)?,
            b'.' if !bare_start => name(path, at + 1)?,
            _ if bare_start => name(path, at)?,
            _ => return None,
        };
        bare_start = false;
        at = segment.end;
        segments.push(segment);
    }
    Some(segments)
}

fn name(path: &str, start: usize) -> Option<Segment<'_>> {
    let rest = path.get(start..)?;
    let length = rest.find(['.', '[']).unwrap_or(rest.len());
    let name = rest.get(..length)?;
    let plain = |char: char| char.is_alphanumeric() || char == '_' || char == '-';
    (!name.is_empty() && name.chars().all(plain)).then(|| Segment {
        step: Step::Key(name.into()),
        start,
        end: start + length,
    })
}

fn bracket(path: &str, start: usize) -> Option<Segment<'_>> {
    let inside = path.get(start + 1..)?;
    let quote = inside.chars().next()?;
    let (step, length) = if quote == '\'' || quote == '"' {
        let (name, length) = quoted(inside)?;
        (Step::Key(name), length)
    } else {
        let length = inside.find(']')?;
        (
            Step::Index(inside.get(..length)?.trim().parse().ok()?),
            length,
        )
    };
    let end = start + 1 + length;
    path.get(end..)?.starts_with(']').then_some(Segment {
        step,
        start,
        end: end + 1,
    })
}

/// A quoted name and its length with the quotes. Only the quote itself and `\` can be escaped here;
/// JSONPath's other escapes are left to its own parser.
fn quoted(text: &str) -> Option<(Cow<'_, str>, usize)> {
    let mut chars = text.char_indices();
    let (_, quote) = chars.next()?;
    let mut name = String::new();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => match chars.next()? {
                (_, escaped) if escaped == quote || escaped == '\\' => name.push(escaped),
                _ => return None,
            },
            _ if char == quote => return Some((name.into(), at + 1)),
            _ => name.push(char),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(path: &str) -> Option<Vec<Step<'_>>> {
        let segments = singular(path)?;
        Some(segments.into_iter().map(|segment| segment.step).collect())
    }

    #[test]
    fn a_path_to_one_place_is_cut_into_steps() {
        let key = |name: &'static str| Step::Key(name.into());
        assert_eq!(
            steps("$.a.b-c[0]['d e'][\"f\"]"),
            Some(vec![
                key("a"),
                key("b-c"),
                Step::Index(0),
                key("d e"),
                key("f")
            ])
        );
        assert_eq!(
            steps("a.b[-1]"),
            Some(vec![key("a"), key("b"), Step::Index(-1)])
        );
        assert_eq!(steps("$"), Some(vec![]));
        assert_eq!(steps(r"$['it\'s']"), Some(vec![key("it's")]));
    }

    #[test]
    fn a_path_to_many_places_is_not() {
        for path in [
            "$..a",
            "$.*",
            "$[*]",
            "$.a[0:2]",
            "$.a[?@.b]",
            "$.a[0,1]",
            "a..b",
            "$a",
            "a.",
            "",
        ] {
            assert_eq!(
                steps(path).filter(|steps| !steps.is_empty()),
                None,
                "{path}"
            );
        }
    }

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
