//! The words of every problem that a table can find. Nothing here runs while all is well.

use super::check::Checker;
use super::path::{Path, Via, cut};
use super::{Field, Object, Shape, Tagged, TextRule, Unknown, repair};
use crate::diagnostic::suggest::closest;
use crate::diagnostic::{Diagnostic, codes};
use crate::source::{Source, Span};
use crate::yaml::node::Kind;
use crate::yaml::{Entry, Map, Node};

impl Checker<'_> {
    fn report(&mut self, path: &Path<'_, '_>, diagnostic: Diagnostic) {
        self.diagnostics.push(match path.via {
            Some(Via::Alias(span)) => diagnostic.related(span, "brought here by this alias"),
            Some(Via::Merge(span)) => diagnostic.related(span, "brought here by this merge key"),
            None => diagnostic,
        });
    }

    fn source(&self, span: Span) -> &Source {
        self.sources.get(span.source)
    }

    /// What to point at for a value: itself if it fits on its line, otherwise the key that holds it.
    fn value_span(&self, path: &Path<'_, '_>, node: &Node<'_>) -> Span {
        let is_block = node.as_scalar().is_none() && !repair::is_flow(self.source(node.span), node);
        if node.span.is_empty() || is_block {
            path.at
        } else {
            node.span
        }
    }

    #[cold]
    pub(super) fn wrong_type(
        &mut self,
        path: &Path<'_, '_>,
        node: &Node<'_>,
        shape: &'static Shape,
    ) {
        let expected = shape.in_words();
        let message = format!(
            "{} must be {expected}, found {}",
            path.value_name(),
            found(node)
        );
        let mut diagnostic =
            Diagnostic::new(&codes::WRONG_TYPE, self.value_span(path, node), message)
                .label(format!("expected {expected}"));
        if node.is_null() {
            diagnostic = diagnostic.help("give it a value, or remove the key");
        } else if node.as_text().is_some_and(|text| text.contains("<%")) {
            diagnostic =
                diagnostic.help("templates are not filled in here: write the value itself");
        } else {
            diagnostic =
                repair::wrong_type(diagnostic, self.source(node.span), path.at, node, shape);
        }
        self.report(path, diagnostic);
    }

    #[cold]
    pub(super) fn wrong_secrets(&mut self, path: &Path<'_, '_>, node: &Node<'_>) {
        let message = format!(
            "{} must be a mapping of names to values, found {}",
            path.value_name(),
            node.kind()
        );
        let diagnostic = Diagnostic::new(&codes::WRONG_TYPE, path.at, message)
            .label("expected a mapping")
            .help("write each secret on a line of its own below it: `name: value`");
        self.report(path, diagnostic);
    }

    #[cold]
    pub(super) fn masked_secrets(&mut self, path: &Path<'_, '_>) {
        let message = format!("the values of {} are masked", path.value_name());
        let diagnostic = Diagnostic::new(&codes::MASKED_SECRETS, path.at, message)
            .label("this is an exported job")
            .help("an exported job has asterisks in place of its secrets: write the names and values again");
        self.report(path, diagnostic);
    }

    #[cold]
    pub(super) fn out_of_range(
        &mut self,
        path: &Path<'_, '_>,
        node: &Node<'_>,
        (min, max): (i64, i64),
    ) {
        let number = node.as_integer().unwrap_or_default();
        let bound = if number < i128::from(min) {
            format!("at least {min}")
        } else {
            format!("at most {max}")
        };
        let message = format!("{} must be {bound}, found {number}", path.value_name());
        let diagnostic = Diagnostic::new(&codes::OUT_OF_RANGE, node.span, message)
            .label(format!("must be {bound}"));
        self.report(path, diagnostic);
    }

    #[cold]
    pub(super) fn bad_text(
        &mut self,
        path: &Path<'_, '_>,
        span: Span,
        what: &str,
        text: &str,
        rule: &TextRule,
    ) {
        let message = format!("{what} must be {}", rule.words);
        let mut diagnostic = Diagnostic::new(&codes::BAD_TEXT, span, message);
        if let Some(mended) = repair::mend(text, rule) {
            diagnostic = diagnostic.help(format!("for example `{mended}`"));
        }
        self.report(path, diagnostic);
    }

    #[cold]
    pub(super) fn too_long(
        &mut self,
        path: &Path<'_, '_>,
        span: Span,
        what: &str,
        rule: &TextRule,
    ) {
        let message = format!("{what} must have at most {} characters", rule.max_length);
        self.report(path, Diagnostic::new(&codes::BAD_TEXT, span, message));
    }

    #[cold]
    pub(super) fn bad_choice(
        &mut self,
        path: &Path<'_, '_>,
        node: &Node<'_>,
        text: &str,
        choices: &[&'static str],
    ) {
        let message = match choices {
            [only] => format!(
                "{} must be `{only}`, found {}",
                path.value_name(),
                quote(text)
            ),
            _ => format!("{} cannot be {}", path.value_name(), quote(text)),
        };
        let mut diagnostic = Diagnostic::new(&codes::BAD_CHOICE, node.span, message);
        let containing = || {
            let mut longer = choices.iter().filter(|choice| choice.contains(text));
            longer.next().filter(|_| text.len() > 3)
        };
        let meant = match choices {
            [only] => Some(*only),
            _ => closest(text, choices.iter().copied()).or_else(|| containing().copied()),
        };
        if let Some(meant) = meant {
            diagnostic = diagnostic.label(format!("did you mean `{meant}`?")).fix(
                "use the word that is known",
                node.span,
                meant,
            );
        }
        if choices.len() > 1 {
            diagnostic = diagnostic.help(format!("it can be {}", alternatives(choices)));
        }
        self.report(path, diagnostic);
    }

    #[cold]
    pub(super) fn not_exactly(&mut self, path: &Path<'_, '_>, node: &Node<'_>, number: u32) {
        let text = node.as_text().unwrap_or_default();
        let message = format!(
            "{} must be {number}, found {}",
            path.value_name(),
            quote(text)
        );
        let diagnostic = Diagnostic::new(&codes::BAD_CHOICE, node.span, message)
            .label(format!("only {number} is read"));
        self.report(path, diagnostic);
    }

    #[cold]
    pub(super) fn too_few(&mut self, path: &Path<'_, '_>, node: &Node<'_>, min: usize, what: &str) {
        let message = match min {
            1 => format!("{} needs at least one {what}", path.value_name()),
            _ => format!("{} needs at least {min} of {what}", path.value_name()),
        };
        let diagnostic = Diagnostic::new(&codes::TOO_FEW, self.value_span(path, node), message)
            .help("add one, or remove the key if it is optional");
        self.report(path, diagnostic);
    }

    #[cold]
    pub(super) fn missing_key(
        &mut self,
        path: &Path<'_, '_>,
        node: &Node<'_>,
        object: &'static Object,
        field: &'static Field,
    ) {
        let message = format!("{} has no `{}`", path.describe(object.name), field.name);
        let mut diagnostic = Diagnostic::new(&codes::MISSING_KEY, path.at, message)
            .label(format!("`{}` is required", field.name))
            .help(format!("`{}`: {}", field.name, sentence(field.doc)));
        if !field.stub.is_empty()
            && let Some((span, text)) =
                repair::insert_key(self.source(node.span), node, field.name, field.stub)
        {
            diagnostic = diagnostic.fix(format!("add `{}`", field.name), span, text);
        }
        self.report(path, diagnostic);
    }

    #[cold]
    pub(super) fn missing_tag(&mut self, path: &Path<'_, '_>, tagged: &'static Tagged) {
        let by = tagged.by;
        let help = match tagged.other.and_then(|other| other.field(by)) {
            Some(field) => format!("`{by}`: {}", sentence(field.doc)),
            None => {
                let words: Vec<&str> = tagged.cases.iter().map(|(word, _)| *word).collect();
                format!("it can be {}", alternatives(&words))
            }
        };
        let message = format!("{} has no `{by}`", path.describe(tagged.name));
        let diagnostic = Diagnostic::new(&codes::MISSING_KEY, path.at, message)
            .label(format!("`{by}` is required"))
            .help(help);
        self.report(path, diagnostic);
    }

    #[cold]
    pub(super) fn two_spellings(
        &mut self,
        path: &Path<'_, '_>,
        map: &Map<'_>,
        entry: &Entry<'_>,
        field: &'static Field,
    ) {
        let message = format!(
            "`{}` in {} is another spelling of a key that is already there",
            entry.key.text,
            path.describe(path.object.map_or("mapping", |object| object.name))
        );
        let mut diagnostic = Diagnostic::new(&codes::TWO_SPELLINGS, entry.key.span, message)
            .help(format!("keep one of them, best `{}`", field.name));
        if let Some(first) = map
            .entries
            .iter()
            .find(|first| field.is_named(&first.key.text))
        {
            diagnostic = diagnostic.related(first.key.span, "the first is here");
        }
        self.report(path, diagnostic);
    }

    /// Returns the field that the key was probably meant to be.
    #[cold]
    pub(super) fn ignored_key(
        &mut self,
        path: &Path<'_, '_>,
        entry: &Entry<'_>,
        object: &'static Object,
        free: impl Iterator<Item = &'static Field>,
    ) -> Option<&'static Field> {
        let key = &*entry.key.text;
        let holder = path.describe(object.name);
        let advice = object.absent.iter().find(|(word, _)| *word == key);
        let home = home_of(path, object, key);
        let meant = match (advice, &home) {
            (None, None) => closest_field(key, free),
            _ => None,
        };
        // A required key under another name is an error, also where other keys are harmless.
        let is_required = meant.is_some_and(|field| field.required);
        let mut diagnostic = if object.unknown == Unknown::Refuse || is_required {
            let message = format!("unknown key {} in {holder}", quote(key));
            Diagnostic::new(&codes::UNKNOWN_KEY, entry.key.span, message)
        } else {
            let message = format!("nothing reads the key {} in {holder}", quote(key));
            Diagnostic::new(&codes::IGNORED_KEY, entry.key.span, message)
        };
        diagnostic = if let Some((_, advice)) = advice {
            diagnostic.help(*advice)
        } else if let Some(home) = home {
            diagnostic.help(format!("`{key}` belongs {home}"))
        } else if let Some(field) = meant {
            renamed(diagnostic, entry, field.name)
        } else {
            let names: Vec<&str> = object.fields.iter().map(|field| field.name).collect();
            diagnostic.help(format!("the keys here are {}", listed(&names, "and")))
        };
        let is_error = diagnostic.code == &codes::UNKNOWN_KEY;
        self.report(&path.field(entry), diagnostic);
        // What is wrong below a key that is only misspelt should not wait for the next run.
        if let Some(field) = meant.filter(|field| is_error && is_nearly(key, field.name)) {
            self.value(&path.field(entry), &entry.value, &field.shape);
        }
        meant
    }

    /// Returns the field that the key was probably meant to be.
    #[cold]
    pub(super) fn probable_typo(
        &mut self,
        path: &Path<'_, '_>,
        entry: &Entry<'_>,
        mut free: impl Iterator<Item = &'static Field>,
    ) -> Option<&'static Field> {
        let key = &*entry.key.text;
        let field = free.find(|field| is_nearly(key, field.name))?;
        let code = if field.required {
            &codes::UNKNOWN_KEY
        } else {
            &codes::PROBABLE_TYPO
        };
        let message = format!("`{key}` looks like `{}` misspelt", field.name);
        let diagnostic = Diagnostic::new(code, entry.key.span, message).help(format!(
            "as it stands it is a parameter of your own, `<% this.{key} %>`"
        ));
        self.report(&path.field(entry), renamed(diagnostic, entry, field.name));
        Some(field)
    }
}

