//! Writes a component spec.

use std::fmt::Write as _;

use super::interface::Interface;

/// The spec of a Hemera component that refers to a module.
pub(super) fn spec(title: &str, interface: &Interface, id: &str) -> String {
    let mut out = String::from(
        "$schema: https://componentsdk.azureedge.net/jsonschema/HemeraComponent.json\n",
    );
    let _ = writeln!(out, "name: {}", scalar(&name(title)));
    out.push_str("version: 0.0.1\n");
    let _ = writeln!(out, "display_name: {}", scalar(title));
    out.push_str("type: HemeraComponent\n");
    if !interface.inputs.is_empty() {
        out.push_str("inputs:\n");
    }
    for input in &interface.inputs {
        let _ = writeln!(out, "  {}:", scalar(&input.name));
        out.push_str(match input.default {
            Some(_) => "    type: string\n",
            None => "    type: path\n",
        });
        if input.is_optional {
            out.push_str("    optional: true\n");
        }
        match &input.default {
            Some(default) => {
                let _ = writeln!(out, "    default: {}", scalar(default));
            }
            None => out.push_str("    is_resource: true\n"),
        }
    }
    let _ = writeln!(out, "command: {}", line(&interface.command));
    let _ = writeln!(out, "hemera:\n  ref_id: {}", scalar(id));
    out
}

/// A name from the characters that the name of a component may have.
fn name(title: &str) -> String {
    let mut name: String = title
        .trim()
        .chars()
        .map(|char| {
            if char.is_ascii_alphanumeric() || "._-".contains(char) {
                char
            } else {
                '_'
            }
        })
        .collect();
    if name.is_empty() {
        name.push_str("module");
    }
    name
}

/// A scalar that is read back as the text, whatever it looks like.
fn scalar(text: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "_-./ ".contains(char);
    let is_word = text.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
        && text.trim_end() == text
        && text.chars().all(is_plain);
    let has_meaning = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word));
    // A GUID begins with a digit now and then, and is a text all the same.
    let is_guid = text.len() == 36 && text.matches('-').count() == 4 && text.chars().all(is_plain);
    if (is_word || is_guid) && !has_meaning {
        text.to_owned()
    } else {
        quoted(text)
    }
}

/// A command line, as a block if that keeps it as it is.
fn line(text: &str) -> String {
    let is_block =
        !text.is_empty() && !text.starts_with([' ', '#']) && !text.chars().any(char::is_control);
    if is_block {
        format!(">-\n  {text}")
    } else {
        quoted(text)
    }
}

/// In double quotes. What JSON escapes, YAML reads.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
