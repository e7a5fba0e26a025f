//! Turns what is wrong with a tag into a diagnostic that points at it.

use std::ops::Range;

use super::parse::{Mustache, OPEN, Template, spans};
use super::path::{BadPath, Scope};
use super::{Fault, Problem};
use crate::diagnostic::{Diagnostic, Severity, codes};
use crate::source::{Sources, Span};

/// The scalar in which a template stands.
#[derive(Clone, Debug)]
pub struct Site<'a> {
    span: Span,
    written: &'a str,
    /// Where tags are written in it.
    tags: Vec<Range<usize>>,
}

impl<'a> Site<'a> {
    /// The scalar at a span.
    pub fn new(sources: &'a Sources, span: Span) -> Self {
        let written = sources.slice(span);
        Site {
            span,
            written,
            tags: written_tags(written).collect(),
        }
    }

    /// The span of a tag; of the whole scalar if the tag cannot be found as written, as when it
    /// is spelt with escapes.
    pub fn tag_span(&self, template: &Template<'_>, nth: usize) -> Span {
        self.tag(template, nth)
            .map_or(self.span, |range| self.span.part(range.start, range.end))
    }

    /// The bytes of a tag, if the source shows as many tags as the decoded text has.
    fn tag(&self, template: &Template<'_>, nth: usize) -> Option<&Range<usize>> {
        self.tags
            .get(nth)
            .filter(|_| self.tags.len() == template.tag_count)
    }

    /// The span of some bytes of a tag, if the tag is written just as it is decoded.
    fn part_span(
        &self,
        template: &Template<'_>,
        problem: &Problem,
        range: &Range<usize>,
    ) -> Option<Span> {
        let written = self.tag(template, problem.tag)?;
        let decoded = template.text.get(problem.range.clone())?;
        let start = range.start.checked_sub(problem.range.start)?;
        (self.written.get(written.clone())? == decoded).then(|| {
            self.span
                .part(written.start + start, written.start + start + range.len())
        })
    }
}

/// The bytes of each tag in a scalar as written; of one that is never closed, only the `<%`.
fn written_tags(written: &str) -> impl Iterator<Item = Range<usize>> {
    spans(written).map(|found| {
        if found.closed {
            found.range
        } else {
            found.range.start..found.range.start + OPEN.len()
        }
    })
}

/// Says what is wrong, where, and how to mend it.
pub fn diagnose(template: &Template<'_>, problem: &Problem, site: &Site<'_>) -> Diagnostic {
    let span = site.tag_span(template, problem.tag);
    let rename = |diagnostic: Diagnostic, range: &Range<usize>, name: &str| {
        let diagnostic = diagnostic.help(format!("did you mean `{name}`?"));
        let plain = |char: char| char.is_ascii_alphanumeric() || "_-$".contains(char);
        match site.part_span(template, problem, range) {
            Some(part) if name.chars().all(plain) => {
                diagnostic.fix(format!("write `{name}`"), part, name)
            }
            _ => diagnostic,
        }
    };
    let mut diagnostic = match &problem.fault {
        Fault::Unclosed => Diagnostic::new(&codes::UNCLOSED_TAG, span, "`<%` without `%>`")
            .label("this tag is never closed")
            .help(
                "close the tag with `%>`; to write `<%` itself in a shell command, write `'<''%'`",
            ),
        Fault::Empty => Diagnostic::new(&codes::EMPTY_TAG, span, "the tag is empty")
            .help("name a value, such as `<% $parameters.x %>`"),
        Fault::Unsupported(mustache) => unsupported(*mustache, span),
        Fault::UnknownScope { written, meant } => {
            let message = format!("there is no `{written}` to take a value from");
            let diagnostic = Diagnostic::new(&codes::UNKNOWN_SCOPE, span, message);
            match meant {
                Some((scope, range)) => rename(diagnostic, range, scope.name()),
                None => diagnostic.help(format!("a tag starts with one of {}", scope_names())),
            }
        }
        Fault::BadPath(bad) => bad_path(*bad, span),
        Fault::NoScope(scope) => no_scope(*scope, span),
        Fault::Missing {
            within,
            key,
            meant,
            range,
            keys,
        } => {
            let message = format!("`{within}` has no `{key}`");
            let diagnostic = Diagnostic::new(&codes::MISSING_REFERENCE, span, message);
            match meant {
                Some(name) => rename(diagnostic, range, name),
                None if keys.is_empty() => diagnostic.help(format!("`{within}` is empty")),
                None => diagnostic.help(format!("`{within}` has {}", quoted(keys))),
            }
        }
        Fault::Null { path } => {
            Diagnostic::new(&codes::MISSING_REFERENCE, span, format!("`{path}` is null"))
                .help("give it a value; an empty text is written `\"\"`")
        }
        Fault::Mapping { path, keys } => {
            let message = format!("`{path}` is a mapping, not a value");
            let diagnostic = Diagnostic::new(&codes::NOT_A_VALUE, span, message);
            if keys.is_empty() {
                diagnostic.help("the mapping is empty")
            } else {
                diagnostic.help(format!("name one of its keys: {}", quoted(keys)))
            }
        }
        Fault::OutOfRange {
            path,
            index,
            length,
        } => {
            let message = format!("`{path}` has no item {index}");
            let help = match length {
                0 => "the list is empty".to_owned(),
                1 => "the list has 1 item: write `[0]`".to_owned(),
                more => format!("the list has {more} items, `[0]` to `[{}]`", more - 1),
            };
            Diagnostic::new(&codes::OUT_OF_LIST, span, message).help(help)
        }
        Fault::NotAnIndex { path, key } => {
            let message = format!("`{path}` is a list and has no `{key}`");
            Diagnostic::new(&codes::MISSING_REFERENCE, span, message).help(
                "take an item with `[0]`, the number of items with `.length`, or the whole list",
            )
        }
        Fault::NoParts { path, key } => {
            let message = format!("`{path}` is a single value and has no `{key}`");
            Diagnostic::new(&codes::MISSING_REFERENCE, span, message)
                .help(format!("write `<% {path} %>`"))
        }
        Fault::Conflict { key, owners } => {
            let message = format!("`this.{key}` is inherited from {}", and_list(owners));
            Diagnostic::new(&codes::INHERITED_TWICE, span, message).help(format!(
                "set `{key}` in this prerequisite to say which is meant"
            ))
        }
        Fault::TagInValue { path } => {
            let message = format!("the value of `{path}` holds a tag, which stays as it is");
            Diagnostic::new(&codes::TAG_IN_VALUE, span, message)
                .help("of the tags in a value only those of `$secrets` are replaced; write the inner tag in this text instead")
        }
    };
    if problem.kept {
        diagnostic.severity = Severity::Warning;
        diagnostic.help.push("the tag is kept as it is".to_owned());
    }
    diagnostic
}

