//! Words of the command line that change a configuration: `aml=eyeson`, `+aml=eyeson`, `~aml`,
//! `run.submit=True`, `+run.new=1`, `~run.tags`.

use super::Files;
use super::defaults::split_package;
use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::jsonpath::{self, Form, Query, Work};
use crate::setting::put::{self, Author};
use crate::source::{Source, Sources, Span};
use crate::yaml::node::By;
use crate::yaml::{self, Limits, Node, Scalar, Style, Value};

/// Under this name a word is shown.
const NAME: &str = "--config";

/// A configuration is small.
const MOST_WORK: u64 = 100_000;

/// A word.
pub(super) struct Word<'s> {
    pub(super) source: &'s Source,
    /// Where its key stands.
    pub(super) target: Span,
    /// Where its value stands.
    pub(super) value: Span,
    pub(super) adds: bool,
    pub(super) package: Option<String>,
    pub(super) change: Change,
}

pub(super) enum Change {
    /// Another option of a group, or none.
    Group {
        group: String,
        option: Option<String>,
    },
    /// Another value.
    Set(Query),
    /// A value goes.
    Remove(Query),
}

impl<'s> Word<'s> {
    pub(super) fn read(
        text: &str,
        files: &dyn Files,
        sources: &'s Sources,
        out: &mut Diagnostics,
    ) -> Option<Self> {
        let source = sources.add(NAME, text);
        let whole = Span::new(source.id(), 0, text.len());
        let start = text.len() - text.trim_start_matches(['+', '~']).len();
        let sign = text.get(..start).unwrap_or_default();
        let rest = text.get(start..).unwrap_or_default();
        let (key, value) = match rest.split_once('=') {
            Some((key, value)) => (key, Some(value)),
            None => (rest, None),
        };
        let removes = sign == "~";
        let target = whole.part(start, start + key.len());
        let wrong = |message: String, out: &mut Diagnostics| {
            out.push(
                Diagnostic::new(&codes::BAD_CONFIG_WORD, whole, message)
                    .help("words are `GROUP=OPTION`, `KEY.KEY=VALUE`, `+KEY=VALUE` and `~KEY`"),
            );
        };
        if key.is_empty() || !["", "+", "++", "~"].contains(&sign) || (value.is_none() && !removes)
        {
            wrong(format!("`{text}` changes no configuration"), out);
            return None;
        }
        let (group, package) = split_package(key);
        let change = if files.options(group).is_empty() {
            match Query::parse(key, Form::Short) {
                Ok(query) if query.singular().is_some() && removes => Change::Remove(query),
                Ok(query) if query.singular().is_some() => Change::Set(query),
                _ => {
                    wrong(format!("`{key}` names no value of a configuration"), out);
                    return None;
                }
            }
        } else {
            Change::Group {
                group: group.to_owned(),
                option: value.filter(|_| !removes).map(str::to_owned),
            }
        };
        Some(Word {
            source,
            target,
            value: whole.part((start + key.len() + 1).min(text.len()), text.len()),
            adds: sign == "+",
            package,
            change,
        })
    }

    /// Changes a value of the configuration.
    pub(super) fn set(&self, root: &mut Node<'s>, sources: &'s Sources, out: &mut Diagnostics) {
        let by = || By::Flag(self.source.text().to_owned());
        match &self.change {
            Change::Group { .. } => {}
            Change::Set(query) => {
                let Some(given) = self.given(sources, out) else {
                    return;
                };
                let author = Author {
                    by: by(),
                    span: &|step| self.target.part(step.start, step.end),
                };
                let steps = query.singular().unwrap_or_default();
                if let Err(problem) = put::put(root, &steps, given, &author) {
                    let message = format!("`{}` cannot be set", self.source.slice(self.target));
                    out.push(
                        Diagnostic::new(&codes::BAD_CONFIG_WORD, self.target, message)
                            .label(format!("above this stands {}", problem.kind)),
                    );
                }
            }
            Change::Remove(query) => {
                let places = jsonpath::places(query, root, &mut Work::new(MOST_WORK));
                match places
                    .unwrap_or_default()
                    .first()
                    .and_then(|place| place.split_last())
                {
                    Some((at, above)) => {
                        let holder = jsonpath::node_at_mut(root, above);
                        if let Some(Value::Map(map)) = holder.map(|holder| &mut holder.value)
                            && (*at as usize) < map.entries.len()
                        {
                            map.entries.remove(*at as usize);
                        }
                    }
                    None => {
                        let target = self.source.slice(self.target);
                        let message = format!("there is no `{target}` to take away");
                        out.push(Diagnostic::new(
                            &codes::BAD_CONFIG_WORD,
                            self.target,
                            message,
                        ));
                    }
                }
            }
        }
    }

    /// The value, read as YAML.
    fn given(&self, sources: &'s Sources, out: &mut Diagnostics) -> Option<Node<'s>> {
        let text = self.source.slice(self.value);
        let as_text = |text: &'s str| {
            let scalar = Scalar {
                text: text.into(),
                style: Style::DoubleQuoted,
            };
            Node::new(self.value, Value::Scalar(scalar))
        };
        if text.is_empty() {
            return Some(as_text(text));
        }
        let document = yaml::load(sources.add(NAME, text), &Limits::default());
        if document.diagnostics.has_errors() {
            let message = format!("`{text}` cannot be read");
            let found = document.diagnostics.into_vec();
            let reason = found.first().map(|first| first.message.clone());
            out.push(
                Diagnostic::new(&codes::BAD_CONFIG_WORD, self.value, message)
                    .label(reason.unwrap_or_default()),
            );
            return None;
        }
        let mut root = document.root?;
        root.span = self.value;
        Some(root)
    }
}
