//! The command line of a component: one grammar for both ways of writing it.
//!
//! [`parse`] cuts a text into literals, placeholders and optional groups. [`Template::render`] puts
//! values in their place and gives the words of the command and the line for a shell. The literal
//! text is the author's shell; a value is always data: it is quoted for the place where it stands
//! and never read again. [`Site`] finds the pieces in the file.
//!
//! | module | its part |
//! | --- | --- |
//! | `ast` | the pieces |
//! | `token`, `spelling` | what the pieces are cut from |
//! | `parse` | text → pieces, and what is odd about them |
//! | `shell` | what a shell makes of a line while it is written |
//! | `render` | pieces and values → words and line |
//! | `line` | words and line, for people and programs |
//! | `argument` | the words of a command before it has values |
//! | `diagnose` | what is odd, as diagnostics |
//! | `shift` | arguments that reach the wrong parameter |
//! | `site` | where a piece stands in the file |
//! | [`powershell`] | what a PowerShell entry script makes of its arguments |

mod argument;
mod ast;
mod diagnose;
mod line;
mod parse;
pub mod powershell;
mod render;
mod shell;
mod shift;
mod site;
mod spelling;
#[cfg(test)]
mod tests;
mod token;

pub use argument::Argument;
pub use ast::{Fault, Group, Part, Placeholder, Problem, Scope, Syntax, Template, Unquotable};
pub use diagnose::{Judging, diagnose};
pub use line::{CommandLine, EntryArguments, GivenBy, ParameterArgument};
pub use parse::parse;
pub use render::{Manner, Rendered, line_of};
pub use shift::{Entry, Situation, check_arguments};
pub use site::Site;