fn unsupported(mustache: Mustache, span: Span) -> Diagnostic {
    let (message, help) = match mustache {
        Mustache::Section => (
            "sections (`<%# … %>`) are not part of job templates",
            "write the condition or loop in the shell",
        ),
        Mustache::Inverted => (
            "inverted sections (`<%^ … %>`) are not part of job templates",
            "write the condition in the shell",
        ),
        Mustache::SectionEnd => (
            "there is no section that `<%/ … %>` could end",
            "remove the tag",
        ),
        Mustache::Partial => (
            "partials (`<%> … %>`) are not part of job templates",
            "write the text where it is needed",
        ),
        Mustache::Unescaped => (
            "`<%& … %>` is not needed: values are never escaped",
            "drop the `&`",
        ),
        Mustache::Triple => (
            "`<%{ … }%>` is not needed: values are never escaped",
            "drop the braces",
        ),
        Mustache::Delimiters => (
            "the delimiters of tags cannot be changed with `<%= … =%>`",
            "write every tag as `<% … %>`",
        ),
        Mustache::Comment => (
            "comments (`<%! … %>`) are not part of job templates",
            "use a comment of YAML or of the shell: `# …`",
        ),
    };
    Diagnostic::new(&codes::UNSUPPORTED_TAG, span, message).help(help)
}

fn bad_path(bad: BadPath, span: Span) -> Diagnostic {
    let (message, help) = match bad {
        BadPath::EmptyName => (
            "a name is missing in the tag",
            "write one name between dots, such as `$parameters.model.depth`",
        ),
        BadPath::OpenBracket => ("`[` without `]` in the tag", "close it, such as `[0]`"),
        BadPath::BareBracket => (
            "brackets hold a number or a quoted name",
            "write `[0]` for an item of a list and `.name` or `[\"name\"]` for a key",
        ),
        BadPath::AfterBracket => (
            "after `]` comes a dot, a bracket or the end of the tag",
            "write `[0].name`",
        ),
    };
    Diagnostic::new(&codes::BAD_PATH, span, message).help(help)
}

fn no_scope(scope: Scope, span: Span) -> Diagnostic {
    let (message, help) = match scope {
        Scope::Parameters => (
            "the job has no `parameters`",
            "add `parameters:` at the top of the file",
        ),
        Scope::Secrets => (
            "the job has no `secrets`",
            "add `secrets:` at the top of the file, or give the value with `--secret`",
        ),
        Scope::Data => (
            "the task role names no `data`",
            "add `data:` with the name of a data prerequisite to the task role",
        ),
        Scope::Script => (
            "the task role names no `script`",
            "add `script:` with the name of a script prerequisite to the task role",
        ),
        Scope::Output => (
            "the task role names no `output`",
            "add `output:` with the name of an output prerequisite to the task role",
        ),
        Scope::This => (
            "`this` is known only inside a prerequisite",
            "use `$parameters`, or `$data`, `$script` or `$output` for what the task role names",
        ),
    };
    Diagnostic::new(&codes::NO_SCOPE, span, message).help(help)
}

fn scope_names() -> String {
    quoted(&Scope::ALL.map(|scope| scope.name().to_owned()))
}

fn quoted(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

fn and_list(names: &[String]) -> String {
    match names {
        [first, second] => format!("both `{first}` and `{second}`"),
        _ => quoted(names),
    }
}
