//! The tree: every node has its span, every scalar its written text.

use std::borrow::Cow;

use crate::source::Span;

/// A mapping with more entries than this is not searched one by one.
const SMALL_MAP: usize = 32;

/// A value of the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node<'s> {
    /// Where it stands. A block collection spans from its first to its last entry.
    pub span: Span,
    /// What it is.
    pub value: Value<'s>,
    /// What few nodes have, kept apart so that the others stay small.
    rare: Option<Box<Rare<'s>>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Rare<'s> {
    tag: Option<Cow<'s, str>>,
    alias: Option<Span>,
    replaced: Option<Replaced<'s>>,
    /// The places of a large mapping's entries in the order of their keys.
    by_key: Vec<u32>,
}

/// What a flag or an override rule did to a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced<'s> {
    /// Who did it.
    pub by: By,
    /// What stood there before, if anything did.
    pub was: Option<Node<'s>>,
}

/// Who put a node where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum By {
    /// A flag as typed, such as `-p batch=28`.
    Flag(String),
    /// An override rule; the node's span is the place of its value in the file of the rules.
    Rule(String),
    /// Another file that counts more; the node's span is the place there.
    File,
}

/// The three kinds of node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value<'s> {
    /// A text, a number, a flag, nothing: the reader of the field decides.
    Scalar(Scalar<'s>),
    /// Values in order.
    List(Vec<Node<'s>>),
    /// Values by key.
    Map(Map<'s>),
}

/// A scalar as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar<'s> {
    /// Its text after unquoting, unescaping and folding.
    pub text: Cow<'s, str>,
    /// How it was written.
    pub style: Style,
}

/// How a scalar was written. Only a plain one can be a number, a flag or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without quotes. A missing value is a plain scalar with an empty text and an empty span.
    Plain,
    /// `'…'`
    SingleQuoted,
    /// `"…"`
    DoubleQuoted,
    /// `|`
    Literal,
    /// `>`
    Folded,
}

/// The entries of a mapping, in the order written, keys unique; merged entries come last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Map<'s> {
    /// The entries.
    pub entries: Vec<Entry<'s>>,
}

/// One key and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'s> {
    /// The key.
    pub key: Key<'s>,
    /// The value.
    pub value: Node<'s>,
    /// The `<<` that brought it here.
    pub merged: Option<Span>,
}

/// A key of a mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key<'s> {
    /// Its text.
    pub text: Cow<'s, str>,
    /// Where it stands, quotes included.
    pub span: Span,
}

impl<'s> Map<'s> {
    /// The entry of a key; [`Node::get`] is faster in a large mapping.
    pub fn get(&self, key: &str) -> Option<&Entry<'s>> {
        self.entries.iter().find(|entry| entry.key.is(key))
    }
}

impl Key<'_> {
    /// Whether it has a text.
    #[inline]
    pub fn is(&self, text: &str) -> bool {
        same_text(&self.text, text)
    }
}

/// Whether two texts are the same. Most that are compared are short, and a call that compares bytes takes longer
/// than a look at them.
#[inline]
pub(crate) fn same_text(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    match one.len() {
        // The two parts overlap.
        8..=16 => {
            one.first_chunk::<8>() == other.first_chunk()
                && one.last_chunk::<8>() == other.last_chunk()
        }
        4..8 => {
            one.first_chunk::<4>() == other.first_chunk()
                && one.last_chunk::<4>() == other.last_chunk()
        }
        0..4 => one.iter().zip(other).all(|(one, other)| one == other),
        _ => one.first_chunk::<8>() == other.first_chunk() && one == other,
    }
}

impl<'s> Node<'s> {
    /// A node that nothing has touched.
    #[inline]
    pub fn new(span: Span, value: Value<'s>) -> Self {
        let rare = match &value {
            Value::Map(map) if map.entries.len() > SMALL_MAP => Some(ordered(map)),
            _ => None,
        };
        Node { span, value, rare }
    }

    /// A scalar that nothing has touched.
    #[inline]
    pub(super) fn scalar(span: Span, text: Cow<'s, str>, style: Style) -> Self {
        Node {
            span,
            value: Value::Scalar(Scalar { text, style }),
            rare: None,
        }
    }

    /// The explicit tag, such as `!!str` (with its exclamation marks as written).
    pub fn tag(&self) -> Option<&str> {
        self.rare.as_deref()?.tag.as_deref()
    }

    /// Where the alias stands that brought a copy of this node here.
    pub fn alias(&self) -> Option<Span> {
        self.rare.as_deref()?.alias
    }