fn closest_field(
    key: &str,
    fields: impl Iterator<Item = &'static Field>,
) -> Option<&'static Field> {
    let fields: Vec<_> = fields.collect();
    let name = closest(key, fields.iter().map(|field| field.name))?;
    fields.into_iter().find(|field| field.name == name)
}

fn renamed(diagnostic: Diagnostic, entry: &Entry<'_>, name: &str) -> Diagnostic {
    diagnostic.fix(format!("did you mean `{name}`?"), entry.key.span, name)
}

/// Where a key belongs that has got into the wrong mapping, in words.
fn home_of(path: &Path<'_, '_>, object: &'static Object, key: &str) -> Option<String> {
    let below = object.fields.iter().find(|field| match field.shape {
        Shape::Object(inner) => inner.field(key).is_some(),
        _ => false,
    });
    if let Some(field) = below {
        return Some(format!("in `{}`", field.name));
    }
    path.ancestors().find_map(|above| {
        let object = above.object?;
        object.field(key)?;
        // One that is in its right place already is not looking for it.
        (!above.has(key)).then(|| format!("to {}", above.describe(object.name)))
    })
}

/// Whether a key of the user's own differs from a known one only by case, `_` and `-`, or by one
/// letter in a long word.
fn is_nearly(key: &str, name: &str) -> bool {
    const LONG: usize = 6;
    let letters = |word: &str| -> String {
        word.chars()
            .filter(|char| !matches!(char, '_' | '-'))
            .flat_map(char::to_lowercase)
            .collect()
    };
    if key.len() > 2 * name.len() {
        return false;
    }
    let (key, name) = (letters(key), letters(name));
    if key == name {
        return true;
    }
    if name.len() < LONG {
        return false;
    }
    let same_start = key
        .bytes()
        .zip(name.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    let (key_end, name_end) = (
        &key.as_bytes()[same_start..],
        &name.as_bytes()[same_start..],
    );
    match (key_end, name_end) {
        ([_, rest @ ..], other) | (other, [_, rest @ ..]) if rest == other => true,
        ([a, b, key_rest @ ..], [c, d, name_rest @ ..]) if a == d && b == c => {
            key_rest == name_rest
        }
        ([_, key_rest @ ..], [_, name_rest @ ..]) => key_rest == name_rest,
        _ => false,
    }
}

/// What a node is, in words.
fn found(node: &Node<'_>) -> String {
    match (node.kind(), node.as_text()) {
        (Kind::Bool, Some(text)) => format!("`{text}`"),
        (Kind::Integer | Kind::Float, Some(text)) => format!("the number {}", cut(text)),
        (kind, _) => kind.to_string(),
    }
}

fn quote(text: &str) -> String {
    format!("`{}`", cut(text))
}

fn alternatives(words: &[&str]) -> String {
    listed(words, "or")
}

fn listed(words: &[&str], last: &str) -> String {
    let mut out = String::new();
    for (index, word) in words.iter().enumerate() {
        if index > 0 && index + 1 == words.len() {
            out.push(' ');
            out.push_str(last);
            out.push(' ');
        } else if index > 0 {
            out.push_str(", ");
        }
        out.push('`');
        out.push_str(word);
        out.push('`');
    }
    out
}

/// A sentence of the table as part of another: without capital and full stop.
fn sentence(doc: &str) -> String {
    let doc = doc.strip_suffix('.').unwrap_or(doc);
    let mut chars = doc.chars();
    let second_is_upper = doc.chars().nth(1).is_some_and(char::is_uppercase);
    match chars.next() {
        Some(first) if !second_is_upper => first.to_lowercase().chain(chars).collect(),
        _ => doc.to_owned(),
    }
}

impl Shape {
    /// What it may hold, in words: "a list of texts".
    pub(super) fn in_words(&self) -> String {
        match self {
            Shape::Text(_) => "a text".to_owned(),
            Shape::TextOrNumber => "a text or a number".to_owned(),
            Shape::TextOrList => "a text or a list of texts".to_owned(),
            Shape::Scalar => "a text, a number or a flag".to_owned(),
            Shape::Number => "a number".to_owned(),
            Shape::Either(shapes) => {
                let words: Vec<String> = shapes.iter().map(Shape::in_words).collect();
                words.join(" or ")
            }
            Shape::Integer { null: false, .. } => "an integer".to_owned(),
            Shape::Integer { null: true, .. } => "an integer or `null`".to_owned(),
            Shape::Flag => "`true` or `false`".to_owned(),
            Shape::Choice(choices) => alternatives(choices),
            Shape::Exactly(number) => format!("{number}"),
            Shape::List { of, .. } => match of {
                Shape::Text(_) => "a list of texts".to_owned(),
                Shape::Object(_) | Shape::Tagged(_) => "a list of mappings".to_owned(),
                _ => "a list".to_owned(),
            },
            Shape::Map { .. } | Shape::Object(_) | Shape::Tagged(_) | Shape::Secrets => {
                "a mapping".to_owned()
            }
            Shape::Any => "anything".to_owned(),
        }
    }
}
