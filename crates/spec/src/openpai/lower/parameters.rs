//! The parameters of a plugin, rendered and with their origins.

use pinnace_core::origin::Origin;
use pinnace_core::text::Text;

use super::Lowering;
use crate::openpai::read;
use crate::source::Span;
use crate::template::{Lookup, Scopes};
use crate::yaml::Node;

/// Where a plugin finds its parameters.
pub(super) struct Parameters<'p, 'd> {
    pub(super) find: &'p dyn Fn(&str) -> Lookup<'d>,
    /// The path of the mapping that holds them.
    pub(super) path: &'p str,
    /// Where to report that one is missing.
    pub(super) at: Span,
}

impl<'d> Lowering<'_, 'd> {
    pub(super) fn texts(
        &mut self,
        list: Option<&'d Node<'d>>,
        scopes: &Scopes<'_, 'd>,
        doc_path: &str,
        plan_path: &str,
        notes: &mut Vec<(String, Origin)>,
    ) -> Vec<Text> {
        if !self.building {
            self.judge_all(list, scopes);
            return Vec::new();
        }
        let mut texts = Vec::new();
        for (index, node) in read::items(list).iter().enumerate() {
            let (text, origin) = self.render(node, scopes, format_args!("{doc_path}[{index}]"));
            if let Some(origin) = origin {
                notes.push((format!("{plan_path}[{index}]"), origin));
            }
            texts.push(text);
        }
        texts
    }

    pub(super) fn listed_texts(
        &mut self,
        parameters: &Parameters<'_, 'd>,
        key: &str,
        scopes: &Scopes<'_, 'd>,
        plan_path: &str,
        notes: &mut Vec<(String, Origin)>,
    ) -> Vec<Text> {
        let path = self.path(format_args!("{}.{key}", parameters.path));
        self.texts(
            found((parameters.find)(key)),
            scopes,
            &path,
            plan_path,
            notes,
        )
    }

    pub(super) fn text(
        &mut self,
        parameters: &Parameters<'_, 'd>,
        key: &str,
        scopes: &Scopes<'_, 'd>,
        plan_path: &str,
        notes: &mut Vec<(String, Origin)>,
    ) -> Option<Text> {
        let Some(node) = found((parameters.find)(key)) else {
            self.keep(notes, plan_path, |_| Origin::default_rule("not written"));
            return None;
        };
        let (text, origin) = self.render(node, scopes, format_args!("{}.{key}", parameters.path));
        notes.extend(origin.map(|origin| (plan_path.to_owned(), origin)));
        Some(text)
    }

    pub(super) fn flag(
        &mut self,
        parameters: &Parameters<'_, 'd>,
        key: &str,
        scopes: &Scopes<'_, 'd>,
        plan_path: &str,
        notes: &mut Vec<(String, Origin)>,
    ) -> bool {
        let Some(node) = found((parameters.find)(key)) else {
            self.keep(notes, plan_path, |_| {
                Origin::default_rule("off unless it is asked for")
            });
            return false;
        };
        let text = self.text(parameters, key, scopes, plan_path, notes);
        node.as_bool()
            .unwrap_or_else(|| text.is_some_and(|text| text.as_literal() == Some("true")))
    }

    pub(super) fn number(
        &mut self,
        parameters: &Parameters<'_, 'd>,
        key: &str,
        scopes: &Scopes<'_, 'd>,
        plan_path: &str,
        rule: &str,
        notes: &mut Vec<(String, Origin)>,
    ) -> Option<u32> {
        if found((parameters.find)(key)).is_none() {
            self.keep(notes, plan_path, |_| Origin::default_rule(rule));
            return None;
        }
        let text = self.text(parameters, key, scopes, plan_path, notes)?;
        text.as_literal().and_then(|text| text.parse().ok())
    }
}

#[allow(clippy::needless_pass_by_value)]
pub(super) fn found(lookup: Lookup<'_>) -> Option<&Node<'_>> {
    match lookup {
        Lookup::Own(node) | Lookup::Inherited { node, .. } => Some(node),
        Lookup::Conflict(_) | Lookup::Missing => None,
    }
}
