//! The right side of a flag, read as YAML.

use super::Typed;
use crate::diagnostic::Diagnostics;
use crate::source::Sources;
use crate::yaml::{Node, Scalar, Style, Value};

pub(super) fn read<'s>(
    setting: &Typed<'s>,
    _sources: &'s Sources,
    _diagnostics: &mut Diagnostics,
) -> Option<Node<'s>> {
    let text = setting.value_text().into();
    let style = Style::Plain;
    Some(Node::new(
        setting.value,
        Value::Scalar(Scalar { text, style }),
    ))
}