    /// Who put this node here instead of what the file says.
    pub fn replaced(&self) -> Option<&Replaced<'s>> {
        self.rare.as_deref()?.replaced.as_ref()
    }

    /// Whether it is as a reader makes most nodes: no tag, no alias, nothing replaced.
    pub(super) fn is_usual(&self) -> bool {
        self.rare.is_none()
    }

    /// Gives it a tag.
    pub fn set_tag(&mut self, tag: impl Into<Cow<'s, str>>) {
        self.rare.get_or_insert_default().tag = Some(tag.into());
    }

    /// Says that it is the copy that an alias made.
    pub fn set_alias(&mut self, alias: Span) {
        self.rare.get_or_insert_default().alias = Some(alias);
    }

    /// Says who put it here.
    pub fn set_replaced(&mut self, replaced: Replaced<'s>) {
        self.rare.get_or_insert_default().replaced = Some(replaced);
    }

    /// The same with texts of its own, so that it can outlive the source.
    pub fn into_static(self) -> Node<'static> {
        fn text(text: Cow<'_, str>) -> Cow<'static, str> {
            Cow::Owned(text.into_owned())
        }
        let value = match self.value {
            Value::Scalar(scalar) => Value::Scalar(Scalar {
                text: text(scalar.text),
                style: scalar.style,
            }),
            Value::List(list) => Value::List(list.into_iter().map(Node::into_static).collect()),
            Value::Map(map) => Value::Map(Map {
                entries: map
                    .entries
                    .into_iter()
                    .map(|entry| Entry {
                        key: Key {
                            text: text(entry.key.text),
                            span: entry.key.span,
                        },
                        value: entry.value.into_static(),
                        merged: entry.merged,
                    })
                    .collect(),
            }),
        };
        let rare = self.rare.map(|rare| {
            Box::new(Rare {
                tag: rare.tag.map(text),
                alias: rare.alias,
                replaced: rare.replaced.map(|replaced| Replaced {
                    by: replaced.by,
                    was: replaced.was.map(Node::into_static),
                }),
                by_key: rare.by_key,
            })
        });
        Node {
            span: self.span,
            value,
            rare,
        }
    }

    /// The entry of a key, if this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Entry<'s>> {
        match &self.rare {
            None => self.as_map()?.get(key),
            Some(_) => self.as_map()?.entries.get(self.position(key)?),
        }
    }

    /// The place of a key among the entries, if this is a mapping that has it.
    pub fn position(&self, key: &str) -> Option<usize> {
        let map = self.as_map()?;
        match &self.rare {
            // Entries that were added later are not in the order.
            Some(rare) if !rare.by_key.is_empty() && rare.by_key.len() == map.entries.len() => {
                let key_at = |place: &u32| &*map.entries[*place as usize].key.text;
                let found = rare.by_key.binary_search_by(|place| key_at(place).cmp(key));
                Some(rare.by_key[found.ok()?] as usize)
            }
            _ => map.entries.iter().position(|entry| entry.key.is(key)),
        }
    }

    /// The mapping, if it is one.
    pub fn as_map(&self) -> Option<&Map<'s>> {
        match &self.value {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The list, if it is one.
    pub fn as_list(&self) -> Option<&[Node<'s>]> {
        match &self.value {
            Value::List(list) => Some(list),
            _ => None,
        }
    }

    /// The scalar, if it is one.
    pub fn as_scalar(&self) -> Option<&Scalar<'s>> {
        match &self.value {
            Value::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// The written text of a scalar that is not null, whatever type a field may read into it.
    pub fn as_text(&self) -> Option<&str> {
        self.as_scalar()
            .filter(|_| !self.is_null())
            .map(|scalar| &*scalar.text)
    }

    /// Whether it is a scalar that YAML's core schema takes for a text (quoted, or plain and
    /// neither a number, a flag nor null).
    pub fn is_string(&self) -> bool {
        self.kind() == Kind::Text
    }

    /// The integer, if the number is one: `4`, and as in JSON also `4.0`.
    pub fn as_integer(&self) -> Option<i128> {
        let scalar = self.as_scalar()?;
        if self.rare.is_none()
            && scalar.style == Style::Plain
            && let Some(number) = short_integer(&scalar.text)
        {
            return Some(number.into());
        }
        match self.kind() {
            Kind::Integer => parse_integer(&scalar.text),
            Kind::Float => whole_number(&scalar.text),
            _ => None,
        }
    }

    /// The flag, if it is written as one.
    pub fn as_bool(&self) -> Option<bool> {
        match self.as_scalar() {
            Some(scalar) if self.kind() == Kind::Bool => {
                Some(scalar.text.eq_ignore_ascii_case("true"))
            }
            _ => None,
        }
    }

    /// Whether it is nothing: `~`, `null`, or no value at all.
    pub fn is_null(&self) -> bool {
        // Most texts are told from null by a look at them.
        let may_be = |text: &str| matches!(text.as_bytes(), [] | [b'~'] | [b'n' | b'N', _, _, _]);
        match &self.value {
            Value::Scalar(scalar) => may_be(&scalar.text) && self.kind() == Kind::Null,
            _ => false,
        }
    }

    /// What YAML's core schema takes it for.
    pub fn kind(&self) -> Kind {
        match &self.value {
            Value::List(_) => Kind::List,
            Value::Map(_) => Kind::Map,
            Value::Scalar(scalar) => match self.tag() {
                Some("!!str" | "!") => Kind::Text,
                _ if scalar.style != Style::Plain => Kind::Text,
                _ => plain_kind(&scalar.text),
            },
        }
    }
}

/// What helps to find a key among many.
#[cold]
fn ordered<'s>(map: &Map<'s>) -> Box<Rare<'s>> {
    let mut by_key: Vec<u32> = (0..map.entries.len() as u32).collect();
    by_key.sort_by_key(|place| &map.entries[*place as usize].key.text);
    Box::new(Rare {
        by_key,
        ..Rare::default()
    })
}

