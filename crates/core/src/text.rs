//! Text in which secrets are named, never held.

use serde::{Deserialize, Serialize};

/// The dotted path of a secret below `secrets`, such as `github_token` or `registry.password`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SecretName(pub String);

impl std::fmt::Display for SecretName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// One part of a [`Text`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Piece {
    /// Characters to take as they are.
    Literal(String),
    /// The place where a secret's value goes when the task starts.
    Secret {
        /// Which secret.
        secret: SecretName,
    },
    /// The place of something that a task finds by its path.
    Path {
        /// An absolute path in the task, at or below the target of its code, an input or an output.
        /// Where a task has no view of its own, the runner puts the real place here.
        path: String,
    },
}

/// A string that may hold places for secrets and paths. In JSON it is a plain string when it holds
/// none, and otherwise a list such as `["https://", {"secret": "token"}, "@host"]` or
/// `["--data ", {"path": "/ml/input/data/train"}]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "TextForm", into = "TextForm")]
pub struct Text {
    pieces: Vec<Piece>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum TextForm {
    Plain(String),
    Pieces(Vec<Piece>),
}

impl From<TextForm> for Text {
    fn from(form: TextForm) -> Self {
        match form {
            TextForm::Plain(text) => Text::from(text),
            TextForm::Pieces(pieces) => pieces.into_iter().collect(),
        }
    }
}

impl From<Text> for TextForm {
    fn from(text: Text) -> Self {
        match text.as_literal() {
            Some(literal) => TextForm::Plain(literal.to_owned()),
            None => TextForm::Pieces(text.pieces),
        }
    }
}

impl From<String> for Text {
    fn from(literal: String) -> Self {
        let mut text = Text::default();
        text.push_literal(&literal);
        text
    }
}

impl From<&str> for Text {
    fn from(literal: &str) -> Self {
        Text::from(literal.to_owned())
    }
}

impl FromIterator<Piece> for Text {
    fn from_iter<I: IntoIterator<Item = Piece>>(pieces: I) -> Self {
        let mut text = Text::default();
        for piece in pieces {
            match piece {
                Piece::Literal(literal) => text.push_literal(&literal),
                Piece::Secret { secret } => text.push_secret(secret),
                Piece::Path { path } => text.push_path(path),
            }
        }
        text
    }
}

impl Text {
    /// Adds characters; neighbouring literals are kept as one piece.
    pub fn push_literal(&mut self, literal: &str) {
        if literal.is_empty() {
            return;
        }
        if let Some(Piece::Literal(last)) = self.pieces.last_mut() {
            last.push_str(literal);
        } else {
            self.pieces.push(Piece::Literal(literal.to_owned()));
        }
    }

    /// Adds the place of a secret.
    pub fn push_secret(&mut self, secret: SecretName) {
        self.pieces.push(Piece::Secret { secret });
    }

    /// Adds an absolute path in the task.
    pub fn push_path(&mut self, path: impl Into<String>) {
        self.pieces.push(Piece::Path { path: path.into() });
    }

    /// Adds all of another text.
    pub fn append(&mut self, more: &Text) {
        for piece in more.pieces() {
            match piece {
                Piece::Literal(literal) => self.push_literal(literal),
                other => self.pieces.push(other.clone()),
            }
        }
    }

    /// The pieces in order; no two literals stand next to each other and none is empty.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The whole text, if it names no secret and no path.
    pub fn as_literal(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Literal(literal)] => Some(literal),
            _ => None,
        }
    }

    /// The secrets that the text names, in order, repeats included.
    pub fn secrets(&self) -> impl Iterator<Item = &SecretName> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Secret { secret } => Some(secret),
            Piece::Literal(_) | Piece::Path { .. } => None,
        })
    }

    /// The paths of the task that the text names, in order, repeats included.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Path { path } => Some(path.as_str()),
            Piece::Literal(_) | Piece::Secret { .. } => None,
        })
    }

    /// The text with every secret shown by `show`, and every path as the task sees it.
    pub fn render(&self, mut show: impl FnMut(&SecretName) -> String) -> String {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Literal(literal) => out.push_str(literal),
                Piece::Secret { secret } => out.push_str(&show(secret)),
                Piece::Path { path } => out.push_str(path),
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_is_a_plain_json_string() {
        let text = Text::from("echo 1");
        assert_eq!(
            serde_json::to_string(&text).ok().as_deref(),
            Some("\"echo 1\"")
        );
        assert_eq!(serde_json::from_str::<Text>("\"echo 1\"").ok(), Some(text));
    }

    #[test]
    fn a_secret_is_named_in_json() {
        let mut text = Text::from("https://");
        text.push_secret(SecretName("token".into()));
        text.push_literal("@");
        text.push_literal("host");
        let json = r#"["https://",{"secret":"token"},"@host"]"#;
        assert_eq!(serde_json::to_string(&text).ok().as_deref(), Some(json));
        assert_eq!(serde_json::from_str::<Text>(json).ok(), Some(text));
    }

    #[test]
    fn a_path_is_told_from_a_secret_in_json() {
        let mut text = Text::from("--data ");
        text.push_path("/ml/input/data/train");
        let json = r#"["--data ",{"path":"/ml/input/data/train"}]"#;
        assert_eq!(serde_json::to_string(&text).ok().as_deref(), Some(json));
        assert_eq!(serde_json::from_str::<Text>(json).ok(), Some(text.clone()));
        assert_eq!(
            text.render(|_| String::new()),
            "--data /ml/input/data/train"
        );
        assert_eq!(text.as_literal(), None);
    }
}
