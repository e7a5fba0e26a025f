//! The section `tenant_overrides` of a configuration, in both its forms.
//!
//! In one the tenants stand right in the section; in the other below `mapping`, beside
//! `allow_override` and `keep_modified_files`.

use super::rule::{Reader, place};
use super::tenant::Tenant;
use super::{FeedRule, Overrides};
use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::source::{Sources, Span};
use crate::yaml::Entry;

/// The key of the section.
pub const SECTION: &str = "tenant_overrides";

const REMOVE_FEEDS: &str = "remove_polymer_pkg_idx";

impl Overrides {
    /// Reads the section and takes the rules that are for a tenant: those under the first key that
    /// means it. Problems are told of the rules of all tenants.
    pub fn read(
        section: &Entry<'_>,
        tenant: &Tenant,
        sources: &Sources,
        out: &mut Diagnostics,
    ) -> Overrides {
        let mut overrides = Overrides::nothing(sources);
        let Some((tenants, prefix)) = tenants(section, out) else {
            return overrides;
        };
        for entry in tenants {
            let read = rules(entry, prefix, out);
            if overrides.chosen.is_none() && tenant.is_meant_by(&entry.key.text) {
                let texts = std::mem::take(&mut overrides.texts);
                overrides = Overrides {
                    texts,
                    chosen: Some(entry.key.text.clone().into_owned()),
                    ..read
                };
            }
        }
        overrides
    }
}

/// The entries of the tenants, and the path to them.
fn tenants<'n, 's>(
    section: &'n Entry<'s>,
    out: &mut Diagnostics,
) -> Option<(Vec<&'n Entry<'s>>, &'static str)> {
    if section.value.is_null() {
        return None;
    }
    let Some(map) = section.value.as_map() else {
        let message = format!("`{SECTION}` must be a mapping from tenants to their rules");
        out.push(
            Diagnostic::new(&codes::BAD_OVERRIDES, place(section), message)
                .label(format!("this is {}", section.value.kind())),
        );
        return None;
    };
    let settings = ["allow_override", "keep_modified_files", "mapping"];
    let (settings, direct): (Vec<_>, Vec<_>) = map
        .entries
        .iter()
        .partition(|entry| settings.contains(&&*entry.key.text));
    if settings.is_empty() {
        return Some((direct, SECTION));
    }
    for entry in &direct {
        let message = format!("`{}` does not belong beside `mapping`", entry.key.text);
        out.push(
            Diagnostic::new(&codes::BAD_OVERRIDES, entry.key.span, message).help(
                "tenants stand below `mapping`, or all of them right below `tenant_overrides`",
            ),
        );
    }
    let flag = |name: &str, out: &mut Diagnostics| {
        let entry = map.get(name)?;
        flag_of(entry, out).map(|on| (on, entry))
    };
    if let Some((true, entry)) = flag("keep_modified_files", out) {
        let message = "no file is modified, so none is kept";
        out.push(
            Diagnostic::new(&codes::NO_MODIFIED_FILES, entry.key.span, message).help(
                "`pinnace override apply --write DIR` writes the overridden files into a folder",
            ),
        );
    }
    let allowed = flag("allow_override", out);
    if !allowed.is_some_and(|(on, _)| on) {
        let span = allowed.map_or(section.key.span, |(_, entry)| place(entry));
        let message = "the overrides are off: `allow_override` is not true";
        out.push(
            Diagnostic::new(&codes::OVERRIDES_OFF, span, message)
                .help("write `allow_override: true` to let them act"),
        );
        return None;
    }
    let mapping = map.get("mapping")?;
    if mapping.value.is_null() {
        return None;
    }
    let Some(mapping) = mapping.value.as_map() else {
        let message = "`mapping` must be a mapping from tenants to their rules";
        out.push(Diagnostic::new(
            &codes::BAD_OVERRIDES,
            place(mapping),
            message,
        ));
        return None;
    };
    Some((mapping.entries.iter().collect(), "tenant_overrides.mapping"))
}

fn flag_of(entry: &Entry<'_>, out: &mut Diagnostics) -> Option<bool> {
    let flag = entry.value.as_bool();
    if flag.is_none() {
        let message = format!("`{}` must be true or false", entry.key.text);
        out.push(Diagnostic::new(
            &codes::BAD_OVERRIDES,
            place(entry),
            message,
        ));
    }
    flag
}

/// The rules of one tenant.
fn rules(tenant: &Entry<'_>, prefix: &str, out: &mut Diagnostics) -> Overrides {
    let mut overrides = Overrides::default();
    let Some(map) = tenant.value.as_map() else {
        if !tenant.value.is_null() {
            let message = format!(
                "the rules of `{}` must be a mapping from paths to tables",
                tenant.key.text
            );
            out.push(Diagnostic::new(
                &codes::BAD_OVERRIDES,
                place(tenant),
                message,
            ));
        }
        return overrides;
    };
    let prefix = format!("{prefix}[\"{}\"]", tenant.key.text);
    let feeds = map.get(REMOVE_FEEDS);
    if let Some(entry) = feeds
        && flag_of(entry, out) == Some(true)
    {
        overrides.remove_feeds = Some(FeedRule {
            name: format!("{prefix}.{REMOVE_FEEDS}"),
            span: whole(entry),
        });
    }
    let mut reader = Reader {
        prefix: &prefix,
        out,
        patterns: 0,
        bytes: 0,
        refused: false,
    };
    for entry in &map.entries {
        if entry.key.text != REMOVE_FEEDS {
            overrides.rules.extend(reader.rule(entry));
        }
    }
    overrides
}

fn whole(entry: &Entry<'_>) -> Span {
    entry.key.span.to(entry.value.span)
}
