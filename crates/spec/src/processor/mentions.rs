//! What a command says of parameters and channels that the processor does not have: a shell takes such a variable for
//! an empty text, and what is written to such a folder is lost.

use super::model::Processor;
use super::names::variable_part;
use crate::diagnostic::suggest::did_you_mean;
use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::yaml::Node;

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
        ("PAI_HPS_", "", "parameter", parameters.collect()),
        ("PAI_INPUT_", "/ml/input/data/", "input", inputs),
        ("PAI_OUTPUT_", "/ml/output/", "output", outputs),
    ];
    let is_set = |variable: &str| {
        let mut own = processor.environments.iter();
        own.any(|(name, _)| name.text == variable)
    };
    for node in texts {
        let text = node.as_text().unwrap_or_default();
        let mut told: Vec<&str> = Vec::new();
        for (prefix, folder, what, names) in &groups {
            let group = Group { what, names };
            for (variable, name) in variables(text, prefix) {
                let is_known = names.iter().any(|known| variable_part(known) == name);
                if !is_known && !is_set(variable) && !told.contains(&variable) {
                    told.push(variable);
                    let similar = name.to_lowercase();
                    let message = format!(
                        "the command names `${variable}`, and the processor has no such {what}"
                    );
                    out.push(group.problem(node, message, &similar));
                }
            }
            for name in below(text, folder) {
                if !names.contains(&name) && !told.contains(&name) {
                    told.push(name);
                    let message = format!(
                        "the command names `{folder}{name}`, and the processor has no such {what}"
                    );
                    out.push(group.problem(node, message, name));
                }
            }
        }
    }
}

struct Group<'a> {
    what: &'a str,
    names: &'a [&'a str],
}

impl Group<'_> {
    fn problem(&self, node: &Node<'_>, message: String, name: &str) -> Diagnostic {
        let section = format!("{}s", self.what);
        let help = did_you_mean(name, self.names.iter().copied())
            .unwrap_or_else(|| format!("add it below `{section}`, or remove it from the command"));
        Diagnostic::new(&codes::UNKNOWN_MENTION, node.span, message).help(help)
    }
}

/// The variables of a text that a shell would look up, whole and without their prefix. What stands in single quotes is
/// left to whoever reads it.
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
fn below<'t>(text: &'t str, folder: &'t str) -> Vec<&'t str> {
    if folder.is_empty() {
        return Vec::new();
    }
    let names = text.match_indices(folder).filter_map(|(at, _)| {
        let rest = text.get(at + folder.len()..)?;
        let is_part = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '.');
        let end = rest.find(|char| !is_part(char)).unwrap_or(rest.len());
        let name = rest.get(..end)?.trim_end_matches('.');
        // A pattern or a variable may be any of them.
        let is_open = rest.get(end..)?.starts_with(['$', '*', '?', '[', '{']);
        (!is_open && !name.is_empty()).then_some(name)
    });
    names.collect()
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
        assert_eq!(below(text, "/ml/output/"), ["a", "c-1.x"]);
        assert_eq!(below(text, ""), Vec::<&str>::new());
    }
}
