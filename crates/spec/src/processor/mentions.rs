//! What a command says of parameters and channels that the processor does not have: a shell takes such a variable for
//! an empty text, and what is written to such a folder is lost.

use std::collections::HashSet;

use super::model::Processor;
use super::names::variable_part;
use crate::diagnostic::suggest::did_you_mean;
use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::yaml::Node;

/// So many are told; whoever has more mends these first.
const MOST_MENTIONS: usize = 64;

/// Names that flags add to those of the file.
#[derive(Clone, Copy, Debug)]
pub struct Bound<'a> {
    /// `--input`
    pub inputs: &'a [&'a str],
    /// `--output`
    pub outputs: &'a [&'a str],
}

/// Reports what the texts of a command name in vain.
pub fn check(
    processor: &Processor<'_>,
    texts: &[&Node<'_>],
    bound: Bound<'_>,
    out: &mut Diagnostics,
) {
    let parameters = processor.parameters.iter().map(|(name, _)| name.text);
    let inputs = processor.inputs.iter().map(|input| input.name.text);
    let outputs = processor.outputs.iter().map(|output| output.name.text);
    let declared = processor.output_channels.iter().map(|one| one.name.text);
    let inputs: Vec<&str> = inputs.chain(bound.inputs.iter().copied()).collect();
    let outputs: Vec<&str> = outputs
        .chain(declared)
        .chain(bound.outputs.iter().copied())
        .collect();
    let groups = [
        Group::new("PAI_HPS_", "", "parameter", parameters.collect()),
        Group::new("PAI_INPUT_", "/ml/input/data/", "input", inputs),
        Group::new("PAI_OUTPUT_", "/ml/output/", "output", outputs),
    ];
    let own = processor.environments.iter().map(|(name, _)| name.text);
    let own: HashSet<&str> = own.collect();
    let mut count = 0;
    for node in texts {
        let text = node.as_text().unwrap_or_default();
        let mut told: HashSet<&str> = HashSet::new();
        for group in &groups {
            let Group { prefix, folder, .. } = group;
            let variables = variables(text, prefix).filter(|(variable, name)| {
                !group.variable_parts.contains(*name) && !own.contains(variable)
            });
            let variables = variables
                .map(|(variable, name)| (variable, format!("${variable}"), name.to_lowercase()));
            let folders = below(text, folder).filter(|name| !group.known.contains(name));
            let folders = folders.map(|name| (name, format!("{folder}{name}"), name.to_owned()));
            for (mention, shown, similar) in variables.chain(folders) {
                if told.insert(mention) {
                    out.push(group.problem(node, &shown, &similar));
                    count += 1;
                    if count == MOST_MENTIONS {
                        return;
                    }
                }
            }
        }
    }
}

/// One kind of things that a command can name.
struct Group<'a> {
    prefix: &'static str,
    folder: &'static str,
    what: &'static str,
    names: Vec<&'a str>,
    known: HashSet<&'a str>,
    variable_parts: HashSet<String>,
}

impl<'a> Group<'a> {
    fn new(
        prefix: &'static str,
        folder: &'static str,
        what: &'static str,
        names: Vec<&'a str>,
    ) -> Self {
        Group {
            prefix,
            folder,
            what,
            known: names.iter().copied().collect(),
            variable_parts: names.iter().map(|name| variable_part(name)).collect(),
            names,
        }
    }

    fn problem(&self, node: &Node<'_>, shown: &str, name: &str) -> Diagnostic {
        let what = self.what;
        let message = format!("the command names `{shown}`, and the processor has no such {what}");
        let help = did_you_mean(name, self.names.iter().copied())
            .unwrap_or_else(|| format!("add it below `{what}s`, or remove it from the command"));
        Diagnostic::new(&codes::UNKNOWN_MENTION, node.span, message).help(help)
    }
}

/// The variables of a text that a shell would look up, whole and without their prefix.
fn variables<'t>(text: &'t str, prefix: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
    text.match_indices(prefix).filter_map(move |(at, _)| {
        let before = text.get(..at)?;
        let is_read = before.ends_with('$') || before.ends_with("${");
        let rest = text.get(at + prefix.len()..)?;
        let end = rest
            .find(|char: char| !char.is_ascii_alphanumeric() && char != '_')
            .unwrap_or(rest.len());
        // `${NAME:-other}` knows that there may be none.
        let has_default = before.ends_with("${") && !rest.get(end..)?.starts_with('}');
        let name = rest.get(..end)?;
        let whole = text.get(at..at + prefix.len() + end)?;
        (is_read && !has_default && !name.is_empty()).then_some((whole, name))
    })
}

/// The names right below a folder that a text has.
fn below<'t>(text: &'t str, folder: &'t str) -> impl Iterator<Item = &'t str> {
    let searched = (!folder.is_empty()).then_some(text).into_iter();
    let found = searched.flat_map(move |text| text.match_indices(folder));
    found.filter_map(move |(at, _)| {
        let rest = text.get(at + folder.len()..)?;
        let is_part = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '.');
        let end = rest.find(|char| !is_part(char)).unwrap_or(rest.len());
        let name = rest.get(..end)?.trim_end_matches('.');
        // A pattern or a variable may be any of them.
        let is_open = rest.get(end..)?.starts_with(['$', '*', '?', '[', '{']);
        (!is_open && !name.is_empty()).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_found_where_a_shell_reads_them() {
        let text = "x $PAI_HPS_A ${PAI_HPS_B} ${PAI_HPS_C:-1} PAI_HPS_D $PAI_HPS_ ${PAI_HPS_E%x}";
        let found: Vec<&str> = variables(text, "PAI_HPS_").map(|(_, name)| name).collect();
        assert_eq!(found, ["A", "B"]);
    }

    #[test]
    fn folders_end_where_their_names_end() {
        let text =
            "cp /ml/output/a/b /ml/output/c-1.x; ls /ml/output/ /ml/output/$X /ml/output/d*.";
        let found: Vec<&str> = below(text, "/ml/output/").collect();
        assert_eq!(found, ["a", "c-1.x"]);
        assert_eq!(below(text, "").next(), None);
    }
}
