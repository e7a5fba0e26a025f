//! Any text as the command of a component, any texts as its values: no panic, and a line that asks nothing of a shell
//! but to split it is split into the rendered words. The values stand behind the command, each after a NUL.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pinnace_core::text::Text;
use pinnace_spec::component::command::{Manner, Placeholder, Syntax, parse};

fuzz_target!(|text: &str| {
    let mut texts = text.split('\0');
    let command = texts.next().unwrap_or_default();
    let values: Vec<&str> = texts.collect();
    for syntax in [Syntax::V1, Syntax::V2] {
        let template = parse(command, syntax);
        for argument in template.arguments() {
            assert!(command.get(argument.range).is_some());
        }
        for problem in &template.problems {
            assert!(command.get(problem.range.clone()).is_some());
        }
        // Every other placeholder has no value, so that groups disappear.
        let value = |found: &Placeholder<'_>| {
            let value = values.get(found.name.len() % values.len().max(1))?;
            (found.index % 2 == 0).then(|| Text::from(*value))
        };
        for manner in Manner::ALL {
            let rendered = template.render(value, manner);
            if !rendered.is_live {
                let plain = |text: &Text| text.render(|_| String::new());
                let words: Vec<String> = rendered.words.iter().map(plain).collect();
                assert_eq!(split(&plain(&rendered.line)), words, "{rendered:?}");
            }
        }
    }
});

/// The words of a line as a POSIX shell sees them, if nothing in it is expanded.
fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        match char {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' => word
                .get_or_insert_default()
                .extend(chars.by_ref().take_while(|char| *char != '\'')),
            '"' => {
                let word = word.get_or_insert_default();
                while let Some(char) = chars.next().filter(|char| *char != '"') {
                    match char {
                        '\\' => match chars.next() {
                            Some(escaped @ ('$' | '`' | '"' | '\\')) => word.push(escaped),
                            Some('\n') => {}
                            other => word.extend(std::iter::once('\\').chain(other)),
                        },
                        char => word.push(char),
                    }
                }
            }
            '\\' => match chars.next() {
                Some('\n') => {}
                escaped => word.get_or_insert_default().push(escaped.unwrap_or('\\')),
            },
            char => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    words
}
