//! Where code, inputs and outputs are said to lie: what is written, read as a place, with every problem.

use pinnace_core::origin::Origin;
use pinnace_core::plan::{Location, NotALocation, Scheme};

use super::Lowering;
use crate::diagnostic::{Diagnostic, codes};
use crate::library::Look;
use crate::processor::model::{Channel, Place};
use crate::setting::Binding;
use crate::source::Span;
use crate::yaml::Node;

/// A place as a user wrote it.
pub(super) struct Written {
    pub(super) text: String,
    pub(super) span: Span,
    /// Relative paths are taken from it.
    pub(super) folder: Option<String>,
    pub(super) origin: Origin,
}

impl Lowering<'_, '_> {
    /// What a channel says, or a flag in its place.
    pub(super) fn written(
        &mut self,
        channel: &Channel<'_>,
        flag: Option<&Binding<'_>>,
        section: &str,
    ) -> Option<Written> {
        let path = format!("{section}.{}", channel.name.text);
        let in_file = self.trace.written(channel.node, &path);
        if let Some(flag) = flag {
            return Some(Written {
                text: flag.value_text().to_owned(),
                span: flag.value,
                folder: self.request.here.map(str::to_owned),
                origin: flag.origin(Some(in_file)),
            });
        }
        let Some(place) = channel.place else {
            if channel.node.as_map().is_some() {
                let message = format!("`{}` does not say where it lies", channel.name.text);
                self.out.push(
                    Diagnostic::new(&codes::BAD_LOCATION, channel.name.span, message)
                        .help("write a path, a URL or `dataset_id: NAME`"),
                );
            }
            return None;
        };
        let (node, text) = match place {
            Place::Uri(node) => (node, node.as_text().unwrap_or_default().to_owned()),
            Place::Dataset(node) => (node, self.dataset(channel, node)?),
            Place::Both { uri, dataset } => {
                let message = format!(
                    "`{}` has two places, a URI and a dataset",
                    channel.name.text
                );
                self.out.push(
                    Diagnostic::new(&codes::BAD_LOCATION, dataset.span, message)
                        .related(uri.span, "the other one")
                        .help("remove one of the two"),
                );
                return None;
            }
        };
        Some(Written {
            text,
            span: node.span,
            folder: self.request.folder.map(str::to_owned),
            origin: in_file,
        })
    }

    /// A dataset as the catalogue has it: PAI writes the first version as `/v1`.
    fn dataset(&mut self, channel: &Channel<'_>, node: &Node<'_>) -> Option<String> {
        let text = node.as_text().unwrap_or_default().trim();
        let (name, version) = match text.split_once('/') {
            Some((name, version)) => (name, Some(version)),
            None => (text, None),
        };
        if name.is_empty() || version == Some("") {
            let message = format!("`{}` names no dataset", channel.name.text);
            self.out.push(
                Diagnostic::new(&codes::BAD_LOCATION, node.span, message)
                    .help("write `dataset_id: NAME` or `dataset_id: NAME/VERSION`; `pinnace data ls` lists them"),
            );
            return None;
        }
        let number = |version: &str| -> String {
            let digits = version.strip_prefix('v').unwrap_or(version);
            match digits.bytes().all(|byte| byte.is_ascii_digit()) {
                true => digits.to_owned(),
                false => version.to_owned(),
            }
        };
        Some(match version {
            Some(version) => format!("dataset:{name}:{}", number(version)),
            None => format!("dataset:{name}"),
        })
    }

    /// Reads a place and reports what is wrong with it.
    fn parse(&mut self, written: &Written) -> Option<Location> {
        match Location::parse(&written.text, written.folder.as_deref()) {
            Ok(location) => Some(location),
            // A check of a text that lies nowhere cannot say more.
            Err(NotALocation::NoFolder) if !self.request.plan => None,
            Err(problem) => {
                let help = match &problem {
                    NotALocation::UnknownScheme(_) => {
                        "give a path of this machine with `--input NAME=PATH` or `--output NAME=PATH`"
                    }
                    NotALocation::NoFolder => "write an absolute path",
                    _ => "write a path, or a URL such as `oss://bucket/folder/`",
                };
                self.out.push(
                    Diagnostic::new(&codes::BAD_LOCATION, written.span, problem.to_string())
                        .help(help),
                );
                None
            }
        }
    }

    /// Where something lies that must be there.
    pub(super) fn location(&mut self, written: &Written) -> Option<Location> {
        let location = self.parse(written)?;
        let missing = location
            .local()
            .is_some_and(|path| self.library.look(path) == Look::Missing);
        if missing {
            let message = format!("`{}` is not there", written.text);
            let mut help = format!("it would be `{location}`");
            if is_dataset_id(&written.text) {
                help = format!(
                    "{help}; a dataset is written as `{{dataset_id: {}}}`",
                    written.text
                );
            }
            self.out
                .push(Diagnostic::new(&codes::MISSING_FILE, written.span, message).help(help));
            return None;
        }
        Some(location)
    }

    /// Where something may be written.
    pub(super) fn destination(&mut self, written: &Written) -> Option<Location> {
        let location = self.parse(written)?;
        let problem = match location.scheme() {
            Scheme::Http => "nothing can be written to an `http` URL",
            Scheme::Local
                if location
                    .local()
                    .is_some_and(|path| matches!(self.library.look(path), Look::File { .. })) =>
            {
                "an output is a folder, and a file lies there"
            }
            _ => return Some(location),
        };
        self.out.push(
            Diagnostic::new(&codes::BAD_LOCATION, written.span, problem)
                .help("name a folder of this machine, `oss://…` or `s3://…`"),
        );
        None
    }

    pub(super) fn typed(&self, flag: &Binding<'_>, instead_of: Option<Origin>) -> Written {
        Written {
            text: flag.value_text().to_owned(),
            span: flag.value,
            folder: self.request.here.map(str::to_owned),
            origin: flag.origin(instead_of),
        }
    }
}

/// Whether a text looks like what PAI calls a dataset: `d-` and an identifier, and maybe a version.
fn is_dataset_id(text: &str) -> bool {
    let (name, version) = text.split_once('/').unwrap_or((text, "v1"));
    let is_word =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    name.strip_prefix("d-").is_some_and(is_word) && is_word(version)
}
