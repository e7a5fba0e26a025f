//! Text to query: segments and selectors.

use super::lexer::Lexer;
use super::syntax::{Segment, Selector};
use super::{Error, Form, Query, parse_filter};

/// A longer text is refused.
const LONGEST: usize = 10_000;

/// Filters and parentheses inside each other, at most.
const DEEPEST: usize = 32;

pub(super) fn query(text: &str, form: Form) -> Result<Query, Error> {
    let mut lexer = Lexer::new(text, form);
    if text.len() > LONGEST {
        return Err(lexer.wrong(format!("a path has at most {LONGEST} bytes")));
    }
    let mut segments = Vec::new();
    if !lexer.eat("$") {
        match (form, lexer.peek()) {
            (Form::Short, Some('.' | '[')) => {}
            (Form::Short, Some('*')) => {
                lexer.at += 1;
                segments.push(one(Selector::Wildcard, false, 0, 1));
            }
            (Form::Short, Some(_)) => {
                let name = lexer.shorthand()?;
                segments.push(one(Selector::Name(name), false, 0, lexer.at));
            }
            _ => return Err(lexer.wrong("expected `$`")),
        }
    }
    self::segments(&mut lexer, &mut segments)?;
    match lexer.rest().is_empty() {
        true => Ok(Query { segments }),
        false => Err(lexer.wrong("expected `.` or `[`")),
    }
}

/// All segments that follow.
pub(super) fn segments(lexer: &mut Lexer<'_>, segments: &mut Vec<Segment>) -> Result<(), Error> {
    loop {
        let before = lexer.at;
        lexer.blanks();
        match segment(lexer)? {
            Some(segment) => segments.push(segment),
            None => {
                lexer.at = before;
                return Ok(());
            }
        }
    }
}

fn one(selector: Selector, descendant: bool, start: usize, end: usize) -> Segment {
    Segment {
        descendant,
        selectors: vec![selector],
        start,
        end,
    }
}

fn segment(lexer: &mut Lexer<'_>) -> Result<Option<Segment>, Error> {
    let descendant = lexer.eat("..");
    let start = lexer.at;
    if lexer.peek() == Some('[') {
        let selectors = bracketed(lexer)?;
        return Ok(Some(Segment {
            descendant,
            selectors,
            start,
            end: lexer.at,
        }));
    }
    if !descendant && !lexer.eat(".") {
        return Ok(None);
    }
    let start = lexer.at;
    let selector = match lexer.eat("*") {
        true => Selector::Wildcard,
        false => Selector::Name(lexer.shorthand()?),
    };
    Ok(Some(one(selector, descendant, start, lexer.at)))
}

fn bracketed(lexer: &mut Lexer<'_>) -> Result<Vec<Selector>, Error> {
    lexer.expect("[")?;
    let mut selectors = Vec::new();
    loop {
        lexer.blanks();
        selectors.push(selector(lexer)?);
        lexer.blanks();
        if lexer.eat("]") {
            return Ok(selectors);
        }
        if !lexer.eat(",") {
            return Err(lexer.wrong("expected `]` or `,`"));
        }
    }
}

fn selector(lexer: &mut Lexer<'_>) -> Result<Selector, Error> {
    if lexer.eat("*") {
        return Ok(Selector::Wildcard);
    }
    if lexer.eat("?") {
        let filter = nested(lexer, |lexer| {
            lexer.blanks();
            parse_filter::logical(lexer)
        })?;
        return Ok(Selector::Filter(filter));
    }
    if let Some(name) = lexer.quoted()? {
        return Ok(Selector::Name(name));
    }
    let first = lexer.integer()?;
    let after_first = lexer.at;
    lexer.blanks();
    if !lexer.eat(":") {
        lexer.at = after_first;
        return match first {
            Some(index) => Ok(Selector::Index(index)),
            None => Err(lexer.wrong("expected a quoted name, a number, `*` or `?`")),
        };
    }
    lexer.blanks();
    let end = lexer.integer()?;
    let after_end = lexer.at;
    lexer.blanks();
    let mut step = 1;
    if lexer.eat(":") {
        lexer.blanks();
        step = lexer.integer()?.unwrap_or(1);
    } else {
        lexer.at = after_end;
    }
    Ok(Selector::Slice {
        start: first,
        end,
        step,
    })
}

/// Reads something that can hold itself.
pub(super) fn nested<T>(
    lexer: &mut Lexer<'_>,
    read: impl FnOnce(&mut Lexer<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    if lexer.depth >= DEEPEST {
        return Err(lexer.wrong("this is nested too deep"));
    }
    lexer.depth += 1;
    let read = read(lexer);
    lexer.depth -= 1;
    read
}