/// What YAML's core schema takes a node for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing.
    Null,
    /// `true` or `false`.
    Bool,
    /// A whole number; `2.0` is not one.
    Integer,
    /// Any other number.
    Float,
    /// A text.
    Text,
    /// A list.
    List,
    /// A mapping.
    Map,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Kind::Null => "nothing",
            Kind::Bool => "true or false",
            Kind::Integer => "an integer",
            Kind::Float => "a number",
            Kind::Text => "a text",
            Kind::List => "a list",
            Kind::Map => "a mapping",
        })
    }
}

fn plain_kind(text: &str) -> Kind {
    match text.as_bytes().first() {
        None => Kind::Null,
        Some(b'~' | b'n' | b'N') if matches!(text, "~" | "null" | "Null" | "NULL") => Kind::Null,
        Some(b't' | b'T' | b'f' | b'F')
            if matches!(text, "true" | "True" | "TRUE" | "false" | "False" | "FALSE") =>
        {
            Kind::Bool
        }
        Some(b'0'..=b'9' | b'-' | b'+' | b'.') => number_kind(text),
        _ => Kind::Text,
    }
}

fn number_kind(text: &str) -> Kind {
    if parse_integer(text).is_some() {
        return Kind::Integer;
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Kind::Float;
    }
    let numeric = unsigned
        .bytes()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'));
    if numeric && unsigned.parse::<f64>().is_ok() {
        Kind::Float
    } else {
        Kind::Text
    }
}

/// A number of few digits alone, as most are.
#[inline]
fn short_integer(text: &str) -> Option<i64> {
    /// So many digits always fit.
    const SHORT: usize = 18;
    if !(1..=SHORT).contains(&text.len()) {
        return None;
    }
    text.bytes().try_fold(0_i64, |number, byte| {
        let digit = byte.wrapping_sub(b'0');
        (digit < 10).then(|| number * 10 + i64::from(digit))
    })
}

fn parse_integer(text: &str) -> Option<i128> {
    if let Some(number) = short_integer(text) {
        return Some(number.into());
    }
    if let Some(octal) = text.strip_prefix("0o") {
        return i128::from_str_radix(octal, 8).ok();
    }
    if let Some(hex) = text.strip_prefix("0x") {
        return i128::from_str_radix(hex, 16).ok();
    }
    text.parse().ok()
}

fn whole_number(text: &str) -> Option<i128> {
    /// Above this a floating-point number no longer tells one integer from the next.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let number: f64 = text.parse().ok()?;
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i128)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_without_fraction_is_an_integer() {
        let integer = |text: &'static str| {
            let scalar = Scalar {
                text: text.into(),
                style: Style::Plain,
            };
            Node::new(Span::default(), Value::Scalar(scalar)).as_integer()
        };
        assert_eq!(integer("4"), Some(4));
        assert_eq!(integer("-4.0"), Some(-4));
        assert_eq!(integer("1e3"), Some(1000));
        assert_eq!(integer("4.5"), None);
        assert_eq!(integer("1e300"), None);
        assert_eq!(integer(".inf"), None);
        assert_eq!(integer("four"), None);
    }

    #[test]
    fn texts_of_every_length_are_told_apart_by_each_byte() {
        for length in 0..40 {
            let text = "x".repeat(length);
            assert!(same_text(&text, &text.clone()));
            assert!(!same_text(&text, &"x".repeat(length + 1)));
            for place in 0..length {
                let mut other = text.clone();
                other.replace_range(place..=place, "y");
                assert!(!same_text(&text, &other), "{length} {place}");
            }
        }
    }

    #[test]
    fn nodes_stay_small() {
        assert!(size_of::<Node<'_>>() <= 56);
        assert!(size_of::<Entry<'_>>() <= 112);
    }
}
