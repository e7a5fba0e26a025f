//! The names that the contract makes of a user's names.

/// The part of a variable's name that stands for a parameter or a channel: `train.lr` is `TRAIN_LR`.
pub fn variable_part(name: &str) -> String {
    name.chars()
        .map(|character| match character {
            'a'..='z' => character.to_ascii_uppercase(),
            'A'..='Z' | '0'..='9' | '_' => character,
            _ => '_',
        })
        .collect()
}
