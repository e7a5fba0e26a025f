//! Which parameter gets which argument. PowerShell serves the named ones first, then gives what is
//! left to the parameters that are still empty, in their order.

use super::param::{Parameter, Script, Type};

/// What the parameters of a script get.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Binding {
    /// The parameters in the order of their declaration, and what each gets.
    pub values: Vec<(String, Value)>,
    /// What no parameter takes; the script finds it in `$args`.
    pub rest: Vec<String>,
    /// Why PowerShell would refuse to start the script.
    pub refusals: Vec<Refusal>,
}

/// What a parameter gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// The value behind its name.
    Named(String),
    /// An argument without a name, by its place.
    Positional(String),
    /// All arguments that are left.
    Rest(Vec<String>),
    /// A switch that is on.
    On,
    /// Nothing, so its default: as written in the script, or that of its type.
    Default(Option<String>),
}

impl Value {
    /// What the script sees when it writes the value.
    pub fn shown(&self) -> String {
        match self {
            Value::Named(text) | Value::Positional(text) => text.clone(),
            Value::Rest(texts) => texts.join(" "),
            Value::On => "True".to_owned(),
            Value::Default(default) => default
                .as_deref()
                .map(|text| text.trim_matches(['\'', '"']).to_owned())
                .unwrap_or_default(),
        }
    }
}

/// Why PowerShell would refuse to start the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A name that no parameter has.
    UnknownName(String),
    /// A name that fits several parameters.
    AmbiguousName(String),
    /// A name without a value behind it.
    NoValue(String),
    /// A parameter that is named twice.
    Twice(String),
    /// An argument that no parameter takes.
    NoPlace(String),
    /// A mandatory parameter that gets nothing.
    Missing(String),
    /// An empty text for a parameter that refuses it.
    Empty(String),
    /// A value that is not of the parameter's type, or none of its choices.
    Misfit {
        /// The parameter.
        name: String,
        /// The value.
        value: String,
    },
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::UnknownName(name) => write!(f, "no parameter is called `{name}`"),
            Refusal::AmbiguousName(name) => write!(f, "several parameters begin with `{name}`"),
            Refusal::NoValue(name) => write!(f, "`{name}` has no value behind it"),
            Refusal::Twice(name) => write!(f, "`{name}` is named twice"),
            Refusal::NoPlace(value) => write!(f, "no parameter takes `{value}`"),
            Refusal::Missing(name) => write!(f, "the mandatory `{name}` gets nothing"),
            Refusal::Empty(name) => write!(f, "`{name}` refuses an empty text"),
            Refusal::Misfit { name, value } => write!(f, "`{name}` cannot be `{value}`"),
        }
    }
}

/// A name on the command line, and what it fits.
enum Fit {
    One(usize),
    Several,
    None,
}

impl Script {
    /// Gives arguments to parameters as PowerShell does.
    pub fn bind(&self, arguments: &[String]) -> Binding {
        let mut binding = Binding::default();
        let mut values: Vec<Option<Value>> = vec![None; self.parameters.len()];
        let mut loose = Vec::new();
        let mut arguments = arguments.iter().peekable();
        while let Some(argument) = arguments.next() {
            let Some(name) = name_of(argument) else {
                loose.push(argument.clone());
                continue;
            };
            let (name, glued) = match name.split_once(':') {
                Some((name, value)) => (name, Some(value).filter(|value| !value.is_empty())),
                None => (name, None),
            };
            let index = match self.find(name) {
                Fit::One(index) => index,
                Fit::Several => {
                    let refusal = Refusal::AmbiguousName(argument.clone());
                    binding.refusals.push(refusal);
                    continue;
                }
                Fit::None if self.is_advanced => {
                    binding
                        .refusals
                        .push(Refusal::UnknownName(argument.clone()));
                    continue;
                }
                Fit::None => {
                    binding.rest.push(argument.clone());
                    continue;
                }
            };
            let (Some(parameter), Some(slot)) = (self.parameters.get(index), values.get_mut(index))
            else {
                continue;
            };
            if slot.is_some() {
                binding
                    .refusals
                    .push(Refusal::Twice(parameter.name.clone()));
            }
            *slot = Some(match (parameter.kind, glued) {
                (Type::Switch, None) => Value::On,
                (Type::Switch, Some(value)) if is_false(value) => Value::Named("False".to_owned()),
                (Type::Switch, Some(_)) => Value::On,
                (_, Some(value)) => Value::Named(value.to_owned()),
                (_, None) => match arguments.next_if(|next| name_of(next).is_none()) {
                    Some(value) => Value::Named(value.clone()),
                    None => {
                        binding.refusals.push(Refusal::NoValue(argument.clone()));
                        continue;
                    }
                },
            });
        }
        self.place(loose, &mut values, &mut binding);
        self.finish(values, &mut binding);
        binding
    }

