//! Says what is odd about a command, where, and how to mend it.

use super::ast::{Fault, Group, Placeholder, Problem, Syntax, Template, Unquotable};
use super::site::{MOST_SHOWN, Site};
use crate::diagnostic::{Diagnostic, Diagnostics, codes};

/// What is known of the component when its command is judged.
#[derive(Clone, Copy)]
pub struct Judging<'a> {
    /// Whether a shell reads the line.
    pub is_shell: bool,
    /// Whether an input can be left out.
    pub is_optional: &'a dyn Fn(&Placeholder<'_>) -> bool,
}

impl std::fmt::Debug for Judging<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Judging")
            .field("is_shell", &self.is_shell)
            .finish_non_exhaustive()
    }
}

/// Reports what is odd about a command.
pub fn diagnose(
    template: &Template<'_>,
    site: &Site<'_>,
    judging: Judging<'_>,
    out: &mut Diagnostics,
) {
    for problem in &template.problems {
        let of_shell = matches!(
            problem.fault,
            Fault::OpenQuote | Fault::Unquotable(_) | Fault::TestAsEscape | Fault::TestAsGroup
        );
        if judging.is_shell || !of_shell {
            out.push(describe(template, problem, site));
        }
    }
    for group in template.groups() {
        if group.placeholders().nth(1).is_none() {
            continue;
        }
        let optional: Vec<&Placeholder<'_>> = group
            .placeholders()
            .filter(|placeholder| (judging.is_optional)(placeholder))
            .collect();
        if let [first, others @ ..] = optional.as_slice()
            && others.iter().any(|other| other.name != first.name)
        {
            out.push(several(template, group, &optional, site));
        }
    }
}

fn describe(template: &Template<'_>, problem: &Problem, site: &Site<'_>) -> Diagnostic {
    let span = site.span(&problem.range);
    let written = template.slice(&problem.range);
    let (open, close) = match template.syntax {
        Syntax::V1 => ("[", "]"),
        Syntax::V2 => ("$[[", "]]"),
    };
    let replace = |diagnostic: Diagnostic, title: &str, text: &str| match site.exact(&problem.range)
    {
        Some(exact) => diagnostic.fix(title, exact, text),
        None => diagnostic,
    };
    match &problem.fault {
        Fault::Foreign { meant } => {
            let (here, there) = match template.syntax {
                Syntax::V1 => ("1.5", "2"),
                Syntax::V2 => ("2", "1.5"),
            };
            let message = format!(
                "`{written}` is written as in version {there}, and this is a component of version {here}"
            );
            let diagnostic = Diagnostic::new(&codes::FOREIGN_PLACEHOLDER, span, message)
                .help(format!("write `{meant}`"));
            replace(diagnostic, "write it in the way of this version", meant)
        }
        Fault::NearPlaceholder { meant } => {
            let message = format!("`{written}` is no placeholder and stays as it is");
            let diagnostic = Diagnostic::new(&codes::NEAR_PLACEHOLDER, span, message);
            match meant {
                Some(meant) => {
                    let escaped = format!("{{{written}}}");
                    let diagnostic =
                        diagnostic
                            .label(format!("did you mean `{meant}`?"))
                            .help(format!(
                                "if the braces are meant as they are, write `{escaped}`"
                            ));
                    replace(diagnostic, "write a placeholder", meant)
                }
                None => diagnostic
                    .help("a placeholder is `{inputs.NAME}` or `{outputs.NAME}`, without blanks"),
            }
        }
        Fault::UnknownBinding => {
            let message = format!("`{written}` names nothing that a component has");
            Diagnostic::new(&codes::UNKNOWN_BINDING, span, message).help(
                "name one of its own `inputs` or `outputs`; `parent` belongs to the pipeline that uses the component",
            )
        }
        Fault::NoPlaceholder => {
            let message = format!("`{written}` holds no placeholder, so it is no group");
            Diagnostic::new(&codes::GROUP_WITHOUT_PLACEHOLDER, span, message)
                .label("stays in the command as it is")
                .help("leave the brackets away, or put the optional input into them")
        }
        Fault::Nested { inner } => {
            Diagnostic::new(&codes::NESTED_GROUP, span, "a group within brackets")
                .label("the outer brackets stay in the command as they are")
                .related(site.span(inner), "only this is a group")
                .help("write two groups, one behind the other")
        }
        Fault::Unpaired => {
            let message = format!("`{written}` has no partner, so there is no group here");
            Diagnostic::new(&codes::UNPAIRED_BRACKET, span, message).help(format!(
                "a group begins with `{open}` and ends with `{close}`"
            ))
        }
        Fault::TestAsGroup => {
            let message = "a test of the shell is read as an optional group";
            let inside = written.trim_start_matches('[').trim_end_matches(']').trim();
            Diagnostic::new(&codes::TEST_AS_GROUP, span, message)
                .label("the shell does not get these brackets")
                .help(format!("write `test {inside}`"))
        }
        Fault::TestAsEscape => {
            let message = "`[[` and `]]` stand for single brackets in a command";
            Diagnostic::new(&codes::TEST_AS_GROUP, span, message)
                .label("the shell gets one bracket on either side")
                .help("write `[[[[` and `]]]]` for a test of bash")
        }
        Fault::OpenQuote => Diagnostic::new(&codes::OPEN_QUOTE, span, "a quote is never closed")
            .help(format!(
                "close it, or write `\\{written}` if it is meant as it is"
            )),
        Fault::Unquotable(Unquotable::Backticks) => {
            let message = format!("the value of `{written}` cannot be quoted between backticks");
            Diagnostic::new(&codes::UNQUOTABLE_PLACEHOLDER, span, message)
                .help("write `$(…)` instead of backticks")
        }
        Fault::Unquotable(Unquotable::HereDocument) => {
            let message = format!("the value of `{written}` cannot be quoted in a here-document");
            Diagnostic::new(&codes::UNQUOTABLE_PLACEHOLDER, span, message).help(format!(
                "give it to a variable before, as in `value={written}`, and write `$value` here"
            ))
        }
    }
}

/// A group that disappears with any of several inputs.
fn several(
    template: &Template<'_>,
    group: &Group<'_>,
    optional: &[&Placeholder<'_>],
    site: &Site<'_>,
) -> Diagnostic {
    let message = format!(
        "a group holds {} optional inputs and disappears if any of them is missing",
        optional.len()
    );
    let first = template.syntax.group(&format!(
        "--x {}",
        optional
            .first()
            .map_or("", |first| template.slice(&first.range))
    ));
    let mut diagnostic =
        Diagnostic::new(&codes::SEVERAL_OPTIONALS, site.span(&group.range), message);
    for placeholder in optional.iter().take(MOST_SHOWN) {
        diagnostic = diagnostic.related(
            site.span(&placeholder.range),
            format!("`{}` is optional", placeholder.name),
        );
    }
    diagnostic.help(format!(
        "give each of them a group of its own, such as `{first}`"
    ))
}
