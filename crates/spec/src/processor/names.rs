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

/// One word of a shell. What holds nothing special stays bare.
pub fn quoted(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:=@%+,".contains(&byte);
    if !text.is_empty() && text.bytes().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}