    /// The parameter of a name: exactly, by an alias, or by a beginning that no other has.
    fn find(&self, name: &str) -> Fit {
        let names = |parameter: &'_ Parameter, fits: &dyn Fn(&str) -> bool| {
            fits(&parameter.name) || parameter.aliases.iter().any(|alias| fits(alias))
        };
        let exact = |own: &str| own.eq_ignore_ascii_case(name);
        let begins = |own: &str| {
            own.get(..name.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(name))
        };
        let position = self
            .parameters
            .iter()
            .position(|parameter| names(parameter, &exact));
        if let Some(index) = position {
            return Fit::One(index);
        }
        let mut found = self
            .parameters
            .iter()
            .enumerate()
            .filter(|(_, parameter)| names(parameter, &begins));
        match (found.next(), found.next()) {
            (Some((index, _)), None) => Fit::One(index),
            (Some(_), Some(_)) => Fit::Several,
            _ => Fit::None,
        }
    }

    /// The parameters that take arguments by their place, in that order.
    fn positional(&self) -> Vec<usize> {
        let with = |(index, parameter): (usize, &Parameter)| Some((parameter.position?, index));
        let mut placed: Vec<(i64, usize)> = self
            .parameters
            .iter()
            .enumerate()
            .filter_map(with)
            .collect();
        if !placed.is_empty() {
            placed.sort_unstable();
            return placed.into_iter().map(|(_, index)| index).collect();
        }
        if !self.positional_binding {
            return Vec::new();
        }
        let takes = |parameter: &Parameter| parameter.kind != Type::Switch && !parameter.takes_rest;
        let all = self.parameters.iter().enumerate();
        all.filter(|(_, parameter)| takes(parameter))
            .map(|(index, _)| index)
            .collect()
    }

    /// Gives the arguments without a name to the parameters that are still empty.
    fn place(&self, loose: Vec<String>, values: &mut [Option<Value>], binding: &mut Binding) {
        let mut loose = loose.into_iter();
        for index in self.positional() {
            let Some(slot) = values.get_mut(index).filter(|slot| slot.is_none()) else {
                continue;
            };
            match loose.next() {
                Some(value) => *slot = Some(Value::Positional(value)),
                None => return,
            }
        }
        let rest: Vec<String> = loose.collect();
        if rest.is_empty() {
            return;
        }
        let taker = self
            .parameters
            .iter()
            .position(|parameter| parameter.takes_rest);
        match taker.and_then(|index| values.get_mut(index)) {
            Some(slot @ None) => *slot = Some(Value::Rest(rest)),
            _ if self.is_advanced => binding
                .refusals
                .extend(rest.into_iter().map(Refusal::NoPlace)),
            _ => binding.rest.extend(rest),
        }
    }

    /// Fills in defaults, and checks values against what the script asks for.
    fn finish(&self, values: Vec<Option<Value>>, binding: &mut Binding) {
        for (parameter, value) in self.parameters.iter().zip(values) {
            let name = &parameter.name;
            match &value {
                None if parameter.is_mandatory => {
                    binding.refusals.push(Refusal::Missing(name.clone()));
                }
                Some(Value::Named(text) | Value::Positional(text)) => {
                    if text.is_empty() && parameter.refuses_empty {
                        binding.refusals.push(Refusal::Empty(name.clone()));
                    } else if !fits(parameter, text) {
                        binding.refusals.push(Refusal::Misfit {
                            name: name.clone(),
                            value: text.clone(),
                        });
                    }
                }
                _ => {}
            }
            let value = value.unwrap_or_else(|| Value::Default(default_of(parameter)));
            binding.values.push((name.clone(), value));
        }
    }
}

/// The name that an argument is, if it is one: a dash and something that begins like a name.
fn name_of(argument: &str) -> Option<&str> {
    let name = argument.strip_prefix('-')?;
    name.starts_with(|char: char| char.is_alphabetic() || matches!(char, '_' | '?'))
        .then_some(name)
}

fn is_false(value: &str) -> bool {
    value.eq_ignore_ascii_case("$false") || value == "0"
}

fn fits(parameter: &Parameter, text: &str) -> bool {
    let of_type = match parameter.kind {
        Type::Text | Type::Switch => true,
        // PowerShell takes an empty text for 0.
        Type::Integer | Type::Number => {
            let text = text.trim();
            text.is_empty() || text.parse::<f64>().is_ok() || text.starts_with("0x")
        }
        Type::Flag => {
            let known = ["$true", "$false", "1", "0"];
            known.iter().any(|word| text.eq_ignore_ascii_case(word))
        }
    };
    let choices = &parameter.choices;
    let is_choice = choices.is_empty()
        || choices
            .iter()
            .any(|choice| choice.eq_ignore_ascii_case(text));
    of_type && is_choice
}

/// What a parameter holds when nothing is given to it.
fn default_of(parameter: &Parameter) -> Option<String> {
    parameter.default.clone().or_else(|| {
        let text = match parameter.kind {
            Type::Text => return None,
            Type::Switch | Type::Flag => "False",
            Type::Integer | Type::Number => "0",
        };
        Some(text.to_owned())
    })
}
