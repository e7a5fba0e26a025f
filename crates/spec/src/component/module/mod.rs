//! The interface line of an Aether module, turned into a component spec.
//!
//! Only what is publicly known of the line is read: `c` (the cloud), `n` (the name) and `i` (the
//! interface), in which `(NAME)` is a value, `(NAME:default,VALUE)` a parameter and `[…]` is
//! optional. Whatever else stands there is a diagnostic, never a guess.

mod interface;
#[cfg(test)]
mod tests;
mod write;
mod xml;

use crate::diagnostic::{Diagnostic, Diagnostics, codes};
use crate::source::Source;
use interface::Interface;

/// A component spec that does what the module in a file does, or what is wrong with the file. `id` is
/// the GUID of the module.
pub fn convert(source: &Source, id: &str, out: &mut Diagnostics) -> Option<String> {
    let element = match xml::read(source) {
        Ok(element) => element,
        Err(problem) => {
            out.push(*problem);
            return None;
        }
    };
    for attribute in &element.attributes {
        if !["c", "n", "i"].contains(&attribute.name) {
            let message = format!("what `{}` means is not known", attribute.name);
            out.push(
                Diagnostic::new(&codes::UNSAID_MODULE_PART, attribute.span, message)
                    .label("left out of the component"),
            );
        }
    }
    let cloud = element.get("c", "the cloud that runs the module", out);
    let name = element.get("n", "the name of the module", out);
    let line = element.get("i", "the interface of the module", out);
    let (cloud, name, line) = (cloud?, name?, line?);
    if cloud.text != "Hemera" {
        let message = format!("modules of the cloud `{}` are not known", cloud.text);
        out.push(
            Diagnostic::new(&codes::UNKNOWN_MODULE_PART, cloud.span, message)
                .help("only modules of `Hemera` can be converted"),
        );
        return None;
    }
    let interface = Interface::read(line, out)?;
    Some(write::spec(&name.text, &interface, id))
}
