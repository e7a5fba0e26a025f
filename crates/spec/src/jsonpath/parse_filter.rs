//! Text to query: what stands after a `?`.

use super::Error;
use super::lexer::Lexer;
use super::parse::{nested, segments};
use super::pattern::Pattern;
use super::syntax::{Comparable, Comparison, Literal, Logical, MatchCall, MatchPattern, Nodes};

pub(super) fn logical(lexer: &mut Lexer<'_>) -> Result<Logical, Error> {
    let mut either = vec![conjunction(lexer)?];
    while operator(lexer, "||") {
        either.push(conjunction(lexer)?);
    }
    Ok(match either.len() {
        1 => either.remove(0),
        _ => Logical::Or(either),
    })
}

fn conjunction(lexer: &mut Lexer<'_>) -> Result<Logical, Error> {
    let mut all = vec![basic(lexer)?];
    while operator(lexer, "&&") {
        all.push(basic(lexer)?);
    }
    Ok(match all.len() {
        1 => all.remove(0),
        _ => Logical::And(all),
    })
}

/// Passes an operator and the blanks around it, if it comes next.
fn operator(lexer: &mut Lexer<'_>, word: &str) -> bool {
    let before = lexer.at;
    lexer.blanks();
    let found = lexer.eat(word);
    match found {
        true => lexer.blanks(),
        false => lexer.at = before,
    }
    found
}

fn basic(lexer: &mut Lexer<'_>) -> Result<Logical, Error> {
    let negated = lexer.eat("!");
    if negated {
        lexer.blanks();
    }
    let wrap = |logical| match negated {
        true => Logical::Not(Box::new(logical)),
        false => logical,
    };
    if lexer.eat("(") {
        let inside = nested(lexer, |lexer| {
            lexer.blanks();
            logical(lexer)
        })?;
        lexer.blanks();
        lexer.expect(")")?;
        return Ok(wrap(inside));
    }
    let start = lexer.at;
    let first = operand(lexer)?;
    if let Some(comparison) = comparison(lexer) {
        if negated {
            lexer.at = start;
            return Err(lexer.wrong("a comparison is negated in parentheses: `!(…)`"));
        }
        let left = first.comparable(start)?;
        let right_at = lexer.at;
        let right = operand(lexer)?.comparable(right_at)?;
        return Ok(Logical::Compare(left, comparison, right));
    }
    Ok(wrap(match first {
        Operand::Nodes(nodes) => Logical::Exists(nodes),
        Operand::Match(call) => Logical::Match(call),
        Operand::Value(_) => {
            return Err(Error {
                at: start,
                message: "a value alone is neither true nor false; compare it".to_owned(),
            });
        }
    }))
}

fn comparison(lexer: &mut Lexer<'_>) -> Option<Comparison> {
    const ALL: [(&str, Comparison); 6] = [
        ("==", Comparison::Equal),
        ("!=", Comparison::NotEqual),
        ("<=", Comparison::LessOrEqual),
        (">=", Comparison::GreaterOrEqual),
        ("<", Comparison::Less),
        (">", Comparison::Greater),
    ];
    ALL.into_iter()
        .find(|(word, _)| operator(lexer, word))
        .map(|(_, comparison)| comparison)
}

/// What can stand on a side of a comparison or alone.
enum Operand {
    Value(Comparable),
    Nodes(Nodes),
    Match(Box<MatchCall>),
}

impl Operand {
    fn comparable(self, at: usize) -> Result<Comparable, Error> {
        let wrong = |message: &str| Error {
            at,
            message: message.to_owned(),
        };
        match self {
            Operand::Value(value) => Ok(value),
            Operand::Nodes(nodes) if nodes.is_singular() => Ok(Comparable::Single(nodes)),
            Operand::Nodes(_) => Err(wrong("only a path to one value can be compared")),
            Operand::Match(_) => Err(wrong("this is true or false, and is not compared")),
        }
    }

    fn nodes(self, at: usize) -> Result<Nodes, Error> {
        match self {
            Operand::Nodes(nodes) => Ok(nodes),
            _ => Err(Error {
                at,
                message: "expected a path".to_owned(),
            }),
        }
    }
}

fn operand(lexer: &mut Lexer<'_>) -> Result<Operand, Error> {
    for (sign, relative) in [("@", true), ("$", false)] {
        if lexer.eat(sign) {
            let mut found = Vec::new();
            segments(lexer, &mut found)?;
            return Ok(Operand::Nodes(Nodes {
                relative,
                segments: found,
            }));
        }
    }
    if let Some(text) = lexer.quoted()? {
        return Ok(Operand::Value(Comparable::Literal(Literal::Text(text))));
    }
    if let Some(number) = lexer.number()? {
        return Ok(Operand::Value(Comparable::Literal(Literal::Number(number))));
    }
    let start = lexer.at;
    let word = word(lexer);
    if lexer.peek() == Some('(') {
        return nested(lexer, |lexer| call(lexer, word, start));
    }
    let literal = match word {
        "true" => Literal::Bool(true),
        "false" => Literal::Bool(false),
        "null" => Literal::Null,
        _ => {
            lexer.at = start;
            return Err(lexer.wrong("expected `@`, `$`, a value or a function"));
        }
    };
    Ok(Operand::Value(Comparable::Literal(literal)))
}

fn word<'t>(lexer: &mut Lexer<'t>) -> &'t str {
    let rest = lexer.rest();
    let is_word = |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '_';
    let end = rest.find(|char| !is_word(char)).unwrap_or(rest.len());
    lexer.at += end;
    rest.get(..end).unwrap_or_default()
}

fn call(lexer: &mut Lexer<'_>, name: &str, start: usize) -> Result<Operand, Error> {
    if !["length", "count", "value", "match", "search"].contains(&name) {
        lexer.at = start;
        let message = "expected one of the functions length, count, value, match and search";
        return Err(lexer.wrong(message));
    }
    lexer.expect("(")?;
    lexer.blanks();
    let mut arguments = Vec::new();
    if !lexer.eat(")") {
        loop {
            lexer.blanks();
            arguments.push((lexer.at, operand(lexer)?));
            lexer.blanks();
            if lexer.eat(")") {
                break;
            }
            if !lexer.eat(",") {
                return Err(lexer.wrong("expected `)` or `,`"));
            }
        }
    }
    let mut arguments = arguments.into_iter();
    let called = match (name, arguments.next(), arguments.next(), arguments.next()) {
        ("length", Some((at, value)), None, None) => {
            Operand::Value(Comparable::Length(Box::new(value.comparable(at)?)))
        }
        ("count", Some((at, nodes)), None, None) => {
            Operand::Value(Comparable::Count(nodes.nodes(at)?))
        }
        ("value", Some((at, nodes)), None, None) => {
            Operand::Value(Comparable::Value(nodes.nodes(at)?))
        }
        ("match" | "search", Some((at, text)), Some((pattern_at, pattern)), None) => {
            let whole = name == "match";
            let pattern = match pattern.comparable(pattern_at)? {
                Comparable::Literal(Literal::Text(text)) => {
                    MatchPattern::Fixed(Pattern::new(&text, whole))
                }
                Comparable::Literal(_) => MatchPattern::Fixed(None),
                asked => MatchPattern::Asked(asked),
            };
            Operand::Match(Box::new(MatchCall {
                text: text.comparable(at)?,
                pattern,
                whole,
            }))
        }
        _ => {
            lexer.at = start;
            return Err(lexer.wrong(format!("`{name}` has another number of arguments")));
        }
    };
    Ok(called)
}
