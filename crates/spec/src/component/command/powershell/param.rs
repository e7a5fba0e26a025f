//! Reads the `param(…)` block of a script.

use std::ops::Range;

use super::cursor::Cursor;

/// A script has no more parameters than this; PowerShell has a limit too.
const MOST_PARAMETERS: usize = 1024;

/// What a script says about its parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// The parameters in the order of their declaration.
    pub parameters: Vec<Parameter>,
    /// Whether it has `[CmdletBinding()]` or `[Parameter()]`: then it refuses what it does not know.
    pub is_advanced: bool,
    /// Whether parameters without a position of their own get one.
    pub positional_binding: bool,
}

/// A parameter of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameter {
    /// Its name without the dollar.
    pub name: String,
    /// The bytes of `$name` in the script.
    pub range: Range<usize>,
    /// Its other names.
    pub aliases: Vec<String>,
    /// Its type.
    pub kind: Type,
    /// Its default as written.
    pub default: Option<String>,
    /// `Position=…`
    pub position: Option<i64>,
    /// `Mandatory`
    pub is_mandatory: bool,
    /// `ValueFromRemainingArguments`
    pub takes_rest: bool,
    /// `[ValidateNotNullOrEmpty()]`
    pub refuses_empty: bool,
    /// `[ValidateSet(…)]`
    pub choices: Vec<String>,
}

/// The types that make a difference here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Type {
    /// A text, or anything that a text becomes without a question.
    #[default]
    Text,
    /// A switch, which takes no value.
    Switch,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// `$true` or `$false`.
    Flag,
}

/// Reads the `param(…)` block at the start of a script; `None` if there is none that can be read.
pub fn read(text: &str) -> Option<Script> {
    let mut cursor = Cursor { text, at: 0 };
    let mut script = Script {
        positional_binding: true,
        ..Script::default()
    };
    loop {
        cursor.skip_blanks();
        if cursor.peek() == Some('[') {
            let attribute = Attribute::read(cursor.bracketed()?);
            if attribute.is("CmdletBinding") {
                script.is_advanced = true;
                script.positional_binding = attribute.flag("PositionalBinding") != Some(false);
            }
            continue;
        }
        match cursor.word().to_ascii_lowercase().as_str() {
            "param" => break,
            "using" => cursor.at += cursor.rest().find('\n')?,
            _ => return None,
        }
    }
    cursor.skip_blanks();
    if !cursor.take('(') {
        return None;
    }
    loop {
        cursor.skip_blanks();
        if cursor.take(')') {
            return Some(script);
        }
        let parameter = read_parameter(&mut cursor, &mut script)?;
        script.parameters.push(parameter);
        cursor.skip_blanks();
        if !cursor.take(',') && cursor.peek() != Some(')')
            || script.parameters.len() > MOST_PARAMETERS
        {
            return None;
        }
    }
}

fn read_parameter(cursor: &mut Cursor<'_>, script: &mut Script) -> Option<Parameter> {
    let mut parameter = Parameter::default();
    while cursor.peek() == Some('[') {
        let attribute = Attribute::read(cursor.bracketed()?);
        attribute.apply(&mut parameter, script);
        cursor.skip_blanks();
    }
    let start = cursor.at;
    if !cursor.take('$') {
        return None;
    }
    let name = match cursor.peek() {
        Some('{') => cursor.bracketed()?,
        _ => cursor.word(),
    };
    if name.is_empty() {
        return None;
    }
    name.clone_into(&mut parameter.name);
    parameter.range = start..cursor.at;
    cursor.skip_blanks();
    if cursor.take('=') {
        cursor.skip_blanks();
        parameter.default = Some(cursor.expression().to_owned());
    }
    Some(parameter)
}

/// What stands in square brackets: a type, or an attribute with its arguments.
struct Attribute<'t> {
    name: &'t str,
    arguments: Option<&'t str>,
}

impl<'t> Attribute<'t> {
    fn read(inside: &'t str) -> Self {
        match inside.split_once('(') {
            Some((name, rest)) => Attribute {
                name: name.trim(),
                arguments: Some(rest.trim_end().trim_end_matches(')')),
            },
            None => Attribute {
                name: inside.trim(),
                arguments: None,
            },
        }
    }

    fn is(&self, name: &str) -> bool {
        let own = self.name.rsplit('.').next().unwrap_or_default();
        self.arguments.is_some()
            && (own.eq_ignore_ascii_case(name)
                || own.eq_ignore_ascii_case(&format!("{name}Attribute")))
    }

    /// The arguments, each with the value behind its equals sign.
    fn arguments(&self) -> Vec<(&'t str, Option<&'t str>)> {
        let mut cursor = Cursor {
            text: self.arguments.unwrap_or_default(),
            at: 0,
        };
        let mut found = Vec::new();
        loop {
            cursor.skip_blanks();
            let argument = cursor.expression();
            if !argument.is_empty() {
                found.push(match argument.split_once('=') {
                    Some((name, value)) if !argument.starts_with(['\'', '"']) => {
                        (name.trim(), Some(value.trim()))
                    }
                    _ => (argument, None),
                });
            }
            if !cursor.take(',') {
                return found;
            }
        }
    }

    /// The argument of a name with its value.
    fn argument(&self, name: &str) -> Option<(&'t str, Option<&'t str>)> {
        self.arguments()
            .into_iter()
            .find(|(own, _)| own.eq_ignore_ascii_case(name))
    }

    /// Whether a flag is on or off; `None` if it is not named.
    fn flag(&self, name: &str) -> Option<bool> {
        self.argument(name).map(|(_, value)| {
            value.is_none_or(|value| !value.eq_ignore_ascii_case("$false") && value != "0")
        })
    }

    /// The texts among the arguments.
    fn texts(&self) -> Vec<String> {
        self.arguments()
            .into_iter()
            .map(|(text, _)| {
                Cursor { text, at: 0 }
                    .string()
                    .filter(|_| text.starts_with(['\'', '"']))
                    .unwrap_or_else(|| text.to_owned())
            })
            .collect()
    }

    fn apply(&self, parameter: &mut Parameter, script: &mut Script) {
        if self.arguments.is_none() {
            parameter.kind = read_type(self.name);
        } else if self.is("Parameter") {
            script.is_advanced = true;
            parameter.is_mandatory |= self.flag("Mandatory") == Some(true);
            parameter.takes_rest |= self.flag("ValueFromRemainingArguments") == Some(true);
            if let Some((_, Some(position))) = self.argument("Position") {
                parameter.position = position.parse().ok();
            }
        } else if self.is("Alias") {
            parameter.aliases = self.texts();
        } else if self.is("ValidateNotNullOrEmpty") || self.is("ValidateNotNullOrWhiteSpace") {
            parameter.refuses_empty = true;
        } else if self.is("ValidateSet") {
            parameter.choices = self.texts();
            parameter
                .choices
                .retain(|choice| !choice.to_ascii_lowercase().starts_with("ignorecase"));
        }
    }
}

fn read_type(name: &str) -> Type {
    let own = name.rsplit('.').next().unwrap_or_default();
    match own.to_ascii_lowercase().as_str() {
        "switch" | "switchparameter" => Type::Switch,
        "int" | "int16" | "int32" | "int64" | "long" | "short" | "byte" | "uint" | "uint16"
        | "uint32" | "uint64" | "ulong" | "ushort" | "sbyte" | "bigint" => Type::Integer,
        "double" | "single" | "float" | "decimal" => Type::Number,
        "bool" | "boolean" => Type::Flag,
        _ => Type::Text,
    }
}
